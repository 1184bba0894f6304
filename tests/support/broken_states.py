"""Broken stores: state, bytes and numbers, forks, pruning."""

from __future__ import annotations

import unicodedata

import attrs

from broken import BrokenStore, Seen, breaks, failed
from effectgraph.stores.errors import StepUnknown
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import (
    Asked,
    Claim,
    Commit,
    Evidence,
    Failure,
    Outcome,
    Piece,
    Question,
    Sync,
    Task,
    ThreadView,
)
from model_data import Thread
from model_records import state_at


@breaks("replaced_and_appended_fields", "every_state_is_kept")
class AppendedReplaces(BrokenStore):
    """What is appended replaces what was there."""

    def _go_on(self, thread: Thread, step: int, pieces: tuple[Piece, ...], scheduled: tuple[Task, ...]) -> None:
        super()._go_on(thread, step, tuple(attrs.evolve(each, appended=False) for each in pieces), scheduled)


@breaks("replaced_and_appended_fields", "every_state_is_kept")
class ReplacedAppends(Seen):
    """A value that replaces is put behind what was there."""

    def as_seen(self, view: ThreadView) -> ThreadView:
        pieces = (piece for _, piece in self.rows.threads[view.id].pieces)
        return attrs.evolve(view, pieces=tuple(sorted(pieces, key=lambda piece: piece.field)))


@breaks("pieces_come_in_the_order_of_steps", "writes_are_made_in_the_order_of_the_calls")
class StepsAsText(Seen):
    """Pieces are put together in the order of their steps as text."""

    def as_seen(self, view: ThreadView) -> ThreadView:
        stored = state_at(self.rows.threads[view.id].pieces, view.step)
        order = sorted(stored, key=lambda each: (each[1].field, str(each[0])))
        return attrs.evolve(view, pieces=tuple(piece for _, piece in order))


@breaks("a_step_that_changes_nothing_keeps_the_state")
class EmptyStepClears(BrokenStore):
    """A step without changes forgets the state."""

    def _go_on(self, thread: Thread, step: int, pieces: tuple[Piece, ...], scheduled: tuple[Task, ...]) -> None:
        super()._go_on(thread if pieces else attrs.evolve(thread, pieces=()), step, pieces, scheduled)


@breaks("every_state_is_kept", "later_states_are_kept", "a_fork_has_the_state_after_a_step")
class OnlyTheLastState(BrokenStore):
    """The state after every step is the last one."""

    def state(self, thread: str, step: int, /) -> Receipt[tuple[Piece, ...]]:
        receipt = super().state(thread, step)
        return receipt if failed(receipt) else super().state(thread, self._thread(thread).step)


@breaks("a_step_that_is_not_there_is_said")
class EveryStepIsThere(BrokenStore):
    """The state after a step that has not closed is the last one."""

    def state(self, thread: str, step: int, /) -> Receipt[tuple[Piece, ...]]:
        found = self.rows.threads.get(thread)
        return super().state(thread, step if found is None else min(step, found.step))


@breaks("a_step_that_is_not_there_is_said", "older_states_are_forgotten")
class WrongStepsNamed(BrokenStore):
    """Who asks for a state that is not there is not told what is."""

    def _kept(self, thread: str, step: int) -> Thread:
        try:
            return super()._kept(thread, step)
        except StepUnknown as error:
            raise StepUnknown(thread, step, error.kept_from, error.last + 1) from None


@breaks("a_step_can_be_left_out")
class StepsHaveToBeThere(BrokenStore):
    """The state after a number that no step had is not found."""

    def state(self, thread: str, step: int, /) -> Receipt[tuple[Piece, ...]]:
        found = self.rows.threads.get(thread)
        steps = () if found is None else (found.kept_from, found.step, *(at for at, _ in found.pieces))
        return self._read(lambda: self._no_step(thread, step)) if step not in steps else super().state(thread, step)

    def _no_step(self, thread: str, step: int) -> tuple[Piece, ...]:
        found = self._thread(thread)
        raise StepUnknown(thread, step, found.kept_from, found.step)


