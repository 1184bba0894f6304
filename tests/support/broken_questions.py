"""Broken stores: questions and answers."""

from __future__ import annotations

import attrs

from broken import BrokenStore, Seen, breaks, failed
from effectgraph.stores.errors import QuestionClosed, QuestionUnknown
from effectgraph.stores.limits import LISTED
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import (
    Answer,
    Asked,
    Claim,
    HistoryEntry,
    Question,
    QuestionId,
    Sync,
    Task,
    TaskStatus,
    ThreadStatus,
    ThreadView,
)
from model_data import Thread


@breaks("what_is_asked_is_kept", "a_committed_task_without_update_has_none", "due_is_what_has_expired")
class QuestionsNeverExpire(BrokenStore):
    """A question is kept without default and end."""

    def ask(self, claim: Claim, task: str, questions: tuple[Question, ...], /) -> Receipt[tuple[Asked, ...]]:
        short = tuple(attrs.evolve(each, default=None, expires_us=None) for each in questions)
        return super().ask(claim, task, short)


@breaks("what_is_asked_is_kept")
class QuestionsById(Seen):
    """The questions of a thread come in the order of their ids."""

    def as_seen(self, view: ThreadView) -> ThreadView:
        return attrs.evolve(view, questions=tuple(sorted(view.questions, key=lambda asked: asked.question.id)))


@breaks("a_task_waits_for_its_answers", "what_waits_is_not_runnable")
class NobodyWaits(BrokenStore):
    """A task that has asked goes on."""

    def _wait(self, name: str, task: Task) -> None:
        pass


@breaks("a_thread_waits_when_no_task_of_it_is_open")
class ThreadWaitsAtOnce(BrokenStore):
    """A thread waits as soon as a task of it does."""

    def _wait(self, name: str, task: Task) -> None:
        super()._wait(name, task)
        self.alter(name, lambda thread: attrs.evolve(thread, status=ThreadStatus.WAITING))


@breaks("a_thread_waits_when_its_last_open_task_ends")
class ThreadWaitsWithAskingOnly(BrokenStore):
    """A thread whose last open task commits is running, although all others wait."""

    def _let_thread_wait(self, name: str) -> None:
        thread = self._thread(name)
        if all(task.status is TaskStatus.WAITING for task in thread.tasks):
            super()._let_thread_wait(name)


@breaks("what_waits_is_not_runnable", "runnable_is_running_and_held_by_nobody")
class WaitingIsRunnable(BrokenStore):
    """A thread that waits is listed as runnable."""

    def runnable(self, graph: str, /, *, limit: int = LISTED, after: str = "") -> Receipt[tuple[str, ...]]:
        receipt = super().runnable(graph, limit=limit, after=after)
        waiting = [
            each.id for each in self.rows.threads.values() if each.status is ThreadStatus.WAITING and not each.owner
        ]
        return self._read(lambda: tuple(sorted((*receipt.wait(), *waiting)))[:limit])


@breaks("a_task_waits_for_its_answers")
class OneAnswerIsEnough(BrokenStore):
    """A task goes on with the first answer to one of its questions."""

    def _go_on_if_all_answered(self, asked: Asked) -> None:
        thread = self._thread(asked.thread)
        tasks = tuple(
            attrs.evolve(task, status=TaskStatus.OPEN) if task.id == asked.task else task for task in thread.tasks
        )
        self._put(attrs.evolve(thread, tasks=tasks, status=ThreadStatus.RUNNING))


@breaks("a_task_waits_for_its_answers", "an_answer_is_kept")
class AnswerLeavesTheThread(BrokenStore):
    """An answer opens its task, and its thread goes on waiting."""

    def _go_on_if_all_answered(self, asked: Asked) -> None:
        before = self._thread(asked.thread).status
        super()._go_on_if_all_answered(asked)
        self.alter(asked.thread, lambda thread: attrs.evolve(thread, status=before))


@breaks("a_question_is_asked_once", "questions_survive_a_failure")
class AsksAnew(BrokenStore):
    """A question that is asked again is a new one."""

    def _ask(self, claim: Claim, task: str, question: Question) -> Asked:
        self.alter(
            claim.thread,
            lambda thread: attrs.evolve(
                thread, questions=tuple(each for each in thread.questions if each.question.id != question.id)
            ),
        )
        return super()._ask(claim, task, question)


