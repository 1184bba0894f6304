"""Graph steps: a loop over one node that adds one to a counter, in one thread and in 64 at once."""

from __future__ import annotations

import asyncio
import functools
from pathlib import Path
from typing import Final, Literal

import attrs

from bench_child import WARM_UP, Counted, serve
from effectgraph import END, BlockingContext, Context, Graph, Runtime, Update, given, open_store, updates
from ours_clock import clocked, finished

THREADS: Final = 64


@attrs.frozen(kw_only=True)
class Counter:
    """What is counted, and how far."""

    limit: int = given()
    n: int = 0


change = updates(Counter)


def loop(*, plain: bool) -> Graph[Counter, None]:
    """A graph whose one node runs until the counter is at its limit; a plain node runs in a worker thread."""
    graph = Graph("count", version=1, state=Counter)

    async def add_one(state: Counter, ctx: Context) -> Update[Counter]:
        return change(n=state.n + 1)

    def add_one_plainly(state: Counter, ctx: BlockingContext) -> Update[Counter]:
        return change(n=state.n + 1)

    def again(state: Counter) -> bool:
        return state.n < state.limit

    node = graph.node()(add_one_plainly) if plain else graph.node()(add_one)
    graph.start(node)
    graph.branch(node, again).to({True: node, False: END})
    return graph


def steps(sync: Literal["commit", "all"], threads: int, count: int, folder: Path, *, plain: bool = False) -> Counted:
    """`count` steps in all, shared out over so many threads that run at once, after a thread that warms up."""
    threads = min(threads, count)

    async def run() -> Counted:
        async with open_store(folder / "store.db", sync=sync) as store, Runtime(loop(plain=plain), store) as runtime:

            async def count_to(thread: str, limit: int) -> None:
                state = finished(await runtime.run(thread, change(limit=limit)))
                if state.n != limit:
                    raise RuntimeError(f"thread {thread} counted to {state.n}, not {limit}")

            async def all_threads() -> None:
                shares = (count * (number + 1) // threads - count * number // threads for number in range(threads))
                await asyncio.gather(*(count_to(f"timed-{number}", share) for number, share in enumerate(shares)))

            await count_to("warm-up", WARM_UP)
            return await clocked(store, all_threads)

    return asyncio.run(run())


if __name__ == "__main__":
    serve(
        {
            "default": functools.partial(steps, "commit", 1),
            "default-plain": functools.partial(steps, "commit", 1, plain=True),
            "all": functools.partial(steps, "all", 1),
            "all-many": functools.partial(steps, "all", THREADS),
        }
    )
