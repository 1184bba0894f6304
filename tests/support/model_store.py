"""A store in memory that is right by being simple: each operation at once, over plain records.

What it does is what `Store` promises, one method after the other. Tests compare a real store with it, and break it on
purpose to see that the checks for stores notice.
"""

from __future__ import annotations

import attrs

from effectgraph.stores.errors import (
    EvidenceChanged,
    QuestionUnknown,
    TaskClosed,
    ThreadExists,
    ThreadUnknown,
    UnresolvedStands,
)
from effectgraph.stores.keys import EffectKey, check_distinct, check_key_part
from effectgraph.stores.limits import LISTED, REMARKS
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import (
    OUTSIDE,
    Answer,
    Asked,
    Begun,
    Claim,
    Claimed,
    Closing,
    Commit,
    Decided,
    Decision,
    Evidence,
    Failure,
    Fork,
    HistoryEntry,
    How,
    Intent,
    NewRun,
    NewThread,
    Origin,
    Outcome,
    OwnerId,
    Piece,
    Question,
    QuestionId,
    Remark,
    Sync,
    Task,
    TaskStatus,
    ThreadStatus,
    ThreadView,
)
from model_data import Thread
from model_records import check_limit, is_unresolved, open_tasks, order_of, state_at, status_of, task_of, with_task
from model_rules import NAME, ModelRules


