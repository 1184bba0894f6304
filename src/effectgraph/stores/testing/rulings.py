"""The four rulings of a decision, and what each of them changes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import attrs

from effectgraph.stores.errors import (
    DecisionRefused,
    EvidenceChanged,
    UnresolvedStands,
)
from effectgraph.stores.protocol import Store
from effectgraph.stores.records import Claim, Evidence, How, Ruling, Sync
from effectgraph.stores.testing.expect import equal, refused, true
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.samples import (
    THREAD,
    begun,
    commit,
    created,
    decision,
    intent,
    key,
    left_unresolved,
    outcome,
    outside,
)
from effectgraph.stores.testing.seen import changes_nothing, found


def in_doubt(store: Store, claim: Claim, call: str = "charge") -> Evidence:
    """An effect whose attempt ended without knowing."""
    name = begun(store, claim, key(call, claim.thread))
    store.trouble(claim, name, "timed out", seen=1).wait()
    return found(store, name, claim.incarnation)


def doubts(store: Store) -> Iterator[tuple[Claim, Evidence]]:
    """An effect in doubt of each kind, one after the other: a thread's, and one outside a runtime."""
    for claim in (created(store).claim, outside(store)):
        yield claim, in_doubt(store, claim)


class RulingChecks(Checks):
    """The four rulings, and what each of them changes."""

    @on_store
    def test_a_completion_is_the_outcome(self, store: Store) -> None:
        """COMPLETE records the outcome that it brings: the effect is resolved, and runs never again."""
        for number, (claim, seen) in enumerate(doubts(store)):
            made = store.decide(decision(seen, Ruling.COMPLETE, f"d-{number}")).wait()

            equal(
                found(store, seen.key, seen.incarnation), made, "the evidence that `decide` returns, and as it is read"
            )
            result = outcome(how=How.DECISION)
            equal((result, seen.version + 1), (made.outcome, made.version), "outcome and version")
            equal((), store.unresolved().wait(), "what is unresolved then")
            answer = store.begin(claim, seen.key, intent(), seen=made.version).wait()
            equal((False, result), (answer.mine, answer.evidence.outcome), "what who begins it is told")

    @on_store
    def test_a_retry_is_granted_once(self, store: Store) -> None:
        """RETRY grants one attempt, which `begin` uses up; until then the effect stays listed as unresolved."""
        for number, (claim, seen) in enumerate(doubts(store)):
            granted = store.decide(decision(seen, Ruling.RETRY, f"d-{number}")).wait()

            expected = attrs.evolve(seen, granted=True, version=seen.version + 1)
            equal(
                (expected.granted, expected.version, expected.outcome, expected.attempt),
                (granted.granted, granted.version, granted.outcome, granted.attempt),
                "the granted evidence",
            )
            equal(granted, found(store, seen.key, seen.incarnation), "the granted evidence as it is read")
            true(granted in store.unresolved().wait(), "a granted effect is listed as unresolved")

            begun_again = store.begin(claim, seen.key, intent(), seen=granted.version).wait()

            true(begun_again.mine, "the granted attempt is begun")
            equal(
                (False, seen.attempt + 1, granted.version + 1),
                (begun_again.evidence.granted, begun_again.evidence.attempt, begun_again.evidence.version),
                "grant, attempt and version of the attempt",
            )
            equal(begun_again.evidence, found(store, seen.key, seen.incarnation), "the evidence as it is read")
            true(begun_again.evidence not in store.unresolved().wait(), "what is at work is not listed as unresolved")

    @on_store
    def test_a_grant_is_taken_back(self, store: Store) -> None:
        """WITHDRAW takes an unused grant back: the effect stands as it stood, a version later, and is listed."""
        for number, (_, seen) in enumerate(doubts(store)):
            granted = store.decide(decision(seen, Ruling.RETRY, f"d-{number}")).wait()

            withdrawn = store.decide(decision(granted, Ruling.WITHDRAW, f"w-{number}")).wait()

            equal(attrs.evolve(granted, granted=False, version=granted.version + 1), withdrawn, "the evidence")
            equal(withdrawn, found(store, seen.key, seen.incarnation), "the evidence as it is read")
            true(withdrawn in store.unresolved().wait(), "it is listed as unresolved")

    @on_store
    def test_what_is_given_up_on_is_not_listed(self, store: Store) -> None:
        """ABANDON gives an effect up: marked so (DECISION), kept while its task can run, listed no more."""
        for number, (_, seen) in enumerate(doubts(store)):
            made = store.decide(decision(seen, Ruling.ABANDON, f"d-{number}")).wait()

            equal((How.DECISION, seen.version + 1), (made.uncertain, made.version), "who gave it up, and the version")
            equal((seen.intent, None), (made.intent, made.outcome), "intent and outcome")
            equal(made, found(store, seen.key, seen.incarnation), "the evidence as it is read")
            true(made.key not in [each.key for each in store.unresolved().wait()], "it is not listed as unresolved")

    @on_store
    def test_what_is_uncertain_can_be_decided(self, store: Store) -> None:
        """What the guard gave up on a person can complete or give up as well, and not have tried again."""
        claim = created(store).claim
        for call in ("completed", "abandoned"):
            begun(store, claim, key(call))
            store.uncertain(claim, key(call), seen=1).wait()
        one, two = (found(store, key(call), claim.incarnation) for call in ("completed", "abandoned"))
        changes_nothing(
            store, DecisionRefused, lambda: store.decide(decision(one, Ruling.RETRY, "d-0")), "a retry of it"
        )

        completed = store.decide(decision(one, Ruling.COMPLETE, "d-1")).wait()
        abandoned = store.decide(decision(two, Ruling.ABANDON, "d-2")).wait()

        equal(outcome(how=How.DECISION), completed.outcome, "the outcome of the completed one")
        equal(How.DECISION, abandoned.uncertain, "who gave the other one up")
        equal((), store.unresolved().wait(), "what is unresolved then")

    @on_store
    def test_what_was_given_up_on_is_dropped(self, store: Store) -> None:
        """Outside a runtime an effect that a person gave up on can be dropped."""
        claim = outside(store)
        seen = in_doubt(store, claim)
        refused(UnresolvedStands, lambda: store.drop(claim, seen.key), "dropping it before")

        store.decide(decision(seen, Ruling.ABANDON)).wait()
        store.drop(claim, seen.key).wait()

        equal(None, store.evidence(seen.key, 0).wait(), "the dropped evidence")

    @on_store
    def test_what_has_ended_goes_with_its_decision(self, store: Store) -> None:
        """Evidence whose task has ended takes COMPLETE and ABANDON, and goes with them: nobody needs it any more."""
        for number, ruling in enumerate((Ruling.COMPLETE, Ruling.ABANDON)):
            claim = created(store, f"order-{number}").claim
            left = left_unresolved(store, claim)

            made = store.decide(decision(left, ruling, f"d-{number}")).wait()

            equal((left.key, left.intent), (made.key, made.intent), f"key and intent of what {ruling.value} returns")
            if ruling is Ruling.COMPLETE:
                equal(outcome(how=How.DECISION), made.outcome, "the outcome that the decision brought")
            else:
                equal(How.DECISION, made.uncertain, "who gave it up")
            equal(None, store.evidence(left.key, left.incarnation).wait(), f"the evidence after {ruling.value}")
            equal((), store.unresolved().wait(), f"what is unresolved after {ruling.value}")
            true(store.decisions().wait()[-1].before == left, "the decision keeps the evidence as it was")

    @on_store
    def test_what_has_ended_is_not_tried_again(self, store: Store) -> None:
        """Evidence whose task has ended takes no RETRY and no WITHDRAW (`DecisionRefused`): no run will look at it."""
        left = left_unresolved(store, created(store).claim)
        for ruling in (Ruling.RETRY, Ruling.WITHDRAW):
            changes_nothing(
                store,
                DecisionRefused,
                partial(store.decide, decision(left, ruling, ruling.value)),
                f"{ruling.value} of what has ended",
            )

    @on_store
    def test_a_decision_needs_no_claim(self, store: Store) -> None:
        """A decision disturbs nobody: the run goes on under its claim, on evidence that has a newer version."""
        claim = created(store).claim
        seen = in_doubt(store, claim)
        other = begun(store, claim, key("other"))
        view = store.read(THREAD).wait()

        granted = store.decide(decision(seen, Ruling.RETRY)).wait()

        equal(view, store.read(THREAD).wait(), "the thread")
        store.settle(claim, other, outcome(), seen=1, sync=Sync.LATER).wait()
        true(store.begin(claim, seen.key, intent(), seen=granted.version).wait().mine, "the run uses the grant")
        store.commit(claim, commit(1)).wait()

    @on_store
    def test_who_did_not_see_the_decision_is_told(self, store: Store) -> None:
        """After a decision a write of the run that names the version before it is refused (`EvidenceChanged`)."""
        claim = created(store).claim
        seen = in_doubt(store, claim)
        store.decide(decision(seen, Ruling.ABANDON)).wait()

        error = changes_nothing(
            store,
            EvidenceChanged,
            lambda: store.settle(claim, seen.key, outcome(), seen=seen.version, sync=Sync.NOW),
            "a late outcome after the decision",
        )

        equal((seen.version, seen.version + 1), (error.seen, error.current), "the versions that the error names")
