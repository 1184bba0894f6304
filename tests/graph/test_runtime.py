"""Runs of threads: steps, loops, definitions that changed, take and recover."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import attrs
import pytest

from counting_graphs import Count, Route, change, failing_graph, loop_graph
from effectgraph import (
    END,
    BlockingContext,
    Context,
    Graph,
    GraphInvalid,
    Run,
    Runtime,
    Status,
    Update,
    open_store,
    tool,
    updates,
)
from effectgraph.graph import GraphChanged, InputMissing, RuntimeClosed
from effectgraph.stores import ClaimHeld, ClaimLost, ThreadUnknown


def test_a_loop_runs_until_its_router_ends_it(tmp_path: Path) -> None:
    """Each step reads the committed state of the step before."""

    async def scenario() -> Run[Count]:
        async with open_store(tmp_path / "s.db") as store, Runtime(loop_graph(200), store) as runtime:
            return await runtime.run("t", change(name="x"))

    run = asyncio.run(scenario())
    assert run.status is Status.DONE
    assert run.state == Count(name="x", total=200, notes=tuple(f"n{i}" for i in range(200)))


def test_the_state_is_on_disk_when_a_run_returns(tmp_path: Path) -> None:
    """Another opening of the store reads what the run returned."""

    async def scenario() -> tuple[Count, Count]:
        async with open_store(tmp_path / "s.db") as store, Runtime(loop_graph(3), store) as runtime:
            first = await runtime.run("t", change(name="x"))
        async with open_store(tmp_path / "s.db") as store, Runtime(loop_graph(3), store) as runtime:
            return first.state, await runtime.state("t")

    ran, read = asyncio.run(scenario())
    assert ran == read


def test_a_finished_thread_takes_its_input_as_an_update(tmp_path: Path) -> None:
    """The second run goes on from the state of the first, at the graph's start."""

    async def scenario() -> Run[Count]:
        async with open_store(tmp_path / "s.db") as store, Runtime(loop_graph(3), store) as runtime:
            await runtime.run("t", change(name="x"))
            return await runtime.run("t", change(total=1, notes=("second",)))

    run = asyncio.run(scenario())
    assert run.state.total == 3
    assert run.state.notes == ("n0", "n1", "n2", "second", "n1", "n2")


def test_a_new_thread_needs_what_is_given(tmp_path: Path) -> None:
    """The error names the field; nothing is stored, so the id is still free."""

    async def scenario() -> Run[Count]:
        async with open_store(tmp_path / "s.db") as store, Runtime(loop_graph(1), store) as runtime:
            with pytest.raises(InputMissing, match="name"):
                await runtime.run("t")
            with pytest.raises(ThreadUnknown):
                await runtime.state("t")
            return await runtime.run("t", change(name="x"))

    assert asyncio.run(scenario()).status is Status.DONE


def test_G04_what_a_node_does_to_its_input_changes_nothing(tmp_path: Path) -> None:
    """A node that appends to the list it was given, and returns nothing, has changed nothing."""

    @attrs.define(kw_only=True)
    class Basket:
        items: list[str] = attrs.Factory(list[str])

    graph = Graph("basket", version=1, state=Basket)

    @graph.node()
    async def act(state: Basket, ctx: Context) -> None:
        state.items.append("stray")

    graph.start(act)
    graph.edge(act, END)
    items = ["mine"]

    async def scenario() -> tuple[Basket, Basket]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            run = await runtime.run("t", updates(Basket)(items=items))
            items.append("later")
            return run.state, await runtime.state("t")

    ran, read = asyncio.run(scenario())
    assert ran.items == read.items == ["mine"]


def test_G15_a_thread_of_another_definition_is_refused_by_name(tmp_path: Path) -> None:
    """A node that is gone, another version, another graph: never zero nodes and "done"."""
    runs: list[str] = []

    async def scenario() -> None:
        async with open_store(tmp_path / "s.db") as store:
            async with Runtime(failing_graph(runs), store) as runtime:
                await runtime.run("t", change(name="x"))
            for other, said in (
                (loop_graph(1, name="failing"), "runs node second"),
                (loop_graph(1, name="failing", version=2), "version 1"),
                (loop_graph(1, name="other"), "graph failing"),
            ):
                async with Runtime(other, store) as runtime:
                    with pytest.raises(GraphChanged, match=said):
                        await runtime.retry("t")
            async with Runtime(failing_graph(runs), store) as runtime:
                assert (await runtime.retry("t")).status is Status.DONE

    asyncio.run(scenario())


