"""Broken stores: writes of lost claims."""

from __future__ import annotations

import attrs

from broken import BrokenStore, breaks
from effectgraph.stores.errors import ClaimLost
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import (
    Asked,
    Begun,
    Claim,
    Closing,
    Commit,
    Failure,
    Intent,
    NewRun,
    Outcome,
    Question,
    Sync,
    Task,
)
from model_data import Thread


@breaks("E20_E21_a_lost_claim_starts_no_run")
class StartsBlindly(BrokenStore):
    """`start` does not look at the claim."""

    def start(self, claim: Claim, run: NewRun, /) -> Receipt[None]:
        with self.blind():
            return super().start(claim, run)


@breaks("E20_E21_a_lost_claim_counts_no_attempt")
class AttemptsBlindly(BrokenStore):
    """`attempt` does not look at the claim."""

    def attempt(self, claim: Claim, task: str, /) -> Receipt[Task]:
        with self.blind():
            return super().attempt(claim, task)


@breaks("E20_E21_a_lost_claim_commits_no_task")
class CommitsTasksBlindly(BrokenStore):
    """A commit without its step does not look at the claim."""

    def commit(self, claim: Claim, commit: Commit, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        if commit.closing is not None:
            return super().commit(claim, commit, sync=sync)
        with self.blind():
            return super().commit(claim, commit, sync=sync)


@breaks("E20_E21_a_lost_claim_commits_no_step")
class CommitsStepsBlindly(BrokenStore):
    """A commit with its step does not look at the claim."""

    def commit(self, claim: Claim, commit: Commit, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        if commit.closing is None:
            return super().commit(claim, commit, sync=sync)
        with self.blind():
            return super().commit(claim, commit, sync=sync)


@breaks("E20_E21_a_lost_claim_closes_no_step")
class ClosesBlindly(BrokenStore):
    """`close` does not look at the claim."""

    def close(self, claim: Claim, closing: Closing, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        with self.blind():
            return super().close(claim, closing, sync=sync)


@breaks("E20_E21_a_lost_claim_records_no_failure")
class FailsBlindly(BrokenStore):
    """`fail` does not look at the claim."""

    def fail(self, claim: Claim, task: str, failure: Failure, /) -> Receipt[None]:
        with self.blind():
            return super().fail(claim, task, failure)


@breaks("E20_E21_a_lost_claim_asks_nothing")
class AsksBlindly(BrokenStore):
    """`ask` does not look at the claim."""

    def ask(self, claim: Claim, task: str, questions: tuple[Question, ...], /) -> Receipt[tuple[Asked, ...]]:
        with self.blind():
            return super().ask(claim, task, questions)


@breaks("E20_E21_a_lost_claim_begins_nothing")
class BeginsBlindly(BrokenStore):
    """A first intent does not look at the claim."""

    def begin(self, claim: Claim, key: EffectKey, intent: Intent, *, seen: int | None) -> Receipt[Begun]:
        if seen is not None:
            return super().begin(claim, key, intent, seen=seen)
        with self.blind():
            return super().begin(claim, key, intent, seen=seen)


@breaks("E20_E21_a_lost_claim_replaces_no_intent")
class ReplacesBlindly(BrokenStore):
    """An intent over another does not look at the claim."""

    def begin(self, claim: Claim, key: EffectKey, intent: Intent, *, seen: int | None) -> Receipt[Begun]:
        if seen is None:
            return super().begin(claim, key, intent, seen=seen)
        with self.blind():
            return super().begin(claim, key, intent, seen=seen)


@breaks("E20_E21_a_lost_claim_settles_nothing")
class SettlesBlindly(BrokenStore):
    """`settle` does not look at the claim."""

    def settle(self, claim: Claim, key: EffectKey, outcome: Outcome, *, seen: int, sync: Sync) -> Receipt[Outcome]:
        with self.blind():
            return super().settle(claim, key, outcome, seen=seen, sync=sync)


@breaks("E20_E21_a_lost_claim_withdraws_nothing")
class WithdrawsBlindly(BrokenStore):
    """`withdraw` does not look at the claim."""

    def withdraw(self, claim: Claim, key: EffectKey, *, seen: int) -> Receipt[None]:
        with self.blind():
            return super().withdraw(claim, key, seen=seen)


@breaks("E20_E21_a_lost_claim_notes_no_trouble")
class TroublesBlindly(BrokenStore):
    """`trouble` does not look at the claim."""

    def trouble(self, claim: Claim, key: EffectKey, text: str, *, seen: int) -> Receipt[None]:
        with self.blind():
            return super().trouble(claim, key, text, seen=seen)


@breaks("E20_E21_a_lost_claim_gives_nothing_up")
class DoubtsBlindly(BrokenStore):
    """`uncertain` does not look at the claim."""

    def uncertain(self, claim: Claim, key: EffectKey, *, seen: int) -> Receipt[None]:
        with self.blind():
            return super().uncertain(claim, key, seen=seen)


@breaks("E20_E21_a_lost_claim_releases_nothing", "a_released_thread_is_free")
class ReleasesBlindly(BrokenStore):
    """`release` does not look at the claim."""

    def release(self, claim: Claim, /) -> Receipt[None]:
        with self.blind():
            return super().release(claim)


@breaks("E20_E21_a_lost_claim_is_not_renewed")
class RenewsBlindly(BrokenStore):
    """`renew` does not look at the claim."""

    def renew(self, claim: Claim, /) -> Receipt[None]:
        with self.blind():
            return super().renew(claim)


@breaks("a_thread_is_not_written_from_outside_a_runtime")
class OutsideMayAll(BrokenStore):
    """Nothing fences token 0, in a thread neither."""

    def _current(self, claim: Claim) -> Thread:
        found = self.rows.threads.get(claim.thread)
        return found if claim.token == 0 and found is not None else super()._current(claim)


@breaks("E20_E21_a_lost_claim_commits_no_step", "a_taken_thread_is_held_by_nobody", "a_lost_claim_stays_lost")
class TokenNotCompared(BrokenStore):
    """Only owner and incarnation are compared; who was taken from is let through."""

    def _current(self, claim: Claim) -> Thread:
        found = self.rows.threads.get(claim.thread)
        if found is None or found.incarnation != claim.incarnation or found.owner not in (claim.owner, None):
            raise ClaimLost(claim.thread, claim.token, None if found is None else found.token)
        return found


@breaks("E20_E21_a_lost_claim_commits_no_step", "E20_E21_a_lost_claim_settles_nothing", "a_released_thread_is_free")
class HolderNotCompared(BrokenStore):
    """Only tokens are compared: a released claim still writes."""

    def _current(self, claim: Claim) -> Thread:
        found = self.rows.threads.get(claim.thread)
        if found is None or found.incarnation != claim.incarnation or found.token != claim.token:
            raise ClaimLost(claim.thread, claim.token, None if found is None else found.token)
        return found


@breaks("E20_E21_a_lost_claim_commits_no_step", "E20_E21_a_lost_claim_begins_nothing")
class IncarnationNotCompared(BrokenStore):
    """Incarnations are not compared."""

    def _current(self, claim: Claim) -> Thread:
        found = self.rows.threads.get(claim.thread)
        return super()._current(claim if found is None else attrs.evolve(claim, incarnation=found.incarnation))


@breaks("E20_E21_a_lost_claim_commits_no_step")
class WrongTokenNamed(BrokenStore):
    """A lost claim is refused, but the error names a token that is not the current one."""

    def _current(self, claim: Claim) -> Thread:
        try:
            return super()._current(claim)
        except ClaimLost as lost:
            raise ClaimLost(lost.thread, lost.token, lost.token + 17) from None