class ModelStore(ModelRules):
    """One open store on data that several may share. `kill` ends it as a dying process would."""

    def create(self, thread: NewThread, /) -> Receipt[Claimed]:
        check_key_part("thread id", thread.id)

        def run() -> Claimed:
            if thread.id in self.rows.threads:
                raise ThreadExists(thread.id, self.rows.threads[thread.id].status.value)
            check_distinct(f"step {thread.run.step}: field", (piece.field for piece in thread.run.pieces))
            check_distinct(f"step {thread.run.step}: task", (task.id for task in thread.run.tasks))
            made = Thread(
                id=thread.id,
                incarnation=self._new_incarnation(),
                graph=thread.graph,
                status=status_of(thread.run.tasks),
                step=thread.run.step,
                token=self._new_token(),
                owner=self._owner,
                pieces=tuple((thread.run.step, piece) for piece in thread.run.pieces),
                tasks=open_tasks(thread.run.tasks),
                kept_from=thread.run.step,
            )
            return self._claimed(self._put(made))

        return self._write(run, Sync.NOW)

    def claim(self, thread: str, /) -> Receipt[Claimed]:
        def run() -> Claimed:
            found = self._thread(thread)
            self._check_free(found)
            return self._claimed(self._put(attrs.evolve(found, token=self._new_token(), owner=self._owner)))

        return self._write(run, Sync.NOW)

    def take(self, thread: str, reason: str, *, at_us: int) -> Receipt[int]:
        def run() -> int:
            found = self._thread(thread)
            token = self._new_token()
            self._put(attrs.evolve(found, token=token, owner=None, takes=(*found.takes, (token, reason, at_us))))
            return token

        return self._write(run, Sync.NOW)

    def renew(self, claim: Claim, /) -> Receipt[None]:
        def run() -> None:
            self._current(claim)

        return self._write(run, Sync.LATER, claim=claim)

    def release(self, claim: Claim, /) -> Receipt[None]:
        def run() -> None:
            self._put(attrs.evolve(self._current(claim), owner=None))

        receipt = self._write(run, Sync.NOW, claim=claim, ends_lane=True)
        if self._runs.get(claim.token) == claim:
            del self._runs[claim.token]
        return receipt

    def start(self, claim: Claim, run: NewRun, /) -> Receipt[None]:
        def begin() -> None:
            thread = self._next_step(claim, run.step)
            if thread.status is not ThreadStatus.DONE:
                why = f"it is {thread.status.value}, and another run begins when it is done"
                raise ValueError(f"thread {claim.thread}: {why}; nothing was changed")
            self._go_on(thread, run.step, run.pieces, run.tasks)

        return self._write(begin, Sync.LATER, claim=claim)

    def attempt(self, claim: Claim, task: str, /) -> Receipt[Task]:
        def run() -> Task:
            thread = self._current(claim)
            found = task_of(thread, task)
            if found is None or found.status is TaskStatus.COMMITTED:
                raise TaskClosed(claim.thread, task)
            opened = attrs.evolve(found, attempts=found.attempts + 1, status=TaskStatus.OPEN, failure=None)
            self._put(attrs.evolve(with_task(thread, opened), status=ThreadStatus.RUNNING))
            return opened

        return self._write(run, Sync.NOW, claim=claim)

    def commit(self, claim: Claim, commit: Commit, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        def run() -> None:
            closing = commit.closing
            thread = self._current(claim) if closing is None else self._next_step(claim, closing.step)
            found = task_of(thread, commit.task)
            if found is None or found.status is not TaskStatus.OPEN:
                raise TaskClosed(claim.thread, commit.task)
            if closing is None:
                ended = attrs.evolve(found, status=TaskStatus.COMMITTED, update=commit.update)
                self._put(with_task(thread, ended))
                self._let_thread_wait(claim.thread)
            else:
                others = tuple(task for task in thread.tasks if task.id != commit.task)
                self._close(attrs.evolve(thread, tasks=others), closing)
            self._end_questions(claim.thread, commit.task)
            effects = self._end_effects(claim, commit.task)
            self._add_history(claim.thread, commit, effects)

        return self._write(run, sync, claim=claim)

    def close(self, claim: Claim, closing: Closing, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        return self._write(lambda: self._close(self._next_step(claim, closing.step), closing), sync, claim=claim)

    def fail(self, claim: Claim, task: str, failure: Failure, /) -> Receipt[None]:
        def run() -> None:
            thread = self._current(claim)
            found = task_of(thread, task)
            if found is None or found.status is TaskStatus.FAILED:
                raise TaskClosed(claim.thread, task)
            status = found.status if found.status is TaskStatus.COMMITTED else TaskStatus.FAILED
            failed = with_task(thread, attrs.evolve(found, status=status, failure=failure))
            self._put(attrs.evolve(failed, status=ThreadStatus.FAILED))

        return self._write(run, Sync.LATER, claim=claim)

    def ask(self, claim: Claim, task: str, questions: tuple[Question, ...], /) -> Receipt[tuple[Asked, ...]]:
        def run() -> tuple[Asked, ...]:
            check_distinct(f"thread {claim.thread}, task {task}: question", (each.id for each in questions))
            if not questions:
                raise ValueError(f"thread {claim.thread}, task {task}: nothing is asked; give a question")
            thread = self._current(claim)
            found = task_of(thread, task)
            if found is None or found.status is not TaskStatus.OPEN:
                raise TaskClosed(claim.thread, task)
            asked = tuple(self._ask(claim, task, question) for question in questions)
            self._wait(claim.thread, found)
            return asked

        return self._write(run, Sync.NOW, claim=claim)

    def answer(self, question: QuestionId, answer: Answer, /) -> Receipt[Asked]:
        def run() -> Asked:
            asked = self._question(question)
            if asked is None:
                raise QuestionUnknown(question, NAME)
            self._check_unanswered(asked)
            answered = attrs.evolve(asked, answer=answer)
            self._put_question(answered)
            self._go_on_if_all_answered(asked)
            return answered

        return self._write(run, Sync.NOW)

    def begin(self, claim: Claim, key: EffectKey, intent: Intent, *, seen: int | None) -> Receipt[Begun]:
        def run() -> Begun:
            self._check_scope(claim, key)
            self._check_may(claim, key)
            found = self._find(key, claim.incarnation)
            if found is None and seen is not None:
                raise EvidenceChanged(str(key), seen, None)
            if found is not None and not self._is_as_seen(found, seen):
                return Begun(evidence=found, mine=False)
            mine = Evidence(
                key=key,
                incarnation=claim.incarnation,
                intent=intent,
                owner=claim.owner,
                token=claim.token,
                attempt=1 if found is None else found.attempt + 1,
                version=self._first_version() if found is None else found.version + 1,
            )
            self._put_effect(mine)
            return Begun(evidence=mine, mine=True)

        return self._write(run, Sync.NOW, claim=claim)

    def settle(self, claim: Claim, key: EffectKey, outcome: Outcome, *, seen: int, sync: Sync) -> Receipt[Outcome]:
        def run() -> Outcome:
            found = self._to_change(claim, key, seen)
            if found.outcome is not None:
                return found.outcome
            self._put_effect(attrs.evolve(found, outcome=outcome, trouble=None, version=found.version + 1))
            return outcome

        return self._write(run, sync, claim=claim)

    def withdraw(self, claim: Claim, key: EffectKey, *, seen: int) -> Receipt[None]:
        def run() -> None:
            self._check_scope(claim, key)
            self._check_may(claim, key)
            found = self._find(key, claim.incarnation)
            if found is None or not self._is_as_seen(found, seen):
                raise EvidenceChanged(str(key), seen, None if found is None else found.version)
            self._remove_effect(found)

        return self._write(run, Sync.NOW, claim=claim)

    def trouble(self, claim: Claim, key: EffectKey, text: str, *, seen: int) -> Receipt[None]:
        def run() -> None:
            found = self._to_change(claim, key, seen)
            if found.outcome is None:
                self._put_effect(attrs.evolve(found, trouble=text, version=found.version + 1))

        return self._write(run, Sync.LATER, claim=claim)

    def uncertain(self, claim: Claim, key: EffectKey, *, seen: int) -> Receipt[None]:
        def run() -> None:
            found = self._to_change(claim, key, seen)
            if found.outcome is None:
                given_up = attrs.evolve(found, uncertain=How.RECONCILE, granted=False, version=found.version + 1)
                self._put_effect(given_up)

        return self._write(run, Sync.NOW, claim=claim)

    def drop(self, claim: Claim, key: EffectKey, /) -> Receipt[None]:
        if claim.token != OUTSIDE:
            raise ValueError(f"effect {key}: a thread's evidence goes with the commit of its task; it is not dropped")

        def run() -> None:
            self._check_scope(claim, key)
            found = self._find(key, claim.incarnation)
            if found is None:
                return
            if is_unresolved(found):
                raise UnresolvedStands(key.scope, (f"{key.task} / {key.call}",))
            self._remove_effect(found)
            self.rows.remarks.pop((key, claim.incarnation), None)

        return self._write(run, Sync.NOW)

    def remark(self, remark: Remark, /) -> Receipt[None]:
        def run() -> None:
            place = (remark.key, remark.incarnation)
            kept = self.rows.remarks.get(place, ())
            self.rows.remarks[place] = (*kept, remark)[:REMARKS]

        return self._write(run, Sync.LATER)

    def remarks(self, key: EffectKey, incarnation: int, /) -> Receipt[tuple[Remark, ...]]:
        return self._read(lambda: self.rows.remarks.get((key, incarnation), ()))

    def decide(self, decision: Decision, /) -> Receipt[Evidence]:
        return self._write(lambda: self._decide(decision), Sync.NOW)

    def decisions(self, *, limit: int = LISTED, after: int = 0) -> Receipt[tuple[Decided, ...]]:
        check_limit(limit)
        return self._read(lambda: tuple(made for made, _ in self.rows.decisions if made.number > after)[:limit])

    def evidence(self, key: EffectKey, incarnation: int, /) -> Receipt[Evidence | None]:
        return self._read(lambda: self._find(key, incarnation))

    def read(self, thread: str, /) -> Receipt[ThreadView]:
        return self._read(lambda: self._view(self._thread(thread)))

    def state(self, thread: str, step: int, /) -> Receipt[tuple[Piece, ...]]:
        return self._read(lambda: tuple(piece for _, piece in state_at(self._kept(thread, step).pieces, step)))

    def history(self, thread: str, /) -> Receipt[tuple[HistoryEntry, ...]]:
        def run() -> tuple[HistoryEntry, ...]:
            found = self._thread(thread)
            ended = [asked for asked in found.questions if asked.ended]
            return tuple(
                attrs.evolve(entry, questions=tuple(asked for asked in ended if asked.task == entry.task))
                for entry in sorted(found.history, key=lambda entry: (entry.step, entry.task))
            )

        return self._read(run)

    def runnable(self, graph: str, /, *, limit: int = LISTED, after: str = "") -> Receipt[tuple[str, ...]]:
        check_limit(limit)

        def run() -> tuple[str, ...]:
            ids = sorted(
                each.id
                for each in self.rows.threads.values()
                if each.status is ThreadStatus.RUNNING and each.graph.name == graph and not self._runs_on(each)
            )
            return tuple(each for each in ids if each > after)[:limit]

        return self._read(run)

    def unresolved(self, *, limit: int = LISTED, after: EffectKey | None = None) -> Receipt[tuple[Evidence, ...]]:
        check_limit(limit)
        behind = ("", "", "") if after is None else order_of(after)

        def run() -> tuple[Evidence, ...]:
            listed = sorted(
                (each for each in self.rows.effects.values() if is_unresolved(each) and self._is_left(each)),
                key=lambda each: (order_of(each.key), each.incarnation),
            )
            listed = [each for each in listed if order_of(each.key) > behind]
            last = listed[min(limit, len(listed)) - 1].key if listed else None
            return tuple(each for each in listed if last is not None and order_of(each.key) <= order_of(last))

        return self._read(run)

    def pending(self, *, limit: int = LISTED, after: QuestionId | None = None) -> Receipt[tuple[Asked, ...]]:
        check_limit(limit)
        return self._read(
            lambda: tuple(
                asked
                for asked in sorted(self._pending(), key=lambda asked: asked.question.id)
                if asked.question.id > (after or "")
            )[:limit]
        )

    def due(self, until_us: int, /, *, limit: int = LISTED) -> Receipt[tuple[Asked, ...]]:
        check_limit(limit)

        def run() -> tuple[Asked, ...]:
            due = [
                (asked.question.expires_us, asked.question.id, asked)
                for asked in self._pending()
                if asked.question.expires_us is not None and asked.question.expires_us <= until_us
            ]
            return tuple(asked for *_, asked in sorted(due, key=lambda each: each[:2]))[:limit]

        return self._read(run)

    def alive(self, owner: OwnerId, /) -> Receipt[bool]:
        return self._read(lambda: owner in self.data.alive)

    def fork(self, fork: Fork, /) -> Receipt[None]:
        def run() -> None:
            check_key_part("thread id", fork.id)
            source = self._kept(fork.source, fork.step)
            if source.incarnation != fork.incarnation:
                raise ThreadUnknown(f"{fork.source} of incarnation {fork.incarnation}", NAME)
            check_distinct(f"fork {fork.id}: task", (task.id for task in fork.tasks))
            if fork.id in self.rows.threads:
                raise ThreadExists(fork.id, self.rows.threads[fork.id].status.value)
            self._put(
                Thread(
                    id=fork.id,
                    incarnation=self._new_incarnation(),
                    graph=source.graph,
                    status=status_of(fork.tasks),
                    step=fork.step,
                    token=0,
                    owner=None,
                    pieces=state_at(source.pieces, fork.step),
                    tasks=open_tasks(fork.tasks),
                    kept_from=fork.step,
                    origin=Origin(thread=source.id, incarnation=source.incarnation, step=fork.step),
                )
            )

        return self._write(run, Sync.NOW)

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        def run() -> None:
            found = self._kept(thread, before)
            forgotten = {entry.task for entry in found.history if entry.step < before}
            left = [
                each
                for each in self._of_thread(found)
                if each.ended and each.key.task in forgotten and is_unresolved(each)
            ]
            if left and not drop_unresolved:
                raise UnresolvedStands(thread, tuple(sorted(f"{each.key.task} / {each.key.call}" for each in left)))
            for each in left:
                del self.rows.effects[each.key, each.incarnation]
            later = tuple((step, piece) for step, piece in found.pieces if step > before)
            self._put(
                attrs.evolve(
                    found,
                    pieces=(*state_at(found.pieces, before), *later),
                    history=tuple(entry for entry in found.history if entry.step >= before),
                    questions=tuple(each for each in found.questions if not each.ended or each.task not in forgotten),
                    kept_from=before,
                )
            )

        return self._write(run, Sync.NOW)

    def delete(self, thread: str, /, *, drop_unresolved: bool = False) -> Receipt[None]:
        def run() -> None:
            found = self._thread(thread)
            self._check_free(found)
            left = [each for each in self._of_thread(found) if is_unresolved(each)]
            if left and not drop_unresolved:
                raise UnresolvedStands(thread, tuple(sorted(f"{each.key.task} / {each.key.call}" for each in left)))
            self._remove_thread(found)

        return self._write(run, Sync.NOW)

    def check(self) -> Receipt[tuple[str, ...]]:
        return self._read(tuple[str, ...])

    def flush(self) -> Receipt[None]:
        return self._write(lambda: None, Sync.NOW)

    async def aclose(self) -> None:
        with self.data.lock:
            if not self._closed:
                self.data.sync()
            self.kill()
