"""Verifiable effects: what the target's digest says, and what is planned again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from effectgraph import (
    EffectGuard,
    EffectReplayRefused,
    EffectUnknown,
    Refusal,
    Verifiable,
    open_store,
)
from effectgraph.effects.limits import OUTCOME_BYTES
from effectgraph.effects.targets import TargetUnusable
from effectgraph.stores import SqliteStore
from effectgraph.stores.records import Claim
from guarded import KEY, TEXT, Document, refusal_of, with_guard, write


def test_a_plan_that_refuses_leaves_no_evidence(tmp_path: Path) -> None:
    """Its own error reaches the caller."""

    async def scenario(guard: EffectGuard, store: SqliteStore) -> object:
        def plan(token: int) -> Verifiable[str]:
            raise LookupError("old text not found")

        with pytest.raises(LookupError, match="old text not found"):
            await guard.verifiable(KEY, TEXT, fingerprint="f", plan=plan, probe=lambda token: "a")
        return await store.evidence(KEY, 0)

    assert with_guard(tmp_path, scenario) is None


def test_a_landed_change_is_found_by_its_digest(tmp_path: Path) -> None:
    """The effect raised after it had written: the target is asked, and the presumed value is the outcome."""
    document = Document()
    document.trouble.append(OSError("after the write"))

    async def scenario(guard: EffectGuard, _: SqliteStore) -> str:
        with pytest.raises(EffectUnknown):
            await write(guard, document)
        return await write(guard, document)

    assert with_guard(tmp_path, scenario) == "to ax"
    assert (document.content, document.writes) == ("ax", 1)


def test_a_change_that_did_not_land_is_planned_again(tmp_path: Path) -> None:
    """The digest is the one before: plan, replace the intent, run."""
    document = Document()

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[str, int]:
        def broken(token: int) -> None:
            raise OSError("before the write")

        def plan(token: int) -> Verifiable[str]:
            return Verifiable(before="a", after="ax", presumed="never", effect=broken)

        with pytest.raises(EffectUnknown):
            await guard.verifiable(KEY, TEXT, fingerprint="f", plan=plan, probe=document.probe)
        value = await write(guard, document)
        evidence = await store.evidence(KEY, 0)
        assert evidence is not None
        return value, evidence.attempt

    assert with_guard(tmp_path, scenario) == ("to ax", 2)
    assert document.writes == 1


def test_a_third_content_is_a_conflict_that_names_all(tmp_path: Path) -> None:
    """Somebody else changed the target: neither the one before nor the one after. The intent stays."""
    document = Document()
    document.trouble.append(OSError("after the write"))

    async def scenario(guard: EffectGuard, _: SqliteStore) -> str:
        with pytest.raises(EffectUnknown):
            await write(guard, document)
        document.content = "stranger"
        with pytest.raises(EffectReplayRefused, match="stranger") as caught:
            await write(guard, document)
        assert caught.value.code is Refusal.CONFLICT
        return str(caught.value)

    text = with_guard(tmp_path, scenario)
    assert "it was a before" in text
    assert "ax after" in text
    assert document.content == "stranger"


def test_the_earlier_plans_still_count(tmp_path: Path) -> None:
    """A replaced intent keeps what its predecessors would have left, each with its own value."""
    document = Document()

    async def scenario(guard: EffectGuard, _: SqliteStore) -> str:
        def planned(after: str, presumed: str) -> Callable[[int], Verifiable[str]]:
            def broken(token: int) -> None:
                raise OSError("before the write")

            return lambda token: Verifiable(before="a", after=after, presumed=presumed, effect=broken)

        for after in ("first", "second"):
            plan = planned(after, f"value of {after}")
            with pytest.raises(EffectUnknown):
                await guard.verifiable(KEY, TEXT, fingerprint="f", plan=plan, probe=document.probe)
        document.content = "first"
        return await write(guard, document)

    assert with_guard(tmp_path, scenario) == "value of first"
    assert document.writes == 0


def test_a_target_that_moves_between_probe_and_plan_is_probed_again(tmp_path: Path) -> None:
    """Else an append would land twice: the plan's `before` must be what the probe saw."""
    document = Document()
    document.trouble.append(OSError("after the write"))
    answers = ["a"]

    async def scenario(guard: EffectGuard, _: SqliteStore) -> str:
        with pytest.raises(EffectUnknown):
            await write(guard, document)

        def probe(token: int) -> str:
            return answers.pop() if answers else document.content

        return await guard.verifiable(KEY, TEXT, fingerprint="f", plan=document.plan, probe=probe)

    assert with_guard(tmp_path, scenario) == "to ax"
    assert (document.content, document.writes) == ("ax", 1)


def test_a_compare_and_set_that_refuses_withdraws_the_first_intent(tmp_path: Path) -> None:
    """The run that wrote it knows that nothing happened."""
    document = Document()

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[Refusal, object]:
        def plan(token: int) -> Verifiable[str]:
            planned = document.plan(token)
            document.content = "moved"
            return planned

        code = await refusal_of(guard.verifiable(KEY, TEXT, fingerprint="f", plan=plan, probe=document.probe))
        return code, await store.evidence(KEY, 0)

    assert with_guard(tmp_path, scenario) == (Refusal.CONFLICT, None)


