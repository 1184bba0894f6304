"""Small graphs that count, for the tests of the runtime."""

from __future__ import annotations

from typing import Annotated, Literal

import attrs

from effectgraph import (
    END,
    Context,
    Graph,
    Update,
    given,
    updates,
)


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
