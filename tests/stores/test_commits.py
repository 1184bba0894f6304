"""Tasks, steps and state: what a commit writes, and when a thread is done."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest

from effectgraph.stores import Receipt, Store, TaskClosed
from effectgraph.stores.records import (
    Claim,
    EffectSummary,
    HistoryEntry,
    How,
    Kind,
    NewRun,
    Piece,
    Sync,
    Task,
    TaskStatus,
    ThreadStatus,
)
from store_records import (
    TASK,
    THREAD,
    begun,
    closing,
    commit,
    created,
    failure,
    intent,
    key,
    new_run,
    new_thread,
    outcome,
    piece,
    settled,
    task,
    task_commit,
)


def two_tasks(store: Store) -> Claim:
    """A claimed thread whose first step has two tasks."""
    new = new_thread()
    run = attrs.evolve(new.run, tasks=(task(1, "pay"), task(1, "pack")))
    return store.create(attrs.evolve(new, run=run)).wait().claim


def pieces(store: Store) -> tuple[Piece, ...]:
    """The state as it stands."""
    return store.read(THREAD).wait().pieces


def test_a_commit_ends_a_task_and_schedules_the_next(store: Store) -> None:
    """One write ends the task, closes its step, changes the state and schedules what follows."""

    claim = created(store).claim

    store.commit(claim, commit(1, piece("total", b"2"))).wait()

    view = store.read(THREAD).wait()
    assert view.step == 1
    assert view.status is ThreadStatus.RUNNING
    assert view.tasks == (task(2),)
    assert view.pieces == (piece("total", b"2"),)
    assert store.history(THREAD).wait() == (
        HistoryEntry(step=1, task=TASK, node="pay", fields=("total",), effects=(), at_us=30),
    )


def test_no_task_left_is_done(store: Store) -> None:
    """A thread whose last step schedules nothing is done; another run begins on what it came to."""

    claim = created(store).claim
    store.commit(claim, commit(1, piece("total", b"2"), done=True)).wait()
    assert store.read(THREAD).wait().status is ThreadStatus.DONE
    assert store.read(THREAD).wait().tasks == ()

    store.start(claim, new_run(2, piece("notes", b"x"))).wait()

    view = store.read(THREAD).wait()
    assert view.status is ThreadStatus.RUNNING
    assert view.step == 2
    assert view.tasks == (task(3),)
    assert view.pieces == (piece("notes", b"x"), piece("total", b"2"))


@pytest.mark.parametrize("step", [0, 1])
def test_steps_grow(store: Store, step: int) -> None:
    """A step that does not come after the last one is a mistake of the caller; nothing is changed."""

    claim = created(store).claim
    store.commit(claim, commit(1, done=True)).wait()
    before = store.read(THREAD).wait()

    with pytest.raises(ValueError, match=f"step {step} does not come after step 1"):
        store.start(claim, new_run(step)).wait()

    assert before == store.read(THREAD).wait()


def test_a_run_begins_when_the_last_is_done(store: Store) -> None:
    """Another run of a thread that has tasks is a mistake of the caller; nothing is changed."""

    claim = created(store).claim
    before = store.read(THREAD).wait()

    with pytest.raises(ValueError, match="it is running"):
        store.start(claim, new_run(5)).wait()

    assert before == store.read(THREAD).wait()


def test_replaced_and_appended_fields(store: Store) -> None:
    """A value replaces all before it; what is appended comes behind; a field can begin with what is appended."""

    claim = created(store).claim
    store.commit(claim, commit(1, piece("notes", b"a", appended=True))).wait()
    store.commit(claim, commit(2, piece("notes", b"b", appended=True), piece("total", b"7"))).wait()
    assert pieces(store) == (
        piece("notes", b"a", appended=True),
        piece("notes", b"b", appended=True),
        piece("total", b"7"),
    )

    store.commit(claim, commit(3, piece("notes", b"new"))).wait()
    store.commit(claim, commit(4, piece("notes", b"c", appended=True))).wait()

    assert pieces(store) == (piece("notes", b"new"), piece("notes", b"c", appended=True), piece("total", b"7"))


def test_pieces_come_in_the_order_of_steps(store: Store) -> None:
    """What was appended is put together in the order of steps, also past the tenth."""

    claim = created(store).claim
    for step in range(1, 13):
        store.commit(claim, commit(step, piece("notes", b"%d" % step, appended=True))).wait()

    notes = [each.value for each in pieces(store) if each.field == "notes"]

    assert [b"%d" % step for step in range(1, 13)] == notes


def test_a_commit_removes_the_evidence_of_its_task(store: Store) -> None:
    """The commit takes the outcomes of its task, keeps them summed up in history, and leaves those of other tasks."""

    claim = two_tasks(store)
    store.begin(claim, key("b"), intent(Kind.APPLIED_KEYS), seen=None).wait()
    store.settle(claim, key("b"), outcome(how=How.TARGET), seen=1, sync=Sync.LATER).wait()
    settled(store, claim, key("a"))
    other = settled(store, claim, key("a", task="1.pack"))

    store.commit(claim, task_commit(1, "pay")).wait()

    assert store.evidence(key("a"), claim.incarnation).wait() is None
    assert store.evidence(key("b"), claim.incarnation).wait() is None
    assert store.evidence(other, claim.incarnation).wait() is not None
    (entry,) = store.history(THREAD).wait()
    assert entry.effects == (
        EffectSummary(
            task=TASK,
            call="a",
            tool="charge",
            kind=Kind.UNCHECKED,
            how=How.RUN,
            attempt=1,
            begun_us=10,
            settled_us=20,
        ),
        EffectSummary(
            task=TASK,
            call="b",
            tool="charge",
            kind=Kind.APPLIED_KEYS,
            how=How.TARGET,
            attempt=1,
            begun_us=10,
            settled_us=20,
        ),
    )


def test_what_is_unresolved_stays_listed(store: Store) -> None:
    """An intent without outcome outlives its task's commit: marked as ended, no evidence for any run."""

    claim = created(store).claim
    name = begun(store, claim)
    settled(store, claim, key("other"))

    store.commit(claim, commit(1)).wait()

    left = store.evidence(name, claim.incarnation).wait()
    assert left is not None
    assert left.ended
    assert store.unresolved().wait() == (left,)
    assert [each.settled_us for each in store.history(THREAD).wait()[0].effects] == [None, 20]
    store.release(claim).wait()
    assert store.claim(THREAD).wait().evidence == ()


