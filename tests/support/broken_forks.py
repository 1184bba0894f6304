"""Broken stores: forks and pruning."""

from __future__ import annotations

import attrs

from broken import BrokenStore, breaks, failed
from effectgraph.stores.errors import UnresolvedStands
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import (
    Fork,
    Piece,
    Sync,
    ThreadStatus,
)
from model_data import Thread
from model_records import state_at


@breaks("a_fork_has_the_state_after_a_step")
class ForksTheLastState(BrokenStore):
    """A fork has the last state, whatever step is named."""

    def fork(self, fork: Fork, /) -> Receipt[None]:
        receipt = super().fork(fork)
        source = self.rows.threads.get(fork.source)
        if source is not None and not failed(receipt):
            pieces = tuple((fork.step, piece) for _, piece in state_at(source.pieces, source.step))
            self.alter(fork.id, lambda thread: attrs.evolve(thread, pieces=pieces))
        return receipt


@breaks("a_fork_has_the_state_after_a_step", "later_states_are_kept")
class ForkLosesPieces(BrokenStore):
    """A fork has the newest piece of each field alone."""

    def fork(self, fork: Fork, /) -> Receipt[None]:
        receipt = super().fork(fork)
        if not failed(receipt):
            self.alter(fork.id, _newest_pieces)
        return receipt


@breaks("a_fork_has_the_state_after_a_step")
class ForkWithoutOrigin(BrokenStore):
    """A fork does not say what it was made of."""

    def fork(self, fork: Fork, /) -> Receipt[None]:
        receipt = super().fork(fork)
        if not failed(receipt):
            self.alter(fork.id, lambda thread: attrs.evolve(thread, origin=None))
        return receipt


@breaks("a_fork_is_held_by_nobody", "runnable_is_of_one_graph")
class ForkIsHeld(BrokenStore):
    """A fork is held by its maker."""

    def fork(self, fork: Fork, /) -> Receipt[None]:
        receipt = super().fork(fork)
        if not failed(receipt):
            super().claim(fork.id).wait()
        return receipt


@breaks("a_fork_is_held_by_nobody")
class ForkSharesIncarnation(BrokenStore):
    """A fork has the incarnation of the other thread."""

    def fork(self, fork: Fork, /) -> Receipt[None]:
        receipt = super().fork(fork)
        if not failed(receipt):
            self.alter(fork.id, lambda thread: attrs.evolve(thread, incarnation=fork.incarnation))
        return receipt


@breaks("a_fork_without_tasks_is_done")
class ForksRun(BrokenStore):
    """A fork is running, whether it has tasks or not."""

    def fork(self, fork: Fork, /) -> Receipt[None]:
        receipt = super().fork(fork)
        if not failed(receipt):
            self.alter(fork.id, lambda thread: attrs.evolve(thread, status=ThreadStatus.RUNNING))
        return receipt


@breaks("nothing_but_the_state_is_copied")
class ForkCopiesEvidence(BrokenStore):
    """A fork has the evidence of the other thread."""

    def fork(self, fork: Fork, /) -> Receipt[None]:
        receipt = super().fork(fork)
        if not failed(receipt):
            made, source = self.rows.threads[fork.id], self.rows.threads[fork.source]
            for each in self._of_thread(source):
                key = attrs.evolve(each.key, scope=fork.id)
                self._put_effect(attrs.evolve(each, key=key, incarnation=made.incarnation))
        return receipt


@breaks("nothing_but_the_state_is_copied", "a_fork_goes_its_own_way")
class ForkCopiesHistory(BrokenStore):
    """A fork has the history of the other thread."""

    def fork(self, fork: Fork, /) -> Receipt[None]:
        receipt = super().fork(fork)
        if not failed(receipt):
            history = self.rows.threads[fork.source].history
            self.alter(fork.id, lambda thread: attrs.evolve(thread, history=history))
        return receipt


@breaks("nothing_but_the_state_is_copied")
class ForkCopiesQuestions(BrokenStore):
    """A fork has the questions of the other thread."""

    def fork(self, fork: Fork, /) -> Receipt[None]:
        receipt = super().fork(fork)
        if not failed(receipt):
            questions = self.rows.threads[fork.source].questions
            self.alter(fork.id, lambda thread: attrs.evolve(thread, questions=questions))
        return receipt


@breaks("nothing_but_the_state_is_copied")
class ForkPretendsOlderStates(BrokenStore):
    """A fork says that it keeps the states before its first step."""

    def fork(self, fork: Fork, /) -> Receipt[None]:
        receipt = super().fork(fork)
        if not failed(receipt):
            self.alter(fork.id, lambda thread: attrs.evolve(thread, kept_from=0))
        return receipt


