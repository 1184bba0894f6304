"""The guard on a store alone: what a call does by the evidence it finds."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from effectgraph import (
    EffectGuard,
    EffectKey,
    EffectNotRecorded,
    EffectUnknown,
    NotApplied,
    OutcomeUnreadable,
    Refusal,
    TargetFenced,
    Verifiable,
    codec_for,
    current_effect,
)
from effectgraph.effects import OutsideEffect
from effectgraph.effects.limits import OUTCOME_BYTES
from effectgraph.stores import SqliteStore, UnresolvedStands
from guarded import KEY, TEXT, Document, Recipient, charge, refusal_of, with_guard, write

CHILD = """
import asyncio, sys
from effectgraph import EffectGuard, EffectKey, EffectReplayRefused, codec_for, open_store

async def main():
    async with open_store(sys.argv[1]) as store:
        async def effect():
            with open(sys.argv[2], "a") as log:
                log.write("ran\\n")
            await asyncio.sleep(float(sys.argv[3]))
            return "value"
        print("ready", flush=True)
        sys.stdin.readline()
        try:
            key = EffectKey("orders", "o-1", "charge")
            print(await EffectGuard(store).unchecked(key, codec_for(str), fingerprint="f", effect=effect))
        except EffectReplayRefused as refused:
            print(refused.code.value)

