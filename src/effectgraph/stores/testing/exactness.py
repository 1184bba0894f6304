"""Bytes, numbers and texts: what comes back is what was given."""

from __future__ import annotations

from typing import Final

import attrs

from effectgraph.stores.protocol import Store
from effectgraph.stores.records import (
    Commit,
    How,
    Kind,
    Landing,
    Outcome,
    Plan,
    Question,
    QuestionId,
    Ruling,
    Sync,
    Task,
)
from effectgraph.stores.testing.expect import equal, true
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.samples import (
    TASK,
    THREAD,
    answer,
    closing,
    commit,
    created,
    decision,
    failure,
    intent,
    key,
    outcome,
    piece,
    question,
    task,
)
from effectgraph.stores.testing.seen import found

BYTES: Final = {
    "empty": b"",
    "a NUL": b"\x00",
    "what is no UTF-8": b"\xff\xfe\x00\xc3(",
    "every byte": bytes(range(256)),
    "a megabyte": bytes(range(256)) * 4096,
}
"""Bytes that a store could take for text, or for nothing."""

TEXTS: Final = {
    "letters of all widths": "aé日\U0001f600\U0010ffff",
    "marks that join": "e\u0301 \u202eright to left\u202c",
    "quotes": "' \" \\ ` %s ? :name -- ;",
    "lines": 'Traceback:\n\tFile "x"\r\n',
    "a long text": "x" * 100_000,
}
"""Texts that a store could take for part of a statement, or shorten."""

TIMES_US: Final = (0, 1, 2**53 + 1, 2**62 + 1)
"""Times that a float would round."""


