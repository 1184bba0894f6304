"""Graphs that write down what they do, and a worker that runs one and kills itself in its middle."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import attrs

from effectgraph import END, Context, Graph, Runtime, Update, open_store, tool, updates


@attrs.frozen(kw_only=True)
class Progress:
    """How far it is."""

    done: int = 0


change = updates(Progress)


def lines(folder: Path) -> list[str]:
    """What was written down, in order."""
    log = folder / "log"
    return log.read_text().splitlines() if log.exists() else []


def write_down(folder: Path, line: str) -> None:
    """Append a line."""
    with (folder / "log").open("a") as log:
        log.write(line + "\n")


def long_graph(folder: Path, *, die_in: str = "") -> Graph[Progress, None]:
    """Three nodes with one unchecked effect each; dies in one of them when its effect has been recorded."""
    graph = Graph("long", version=1, state=Progress)

    @tool.unchecked()
    async def note(line: str) -> None:
        write_down(folder, line)

    async def act(state: Progress, ctx: Context, name: str) -> Update[Progress]:
        await ctx.call(note, name)
        if name == die_in:
            os.kill(os.getpid(), signal.SIGKILL)
        return change(done=state.done + 1)

    @graph.node()
    async def first(state: Progress, ctx: Context) -> Update[Progress]:
        return await act(state, ctx, "first")

    @graph.node()
    async def second(state: Progress, ctx: Context) -> Update[Progress]:
        return await act(state, ctx, "second")

    @graph.node()
    async def third(state: Progress, ctx: Context) -> Update[Progress]:
        return await act(state, ctx, "third")

    graph.start(first)
    graph.edge(first, second)
    graph.edge(second, third)
    graph.edge(third, END)
    return graph


def stubborn_graph(folder: Path, *, die_in_try: int = 0) -> Graph[Progress, None]:
    """A node of four attempts that always fails; dies in one of them."""
    graph = Graph("stubborn", version=1, state=Progress)

    @graph.node(attempts=4)
    async def fail(state: Progress, ctx: Context) -> None:
        write_down(folder, "try")
        if len(lines(folder)) == die_in_try:
            os.kill(os.getpid(), signal.SIGKILL)
        raise LookupError("never")

    graph.start(fail)
    graph.edge(fail, END)
    return graph


async def run(folder: Path, graph: Graph[Progress, None]) -> None:
    """Run thread `t`."""
    async with open_store(folder / "s.db") as store, Runtime(graph, store) as runtime:
        await runtime.run("t")


def main() -> None:
    """Take the folder and which graph from the command line."""
    folder = Path(sys.argv[1])
    if sys.argv[2] == "long":
        asyncio.run(run(folder, long_graph(folder, die_in="second")))
    else:
        asyncio.run(run(folder, stubborn_graph(folder, die_in_try=2)))


if __name__ == "__main__":
    main()
