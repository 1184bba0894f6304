"""What a process knows of an effect and could not write down."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from effectgraph import EffectGuard, EffectKey, EffectNotRecorded, EffectReplayRefused, NotApplied, Refusal
from effectgraph.effects.ledger import Unwritten
from effectgraph.stores import SqliteStore, StoreBusy
from effectgraph.stores.records import Claim, Claimed, How, Sync
from guarded import KEY, TEXT
from store_records import TASK, THREAD, new_thread, outside
from store_writer import locked

A = TypeVar("A")
CLAIMED_KEY = EffectKey(THREAD, TASK, "charge")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store is."""
    return tmp_path / "store.db"


def claim_of(store: SqliteStore) -> Claim:
    """What somebody without a runtime writes under."""
    return outside(store, KEY.scope)


def with_impatient_store(path: Path, scenario: Callable[[SqliteStore], Awaitable[A]]) -> A:
    """Run a scenario on a store that waits for no lock, so that a locked file is a failed write."""

    async def run() -> A:
        async with SqliteStore(path, busy_s=0.05) as store:
            return await scenario(store)

    return asyncio.run(run())


class Payment:
    """An effect that happens while the store cannot be written."""

    def __init__(self, path: Path, *, failure: Exception | None = None) -> None:
        self.count = 0
        self._failure = failure
        self._held = locked(path)

    async def charge(self) -> str:
        self.count += 1
        self._held.__enter__()
        if self._failure is not None:
            raise self._failure
        return f"ch_{self.count}"

    def store_is_free(self) -> None:
        self._held.__exit__(None, None, None)


async def pay(guard: EffectGuard, payment: Payment, key: EffectKey = KEY, *, idempotent: bool = False) -> str:
    """Let it charge, once."""
    return await guard.unchecked(key, TEXT, fingerprint="f", effect=payment.charge, idempotent=idempotent)


def test_an_outcome_that_could_not_be_written_is_written_by_the_next_call(path: Path) -> None:
    """The effect is not asked for again, and does not run again: this process knows what it returned."""

    async def scenario(store: SqliteStore) -> tuple[object, ...]:
        guard, payment = EffectGuard(store), Payment(path)
        with pytest.raises(EffectNotRecorded) as caught:
            await pay(guard, payment)
        payment.store_is_free()
        value = await pay(guard, payment)
        evidence = await store.evidence(KEY, 0)
        assert evidence is not None
        assert evidence.outcome is not None
        return caught.value.outcome, value, payment.count, evidence.outcome.how, dict(store.unwritten)

    assert with_impatient_store(path, scenario) == ("ch_1", "ch_1", 1, How.RUN, {})


def test_a_withdrawal_that_could_not_be_written_is_written_by_the_next_call(path: Path) -> None:
    """It did not happen, and this process knows: the next call starts afresh instead of being refused."""

    async def scenario(store: SqliteStore) -> tuple[object, ...]:
        guard, payment = EffectGuard(store), Payment(path, failure=NotApplied("busy"))
        with pytest.raises(StoreBusy):
            await pay(guard, payment)
        payment.store_is_free()
        other = Free()
        value = await guard.unchecked(KEY, TEXT, fingerprint="f", effect=other.charge)
        evidence = await store.evidence(KEY, 0)
        assert evidence is not None
        return value, payment.count, evidence.attempt, dict(store.unwritten)

    assert with_impatient_store(path, scenario) == ("free", 1, 1, {})


class Free:
    """An effect that locks nothing."""

    async def charge(self) -> str:
        return "free"


async def claimed_anew(store: SqliteStore, first: Claimed) -> EffectGuard:
    """The guard of the next claim of the thread in this process."""
    await store.release(first.claim)
    return EffectGuard(store, claimed=await store.claim(THREAD))


