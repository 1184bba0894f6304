"""What the operations of the model store stand on: each rule of the contract in a place of its own."""

from __future__ import annotations

import uuid
from collections.abc import Callable, MutableMapping
from typing import Literal, TypeVar

import attrs

from effectgraph.stores.errors import (
    ClaimHeld,
    ClaimLost,
    DecisionConflict,
    DecisionRefused,
    EarlierWriteFailed,
    EffectAtWork,
    EvidenceChanged,
    QuestionClosed,
    StepUnknown,
    StoreClosed,
    TaskClosed,
    ThreadUnknown,
)
from effectgraph.stores.keys import EffectKey, check_distinct, check_key_part
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import (
    OUTSIDE,
    Asked,
    Claim,
    Claimed,
    Closing,
    Commit,
    Decided,
    Decision,
    EffectSummary,
    Evidence,
    HistoryEntry,
    OwnerId,
    Piece,
    Question,
    QuestionId,
    Sync,
    Task,
    TaskStatus,
    ThreadStatus,
    ThreadView,
)
from model_data import DoneReceipt, ModelData, Rows, Thread
from model_records import (
    is_unresolved,
    misfit,
    open_tasks,
    order_of,
    ruled,
    state_at,
    status_of,
    summed_up,
    task_of,
    timeless,
    with_task,
)

T = TypeVar("T")

NAME = "model"