@breaks("the_other_thread_stays_as_it_is")
class ForkMovesTheOther(BrokenStore):
    """A fork sets the other thread back to its step."""

    def fork(self, fork: Fork, /) -> Receipt[None]:
        receipt = super().fork(fork)
        if not failed(receipt):
            self.alter(fork.source, lambda thread: attrs.evolve(thread, step=fork.step))
        return receipt


@breaks("the_other_thread_stays_as_it_is", "others_do_not_disturb_a_run")
class ForkTakesTheOther(BrokenStore):
    """A fork clears who runs the other thread."""

    def fork(self, fork: Fork, /) -> Receipt[None]:
        receipt = super().fork(fork)
        if not failed(receipt):
            self.alter(fork.source, lambda thread: attrs.evolve(thread, owner=None))
        return receipt


@breaks("a_fork_goes_its_own_way")
class ForkGoesWithTheOther(BrokenStore):
    """A fork is deleted with the thread that it was made of."""

    def _remove_thread(self, thread: Thread) -> None:
        super()._remove_thread(thread)
        for each in list(self.rows.threads.values()):
            if each.origin is not None and each.origin.thread == thread.id:
                super()._remove_thread(each)


@breaks("a_fork_is_all_there")
class ForkShares(BrokenStore):
    """The thread that was forked goes with its fork."""

    def _remove_thread(self, thread: Thread) -> None:
        super()._remove_thread(thread)
        if thread.origin is not None:
            self.rows.threads.pop(thread.origin.thread, None)


@breaks("what_cannot_be_forked_is_refused", "a_fork_of_an_old_incarnation_is_refused")
class ForksAnyIncarnation(BrokenStore):
    """A fork does not look at the incarnation."""

    def fork(self, fork: Fork, /) -> Receipt[None]:
        source = self.rows.threads.get(fork.source)
        return super().fork(fork if source is None else attrs.evolve(fork, incarnation=source.incarnation))


@breaks("what_cannot_be_forked_is_refused", "a_fork_is_made_by_one")
class ForksOver(BrokenStore):
    """A fork replaces a thread of its id."""

    def fork(self, fork: Fork, /) -> Receipt[None]:
        with self.data.lock:
            if fork.id != fork.source:
                self.rows.threads.pop(fork.id, None)
            return super().fork(fork)


@breaks("what_cannot_be_forked_is_refused", "older_states_are_forgotten")
class ForksTheNearestStep(BrokenStore):
    """A fork of a step that is not there is one of the nearest."""

    def fork(self, fork: Fork, /) -> Receipt[None]:
        source = self.rows.threads.get(fork.source)
        if source is None:
            return super().fork(fork)
        return super().fork(attrs.evolve(fork, step=min(max(fork.step, source.kept_from), source.step)))


@breaks("later_states_are_kept", "appended_pieces_that_later_states_need_are_kept")
class PruneRemovesNeededPieces(BrokenStore):
    """A prune removes every piece of the steps before."""

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        receipt = super().prune(thread, before=before, drop_unresolved=drop_unresolved)
        if not failed(receipt):
            self.alter(thread, lambda found: _pieces_from(found, before))
        return receipt


@breaks("appended_pieces_that_later_states_need_are_kept", "later_states_are_kept")
class PruneKeepsTheFirstPiece(BrokenStore):
    """Of what was appended before a prune the first piece alone is kept."""

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        receipt = super().prune(thread, before=before, drop_unresolved=drop_unresolved)
        if not failed(receipt):
            self.alter(thread, lambda found: _first_pieces(found, before))
        return receipt


@breaks("older_states_are_forgotten", "what_is_unresolved_stands_in_the_way", "questions_of_forgotten_tasks_go")
class PruneForgetsNothing(BrokenStore):
    """A prune says what is kept, and keeps everything."""

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        found = self.rows.threads.get(thread)
        receipt = super().prune(thread, before=before, drop_unresolved=drop_unresolved)
        if found is not None and not failed(receipt):
            self.alter(thread, lambda _: found)
        return receipt


@breaks("older_states_are_forgotten")
class PruneForgetsTheStep(BrokenStore):
    """A prune forgets the history of the step that it names as well."""

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        receipt = super().prune(thread, before=before, drop_unresolved=drop_unresolved)
        if not failed(receipt):
            self.alter(thread, lambda found: _without_history(found, before))
        return receipt


