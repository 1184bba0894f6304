"""Broken stores: intents, outcomes, the life of evidence, remarks."""

from __future__ import annotations

import attrs

from broken import BrokenStore, breaks, failed
from effectgraph.stores.errors import EvidenceChanged, TaskClosed
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import (
    Begun,
    Claim,
    Evidence,
    How,
    Intent,
    Outcome,
    Sync,
)


@breaks("who_did_not_see_the_evidence_gets_it", "EL16_a_first_intent_has_one_winner", "EL16_an_intent_has_one_winner")
class BeginOverwrites(BrokenStore):
    """An intent replaces what stands, whatever the caller saw."""

    def _is_as_seen(self, found: Evidence, seen: int | None) -> bool:
        return found.outcome is None


@breaks("an_outcome_is_never_replaced_by_an_intent", "an_outcome_is_not_withdrawn", "a_refused_intent_is_no_failure")
class OutcomesNotLookedAt(BrokenStore):
    """An outcome is replaced or withdrawn by who names its version."""

    def _is_as_seen(self, found: Evidence, seen: int | None) -> bool:
        return found.version == seen or seen is None


@breaks("who_did_not_see_the_evidence_gets_it")
class BeginLies(BrokenStore):
    """Who did not see the evidence is told that the intent that stands is his."""

    def begin(self, claim: Claim, key: EffectKey, intent: Intent, *, seen: int | None) -> Receipt[Begun]:
        receipt = super().begin(claim, key, intent, seen=seen)
        if failed(receipt) or receipt.wait().evidence.outcome is not None:
            return receipt
        return self._read(lambda: attrs.evolve(receipt.wait(), mine=True))


@breaks("an_intent_is_the_callers", "a_successor_settles_what_it_inherits")
class IntentsOfNobody(BrokenStore):
    """An intent does not say under which token it was written."""

    def _put_effect(self, evidence: Evidence) -> None:
        super()._put_effect(attrs.evolve(evidence, token=0))


@breaks("a_takeover_has_one_winner")
class TakeoverKeepsOwner(BrokenStore):
    """An intent that is taken over is still that of its first owner."""

    def _put_effect(self, evidence: Evidence) -> None:
        found = self._find(evidence.key, evidence.incarnation)
        super()._put_effect(evidence if found is None else attrs.evolve(evidence, owner=found.owner))


@breaks("an_intent_is_replaced_by_who_saw_it", "trouble_is_over_with_the_next_attempt")
class TroubleStays(BrokenStore):
    """An effect that is tried again still has the trouble of its last attempt."""

    def begin(self, claim: Claim, key: EffectKey, intent: Intent, *, seen: int | None) -> Receipt[Begun]:
        found = self._find(key, claim.incarnation)
        receipt = super().begin(claim, key, intent, seen=seen)
        if found is not None and not failed(receipt) and receipt.wait().mine:
            self.alter_effect(key, claim.incarnation, lambda effect: attrs.evolve(effect, trouble=found.trouble))
        return receipt


@breaks("an_intent_is_replaced_by_who_saw_it", "history_sums_effects_up")
class AttemptsOfEffectsNotCounted(BrokenStore):
    """An effect that is tried again is at its first attempt."""

    def _put_effect(self, evidence: Evidence) -> None:
        super()._put_effect(attrs.evolve(evidence, attempt=1))


@breaks("intents_of_all_kinds_are_kept_whole")
class EarlierPlansLost(BrokenStore):
    """A plan is kept without those that it replaced."""

    def _put_effect(self, evidence: Evidence) -> None:
        plan = evidence.intent.plan
        short = None if plan is None else attrs.evolve(plan, earlier=())
        super()._put_effect(attrs.evolve(evidence, intent=attrs.evolve(evidence.intent, plan=short)))


@breaks("vanished_evidence_is_said")
class BeginsOverNothing(BrokenStore):
    """An intent over evidence that is gone is written as a first one."""

    def begin(self, claim: Claim, key: EffectKey, intent: Intent, *, seen: int | None) -> Receipt[Begun]:
        if self._find(key, claim.incarnation) is None:
            return super().begin(claim, key, intent, seen=None)
        return super().begin(claim, key, intent, seen=seen)


@breaks("a_withdrawn_intent_is_gone")
class WithdrawalKeepsIntent(BrokenStore):
    """A withdrawal counts as trouble: the intent stays."""

    def _remove_effect(self, evidence: Evidence) -> None:
        self._put_effect(attrs.evolve(evidence, trouble="withdrawn", version=evidence.version + 1))


@breaks("a_withdrawn_intent_is_gone")
class WithdrawalTakesTheTask(BrokenStore):
    """A withdrawal removes every intent of the task."""

    def withdraw(self, claim: Claim, key: EffectKey, *, seen: int) -> Receipt[None]:
        receipt = super().withdraw(claim, key, seen=seen)
        if not failed(receipt):
            with self.data.lock:
                for each, incarnation in list(self.rows.effects):
                    if (each.scope, each.task, incarnation) == (key.scope, key.task, claim.incarnation):
                        del self.rows.effects[each, incarnation]
        return receipt


