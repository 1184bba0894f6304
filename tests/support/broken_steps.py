"""Broken stores: tasks, steps, runs, and the order of writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import attrs

from broken import BrokenStore, Seen, breaks, failed
from effectgraph.stores.errors import EarlierWriteFailed, TaskClosed
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import (
    Answer,
    Asked,
    Begun,
    Claim,
    Closing,
    Commit,
    EffectSummary,
    Failure,
    HistoryEntry,
    Intent,
    NewRun,
    Outcome,
    Piece,
    QuestionId,
    Sync,
    Task,
    TaskStatus,
    ThreadStatus,
    ThreadView,
)
from model_data import ModelData, Rows, Thread
from model_records import task_of

T = TypeVar("T")


@breaks("writes_are_made_in_the_order_of_the_calls", "pieces_come_in_the_order_of_steps")
class PiecesByText(Seen):
    """Pieces come in the order of what they hold."""

    def as_seen(self, view: ThreadView) -> ThreadView:
        return attrs.evolve(view, pieces=tuple(sorted(view.pieces, key=lambda piece: (piece.field, piece.value))))


@breaks("a_threads_life_can_be_queued", "R11_the_first_outcome_wins")
class SettleLosesItsWay(BrokenStore):
    """An outcome that need not be synced is not seen by the next write."""

    def settle(self, claim: Claim, key: EffectKey, outcome: Outcome, *, seen: int, sync: Sync) -> Receipt[Outcome]:
        if sync is Sync.NOW and seen == 1:
            return super().settle(claim, key, outcome, seen=seen, sync=sync)
        return self._write(lambda: outcome, sync, claim=claim)


@breaks("a_bad_record_changes_nothing", "a_bad_close_or_start_changes_nothing", "a_question_is_of_one_task")
class LeavesHalfAWrite(BrokenStore):
    """What a failed write changed before it failed stays."""

    def __init__(self, data: ModelData | None = None) -> None:
        super().__init__(data)
        self._half: Rows | None = None

    def _write(
        self, run: Callable[[], T], sync: Sync, *, claim: Claim | None = None, ends_lane: bool = False
    ) -> Receipt[T]:
        with self.data.lock:
            receipt = super()._write(self._keep_half(run), sync, claim=claim, ends_lane=ends_lane)
            if self._half is not None:
                self.data.rows, self._half = self._half, None
            return receipt

    def _go_on(self, thread: Thread, step: int, pieces: tuple[Piece, ...], scheduled: tuple[Task, ...]) -> None:
        self._put(attrs.evolve(thread, step=step))
        super()._go_on(thread, step, pieces, scheduled)

    def _keep_half(self, run: Callable[[], T]) -> Callable[[], T]:
        def keep() -> T:
            try:
                return run()
            except Exception:
                self._half = self.rows.copy()
                raise

        return keep


@breaks("a_bad_write_fails_alone")
class FailureTakesTheGroup(BrokenStore):
    """A write that fails takes back everything since the last sync."""

    def _write(
        self, run: Callable[[], T], sync: Sync, *, claim: Claim | None = None, ends_lane: bool = False
    ) -> Receipt[T]:
        with self.data.lock:
            receipt = super()._write(run, sync, claim=claim, ends_lane=ends_lane)
            if failed(receipt):
                alive = set(self.data.alive)
                self.data.power_cut()
                self.data.alive |= alive
            return receipt


@breaks("strict_queue_nothing_stands_behind_a_failed_write", "a_refused_look_fails_the_lane_too")
class NoLanes(BrokenStore):
    """A failed write fails nothing behind it."""

    def _check_lane(self, claim: Claim) -> None:
        pass


@breaks("a_refused_look_fails_the_lane_too")
class LanesOfTasksOnly(BrokenStore):
    """Only a task that is closed fails what is behind it."""

    def _fail_lane(self, claim: Claim, error: Exception, *, ends_lane: bool) -> None:
        if isinstance(error, TaskClosed | EarlierWriteFailed):
            super()._fail_lane(claim, error, ends_lane=ends_lane)


@breaks("a_lost_claim_stays_lost")
class LostClaimIsAnEarlierWrite(BrokenStore):
    """Behind a lost claim every write is told that an earlier one failed, not why."""

    def _check_lane(self, claim: Claim) -> None:
        earlier = self._lanes.get(claim.token)
        if earlier is not None:
            raise EarlierWriteFailed(claim.thread, claim.token, str(earlier))


@breaks("a_failed_run_gives_its_thread_back")
class ReleaseBehindALane(BrokenStore):
    """The release of a claim is refused when an earlier write of it failed."""

    def release(self, claim: Claim, /) -> Receipt[None]:
        if claim.token in self._lanes:
            return self._write(lambda: None, Sync.NOW, claim=claim)
        return super().release(claim)


@breaks("lanes_of_claims_are_apart")
class OneLane(BrokenStore):
    """A failed write of one claim fails the writes of all."""

    def _check_lane(self, claim: Claim) -> None:
        if self._lanes:
            raise EarlierWriteFailed(claim.thread, claim.token, "another claim's write")


@breaks("a_failed_lane_is_of_one_claim", "a_failed_run_gives_its_thread_back")
class LanesOfThreads(BrokenStore):
    """A failed write of a claim fails those of its successors."""

    def _fail_lane(self, claim: Claim, error: Exception, *, ends_lane: bool) -> None:
        self._lanes[0] = error

    def _check_lane(self, claim: Claim) -> None:
        super()._check_lane(attrs.evolve(claim, token=0))


@breaks("outside_a_runtime_a_failed_write_fails_alone")
class LaneOutside(BrokenStore):
    """What is written outside a runtime has a lane as well."""

    def begin(self, claim: Claim, key: EffectKey, intent: Intent, *, seen: int | None) -> Receipt[Begun]:
        if claim.token == 0:
            with self.data.lock:
                lane = self._lanes.get(0)
                if lane is not None:
                    return self._write(self.refuse, Sync.NOW)
        return super().begin(claim, key, intent, seen=seen)

    def settle(self, claim: Claim, key: EffectKey, outcome: Outcome, *, seen: int, sync: Sync) -> Receipt[Outcome]:
        receipt = super().settle(claim, key, outcome, seen=seen, sync=sync)
        try:
            receipt.wait()
        except Exception as error:
            if claim.token == 0:
                self._lanes[0] = error
        return receipt

    def refuse(self) -> Begun:
        """What a write in a failed lane comes to."""
        raise EarlierWriteFailed("outside", 0, "a settlement")


@breaks("a_refused_intent_is_no_failure")
class RefusedIntentFails(BrokenStore):
    """An intent that finds other evidence fails the lane of its claim."""

    def begin(self, claim: Claim, key: EffectKey, intent: Intent, *, seen: int | None) -> Receipt[Begun]:
        receipt = super().begin(claim, key, intent, seen=seen)
        if claim.token and not failed(receipt) and not receipt.wait().mine:
            self._lanes[claim.token] = ValueError("it found other evidence")
        return receipt


@breaks("what_needs_no_claim_is_in_no_lane")
class AnswerBehindALane(BrokenStore):
    """An answer is refused while a write of a claim of its thread has failed."""

    def answer(self, question: QuestionId, answer: Answer, /) -> Receipt[Asked]:
        if self._lanes:
            return self._write(self.refuse, Sync.NOW)
        return super().answer(question, answer)

    def refuse(self) -> Asked:
        """What an answer behind a failed lane comes to."""
        raise EarlierWriteFailed("any", 0, "a write")


@breaks("a_commit_ends_a_task_and_schedules_the_next", "a_task_of_an_earlier_step_takes_nothing")
class CommitKeepsTask(BrokenStore):
    """A task whose commit closes its step is still there."""

    def commit(self, claim: Claim, commit: Commit, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        found = self.rows.threads.get(claim.thread)
        task = None if found is None else task_of(found, commit.task)
        receipt = super().commit(claim, commit, sync=sync)
        if commit.closing is not None and task is not None and not failed(receipt):
            self.alter(claim.thread, lambda thread: attrs.evolve(thread, tasks=(*thread.tasks, task)))
        return receipt


@breaks("a_commit_can_schedule_many")
class OneTaskFollows(BrokenStore):
    """Only the first task that follows is scheduled."""

    def _go_on(self, thread: Thread, step: int, pieces: tuple[Piece, ...], scheduled: tuple[Task, ...]) -> None:
        super()._go_on(thread, step, pieces, scheduled)
        self.alter(thread.id, lambda found: attrs.evolve(found, tasks=found.tasks[:1]))


@breaks("a_commit_can_schedule_many")
class AttemptsBeginAtOne(BrokenStore):
    """A scheduled task has one attempt, whatever it came with."""

    def _go_on(self, thread: Thread, step: int, pieces: tuple[Piece, ...], scheduled: tuple[Task, ...]) -> None:
        super()._go_on(thread, step, pieces, tuple(attrs.evolve(task, attempts=1) for task in scheduled))


@breaks("no_task_left_is_done", "runnable_is_running_and_held_by_nobody")
class NeverDone(BrokenStore):
    """A thread whose last step schedules nothing is still running."""

    def _go_on(self, thread: Thread, step: int, pieces: tuple[Piece, ...], scheduled: tuple[Task, ...]) -> None:
        super()._go_on(thread, step, pieces, scheduled)
        self.alter(thread.id, lambda found: attrs.evolve(found, status=ThreadStatus.RUNNING))


@breaks("a_run_begins_when_the_last_is_done")
class StartsAnyTime(BrokenStore):
    """Another run begins although the last one goes on."""

    def start(self, claim: Claim, run: NewRun, /) -> Receipt[None]:
        return self._write(
            lambda: self._go_on(self._next_step(claim, run.step), run.step, run.pieces, run.tasks),
            Sync.LATER,
            claim=claim,
        )


@breaks("steps_grow")
class StepsComeAgain(BrokenStore):
    """A step can come again."""

    def _next_step(self, claim: Claim, step: int) -> Thread:
        thread = self._current(claim)
        return thread if step >= thread.step else super()._next_step(claim, step)


@breaks("a_step_closes_when_all_have_committed", "the_last_commit_can_close_the_step")
class ClosesOverOpenTasks(BrokenStore):
    """A step closes although a task of it is open."""

    def _close(self, thread: Thread, closing: Closing) -> None:
        done = tuple(task for task in thread.tasks if task.status is not TaskStatus.OPEN)
        super()._close(attrs.evolve(thread, tasks=done), closing)


@breaks("a_step_does_not_close_over_a_failed_task")
class ClosesOverFailedTasks(BrokenStore):
    """A step closes although a task of it has failed."""

    def _close(self, thread: Thread, closing: Closing) -> None:
        done = tuple(task for task in thread.tasks if task.status is not TaskStatus.FAILED)
        super()._close(attrs.evolve(thread, tasks=done), closing)


@breaks("a_step_does_not_close_over_a_waiting_task")
class ClosesOverWaitingTasks(BrokenStore):
    """A step closes although a task of it waits."""

    def _close(self, thread: Thread, closing: Closing) -> None:
        done = tuple(task for task in thread.tasks if task.status is not TaskStatus.WAITING)
        super()._close(attrs.evolve(thread, tasks=done), closing)


@breaks("a_step_closes_when_all_have_committed", "updates_and_questions_are_kept_to_the_byte")
class CommitLosesUpdate(BrokenStore):
    """A committed task has no update."""

    def commit(self, claim: Claim, commit: Commit, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        return super().commit(claim, attrs.evolve(commit, update=None), sync=sync)


@breaks("E09_a_failure_is_kept_as_text", "texts_are_kept_to_the_letter")
class FailureLosesTraceback(BrokenStore):
    """A failure is kept without its traceback."""

    def fail(self, claim: Claim, task: str, failure: Failure, /) -> Receipt[None]:
        return super().fail(claim, task, attrs.evolve(failure, traceback=""))


@breaks("E09_a_failure_is_kept_as_text")
class FailureDropsEvidence(BrokenStore):
    """A failed task loses its evidence."""

    def fail(self, claim: Claim, task: str, failure: Failure, /) -> Receipt[None]:
        receipt = super().fail(claim, task, failure)
        if not failed(receipt):
            with self.data.lock:
                for key, incarnation in list(self.rows.effects):
                    if (key.scope, key.task) == (claim.thread, task):
                        del self.rows.effects[key, incarnation]
        return receipt


@breaks("questions_survive_a_failure")
class FailureDropsQuestions(BrokenStore):
    """A failed task loses its questions."""

    def fail(self, claim: Claim, task: str, failure: Failure, /) -> Receipt[None]:
        receipt = super().fail(claim, task, failure)
        if not failed(receipt):
            self.alter(claim.thread, lambda thread: attrs.evolve(thread, questions=()))
        return receipt


@breaks("a_failure_of_one_task_leaves_the_others")
class FailureFailsAll(BrokenStore):
    """A failure fails every open task of the thread."""

    def fail(self, claim: Claim, task: str, failure: Failure, /) -> Receipt[None]:
        receipt = super().fail(claim, task, failure)
        if not failed(receipt):
            self.alter(claim.thread, _all_failed)
        return receipt


@breaks("E09_a_failure_is_kept_as_text", "G01_what_follows_a_committed_task_can_fail")
class FailureLeavesThread(BrokenStore):
    """A thread with a failed task is not failed."""

    def fail(self, claim: Claim, task: str, failure: Failure, /) -> Receipt[None]:
        receipt = super().fail(claim, task, failure)
        self.alter(claim.thread, lambda thread: attrs.evolve(thread, status=ThreadStatus.RUNNING))
        return receipt


@breaks("E07_attempts_are_counted")
class AttemptsNotCounted(BrokenStore):
    """An attempt opens the task, and is not counted."""

    def attempt(self, claim: Claim, task: str, /) -> Receipt[Task]:
        found = self.rows.threads.get(claim.thread)
        before = None if found is None else task_of(found, task)
        receipt = super().attempt(claim, task)
        if before is not None and not failed(receipt):
            opened = attrs.evolve(receipt.wait(), attempts=before.attempts)
            self.alter(claim.thread, lambda thread: _with(thread, opened))
        return receipt


@breaks("E07_attempts_are_counted")
class AttemptKeepsFailure(BrokenStore):
    """A task that is tried again still says why it failed."""

    def attempt(self, claim: Claim, task: str, /) -> Receipt[Task]:
        found = self.rows.threads.get(claim.thread)
        before = None if found is None else task_of(found, task)
        receipt = super().attempt(claim, task)
        if before is not None and not failed(receipt):
            opened = attrs.evolve(receipt.wait(), failure=before.failure)
            self.alter(claim.thread, lambda thread: _with(thread, opened))
        return receipt


@breaks("G01_what_follows_a_committed_task_can_fail")
class FailureUndoesCommit(BrokenStore):
    """A committed task whose followers fail is failed itself."""

    def fail(self, claim: Claim, task: str, failure: Failure, /) -> Receipt[None]:
        receipt = super().fail(claim, task, failure)
        if not failed(receipt):
            self.alter(claim.thread, _all_failed)
        return receipt


@breaks("a_task_commits_once", "a_failed_task_takes_nothing", "a_task_that_was_never_scheduled_takes_nothing")
class TasksNotLookedAt(BrokenStore):
    """Effects are written for tasks that are not open."""

    def _check_may(self, claim: Claim, key: EffectKey) -> None:
        if claim.token:
            self._current(claim)


@breaks("a_task_commits_once")
class CommitsAgain(BrokenStore):
    """A committed task commits again."""

    def commit(self, claim: Claim, commit: Commit, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        self.alter(claim.thread, lambda thread: _reopened(thread, commit.task, TaskStatus.COMMITTED))
        return super().commit(claim, commit, sync=sync)


@breaks("a_failed_task_takes_nothing")
class FailsAgain(BrokenStore):
    """A failed task takes another failure."""

    def fail(self, claim: Claim, task: str, failure: Failure, /) -> Receipt[None]:
        self.alter(claim.thread, lambda thread: _reopened(thread, task, TaskStatus.FAILED))
        return super().fail(claim, task, failure)


@breaks("a_task_that_was_never_scheduled_takes_nothing", "a_task_of_an_earlier_step_takes_nothing")
class FailsNoTask(BrokenStore):
    """A failure of a task that is not there fails the thread."""

    def fail(self, claim: Claim, task: str, failure: Failure, /) -> Receipt[None]:
        found = self.rows.threads.get(claim.thread)
        if found is None or task_of(found, task) is not None:
            return super().fail(claim, task, failure)
        return self._write(lambda: self._fail_thread(claim), Sync.LATER, claim=claim)

    def _fail_thread(self, claim: Claim) -> None:
        self._put(attrs.evolve(self._current(claim), status=ThreadStatus.FAILED))


@breaks("history_is_oldest_first", "history_sums_effects_up")
class HistoryWithoutNames(BrokenStore):
    """History keeps neither fields nor effects."""

    def _add_history(self, thread: str, commit: Commit, effects: tuple[EffectSummary, ...]) -> None:
        super()._add_history(thread, attrs.evolve(commit, fields=()), ())


@breaks("history_is_oldest_first")
class HistoryNewestFirst(BrokenStore):
    """History lists the newest step first."""

    def history(self, thread: str, /) -> Receipt[tuple[HistoryEntry, ...]]:
        receipt = super().history(thread)
        return receipt if failed(receipt) else self._read(lambda: receipt.wait()[::-1])


@breaks("a_commit_ends_a_task_and_schedules_the_next", "no_task_left_is_done")
class NoHistory(BrokenStore):
    """A commit with its step leaves no history."""

    def _add_history(self, thread: str, commit: Commit, effects: tuple[EffectSummary, ...]) -> None:
        if commit.closing is None:
            super()._add_history(thread, commit, effects)


def _with(thread: Thread, task: Task) -> Thread:
    return attrs.evolve(thread, tasks=tuple(task if each.id == task.id else each for each in thread.tasks))


def _reopened(thread: Thread, task: str, where: TaskStatus) -> Thread:
    found = task_of(thread, task)
    if found is None or found.status is not where:
        return thread
    return _with(thread, attrs.evolve(found, status=TaskStatus.OPEN, update=None))


def _all_failed(thread: Thread) -> Thread:
    return attrs.evolve(thread, tasks=tuple(attrs.evolve(task, status=TaskStatus.FAILED) for task in thread.tasks))
