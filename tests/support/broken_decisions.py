"""Broken stores: decisions."""

from __future__ import annotations

import attrs

from broken import BrokenStore, breaks, failed
from effectgraph.stores.errors import DecisionConflict, DecisionRefused, EffectAtWork, EvidenceChanged
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.limits import LISTED
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import (
    Begun,
    Claim,
    Decided,
    Decision,
    Evidence,
    How,
    Intent,
    Ruling,
)
from model_data import Thread
from model_rules import NAME


class After(BrokenStore):
    """A store that changes evidence in another way once a decision was made."""

    def _decide(self, decision: Decision) -> Evidence:
        made = super()._decide(decision)
        stands = self._find(decision.key, decision.incarnation)
        if stands is not None and stands == made:
            self._put_effect(self.afterwards(decision, made))
        return made

    def afterwards(self, decision: Decision, made: Evidence) -> Evidence:
        """The evidence as it is kept."""
        return made


@breaks("a_completion_is_the_outcome", "what_a_person_completed_is_an_outcome")
class CompletionOnlyListed(After):
    """COMPLETE is kept among the decisions, and the effect has no outcome."""

    def afterwards(self, decision: Decision, made: Evidence) -> Evidence:
        return attrs.evolve(made, outcome=None)


@breaks("a_retry_is_granted_once")
class GrantNotKept(After):
    """RETRY grants nothing."""

    def afterwards(self, decision: Decision, made: Evidence) -> Evidence:
        return attrs.evolve(made, granted=False)


@breaks("a_retry_is_granted_once")
class GrantNotUsedUp(BrokenStore):
    """The attempt that was granted leaves the grant for another."""

    def begin(self, claim: Claim, key: EffectKey, intent: Intent, *, seen: int | None) -> Receipt[Begun]:
        found = self._find(key, claim.incarnation)
        receipt = super().begin(claim, key, intent, seen=seen)
        if found is not None and not failed(receipt) and receipt.wait().mine:
            self.alter_effect(key, claim.incarnation, lambda effect: attrs.evolve(effect, granted=found.granted))
        return receipt


@breaks("a_retry_is_granted_once")
class GrantedIsNotListed(BrokenStore):
    """What is granted is not listed as unresolved."""

    def _is_left(self, evidence: Evidence) -> bool:
        return not evidence.granted and super()._is_left(evidence)


@breaks("a_grant_is_taken_back")
class GrantStays(After):
    """WITHDRAW leaves the grant."""

    def afterwards(self, decision: Decision, made: Evidence) -> Evidence:
        return attrs.evolve(made, granted=made.granted or decision.ruling is Ruling.WITHDRAW)


@breaks("a_grant_is_taken_back")
class WithdrawalForgets(After):
    """WITHDRAW takes the trouble back as well."""

    def afterwards(self, decision: Decision, made: Evidence) -> Evidence:
        return attrs.evolve(made, trouble=None) if decision.ruling is Ruling.WITHDRAW else made


@breaks("what_is_given_up_on_is_not_listed", "what_was_given_up_on_goes_with_its_task")
class AbandonedByTheGuard(After):
    """ABANDON looks like what the guard gave up on."""

    def afterwards(self, decision: Decision, made: Evidence) -> Evidence:
        return attrs.evolve(made, uncertain=How.RECONCILE) if decision.ruling is Ruling.ABANDON else made


@breaks("what_is_given_up_on_is_not_listed")
class AbandonedIsListed(BrokenStore):
    """What a person gave up on is still listed."""

    def unresolved(self, *, limit: int = LISTED, after: EffectKey | None = None) -> Receipt[tuple[Evidence, ...]]:
        receipt = super().unresolved(limit=limit, after=after)
        more = tuple(each for each in self.rows.effects.values() if each.uncertain is How.DECISION)
        return self._read(lambda: (*receipt.wait(), *more)) if after is None else receipt


@breaks("what_is_uncertain_can_be_decided", "what_does_not_fit_is_refused")
class RetriesTheUncertain(BrokenStore):
    """RETRY of what was given up on is granted."""

    def _decide(self, decision: Decision) -> Evidence:
        found = self._find(decision.key, decision.incarnation)
        if found is not None and decision.ruling is Ruling.RETRY and found.uncertain is not None:
            self._put_effect(attrs.evolve(found, uncertain=None))
        return super()._decide(decision)


@breaks("what_is_uncertain_can_be_decided")
class UncertainIsFinal(BrokenStore):
    """What the guard gave up on takes no decision."""

    def _decide(self, decision: Decision) -> Evidence:
        found = self._find(decision.key, decision.incarnation)
        if found is not None and found.uncertain is How.RECONCILE:
            raise DecisionRefused(decision.id, str(decision.key), "it was given up on")
        return super()._decide(decision)


