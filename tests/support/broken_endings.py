"""Broken stores: what becomes of evidence when its task ends; remarks."""

from __future__ import annotations

import attrs

from broken import BrokenStore, breaks
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import (
    Claim,
    Commit,
    EffectSummary,
    Evidence,
    How,
    Piece,
    Remark,
    Sync,
    Task,
)
from model_data import Thread
from model_records import is_unresolved


@breaks("an_unused_grant_ends_with_its_task")
class GrantOutlivesItsTask(BrokenStore):
    """What is unresolved when its task ends is still granted."""

    def _put_effect(self, evidence: Evidence) -> None:
        found = self._find(evidence.key, evidence.incarnation)
        granted = found is not None and found.granted and evidence.ended
        super()._put_effect(attrs.evolve(evidence, granted=evidence.granted or granted))


@breaks("a_commit_removes_the_evidence_of_its_task")
class CommitKeepsEvidence(BrokenStore):
    """The evidence of a committed task stays."""

    def _end_effects(self, claim: Claim, task: str) -> tuple[EffectSummary, ...]:
        before = dict(self.rows.effects)
        summaries = super()._end_effects(claim, task)
        for place, each in before.items():
            if not is_unresolved(each):
                self.rows.effects[place] = each
        return summaries


@breaks("a_commit_removes_the_evidence_of_its_task")
class CommitTakesAllEvidence(BrokenStore):
    """A commit removes the evidence of all tasks of its thread."""

    def _end_effects(self, claim: Claim, task: str) -> tuple[EffectSummary, ...]:
        summaries = super()._end_effects(claim, task)
        for each in self._of_thread(self._thread(claim.thread)):
            if each.outcome is not None:
                del self.rows.effects[each.key, each.incarnation]
        return summaries


@breaks("what_is_unresolved_stays_listed", "what_has_ended_goes_with_its_decision")
class EndedForgotten(BrokenStore):
    """What is unresolved when its task ends is removed."""

    def _end_effects(self, claim: Claim, task: str) -> tuple[EffectSummary, ...]:
        summaries = super()._end_effects(claim, task)
        for each in self._of_thread(self._thread(claim.thread)):
            if each.ended:
                del self.rows.effects[each.key, each.incarnation]
        return summaries


@breaks("what_is_unresolved_stays_listed", "what_has_ended_is_no_evidence_for_a_run")
class EndedNotMarked(BrokenStore):
    """What is unresolved when its task ends stays, and is not marked."""

    def _put_effect(self, evidence: Evidence) -> None:
        super()._put_effect(attrs.evolve(evidence, ended=False))


@breaks("what_has_ended_outlives_its_step_and_run")
class EndedGoesWithTheRun(BrokenStore):
    """What is unresolved is forgotten when the thread is done."""

    def _go_on(self, thread: Thread, step: int, pieces: tuple[Piece, ...], scheduled: tuple[Task, ...]) -> None:
        super()._go_on(thread, step, pieces, scheduled)
        if not scheduled:
            self._remove_evidence(thread)


@breaks("what_was_given_up_on_goes_with_its_task")
class AbandonedStays(BrokenStore):
    """An effect that a person gave up on outlives its task."""

    def _end_effects(self, claim: Claim, task: str) -> tuple[EffectSummary, ...]:
        before = self._of_thread(self._thread(claim.thread))
        summaries = super()._end_effects(claim, task)
        for each in before:
            if each.outcome is None and each.key.task == task:
                self._put_effect(attrs.evolve(each, ended=True, version=each.version + 1))
        return summaries


@breaks("what_was_given_up_on_goes_with_its_task", "what_a_person_completed_is_an_outcome")
class HistoryHidesDecisions(BrokenStore):
    """History does not say that a person settled an effect."""

    def _add_history(self, thread: str, commit: Commit, effects: tuple[EffectSummary, ...]) -> None:
        shown = (attrs.evolve(each, how=None) if each.how is How.DECISION else each for each in effects)
        super()._add_history(thread, commit, tuple(shown))


@breaks("evidence_outside_a_runtime_stays")
class CommitTakesTheScope(BrokenStore):
    """A commit removes effects of its scope and task outside a runtime as well."""

    def _end_effects(self, claim: Claim, task: str) -> tuple[EffectSummary, ...]:
        for key, incarnation in list(self.rows.effects):
            if (key.scope, key.task, incarnation) == (claim.thread, task, 0):
                del self.rows.effects[key, incarnation]
        return super()._end_effects(claim, task)


@breaks("a_remark_is_kept", "a_remark_changes_nothing_else")
class RemarksWithoutIncarnation(BrokenStore):
    """A remark is kept as one on the effect outside a runtime."""

    def remark(self, remark: Remark, /) -> Receipt[None]:
        return super().remark(attrs.evolve(remark, incarnation=0))


@breaks("a_remark_changes_nothing_else")
class RemarkIsEvidence(BrokenStore):
    """A remark becomes the outcome of its effect."""

    def remark(self, remark: Remark, /) -> Receipt[None]:
        receipt = super().remark(remark)
        self.alter_effect(remark.key, remark.incarnation, lambda effect: attrs.evolve(effect, outcome=remark.outcome))
        return receipt


@breaks("the_first_remarks_are_kept")
class RemarksWithoutEnd(BrokenStore):
    """Every remark is kept."""

    def remark(self, remark: Remark, /) -> Receipt[None]:
        place = (remark.key, remark.incarnation)
        kept = self.rows.remarks.get(place, ())
        receipt = super().remark(remark)
        with self.data.lock:
            self.rows.remarks[place] = (*kept, remark)
        return receipt


@breaks("remarks_go_with_a_drop")
class DropKeepsRemarks(BrokenStore):
    """The remarks on a dropped effect stay."""

    def drop(self, claim: Claim, key: EffectKey, /) -> Receipt[None]:
        kept = self.rows.remarks.get((key, claim.incarnation))
        receipt = super().drop(claim, key)
        if kept is not None:
            with self.data.lock:
                self.rows.remarks[key, claim.incarnation] = kept
        return receipt


@breaks("remarks_go_with_their_thread")
class CommitDropsRemarks(BrokenStore):
    """The remarks on the effects of a task go with its commit."""

    def _end_effects(self, claim: Claim, task: str) -> tuple[EffectSummary, ...]:
        for key, incarnation in list(self.rows.remarks):
            if (key.scope, key.task, incarnation) == (claim.thread, task, claim.incarnation):
                del self.rows.remarks[key, incarnation]
        return super()._end_effects(claim, task)


@breaks("remarks_outlive_a_decision")
class NoRemarkAfterADecision(BrokenStore):
    """What a decision has overtaken is not kept."""

    def remark(self, remark: Remark, /) -> Receipt[None]:
        found = self._find(remark.key, remark.incarnation)
        if found is not None and found.uncertain is How.DECISION:
            return self._write(lambda: None, Sync.LATER)
        return super().remark(remark)
