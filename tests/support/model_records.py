"""The rules of the model store that look at records alone."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from effectgraph.stores.keys import EffectKey
from effectgraph.stores.records import (
    Decision,
    EffectSummary,
    Evidence,
    How,
    Piece,
    Ruling,
    Task,
    TaskStatus,
    ThreadStatus,
)
from model_data import Thread

Pieces = tuple[tuple[int, Piece], ...]


def status_of(scheduled: Iterable[Task]) -> ThreadStatus:
    """Where a thread stands after its tasks were scheduled."""
    return ThreadStatus.RUNNING if tuple(scheduled) else ThreadStatus.DONE


def open_tasks(scheduled: Iterable[Task]) -> tuple[Task, ...]:
    """Tasks as they are scheduled: whatever else their records say, they are open."""
    return tuple(attrs.evolve(task, status=TaskStatus.OPEN, failure=None, update=None) for task in scheduled)


def task_of(thread: Thread, task: str) -> Task | None:
    """A task of a thread."""
    return next((each for each in thread.tasks if each.id == task), None)


def with_task(thread: Thread, task: Task) -> Thread:
    """A thread with one task changed."""
    return attrs.evolve(thread, tasks=tuple(task if each.id == task.id else each for each in thread.tasks))


def state_at(pieces: Pieces, step: int) -> Pieces:
    """The pieces of the state after a step: for each field what replaced it last, and what was appended since."""
    kept: Pieces = ()
    for field in sorted({piece.field for at, piece in pieces if at <= step}):
        of_field = sorted(
            ((at, piece) for at, piece in pieces if piece.field == field and at <= step), key=lambda each: each[0]
        )
        bases = [at for at, piece in of_field if not piece.appended]
        kept += tuple(each for each in of_field if each[0] >= max(bases, default=0))
    return kept


def is_unresolved(evidence: Evidence) -> bool:
    """Whether there is no outcome, and no person has given up on it."""
    return evidence.outcome is None and evidence.uncertain is not How.DECISION


def summed_up(evidence: Evidence) -> EffectSummary:
    """What history keeps of an effect."""
    outcome = evidence.outcome
    given_up = evidence.uncertain if evidence.uncertain is How.DECISION else None
    return EffectSummary(
        task=evidence.key.task,
        call=evidence.key.call,
        tool=evidence.intent.tool,
        kind=evidence.intent.kind,
        how=given_up if outcome is None else outcome.how,
        attempt=evidence.attempt,
        begun_us=evidence.intent.at_us,
        settled_us=None if outcome is None else outcome.at_us,
    )


def misfit(decision: Decision, found: Evidence) -> str | None:
    """Why a ruling does not fit what is known."""
    if found.outcome is not None:
        return f"it has an outcome (by {found.outcome.how.value}); there is nothing to decide"
    if (decision.ruling is Ruling.COMPLETE) != (decision.outcome is not None):
        return "give it the outcome" if decision.outcome is None else f"{decision.ruling.value} takes no outcome"
    if decision.ruling is Ruling.RETRY:
        if found.granted:
            return "one more attempt is granted already"
        if found.uncertain is not None:
            return "it was given up on, which is final; it can only be completed"
        if found.ended:
            return "its task has ended, so nobody would try; complete or abandon it"
    if decision.ruling is Ruling.WITHDRAW and not found.granted:
        return "there is no grant to take back"
    if decision.ruling is Ruling.ABANDON and found.uncertain is How.DECISION:
        return "a person gave up on it before"
    return None


def ruled(decision: Decision, found: Evidence) -> Evidence:
    """The evidence after a ruling."""
    changed = attrs.evolve(found, version=found.version + 1, granted=decision.ruling is Ruling.RETRY)
    if decision.ruling is Ruling.COMPLETE:
        return attrs.evolve(changed, outcome=decision.outcome, trouble=None, uncertain=None)
    return attrs.evolve(changed, uncertain=How.DECISION) if decision.ruling is Ruling.ABANDON else changed


def timeless(decision: Decision) -> Decision:
    """A decision without its times."""
    outcome = None if decision.outcome is None else attrs.evolve(decision.outcome, at_us=0)
    return attrs.evolve(decision, at_us=0, outcome=outcome)


def order_of(key: EffectKey) -> tuple[str, str, str]:
    """Where a key stands in listings."""
    return key.scope, key.task, key.call


def check_limit(limit: object) -> None:
    """Raise `ValueError` for a number of rows that nobody can ask for."""
    if type(limit) is not int or limit < 1:
        raise ValueError(f"limit: {limit!r}; at least 1 row can be asked for")