@breaks("a_version_never_comes_back", "a_dropped_key_keeps_its_versions", "counts_go_on_when_it_is_opened_again")
class VersionsComeBack(BrokenStore):
    """A key that was withdrawn or dropped begins at version 1 again."""

    def _first_version(self) -> int:
        return 1


@breaks("a_dropped_key_keeps_its_versions")
class DropForgetsVersions(BrokenStore):
    """A key that was dropped begins at version 1 again."""

    def drop(self, claim: Claim, key: EffectKey, /) -> Receipt[None]:
        versions = self.rows.versions
        receipt = super().drop(claim, key)
        self.rows.versions = versions
        return receipt


@breaks("EL03_scopes_are_apart", "a_key_of_two_incarnations_is_listed_twice")
class IncarnationsNotInKeys(BrokenStore):
    """An effect of a thread and one outside a runtime are the same."""

    def _find(self, key: EffectKey, incarnation: int) -> Evidence | None:
        found = (each for (name, _), each in self.rows.effects.items() if name == key)
        return next(found, None)


@breaks("a_claim_writes_only_its_own_scope")
class ScopesNotCompared(BrokenStore):
    """A claim writes the effects of every scope."""

    def _check_scope(self, claim: Claim, key: EffectKey) -> None:
        pass


@breaks("a_claim_without_token_has_no_incarnation")
class OutsideHasIncarnations(BrokenStore):
    """Who has no claim writes the evidence of a thread, if he names its incarnation."""

    def _check_scope(self, claim: Claim, key: EffectKey) -> None:
        super()._check_scope(attrs.evolve(claim, incarnation=0), key)


@breaks("a_successor_settles_what_it_inherits", "L07_a_killed_owner_is_gone_at_once")
class OnlyTheBeginnerSettles(BrokenStore):
    """Only the claim that wrote an intent may change it."""

    def _check_may(self, claim: Claim, key: EffectKey) -> None:
        super()._check_may(claim, key)
        found = self._find(key, claim.incarnation)
        if found is not None and found.token != claim.token:
            raise TaskClosed(claim.thread, key.task)


@breaks("an_outcome_is_kept", "requests_and_outcomes_are_kept_to_the_byte")
class EmptyIsOmitted(BrokenStore):
    """An empty outcome is kept as the mark `omitted`."""

    def settle(self, claim: Claim, key: EffectKey, outcome: Outcome, *, seen: int, sync: Sync) -> Receipt[Outcome]:
        return super().settle(claim, key, attrs.evolve(outcome, value=outcome.value or None), seen=seen, sync=sync)


@breaks("an_outcome_is_kept", "history_sums_effects_up")
class EveryOutcomeWasRun(BrokenStore):
    """An outcome does not say how it came."""

    def settle(self, claim: Claim, key: EffectKey, outcome: Outcome, *, seen: int, sync: Sync) -> Receipt[Outcome]:
        return super().settle(claim, key, attrs.evolve(outcome, how=How.RUN), seen=seen, sync=sync)


@breaks("an_outcome_is_kept")
class OutcomeKeepsTrouble(BrokenStore):
    """An effect that has an outcome still has its trouble."""

    def settle(self, claim: Claim, key: EffectKey, outcome: Outcome, *, seen: int, sync: Sync) -> Receipt[Outcome]:
        found = self._find(key, claim.incarnation)
        receipt = super().settle(claim, key, outcome, seen=seen, sync=sync)
        if found is not None and not failed(receipt):
            self.alter_effect(key, claim.incarnation, lambda effect: attrs.evolve(effect, trouble=found.trouble))
        return receipt


@breaks("an_outcome_ends_doubt_and_grant")
class OutcomeKeepsDoubt(BrokenStore):
    """An effect that has an outcome is still uncertain, or granted."""

    def settle(self, claim: Claim, key: EffectKey, outcome: Outcome, *, seen: int, sync: Sync) -> Receipt[Outcome]:
        found = self._find(key, claim.incarnation)
        receipt = super().settle(claim, key, outcome, seen=seen, sync=sync)
        if found is not None and not failed(receipt):
            self.alter_effect(
                key,
                claim.incarnation,
                lambda effect: attrs.evolve(effect, uncertain=found.uncertain, granted=found.granted),
            )
        return receipt


@breaks("R11_the_first_outcome_wins")
class SettleOverwrites(BrokenStore):
    """The last outcome stands."""

    def _to_change(self, claim: Claim, key: EffectKey, seen: int) -> Evidence:
        found = super()._to_change(claim, key, seen)
        return attrs.evolve(found, outcome=None)


@breaks("R11_the_first_outcome_wins")
class SettleAnswersWithItsOwn(BrokenStore):
    """A second outcome is not written, but given back as if it had been."""

    def settle(self, claim: Claim, key: EffectKey, outcome: Outcome, *, seen: int, sync: Sync) -> Receipt[Outcome]:
        receipt = super().settle(claim, key, outcome, seen=seen, sync=sync)
        return receipt if failed(receipt) else self._read(lambda: outcome)