asyncio.run(main())
"""


def test_EL1_a_new_guard_replays_the_outcome(tmp_path: Path) -> None:
    """The effect runs once; a guard over the store opened anew answers with what was recorded."""
    recipient = Recipient()

    first = with_guard(tmp_path, lambda guard, _: charge(guard, recipient))
    second = with_guard(tmp_path, lambda guard, _: charge(guard, recipient))

    assert (first, second, recipient.count) == ("ch_1", "ch_1", 1)


def test_EL3_another_request_under_the_key_is_refused(tmp_path: Path) -> None:
    """Nothing runs, and what is stored stays as it is."""
    recipient = Recipient()

    async def scenario(guard: EffectGuard, _: SqliteStore) -> tuple[Refusal, str]:
        await charge(guard, recipient)
        return await refusal_of(charge(guard, recipient, fingerprint="g")), await charge(guard, recipient)

    assert with_guard(tmp_path, scenario) == (Refusal.MISMATCH, "ch_1")
    assert recipient.count == 1


def test_EL3_the_kind_belongs_to_the_request(tmp_path: Path) -> None:
    """A key that was an unchecked effect's is no verifiable one's."""

    async def scenario(guard: EffectGuard, _: SqliteStore) -> Refusal:
        await charge(guard, Recipient())
        return await refusal_of(write(guard, Document()))

    assert with_guard(tmp_path, scenario) is Refusal.MISMATCH


def test_EL6_an_exception_never_permits_a_second_run(tmp_path: Path) -> None:
    """Whether it happened is not known: the next call is refused, also by a store opened anew."""
    recipient = Recipient(ConnectionResetError("no answer"))

    async def first(guard: EffectGuard, _: SqliteStore) -> Refusal:
        with pytest.raises(EffectUnknown, match="no answer"):
            await charge(guard, recipient)
        return await refusal_of(charge(guard, recipient))

    assert with_guard(tmp_path, first) is Refusal.OUTCOME_UNKNOWN
    assert with_guard(tmp_path, lambda guard, _: refusal_of(charge(guard, recipient))) is Refusal.OUTCOME_UNKNOWN
    assert recipient.count == 1


def test_an_idempotent_effect_runs_again_with_the_same_key(tmp_path: Path) -> None:
    """The recipient gets the same idempotency key on each attempt."""
    recipient = Recipient(ConnectionResetError("no answer"))

    async def scenario(guard: EffectGuard, _: SqliteStore) -> str:
        with pytest.raises(EffectUnknown):
            await charge(guard, recipient, idempotent=True)
        return await charge(guard, recipient, idempotent=True)

    assert with_guard(tmp_path, scenario) == "ch_2"
    assert len(recipient.keys) == 2
    assert len(set(recipient.keys)) == 1


def test_not_applied_withdraws_the_first_intent(tmp_path: Path) -> None:
    """Nothing happened, so nothing stands, and the next call starts afresh."""
    recipient = Recipient(NotApplied("busy"))

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[Refusal, object, str]:
        code = await refusal_of(charge(guard, recipient))
        return code, await store.evidence(KEY, 0), await charge(guard, recipient)

    assert with_guard(tmp_path, scenario) == (Refusal.NOT_APPLIED, None, "ch_2")


def test_not_applied_on_a_replay_leaves_the_inherited_intent(tmp_path: Path) -> None:
    """It speaks of this attempt only: what the first one did is as unknown as before."""
    recipient = Recipient(ConnectionResetError("no answer"), NotApplied("busy"))

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[Refusal, int]:
        with pytest.raises(EffectUnknown):
            await charge(guard, recipient, idempotent=True)
        code = await refusal_of(charge(guard, recipient, idempotent=True))
        evidence = await store.evidence(KEY, 0)
        assert evidence is not None
        return code, evidence.attempt

    assert with_guard(tmp_path, scenario) == (Refusal.NOT_APPLIED, 2)


def test_E13_calls_at_once_share_one_run_and_get_copies(tmp_path: Path) -> None:
    """One execution for all who ask in this process; what one does to its value the others do not see (EL16, SK-E6)."""
    ran: list[int] = []
    entered = asyncio.Event()

    async def scenario(guard: EffectGuard, _: SqliteStore) -> list[list[int]]:
        async def effect() -> list[int]:
            ran.append(1)
            entered.set()
            await asyncio.sleep(0)
            return [1, 2]

        codec = codec_for(list[int])
        calls = (guard.unchecked(KEY, codec, fingerprint="f", effect=effect) for _ in range(8))
        results = await asyncio.gather(*calls)
        results[0].append(3)
        return results

    results = with_guard(tmp_path, scenario)
    assert results == [[1, 2, 3]] + [[1, 2]] * 7
    assert ran == [1]


def test_a_caller_that_is_cancelled_does_not_cancel_the_effect(tmp_path: Path) -> None:
    """The effect ends by itself and its outcome is recorded; another waiter is not disturbed."""
    goes_on = asyncio.Event()
    entered = asyncio.Event()

    async def scenario(guard: EffectGuard, _: SqliteStore) -> tuple[str, str]:
        async def effect() -> str:
            entered.set()
            await goes_on.wait()
            return "done"

        first = asyncio.create_task(guard.unchecked(KEY, TEXT, fingerprint="f", effect=effect))
        await entered.wait()
        second = asyncio.create_task(guard.unchecked(KEY, TEXT, fingerprint="f", effect=effect))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        goes_on.set()
        return await second, await guard.unchecked(KEY, TEXT, fingerprint="f", effect=effect)

    assert with_guard(tmp_path, scenario) == ("done", "done")


def test_SK_E4_a_cancel_before_the_intent_leaves_nothing(tmp_path: Path) -> None:
    """The plan was under way: no intent, no effect; a later call runs."""
    planning = asyncio.Event()
    goes_on = asyncio.Event()
    document = Document()

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[object, int, str]:
        async def plan(token: int) -> Verifiable[str]:
            planning.set()
            await goes_on.wait()
            return document.plan(token)

        call = asyncio.create_task(guard.verifiable(KEY, TEXT, fingerprint="f", plan=plan, probe=document.probe))
        await planning.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        goes_on.set()
        await guard.drain()
        left, writes = await store.evidence(KEY, 0), document.writes
        return left, writes, await write(guard, document)

    assert with_guard(tmp_path, scenario) == (None, 0, "to ax")


def test_a_fenced_target_refuses_the_call(tmp_path: Path) -> None:
    """The intent stays for the successor."""

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[Refusal, bool]:
        async def effect(token: int) -> str:
            raise TargetFenced("books", "scope", token, 9)

        async def forget(token: int) -> None:
            return None

        code = await refusal_of(guard.applied_keys(KEY, TEXT, fingerprint="f", effect=effect, forget=forget))
        return code, await store.evidence(KEY, 0) is not None

    assert with_guard(tmp_path, scenario) == (Refusal.STALE_TOKEN, True)


def test_an_outcome_over_the_cap_is_returned_and_then_refused(tmp_path: Path) -> None:
    """This call returns the value; a replay is refused and never runs again (SK-E7)."""
    ran: list[int] = []

    async def call(guard: EffectGuard) -> str:
        async def effect() -> str:
            ran.append(1)
            return "x" * (OUTCOME_BYTES + 1)

        return await guard.unchecked(KEY, TEXT, fingerprint="f", effect=effect, idempotent=True)

    assert len(with_guard(tmp_path, lambda guard, _: call(guard))) == OUTCOME_BYTES + 1
    assert with_guard(tmp_path, lambda guard, _: refusal_of(call(guard))) is Refusal.OUTCOME_OMITTED
    assert ran == [1]


def test_E10_an_outcome_that_cannot_be_encoded_leaves_the_intent(tmp_path: Path) -> None:
    """The error names effect and path, and carries the outcome; the effect is not run a second time (EL8)."""
    ran: list[int] = []

    async def call(guard: EffectGuard) -> dict[str, list[int]]:
        async def effect() -> dict[str, list[int]]:
            ran.append(1)
            return {"a": [1, cast("int", object())]}

        return await guard.unchecked(KEY, codec_for(dict[str, list[int]]), fingerprint="f", effect=effect)

    async def scenario(guard: EffectGuard, _: SqliteStore) -> tuple[str, Refusal]:
        with pytest.raises(EffectNotRecorded) as caught:
            await call(guard)
        return str(caught.value), await refusal_of(call(guard))

    text, code = with_guard(tmp_path, scenario)
    assert "orders / o-1 / charge" in text
    assert "a[1]" in text or "['a'][1]" in text
    assert code is Refusal.OUTCOME_UNKNOWN
    assert ran == [1]


def test_SK_S4_an_outcome_of_another_type_is_an_error_that_names_its_schema(tmp_path: Path) -> None:
    """The type changed with a deployment: the effect is not run again."""
    recipient = Recipient()
    ran: list[int] = []

    async def as_number(guard: EffectGuard) -> str:
        async def effect() -> int:
            ran.append(1)
            return 1

        with pytest.raises(OutcomeUnreadable) as caught:
            await guard.unchecked(KEY, codec_for(int), fingerprint="f", effect=effect)
        return str(caught.value)

    with_guard(tmp_path, lambda guard, _: charge(guard, recipient))
    text = with_guard(tmp_path, lambda guard, _: as_number(guard))

    assert TEXT.schema in text
    assert codec_for(int).schema in text
    assert ran == []


def test_release_lets_the_key_start_afresh(tmp_path: Path) -> None:
    """The work that could repeat is done; what comes next under that key is a new effect."""
    recipient = Recipient()

    async def scenario(guard: EffectGuard, _: SqliteStore) -> tuple[str, str]:
        first = await charge(guard, recipient)
        await guard.release(KEY)
        return first, await charge(guard, recipient)

    assert with_guard(tmp_path, scenario) == ("ch_1", "ch_2")


def test_release_refuses_while_the_outcome_is_unknown(tmp_path: Path) -> None:
    """What nobody knows is not thrown away."""
    recipient = Recipient(ConnectionResetError("no answer"))

    async def scenario(guard: EffectGuard, store: SqliteStore) -> int:
        with pytest.raises(EffectUnknown):
            await charge(guard, recipient)
        with pytest.raises(UnresolvedStands):
            await guard.release(KEY)
        return len(await store.unresolved())

    assert with_guard(tmp_path, scenario) == 1


def test_release_forgets_an_applied_key_at_its_target_first(tmp_path: Path) -> None:
    """Only a guard that knows the target can do that; another one says so."""
    order: list[str] = []

    async def scenario(guard: EffectGuard, store: SqliteStore) -> list[str]:
        async def effect(token: int) -> str:
            order.append("effect")
            return "x"

        async def forget(token: int) -> None:
            order.append("forget")
            assert await store.evidence(KEY, 0) is not None

        await guard.applied_keys(KEY, TEXT, fingerprint="f", effect=effect, forget=forget)
        with pytest.raises(ValueError, match="its target still keeps the key"):
            await EffectGuard(store).release(KEY)
        await guard.release(KEY)
        return order

    assert with_guard(tmp_path, scenario) == ["effect", "forget"]


def test_two_keys_never_share_an_idempotency_key(tmp_path: Path) -> None:
    """Nor do two stores, or two requests."""
    recipient = Recipient()

    async def scenario(guard: EffectGuard, _: SqliteStore) -> None:
        for call in ("a", "b"):
            key = EffectKey("orders", "o-1", call)
            await guard.unchecked(key, TEXT, fingerprint="f", effect=recipient.charge)

    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        with_guard(tmp_path / folder, scenario)
    assert len(set(recipient.keys)) == 4


def test_outside_an_effect_there_is_no_current_one() -> None:
    """Not a stale one either."""

    with pytest.raises(OutsideEffect):
        current_effect()


def test_a_plain_effect_knows_which_it_is(tmp_path: Path) -> None:
    """In its worker thread as well."""

    async def scenario(guard: EffectGuard, _: SqliteStore) -> str:
        return await guard.unchecked(KEY, TEXT, fingerprint="f", effect=lambda: str(current_effect().key))

    assert with_guard(tmp_path, scenario) == "orders / o-1 / charge"


def test_E13_EL19_processes_that_race_run_the_effect_once(tmp_path: Path) -> None:
    """Released together: one runs it, the others get the outcome or "in progress" at once; no raw database error."""
    log = tmp_path / "log"
    command = [sys.executable, "-c", CHILD, str(tmp_path / "s.db"), str(log), "0.2"]
    children = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    answers = [child.communicate("go\n", timeout=60) for child in children]

    assert log.read_text() == "ran\n"
    assert [errors for _, errors in answers] == [""] * 4
    assert {answer.strip() for answer, _ in answers} <= {"value", "in_progress"}
    assert any(answer.strip() == "value" for answer, _ in answers)
