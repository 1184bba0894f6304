"""Outcomes, trouble, and what is uncertain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import attrs

from effectgraph.stores.errors import EvidenceChanged, UnresolvedStands
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import Claim, How, Ruling, Sync
from effectgraph.stores.testing.both import at_work, claims, named
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
    outcome,
    outside,
    settled,
)
from effectgraph.stores.testing.seen import changes_nothing, everything, found

OVER_A_VERSION: Final[Mapping[str, Callable[[Store, Claim, EffectKey, int], Receipt[object]]]] = {
    "settle": lambda store, claim, name, seen: store.settle(claim, name, outcome(), seen=seen, sync=Sync.LATER),
    "withdraw": lambda store, claim, name, seen: store.withdraw(claim, name, seen=seen),
    "trouble": lambda store, claim, name, seen: store.trouble(claim, name, "late", seen=seen),
    "uncertain": lambda store, claim, name, seen: store.uncertain(claim, name, seen=seen),
}
"""Writes that name the version of an intent that their caller saw."""


class OutcomeChecks(Checks):
    """Outcomes, trouble, and what is uncertain."""

    @on_store
    def test_an_outcome_is_kept(self, store: Store) -> None:
        """An outcome is kept as it is, an empty one and the mark `omitted` too, of any origin, and ends the trouble."""
        for claim in claims(store):
            written = {"text": b'"ch_1"', "empty": b"", "omitted": None}
            for call, value in written.items():
                for sync in Sync:
                    for how in How:
                        name = key(f"{call} {sync.value} {how.value}")
                        begun(store, claim, name)
                        store.trouble(claim, name, "timed out", seen=1).wait()

                        kept = store.settle(claim, name, outcome(value, how), seen=2, sync=sync).wait()

                        what = f"an outcome ({call}, {how.value}, synced {sync.value}) {named(claim)}"
                        equal(outcome(value, how), kept, f"{what}, as `settle` returns it")
                        stands = found(store, name, claim.incarnation)
                        equal(outcome(value, how), stands.outcome, f"{what}, as it is read")
                        equal((3, 1, None), (stands.version, stands.attempt, stands.trouble), f"the evidence of {what}")

    @on_store
    def test_R11_the_first_outcome_wins(self, store: Store) -> None:
        """Evidence with an outcome is returned as it stands, whatever version is named, and no later one changes it."""
        for claim in claims(store):
            settled(store, claim)
            first = found(store, key(), claim.incarnation)

            for seen in (1, 2, 3):
                kept = store.settle(claim, key(), outcome(b'"ch_2"'), seen=seen, sync=Sync.NOW).wait()
                equal(first.outcome, kept, f"the outcome that a second `settle` returns {named(claim)}")

            equal(first, found(store, key(), claim.incarnation), f"the evidence after it all {named(claim)}")

    @on_store
    def test_nothing_is_noted_on_an_outcome(self, store: Store) -> None:
        """`trouble` and `uncertain` change nothing on evidence that has an outcome: what is known is not doubted."""
        for claim in claims(store):
            settled(store, claim)
            first = found(store, key(), claim.incarnation)
            for seen in (1, 2):
                store.trouble(claim, key(), "late", seen=seen).wait()
                equal(first, found(store, key(), claim.incarnation), f"the evidence after trouble {named(claim)}")
                store.uncertain(claim, key(), seen=seen).wait()
                equal(first, found(store, key(), claim.incarnation), f"the evidence after doubt {named(claim)}")

    @on_store
    def test_EL13_a_stale_version_changes_nothing(self, store: Store) -> None:
        """Who names another version than the one that stands is told so (`EvidenceChanged`), and changes nothing."""
        for first in claims(store):
            claim = first
            for what, write in OVER_A_VERSION.items():
                name = key(f"{what} over another version")
                begun(store, claim, name)
                store.begin(claim, name, intent(), seen=1).wait()
                for current, stale in ((2, 1), (2, 3), (None, 1)):
                    which = name if current else key(f"{what} over nothing")
                    before = store.evidence(which, claim.incarnation).wait(), everything(store)
                    error = refused(
                        EvidenceChanged,
                        partial(write, store, claim, which, stale),
                        f"{what} {named(claim)} over version {stale} where it is {current}",
                    )
                    equal((stale, current), (error.seen, error.current), "the versions that the error names")
                    equal(
                        before,
                        (store.evidence(which, claim.incarnation).wait(), everything(store)),
                        f"what can be read after {what} over a stale version",
                    )
                    claim = at_work(store, claim)

    @on_store
    def test_trouble_is_noted(self, store: Store) -> None:
        """An attempt that ended without knowing leaves its text, as one change of the evidence; the newest stays."""
        for claim in claims(store):
            begun(store, claim)
            first = found(store, key(), claim.incarnation)

            store.trouble(claim, key(), "timed out", seen=1).wait()
            noted = attrs.evolve(first, trouble="timed out", version=2)
            equal(noted, found(store, key(), claim.incarnation), f"the evidence {named(claim)}")

            store.trouble(claim, key(), "again", seen=2).wait()
            noted = attrs.evolve(first, trouble="again", version=3)
            equal(noted, found(store, key(), claim.incarnation), f"the evidence after more trouble {named(claim)}")

    @on_store
    def test_what_is_uncertain_is_marked(self, store: Store) -> None:
        """An effect of which the recipient knows nothing is marked so (RECONCILE), and is unresolved at once."""
        for claim in claims(store):
            begun(store, claim)
            first = found(store, key(), claim.incarnation)

            store.uncertain(claim, key(), seen=1).wait()

            stands = found(store, key(), claim.incarnation)
            equal((How.RECONCILE, 2, None), (stands.uncertain, stands.version, stands.outcome), "what is known of it")
            equal(first.intent, stands.intent, "its intent")
            true(stands in store.unresolved().wait(), f"an uncertain effect {named(claim)} is unresolved")

    @on_store
    def test_an_outcome_ends_doubt_and_grant(self, store: Store) -> None:
        """An effect that has an outcome is neither uncertain nor granted: it is known, and nothing is to be tried."""
        for number, claim in enumerate(claims(store)):
            begun(store, claim)
            store.trouble(claim, key(), "timed out", seen=1).wait()
            granted = store.decide(decision(found(store, key(), claim.incarnation), Ruling.RETRY, f"d-{number}")).wait()
            store.settle(claim, key(), outcome(), seen=granted.version, sync=Sync.LATER).wait()
            begun(store, claim, key("other"))
            store.uncertain(claim, key("other"), seen=1).wait()
            store.settle(claim, key("other"), outcome(), seen=2, sync=Sync.LATER).wait()

            for call in ("charge", "other"):
                stands = found(store, key(call), claim.incarnation)
                equal(
                    (outcome(), False, None, None),
                    (stands.outcome, stands.granted, stands.uncertain, stands.trouble),
                    f"outcome, grant, doubt and trouble of {call} {named(claim)}",
                )
            equal((), store.unresolved().wait(), "what is unresolved")

    @on_store
    def test_settled_evidence_outside_a_runtime_is_dropped(self, store: Store) -> None:
        """Outside a runtime who is done drops the evidence; nothing there is no error."""
        claim = outside(store, THREAD)
        settled(store, claim)
        settled(store, claim, key("other"))

        store.drop(claim, key()).wait()
        store.drop(claim, key()).wait()

        equal(None, store.evidence(key(), 0).wait(), "dropped evidence")
        found(store, key("other"), 0)

    @on_store
    def test_unresolved_evidence_is_not_dropped(self, store: Store) -> None:
        """Outside a runtime an intent without outcome is not dropped (`UnresolvedStands` names it)."""
        claim = outside(store, THREAD)
        begun(store, claim)

        error = changes_nothing(store, UnresolvedStands, lambda: store.drop(claim, key()), "dropping an intent")

        equal(1, len(error.effects), "how many effects the error names")
        true("charge" in error.effects[0], f"{error.effects[0]!r} names the call")
        store.uncertain(claim, key(), seen=1).wait()
        changes_nothing(store, UnresolvedStands, lambda: store.drop(claim, key()), "dropping what is uncertain")

    @on_store
    def test_a_threads_evidence_is_not_dropped(self, store: Store) -> None:
        """The evidence of a thread goes with the commit of its task and in no other way (`ValueError`)."""
        claim = created(store).claim
        settled(store, claim)

        changes_nothing(store, ValueError, lambda: store.drop(claim, key()), "dropping a thread's evidence")

    @on_store
    def test_evidence_outside_a_runtime_stays(self, store: Store) -> None:
        """What is written outside a runtime under a thread's name is not touched by what the thread does."""
        script = outside(store, THREAD)
        settled(store, script)
        before = found(store, key(), 0)
        claim = created(store).claim
        settled(store, claim)
        store.commit(claim, commit(1)).wait()
        store.release(claim).wait()
        store.delete(THREAD).wait()

        equal(before, store.evidence(key(), 0).wait(), "the evidence outside a runtime")
