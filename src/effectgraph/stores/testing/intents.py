"""Intents: written, replaced, withdrawn, each by who saw what was there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import attrs

from effectgraph.stores.errors import EvidenceChanged
from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import Claim, Evidence, Kind, Landing, OwnerId, Sync
from effectgraph.stores.testing.both import at_work, claims, named
from effectgraph.stores.testing.expect import equal, true
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.samples import (
    THREAD,
    begun,
    created,
    intent,
    key,
    outcome,
    outside,
    plan,
    settled,
)
from effectgraph.stores.testing.seen import changes_nothing, found


class IntentChecks(Checks):
    """Intents: written, replaced, withdrawn, each by who saw what was there."""

    @on_store
    def test_an_intent_is_the_callers(self, store: Store) -> None:
        """A first intent is kept with its owner and token, as attempt 1 and version 1, and nothing else is known."""
        for claim in claims(store):
            first = store.begin(claim, key(), intent(), seen=None).wait()

            true(first.mine, f"an intent {named(claim)} where there was none is the caller's")
            expected = Evidence(
                key=key(),
                incarnation=claim.incarnation,
                intent=intent(),
                owner=store.owner,
                token=claim.token,
                attempt=1,
                version=1,
            )
            equal(expected, first.evidence, f"the evidence that `begin` returns {named(claim)}")
            equal(expected, found(store, key(), claim.incarnation), f"the evidence as it is read {named(claim)}")

    @on_store
    def test_intents_of_all_kinds_are_kept_whole(self, store: Store) -> None:
        """An intent comes back with its kind, digests, presumed outcome, and the plans that it replaced, in order."""
        earlier = plan("later", Landing("after", b'"old"'), Landing("between", b"\x00\xff"))
        for claim in claims(store):
            written = {
                "unchecked": intent(Kind.UNCHECKED),
                "applied": intent(Kind.APPLIED_KEYS, fingerprint="f2"),
                "planned": intent(Kind.VERIFIABLE, plan=plan()),
                "planned again": intent(Kind.VERIFIABLE, plan=earlier),
            }
            for call, each in written.items():
                store.begin(claim, key(call), each, seen=None).wait()

            equal(
                written,
                {call: found(store, key(call), claim.incarnation).intent for call in written},
                f"the intents {named(claim)}",
            )

    @on_store
    def test_who_did_not_see_the_evidence_gets_it(self, store: Store) -> None:
        """An intent over evidence that the caller did not see changes nothing; he gets what stands (`mine` False)."""
        for claim in claims(store):
            begun(store, claim)
            store.begin(claim, key(), intent(), seen=1).wait()
            before = found(store, key(), claim.incarnation)

            for seen in (None, 1, 3, 7):
                answer = store.begin(claim, key(), intent(fingerprint="other"), seen=seen).wait()
                true(not answer.mine, f"an intent {named(claim)} over version 2, where {seen} was seen, is not his")
                equal(before, answer.evidence, f"the evidence that is returned {named(claim)}")

            equal(before, found(store, key(), claim.incarnation), f"the evidence {named(claim)}")

    @on_store
    def test_an_intent_is_replaced_by_who_saw_it(self, store: Store) -> None:
        """Who names the version that stands replaces the intent: one more attempt and version, and no trouble."""
        written = intent(Kind.VERIFIABLE, fingerprint="f2", plan=plan())
        for claim in claims(store):
            begun(store, claim)
            store.trouble(claim, key(), "timed out", seen=1).wait()

            second = store.begin(claim, key(), written, seen=2).wait()

            true(second.mine, f"the intent {named(claim)} is the caller's")
            expected = Evidence(
                key=key(),
                incarnation=claim.incarnation,
                intent=written,
                owner=store.owner,
                token=claim.token,
                attempt=2,
                version=3,
            )
            equal(expected, second.evidence, f"the evidence that `begin` returns {named(claim)}")
            equal(expected, found(store, key(), claim.incarnation), f"the evidence as it is read {named(claim)}")

    @on_store
    def test_an_outcome_is_never_replaced_by_an_intent(self, store: Store) -> None:
        """Evidence that has an outcome stays, whatever version the caller names, and is returned to him."""
        for claim in claims(store):
            settled(store, claim)
            before = found(store, key(), claim.incarnation)

            for seen in (None, 1, 2, 3):
                answer = store.begin(claim, key(), intent(), seen=seen).wait()
                true(not answer.mine, f"an intent {named(claim)} over an outcome, where {seen} was seen, is not his")
                equal(before, answer.evidence, f"the evidence that is returned {named(claim)}")

            equal(before, found(store, key(), claim.incarnation), f"the evidence after it all {named(claim)}")

    @on_store
    def test_vanished_evidence_is_said(self, store: Store) -> None:
        """An intent over evidence that is gone is refused (`EvidenceChanged`): there is nothing to replace."""
        for first in claims(store):
            claim = first
            for seen in (1, 5):
                error = changes_nothing(
                    store,
                    EvidenceChanged,
                    partial(store.begin, claim, key(), intent(), seen=seen),
                    f"an intent {named(claim)} over version {seen} of nothing",
                )
                equal((seen, None), (error.seen, error.current), "the versions that the error names")
                claim = at_work(store, claim)

    @on_store
    def test_a_withdrawn_intent_is_gone(self, store: Store) -> None:
        """Withdrawing removes an intent without outcome; the next one is a first attempt."""
        for claim in claims(store):
            begun(store, claim)
            begun(store, claim, key("other"))

            store.withdraw(claim, key(), seen=found(store, key(), claim.incarnation).version).wait()

            equal(None, store.evidence(key(), claim.incarnation).wait(), f"withdrawn evidence {named(claim)}")
            found(store, key("other"), claim.incarnation)
            again = store.begin(claim, key(), intent(), seen=None).wait()
            true(again.mine, f"an intent {named(claim)} after a withdrawal is the caller's")
            equal(1, again.evidence.attempt, f"its attempt {named(claim)}")

    @on_store
    def test_a_version_never_comes_back(self, store: Store) -> None:
        """A key that was withdrawn begins with a greater version than any it had, each time."""
        for claim in claims(store):
            newest = 0
            for _ in range(3):
                first = store.begin(claim, key(), intent(), seen=None).wait().evidence.version
                true(first > newest, f"the version {first} after a withdrawal {named(claim)} is greater than {newest}")
                second = store.begin(claim, key(), intent(), seen=first).wait().evidence.version
                store.trouble(claim, key(), "not done", seen=second).wait()
                newest = found(store, key(), claim.incarnation).version
                store.withdraw(claim, key(), seen=newest).wait()

    @on_store
    def test_a_dropped_key_keeps_its_versions(self, store: Store) -> None:
        """A key that was dropped begins with a greater version than any it had, each time."""
        claim, newest = outside(store, THREAD), 0
        for _ in range(3):
            settled(store, claim)
            version = found(store, key(), 0).version
            true(version > newest, f"the version {version} after a drop is greater than {newest}")
            newest = version
            store.drop(claim, key()).wait()

    @on_store
    def test_an_outcome_is_not_withdrawn(self, store: Store) -> None:
        """An effect that has an outcome has happened: withdrawing it is refused (`EvidenceChanged`)."""
        for first in claims(store):
            claim = first
            settled(store, claim)
            for seen in (1, 2):
                changes_nothing(
                    store,
                    EvidenceChanged,
                    partial(store.withdraw, claim, key(), seen=seen),
                    f"withdrawing an outcome {named(claim)}",
                )
                claim = at_work(store, claim)

    @on_store
    def test_EL03_scopes_are_apart(self, store: Store) -> None:
        """The same task and call in another scope, task, incarnation, and outside a runtime, is another effect."""
        one, two = created(store).claim, created(store, "order-2").claim
        names = [(one, key()), (two, key(thread="order-2")), (outside(store, THREAD), key())]
        names += [(outside(store), key(thread="script")), (outside(store), key(thread="script", task="2.pay"))]
        names += [(outside(store), key("other", "script"))]
        for number, (claim, name) in enumerate(names):
            answer = store.begin(claim, name, intent(fingerprint=f"f{number}"), seen=None).wait()
            true(answer.mine, f"the intent of {name} {named(claim)} is the caller's")

        equal(
            [f"f{number}" for number in range(len(names))],
            [found(store, name, claim.incarnation).intent.fingerprint for claim, name in names],
            "the fingerprints of the effects",
        )
        equal(None, store.evidence(key(), one.incarnation + 1_000).wait(), "evidence of another incarnation")

    @on_store
    def test_a_claim_writes_only_its_own_scope(self, store: Store) -> None:
        """A key of another scope than the claim's is refused (`ValueError`), in every write of an effect."""
        name = key(thread="order-9")
        writes: Mapping[str, Callable[[Claim], Receipt[object]]] = {
            "begin": lambda claim: store.begin(claim, key("new", "order-9"), intent(), seen=None),
            "settle": lambda claim: store.settle(claim, name, outcome(), seen=1, sync=Sync.NOW),
            "withdraw": lambda claim: store.withdraw(claim, name, seen=1),
            "trouble": lambda claim: store.trouble(claim, name, "late", seen=1),
            "uncertain": lambda claim: store.uncertain(claim, name, seen=1),
            "drop": lambda claim: store.drop(claim, key("other", "order-9")),
        }
        script = outside(store, "order-9")
        settled(store, script, key("other", "order-9"))
        begun(store, script, name)
        for first in claims(store):
            claim = first
            for what, write in writes.items():
                changes_nothing(
                    store,
                    ValueError,
                    partial(write, claim),
                    f"{what} {named(claim)} of a key of another scope",
                    "order-9",
                )
                claim = at_work(store, claim)

    @on_store
    def test_a_claim_without_token_has_no_incarnation(self, store: Store) -> None:
        """Who has no claim (token 0) writes nothing under a thread's incarnation: its evidence is the run's alone."""
        claim = created(store).claim
        begun(store, claim)
        settled(store, claim, key("other"))
        odd = attrs.evolve(outside(store, THREAD), incarnation=claim.incarnation)
        for what, write in {
            "begin": lambda: store.begin(odd, key("new"), intent(), seen=None),
            "begin again": lambda: store.begin(odd, key(), intent(), seen=1),
            "settle": lambda: store.settle(odd, key(), outcome(), seen=1, sync=Sync.NOW),
            "withdraw": lambda: store.withdraw(odd, key(), seen=1),
            "trouble": lambda: store.trouble(odd, key(), "late", seen=1),
            "uncertain": lambda: store.uncertain(odd, key(), seen=1),
            "drop": lambda: store.drop(odd, key("other")),
        }.items():
            changes_nothing(store, Exception, write, f"{what} with token 0 and the incarnation of a thread")

    @on_store
    def test_a_successor_settles_what_it_inherits(self, store: Store) -> None:
        """The holder of the newest claim settles, replaces and withdraws an intent of an older one."""
        first = created(store).claim
        for call in ("settled", "again", "withdrawn", "trouble", "uncertain"):
            begun(store, first, key(call))
        store.take(THREAD, "stuck", at_us=1).wait()
        claimed = store.claim(THREAD).wait()
        second = claimed.claim
        equal({first.token}, {each.token for each in claimed.evidence}, "the tokens of the inherited intents")

        kept = store.settle(second, key("settled"), outcome(), seen=1, sync=Sync.NOW).wait()
        again = store.begin(second, key("again"), intent(), seen=1).wait()
        store.withdraw(second, key("withdrawn"), seen=1).wait()
        store.trouble(second, key("trouble"), "late", seen=1).wait()
        store.uncertain(second, key("uncertain"), seen=1).wait()

        equal(outcome(), kept, "the outcome")
        equal((True, second.token, 2), (again.mine, again.evidence.token, again.evidence.attempt), "the new intent")
        equal(None, store.evidence(key("withdrawn"), second.incarnation).wait(), "the withdrawn evidence")

    @on_store
    def test_EL16_a_first_intent_has_one_winner(self, store: Store) -> None:
        """Of several that begin one effect outside a runtime, one gets it, and all others see his intent."""
        others = [outside(store), *(attrs.evolve(outside(store), owner=OwnerId(f"owner-{n}")) for n in range(4))]

        answers = [
            receipt.wait()
            for receipt in [store.begin(each, key(thread="script"), intent(), seen=None) for each in others]
        ]

        equal([True] + [False] * 4, [answer.mine for answer in answers], "whose the intent is")
        equal({store.owner}, {answer.evidence.owner for answer in answers}, "the owner that all of them see")

    @on_store
    def test_a_takeover_has_one_winner(self, store: Store) -> None:
        """Of two who saw the same version and try to take the intent over, one does, and the other sees his."""
        name = begun(store, outside(store))
        others = [attrs.evolve(outside(store), owner=OwnerId(f"owner-{number}")) for number in range(2)]

        first, second = [receipt.wait() for receipt in [store.begin(each, name, intent(), seen=1) for each in others]]

        equal((True, False), (first.mine, second.mine), "whose the intent is")
        equal([others[0].owner] * 2, [first.evidence.owner, second.evidence.owner], "the owner that both see")
