"""Broken stores: threads, claims, tokens."""

from __future__ import annotations

import attrs

from broken import BrokenStore, Seen, breaks
from effectgraph.stores.errors import ClaimHeld, ThreadUnknown
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import (
    Claim,
    Claimed,
    HistoryEntry,
    NewThread,
    OwnerId,
    Sync,
    ThreadStatus,
    ThreadView,
)
from model_data import ModelData, Thread
from model_records import is_unresolved


@breaks("tokens_grow_over_all_threads", "a_taken_thread_is_held_by_nobody", "a_thread_that_nobody_holds_can_be_taken")
class TakeKeepsToken(BrokenStore):
    """`take` clears the owner and leaves the token."""

    def take(self, thread: str, reason: str, *, at_us: int) -> Receipt[int]:
        with self.data.lock:
            if thread not in self.rows.threads:
                return super().take(thread, reason, at_us=at_us)
            token = self.rows.threads[thread].token
            super().take(thread, reason, at_us=at_us).wait()
            self.alter(thread, lambda found: attrs.evolve(found, token=token))
            return self._write(lambda: token, Sync.NOW)


@breaks("a_taken_thread_is_held_by_nobody")
class TakeKeepsOwner(BrokenStore):
    """`take` gives a new token and leaves the owner."""

    def take(self, thread: str, reason: str, *, at_us: int) -> Receipt[int]:
        found = self.rows.threads.get(thread)
        receipt = super().take(thread, reason, at_us=at_us)
        if found is not None:
            self.alter(thread, lambda taken: attrs.evolve(taken, owner=found.owner))
        return receipt


@breaks("E14_tokens_grow_over_deletions", "E14_a_thread_made_anew_starts_clean")
class DeletionResetsTokens(BrokenStore):
    """A deletion makes the newest token that of the threads that are left."""

    def delete(self, thread: str, /, *, drop_unresolved: bool = False) -> Receipt[None]:
        receipt = super().delete(thread, drop_unresolved=drop_unresolved)
        with self.data.lock:
            self.rows.token = max((each.token for each in self.rows.threads.values()), default=0)
        return receipt


@breaks("E14_a_thread_made_anew_starts_clean")
class OneIncarnation(BrokenStore):
    """Every thread has incarnation 1."""

    def _new_incarnation(self) -> int:
        return 1


@breaks("tokens_grow_over_all_threads")
class TokensByThread(BrokenStore):
    """Each thread counts its own tokens."""

    def create(self, thread: NewThread, /) -> Receipt[Claimed]:
        with self.data.lock:
            self.rows.token = 0
            return super().create(thread)


@breaks("E14_a_thread_made_anew_starts_clean", "a_deletion_names_what_is_unresolved")
class DeletionKeepsEvidence(BrokenStore):
    """The evidence of a deleted thread stays."""

    def _remove_evidence(self, thread: Thread) -> None:
        pass


@breaks("remarks_go_with_their_thread")
class DeletionKeepsRemarks(BrokenStore):
    """The remarks on a deleted thread stay."""

    def _remove_thread(self, thread: Thread) -> None:
        kept = dict(self.rows.remarks)
        super()._remove_thread(thread)
        self.rows.remarks = kept


@breaks("a_deletion_touches_no_other")
class DeletionTakesTheScope(BrokenStore):
    """A deletion removes every effect of the thread's name, outside a runtime too."""

    def _remove_evidence(self, thread: Thread) -> None:
        for key, incarnation in list(self.rows.effects):
            if key.scope == thread.id:
                del self.rows.effects[key, incarnation]


@breaks("a_deletion_names_what_is_unresolved", "a_deletion_names_what_a_commit_left")
class DeletesUnresolved(BrokenStore):
    """A deletion drops what is unresolved without being told to."""

    def delete(self, thread: str, /, *, drop_unresolved: bool = False) -> Receipt[None]:
        return super().delete(thread, drop_unresolved=True)


@breaks("a_deletion_names_what_a_commit_left")
class DeletionMindsOpenTasksOnly(BrokenStore):
    """A deletion looks at the effects of open tasks alone."""

    def delete(self, thread: str, /, *, drop_unresolved: bool = False) -> Receipt[None]:
        with self.data.lock:
            found = self.rows.threads.get(thread)
            left = [] if found is None else [each for each in self._of_thread(found) if is_unresolved(each)]
            return super().delete(thread, drop_unresolved=drop_unresolved or all(each.ended for each in left))