@breaks("what_has_ended_goes_with_its_decision")
class EndedStays(BrokenStore):
    """Evidence whose task has ended stays when it is decided on."""

    def _decide(self, decision: Decision) -> Evidence:
        found = self._find(decision.key, decision.incarnation)
        made = super()._decide(decision)
        if found is not None and found.ended:
            self._put_effect(made)
        return made


@breaks("what_has_ended_is_not_tried_again")
class EndedIsTriedAgain(BrokenStore):
    """Evidence whose task has ended can be granted another attempt."""

    def _decide(self, decision: Decision) -> Evidence:
        found = self._find(decision.key, decision.incarnation)
        if found is None or not found.ended or decision.ruling is not Ruling.RETRY:
            return super()._decide(decision)
        self._put_effect(attrs.evolve(found, ended=False))
        made = super()._decide(decision)
        self._put_effect(attrs.evolve(made, ended=True))
        return made


@breaks("a_decision_needs_no_claim", "others_do_not_disturb_a_run")
class DecisionTakes(BrokenStore):
    """A decision takes the thread of its effect."""

    def decide(self, decision: Decision, /) -> Receipt[Evidence]:
        receipt = super().decide(decision)
        if not failed(receipt):
            token = self._new_token()
            self.alter(decision.key.scope, lambda thread: attrs.evolve(thread, token=token, owner=None))
        return receipt


@breaks("who_did_not_see_the_decision_is_told", "a_decision_has_one_winner")
class DecisionsAreNoChange(After):
    """A decision does not change the version."""

    def afterwards(self, decision: Decision, made: Evidence) -> Evidence:
        return attrs.evolve(made, version=decision.seen)


@breaks("a_decision_is_of_the_version_that_was_seen")
class DecidesAnyVersion(BrokenStore):
    """A decision is made whatever version it names."""

    def _decide(self, decision: Decision) -> Evidence:
        found = self._find(decision.key, decision.incarnation)
        if found is None or any(made.decision.id == decision.id for made, _ in self.rows.decisions):
            return super()._decide(decision)
        return super()._decide(attrs.evolve(decision, seen=found.version))


@breaks("a_decision_is_of_the_version_that_was_seen")
class DecidesNothing(BrokenStore):
    """A decision on evidence that is not there is refused as if it did not fit."""

    def _decide(self, decision: Decision) -> Evidence:
        try:
            return super()._decide(decision)
        except EvidenceChanged as error:
            if error.current is None:
                raise DecisionRefused(decision.id, str(decision.key), "it is not there") from None
            raise


@breaks("what_does_not_fit_is_refused")
class GrantsTwice(BrokenStore):
    """A second grant beside an unused one is taken."""

    def _decide(self, decision: Decision) -> Evidence:
        found = self._find(decision.key, decision.incarnation)
        if found is not None and found.granted and decision.ruling is Ruling.RETRY:
            self._put_effect(attrs.evolve(found, granted=False))
        return super()._decide(decision)


@breaks("what_does_not_fit_is_refused")
class OutcomesOfAllRulings(BrokenStore):
    """A ruling that brings an outcome it has no use for is taken without."""

    def _decide(self, decision: Decision) -> Evidence:
        completes = decision.ruling is Ruling.COMPLETE
        return super()._decide(decision if completes else attrs.evolve(decision, outcome=None))


@breaks("what_has_an_outcome_is_not_decided")
class DecidesOverOutcomes(BrokenStore):
    """A decision replaces an outcome."""

    def _decide(self, decision: Decision) -> Evidence:
        found = self._find(decision.key, decision.incarnation)
        if found is not None and found.outcome is not None and decision.ruling is Ruling.COMPLETE:
            self._put_effect(attrs.evolve(found, outcome=None, trouble="undone"))
        return super()._decide(decision)


@breaks("what_is_at_work_is_not_decided", "what_another_owner_is_at_work_on_is_not_decided")
class DecidesWhatIsAtWork(BrokenStore):
    """A decision does not ask whether somebody is at work."""

    def _decide(self, decision: Decision) -> Evidence:
        found = self._find(decision.key, decision.incarnation)
        if found is not None and not self._is_left(found):
            self._put_effect(attrs.evolve(found, ended=False, trouble="decided"))
        return super()._decide(decision)


@breaks("what_is_at_work_is_not_decided", "what_another_owner_is_at_work_on_is_not_decided")
class WrongWorkerNamed(BrokenStore):
    """Who is refused a decision is not told who is at work."""

    def _decide(self, decision: Decision) -> Evidence:
        try:
            return super()._decide(decision)
        except EffectAtWork as error:
            raise EffectAtWork(error.key, NAME, error.token) from None


