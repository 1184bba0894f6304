"""Decisions as they are kept, repeated and refused."""

from __future__ import annotations

from functools import partial

import attrs

from effectgraph.stores.errors import (
    DecisionConflict,
    DecisionRefused,
    EffectAtWork,
    EvidenceChanged,
)
from effectgraph.stores.protocol import Store
from effectgraph.stores.records import Decided, How, Ruling
from effectgraph.stores.testing.expect import equal, refused, true
from effectgraph.stores.testing.pages import by_page
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.rulings import doubts, in_doubt
from effectgraph.stores.testing.samples import (
    THREAD,
    begun,
    commit,
    created,
    decision,
    gone,
    intent,
    key,
    left_unresolved,
    outcome,
    outside,
    settled,
)
from effectgraph.stores.testing.seen import changes_nothing, found


class DecisionChecks(Checks):
    """Decisions as they are kept, repeated and refused."""

    @on_store
    def test_a_decision_is_of_the_version_that_was_seen(self, store: Store) -> None:
        """A decision on another version than the one that stands, or on nothing, is refused (`EvidenceChanged`)."""
        for _, seen in doubts(store):
            for version in (seen.version - 1, seen.version + 1):
                stale = attrs.evolve(seen, version=version)
                for ruling in (Ruling.COMPLETE, Ruling.RETRY, Ruling.ABANDON):
                    error = changes_nothing(
                        store,
                        EvidenceChanged,
                        partial(store.decide, decision(stale, ruling, "stale")),
                        f"{ruling.value} over version {version} where it is {seen.version}",
                    )
                    equal((version, seen.version), (error.seen, error.current), "the versions that the error names")
            nothing = attrs.evolve(seen, key=attrs.evolve(seen.key, call="unheard"))
            error = changes_nothing(
                store,
                EvidenceChanged,
                partial(store.decide, decision(nothing, Ruling.ABANDON, "nothing")),
                "a decision on nothing",
            )
            equal(None, error.current, "the version that stands, as the error names it")

    @on_store
    def test_what_does_not_fit_is_refused(self, store: Store) -> None:
        """A ruling that does not fit what is known is refused (`DecisionRefused`), and nothing is changed or kept."""
        for number, (_, doubt) in enumerate(doubts(store)):
            granted = store.decide(decision(doubt, Ruling.RETRY, f"grant-{number}")).wait()
            changes_nothing(
                store,
                DecisionRefused,
                partial(store.decide, decision(granted, Ruling.RETRY, "twice")),
                "a second grant beside an unused one",
            )
            seen = store.decide(decision(granted, Ruling.WITHDRAW, f"back-{number}")).wait()
            for what, wrong in {
                "WITHDRAW without a grant": decision(seen, Ruling.WITHDRAW, "wrong"),
                "COMPLETE without an outcome": attrs.evolve(decision(seen, Ruling.COMPLETE, "wrong"), outcome=None),
                "RETRY with an outcome": decision(seen, Ruling.RETRY, "wrong", result=outcome()),
                "ABANDON with an outcome": decision(seen, Ruling.ABANDON, "wrong", result=outcome()),
            }.items():
                error = changes_nothing(store, DecisionRefused, partial(store.decide, wrong), what)
                equal("wrong", error.decision, "the decision that the error names")
            given_up = store.decide(decision(seen, Ruling.ABANDON, f"up-{number}")).wait()
            changes_nothing(
                store,
                DecisionRefused,
                partial(store.decide, decision(given_up, Ruling.RETRY, "wrong")),
                "RETRY of what was given up on",
            )

    @on_store
    def test_what_has_an_outcome_is_not_decided(self, store: Store) -> None:
        """An effect that has an outcome takes no decision (`DecisionRefused`): the first outcome stands."""
        for claim in (created(store).claim, outside(store)):
            name = settled(store, claim, key(thread=claim.thread))
            seen = found(store, name, claim.incarnation)
            for ruling in Ruling:
                changes_nothing(
                    store,
                    DecisionRefused,
                    partial(store.decide, decision(seen, ruling, "late")),
                    f"{ruling.value} of what has an outcome",
                )

    @on_store
    def test_what_is_at_work_is_not_decided(self, store: Store) -> None:
        """While its owner is alive and at work on it an effect is not decided (`EffectAtWork` names him)."""
        for claim in (created(store).claim, outside(store)):
            seen = found(store, begun(store, claim), claim.incarnation)
            for ruling in (Ruling.COMPLETE, Ruling.RETRY, Ruling.ABANDON):
                error = changes_nothing(
                    store,
                    EffectAtWork,
                    partial(store.decide, decision(seen, ruling, "early")),
                    f"{ruling.value} of what is at work",
                )
                equal((store.owner, claim.token), (error.owner, error.token), "owner and token that the error names")

    @on_store
    def test_what_nobody_is_at_work_on_is_decided(self, store: Store) -> None:
        """An effect is decided once its run was fenced or released, its attempt ended, or its owner is gone."""
        one, two, three = (created(store, f"order-{number}").claim for number in (1, 2, 3))
        cases = {
            "whose thread was taken": (one, begun(store, one)),
            "whose thread was released": (two, begun(store, two)),
            "whose thread has a successor": (three, begun(store, three)),
            "whose owner is gone": (gone(), begun(store, gone())),
        }
        store.take("order-1", "stuck", at_us=1).wait()
        store.release(two).wait()
        store.release(three).wait()
        store.claim("order-3").wait()
        for number, (what, (claim, name)) in enumerate(cases.items()):
            made = store.decide(decision(found(store, name, claim.incarnation), Ruling.COMPLETE, f"d-{number}")).wait()
            equal(outcome(how=How.DECISION), made.outcome, f"the outcome of an effect {what}")

    @on_store
    def test_a_repeated_decision_changes_nothing(self, store: Store) -> None:
        """The same decision again changes nothing and is kept once: who lost the answer to it may ask again."""
        for number, (_, doubt) in enumerate(doubts(store)):
            seen = doubt
            for ruling in (Ruling.RETRY, Ruling.WITHDRAW, Ruling.ABANDON, Ruling.COMPLETE):
                ruled = decision(seen, ruling, f"{ruling.value}-{number}")
                made = store.decide(ruled).wait()
                before = store.decisions().wait()

                store.decide(ruled).wait()

                equal(made, found(store, seen.key, seen.incarnation), f"the evidence after {ruling.value} again")
                equal(before, store.decisions().wait(), f"the decisions after {ruling.value} again")
                seen = made

    @on_store
    def test_a_used_grant_is_not_granted_again(self, store: Store) -> None:
        """The decision that granted an attempt, sent again after the attempt, grants nothing."""
        claim = created(store).claim
        seen = in_doubt(store, claim)
        ruled = decision(seen, Ruling.RETRY)
        granted = store.decide(ruled).wait()
        store.begin(claim, seen.key, intent(), seen=granted.version).wait()
        store.trouble(claim, seen.key, "timed out again", seen=granted.version + 1).wait()
        stands = found(store, seen.key, claim.incarnation)

        store.decide(ruled).wait()

        equal(stands, found(store, seen.key, claim.incarnation), "the evidence after the decision was sent again")
        again = store.decide(decision(stands, Ruling.RETRY, "d-2")).wait()
        true(again.granted, "another decision on the version that stands grants another attempt")

    @on_store
    def test_a_decision_outlives_its_evidence(self, store: Store) -> None:
        """A decision can be sent again after the evidence that it ruled on has gone with it, and changes nothing."""
        left = left_unresolved(store, created(store).claim)
        ruled = decision(left, Ruling.COMPLETE)
        store.decide(ruled).wait()
        before = store.decisions().wait()

        store.decide(ruled).wait()

        equal(before, store.decisions().wait(), "the decisions")
        equal(None, store.evidence(left.key, left.incarnation).wait(), "the evidence")

    @on_store
    def test_an_id_is_of_one_decision(self, store: Store) -> None:
        """An id that stands for another decision is refused (`DecisionConflict`), whatever differs."""
        claim = created(store).claim
        seen, other = in_doubt(store, claim), in_doubt(store, claim, "other")
        made = store.decide(decision(seen, Ruling.RETRY)).wait()
        first = decision(seen, Ruling.RETRY)
        for what, another in {
            "another effect": decision(other, Ruling.RETRY),
            "another version": decision(made, Ruling.RETRY),
            "another ruling": decision(seen, Ruling.ABANDON),
            "another outcome": decision(seen, Ruling.COMPLETE),
            "another person": attrs.evolve(first, by="bob"),
            "another reason": attrs.evolve(first, reason="the bank said no"),
        }.items():
            error = changes_nothing(store, DecisionConflict, partial(store.decide, another), f"the same id for {what}")
            equal("d-1", error.decision, "the decision that the error names")

    @on_store
    def test_decisions_are_kept_in_order(self, store: Store) -> None:
        """Decisions are read back whole, in their order, by growing numbers, with the evidence before each."""
        claim = created(store).claim
        before = [in_doubt(store, claim, f"call-{number}") for number in range(3)]
        rulings = (Ruling.COMPLETE, Ruling.RETRY, Ruling.ABANDON)
        made = [decision(seen, ruling, ruling.value) for seen, ruling in zip(before, rulings, strict=True)]
        for each in made:
            store.decide(each).wait()

        kept = store.decisions().wait()

        equal(made, [each.decision for each in kept], "the decisions")
        equal(before, [each.before for each in kept], "the evidence before each of them")
        numbers = [each.number for each in kept]
        equal(sorted(set(numbers)), numbers, "their numbers")
        true(numbers[0] > 0, "a number is greater than 0")

    @on_store
    def test_decisions_outlive_effects_and_threads(self, store: Store) -> None:
        """Decisions are there when effect and thread have gone, and their ids stay taken."""
        claim = created(store).claim
        seen = in_doubt(store, claim)
        store.decide(decision(seen, Ruling.COMPLETE)).wait()
        kept = store.decisions().wait()
        store.commit(claim, commit(1)).wait()
        equal(kept, store.decisions().wait(), "the decisions after the commit")
        store.release(claim).wait()
        store.delete(THREAD).wait()

        equal(kept, store.decisions().wait(), "the decisions after the deletion")
        again = in_doubt(store, created(store).claim)
        refused(
            DecisionConflict,
            lambda: store.decide(decision(again, Ruling.COMPLETE)),
            "the same id in a thread made anew",
        )

    @on_store
    def test_decisions_are_listed_by_page(self, store: Store) -> None:
        """Pages of decisions begin behind a number, hold at most `limit`, and leave none out."""
        claim = created(store).claim
        for number in range(5):
            seen = in_doubt(store, claim, f"call-{number}")
            store.decide(decision(seen, Ruling.ABANDON, f"d-{number}")).wait()

        def listed(limit: int) -> list[Decided]:
            first = store.decisions(limit=limit)
            return by_page(first, lambda last: store.decisions(limit=limit, after=last.number), most=limit)

        for limit in (1, 2, 5, 6):
            equal(
                [f"d-{number}" for number in range(5)],
                [each.decision.id for each in listed(limit)],
                f"decisions by pages of {limit}",
            )
