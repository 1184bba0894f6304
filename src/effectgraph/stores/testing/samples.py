"""Records for checks of stores: as little in them as a check needs to say."""

from __future__ import annotations

from typing import Final

import attrs

from effectgraph.stores.keys import EffectKey
from effectgraph.stores.protocol import Store
from effectgraph.stores.records import (
    OUTSIDE,
    Answer,
    Claim,
    Claimed,
    Closing,
    Commit,
    Decision,
    Evidence,
    Failure,
    Fork,
    GraphStamp,
    How,
    Intent,
    Kind,
    Landing,
    NewRun,
    NewThread,
    Outcome,
    OwnerId,
    Piece,
    Plan,
    Question,
    QuestionId,
    Ruling,
    Sync,
    Task,
)

GRAPH: Final = GraphStamp(name="shop", version=1, fingerprint="f1")
THREAD: Final = "order-1"
TASK: Final = "1.pay"

NOBODY: Final = OwnerId("0" * 32)
"""An owner that no process ever was."""


def piece(field: str = "total", value: bytes = b"1", *, appended: bool = False) -> Piece:
    """A value of a field, or something appended to it."""
    return Piece(field=field, value=value, schema="int", appended=appended)


def task(step: int, node: str = "pay") -> Task:
    """A task that is to run."""
    return Task(id=f"{step}.{node}", step=step, node=node)


def new_run(step: int = 0, *pieces: Piece) -> NewRun:
    """A run with one task, one step later."""
    return NewRun(step=step, pieces=pieces or (piece(),), tasks=(task(step + 1),), at_us=1)


def new_thread(thread: str = THREAD, *pieces: Piece, graph: str = "shop") -> NewThread:
    """A thread whose first task is `TASK`."""
    return NewThread(id=thread, graph=attrs.evolve(GRAPH, name=graph), run=new_run(0, *pieces))


def created(store: Store, thread: str = THREAD) -> Claimed:
    """A thread that was made and is claimed."""
    return store.create(new_thread(thread)).wait()


def two_tasks(store: Store, thread: str = THREAD) -> Claim:
    """The claim of a new thread whose first step has two tasks, `1.pay` and `1.pack`."""
    new = new_thread(thread)
    run = attrs.evolve(new.run, tasks=(task(1, "pay"), task(1, "pack")))
    return store.create(attrs.evolve(new, run=run)).wait().claim


def key(call: str = "charge", thread: str = THREAD, task: str = TASK) -> EffectKey:
    """The key of an effect of the first task."""
    return EffectKey(thread, task, call)


def intent(kind: Kind = Kind.UNCHECKED, *, fingerprint: str = "f1", plan: Plan | None = None) -> Intent:
    """What is written before an effect."""
    return Intent(
        kind=kind, tool="charge", fingerprint=fingerprint, request=b'{"amount":5}', schema="in", at_us=10, plan=plan
    )


def plan(after: str = "after", *earlier: Landing) -> Plan:
    """A plan whose target is at `before`."""
    return Plan(before="before", landing=Landing(after, b'"done"'), earlier=earlier)


def outcome(value: bytes | None = b'"ch_1"', how: How = How.RUN) -> Outcome:
    """What an effect returned."""
    return Outcome(value=value, schema="out", how=how, at_us=20)


def closing(step: int, *pieces: Piece, done: bool = False) -> Closing:
    """The end of a step, with one task behind it unless the thread is done."""
    return Closing(step=step, pieces=pieces, tasks=() if done else (task(step + 1),), at_us=30)


def commit(step: int = 1, *pieces: Piece, done: bool = False) -> Commit:
    """The end of the one task of a step, and of the step."""
    return Commit(
        task=f"{step}.pay",
        step=step,
        node="pay",
        fields=tuple(each.field for each in pieces),
        at_us=30,
        closing=closing(step, *pieces, done=done),
    )


def task_commit(step: int, node: str, update: bytes = b"{}") -> Commit:
    """The end of a task whose step stays open."""
    return Commit(task=f"{step}.{node}", step=step, node=node, fields=("total",), at_us=30, update=update)


def failure(text: str = "no money") -> Failure:
    """Why a task failed."""
    return Failure(error="shop.CardRefused", text=text, traceback="Traceback: ...", at_us=40)


def question(name: str = "q-1", *, expires_us: int | None = None) -> Question:
    """What a task waits for."""
    return Question(id=QuestionId(name), content=b'"ship?"', schema="bool", at_us=50, expires_us=expires_us)


def answer(value: bytes = b"true", by: str = "ann") -> Answer:
    """What a person said."""
    return Answer(value=value, schema="bool", by=by, at_us=60)


def decision(seen: Evidence, ruling: Ruling, name: str = "d-1", *, result: Outcome | None = None) -> Decision:
    """What a person ruled on evidence that he saw; the outcome of `COMPLETE` is made up if none is given."""
    if ruling is Ruling.COMPLETE and result is None:
        result = outcome(how=How.DECISION)
    return Decision(
        id=name,
        key=seen.key,
        incarnation=seen.incarnation,
        seen=seen.version,
        ruling=ruling,
        by="ann",
        reason="saw the bank's list",
        at_us=70,
        outcome=result,
    )


def fork(claim: Claim, step: int, thread: str = "order-2", *, done: bool = False) -> Fork:
    """A thread of the state after a step of a claim's thread, with one task behind it unless it is done."""
    return Fork(
        source=claim.thread,
        incarnation=claim.incarnation,
        step=step,
        id=thread,
        tasks=() if done else (task(step + 1),),
    )


def outside(store: Store, scope: str = "script") -> Claim:
    """What somebody without a runtime writes under."""
    return Claim(thread=scope, incarnation=0, token=OUTSIDE, owner=store.owner)


def gone(scope: str = "script") -> Claim:
    """What somebody without a runtime has written under, whose process is gone."""
    return Claim(thread=scope, incarnation=0, token=OUTSIDE, owner=NOBODY)


def begun(store: Store, claim: Claim, name: EffectKey | None = None) -> EffectKey:
    """An intent that was written; its key."""
    name = key(thread=claim.thread) if name is None else name
    answer = store.begin(claim, name, intent(), seen=None).wait()
    if not answer.mine:
        raise ValueError(f"effect {name}: has evidence already, so this check is wrong")
    return name


def settled(store: Store, claim: Claim, name: EffectKey | None = None) -> EffectKey:
    """An intent with an outcome; its key."""
    name = key(thread=claim.thread) if name is None else name
    version = store.begin(claim, name, intent(), seen=None).wait().evidence.version
    store.settle(claim, name, outcome(), seen=version, sync=Sync.NOW).wait()
    return name


def left_unresolved(store: Store, claim: Claim) -> Evidence:
    """An effect without outcome whose task has been committed, with its step: only a person can end it."""
    name = begun(store, claim)
    store.commit(claim, commit()).wait()
    found = store.evidence(name, claim.incarnation).wait()
    if found is None:
        raise ValueError(f"effect {name}: the commit of its task did not leave it listed")
    return found
