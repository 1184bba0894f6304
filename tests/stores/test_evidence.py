"""Evidence: intents, outcomes, and who may change them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from effectgraph.stores import EvidenceChanged, Receipt, Store, UnresolvedStands
from effectgraph.stores.records import Claim, Evidence, How, Kind, Landing, OwnerId, Plan, Sync
from store_records import (
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


@pytest.fixture(params=["claimed", "outside"])
def claim(request: pytest.FixtureRequest, store: Store) -> Claim:
    """A claim of each kind: a thread's, and that of somebody without a runtime."""
    return created(store).claim if request.param == "claimed" else outside(store, THREAD)


def stands(store: Store, claim: Claim) -> Evidence | None:
    """The evidence of the first effect."""
    return store.evidence(key(), claim.incarnation).wait()


def test_an_intent_is_the_callers(store: Store, claim: Claim) -> None:
    """A first intent is kept with its owner and token, as attempt 1 and version 1."""

    first = store.begin(claim, key(), intent(), seen=None).wait()

    assert first.mine
    assert first.evidence == Evidence(
        key=key(),
        incarnation=claim.incarnation,
        intent=intent(),
        owner=store.owner,
        token=claim.token,
        attempt=1,
        version=1,
    )
    assert stands(store, claim) == first.evidence


@pytest.mark.parametrize(
    "planned", [plan(), plan("later", Landing("after", b'"old"'), Landing("between", b"\x00\xff"))]
)
def test_a_plan_is_kept_whole(store: Store, claim: Claim, planned: Plan) -> None:
    """A verifiable intent comes back with digests, presumed outcome, and the plans that it replaced, in order."""

    written = intent(Kind.VERIFIABLE, plan=planned)

    store.begin(claim, key(), written, seen=None).wait()

    found = stands(store, claim)
    assert found is not None
    assert found.intent == written


def test_who_did_not_see_the_evidence_gets_it(store: Store, claim: Claim) -> None:
    """An intent over evidence that the caller did not see changes nothing; he gets what stands."""

    begun(store, claim)
    before = stands(store, claim)

    for seen in (None, 2, 7):
        answer = store.begin(claim, key(), intent(fingerprint="other"), seen=seen).wait()
        assert not answer.mine
        assert answer.evidence == before

    assert stands(store, claim) == before


def test_an_intent_is_replaced_by_who_saw_it(store: Store, claim: Claim) -> None:
    """Who names the version that stands replaces the intent: one more attempt and version, no trouble."""

    begun(store, claim)
    store.trouble(claim, key(), "timed out", seen=1).wait()
    written = intent(Kind.VERIFIABLE, plan=plan())

    again = store.begin(claim, key(), written, seen=2).wait()

    assert again.mine
    assert (again.evidence.attempt, again.evidence.version) == (2, 3)
    assert again.evidence.intent == written
    assert again.evidence.trouble is None
    assert stands(store, claim) == again.evidence


def test_an_outcome_is_never_replaced_by_an_intent(store: Store, claim: Claim) -> None:
    """Evidence that has an outcome stays, whatever version the caller names."""

    settled(store, claim)

    for seen in (None, 1, 2):
        answer = store.begin(claim, key(), intent(), seen=seen).wait()
        assert not answer.mine
        assert answer.evidence.outcome == outcome()


def test_vanished_evidence_is_said(store: Store, claim: Claim) -> None:
    """An intent over evidence that is gone is refused, since there is nothing to replace."""

    with pytest.raises(EvidenceChanged) as refused:
        store.begin(claim, key(), intent(), seen=1).wait()

    assert (refused.value.seen, refused.value.current) == (1, None)
    assert stands(store, claim) is None


@pytest.mark.parametrize("value", [b'"ch_1"', b"", None])
@pytest.mark.parametrize("sync", Sync)
def test_an_outcome_is_kept(store: Store, claim: Claim, value: bytes | None, sync: Sync) -> None:
    """An outcome is kept as it is, an empty one and the mark `omitted` too, and ends the trouble."""

    begun(store, claim)
    store.trouble(claim, key(), "timed out", seen=1).wait()

    kept = store.settle(claim, key(), outcome(value, How.PROBE), seen=2, sync=sync).wait()

    found = stands(store, claim)
    assert found is not None
    assert kept == found.outcome == outcome(value, How.PROBE)
    assert (found.version, found.trouble) == (3, None)


def test_R11_the_first_outcome_wins(store: Store, claim: Claim) -> None:
    """Evidence with an outcome is returned as it stands, and no later one changes it."""

    settled(store, claim)
    first = stands(store, claim)
    assert first is not None

    for seen in (1, 2):
        assert first.outcome == store.settle(claim, key(), outcome(b'"ch_2"'), seen=seen, sync=Sync.NOW).wait()
        store.trouble(claim, key(), "late", seen=seen).wait()

    assert first.outcome == outcome()
    assert stands(store, claim) == first


STALE: dict[str, Callable[[Store, Claim], Receipt[object]]] = {
    "settle": lambda store, claim: store.settle(claim, key(), outcome(), seen=1, sync=Sync.NOW),
    "withdraw": lambda store, claim: store.withdraw(claim, key(), seen=1),
    "trouble": lambda store, claim: store.trouble(claim, key(), "late", seen=1),
}
"""Writes over version 1 of an intent."""


