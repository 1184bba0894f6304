"""The calls of a node: keys, contexts, refusals, history."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from counting_graphs import Count, change
from effectgraph import (
    END,
    BlockingContext,
    Context,
    EffectReplayRefused,
    Graph,
    Refusal,
    Run,
    Runtime,
    Update,
    open_store,
    tool,
)
from effectgraph.graph import CallNotAwaited, CallOutOfOrder
from effectgraph.stores import ClaimLost


def test_a_plain_node_runs_in_a_worker_thread(tmp_path: Path) -> None:
    """It gets a context whose calls block."""
    graph = Graph("plain", version=1, state=Count)

    @tool.unchecked()
    def greet(name: str) -> str:
        return f"hello {name}"

    @graph.node()
    def act(state: Count, ctx: BlockingContext) -> Update[Count]:
        return change(notes=(ctx.call(greet, state.name), ctx.at("again").call(greet, name="you")))

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> Run[Count]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            return await runtime.run("t", change(name="x"))

    assert asyncio.run(scenario()).state.notes == ("hello x", "hello you")


def test_many_plain_nodes_do_not_starve_their_own_effects(tmp_path: Path) -> None:
    """More threads of plain nodes than worker threads, each waiting for a plain effect, all end."""
    graph = Graph("plain", version=1, state=Count)

    @tool.unchecked(idempotent=True)
    def greet(name: str) -> str:
        return f"hello {name}"

    @graph.node()
    def act(state: Count, ctx: BlockingContext) -> Update[Count]:
        return change(notes=(ctx.call(greet, state.name),))

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> list[Run[Count]]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            return await asyncio.gather(*(runtime.run(f"t{i}", change(name=f"n{i}")) for i in range(40)))

    assert [run.state.notes for run in asyncio.run(scenario())] == [(f"hello n{i}",) for i in range(40)]


def test_calls_get_their_keys_in_program_order(tmp_path: Path) -> None:
    """Two equal calls are two effects, and gather does not change whose key is whose (E15, E19)."""
    ran: list[str] = []
    graph = Graph("order", version=1, state=Count)

    @tool.unchecked()
    async def effect(name: str) -> str:
        ran.append(name)
        return f"{name}{len(ran)}"

    @graph.node()
    async def act(state: Count, ctx: Context) -> Update[Count]:
        twice = [await ctx.call(effect, "a"), await ctx.call(effect, "a")]
        both = await asyncio.gather(ctx.call(effect, "b"), ctx.call(effect, "c"))
        if len(ran) == 4 and not failed:
            failed.append(True)
            raise LookupError("once")
        return change(notes=(*twice, *both))

    failed: list[bool] = []
    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> Run[Count]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            await runtime.run("t", change(name="x"))
            return await runtime.retry("t")

    assert asyncio.run(scenario()).state.notes == ("a1", "a2", "b3", "c4")
    assert ran == ["a", "a", "b", "c"]


def test_a_call_from_another_task_is_refused_without_a_branch(tmp_path: Path) -> None:
    """It has no stable order; `at` gives it a branch of keys of its own."""
    ran: list[str] = []
    graph = Graph("tasks", version=1, state=Count)

    @tool.unchecked()
    async def effect(name: str) -> str:
        ran.append(name)
        return name

    @graph.node()
    async def act(state: Count, ctx: Context) -> Update[Count]:
        async def helper(inner: Context) -> str:
            return await inner.call(effect, "h")

        with pytest.raises(CallOutOfOrder):
            await asyncio.create_task(helper(ctx))
        return change(notes=(await asyncio.create_task(helper(ctx.at("h/1"))),))

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> Run[Count]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            return await runtime.run("t", change(name="x"))

    assert asyncio.run(scenario()).state.notes == ("h",)
    assert ran == ["h"]


def test_a_call_that_is_never_awaited_fails_the_task(tmp_path: Path) -> None:
    """It did not run, so the task commits nothing."""
    ran: list[str] = []
    graph = Graph("forgot", version=1, state=Count)

    @tool.unchecked()
    async def effect() -> str:
        ran.append("x")
        return "x"

    @graph.node()
    async def act(state: Count, ctx: Context) -> Update[Count]:
        forgotten = ctx.call(effect)
        del forgotten
        return change(notes=("fine",))

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> Run[Count]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            return await runtime.run("t", change(name="x"))

    run = asyncio.run(scenario())
    assert run.failures[0].error.endswith(CallNotAwaited.__name__)
    assert run.state.notes == ()
    assert ran == []


def test_history_says_how_each_effect_was_settled(tmp_path: Path) -> None:
    """Key, tool and the way it got its outcome, not the outcome itself."""
    graph = Graph("history", version=1, state=Count)

    @tool.unchecked()
    async def effect() -> str:
        return "secret"

    @graph.node()
    async def act(state: Count, ctx: Context) -> Update[Count]:
        return change(total=1, notes=(await ctx.call(effect),))

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> list[tuple[object, ...]]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            await runtime.run("t", change(name="x"))
            return [
                (entry.step, entry.node, entry.fields, [(e.call, e.tool, e.how and e.how.value) for e in entry.effects])
                for entry in await runtime.history("t")
            ]

    assert asyncio.run(scenario()) == [(1, "act", ("total", "notes"), [("1.effect", "effect", "run")])]


def test_a_refusal_reaches_the_node_as_an_answer(tmp_path: Path) -> None:
    """A node may catch it and go on; the effect stays listed as unresolved after its task's commit."""
    graph = Graph("refused", version=1, state=Count)
    ran: list[str] = []

    @tool.unchecked()
    async def effect() -> str:
        ran.append("x")
        raise ConnectionResetError("no answer")

    @graph.node(attempts=1)
    async def act(state: Count, ctx: Context) -> Update[Count]:
        try:
            return change(notes=(await ctx.call(effect),))
        except EffectReplayRefused as refused:
            return change(notes=(refused.code.value,))

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> tuple[Run[Count], list[str]]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            await runtime.run("t", change(name="x"))
            run = await runtime.retry("t")
            return run, [str(evidence.key) for evidence in await store.unresolved()]

    run, unresolved = asyncio.run(scenario())
    assert run.state.notes == (Refusal.OUTCOME_UNKNOWN.value,)
    assert unresolved == ["t / 1.act / 1.effect"]
    assert ran == ["x"]