def test_take_fences_the_run_that_goes_on(tmp_path: Path) -> None:
    """The old run's commit is refused; recover runs the thread to its end."""
    graph = Graph("slow", version=1, state=Count)
    entered = asyncio.Event()
    goes_on = asyncio.Event()

    @graph.node()
    async def act(state: Count, ctx: Context) -> Update[Count]:
        if not entered.is_set():
            entered.set()
            await goes_on.wait()
        return change(notes=("done",))

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> tuple[int, Count]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            old = asyncio.create_task(runtime.run("t", change(name="x")))
            await entered.wait()
            async with open_store(tmp_path / "s.db") as other_store, Runtime(graph, other_store) as other:
                assert await other.recover() == 0
                with pytest.raises(ClaimHeld):
                    await other.run("t", change(total=1))
                await other.take("t", "it hangs")
                recovered = await other.recover()
            goes_on.set()
            with pytest.raises(ClaimLost):
                await old
            return recovered, await runtime.state("t")

    recovered, state = asyncio.run(scenario())
    assert recovered == 1
    assert state.notes == ("done",)


def test_leaving_the_runtime_lets_its_threads_be_recovered(tmp_path: Path) -> None:
    """A run is stopped before its next task; its claim is given back and nothing committed is lost."""
    under_way = asyncio.Event()
    graph = Graph("loop", version=1, state=Count)

    @graph.node()
    async def count(state: Count, ctx: Context) -> Update[Count]:
        if state.total == 10:
            under_way.set()
        await asyncio.sleep(0)
        return change(total=state.total + 1, notes=(f"n{state.total}",))

    def again(state: Count) -> Route:
        return "again"

    graph.start(count)
    graph.branch(count, again).to({"again": count, "end": END})

    async def scenario() -> Count:
        async with open_store(tmp_path / "s.db") as store:
            async with Runtime(graph, store) as runtime:
                run = asyncio.create_task(runtime.run("t", change(name="x")))
                await under_way.wait()
            with pytest.raises(RuntimeClosed):
                await run
            async with Runtime(loop_graph(1), store) as runtime:
                assert await runtime.recover() == 1
                return await runtime.state("t")

    state = asyncio.run(scenario())
    assert len(state.notes) == state.total > 10


def test_a_runtime_is_used_inside_its_block(tmp_path: Path) -> None:
    """Before and after, every method says so."""

    async def scenario() -> None:
        async with open_store(tmp_path / "s.db") as store:
            runtime = Runtime(loop_graph(1), store)
            with pytest.raises(RuntimeClosed):
                await runtime.recover()

    asyncio.run(scenario())


def test_a_graph_is_checked_when_the_runtime_opens(tmp_path: Path) -> None:
    """Everything that is wrong is told at once, before anything runs."""
    graph = Graph("wrong", version=0, state=Count)

    async def scenario() -> None:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store):
            raise AssertionError("it opened")

    with pytest.raises(GraphInvalid) as caught:
        asyncio.run(scenario())
    assert len(caught.value.problems) >= 2


def test_leaving_the_runtime_does_not_hold_up_a_plain_node(tmp_path: Path) -> None:
    """A plain node in the middle of its calls gets them answered while the runtime closes, and commits."""
    entered = threading.Event()
    goes_on = threading.Event()
    graph = Graph("plain", version=1, state=Count)

    @tool.read_only()
    async def look() -> str:
        return "seen"

    @graph.node()
    def act(state: Count, ctx: BlockingContext) -> Update[Count]:
        entered.set()
        goes_on.wait()
        return change(notes=(ctx.call(look),))

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> Run[Count]:
        async with open_store(tmp_path / "s.db") as store:
            async with Runtime(graph, store) as runtime:
                run = asyncio.create_task(runtime.run("t", change(name="x")))
                await asyncio.to_thread(entered.wait)
                asyncio.get_running_loop().call_later(0.01, goes_on.set)
            return await run

    assert asyncio.run(scenario()).state.notes == ("seen",)
