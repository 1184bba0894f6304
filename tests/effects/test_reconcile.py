"""Asking the recipient for its own record of an effect."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import cast

import pytest

from effectgraph import EffectGuard, EffectNotRecorded, EffectUnknown, Refusal, codec_for, current_effect
from effectgraph.effects.limits import LONGEST_S
from effectgraph.stores import SqliteStore
from effectgraph.stores.records import How
from guarded import KEY, TEXT, Recipient, refusal_of, with_guard


class Bank(Recipient):
    """A recipient that keeps a record of its own, and breaks off after it has acted."""

    def __init__(self, *answers: str | Exception | None) -> None:
        super().__init__(ConnectionResetError("no answer"))
        self.asked = 0
        self._answers = list(answers)

    async def recall(self) -> str | None:
        self.asked += 1
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def pay(guard: EffectGuard, bank: Bank, *, idempotent: bool = False) -> str:
    """Let the bank charge once, and ask it if that is not known to have happened."""
    return await guard.unchecked(
        KEY, TEXT, fingerprint="f", effect=bank.charge, reconcile=bank.recall, idempotent=idempotent
    )


async def broken_off(guard: EffectGuard, bank: Bank, *, idempotent: bool = False) -> None:
    """The first attempt, of which nobody knows whether it happened."""
    with pytest.raises(EffectUnknown):
        await pay(guard, bank, idempotent=idempotent)


def test_SK_E2_what_the_recipient_has_is_the_outcome(tmp_path: Path) -> None:
    """The effect is not run again; its record is kept as the outcome, marked, and replayed without asking again."""
    bank = Bank("ch_1")

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[str, str, object]:
        await broken_off(guard, bank)
        values = await pay(guard, bank), await pay(guard, bank)
        evidence = await store.evidence(KEY, 0)
        assert evidence is not None
        assert evidence.outcome is not None
        return *values, evidence.outcome.how

    assert with_guard(tmp_path, scenario) == ("ch_1", "ch_1", How.RECONCILE)
    assert (bank.count, bank.asked) == (1, 1)


def test_SK_E3_no_record_is_uncertain_for_ever(tmp_path: Path) -> None:
    """It is neither asked nor run again, in this process or another, and stays listed for people."""
    bank = Bank(None)

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[Refusal, Refusal, int]:
        await broken_off(guard, bank)
        codes = await refusal_of(pay(guard, bank)), await refusal_of(pay(guard, bank))
        return *codes, len(await store.unresolved())

    assert with_guard(tmp_path, scenario) == (Refusal.UNCERTAIN, Refusal.UNCERTAIN, 1)
    assert with_guard(tmp_path, lambda guard, _: refusal_of(pay(guard, bank))) is Refusal.UNCERTAIN
    assert (bank.count, bank.asked) == (1, 1)


def test_without_a_record_an_idempotent_effect_runs_again(tmp_path: Path) -> None:
    """The recipient ignores a key that it knows, so nothing can be done twice."""
    bank = Bank(None)

    async def scenario(guard: EffectGuard, _: SqliteStore) -> str:
        await broken_off(guard, bank, idempotent=True)
        return await pay(guard, bank, idempotent=True)

    assert with_guard(tmp_path, scenario) == "ch_2"
    assert (bank.count, bank.asked) == (2, 1)


@pytest.mark.parametrize("idempotent", [False, True])
def test_a_reconcile_that_raises_proves_nothing(tmp_path: Path, idempotent: bool) -> None:
    """The intent stays as it was, nothing runs, and the next call asks again."""
    bank = Bank(ConnectionError("bank is closed"), "ch_1")

    async def scenario(guard: EffectGuard, _: SqliteStore) -> tuple[Refusal, str]:
        await broken_off(guard, bank, idempotent=idempotent)
        code = await refusal_of(pay(guard, bank, idempotent=idempotent))
        return code, await pay(guard, bank, idempotent=idempotent)

    assert with_guard(tmp_path, scenario) == (Refusal.OUTCOME_UNKNOWN, "ch_1")
    assert (bank.count, bank.asked) == (1, 2)


def test_SK_E5_an_async_reconcile_is_cancelled_when_its_time_is_over(tmp_path: Path) -> None:
    """An overrun proves nothing either: the intent stays, and a later call can still find the outcome."""
    bank = Bank("ch_1")
    ended: list[str] = []

    async def endless() -> str | None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return None

    async def scenario(guard: EffectGuard, _: SqliteStore) -> tuple[Refusal, str]:
        await broken_off(guard, bank)
        late = guard.unchecked(
            KEY, TEXT, fingerprint="f", effect=bank.charge, reconcile=endless, reconcile_timeout_s=0.01
        )
        code = await refusal_of(late)
        await asyncio.sleep(0)
        return code, await pay(guard, bank)

    assert with_guard(tmp_path, scenario) == (Refusal.OUTCOME_UNKNOWN, "ch_1")
    assert (bank.count, ended) == (1, ["cancelled"])


def test_a_plain_reconcile_is_told_to_stop_and_not_waited_for(tmp_path: Path) -> None:
    """It runs in a worker thread, which nobody can cancel; what it finds after its time is not looked at."""
    bank = Bank()
    over, ended = threading.Event(), threading.Event()
    told: list[bool] = []

    def slow() -> str | None:
        effect = current_effect()
        told.append(effect.told_to_stop)
        assert over.wait(60)
        told.append(effect.told_to_stop)
        ended.set()
        return "ch_1"

    async def scenario(guard: EffectGuard, _: SqliteStore) -> Refusal:
        await broken_off(guard, bank)
        late = guard.unchecked(KEY, TEXT, fingerprint="f", effect=bank.charge, reconcile=slow, reconcile_timeout_s=0.01)
        code = await refusal_of(late)
        over.set()
        await asyncio.to_thread(ended.wait, 60)
        return code

    assert with_guard(tmp_path, scenario) is Refusal.OUTCOME_UNKNOWN
    assert told == [False, True]
    assert bank.count == 1


def test_a_record_that_is_no_outcome_is_an_error(tmp_path: Path) -> None:
    """What the codec cannot encode is never stored, and the effect is not run again."""
    ran: list[int] = []

    async def charge() -> int:
        ran.append(1)
        raise ConnectionResetError("no answer")

    async def recall() -> int | None:
        return cast("int", "not a number")

    async def scenario(guard: EffectGuard, _: SqliteStore) -> str:
        with pytest.raises(EffectUnknown):
            await guard.unchecked(KEY, codec_for(int), fingerprint="f", effect=charge)
        with pytest.raises(EffectNotRecorded) as caught:
            await guard.unchecked(KEY, codec_for(int), fingerprint="f", effect=charge, reconcile=recall)
        return str(caught.value)

    assert "int" in with_guard(tmp_path, scenario)
    assert ran == [1]


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), LONGEST_S + 0.001])
def test_SK_E11_a_time_limit_is_positive_and_finite(tmp_path: Path, seconds: float) -> None:
    """Anything else is refused before anything runs; 2**31 - 1 milliseconds is the longest."""
    bank = Bank()

    async def scenario(guard: EffectGuard, store: SqliteStore) -> object:
        with pytest.raises(ValueError, match="reconcile_timeout_s"):
            await guard.unchecked(
                KEY, TEXT, fingerprint="f", effect=bank.charge, reconcile=bank.recall, reconcile_timeout_s=seconds
            )
        with pytest.raises(ValueError, match="timeout_s"):
            await guard.unchecked(KEY, TEXT, fingerprint="f", effect=bank.charge, timeout_s=seconds)
        return await store.evidence(KEY, 0)

    assert with_guard(tmp_path, scenario) is None
    assert bank.count == 0


def test_SK_E11_the_longest_time_limit_is_taken(tmp_path: Path) -> None:
    """2**31 - 1 milliseconds."""
    bank = Bank("ch_1")

    async def scenario(guard: EffectGuard, _: SqliteStore) -> str:
        await broken_off(guard, bank)
        return await guard.unchecked(
            KEY,
            TEXT,
            fingerprint="f",
            effect=bank.charge,
            reconcile=bank.recall,
            reconcile_timeout_s=LONGEST_S,
            timeout_s=LONGEST_S,
        )

    assert with_guard(tmp_path, scenario) == "ch_1"


def test_a_recipient_is_not_asked_when_there_is_nothing_to_ask_for(tmp_path: Path) -> None:
    """Without an intent the effect runs; with an outcome it is replayed."""
    bank = Bank()

    async def scenario(guard: EffectGuard, _: SqliteStore) -> str:
        async def charge() -> str:
            return "ch_1"

        for _round in range(2):
            await guard.unchecked(KEY, TEXT, fingerprint="f", effect=charge, reconcile=bank.recall)
        return "done"

    assert with_guard(tmp_path, scenario) == "done"
    assert bank.asked == 0