@breaks("a_question_is_of_one_task")
class IdsOfThreads(BrokenStore):
    """A question that another task asks is given to this one."""

    def _ask(self, claim: Claim, task: str, question: Question) -> Asked:
        found = self._question(question.id)
        return super()._ask(claim, task, question) if found is None else found


@breaks("an_ended_question_keeps_its_id")
class OldIdsAreFree(BrokenStore):
    """The id of a question in history can be used again."""

    def _question(self, question: QuestionId) -> Asked | None:
        found = super()._question(question)
        return None if found is not None and found.ended and found.answer is not None else found


@breaks("what_waits_can_be_tried_again")
class AsksWhileItWaits(BrokenStore):
    """A task that waits can ask more."""

    def ask(self, claim: Claim, task: str, questions: tuple[Question, ...], /) -> Receipt[tuple[Asked, ...]]:
        self.alter(claim.thread, lambda thread: _open_again(thread, task))
        return super().ask(claim, task, questions)


@breaks("what_waits_can_be_tried_again", "an_ended_question_gets_no_answer")
class AttemptDropsQuestions(BrokenStore):
    """A task that is tried again forgets what it has asked."""

    def attempt(self, claim: Claim, task: str, /) -> Receipt[Task]:
        receipt = super().attempt(claim, task)
        if not failed(receipt):
            self.alter(claim.thread, lambda thread: attrs.evolve(thread, questions=()))
        return receipt


@breaks("a_claim_brings_its_questions", "a_commit_ends_the_questions_of_its_task", "what_has_ended_is_not_due")
class CommitLeavesQuestions(BrokenStore):
    """A commit does not end the questions of its task."""

    def _end_questions(self, name: str, task: str) -> None:
        pass


@breaks("a_commit_ends_the_questions_of_its_task")
class CommitEndsAllQuestions(BrokenStore):
    """A commit ends the questions of all tasks of its thread."""

    def _end_questions(self, name: str, task: str) -> None:
        super()._end_questions(name, task)
        self.alter(name, lambda thread: attrs.evolve(thread, questions=tuple(map(_ended, thread.questions))))


@breaks("an_answer_is_kept")
class AnswerOfAnybody(BrokenStore):
    """An answer does not say who gave it."""

    def answer(self, question: QuestionId, answer: Answer, /) -> Receipt[Asked]:
        return super().answer(question, attrs.evolve(answer, by="ann"))


@breaks("the_first_answer_stands", "an_answer_has_one_winner", "an_answer_stays_when_its_asker_is_gone")
class AnswersTwice(BrokenStore):
    """The last answer stands."""

    def _check_unanswered(self, asked: Asked) -> None:
        if asked.ended:
            super()._check_unanswered(asked)


@breaks("the_first_answer_stands")
class SameAnswerTwice(BrokenStore):
    """The same answer again is no error."""

    def answer(self, question: QuestionId, answer: Answer, /) -> Receipt[Asked]:
        asked = self._question(question)
        if asked is not None and asked.answer == answer:
            return self._read(lambda: asked)
        return super().answer(question, answer)


@breaks("an_ended_question_gets_no_answer")
class AnswersWhatHasEnded(BrokenStore):
    """A question whose task has ended takes an answer."""

    def _check_unanswered(self, asked: Asked) -> None:
        if asked.answer is not None:
            super()._check_unanswered(asked)


@breaks("an_unknown_question_is_named", "a_deletion_takes_the_questions", "a_question_is_of_one_task")
class UnknownIsClosed(BrokenStore):
    """A question that is not there is said to be closed."""

    def answer(self, question: QuestionId, answer: Answer, /) -> Receipt[Asked]:
        if self._question(question) is None:
            return self._write(lambda: self._closed_question(question), Sync.NOW)
        return super().answer(question, answer)

    def _closed_question(self, question: QuestionId) -> Asked:
        raise QuestionClosed(question, "nobody", "it is not there")


@breaks("an_unknown_question_is_named")
class WrongQuestionNamed(BrokenStore):
    """Who answers a question that is not there is not told which."""

    def answer(self, question: QuestionId, answer: Answer, /) -> Receipt[Asked]:
        if self._question(question) is None:
            return self._write(self._unknown, Sync.NOW)
        return super().answer(question, answer)

    def _unknown(self) -> Asked:
        raise QuestionUnknown("some question", "model")