@breaks("what_runs_is_not_touched", "others_do_not_disturb_a_run")
class PruneTakes(BrokenStore):
    """A prune takes the thread from whoever runs it."""

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        receipt = super().prune(thread, before=before, drop_unresolved=drop_unresolved)
        if not failed(receipt):
            self.alter(thread, lambda found: attrs.evolve(found, owner=None))
        return receipt


@breaks("what_runs_is_not_touched")
class PruneDropsQuestions(BrokenStore):
    """A prune forgets every question."""

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        receipt = super().prune(thread, before=before, drop_unresolved=drop_unresolved)
        if not failed(receipt):
            self.alter(thread, lambda found: attrs.evolve(found, questions=()))
        return receipt


@breaks("an_open_step_is_not_forgotten")
class PruneForgetsTheOpenStep(BrokenStore):
    """A prune forgets what was committed in a step that has not closed."""

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        receipt = super().prune(thread, before=before, drop_unresolved=drop_unresolved)
        if not failed(receipt):
            self.alter(thread, lambda found: _without_history(found, found.step + 1))
        return receipt


@breaks("nothing_can_be_pruned_twice")
class PruneRefusesTwice(BrokenStore):
    """A prune before the step that is the first one already is refused."""

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        found = self.rows.threads.get(thread)
        again = found is not None and found.kept_from == before
        return super().prune(thread, before=-1 if again else before, drop_unresolved=drop_unresolved)


@breaks("a_step_that_is_not_there_is_not_pruned")
class PrunesAhead(BrokenStore):
    """A prune before a step that has not closed, or is forgotten, forgets what it can."""

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        found = self.rows.threads.get(thread)
        if found is not None:
            before = min(max(before, found.kept_from), found.step)
        return super().prune(thread, before=before, drop_unresolved=drop_unresolved)


@breaks("what_is_unresolved_stands_in_the_way")
class PruneDropsUnresolved(BrokenStore):
    """A prune drops what is unresolved without being told to."""

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        return super().prune(thread, before=before, drop_unresolved=True)


@breaks("what_is_unresolved_stands_in_the_way")
class PruneDropsTooMuch(BrokenStore):
    """A prune that is told to drop what is unresolved drops that of later tasks as well."""

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        receipt = super().prune(thread, before=before, drop_unresolved=drop_unresolved)
        if drop_unresolved and not failed(receipt):
            self._remove_evidence(self._thread(thread))
        return receipt


@breaks("what_later_tasks_left_does_not_stand_in_the_way")
class PruneMindsAll(BrokenStore):
    """Every unresolved effect of a thread stands in the way of a prune."""

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        found = self.rows.threads.get(thread)
        if found is not None and self._of_thread(found) and not drop_unresolved:
            return self._write(lambda: self._stand(thread), Sync.NOW)
        return super().prune(thread, before=before, drop_unresolved=drop_unresolved)

    def _stand(self, thread: str) -> None:
        raise UnresolvedStands(thread, ("any",))


@breaks("questions_of_forgotten_tasks_go")
class PruneForgetsOldQuestions(BrokenStore):
    """A prune forgets the questions of all tasks that have ended."""

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        receipt = super().prune(thread, before=before, drop_unresolved=drop_unresolved)
        if not failed(receipt):
            self.alter(
                thread,
                lambda found: attrs.evolve(found, questions=tuple(q for q in found.questions if not q.ended)),
            )
        return receipt


@breaks("other_threads_are_not_pruned")
class PrunesForks(BrokenStore):
    """A prune forgets the same steps of every thread."""

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        receipt = super().prune(thread, before=before, drop_unresolved=drop_unresolved)
        if not failed(receipt):
            for name in list(self.rows.threads):
                self.alter(name, lambda found: _without_history(found, min(before, found.step)))
        return receipt


def _newest_pieces(thread: Thread) -> Thread:
    newest = {piece.field: (at, piece) for at, piece in thread.pieces}
    return attrs.evolve(thread, pieces=tuple(newest.values()))


def _pieces_from(thread: Thread, step: int) -> Thread:
    return attrs.evolve(thread, pieces=tuple((at, piece) for at, piece in thread.pieces if at >= step))


def _first_pieces(thread: Thread, step: int) -> Thread:
    first: dict[str, tuple[int, Piece]] = {}
    for at, piece in thread.pieces:
        if at <= step:
            first.setdefault(piece.field, (at, piece))
    later = tuple((at, piece) for at, piece in thread.pieces if at > step)
    return attrs.evolve(thread, pieces=(*first.values(), *later))


def _without_history(thread: Thread, step: int) -> Thread:
    return attrs.evolve(thread, history=tuple(entry for entry in thread.history if entry.step != step))