CLOSED: dict[str, Callable[[Store, Claim], Receipt[object]]] = {
    "commit": lambda store, claim: store.commit(claim, task_commit(1, "pay")),
    "commit of no task": lambda store, claim: store.commit(claim, task_commit(1, "unheard")),
    "attempt": lambda store, claim: store.attempt(claim, TASK),
    "attempt of no task": lambda store, claim: store.attempt(claim, "1.unheard"),
    "failure of no task": lambda store, claim: store.fail(claim, "1.unheard", failure()),
    "begin": lambda store, claim: store.begin(claim, key("new"), intent(), seen=None),
    "begin again": lambda store, claim: store.begin(claim, key(), intent(), seen=2),
    "settle": lambda store, claim: store.settle(claim, key(), outcome(), seen=2, sync=Sync.NOW),
    "withdraw": lambda store, claim: store.withdraw(claim, key(), seen=2),
    "trouble": lambda store, claim: store.trouble(claim, key(), "timed out", seen=2),
}
"""Writes for a task that has committed or was never scheduled."""


@pytest.mark.parametrize("write", CLOSED)
def test_a_task_commits_once(store: Store, write: str) -> None:
    """Nothing is written for a task that has committed, and nothing for one that was never scheduled."""

    claim = two_tasks(store)
    begun(store, claim)
    store.commit(claim, task_commit(1, "pay")).wait()
    (ended,) = store.unresolved().wait()
    assert ended.version == 2
    before = store.read(THREAD).wait(), store.history(THREAD).wait()

    with pytest.raises(TaskClosed):
        CLOSED[write](store, claim).wait()

    assert before == (store.read(THREAD).wait(), store.history(THREAD).wait())
    assert store.unresolved().wait() == (ended,)
    assert store.evidence(key("new"), claim.incarnation).wait() is None