@pytest.mark.parametrize("idempotent", [False, True])
def test_the_next_claim_of_this_process_writes_it(path: Path, idempotent: bool) -> None:
    """Whether the write was waited for, or failed in the queue: the next claim knows what the last one knew."""

    async def scenario(store: SqliteStore) -> tuple[object, ...]:
        claimed = await store.create(new_thread())
        guard, payment = EffectGuard(store, claimed=claimed), Payment(path)
        if idempotent:
            assert await pay(guard, payment, CLAIMED_KEY, idempotent=True) == "ch_1"
            with pytest.raises(StoreBusy):
                await store.flush()
        else:
            with pytest.raises(EffectNotRecorded):
                await pay(guard, payment, CLAIMED_KEY)
        payment.store_is_free()
        await guard.end_claim()
        successor = await claimed_anew(store, claimed)
        value = await pay(successor, payment, CLAIMED_KEY, idempotent=idempotent)
        evidence = await store.evidence(CLAIMED_KEY, claimed.claim.incarnation)
        assert evidence is not None
        return value, payment.count, evidence.attempt, evidence.outcome is not None, dict(store.unwritten)

    assert with_impatient_store(path, scenario) == ("ch_1", 1, 1, True, {})


def test_another_process_does_not_know(path: Path) -> None:
    """It finds an intent without outcome, and refuses: nothing is guessed."""

    async def scenario(store: SqliteStore) -> None:
        payment = Payment(path)
        with pytest.raises(EffectNotRecorded):
            await pay(EffectGuard(store), payment)
        payment.store_is_free()

    async def later(store: SqliteStore) -> Refusal:
        with pytest.raises(EffectReplayRefused) as caught:
            await EffectGuard(store).unchecked(KEY, TEXT, fingerprint="f", effect=Free().charge)
        return caught.value.code

    with_impatient_store(path, scenario)

    assert with_impatient_store(path, later) is Refusal.OUTCOME_UNKNOWN


def test_what_others_did_meanwhile_stands(path: Path) -> None:
    """Somebody took the intent over while the outcome could not be written: it is a remark, and no outcome."""

    async def scenario(store: SqliteStore) -> tuple[object, ...]:
        guard, payment = EffectGuard(store), Payment(path)
        with pytest.raises(EffectNotRecorded):
            await pay(guard, payment, idempotent=True)
        payment.store_is_free()
        evidence = await store.evidence(KEY, 0)
        assert evidence is not None
        async with SqliteStore(path) as other:
            taken = await other.begin(claim_of(other), KEY, evidence.intent, seen=evidence.version)
            assert taken.mine
            with pytest.raises(EffectReplayRefused) as caught:
                await pay(guard, payment, idempotent=True)
        (remark,) = await store.remarks(KEY, 0)
        return caught.value.code, remark.outcome.value, payment.count, dict(store.unwritten)

    assert with_impatient_store(path, scenario) == (Refusal.IN_PROGRESS, b'"ch_1"', 1, {})


def test_a_write_whose_answer_was_lost_is_synced_before_it_counts(path: Path) -> None:
    """The outcome seemed to fail and was written all the same: it is flushed, and then replayed."""

    async def scenario(store: SqliteStore) -> tuple[object, ...]:
        guard, payment = EffectGuard(store), Payment(path)
        with pytest.raises(EffectNotRecorded):
            await pay(guard, payment)
        payment.store_is_free()
        ((place, unwritten),) = store.unwritten.items()
        assert isinstance(unwritten, Unwritten)
        assert unwritten.outcome is not None
        evidence = await store.evidence(KEY, 0)
        assert evidence is not None
        await store.settle(claim_of(store), KEY, unwritten.outcome, seen=evidence.version, sync=Sync.LATER)
        syncs = store.counts.synced_transactions
        value = await pay(guard, payment)
        return place, value, store.counts.synced_transactions - syncs, dict(store.unwritten)

    assert with_impatient_store(path, scenario) == ((KEY, 0), "ch_1", 1, {})