@breaks("what_nobody_is_at_work_on_is_decided", "unresolved_is_what_nobody_is_at_work_on")
class OwnersAtWorkForEver(BrokenStore):
    """An owner that is alive is at work on all that he began, whoever holds the thread."""

    def _is_left(self, evidence: Evidence) -> bool:
        return evidence.trouble is not None or evidence.ended or evidence.owner not in self.data.alive


@breaks("a_repeated_decision_changes_nothing", "a_decision_outlives_its_evidence", "a_used_grant_is_not_granted_again")
class RepeatsAreRefused(BrokenStore):
    """The same decision again is refused."""

    def _check_same(self, earlier: Decision, decision: Decision) -> None:
        raise DecisionConflict(decision.id, str(decision.key), "it was made")


@breaks("a_repeated_decision_changes_nothing", "a_used_grant_is_not_granted_again")
class RepeatsAreMade(BrokenStore):
    """The same decision again is made again, on whatever version stands."""

    def _decide(self, decision: Decision) -> Evidence:
        found = self._find(decision.key, decision.incarnation)
        made = super()._decide(decision)
        if found is not None and found == made and decision.ruling is Ruling.RETRY:
            made = attrs.evolve(made, granted=True, version=made.version + 1)
            self._put_effect(made)
        return made


@breaks("a_repeated_decision_changes_nothing")
class RepeatsAreListed(BrokenStore):
    """The same decision again is kept twice."""

    def _check_same(self, earlier: Decision, decision: Decision) -> None:
        super()._check_same(earlier, decision)
        last = self.rows.decisions[-1]
        self.rows.decisions.append((attrs.evolve(last[0], number=last[0].number + 1), last[1]))


@breaks("a_decision_outlives_its_evidence")
class ForgetsWhatHasGone(BrokenStore):
    """A decision whose evidence has gone with it is not known any more."""

    def _check_same(self, earlier: Decision, decision: Decision) -> None:
        super()._check_same(earlier, decision)
        if self._find(decision.key, decision.incarnation) is None:
            raise EvidenceChanged(str(decision.key), decision.seen, None)


@breaks("an_id_is_of_one_decision", "one_decision_rules_on_one_effect")
class IdsOfEffects(BrokenStore):
    """An id can stand for decisions on several effects."""

    def _decide(self, decision: Decision) -> Evidence:
        return super()._decide(attrs.evolve(decision, id=f"{decision.id} {decision.key}"))


@breaks("an_id_is_of_one_decision")
class OnlyIdsCompared(BrokenStore):
    """A decision under a known id is the same, whatever it says."""

    def _check_same(self, earlier: Decision, decision: Decision) -> None:
        pass


@breaks("an_id_is_of_one_decision")
class ReasonsNotCompared(BrokenStore):
    """A decision under a known id is the same, whoever made it and why."""

    def _check_same(self, earlier: Decision, decision: Decision) -> None:
        super()._check_same(earlier, attrs.evolve(decision, by=earlier.by, reason=earlier.reason))


@breaks("decisions_are_kept_in_order")
class NoEvidenceBefore(BrokenStore):
    """A decision is kept with the evidence after it, not before."""

    def _decide(self, decision: Decision) -> Evidence:
        before = len(self.rows.decisions)
        made = super()._decide(decision)
        for place, (decided, after) in enumerate(self.rows.decisions):
            if place >= before:
                self.rows.decisions[place] = (attrs.evolve(decided, before=after), after)
        return made


@breaks("decisions_are_kept_in_order", "what_has_ended_goes_with_its_decision")
class DecisionsNewestFirst(BrokenStore):
    """Decisions are listed from the newest on."""

    def decisions(self, *, limit: int = LISTED, after: int = 0) -> Receipt[tuple[Decided, ...]]:
        receipt = super().decisions(limit=limit, after=after)
        return self._read(lambda: receipt.wait()[::-1])


@breaks("decisions_outlive_effects_and_threads")
class DecisionsGoWithThreads(BrokenStore):
    """The decisions on a deleted thread are forgotten."""

    def _remove_thread(self, thread: Thread) -> None:
        super()._remove_thread(thread)
        self.rows.decisions = [each for each in self.rows.decisions if each[0].decision.key.scope != thread.id]


@breaks("decisions_are_listed_by_page")
class DecisionsLoseOne(BrokenStore):
    """A page of decisions begins one too late."""

    def decisions(self, *, limit: int = LISTED, after: int = 0) -> Receipt[tuple[Decided, ...]]:
        return super().decisions(limit=limit, after=after + 1 if after else 0)


@breaks("decisions_are_listed_by_page", "EL17_a_limit_is_a_number_of_rows")
class DecisionsWithoutLimit(BrokenStore):
    """Decisions are listed all at once."""

    def decisions(self, *, limit: int = LISTED, after: int = 0) -> Receipt[tuple[Decided, ...]]:
        return super().decisions(limit=10_000, after=after)