@pytest.mark.parametrize("write", STALE)
@pytest.mark.parametrize("current", [2, None])
def test_EL13_a_stale_version_changes_nothing(store: Store, claim: Claim, write: str, current: int | None) -> None:
    """Who names another version than the one that stands is told so, and changes nothing."""

    if current is not None:
        begun(store, claim)
        store.begin(claim, key(), intent(), seen=1).wait()
    before = stands(store, claim)

    with pytest.raises(EvidenceChanged) as refused:
        STALE[write](store, claim).wait()

    assert (refused.value.seen, refused.value.current) == (1, current)
    assert stands(store, claim) == before


def test_a_withdrawn_intent_is_gone(store: Store, claim: Claim) -> None:
    """Withdrawing removes an intent without outcome; the next one is a first attempt."""

    begun(store, claim)

    store.withdraw(claim, key(), seen=1).wait()

    assert stands(store, claim) is None
    assert store.begin(claim, key(), intent(), seen=None).wait().evidence.attempt == 1


def test_an_outcome_is_not_withdrawn(store: Store, claim: Claim) -> None:
    """An effect that has an outcome has happened: withdrawing it is refused."""

    settled(store, claim)

    with pytest.raises(EvidenceChanged):
        store.withdraw(claim, key(), seen=2).wait()

    assert stands(store, claim) is not None


def test_trouble_is_noted(store: Store, claim: Claim) -> None:
    """An attempt that ended without knowing leaves its text, as a change of the evidence."""

    begun(store, claim)

    store.trouble(claim, key(), "timed out", seen=1).wait()

    found = stands(store, claim)
    assert found is not None
    assert (found.trouble, found.version, found.attempt) == ("timed out", 2, 1)


def test_a_successor_settles_what_it_inherits(store: Store) -> None:
    """The holder of the newest claim settles, replaces and withdraws an intent of an older one."""

    first = created(store).claim
    for call in ("settled", "again", "withdrawn"):
        begun(store, first, key(call))
    store.take(THREAD, "stuck", at_us=1).wait()
    claimed = store.claim(THREAD).wait()
    assert {each.token for each in claimed.evidence} == {first.token}
    second = claimed.claim

    found = store.settle(second, key("settled"), outcome(), seen=1, sync=Sync.NOW).wait()
    again = store.begin(second, key("again"), intent(), seen=1).wait()
    store.withdraw(second, key("withdrawn"), seen=1).wait()

    assert found == outcome()
    assert (again.evidence.token, again.evidence.attempt) == (second.token, 2)
    assert store.evidence(key("withdrawn"), second.incarnation).wait() is None


def test_EL03_scopes_are_apart(store: Store) -> None:
    """The same task and call in another scope, and outside a runtime, is another effect."""

    claims = [created(store).claim, created(store, "order-2").claim, outside(store, THREAD), outside(store)]

    for claim in claims:
        assert store.begin(claim, key(thread=claim.thread), intent(), seen=None).wait().mine


def test_a_claim_writes_only_its_own_scope(store: Store, claim: Claim) -> None:
    """A key of another scope than the claim's is a mistake of the caller."""

    foreign = key(thread="order-9")

    with pytest.raises(ValueError, match="its scope is not"):
        store.begin(claim, foreign, intent(), seen=None).wait()

    assert store.evidence(foreign, claim.incarnation).wait() is None


def test_EL16_a_first_intent_has_one_winner(store: Store) -> None:
    """Of several owners that begin one effect, one gets it, and all others see his intent."""

    others = [outside(store)] + [
        Claim(thread="script", incarnation=0, token=0, owner=OwnerId(f"owner-{number}")) for number in range(7)
    ]

    receipts = [store.begin(each, key(thread="script"), intent(), seen=None) for each in others]
    answers = [receipt.wait() for receipt in receipts]

    assert [answer.mine for answer in answers] == [True] + [False] * 7
    assert {answer.evidence.owner for answer in answers} == {store.owner}


def test_a_takeover_has_one_winner(store: Store) -> None:
    """Of two who saw the same version and try to take the intent over, one does."""

    begun(store, outside(store), key(thread="script"))
    others = [Claim(thread="script", incarnation=0, token=0, owner=OwnerId(f"owner-{number}")) for number in range(2)]

    first, second = (store.begin(each, key(thread="script"), intent(), seen=1) for each in others)

    assert first.wait().mine
    assert not second.wait().mine
    assert second.wait().evidence.owner == others[0].owner


def test_settled_evidence_outside_a_runtime_is_dropped(store: Store) -> None:
    """Outside a runtime who is done drops the evidence; nothing there is no error; what is unresolved stands."""

    claim = outside(store, THREAD)
    begun(store, claim)
    with pytest.raises(UnresolvedStands) as refused:
        store.drop(claim, key()).wait()
    assert refused.value.effects == ("1.pay / charge",)
    store.settle(claim, key(), outcome(), seen=1, sync=Sync.NOW).wait()

    store.drop(claim, key()).wait()
    store.drop(claim, key()).wait()

    assert stands(store, claim) is None


def test_a_threads_evidence_is_not_dropped(store: Store) -> None:
    """The evidence of a thread goes with the commit of its task and in no other way."""

    claim = created(store).claim
    settled(store, claim)

    with pytest.raises(ValueError, match="it is not dropped"):
        store.drop(claim, key()).wait()

    assert stands(store, claim) is not None
