"""Runs of threads: steps, loops, branches, failures, recovery."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Literal

import attrs
import pytest

from effectgraph import (
    END,
    BlockingContext,
    Context,
    EffectReplayRefused,
    Graph,
    GraphInvalid,
    NotApplied,
    Refusal,
    Run,
    Runtime,
    Status,
    Update,
    given,
    open_store,
    tool,
    updates,
)
from effectgraph.graph import CallNotAwaited, CallOutOfOrder, GraphChanged, InputMissing, RuntimeClosed, ThreadNotReady
from effectgraph.stores import ClaimHeld, ClaimLost, ThreadUnknown


@attrs.frozen(kw_only=True)
class Count:
    """A state to count with."""

    name: str = given()
    total: int = 0
    notes: Annotated[tuple[str, ...], "append"] = ()


change = updates(Count)
Route = Literal["again", "end"]


def loop_graph(times: int, *, name: str = "loop", version: int = 1) -> Graph[Count, None]:
    """A node that counts to `times`, one step after another."""
    graph = Graph(name, version=version, state=Count)

    @graph.node()
    async def count(state: Count, ctx: Context) -> Update[Count]:
        return change(total=state.total + 1, notes=(f"n{state.total}",))

    def again(state: Count) -> Route:
        return "again" if state.total < times else "end"

    graph.start(count)
    graph.branch(count, again).to({"again": count, "end": END})
    return graph


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


def failing_graph(runs: list[str], *, attempts: int = 1, failures: int = 1) -> Graph[Count, None]:
    """Two nodes; the second fails `failures` times."""
    graph = Graph("failing", version=1, state=Count)

    @graph.node()
    async def first(state: Count, ctx: Context) -> Update[Count]:
        runs.append("first")
        return change(notes=("first",))

    @graph.node(attempts=attempts)
    async def second(state: Count, ctx: Context) -> Update[Count]:
        runs.append("second")
        if runs.count("second") <= failures:
            raise LookupError(f"try {runs.count('second')}")
        return change(notes=("second",))

    graph.start(first)
    graph.edge(first, second)
    graph.edge(second, END)
    return graph


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
