"""What is on disk when a run returns, and what a failed write does to a run."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
from pathlib import Path

import pytest

from counting_graphs import Count, change, loop_graph
from effectgraph import END, Context, Graph, Run, Runtime, StoreError, Update, codec_for, open_store, tool
from effectgraph.stores import ClaimLost, ThreadUnknown


def test_a_run_is_synced_when_it_returns(tmp_path: Path) -> None:
    """One sync to make and claim the thread, one to give the claim back; all commits ride along."""

    async def scenario() -> int:
        async with open_store(tmp_path / "s.db") as store, Runtime(loop_graph(20), store) as runtime:
            await runtime.run("t", change(name="x"))
            return store.counts.synced_transactions

    assert asyncio.run(scenario()) == 2


def test_a_commit_that_cannot_be_written_fails_the_run(tmp_path: Path) -> None:
    """Nobody waits for a queued commit, but a run never says that it is done when one was refused."""

    async def scenario() -> Count:
        async with open_store(tmp_path / "s.db") as store, Runtime(loop_graph(3), store) as runtime:
            await runtime.run("first", change(name="x"))
            with sqlite3.connect(tmp_path / "s.db") as other:
                other.execute("CREATE TRIGGER full BEFORE INSERT ON history BEGIN SELECT RAISE(ABORT, 'no room'); END")
            other.close()
            with pytest.raises(StoreError, match="no room"):
                await runtime.run("second", change(name="y"))
            with sqlite3.connect(tmp_path / "s.db") as other:
                other.execute("DROP TRIGGER full")
            other.close()
            assert await runtime.recover() == 1
            return await runtime.state("second")

    assert asyncio.run(scenario()) == Count(name="y", total=3, notes=("n0", "n1", "n2"))


def test_a_stale_key_is_forgotten_before_the_effect_and_its_own_after_the_run(tmp_path: Path) -> None:
    """Forgotten at the target only once the outcome is on disk, in a batch that no effect waits for."""
    seen: list[str] = []
    graph = Graph("applied", version=1, state=Count)

    @graph.node()
    async def act(state: Count, ctx: Context) -> Update[Count]:
        for name in ("a", "b"):

            async def effect(token: int, name: str = name) -> int:
                seen.append(f"apply {name}")
                return 1

            async def forget(token: int, name: str = name) -> None:
                seen.append(f"forget {name}")

            key = ctx.key(name)
            await ctx.guard.applied_keys(key, codec_for(int), fingerprint="f", effect=effect, forget=forget)
        return change(total=2)

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> None:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            await runtime.run("t", change(name="x"))

    asyncio.run(scenario())
    assert seen == ["forget a", "apply a", "forget b", "apply b", "forget a", "forget b"]


def test_E14_a_thread_made_anew_starts_clean(tmp_path: Path) -> None:
    """Its first effect runs again, under a higher token and with another idempotency key."""
    ran: list[int] = []
    graph = Graph("anew", version=1, state=Count)

    @tool.unchecked()
    async def effect() -> int:
        ran.append(len(ran))
        return len(ran)

    @graph.node()
    async def act(state: Count, ctx: Context) -> Update[Count]:
        return change(total=await ctx.call(effect))

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> tuple[Run[Count], list[int]]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            await runtime.run("t", change(name="x"))
            tokens = [(await store.read("t")).token]
            await runtime.delete("t")
            run = await runtime.run("t", change(name="x"))
            return run, [*tokens, (await store.read("t")).token]

    run, tokens = asyncio.run(scenario())
    assert run.state.total == 2
    assert tokens == sorted(set(tokens))


def test_E21_a_commit_after_the_thread_was_deleted_is_refused(tmp_path: Path) -> None:
    """The thread stays absent."""
    graph = Graph("late", version=1, state=Count)
    entered = asyncio.Event()
    goes_on = asyncio.Event()

    @graph.node()
    async def act(state: Count, ctx: Context) -> Update[Count]:
        entered.set()
        await goes_on.wait()
        return change(total=1)

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> None:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            run = asyncio.create_task(runtime.run("t", change(name="x")))
            await entered.wait()
            await runtime.take("t", "to delete it")
            await runtime.delete("t")
            goes_on.set()
            with pytest.raises(ClaimLost):
                await run
            with pytest.raises(ThreadUnknown):
                await runtime.state("t")

    asyncio.run(scenario())


def test_over_a_store_that_syncs_all_each_step_is_on_disk_before_the_next(tmp_path: Path) -> None:
    """A run waits for each commit: the store has synced as often as steps have ended, and not only at the end."""
    synced: list[int] = []
    graph = Graph("all", version=1, state=Count)

    async def scenario() -> None:
        async with open_store(tmp_path / "s.db", sync="all") as store:

            @graph.node()
            async def count(state: Count, ctx: Context) -> Update[Count]:
                synced.append(store.counts.synced_transactions)
                return change(total=state.total + 1)

            def again(state: Count) -> bool:
                return state.total < 5

            graph.start(count)
            graph.branch(count, again).to({True: count, False: END})
            async with Runtime(graph, store) as runtime:
                await runtime.run("t", change(name="x"))

    asyncio.run(scenario())
    assert [later - earlier for earlier, later in itertools.pairwise(synced)] == [1] * 4
