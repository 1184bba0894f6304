"""Answers: from anywhere, and the first one stands."""

from __future__ import annotations

from functools import partial

from effectgraph.stores.errors import QuestionClosed, QuestionUnknown
from effectgraph.stores.protocol import Store
from effectgraph.stores.records import Asked, QuestionId
from effectgraph.stores.testing.expect import equal
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.questions import RUNS, status
from effectgraph.stores.testing.samples import (
    TASK,
    THREAD,
    answer,
    commit,
    created,
    question,
    task,
    task_commit,
    two_tasks,
)
from effectgraph.stores.testing.seen import changes_nothing


class AnswerChecks(Checks):
    """Answers: the first one stands."""

    @on_store
    def test_an_answer_is_kept(self, store: Store) -> None:
        """An answer is kept as it was given, by whom and when; None, false and nothing are answers as well."""
        claim = created(store).claim
        values = {"q-1": b"true", "q-2": b"null", "q-3": b"", "q-4": b"0"}
        store.ask(claim, TASK, tuple(question(name) for name in values)).wait()
        for name, value in values.items():
            asked = store.answer(QuestionId(name), answer(value, "bob")).wait()
            expected = Asked(thread=THREAD, task=TASK, question=question(name), answer=answer(value, "bob"))
            equal(expected, asked, f"the answered question that `answer` returns, with the answer {value!r}")

        equal(
            [answer(value, "bob") for value in values.values()],
            [each.answer for each in store.read(THREAD).wait().questions],
            "the answers as they are read",
        )
        equal(RUNS, status(store), "thread and task with all answers")

    @on_store
    def test_the_first_answer_stands(self, store: Store) -> None:
        """A question that has an answer takes no other (`QuestionClosed`), not even the same."""
        claim = created(store).claim
        store.ask(claim, TASK, (question("q-1"), question("q-2"))).wait()
        store.answer(QuestionId("q-1"), answer()).wait()

        for another in (answer(), answer(b"false", "bob")):
            error = changes_nothing(
                store,
                QuestionClosed,
                partial(store.answer, QuestionId("q-1"), another),
                "a second answer",
            )
            equal(("q-1", THREAD), (error.question, error.thread), "question and thread that the error names")

    @on_store
    def test_an_unknown_question_is_named(self, store: Store) -> None:
        """Answering what nobody asked is refused (`QuestionUnknown` names it), and nothing is changed."""
        created(store)

        error = changes_nothing(
            store, QuestionUnknown, lambda: store.answer(QuestionId("q-9"), answer()), "answering no question"
        )

        equal("q-9", error.question, "the question that the error names")

    @on_store
    def test_an_answer_needs_no_claim(self, store: Store) -> None:
        """An answer disturbs no claim, whoever holds it: the run goes on, and so does one without a holder."""
        claim = created(store).claim
        store.ask(claim, TASK, (question("q-1"),)).wait()
        before = store.read(THREAD).wait()

        store.answer(QuestionId("q-1"), answer()).wait()

        view = store.read(THREAD).wait()
        equal((before.token, before.owner), (view.token, view.owner), "token and owner of the thread")
        store.ask(claim, TASK, (question("q-2"),)).wait()
        store.take(THREAD, "stuck", at_us=1).wait()
        store.answer(QuestionId("q-2"), answer()).wait()
        equal(None, store.read(THREAD).wait().owner, "who holds the thread")

    @on_store
    def test_a_commit_ends_the_questions_of_its_task(self, store: Store) -> None:
        """A commit takes the questions of its task into history, with their answers; no other task's."""
        claim = two_tasks(store)
        store.ask(claim, TASK, (question("q-1"), question("q-2"))).wait()
        store.ask(claim, "1.pack", (question("q-3"),)).wait()
        for name in ("q-2", "q-1"):
            store.answer(QuestionId(name), answer()).wait()

        store.commit(claim, task_commit(1, "pay")).wait()

        (entry,) = store.history(THREAD).wait()
        expected = tuple(
            Asked(thread=THREAD, task=TASK, question=question(name), answer=answer(), ended=True)
            for name in ("q-1", "q-2")
        )
        equal(expected, entry.questions, "the questions in history")
        left = Asked(thread=THREAD, task="1.pack", question=question("q-3"))
        equal((left,), store.read(THREAD).wait().questions, "the questions of the thread")
        equal((left,), store.pending().wait(), "the questions that are pending")

    @on_store
    def test_an_ended_question_gets_no_answer(self, store: Store) -> None:
        """A question whose task has committed without its answer can get none any more (`QuestionClosed`)."""
        claim = created(store).claim
        store.ask(claim, TASK, (question("q-1"),)).wait()
        store.attempt(claim, TASK).wait()
        store.commit(claim, commit(1)).wait()

        equal((), store.pending().wait(), "the questions that are pending")
        error = changes_nothing(
            store, QuestionClosed, lambda: store.answer(QuestionId("q-1"), answer()), "answering an ended question"
        )
        equal(("q-1", THREAD), (error.question, error.thread), "question and thread that the error names")
        (entry,) = store.history(THREAD).wait()
        equal(
            (Asked(thread=THREAD, task=TASK, question=question("q-1"), ended=True),),
            entry.questions,
            "the questions in history",
        )
        equal((task(2),), store.read(THREAD).wait().tasks, "the tasks, which run on")

    @on_store
    def test_an_ended_question_keeps_its_id(self, store: Store) -> None:
        """The id of a question in history is taken: nobody asks another one under it (`QuestionClosed`)."""
        claim = created(store).claim
        store.ask(claim, TASK, (question("q-1"),)).wait()
        store.answer(QuestionId("q-1"), answer()).wait()
        store.commit(claim, commit(1)).wait()

        changes_nothing(
            store, QuestionClosed, lambda: store.ask(claim, "2.pay", (question("q-1"),)), "asking under an old id"
        )
        changes_nothing(
            store, QuestionClosed, lambda: store.answer(QuestionId("q-1"), answer()), "answering an old question"
        )