class ModelRules:
    """One open store, without its operations."""

    def __init__(
        self,
        data: ModelData | None = None,
        *,
        sync: Literal["commit", "all"] = "commit",
        owner: OwnerId | None = None,
    ) -> None:
        self.data = ModelData() if data is None else data
        self._sync_all = sync == "all"
        self._owner = OwnerId(uuid.uuid4().hex) if owner is None else owner
        self._at_work: dict[tuple[EffectKey, int], object] = {}
        self._unwritten: dict[tuple[EffectKey, int], object] = {}
        self._runs: dict[int, Claim] = {}
        self._lanes: dict[int, Exception] = {}
        self._closed = False
        with self.data.lock:
            self.data.alive.add(self._owner)

    @property
    def namespace(self) -> str:
        return self.rows.namespace

    @property
    def owner(self) -> OwnerId:
        return self._owner

    @property
    def syncs_all(self) -> bool:
        return self._sync_all

    @property
    def at_work(self) -> MutableMapping[tuple[EffectKey, int], object]:
        return self._at_work

    @property
    def unwritten(self) -> MutableMapping[tuple[EffectKey, int], object]:
        return self._unwritten

    @property
    def rows(self) -> Rows:
        return self.data.rows

    def kill(self) -> None:
        """Die at once, without closing."""
        with self.data.lock:
            self._closed = True
            self.data.alive.discard(self._owner)

    def _write(
        self, run: Callable[[], T], sync: Sync, *, claim: Claim | None = None, ends_lane: bool = False
    ) -> Receipt[T]:
        """Make a write at once: whole, or not at all."""
        with self.data.lock:
            self._check_open()
            before = self.rows.copy()
            in_lane = claim is not None and claim.token != OUTSIDE
            try:
                if claim is not None and in_lane and not ends_lane:
                    self._check_lane(claim)
                value = run()
            except Exception as error:
                self.data.rows = before
                if claim is not None and in_lane:
                    self._fail_lane(claim, error, ends_lane=ends_lane)
                return DoneReceipt(self.data, 0, (), error)
            if claim is not None and ends_lane:
                self._lanes.pop(claim.token, None)
            if self._is_synced(sync):
                self.data.sync()
                return DoneReceipt(self.data, self.data.syncs, (value,), None)
            return DoneReceipt(self.data, self.data.syncs + 1, (value,), None)

    def _read(self, run: Callable[[], T]) -> Receipt[T]:
        with self.data.lock:
            self._check_open()
            try:
                return DoneReceipt(self.data, 0, (run(),), None)
            except Exception as error:
                return DoneReceipt(self.data, 0, (), error)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed(NAME, "it was closed")

    def _is_synced(self, sync: Sync) -> bool:
        return sync is Sync.NOW or self._sync_all

    def _check_lane(self, claim: Claim) -> None:
        earlier = self._lanes.get(claim.token)
        if isinstance(earlier, ClaimLost):
            raise ClaimLost(earlier.thread, earlier.token, earlier.current)
        if earlier is not None:
            raise EarlierWriteFailed(claim.thread, claim.token, f"{type(earlier).__name__}: {earlier}")

    def _fail_lane(self, claim: Claim, error: Exception, *, ends_lane: bool) -> None:
        if ends_lane:
            self._lanes.pop(claim.token, None)
        else:
            self._lanes.setdefault(claim.token, error)

    def _new_token(self) -> int:
        self.rows.token += 1
        return self.rows.token

    def _new_incarnation(self) -> int:
        self.rows.incarnation += 1
        return self.rows.incarnation

    def _put(self, thread: Thread) -> Thread:
        self.rows.threads[thread.id] = thread
        return thread

    def _thread(self, thread: str) -> Thread:
        found = self.rows.threads.get(thread)
        if found is None:
            raise ThreadUnknown(thread, NAME)
        return found

    def _kept(self, thread: str, step: int) -> Thread:
        found = self._thread(thread)
        if not found.kept_from <= step <= found.step:
            raise StepUnknown(thread, step, found.kept_from, found.step)
        return found

    def _runs_on(self, thread: Thread) -> bool:
        """Whether the thread's run goes on."""
        if thread.owner == self._owner:
            return thread.token in self._runs
        return thread.owner is not None and thread.owner in self.data.alive

    def _check_free(self, thread: Thread) -> None:
        if thread.owner is not None and self._runs_on(thread):
            raise ClaimHeld(thread.id, thread.owner, thread.token)

    def _claimed(self, thread: Thread) -> Claimed:
        claim = Claim(thread=thread.id, incarnation=thread.incarnation, token=thread.token, owner=self._owner)
        self._runs[thread.token] = claim
        evidence = sorted(
            (each for each in self._of_thread(thread) if not each.ended), key=lambda each: order_of(each.key)
        )
        return Claimed(claim=claim, thread=self._view(thread), evidence=tuple(evidence))

    def _view(self, thread: Thread) -> ThreadView:
        return ThreadView(
            id=thread.id,
            incarnation=thread.incarnation,
            graph=thread.graph,
            status=thread.status,
            step=thread.step,
            token=thread.token,
            owner=thread.owner,
            pieces=tuple(piece for _, piece in state_at(thread.pieces, thread.step)),
            tasks=tuple(sorted(thread.tasks, key=lambda task: (task.step, task.id))),
            questions=tuple(asked for asked in thread.questions if not asked.ended),
            kept_from=thread.kept_from,
            origin=thread.origin,
        )

    def _current(self, claim: Claim) -> Thread:
        """The claim's thread. Raises `ClaimLost` if the claim is not the current one."""
        found = self.rows.threads.get(claim.thread)
        if found is None or found.incarnation != claim.incarnation:
            raise ClaimLost(claim.thread, claim.token, None if found is None else found.token)
        if found.token != claim.token or found.owner != claim.owner:
            raise ClaimLost(claim.thread, claim.token, found.token)
        return found

    def _next_step(self, claim: Claim, step: int) -> Thread:
        thread = self._current(claim)
        if step <= thread.step:
            why = f"step {step} does not come after step {thread.step}"
            raise ValueError(f"thread {claim.thread}: {why}; nothing was changed")
        return thread

    def _go_on(self, thread: Thread, step: int, pieces: tuple[Piece, ...], scheduled: tuple[Task, ...]) -> None:
        check_distinct(f"step {step}: field", (piece.field for piece in pieces))
        check_distinct(f"step {step}: task", (task.id for task in scheduled))
        self._put(
            attrs.evolve(
                thread,
                step=step,
                pieces=(*thread.pieces, *((step, piece) for piece in pieces)),
                tasks=(*thread.tasks, *open_tasks(scheduled)),
                status=status_of(scheduled),
            )
        )

    def _close(self, thread: Thread, closing: Closing) -> None:
        of_step = sorted((task for task in thread.tasks if task.step == closing.step), key=lambda task: task.id)
        for task in of_step:
            if task.status is not TaskStatus.COMMITTED:
                raise TaskClosed(thread.id, task.id)
        others = tuple(task for task in thread.tasks if task.step != closing.step)
        self._go_on(attrs.evolve(thread, tasks=others), closing.step, closing.pieces, closing.tasks)

    def _add_history(self, thread: str, commit: Commit, effects: tuple[EffectSummary, ...]) -> None:
        entry = HistoryEntry(
            step=commit.step,
            task=commit.task,
            node=commit.node,
            fields=commit.fields,
            effects=effects,
            at_us=commit.at_us,
        )
        found = self._thread(thread)
        self._put(attrs.evolve(found, history=(*found.history, entry)))

    def _of_thread(self, thread: Thread) -> list[Evidence]:
        return [
            each
            for each in self.rows.effects.values()
            if (each.key.scope, each.incarnation) == (thread.id, thread.incarnation)
        ]

    def _remove_thread(self, thread: Thread) -> None:
        del self.rows.threads[thread.id]
        self._remove_evidence(thread)
        for key, incarnation in list(self.rows.remarks):
            if (key.scope, incarnation) == (thread.id, thread.incarnation):
                del self.rows.remarks[key, incarnation]

    def _remove_evidence(self, thread: Thread) -> None:
        for each in self._of_thread(thread):
            del self.rows.effects[each.key, each.incarnation]

    def _question(self, question: QuestionId) -> Asked | None:
        asked = (each for thread in self.rows.threads.values() for each in thread.questions)
        return next((each for each in asked if each.question.id == question), None)

    def _pending(self) -> list[Asked]:
        asked = (each for thread in self.rows.threads.values() for each in thread.questions)
        return [each for each in asked if each.answer is None and not each.ended]

    def _ask(self, claim: Claim, task: str, question: Question) -> Asked:
        check_key_part("question id", question.id)
        found = self._question(question.id)
        if found is None:
            thread = self._thread(claim.thread)
            found = Asked(thread=claim.thread, task=task, question=question)
            self._put(attrs.evolve(thread, questions=(*thread.questions, found)))
        if (found.thread, found.task, found.ended) != (claim.thread, task, False):
            who = f"task {found.task} of thread {found.thread}"
            raise QuestionClosed(question.id, found.thread, f"{who} has asked under that id before; give it another")
        return found

    def _wait(self, name: str, task: Task) -> None:
        """Let a task wait, if a question of it has no answer."""
        thread = self._thread(name)
        if not any(each.task == task.id and each.thread == name for each in self._pending()):
            return
        self._put(with_task(thread, attrs.evolve(task, status=TaskStatus.WAITING)))
        self._let_thread_wait(name)

    def _let_thread_wait(self, name: str) -> None:
        """Say that a running thread waits, if a task of it waits and none is open."""
        thread = self._thread(name)
        statuses = {each.status for each in thread.tasks}
        if thread.status is ThreadStatus.RUNNING and TaskStatus.WAITING in statuses and TaskStatus.OPEN not in statuses:
            self._put(attrs.evolve(thread, status=ThreadStatus.WAITING))

    def _check_unanswered(self, asked: Asked) -> None:
        if asked.answer is not None or asked.ended:
            why = "its task has ended" if asked.answer is None else f"{asked.answer.by} has answered it"
            raise QuestionClosed(asked.question.id, asked.thread, why)

    def _put_question(self, asked: Asked) -> None:
        thread = self._thread(asked.thread)
        others = tuple(asked if each.question.id == asked.question.id else each for each in thread.questions)
        self._put(attrs.evolve(thread, questions=others))

    def _go_on_if_all_answered(self, asked: Asked) -> None:
        thread = self._thread(asked.thread)
        task = task_of(thread, asked.task)
        if any(each.task == asked.task and each.thread == asked.thread for each in self._pending()):
            return
        if task is not None and task.status is TaskStatus.WAITING:
            thread = self._put(with_task(thread, attrs.evolve(task, status=TaskStatus.OPEN)))
            if thread.status is ThreadStatus.WAITING:
                self._put(attrs.evolve(thread, status=ThreadStatus.RUNNING))

    def _end_questions(self, name: str, task: str) -> None:
        thread = self._thread(name)
        ended = tuple(attrs.evolve(each, ended=True) if each.task == task else each for each in thread.questions)
        self._put(attrs.evolve(thread, questions=ended))

    def _find(self, key: EffectKey, incarnation: int) -> Evidence | None:
        return self.rows.effects.get((key, incarnation))

    def _put_effect(self, evidence: Evidence) -> None:
        self.rows.effects[evidence.key, evidence.incarnation] = evidence

    def _remove_effect(self, evidence: Evidence) -> None:
        del self.rows.effects[evidence.key, evidence.incarnation]
        self.rows.versions = max(self.rows.versions, evidence.version)

    def _first_version(self) -> int:
        return self.rows.versions + 1

    def _check_scope(self, claim: Claim, key: EffectKey) -> None:
        if key.scope != claim.thread:
            raise ValueError(
                f"effect {key}: its scope is not {claim.thread}, of which the claim is; nothing was changed"
            )
        if claim.token == OUTSIDE and claim.incarnation != 0:
            raise ValueError(f"effect {key}: outside a runtime there is no incarnation {claim.incarnation}; give 0")

    def _check_may(self, claim: Claim, key: EffectKey) -> None:
        """Raise unless the claim is the current one and the task is open; nothing fences token 0."""
        if claim.token == OUTSIDE:
            return
        task = task_of(self._current(claim), key.task)
        if task is None or task.status is not TaskStatus.OPEN:
            raise TaskClosed(claim.thread, key.task)

    def _is_as_seen(self, found: Evidence, seen: int | None) -> bool:
        return found.version == seen and found.outcome is None

    def _to_change(self, claim: Claim, key: EffectKey, seen: int) -> Evidence:
        """Evidence as it was seen, or with an outcome that was there before."""
        self._check_scope(claim, key)
        self._check_may(claim, key)
        found = self._find(key, claim.incarnation)
        if found is None or (found.outcome is None and found.version != seen):
            raise EvidenceChanged(str(key), seen, None if found is None else found.version)
        return found

    def _end_effects(self, claim: Claim, task: str) -> tuple[EffectSummary, ...]:
        ended = sorted(
            (each for each in self._of_thread(self._thread(claim.thread)) if each.key.task == task),
            key=lambda each: each.key.call,
        )
        for each in ended:
            if is_unresolved(each):
                self._put_effect(attrs.evolve(each, ended=True, version=each.version + 1))
            else:
                del self.rows.effects[each.key, each.incarnation]
        return tuple(map(summed_up, ended))

    def _is_left(self, evidence: Evidence) -> bool:
        """Whether nobody is at work on an intent without outcome."""
        if evidence.ended or evidence.trouble is not None or evidence.granted or evidence.uncertain is not None:
            return True
        thread = self.rows.threads.get(evidence.key.scope)
        if evidence.token > 0 and (
            thread is None
            or thread.incarnation != evidence.incarnation
            or thread.token != evidence.token
            or thread.owner is None
        ):
            return True
        return evidence.owner not in self.data.alive

    def _decide(self, decision: Decision) -> Evidence:
        check_key_part("decision id", decision.id)
        found = self._find(decision.key, decision.incarnation)
        for made, after in self.rows.decisions:
            if made.decision.id == decision.id:
                self._check_same(made.decision, decision)
                return after if found is None else found
        if found is None or found.version != decision.seen:
            raise EvidenceChanged(str(decision.key), decision.seen, None if found is None else found.version)
        if why := misfit(decision, found):
            raise DecisionRefused(decision.id, str(decision.key), why)
        if not self._is_left(found):
            raise EffectAtWork(str(decision.key), found.owner, found.token)
        after = ruled(decision, found)
        if found.ended:
            del self.rows.effects[found.key, found.incarnation]
        else:
            self._put_effect(after)
        number = len(self.rows.decisions) + 1
        self.rows.decisions.append((Decided(number=number, decision=decision, before=found), after))
        return after

    def _check_same(self, earlier: Decision, decision: Decision) -> None:
        if timeless(earlier) != timeless(decision):
            told = f"{earlier.ruling.value} of effect {earlier.key} by {earlier.by}"
            raise DecisionConflict(decision.id, str(decision.key), told)
