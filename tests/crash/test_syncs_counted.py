"""What an effect costs in syncs of the store, counted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import attrs
import pytest

from effectgraph import END, Context, Graph, Runtime, Status, Update, Verifiable, codec_for, open_store, updates
from effectgraph.stores.sqlite.writer import Counts

FEW: Final = 20
MANY: Final = 120
Effect = Callable[[Context, int], Awaitable[int]]


@attrs.frozen(kw_only=True)
class Sum:
    """What the effects answered, added up."""

    total: int = 0


async def verifiable(ctx: Context, number: int) -> int:
    """An effect whose target answers by digest."""
    digest = ["before"]

    async def plan(token: int) -> Verifiable[int]:
        return Verifiable(before="before", after="after", presumed=number, effect=effect)

    async def effect(token: int) -> None:
        digest[0] = "after"

    async def probe(token: int) -> str:
        return digest[0]

    key = ctx.key(f"v{number}")
    return await ctx.guard.verifiable(key, codec_for(int), fingerprint="f", plan=plan, probe=probe)


async def applied_keys(ctx: Context, number: int) -> int:
    """An effect whose target keeps its key."""

    async def effect(token: int) -> int:
        return number

    async def forget(token: int) -> None:
        return None

    key = ctx.key(f"a{number}")
    return await ctx.guard.applied_keys(key, codec_for(int), fingerprint="f", effect=effect, forget=forget)


def unchecked(*, idempotent: bool = False, costly: bool = False) -> Effect:
    """An effect that only its caller remembers."""

    async def run(ctx: Context, number: int) -> int:
        async def effect() -> int:
            return number

        return await ctx.guard.unchecked(
            ctx.key(f"u{number}"),
            codec_for(int),
            fingerprint="f",
            effect=effect,
            idempotent=idempotent,
            costly=costly,
        )

    return run


def counts_of(path: Path, effect: Effect, number: int, *, at_once: bool) -> Counts:
    """What the store wrote for one run of a task with this many effects."""
    graph = Graph("sum", version=1, state=Sum)

    @graph.node()
    async def act(state: Sum, ctx: Context) -> Update[Sum]:
        if at_once:
            return updates(Sum)(total=sum(await asyncio.gather(*(effect(ctx, i) for i in range(number)))))
        return updates(Sum)(total=sum([await effect(ctx, i) for i in range(number)]))

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> Counts:
        async with open_store(path) as store, Runtime(graph, store) as runtime:
            run = await runtime.run("t")
            assert (run.status, run.state.total) == (Status.DONE, sum(range(number)))
            return store.counts

    return asyncio.run(scenario())


def syncs_per_effect(tmp_path: Path, effect: Effect, *, at_once: bool = False) -> float:
    """What each further effect costs: what a run costs anyway is left out."""
    few = counts_of(tmp_path / "few.db", effect, FEW, at_once=at_once)
    many = counts_of(tmp_path / "many.db", effect, MANY, at_once=at_once)
    return (many.synced_transactions - few.synced_transactions) / (MANY - FEW)


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        pytest.param(verifiable, 1, id="verifiable"),
        pytest.param(applied_keys, 1, id="applied_keys"),
        pytest.param(unchecked(idempotent=True), 1, id="idempotent"),
        pytest.param(unchecked(idempotent=True, costly=True), 2, id="costly"),
        pytest.param(unchecked(), 2, id="unchecked"),
    ],
)
def test_one_effect_after_another_costs_as_many_syncs_as_it_must(effect: Effect, expected: int, tmp_path: Path) -> None:
    """One where the target, or the recipient, remembers the outcome; two where nobody else does."""

    assert syncs_per_effect(tmp_path, effect) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(
    "effect",
    [
        pytest.param(verifiable, id="verifiable"),
        pytest.param(applied_keys, id="applied_keys"),
        pytest.param(unchecked(idempotent=True), id="idempotent"),
        pytest.param(unchecked(), id="unchecked"),
    ],
)
def test_effects_at_once_share_their_syncs(effect: Effect, tmp_path: Path) -> None:
    """With many in flight a sync is good for all that wait."""

    assert syncs_per_effect(tmp_path, effect, at_once=True) < 0.2


def test_a_run_without_effects_costs_two_syncs(tmp_path: Path) -> None:
    """One when it is made and claimed, one when the claim is given back; commits ride along."""

    counts = counts_of(tmp_path / "s.db", unchecked(), 0, at_once=False)

    assert counts.synced_transactions == 2