class ExactnessChecks(Checks):
    """Bytes, numbers and texts: what comes back is what was given."""

    @on_store
    def test_values_are_kept_to_the_byte(self, store: Store) -> None:
        """Values of the state come back byte for byte, and as bytes, replaced or appended."""
        claim = created(store).claim
        written = tuple(piece(name, value) for name, value in BYTES.items())
        appended = tuple(piece(f"more of {name}", value, appended=True) for name, value in BYTES.items())
        store.commit(claim, commit(1, *written, *appended)).wait()

        kept = {each.field: each.value for each in store.read(THREAD).wait().pieces}
        for name, value in BYTES.items():
            equal(value, kept[name], f"a value: {name}")
            equal(value, kept[f"more of {name}"], f"what was appended: {name}")
            true(type(kept[name]) is bytes, f"a value is bytes: {name}")

    @on_store
    def test_requests_and_outcomes_are_kept_to_the_byte(self, store: Store) -> None:
        """Requests, presumed and real outcomes come back byte for byte; an empty outcome is not the mark `omitted`."""
        claim = created(store).claim
        for name, value in BYTES.items():
            earlier = (Landing("after", value), Landing("later", b"x"))
            planned = Plan(before="before", landing=Landing("last", value), earlier=earlier)
            written = attrs.evolve(intent(Kind.VERIFIABLE, plan=planned), request=value)
            store.begin(claim, key(name), written, seen=None).wait()
            store.settle(claim, key(name), outcome(value), seen=1, sync=Sync.LATER).wait()

            stands = found(store, key(name), claim.incarnation)
            equal(written, stands.intent, f"an intent whose bytes are {name}")
            equal(outcome(value), stands.outcome, f"an outcome: {name}")
        begun = store.begin(claim, key("none"), intent(), seen=None).wait()
        store.settle(claim, key("none"), outcome(None), seen=begun.evidence.version, sync=Sync.LATER).wait()
        equal(outcome(None), found(store, key("none"), claim.incarnation).outcome, "an omitted outcome")

    @on_store
    def test_updates_and_questions_are_kept_to_the_byte(self, store: Store) -> None:
        """The update of a committed task, a question, its default and its answer come back byte for byte."""
        claim = created(store).claim
        for number, (name, value) in enumerate(BYTES.items(), 1):
            asked = Question(
                id=QuestionId(name), content=value, schema="bytes", at_us=1, expires_us=None, default=value
            )
            store.ask(claim, f"{number}.pay", (asked,)).wait()
            store.answer(QuestionId(name), answer(value)).wait()
            (kept,) = store.read(THREAD).wait().questions
            equal((asked, answer(value)), (kept.question, kept.answer), f"a question and its answer: {name}")
            store.commit(
                claim, Commit(task=f"{number}.pay", step=number, node="pay", fields=(), at_us=1, update=value)
            ).wait()
            (done,) = store.read(THREAD).wait().tasks
            equal(value, done.update, f"the update of a committed task: {name}")
            store.close(claim, closing(number)).wait()
            asked_then = store.history(THREAD).wait()[-1].questions[0]
            equal((asked, answer(value)), (asked_then.question, asked_then.answer), f"in history: {name}")

    @on_store
    def test_a_committed_task_without_update_has_none(self, store: Store) -> None:
        """An update, a default or a time to expire that was not given is None, not empty and not 0."""
        claim = created(store).claim
        asked = question()
        store.ask(claim, TASK, (asked, attrs.evolve(question("q-2"), default=b"", expires_us=0))).wait()
        first, second = store.read(THREAD).wait().questions
        equal((None, None), (first.question.default, first.question.expires_us), "default and end of a question")
        equal((b"", 0), (second.question.default, second.question.expires_us), "an empty default, and the end at 0")
        store.answer(QuestionId("q-1"), answer()).wait()
        store.answer(QuestionId("q-2"), answer()).wait()
        store.commit(claim, Commit(task=TASK, step=1, node="pay", fields=(), at_us=1)).wait()

        equal(None, store.read(THREAD).wait().tasks[0].update, "the update of a committed task that brought none")

    @on_store
    def test_times_are_kept_to_the_microsecond(self, store: Store) -> None:
        """Times come back to the microsecond, wherever they are kept, also those that a float would round."""
        for number, at_us in enumerate(TIMES_US):
            claim = created(store, f"order-{number}").claim
            name, doubt = key("a", claim.thread), key("b", claim.thread)
            store.begin(claim, name, attrs.evolve(intent(), at_us=at_us), seen=None).wait()
            settled = Outcome(value=b"", schema="out", how=How.RUN, at_us=at_us)
            store.settle(claim, name, settled, seen=1, sync=Sync.LATER).wait()
            store.begin(claim, doubt, intent(), seen=None).wait()
            store.trouble(claim, doubt, "late", seen=1).wait()
            ruled = attrs.evolve(
                decision(found(store, doubt, claim.incarnation), Ruling.COMPLETE, f"d-{number}", result=settled),
                at_us=at_us,
            )
            store.decide(ruled).wait()
            asked = attrs.evolve(question(f"q-{number}"), at_us=at_us, expires_us=at_us)
            store.ask(claim, TASK, (asked,)).wait()
            (waiting,) = store.due(at_us).wait()
            equal(asked, waiting.question, f"a question at {at_us}")
            store.answer(asked.id, attrs.evolve(answer(), at_us=at_us)).wait()
            store.commit(claim, attrs.evolve(commit(1), at_us=at_us)).wait()
            store.fail(claim, "2.pay", attrs.evolve(failure(), at_us=at_us)).wait()

            (entry,) = store.history(claim.thread).wait()
            times = [entry.at_us, entry.effects[0].begun_us, entry.effects[0].settled_us]
            said = entry.questions[0].answer
            times += [said.at_us if said else None, store.decisions().wait()[-1].decision.at_us]
            failed = store.read(claim.thread).wait().tasks[0].failure
            times.append(failed.at_us if failed else None)
            equal([at_us] * 6, times, "times of a commit, an effect's begin and end, an answer, a decision, a failure")

    @on_store
    def test_texts_are_kept_to_the_letter(self, store: Store) -> None:
        """Texts come back letter for letter, wherever they are kept."""
        for number, (name, text) in enumerate(TEXTS.items()):
            claim = created(store, f"order-{number}").claim
            call = key("a", claim.thread)
            written = attrs.evolve(intent(), tool=text, fingerprint=text, schema=text)
            store.begin(claim, call, written, seen=None).wait()
            store.trouble(claim, call, text, seen=1).wait()
            stands = found(store, call, claim.incarnation)
            equal((written, text), (stands.intent, stands.trouble), f"an intent and its trouble: {name}")
            ruled = attrs.evolve(decision(stands, Ruling.ABANDON, f"d-{number}"), by=text, reason=text)
            store.decide(ruled).wait()
            equal(ruled, store.decisions().wait()[-1].decision, f"a decision: {name}")
            asked = attrs.evolve(question(f"q-{number}"), schema=text)
            store.ask(claim, TASK, (asked,)).wait()
            said = attrs.evolve(answer(by=text), schema=text)
            equal(said, store.answer(asked.id, said).wait().answer, f"an answer: {name}")
            store.commit(claim, commit(1, attrs.evolve(piece(text), schema=text))).wait()
            why = attrs.evolve(failure(text), error=text, traceback=text)
            store.fail(claim, "2.pay", why).wait()

            view = store.read(claim.thread).wait()
            equal(why, view.tasks[0].failure, f"a failure: {name}")
            equal({text, "total"}, {each.field for each in view.pieces}, f"the fields of the state: {name}")
            (entry,) = store.history(claim.thread).wait()
            equal(((text,), asked), (entry.fields, entry.questions[0].question), f"history: {name}")

    @on_store
    def test_numbers_are_kept_as_they_are(self, store: Store) -> None:
        """Steps, attempts and versions of graphs come back as they were given, also large ones."""
        claim = created(store).claim
        far = 2**40
        following = Task(id="far", step=far + 1, node="pay", attempts=0)
        jump = attrs.evolve(commit(1), step=far, closing=attrs.evolve(closing(far), tasks=(following,)))
        store.commit(claim, jump).wait()

        view = store.read(THREAD).wait()
        equal((far, (following,)), (view.step, view.tasks), "step and tasks after a far step")
        equal([far], [entry.step for entry in store.history(THREAD).wait()], "the step in history")
        store.commit(claim, attrs.evolve(commit(far + 1), task="far")).wait()
        equal((task(far + 2),), store.read(THREAD).wait().tasks, "the next task")