@breaks("what_was_given_up_on_does_not_stand_in_the_way")
class DeletionMindsTheAbandoned(BrokenStore):
    """An effect without outcome stands in the way of a deletion although a person gave up on it."""

    def delete(self, thread: str, /, *, drop_unresolved: bool = False) -> Receipt[None]:
        with self.data.lock:
            found = self.rows.threads.get(thread)
            for each in [] if found is None or drop_unresolved else self._of_thread(found):
                if each.outcome is None:
                    self.rows.effects[each.key, each.incarnation] = attrs.evolve(each, uncertain=None)
            return super().delete(thread, drop_unresolved=drop_unresolved)


@breaks("what_is_held_is_not_deleted", "a_living_owner_keeps_its_thread")
class DeletesWhatRuns(BrokenStore):
    """A thread is deleted although its run goes on."""

    def delete(self, thread: str, /, *, drop_unresolved: bool = False) -> Receipt[None]:
        self.alter(thread, lambda found: attrs.evolve(found, owner=None))
        return super().delete(thread, drop_unresolved=drop_unresolved)


@breaks("what_is_held_is_not_claimed", "a_claim_has_one_winner", "a_refused_claim_is_not_held")
class ClaimsWhatIsHeld(BrokenStore):
    """A thread is claimed although its run goes on."""

    def _check_free(self, thread: Thread) -> None:
        pass


@breaks("what_is_held_is_not_claimed", "what_is_held_is_not_deleted", "a_living_owner_keeps_its_thread")
class WrongHolderNamed(BrokenStore):
    """Who is refused a thread is not told who holds it."""

    def _check_free(self, thread: Thread) -> None:
        try:
            super()._check_free(thread)
        except ClaimHeld:
            raise ClaimHeld(thread.id, "somebody", thread.token) from None


@breaks("a_refused_claim_is_not_held", "a_claim_has_one_winner")
class RefusedClaimGivesToken(BrokenStore):
    """A claim that is refused has given the thread a new token all the same."""

    def claim(self, thread: str, /) -> Receipt[Claimed]:
        receipt = super().claim(thread)
        try:
            receipt.wait()
        except ClaimHeld:
            with self.data.lock:
                token = self._new_token()
                self.alter(thread, lambda found: attrs.evolve(found, token=token))
        except ThreadUnknown:
            pass
        return receipt


@breaks("a_released_thread_is_free", "a_failed_run_gives_its_thread_back")
class ReleaseKeepsOwner(BrokenStore):
    """A released thread is still its owner's."""

    def release(self, claim: Claim, /) -> Receipt[None]:
        found = self.rows.threads.get(claim.thread)
        receipt = super().release(claim)
        if found is not None:
            self.alter(claim.thread, lambda thread: attrs.evolve(thread, owner=found.owner))
        return receipt


@breaks("a_released_thread_is_free")
class ReleaseTakesToken(BrokenStore):
    """A released thread has a token that nobody was given."""

    def release(self, claim: Claim, /) -> Receipt[None]:
        receipt = super().release(claim)
        with self.data.lock:
            token = self._new_token()
            self.alter(claim.thread, lambda thread: attrs.evolve(thread, token=token))
        return receipt


@breaks("a_renewal_changes_nothing")
class RenewalCounts(BrokenStore):
    """A renewal gives the thread a new token."""

    def renew(self, claim: Claim, /) -> Receipt[None]:
        receipt = super().renew(claim)
        with self.data.lock:
            token = self._new_token()
            self.alter(claim.thread, lambda thread: attrs.evolve(thread, token=token))
        return receipt


@breaks("a_claim_brings_everything", "a_successor_settles_what_it_inherits")
class ClaimWithoutEvidence(BrokenStore):
    """A claim comes without the evidence of its tasks."""

    def _claimed(self, thread: Thread) -> Claimed:
        return attrs.evolve(super()._claimed(thread), evidence=())


@breaks("what_has_ended_is_no_evidence_for_a_run", "a_claim_brings_everything")
class ClaimBringsWhatEnded(BrokenStore):
    """A claim comes with evidence whose task has ended."""

    def _claimed(self, thread: Thread) -> Claimed:
        return attrs.evolve(super()._claimed(thread), evidence=tuple(self._of_thread(thread)))


@breaks("a_claim_brings_everything", "a_claim_brings_its_questions")
class ClaimWithoutQuestions(BrokenStore):
    """A claim comes without the questions of its tasks."""

    def _claimed(self, thread: Thread) -> Claimed:
        claimed = super()._claimed(thread)
        return attrs.evolve(claimed, thread=attrs.evolve(claimed.thread, questions=()))


@breaks("a_new_thread_is_claimed")
class NewThreadIsNobodys(BrokenStore):
    """A new thread is held by nobody, although its maker is told that he holds it."""

    def create(self, thread: NewThread, /) -> Receipt[Claimed]:
        receipt = super().create(thread)
        self.alter(thread.id, lambda found: attrs.evolve(found, owner=None))
        return receipt


