"""The way from the event loop to another thread and back: what a plain function and a write pay."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bench_child import IN_FLIGHT, at_once, serve
from effectgraph import open_store
from effectgraph.outside import Threads


def hops(in_flight: int, count: int) -> float:
    """Calls of an empty function in a worker thread, so many under way at once."""

    async def run() -> float:
        with Threads() as threads:
            return await at_once(count, lambda number: threads.in_thread(lambda: number), in_flight=in_flight)

    return asyncio.run(run())


def one(count: int, _folder: Path) -> float:
    """One hop after another."""
    return hops(1, count)


def many(count: int, _folder: Path) -> float:
    """As many hops at once as the other cases have operations in flight."""
    return hops(IN_FLIGHT, count)


def writer(count: int, folder: Path) -> float:
    """To the store's writer and back, with an empty transaction: nothing waits to be synced, so nothing is."""

    async def run() -> float:
        async with open_store(folder / "store.db") as store:
            await store.flush()
            return await at_once(count, lambda _number: store.flush(), in_flight=1)

    return asyncio.run(run())


if __name__ == "__main__":
    serve({"one": one, "many": many, "writer": writer})