@breaks("nothing_is_noted_on_an_outcome")
class TroubleOverOutcome(BrokenStore):
    """Trouble is noted on an effect that has an outcome."""

    def trouble(self, claim: Claim, key: EffectKey, text: str, *, seen: int) -> Receipt[None]:
        receipt = super().trouble(claim, key, text, seen=seen)
        if not failed(receipt):
            self.alter_effect(key, claim.incarnation, lambda effect: attrs.evolve(effect, trouble=text))
        return receipt


@breaks("EL13_a_stale_version_changes_nothing", "who_did_not_see_the_decision_is_told")
class VersionsNotCompared(BrokenStore):
    """An outcome, trouble or doubt is written whatever version is named."""

    def _to_change(self, claim: Claim, key: EffectKey, seen: int) -> Evidence:
        found = self._find(key, claim.incarnation)
        return super()._to_change(claim, key, seen if found is None else found.version)


@breaks("EL13_a_stale_version_changes_nothing")
class WithdrawsAnyVersion(BrokenStore):
    """An intent is withdrawn whatever version is named."""

    def withdraw(self, claim: Claim, key: EffectKey, *, seen: int) -> Receipt[None]:
        found = self._find(key, claim.incarnation)
        stale = found is not None and found.outcome is None
        return super().withdraw(claim, key, seen=found.version if found is not None and stale else seen)


@breaks("EL13_a_stale_version_changes_nothing")
class SettlesNothing(BrokenStore):
    """Settling what is not there is no error."""

    def settle(self, claim: Claim, key: EffectKey, outcome: Outcome, *, seen: int, sync: Sync) -> Receipt[Outcome]:
        receipt = super().settle(claim, key, outcome, seen=seen, sync=sync)
        try:
            receipt.wait()
        except EvidenceChanged as error:
            if error.current is None:
                return self._write(lambda: outcome, sync)
        except Exception:
            return receipt
        return receipt


@breaks("trouble_is_noted")
class VersionsStandStill(BrokenStore):
    """Trouble does not change the version."""

    def trouble(self, claim: Claim, key: EffectKey, text: str, *, seen: int) -> Receipt[None]:
        receipt = super().trouble(claim, key, text, seen=seen)
        if not failed(receipt):
            self.alter_effect(
                key, claim.incarnation, lambda effect: attrs.evolve(effect, version=max(seen, effect.version - 1))
            )
        return receipt


@breaks("what_is_uncertain_is_marked")
class DoubtIsTrouble(BrokenStore):
    """What is uncertain is kept as trouble."""

    def uncertain(self, claim: Claim, key: EffectKey, *, seen: int) -> Receipt[None]:
        return super().trouble(claim, key, "uncertain", seen=seen)


@breaks("what_is_uncertain_is_marked", "what_is_uncertain_can_be_decided", "unresolved_evidence_is_not_dropped")
class DoubtIsADecision(BrokenStore):
    """What the guard gave up on looks like what a person gave up on."""

    def uncertain(self, claim: Claim, key: EffectKey, *, seen: int) -> Receipt[None]:
        receipt = super().uncertain(claim, key, seen=seen)
        if not failed(receipt):
            self.alter_effect(key, claim.incarnation, lambda effect: attrs.evolve(effect, uncertain=How.DECISION))
        return receipt


@breaks("settled_evidence_outside_a_runtime_is_dropped")
class DropKeeps(BrokenStore):
    """What is dropped is still there."""

    def drop(self, claim: Claim, key: EffectKey, /) -> Receipt[None]:
        found = self._find(key, claim.incarnation)
        receipt = super().drop(claim, key)
        if found is not None and not failed(receipt):
            self._put_effect(found)
        return receipt


@breaks("unresolved_evidence_is_not_dropped", "what_was_given_up_on_is_dropped")
class DropsUnresolved(BrokenStore):
    """An intent without outcome is dropped."""

    def drop(self, claim: Claim, key: EffectKey, /) -> Receipt[None]:
        with self.data.lock:
            found = self._find(key, claim.incarnation)
            if claim.token == 0 and found is not None:
                self._put_effect(attrs.evolve(found, uncertain=How.DECISION))
            return super().drop(claim, key)


@breaks("what_was_given_up_on_is_dropped")
class KeepsTheAbandoned(BrokenStore):
    """What a person gave up on cannot be dropped."""

    def drop(self, claim: Claim, key: EffectKey, /) -> Receipt[None]:
        found = self._find(key, claim.incarnation)
        if found is not None and found.outcome is None:
            self.alter_effect(key, claim.incarnation, lambda effect: attrs.evolve(effect, uncertain=None))
        return super().drop(claim, key)


@breaks("a_threads_evidence_is_not_dropped")
class DropsOfThreads(BrokenStore):
    """The evidence of a thread can be dropped."""

    def drop(self, claim: Claim, key: EffectKey, /) -> Receipt[None]:
        if not claim.token:
            return super().drop(claim, key)
        return self._write(lambda: self._remove_effect_of(claim, key), Sync.NOW, claim=claim)

    def _remove_effect_of(self, claim: Claim, key: EffectKey) -> None:
        found = self._find(key, claim.incarnation)
        if found is not None:
            self._remove_effect(found)
