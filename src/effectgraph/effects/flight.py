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

    @property
    def has_landed(self) -> bool:
        """Whether the run has ended."""
        return self._task is not None and self._task.done()

    def start(self, run: Coroutine[Any, Any, Settled], landed: Callable[[], None]) -> None:
        """Start the run; `landed` is called when it has ended, well or not."""
        self._task = self.loop.create_task(run)
        self._task.add_done_callback(lambda task: _end(task, landed))

    async def wait(self, limit: Coroutine[Any, Any, None] | None = None) -> Settled:
        """Wait for the run, and raise what it raised; `TimeoutError` once `limit` has returned.

        A caller whose time is over still counts as one who waits: the effect that he asked for goes on.
        """
        if self._task is None:
            raise RuntimeError("a flight is waited for before it has started")
        self._waiting += 1
        try:
            if limit is not None:
                await self._arrive_within(self._task, limit)
            settled = await asyncio.shield(self._task)
        except TimeoutError:
            if self._task.done():
                self._waiting -= 1
            raise
        except BaseException:
            self._waiting -= 1
            raise
        self._waiting -= 1
        return settled

    async def _arrive_within(self, task: asyncio.Task[Settled], limit: Coroutine[Any, Any, None]) -> None:
        over = self.loop.create_task(limit)
        try:
            await asyncio.wait((task, over), return_when=asyncio.FIRST_COMPLETED)
        finally:
            over.cancel()
        if not task.done():
            raise TimeoutError

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
