"""Orders whose workers are killed or stopped, and recovered here."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import attrs

from crash_shop import Boundary, EffectKind, Order, Place, order_graph
from effectgraph import Run, Runtime, open_store
from effectgraph.stores.records import ThreadStatus

WORKER = Path(__file__).with_name("crash_worker.py")


def start_worker(place: Place, kind: EffectKind, boundary: Boundary, by: signal.Signals) -> subprocess.Popen[str]:
    """Start a worker that gets the signal at the boundary."""
    command = [sys.executable, str(WORKER), str(place.folder), place.provider, kind.value, boundary.value, by.name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@contextmanager
def stopped_worker(place: Place, kind: EffectKind, boundary: Boundary) -> Generator[subprocess.Popen[str]]:
    """A worker that has stopped itself at the boundary. It does not outlive the block."""
    with start_worker(place, kind, boundary, signal.SIGSTOP) as worker:
        try:
            _, status = os.waitpid(worker.pid, os.WUNTRACED)
            assert os.WIFSTOPPED(status), status
            yield worker
        finally:
            worker.kill()


def kill_worker(place: Place, kind: EffectKind, boundary: Boundary) -> None:
    """Run a worker until it is killed at the boundary; fails if it ends in any other way."""
    worker = start_worker(place, kind, boundary, signal.SIGKILL)
    output, _ = worker.communicate(timeout=60)
    assert worker.returncode == -signal.SIGKILL, output


@attrs.frozen(kw_only=True)
class Recovered:
    """What a recovery found and left: how many threads it took over, what the thread came to, what is unresolved."""

    taken_over: int
    status: ThreadStatus
    state: Order
    failure: str
    unresolved: int


async def recover(place: Place, kind: EffectKind, *, take: bool = False) -> Recovered:
    """Recover the order in this process, as a new worker would; with `take`, from an owner that is alive."""
    graph = order_graph(place, kind, lambda: None)
    async with open_store(place.store) as store, Runtime(graph, store) as runtime:
        if take:
            await runtime.take("order", "its worker does not answer")
        taken_over = await runtime.recover()
        state = await runtime.state("order")
        view = await store.read("order")
        failures = [task.failure.text for task in view.tasks if task.failure is not None]
        return Recovered(
            taken_over=taken_over,
            status=view.status,
            state=state,
            failure=" ".join(failures),
            unresolved=len(await store.unresolved()),
        )


async def retried(place: Place, kind: EffectKind) -> Run[Order]:
    """Try the order once more."""
    graph = order_graph(place, kind, lambda: None)
    async with open_store(place.store) as store, Runtime(graph, store) as runtime:
        return await runtime.retry("order")


def recover_now(place: Place, kind: EffectKind, *, take: bool = False) -> Recovered:
    """`recover`, for a plain test."""
    return asyncio.run(recover(place, kind, take=take))
