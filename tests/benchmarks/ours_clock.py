"""The clock around our own runs: what a run takes until its claim is released, and what its store wrote meanwhile."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from bench_child import Counted
from effectgraph import Run, Status
from effectgraph.stores.sqlite.store import SqliteStore

S = TypeVar("S")


async def clocked(store: SqliteStore, work: Callable[[], Awaitable[object]]) -> Counted:
    """Do the work and measure it. A run has released its claim, synced, when it returns: that is in the time too."""
    before = store.counts
    start = time.perf_counter()
    await work()
    seconds = time.perf_counter() - start
    after = store.counts
    return Counted(
        seconds=seconds,
        transactions=after.transactions - before.transactions,
        synced=after.synced_transactions - before.synced_transactions,
    )


def finished(run: Run[S]) -> S:
    """The state of a run that is done. A run that failed must not count as work done."""
    if run.status is not Status.DONE:
        raise RuntimeError(f"the run did not end well: {run.failures}")
    return run.state
