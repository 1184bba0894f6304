"""Tasks, steps and runs: what a commit writes, and when a thread is done."""

from __future__ import annotations

from functools import partial

import attrs

from effectgraph.stores.errors import TaskClosed
from effectgraph.stores.protocol import Store
from effectgraph.stores.records import Claim, HistoryEntry, Task, TaskStatus, ThreadStatus
from effectgraph.stores.testing.expect import equal
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.samples import (
    TASK,
    THREAD,
    begun,
    closing,
    commit,
    created,
    failure,
    key,
    new_run,
    piece,
    question,
    settled,
    task,
    task_commit,
    two_tasks,
)
from effectgraph.stores.testing.seen import changes_nothing, found


def again(store: Store) -> Claim:
    """The thread's next claim, after a write of the last one failed."""
    store.take(THREAD, "its last write failed", at_us=1).wait()
    return store.claim(THREAD).wait().claim


class StepChecks(Checks):
    """Tasks, steps and runs: what a commit writes, and when a thread is done."""

    @on_store
    def test_a_commit_ends_a_task_and_schedules_the_next(self, store: Store) -> None:
        """One write ends the task, closes its step, changes the state, writes history and schedules what follows."""
        claim = created(store).claim

        store.commit(claim, commit(1, piece("total", b"2"))).wait()

        view = store.read(THREAD).wait()
        equal((1, ThreadStatus.RUNNING), (view.step, view.status), "step and status")
        equal((task(2),), view.tasks, "the tasks that are to run")
        equal((piece("total", b"2"),), view.pieces, "the state")
        equal(
            (HistoryEntry(step=1, task=TASK, node="pay", fields=("total",), effects=(), at_us=30),),
            store.history(THREAD).wait(),
            "the history",
        )
        equal((claim.token, store.owner), (view.token, view.owner), "who runs it")

    @on_store
    def test_a_commit_can_schedule_many(self, store: Store) -> None:
        """What follows a step can be several tasks, with the attempts that they come with; all are open."""
        claim = created(store).claim
        following = (task(2, "pack"), attrs.evolve(task(2, "bill"), attempts=0), task(2, "mail"))

        store.commit(claim, attrs.evolve(commit(1), closing=attrs.evolve(closing(1), tasks=following))).wait()

        scheduled = {each.id: each for each in store.read(THREAD).wait().tasks}
        equal({each.id: each for each in following}, scheduled, "the tasks that are to run")

    @on_store
    def test_no_task_left_is_done(self, store: Store) -> None:
        """A thread whose last step schedules nothing is done; another run begins on what it came to."""
        claim = created(store).claim
        store.commit(claim, commit(1, piece("total", b"2"), done=True)).wait()
        view = store.read(THREAD).wait()
        equal((ThreadStatus.DONE, ()), (view.status, view.tasks), "status and tasks after the last step")

        store.start(claim, new_run(2, piece("notes", b"x"))).wait()

        view = store.read(THREAD).wait()
        equal((ThreadStatus.RUNNING, 2), (view.status, view.step), "status and step of the next run")
        equal((task(3),), view.tasks, "the tasks of the next run")
        equal((piece("notes", b"x"), piece("total", b"2")), view.pieces, "the state that it begins on")
        equal([1], [entry.step for entry in store.history(THREAD).wait()], "the history, which a start adds nothing to")

    @on_store
    def test_a_run_begins_when_the_last_is_done(self, store: Store) -> None:
        """`start` of a thread that is running, waiting or failed is refused (`ValueError`); nothing is changed."""
        claim = created(store).claim
        changes_nothing(store, ValueError, lambda: store.start(claim, new_run(5)), "another run while one runs")

        waiting = again(store)
        store.ask(waiting, TASK, (question(),)).wait()
        changes_nothing(store, ValueError, lambda: store.start(waiting, new_run(5)), "another run while one waits")

        failed = again(store)
        store.fail(failed, TASK, failure()).wait()
        changes_nothing(store, ValueError, lambda: store.start(failed, new_run(5)), "another run after a failed one")

    @on_store
    def test_steps_grow(self, store: Store) -> None:
        """A step that does not come after the last one is refused (`ValueError`), whether it ends or begins a run."""
        claim = created(store).claim
        store.commit(claim, commit(1)).wait()
        store.commit(claim, commit(2)).wait()
        for step in (0, 1, 2):
            late = attrs.evolve(commit(3), closing=closing(step))
            changes_nothing(store, ValueError, partial(store.commit, claim, late), f"a commit of step {step}")
            claim = again(store)
            changes_nothing(
                store,
                ValueError,
                partial(store.close, claim, closing(step)),
                f"a close of step {step}",
            )
            claim = again(store)
        store.commit(claim, commit(3, done=True)).wait()
        for step in (0, 3):
            changes_nothing(store, ValueError, partial(store.start, claim, new_run(step)), f"a run at {step}")
            claim = again(store)

    @on_store
    def test_a_step_closes_when_all_have_committed(self, store: Store) -> None:
        """A committed task waits with its update until its step closes; while one is open it cannot close."""
        claim = two_tasks(store)
        store.commit(claim, task_commit(1, "pay", b'{"total":1}')).wait()
        view = store.read(THREAD).wait()
        equal((0, (piece(),)), (view.step, view.pieces), "step and state before the step closes")
        equal(
            {
                TASK: Task(id=TASK, step=1, node="pay", status=TaskStatus.COMMITTED, update=b'{"total":1}'),
                "1.pack": task(1, "pack"),
            },
            {each.id: each for each in view.tasks},
            "the tasks before the step closes",
        )
        equal([TASK], [entry.task for entry in store.history(THREAD).wait()], "the history before the step closes")

        error = changes_nothing(
            store, TaskClosed, lambda: store.close(claim, closing(1)), "closing a step with an open task"
        )
        equal("1.pack", error.task, "the task that the error names")

        claim = again(store)
        store.commit(claim, task_commit(1, "pack")).wait()
        equal(ThreadStatus.RUNNING, store.read(THREAD).wait().status, "the status while the step is open")
        store.close(claim, closing(1, piece("total", b"9"), done=True)).wait()

        view = store.read(THREAD).wait()
        equal((1, ThreadStatus.DONE, ()), (view.step, view.status, view.tasks), "step, status and tasks")
        equal((piece("total", b"9"),), view.pieces, "the merged state")
        equal({TASK, "1.pack"}, {entry.task for entry in store.history(THREAD).wait()}, "the tasks in history")

    @on_store
    def test_a_step_does_not_close_over_a_failed_task(self, store: Store) -> None:
        """A step with a task that has failed cannot close (`TaskClosed` names it)."""
        claim = two_tasks(store)
        store.commit(claim, task_commit(1, "pay")).wait()
        store.fail(claim, "1.pack", failure()).wait()

        error = changes_nothing(
            store, TaskClosed, lambda: store.close(claim, closing(1)), "closing a step with a failed task"
        )

        equal("1.pack", error.task, "the task that the error names")

    @on_store
    def test_a_step_does_not_close_over_a_waiting_task(self, store: Store) -> None:
        """A step with a task that waits for an answer cannot close (`TaskClosed` names it)."""
        claim = two_tasks(store)
        store.commit(claim, task_commit(1, "pay")).wait()
        store.ask(claim, "1.pack", (question(),)).wait()

        error = changes_nothing(
            store, TaskClosed, lambda: store.close(claim, closing(1)), "closing a step with a waiting task"
        )

        equal("1.pack", error.task, "the task that the error names")

    @on_store
    def test_the_last_commit_can_close_the_step(self, store: Store) -> None:
        """The commit of the last open task of a step closes it in the same write; one of an earlier task cannot."""
        claim = two_tasks(store)
        error = changes_nothing(store, TaskClosed, lambda: store.commit(claim, commit(1)), "closing with a task open")
        equal("1.pack", error.task, "the task that the error names")

        claim = again(store)
        store.commit(claim, task_commit(1, "pack")).wait()
        store.commit(claim, commit(1)).wait()

        equal((task(2),), store.read(THREAD).wait().tasks, "the tasks after the step")
        equal({TASK, "1.pack"}, {entry.task for entry in store.history(THREAD).wait()}, "the tasks in history")

    @on_store
    def test_E09_a_failure_is_kept_as_text(self, store: Store) -> None:
        """A failed task says why, by name, text and traceback, until it is tried again; its evidence stays."""
        claim = created(store).claim
        name = settled(store, claim)
        open_one = begun(store, claim, key("other"))
        evidence = [found(store, each, claim.incarnation) for each in (name, open_one)]

        store.fail(claim, TASK, failure("no money")).wait()

        view = store.read(THREAD).wait()
        equal(ThreadStatus.FAILED, view.status, "the status of the thread")
        failed = Task(id=TASK, step=1, node="pay", status=TaskStatus.FAILED, failure=failure("no money"))
        equal((failed,), view.tasks, "the failed task")
        equal(evidence, [store.evidence(each, claim.incarnation).wait() for each in (name, open_one)], "its evidence")
        equal((), store.history(THREAD).wait(), "the history, in which a failed task is not")

    @on_store
    def test_a_failure_of_one_task_leaves_the_others(self, store: Store) -> None:
        """A thread is failed as soon as one task of it is; the others stay open and can commit."""
        claim = two_tasks(store)
        store.fail(claim, TASK, failure()).wait()
        equal(ThreadStatus.FAILED, store.read(THREAD).wait().status, "the status of the thread")

        store.commit(claim, task_commit(1, "pack")).wait()

        view = store.read(THREAD).wait()
        equal(ThreadStatus.FAILED, view.status, "the status of the thread after the other task's commit")
        equal(
            {TASK: TaskStatus.FAILED, "1.pack": TaskStatus.COMMITTED},
            {each.id: each.status for each in view.tasks},
            "the tasks",
        )

    @on_store
    def test_E07_attempts_are_counted(self, store: Store) -> None:
        """Each attempt is counted for good, and opens a failed task again, without its failure, and its thread."""
        claim = created(store).claim
        store.fail(claim, TASK, failure()).wait()

        equal(Task(id=TASK, step=1, node="pay", attempts=2), store.attempt(claim, TASK).wait(), "the task")
        equal(3, store.attempt(claim, TASK).wait().attempts, "the attempts of an open task, counted once more")

        view = store.read(THREAD).wait()
        equal(ThreadStatus.RUNNING, view.status, "the status of the thread")
        equal((Task(id=TASK, step=1, node="pay", attempts=3),), view.tasks, "the task as it is read")

    @on_store
    def test_G01_what_follows_a_committed_task_can_fail(self, store: Store) -> None:
        """A task that has committed stays so when what follows it fails; closing its step goes on from there."""
        claim = created(store).claim
        store.commit(claim, task_commit(1, "pay", b"{}")).wait()
        history = store.history(THREAD).wait()

        store.fail(claim, TASK, failure("the router raised")).wait()

        view = store.read(THREAD).wait()
        equal(ThreadStatus.FAILED, view.status, "the status of the thread")
        stays = Task(
            id=TASK,
            step=1,
            node="pay",
            status=TaskStatus.COMMITTED,
            failure=failure("the router raised"),
            update=b"{}",
        )
        equal((stays,), view.tasks, "the committed task")
        store.close(claim, closing(1)).wait()
        view = store.read(THREAD).wait()
        equal((ThreadStatus.RUNNING, (task(2),)), (view.status, view.tasks), "the thread after its step has closed")
        equal(history, store.history(THREAD).wait(), "the history")