@breaks("an_answer_needs_no_claim", "others_do_not_disturb_a_run")
class AnswerReleases(BrokenStore):
    """An answer takes the thread from whoever runs it."""

    def answer(self, question: QuestionId, answer: Answer, /) -> Receipt[Asked]:
        receipt = super().answer(question, answer)
        if not failed(receipt):
            self.alter(receipt.wait().thread, lambda thread: attrs.evolve(thread, owner=None))
        return receipt


@breaks("a_commit_ends_the_questions_of_its_task", "an_ended_question_gets_no_answer")
class HistoryWithoutQuestions(BrokenStore):
    """History does not keep questions: answers are lost with the commit."""

    def history(self, thread: str, /) -> Receipt[tuple[HistoryEntry, ...]]:
        receipt = super().history(thread)
        if failed(receipt):
            return receipt
        return self._read(lambda: tuple(attrs.evolve(entry, questions=()) for entry in receipt.wait()))


@breaks("a_deletion_takes_the_questions", "a_thread_of_a_gone_owner_can_be_deleted")
class DeletionKeepsQuestions(BrokenStore):
    """The questions of a deleted thread are still pending."""

    def _remove_thread(self, thread: Thread) -> None:
        super()._remove_thread(thread)
        if thread.questions:
            left = f"{thread.id} (deleted)"
            self._put(attrs.evolve(thread, id=left, status=ThreadStatus.DONE))


@breaks("pending_is_what_waits_for_an_answer")
class PendingOfTheClaimed(BrokenStore):
    """Only questions of threads that somebody holds are pending."""

    def _pending(self) -> list[Asked]:
        return [each for each in super()._pending() if self._thread(each.thread).owner is not None]


@breaks("pending_is_what_waits_for_an_answer", "due_is_what_has_expired")
class AnsweredIsPending(BrokenStore):
    """A question that has its answer is still listed."""

    def pending(self, *, limit: int = LISTED, after: QuestionId | None = None) -> Receipt[tuple[Asked, ...]]:
        return self._read(lambda: self._asked(limit, after))

    def due(self, until_us: int, /, *, limit: int = LISTED) -> Receipt[tuple[Asked, ...]]:
        return self._read(lambda: self._asked(limit, None))

    def _asked(self, limit: int, after: QuestionId | None) -> tuple[Asked, ...]:
        asked = [each for thread in self.rows.threads.values() for each in thread.questions if not each.ended]
        return tuple(each for each in asked if each.question.id > (after or ""))[:limit]


@breaks("pending_comes_in_order_by_page")
class PendingInOrderOfAsking(BrokenStore):
    """Pending questions come in the order of asking."""

    def pending(self, *, limit: int = LISTED, after: QuestionId | None = None) -> Receipt[tuple[Asked, ...]]:
        return self._read(lambda: tuple(each for each in self._pending() if each.question.id > (after or ""))[:limit])


@breaks("pending_comes_in_order_by_page")
class PendingFoldsCase(BrokenStore):
    """Pending questions come in the order of a dictionary, not of code points."""

    def pending(self, *, limit: int = LISTED, after: QuestionId | None = None) -> Receipt[tuple[Asked, ...]]:
        order = sorted(self._pending(), key=lambda each: each.question.id.casefold())
        behind = "" if after is None else after.casefold()
        return self._read(lambda: tuple(each for each in order if each.question.id.casefold() > behind)[:limit])


@breaks("due_is_what_has_expired")
class DueTooEarly(BrokenStore):
    """Every question that has an end is due."""

    def due(self, until_us: int, /, *, limit: int = LISTED) -> Receipt[tuple[Asked, ...]]:
        return super().due(2**62, limit=limit)


@breaks("due_is_what_has_expired")
class DueById(BrokenStore):
    """What is due comes in the order of ids."""

    def due(self, until_us: int, /, *, limit: int = LISTED) -> Receipt[tuple[Asked, ...]]:
        receipt = super().due(until_us, limit=10_000)
        return self._read(lambda: tuple(sorted(receipt.wait(), key=lambda each: each.question.id))[:limit])


def _open_again(thread: Thread, task: str) -> Thread:
    tasks = tuple(
        attrs.evolve(each, status=TaskStatus.OPEN) if each.id == task and each.status is TaskStatus.WAITING else each
        for each in thread.tasks
    )
    return attrs.evolve(thread, tasks=tasks)


def _ended(asked: Asked) -> Asked:
    return attrs.evolve(asked, ended=True)
