"""Threads of several tasks whose worker is killed between them."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from effectgraph import Graph, Runtime, open_store
from effectgraph.stores.records import ThreadStatus
from long_order import Progress, lines, long_graph, stubborn_graph

REPEATS = 5
WORKER = Path(__file__).parent.parent / "support" / "long_order.py"


def kill_in(folder: Path, what: str) -> None:
    """Run a worker until it kills itself; fails if it ends in another way."""
    worker = subprocess.run(
        [sys.executable, str(WORKER), str(folder), what], capture_output=True, text=True, timeout=60, check=False
    )
    assert worker.returncode == -signal.SIGKILL, worker.stderr


def recover(folder: Path, graph: Callable[[Path], Graph[Progress, None]]) -> tuple[int, ThreadStatus]:
    """Recover the thread here; how many there were, and what it came to."""

    async def scenario() -> tuple[int, ThreadStatus]:
        async with open_store(folder / "s.db") as store, Runtime(graph(folder), store) as runtime:
            return await runtime.recover(), (await store.read("t")).status

    return asyncio.run(scenario())


def test_E01_an_effect_that_was_recorded_replays_in_its_task(tmp_path: Path) -> None:
    """Three nodes, one effect each; killed between the second's outcome and its commit: each effect ran once."""
    for repeat in range(REPEATS):
        folder = tmp_path / str(repeat)
        folder.mkdir()
        kill_in(folder, "long")

        assert lines(folder) == ["first", "second"]
        assert recover(folder, long_graph) == (1, ThreadStatus.DONE)
        assert lines(folder) == ["first", "second", "third"]


def test_E07_attempts_are_counted_over_a_crash(tmp_path: Path) -> None:
    """Four attempts allowed, killed in the second: at most four in total, and the failure is the node's own."""
    kill_in(tmp_path, "stubborn")

    assert recover(tmp_path, stubborn_graph) == (1, ThreadStatus.FAILED)
    assert lines(tmp_path) == ["try"] * 4