@breaks("a_thread_is_made_once", "a_thread_is_made_by_one")
class MakesThreadsAgain(BrokenStore):
    """Making a thread that is there replaces it."""

    def create(self, thread: NewThread, /) -> Receipt[Claimed]:
        with self.data.lock:
            self.rows.threads.pop(thread.id, None)
            return super().create(thread)


@breaks("a_thread_id_can_be_part_of_a_key")
class TakesAnyName(BrokenStore):
    """A thread can have an id that no effect key can hold."""

    def create(self, thread: NewThread, /) -> Receipt[Claimed]:
        try:
            return super().create(thread)
        except ValueError:
            return super().create(attrs.evolve(thread, id="a name"))


@breaks("names_are_kept_as_they_are")
class FoldsNames(BrokenStore):
    """Ids are told apart only by letters, not by case or spaces."""

    def create(self, thread: NewThread, /) -> Receipt[Claimed]:
        return super().create(attrs.evolve(thread, id=thread.id.casefold().strip()))

    def _thread(self, thread: str) -> Thread:
        return super()._thread(thread.casefold().strip())


@breaks("a_run_with_no_task_is_done", "a_fork_without_tasks_is_done")
class EmptyRunRuns(Seen):
    """A thread is running until a commit says otherwise."""

    def as_seen(self, view: ThreadView) -> ThreadView:
        running = view.status is ThreadStatus.DONE and view.step == view.kept_from
        return attrs.evolve(view, status=ThreadStatus.RUNNING) if running else view


@breaks("unknown_threads_are_named")
class UnknownThreadsAreEmpty(BrokenStore):
    """A thread that is not there has an empty history."""

    def history(self, thread: str, /) -> Receipt[tuple[HistoryEntry, ...]]:
        if thread not in self.rows.threads:
            return self._read(tuple[HistoryEntry, ...])
        return super().history(thread)


@breaks("unknown_threads_are_named")
class TakesNoThread(BrokenStore):
    """`take` of a thread that is not there is no error."""

    def take(self, thread: str, reason: str, *, at_us: int) -> Receipt[int]:
        if thread not in self.rows.threads:
            return self._write(self._new_token, Sync.NOW)
        return super().take(thread, reason, at_us=at_us)


@breaks("a_queued_release_frees_the_thread", "a_refused_claim_is_not_held")
class RememberedRuns(BrokenStore):
    """A thread that this owner has ever run is his until it is deleted."""

    def __init__(self, data: ModelData | None = None) -> None:
        super().__init__(data)
        self._ever: set[str] = set()

    def release(self, claim: Claim, /) -> Receipt[None]:
        receipt = super().release(claim)
        self._ever.add(claim.thread)
        return receipt

    def _check_free(self, thread: Thread) -> None:
        super()._check_free(thread)
        if thread.id in self._ever:
            raise ClaimHeld(thread.id, self.owner, thread.token)


@breaks("claims_of_threads_are_apart")
class TakeTakesAll(BrokenStore):
    """`take` clears the owner of every thread of the graph."""

    def take(self, thread: str, reason: str, *, at_us: int) -> Receipt[int]:
        receipt = super().take(thread, reason, at_us=at_us)
        for name in list(self.rows.threads):
            self.alter(name, lambda found: attrs.evolve(found, owner=None))
        return receipt


@breaks("a_done_or_failed_thread_can_be_claimed")
class ClaimsRunningOnly(BrokenStore):
    """Only running threads can be claimed."""

    def _check_free(self, thread: Thread) -> None:
        super()._check_free(thread)
        if thread.status is ThreadStatus.DONE:
            raise ThreadUnknown(thread.id, "model")


@breaks("an_owner_is_alive_while_its_store_is_open", "a_closed_owner_is_gone_at_once")
class EverybodyLives(BrokenStore):
    """Every owner is alive, whoever he is."""

    def alive(self, owner: OwnerId, /) -> Receipt[bool]:
        return self._read(lambda: True)


@breaks("an_owner_is_alive_while_its_store_is_open", "readings_have_receipts_too")
class NobodyLives(BrokenStore):
    """No owner is alive."""

    def alive(self, owner: OwnerId, /) -> Receipt[bool]:
        return self._read(lambda: False)


@breaks("what_is_at_work_is_in_memory")
class OneMemory(BrokenStore):
    """What is at work is what was not written."""

    @property
    def unwritten(self) -> dict[tuple[EffectKey, int], object]:
        return self._at_work