def test_a_compare_and_set_that_refuses_on_a_replay_is_probed_once_more(tmp_path: Path) -> None:
    """A zombie of the first attempt landed meanwhile: its `after` is the outcome."""
    document = Document()

    async def scenario(guard: EffectGuard, _: SqliteStore) -> str:
        def plan(token: int) -> Verifiable[str]:
            planned = document.plan(token)

            def late(token: int) -> None:
                raise OSError("delayed")

            return Verifiable(before="a", after="ax", presumed=planned.presumed, effect=late)

        with pytest.raises(EffectUnknown):
            await guard.verifiable(KEY, TEXT, fingerprint="f", plan=plan, probe=document.probe)

        def plan_while_the_first_lands(token: int) -> Verifiable[str]:
            planned = document.plan(token)
            document.content = "ax"
            return planned

        return await guard.verifiable(KEY, TEXT, fingerprint="f", plan=plan_while_the_first_lands, probe=document.probe)

    assert with_guard(tmp_path, scenario) == "to ax"
    assert document.writes == 0


def test_an_intent_over_the_cap_is_refused_before_anything_runs(tmp_path: Path) -> None:
    """A verifiable effect's presumed value is part of its intent."""
    document = Document("a")

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[Refusal, object]:
        def plan(token: int) -> Verifiable[str]:
            return Verifiable(before="a", after="ax", presumed="x" * (OUTCOME_BYTES + 1), effect=document.setting("a"))

        code = await refusal_of(guard.verifiable(KEY, TEXT, fingerprint="f", plan=plan, probe=document.probe))
        return code, await store.evidence(KEY, 0)

    assert with_guard(tmp_path, scenario) == (Refusal.INTENT_TOO_LARGE, None)
    assert document.writes == 0


def test_an_unusable_target_reaches_the_caller(tmp_path: Path) -> None:
    """A plan that cannot read its target says so in its own words; nothing is left."""

    async def scenario(guard: EffectGuard, store: SqliteStore) -> object:
        def plan(token: int) -> Verifiable[str]:
            raise TargetUnusable("file", "is a folder", "name a file")

        with pytest.raises(TargetUnusable):
            await guard.verifiable(KEY, TEXT, fingerprint="f", plan=plan, probe=lambda token: "a")
        return await store.evidence(KEY, 0)

    assert with_guard(tmp_path, scenario) is None


def test_a_conflict_on_a_replay_says_what_the_target_said(tmp_path: Path) -> None:
    """A stranger came between the second plan and its effect: all digests are named, and the target's own words."""
    document = Document()

    async def scenario(guard: EffectGuard, _: SqliteStore) -> str:
        def failing(token: int) -> Verifiable[str]:
            def broken(token: int) -> None:
                raise OSError("before the write")

            return Verifiable(before="a", after="ax", presumed="never", effect=broken)

        with pytest.raises(EffectUnknown):
            await guard.verifiable(KEY, TEXT, fingerprint="f", plan=failing, probe=document.probe)

        def overtaken(token: int) -> Verifiable[str]:
            planned = document.plan(token)
            document.content = "stranger"
            return planned

        with pytest.raises(EffectReplayRefused) as caught:
            await guard.verifiable(KEY, TEXT, fingerprint="f", plan=overtaken, probe=document.probe)
        assert caught.value.code is Refusal.CONFLICT
        return str(caught.value)

    text = with_guard(tmp_path, scenario)
    assert "the target is stranger; it was a before" in text
    assert "target document: expected a, found stranger" in text
    assert document.writes == 0


def test_evidence_that_goes_while_a_call_plans_is_looked_at_again(tmp_path: Path) -> None:
    """Another process withdrew the intent meanwhile: the call finds nothing, and starts afresh."""
    document = Document()
    plans: list[int] = []

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[str, int]:
        def failing(token: int) -> Verifiable[str]:
            def broken(token: int) -> None:
                raise OSError("before the write")

            return Verifiable(before="a", after="ax", presumed="never", effect=broken)

        with pytest.raises(EffectUnknown):
            await guard.verifiable(KEY, TEXT, fingerprint="f", plan=failing, probe=document.probe)

        async def plan(token: int) -> Verifiable[str]:
            plans.append(token)
            if len(plans) == 1:
                async with open_store(tmp_path / "s.db") as other:
                    claim = Claim(thread=KEY.scope, incarnation=0, token=0, owner=other.owner)
                    await other.withdraw(claim, KEY, seen=2)
            return document.plan(token)

        value = await guard.verifiable(KEY, TEXT, fingerprint="f", plan=plan, probe=document.probe)
        evidence = await store.evidence(KEY, 0)
        assert evidence is not None
        return value, evidence.attempt

    assert with_guard(tmp_path, scenario) == ("to ax", 1)
    assert (len(plans), document.writes) == (2, 1)
