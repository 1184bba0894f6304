"""Questions: asked by a task, which waits then."""

from __future__ import annotations

import attrs

from effectgraph.stores.errors import QuestionClosed, QuestionUnknown, TaskClosed
from effectgraph.stores.protocol import Store
from effectgraph.stores.records import Asked, QuestionId, TaskStatus, ThreadStatus
from effectgraph.stores.testing.expect import equal, refused
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.samples import (
    TASK,
    THREAD,
    answer,
    commit,
    created,
    failure,
    question,
    settled,
    task_commit,
    two_tasks,
)
from effectgraph.stores.testing.seen import changes_nothing
from effectgraph.stores.testing.steps import again


def status(store: Store, thread: str = THREAD) -> tuple[ThreadStatus, dict[str, TaskStatus]]:
    """Where a thread and its tasks stand."""
    view = store.read(thread).wait()
    return view.status, {each.id: each.status for each in view.tasks}


WAITS = (ThreadStatus.WAITING, {TASK: TaskStatus.WAITING})
RUNS = (ThreadStatus.RUNNING, {TASK: TaskStatus.OPEN})


class AskingChecks(Checks):
    """Asking, and what waits then."""

    @on_store
    def test_what_is_asked_is_kept(self, store: Store) -> None:
        """`ask` writes questions down whole, in their order, and returns them as they stand."""
        claim = created(store).claim
        whole = attrs.evolve(question("q-2", expires_us=900), default=b"false")
        asked = (question("q-3"), question("q-1"), whole)

        came = store.ask(claim, TASK, asked).wait()

        expected = tuple(Asked(thread=THREAD, task=TASK, question=each) for each in asked)
        equal(expected, came, "the questions that `ask` returns")
        equal(expected, store.read(THREAD).wait().questions, "the questions of the thread, in the order of asking")

    @on_store
    def test_a_task_waits_for_its_answers(self, store: Store) -> None:
        """A task waits while a question of it has no answer; with the last answer it is open, its thread running."""
        claim = created(store).claim
        store.ask(claim, TASK, (question("q-1"), question("q-2"))).wait()
        equal(WAITS, status(store), "thread and task with two questions")

        store.answer(QuestionId("q-2"), answer()).wait()
        equal(WAITS, status(store), "thread and task with one question left")

        store.answer(QuestionId("q-1"), answer()).wait()
        equal(RUNS, status(store), "thread and task with all answers")
        store.commit(claim, commit(1)).wait()

    @on_store
    def test_a_thread_waits_when_no_task_of_it_is_open(self, store: Store) -> None:
        """A thread runs while a task of it is open, and waits when every one that has not ended waits."""
        claim = two_tasks(store)
        store.ask(claim, TASK, (question("q-1"),)).wait()
        equal(ThreadStatus.RUNNING, store.read(THREAD).wait().status, "the thread with one open, one waiting task")
        store.ask(claim, "1.pack", (question("q-2"),)).wait()
        equal(ThreadStatus.WAITING, store.read(THREAD).wait().status, "the thread with two waiting tasks")
        store.answer(QuestionId("q-2"), answer()).wait()
        equal(
            (ThreadStatus.RUNNING, {TASK: TaskStatus.WAITING, "1.pack": TaskStatus.OPEN}),
            status(store),
            "the thread with one open task again",
        )

    @on_store
    def test_a_thread_waits_when_its_last_open_task_ends(self, store: Store) -> None:
        """A thread waits when the commit of its last open task leaves only tasks that wait."""
        claim = two_tasks(store)
        store.ask(claim, TASK, (question("q-1"),)).wait()

        store.commit(claim, task_commit(1, "pack")).wait()

        equal(
            (ThreadStatus.WAITING, {TASK: TaskStatus.WAITING, "1.pack": TaskStatus.COMMITTED}),
            status(store),
            "the thread whose other task has committed",
        )
        equal((), store.runnable("shop").wait(), "what can be run")
        store.answer(QuestionId("q-1"), answer()).wait()
        equal(ThreadStatus.RUNNING, store.read(THREAD).wait().status, "the thread with the answer")

    @on_store
    def test_what_waits_is_not_runnable(self, store: Store) -> None:
        """A thread that waits is not listed as runnable; with its answer it is."""
        claim = created(store).claim
        store.ask(claim, TASK, (question(),)).wait()
        store.release(claim).wait()
        equal((), store.runnable("shop").wait(), "what can be run while the thread waits")

        store.answer(QuestionId("q-1"), answer()).wait()

        equal((THREAD,), store.runnable("shop").wait(), "what can be run with the answer")

    @on_store
    def test_a_question_is_asked_once(self, store: Store) -> None:
        """A question that is there already stays as it was, with its answer, whatever it is asked with again."""
        claim = created(store).claim
        store.ask(claim, TASK, (question("q-1"),)).wait()
        store.answer(QuestionId("q-1"), answer()).wait()
        answered = Asked(thread=THREAD, task=TASK, question=question("q-1"), answer=answer())

        (came,) = store.ask(claim, TASK, (attrs.evolve(question("q-1"), content=b'"really?"', at_us=99),)).wait()
        equal(answered, came, "the answered question, asked again")
        equal(RUNS, status(store), "thread and task, which have their answer")

        both = store.ask(claim, TASK, (question("q-1"), question("q-2"))).wait()
        equal((answered, Asked(thread=THREAD, task=TASK, question=question("q-2"))), both, "an old and a new question")
        equal(WAITS, status(store), "thread and task with a new question")

    @on_store
    def test_a_question_is_of_one_task(self, store: Store) -> None:
        """An id that another task or thread has is refused (`QuestionClosed`), with all that is asked beside it."""
        claim = two_tasks(store)
        store.ask(claim, TASK, (question("q-1"),)).wait()
        other = created(store, "order-2").claim
        error = changes_nothing(
            store,
            QuestionClosed,
            lambda: store.ask(other, TASK, (question("new"), question("q-1"))),
            "asking what another thread asks",
            THREAD,
            "order-2",
        )
        equal("q-1", error.question, "the question that the error names")
        error = changes_nothing(
            store,
            QuestionClosed,
            lambda: store.ask(claim, "1.pack", (question("new"), question("q-1"))),
            "asking what another task asks",
        )
        refused(QuestionUnknown, lambda: store.answer(QuestionId("new"), answer()), "answering what was not asked")

    @on_store
    def test_what_waits_can_be_tried_again(self, store: Store) -> None:
        """An attempt opens a task that waits; its questions stand, and it waits again when it asks them again."""
        claim = created(store).claim
        asked = store.ask(claim, TASK, (question("q-1"),)).wait()
        refused(TaskClosed, lambda: store.ask(again(store), TASK, (question("q-2"),)), "asking while it waits")
        claim = again(store)

        opened = store.attempt(claim, TASK).wait()

        equal((2, TaskStatus.OPEN), (opened.attempts, opened.status), "attempts and status of the task")
        equal(RUNS, status(store), "thread and task in the attempt")
        equal(asked, store.pending().wait(), "the questions that are pending")
        equal(asked, store.ask(claim, TASK, (question("q-1"),)).wait(), "the question when it is asked again")
        equal(WAITS, status(store), "thread and task that have asked again")
        store.attempt(claim, TASK).wait()
        store.answer(QuestionId("q-1"), answer()).wait()
        equal(RUNS, status(store), "thread and task whose answer came during an attempt")
        store.commit(claim, commit(1)).wait()

    @on_store
    def test_questions_survive_a_failure(self, store: Store) -> None:
        """A failed task keeps its questions and answers; they are there when it is tried again."""
        claim = two_tasks(store)
        store.ask(claim, TASK, (question("q-1"),)).wait()
        store.answer(QuestionId("q-1"), answer()).wait()
        settled(store, claim)
        store.fail(claim, TASK, failure()).wait()
        answered = Asked(thread=THREAD, task=TASK, question=question("q-1"), answer=answer())
        equal((answered,), store.read(THREAD).wait().questions, "the questions of the failed task")

        store.attempt(claim, TASK).wait()

        equal((answered,), store.ask(claim, TASK, (question("q-1"),)).wait(), "the question when it is asked again")

    @on_store
    def test_a_claim_brings_its_questions(self, store: Store) -> None:
        """Who claims a thread gets its questions with their answers; those of ended tasks are gone to history."""
        claim = created(store).claim
        store.ask(claim, TASK, (question("q-1"),)).wait()
        store.answer(QuestionId("q-1"), answer()).wait()
        store.commit(claim, commit(1)).wait()
        store.ask(claim, "2.pay", (question("q-2"), question("q-3"))).wait()
        store.release(claim).wait()
        store.answer(QuestionId("q-3"), answer(b"false", "bob")).wait()

        questions = store.claim(THREAD).wait().thread.questions

        expected = (
            Asked(thread=THREAD, task="2.pay", question=question("q-2")),
            Asked(thread=THREAD, task="2.pay", question=question("q-3"), answer=answer(b"false", "bob")),
        )
        equal(expected, questions, "the questions that come with the claim")