@breaks("a_bad_record_changes_nothing", "a_bad_close_or_start_changes_nothing")
class LastOneWins(BrokenStore):
    """Of what a record says twice the last one is taken."""

    def _go_on(self, thread: Thread, step: int, pieces: tuple[Piece, ...], scheduled: tuple[Task, ...]) -> None:
        fields, tasks = {each.field: each for each in pieces}, {each.id: each for each in scheduled}
        super()._go_on(thread, step, tuple(fields.values()), tuple(tasks.values()))


@breaks("values_are_kept_to_the_byte")
class ValuesAreText(BrokenStore):
    """Values of the state are kept as text."""

    def _go_on(self, thread: Thread, step: int, pieces: tuple[Piece, ...], scheduled: tuple[Task, ...]) -> None:
        text = (attrs.evolve(each, value=each.value.decode(errors="replace").encode()) for each in pieces)
        super()._go_on(thread, step, tuple(text), scheduled)


@breaks("values_are_kept_to_the_byte")
class ValuesEndAtNul(BrokenStore):
    """Values of the state are kept to their first NUL."""

    def _go_on(self, thread: Thread, step: int, pieces: tuple[Piece, ...], scheduled: tuple[Task, ...]) -> None:
        short = (attrs.evolve(each, value=each.value.partition(b"\x00")[0]) for each in pieces)
        super()._go_on(thread, step, tuple(short), scheduled)


@breaks("requests_and_outcomes_are_kept_to_the_byte")
class LargeRequestsAreCut(BrokenStore):
    """A request is kept to its first 64 KiB."""

    def _put_effect(self, evidence: Evidence) -> None:
        short = attrs.evolve(evidence.intent, request=evidence.intent.request[:65_536])
        super()._put_effect(attrs.evolve(evidence, intent=short))


@breaks("updates_and_questions_are_kept_to_the_byte")
class ContentIsText(BrokenStore):
    """The content of a question is kept as text."""

    def _ask(self, claim: Claim, task: str, question: Question) -> Asked:
        content = question.content.decode(errors="replace").encode()
        return super()._ask(claim, task, attrs.evolve(question, content=content))


@breaks("a_committed_task_without_update_has_none")
class NothingIsEmpty(BrokenStore):
    """An update that was not given is empty."""

    def commit(self, claim: Claim, commit: Commit, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        return super().commit(claim, attrs.evolve(commit, update=commit.update or b""), sync=sync)


@breaks("times_are_kept_to_the_microsecond")
class TimesAreFloats(BrokenStore):
    """The time of an outcome is kept as a float."""

    def settle(self, claim: Claim, key: EffectKey, outcome: Outcome, *, seen: int, sync: Sync) -> Receipt[Outcome]:
        rounded = attrs.evolve(outcome, at_us=int(float(outcome.at_us)))
        return super().settle(claim, key, rounded, seen=seen, sync=sync)


@breaks("times_are_kept_to_the_microsecond", "due_is_what_has_expired")
class DueLate(BrokenStore):
    """What expires at a time is due a microsecond later."""

    def due(self, until_us: int, /, *, limit: int = 100) -> Receipt[tuple[Asked, ...]]:
        return super().due(until_us - 1, limit=limit)


@breaks("texts_are_kept_to_the_letter")
class TextsAreComposed(BrokenStore):
    """Marks are joined with their letters."""

    def fail(self, claim: Claim, task: str, failure: Failure, /) -> Receipt[None]:
        text = unicodedata.normalize("NFC", failure.text)
        return super().fail(claim, task, attrs.evolve(failure, text=text))


@breaks("texts_are_kept_to_the_letter")
class LongTextsAreCut(BrokenStore):
    """A text is kept to its first 1,000 letters."""

    def trouble(self, claim: Claim, key: EffectKey, text: str, *, seen: int) -> Receipt[None]:
        return super().trouble(claim, key, text[:1_000], seen=seen)


@breaks("numbers_are_kept_as_they_are")
class StepsAreSmall(Seen):
    """A step has 32 bits."""

    def as_seen(self, view: ThreadView) -> ThreadView:
        return attrs.evolve(view, step=view.step % 2**32)
