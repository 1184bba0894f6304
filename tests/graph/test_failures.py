"""Tasks that fail: attempts, retries, what is stored of a failure."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from counting_graphs import Count, Route, change, failing_graph
from effectgraph import (
    END,
    Context,
    Graph,
    NotApplied,
    Run,
    Runtime,
    Status,
    Update,
    open_store,
    tool,
)
from effectgraph.graph import ThreadNotReady


def test_a_failed_node_is_in_the_result_and_can_be_retried(tmp_path: Path) -> None:
    """What was committed stays; only the failed task runs again."""
    runs: list[str] = []

    async def scenario() -> tuple[Run[Count], Run[Count]]:
        async with open_store(tmp_path / "s.db") as store, Runtime(failing_graph(runs), store) as runtime:
            failed = await runtime.run("t", change(name="x"))
            return failed, await runtime.retry("t")

    failed, retried = asyncio.run(scenario())
    assert failed.status is Status.FAILED
    assert [(f.task, f.node, f.error, f.text) for f in failed.failures] == [
        ("2.second", "second", "builtins.LookupError", "try 1")
    ]
    assert failed.state.notes == ("first",)
    assert retried.status is Status.DONE
    assert retried.state.notes == ("first", "second")
    assert runs == ["first", "second", "second"]


def test_a_node_is_tried_as_often_as_it_says(tmp_path: Path) -> None:
    """Three attempts are three in total."""
    runs: list[str] = []

    async def scenario() -> Run[Count]:
        graph = failing_graph(runs, attempts=3, failures=9)
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            return await runtime.run("t", change(name="x"))

    assert asyncio.run(scenario()).status is Status.FAILED
    assert runs == ["first", "second", "second", "second"]


def test_a_thread_that_is_not_finished_says_what_to_call(tmp_path: Path) -> None:
    """run() on a failed thread names retry, retry() on a finished one names run."""
    runs: list[str] = []

    async def scenario() -> None:
        async with open_store(tmp_path / "s.db") as store, Runtime(failing_graph(runs), store) as runtime:
            await runtime.run("t", change(name="x"))
            with pytest.raises(ThreadNotReady, match=r"retry\(thread\)"):
                await runtime.run("t", change(total=1))
            await runtime.retry("t")
            with pytest.raises(ThreadNotReady, match=r"run\(thread, change\)"):
                await runtime.retry("t")

    asyncio.run(scenario())


def test_E09_a_failure_is_shown_as_it_was_stored(tmp_path: Path) -> None:
    """The error's class is never rebuilt, whatever its constructor wants."""

    class Odd(Exception):
        def __init__(self, left: int, right: int) -> None:
            super().__init__(f"{left} is not {right}")

    graph = Graph("odd", version=1, state=Count)

    @graph.node()
    async def act(state: Count, ctx: Context) -> None:
        raise Odd(1, 2)

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> Run[Count]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            return await runtime.run("t", change(name="x"))

    (failure,) = asyncio.run(scenario()).failures
    assert failure.error.endswith("Odd")
    assert failure.text == "1 is not 2"
    assert "raise Odd(1, 2)" in failure.traceback


def test_G01_a_router_that_raises_is_asked_again_without_its_node(tmp_path: Path) -> None:
    """The node's commit stands; retry asks only the router."""
    runs: list[str] = []
    graph = Graph("routed", version=1, state=Count)

    @graph.node()
    async def act(state: Count, ctx: Context) -> Update[Count]:
        runs.append("act")
        return change(total=state.total + 1, notes=("act",))

    @graph.node()
    async def then(state: Count, ctx: Context) -> Update[Count]:
        runs.append("then")
        return change(notes=("then",))

    def way(state: Count) -> Route:
        runs.append("way")
        if runs.count("way") == 1:
            raise OSError("not now")
        return "again"

    graph.start(act)
    graph.branch(act, way).to({"again": then, "end": END})
    graph.edge(then, END)

    async def scenario() -> tuple[Run[Count], Run[Count]]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            failed = await runtime.run("t", change(name="x"))
            return failed, await runtime.retry("t")

    failed, retried = asyncio.run(scenario())
    assert failed.failures[0].text == "not now"
    assert runs == ["act", "way", "way", "then"]
    assert retried.state.notes == ("act", "then")
    assert retried.state.total == 1


def test_E02_finished_effects_replay_when_a_later_one_fails(tmp_path: Path) -> None:
    """A and B run once; C, which says that it did not happen, runs twice."""
    ran: list[str] = []
    graph = Graph("three", version=1, state=Count)

    @tool.unchecked()
    async def effect(name: str) -> str:
        ran.append(name)
        if name == "C" and ran.count("C") == 1:
            raise NotApplied("busy")
        return name.lower()

    @graph.node()
    async def act(state: Count, ctx: Context) -> Update[Count]:
        return change(notes=tuple([await ctx.call(effect, name) for name in "ABC"]))

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> tuple[Run[Count], Run[Count]]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            failed = await runtime.run("t", change(name="x"))
            return failed, await runtime.retry("t")

    failed, retried = asyncio.run(scenario())
    assert "not_applied" in failed.failures[0].text
    assert ran == ["A", "B", "C", "C"]
    assert retried.state.notes == ("a", "b", "c")


def test_E02_an_unknown_end_is_refused_and_not_tried_again(tmp_path: Path) -> None:
    """C raised anything else: whether it happened is not known, so a retry is refused."""
    ran: list[str] = []
    graph = Graph("three", version=1, state=Count)

    @tool.unchecked()
    async def effect(name: str) -> str:
        ran.append(name)
        raise ConnectionResetError("no answer")

    @graph.node(attempts=5)
    async def act(state: Count, ctx: Context) -> Update[Count]:
        return change(notes=(await ctx.call(effect, "C"),))

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> tuple[Run[Count], Run[Count]]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            failed = await runtime.run("t", change(name="x"))
            return failed, await runtime.retry("t")

    failed, retried = asyncio.run(scenario())
    assert failed.failures[0].error.endswith("EffectUnknown")
    assert "outcome_unknown" in retried.failures[0].text
    assert ran == ["C"]


def test_E06_a_node_with_attempts_tries_again_what_did_not_happen(tmp_path: Path) -> None:
    """The first failure is never replayed as the outcome."""
    ran: list[str] = []
    graph = Graph("busy", version=1, state=Count)

    @tool.unchecked()
    async def effect() -> str:
        ran.append("x")
        if len(ran) == 1:
            raise NotApplied("busy")
        return "done"

    @graph.node(attempts=2)
    async def act(state: Count, ctx: Context) -> Update[Count]:
        return change(notes=(await ctx.call(effect),))

    graph.start(act)
    graph.edge(act, END)

    async def scenario() -> Run[Count]:
        async with open_store(tmp_path / "s.db") as store, Runtime(graph, store) as runtime:
            return await runtime.run("t", change(name="x"))

    run = asyncio.run(scenario())
    assert run.status is Status.DONE
    assert run.state.notes == ("done",)
    assert len(ran) == 2