def test_E15_a_branch_asked_for_twice_goes_on_with_its_keys(tmp_path: Path) -> None:
    """Two equal calls through `at` of one name are two effects; a named key is given once."""
    ran: list[str] = []
    graph = Graph("twice", version=1, state=Count)

    @tool.unchecked()
    async def effect(name: str) -> str:
        ran.append(name)
        return name

    @graph.node()
    async def act(state: Count, ctx: Context) -> Update[Count]:
        for _ in range(2):
            await ctx.at("copy").call(effect, "a")
        ctx.key("mine")
        with pytest.raises(ValueError, match="a name of its own"):
            ctx.key("mine")
        return change(total=len(ran))

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> Run[Count]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            return await runtime.run("t", change(name="x"))

    assert asyncio.run(scenario()).state.total == 2
    assert ran == ["a", "a"]


def test_a_successor_in_the_same_process_does_not_wait_for_the_old_run(tmp_path: Path) -> None:
    """An intent with an older token is the successor's to settle, whether the old run still breathes or not."""
    entered = asyncio.Event()
    goes_on = asyncio.Event()
    ran: list[str] = []
    graph = Graph("successor", version=1, state=Count)

    @tool.unchecked(idempotent=True)
    async def effect() -> int:
        ran.append("x")
        if len(ran) == 1:
            entered.set()
            await goes_on.wait()
        return len(ran)

    @graph.node()
    async def act(state: Count, ctx: Context) -> Update[Count]:
        return change(total=await ctx.call(effect))

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> tuple[int, int]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            old = asyncio.create_task(runtime.run("t", change(name="x")))
            await entered.wait()
            await runtime.take("t", "it hangs")
            recovered = await runtime.recover()
            goes_on.set()
            with pytest.raises(ClaimLost):
                await old
            return recovered, (await runtime.state("t")).total

    assert asyncio.run(scenario()) == (1, 2)