def test_a_step_closes_when_all_have_committed(store: Store) -> None:
    """A committed task waits with its update until its step closes, which removes all tasks of the step."""

    claim = two_tasks(store)
    store.commit(claim, task_commit(1, "pay", b'{"total":1}')).wait()
    view = store.read(THREAD).wait()
    assert view.step == 0
    assert view.tasks == (
        task(1, "pack"),
        Task(id=TASK, step=1, node="pay", status=TaskStatus.COMMITTED, update=b'{"total":1}'),
    )
    with pytest.raises(TaskClosed) as refused:
        store.close(claim, closing(1)).wait()
    assert refused.value.task == "1.pack"
    assert view == store.read(THREAD).wait()

    store.take(THREAD, "a lane of its own", at_us=1).wait()
    claim = store.claim(THREAD).wait().claim
    store.commit(claim, task_commit(1, "pack")).wait()
    store.close(claim, closing(1, piece("total", b"9"), done=True)).wait()

    view = store.read(THREAD).wait()
    assert view.step == 1
    assert view.status is ThreadStatus.DONE
    assert view.tasks == ()
    assert view.pieces == (piece("total", b"9"),)
    assert [entry.task for entry in store.history(THREAD).wait()] == ["1.pack", TASK]


def test_the_last_commit_can_close_the_step(store: Store) -> None:
    """The commit of the last open task of a step closes it in the same write; one of an earlier task cannot."""

    claim = two_tasks(store)
    with pytest.raises(TaskClosed) as refused:
        store.commit(claim, commit(1)).wait()
    assert refused.value.task == "1.pack"
    assert [each.status for each in store.read(THREAD).wait().tasks] == [TaskStatus.OPEN] * 2

    store.take(THREAD, "a lane of its own", at_us=1).wait()
    claim = store.claim(THREAD).wait().claim
    store.commit(claim, task_commit(1, "pack")).wait()
    store.commit(claim, commit(1)).wait()

    assert store.read(THREAD).wait().tasks == (task(2),)


def test_E09_a_failure_is_kept_as_text(store: Store) -> None:
    """A failed task says why, by name, text and traceback, until it is tried again; its evidence stays."""

    claim = created(store).claim
    name = settled(store, claim)

    store.fail(claim, TASK, failure("no money")).wait()

    view = store.read(THREAD).wait()
    assert view.status is ThreadStatus.FAILED
    assert view.tasks == (Task(id=TASK, step=1, node="pay", status=TaskStatus.FAILED, failure=failure("no money")),)
    assert store.evidence(name, claim.incarnation).wait() is not None
    with pytest.raises(TaskClosed):
        store.begin(claim, key("new"), intent(), seen=None).wait()


def test_E07_attempts_are_counted(store: Store) -> None:
    """Each attempt is counted for good, and opens a failed task again without its failure."""

    claim = created(store).claim
    store.fail(claim, TASK, failure()).wait()

    assert store.attempt(claim, TASK).wait() == Task(id=TASK, step=1, node="pay", attempts=2)
    assert store.attempt(claim, TASK).wait().attempts == 3

    view = store.read(THREAD).wait()
    assert view.status is ThreadStatus.RUNNING
    assert view.tasks == (Task(id=TASK, step=1, node="pay", attempts=3),)


def test_G01_what_follows_a_committed_task_can_fail(store: Store) -> None:
    """A task that has committed stays so when what follows it fails; closing its step goes on from there."""

    claim = created(store).claim
    store.commit(claim, task_commit(1, "pay", b"{}")).wait()

    store.fail(claim, TASK, failure("the router raised")).wait()

    view = store.read(THREAD).wait()
    assert view.status is ThreadStatus.FAILED
    assert view.tasks == (
        Task(
            id=TASK,
            step=1,
            node="pay",
            status=TaskStatus.COMMITTED,
            failure=failure("the router raised"),
            update=b"{}",
        ),
    )
    store.close(claim, closing(1)).wait()
    assert store.read(THREAD).wait().status is ThreadStatus.RUNNING


def test_a_run_with_no_task_is_done(store: Store) -> None:
    """A run that schedules nothing is done at once."""

    empty = NewRun(step=0, pieces=(), tasks=(), at_us=1)

    made = store.create(attrs.evolve(new_thread(), run=empty)).wait()

    assert made.thread.status is ThreadStatus.DONE
    assert made.thread.pieces == ()
