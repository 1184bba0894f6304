"""Effects that take longer than their callers wait, and outcomes that come too late."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from effectgraph import EffectGuard, EffectKey, EffectReplayRefused, EffectUnknown, Refusal
from effectgraph.stores import SqliteStore
from effectgraph.stores.records import Claimed, Decision, How, Outcome, Ruling
from guarded import KEY, TEXT, refusal_of, with_guard
from store_records import TASK, THREAD, new_thread

CLAIMED_KEY = EffectKey(THREAD, TASK, "charge")


class Slow:
    """An effect that returns when it is let."""

    def __init__(self) -> None:
        self.count = 0
        self.entered = asyncio.Event()
        self.may_return = asyncio.Event()

    async def charge(self) -> str:
        self.count += 1
        self.entered.set()
        await self.may_return.wait()
        return f"ch_{self.count}"


async def in_time(guard: EffectGuard, slow: Slow, key: EffectKey = KEY, *, idempotent: bool = False) -> str:
    """A call that waits for a hundredth of a second."""
    return await guard.unchecked(key, TEXT, fingerprint="f", effect=slow.charge, timeout_s=0.01, idempotent=idempotent)


@pytest.mark.parametrize("idempotent", [False, True])
def test_a_timeout_makes_the_outcome_unknown_not_false(tmp_path: Path, idempotent: bool) -> None:
    """Whoever calls again while it still runs waits for the same run; its late outcome is recorded."""

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[int, str]:
        slow = Slow()
        for _ in range(2):
            with pytest.raises(EffectUnknown, match="still runs"):
                await in_time(guard, slow, idempotent=idempotent)
        slow.may_return.set()
        assert await guard.drain()
        evidence = await store.evidence(KEY, 0)
        assert evidence is not None
        assert evidence.outcome is not None
        return slow.count, await in_time(guard, slow, idempotent=idempotent)

    assert with_guard(tmp_path, scenario) == (1, "ch_1")


async def taken_while_it_ran(store: SqliteStore, *, idempotent: bool) -> tuple[Slow, Claimed, Refusal | None]:
    """An effect under a claim that somebody takes while it runs; the next claim, and how the first run ended."""
    claimed = await store.create(new_thread())
    guard, slow = EffectGuard(store, claimed=claimed), Slow()
    call = asyncio.ensure_future(
        guard.unchecked(CLAIMED_KEY, TEXT, fingerprint="f", effect=slow.charge, idempotent=idempotent)
    )
    await slow.entered.wait()
    await store.take(THREAD, "stuck", at_us=1)
    successor = await store.claim(THREAD)
    slow.may_return.set()
    code = None
    try:
        await call
    except EffectReplayRefused as refused:
        code = refused.code
    await guard.end_claim()
    return slow, successor, code


@pytest.mark.parametrize(("idempotent", "code"), [(False, Refusal.STALE_TOKEN), (True, None)])
def test_the_outcome_of_an_older_claim_is_a_remark(tmp_path: Path, idempotent: bool, code: Refusal | None) -> None:
    """It changes nothing: the intent is the successor's to settle. People can read what came, from which run."""

    async def scenario(_: EffectGuard, store: SqliteStore) -> tuple[object, ...]:
        _slow, successor, ended = await taken_while_it_ran(store, idempotent=idempotent)
        evidence = await store.evidence(CLAIMED_KEY, successor.claim.incarnation)
        assert evidence is not None
        (remark,) = await store.remarks(CLAIMED_KEY, successor.claim.incarnation)
        return (
            ended,
            evidence.outcome,
            evidence.version,
            remark.outcome.value,
            remark.token,
            remark.owner == store.owner,
        )

    assert with_guard(tmp_path, scenario) == (code, None, 1, b'"ch_1"', 1, True)


def test_EL13_an_outcome_after_a_decision_is_a_remark(tmp_path: Path) -> None:
    """A person's decision stands, and what the run says afterwards is kept beside it."""

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[object, ...]:
        claimed = await store.create(new_thread())
        first, slow = EffectGuard(store, claimed=claimed), Slow()
        call = asyncio.ensure_future(first.unchecked(CLAIMED_KEY, TEXT, fingerprint="f", effect=slow.charge))
        await slow.entered.wait()
        await store.take(THREAD, "stuck", at_us=1)
        decided = Outcome(value=b'"by hand"', schema=TEXT.schema, how=How.DECISION, at_us=5)
        incarnation = claimed.claim.incarnation
        await store.decide(
            Decision(
                id="d1",
                key=CLAIMED_KEY,
                incarnation=incarnation,
                seen=1,
                ruling=Ruling.COMPLETE,
                by="ann",
                reason="seen at the bank",
                at_us=5,
                outcome=decided,
            )
        )
        slow.may_return.set()
        code = await refusal_of(call)
        second = EffectGuard(store, claimed=await store.claim(THREAD))
        value = await second.unchecked(CLAIMED_KEY, TEXT, fingerprint="f", effect=slow.charge)
        remarks = await store.remarks(CLAIMED_KEY, incarnation)
        return code, value, slow.count, [remark.outcome.value for remark in remarks]

    assert with_guard(tmp_path, scenario) == (Refusal.STALE_TOKEN, "by hand", 1, [b'"ch_1"'])


def test_a_late_outcome_of_the_same_claim_is_recorded_after_the_run_has_ended(tmp_path: Path) -> None:
    """The drain has given up, the claim is still held: what comes is kept."""

    async def scenario(_: EffectGuard, store: SqliteStore) -> object:
        claimed = await store.create(new_thread())
        guard, slow = EffectGuard(store, claimed=claimed), Slow()
        with pytest.raises(EffectUnknown):
            await in_time(guard, slow, CLAIMED_KEY)
        assert not await guard.drain(0.001)
        slow.may_return.set()
        assert await guard.drain()
        evidence = await store.evidence(CLAIMED_KEY, claimed.claim.incarnation)
        assert evidence is not None
        return None if evidence.outcome is None else evidence.outcome.value

    assert with_guard(tmp_path, scenario) == b'"ch_1"'
