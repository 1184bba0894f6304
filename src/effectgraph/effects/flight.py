"""Effects in flight: calls of one key in one process share one run, which no caller cancels."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from effectgraph.effects.attempt import Settled


class Flight:
    """One run of one key, in a task of its own.

    Any number of callers of one event loop wait for it; one who is cancelled only stops waiting. When all have gone
    before the intent is written, the run ends there and leaves nothing.
    """

    def __init__(self, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self.loop = asyncio.get_running_loop()
        self._waiting = 0
        self._task: asyncio.Task[Settled] | None = None

    def abandoned(self) -> bool:
        """Whether nobody waits for it any more."""
        return self._waiting == 0

    def start(self, run: Coroutine[Any, Any, Settled], landed: Callable[[], None]) -> None:
        """Start the run; `landed` is called when it has ended, well or not."""
        self._task = self.loop.create_task(run)
        self._task.add_done_callback(lambda task: _end(task, landed))

    async def wait(self) -> Settled:
        """Wait for the run, and raise what it raised."""
        if self._task is None:
            raise RuntimeError("a flight is waited for before it has started")
        self._waiting += 1
        try:
            return await asyncio.shield(self._task)
        finally:
            self._waiting -= 1

    async def ended(self, timeout_s: float) -> bool:
        """Wait at most `timeout_s` seconds for the run's end, however it ends; whether it has ended."""
        if self._task is None:
            return True
        await asyncio.wait([self._task], timeout=timeout_s)
        return self._task.done()


def _end(task: asyncio.Task[Settled], landed: Callable[[], None]) -> None:
    landed()
    if not task.cancelled():
        # Every caller may have gone; what they were not told is in the evidence.
        task.exception()
