"""What the guard and the runtime reach the world with: a clock, and threads for plain functions."""

from __future__ import annotations

import asyncio
import contextvars
import datetime as dt
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Final, Protocol, Self, TypeVar

A = TypeVar("A")

_EPOCH: Final = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND: Final = dt.timedelta(microseconds=1)

WORKER_THREADS: Final = 16
"""Plain functions that run at once in one runtime: enough to wait on a few slow services, few enough to read in a
dump.
"""


class Clock(Protocol):
    """Where the time comes from. Handed in, so that a test or a simulation decides it."""

    def now(self) -> dt.datetime:
        """The present moment, in UTC and aware of it."""
        ...

    async def sleep(self, seconds: float, /) -> None:
        """Return once that many seconds have passed."""
        ...


class Runner(Protocol):
    """Where plain functions run, so that they do not hold up the event loop."""

    async def in_thread(self, fn: Callable[[], A], /) -> A:
        """Call `fn` in a worker thread, with a copy of the caller's context variables, and return what it returns."""
        ...


def micros(moment: dt.datetime) -> int:
    """Microseconds since 1970, UTC, exactly: what stores keep."""
    return (moment - _EPOCH) // _MICROSECOND


class SystemClock:
    """The clock of this machine."""

    def now(self) -> dt.datetime:
        return dt.datetime.now(dt.UTC)

    async def sleep(self, seconds: float, /) -> None:
        await asyncio.sleep(seconds)


class Threads:
    """Runs plain functions in at most `limit` worker threads of its own.

    The threads start when first needed. After `close` they take nothing new, and end when what they run has ended.
    """

    def __init__(self, limit: int = WORKER_THREADS) -> None:
        if limit < 1:
            raise ValueError(f"worker threads: {limit} is too few; at least 1 is needed")
        self._pool = ThreadPoolExecutor(max_workers=limit, thread_name_prefix="effectgraph")

    async def in_thread(self, fn: Callable[[], A], /) -> A:
        context = contextvars.copy_context()

        def call() -> A:
            return context.run(_without_stop_iteration, fn)

        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    def close(self) -> None:
        # Not waited for: a plain node may be waiting for an effect that needs the very loop that closes this.
        self._pool.shutdown(wait=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _without_stop_iteration(fn: Callable[[], A]) -> A:
    try:
        return fn()
    except StopIteration as error:
        # A future refuses to carry StopIteration, and whoever waits for it would wait for ever.
        raise RuntimeError("a plain function raised StopIteration") from error
