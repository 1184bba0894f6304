"""The receipts of one open store, and the desk that hands out what they wait for."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Generator, Sequence
from typing import Generic, TypeVar

from effectgraph.stores.errors import StoreClosed

T_co = TypeVar("T_co", covariant=True)

Loop = asyncio.AbstractEventLoop
Waiting = asyncio.Future[None]


class Desk:
    """What the receipts of one open store share: one lock, and how far the writes are synced.

    One lock for all of them, because a whole group is handed out at once.
    """

    def __init__(self, store: str) -> None:
        self.store = store
        self.lock = threading.Lock()
        self._pid = os.getpid()
        self._syncs = 0
        self._at_next_sync: list[Callable[[], None]] = []

    def hand_out(self, receipts: Sequence[QueuedReceipt[object]], *, synced: bool) -> None:
        """Mark receipts as done and wake who waits for them; call what waited for a sync, if this was one."""
        futures: dict[Loop, list[Waiting]] = {}
        due: list[Callable[[], None]] = []
        with self.lock:
            if synced:
                self._syncs += 1
                due, self._at_next_sync = self._at_next_sync, due
            needed = self._syncs if synced else self._syncs + 1
            later = due if synced else self._at_next_sync
            for receipt in receipts:
                receipt.finish(needed, futures, later)
        # Before anybody is woken: who waited for a sync finds that what hung on it has been done.
        for then in due:
            _call(then)
        for loop, waiting in futures.items():
            # A loop that is closed has nobody left to wake.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_wake, waiting)

    def keep(self, needed: int, then: Callable[[], None]) -> bool:
        """Keep `then` until sync number `needed`; False if that has been made. Called with the lock held."""
        if needed <= self._syncs:
            return False
        self._at_next_sync.append(then)
        return True

    @property
    def is_inherited(self) -> bool:
        """Whether this process was forked after the store was opened."""
        return os.getpid() != self._pid

    def check_process(self) -> None:
        """Raise `StoreClosed` in a process that was forked after the store was opened."""
        if self.is_inherited:
            raise StoreClosed(self.store, f"it was opened by process {self._pid}, before this one was forked from it")


class QueuedReceipt(Generic[T_co]):
    """A call that waits for its turn on a connection, and the `Receipt` of it."""

    __slots__ = ("_desk", "_done", "_error", "_event", "_futures", "_needed", "_run", "_thens", "_value")

    def __init__(self, desk: Desk, run: Callable[[sqlite3.Connection], T_co]) -> None:
        self._desk = desk
        self._run: Callable[[sqlite3.Connection], T_co] | None = run
        self._done = False
        self._value: tuple[T_co, ...] = ()
        self._error: Exception | None = None
        self._needed = 0
        self._futures: list[tuple[Loop, Waiting]] | None = None
        self._event: threading.Event | None = None
        self._thens: list[Callable[[], None]] | None = None

    def __await__(self) -> Generator[object, None, T_co]:
        if not self._done:
            self._desk.check_process()
            loop = asyncio.get_running_loop()
            future: Waiting = loop.create_future()
            with self._desk.lock:
                waits = not self.done()
                if waits:
                    self._futures = [*(self._futures or ()), (loop, future)]
            if waits:
                yield from future.__await__()
        return self._result()

    def wait(self) -> T_co:
        """The result, for a plain thread. Blocks; never call it in an event loop."""
        if not self._done:
            self._desk.check_process()
            with self._desk.lock:
                event = self._event = self._event or threading.Event()
                if self.done():
                    event.set()
            event.wait()
        return self._result()

    def done(self) -> bool:
        """Whether the call has been made or has failed."""
        return self._done

    def when_synced(self, then: Callable[[], None], /) -> None:
        """Call `then` once the write is on disk: in the writer's thread, or now if it is. Never for a failed one."""
        with self._desk.lock:
            if not self._done:
                self._thens = [*(self._thens or ()), then]
                return
            if self._error is not None or self._desk.keep(self._needed, then):
                return
        _call(then)

    def perform(self, connection: sqlite3.Connection) -> None:
        """Make the call and keep its result. Worker's side; may be called again after the transaction was lost."""
        if self._run is not None:
            self._value = (self._run(connection),)

    def fail(self, error: Exception) -> None:
        """Keep an error as the result. Worker's side."""
        self._error = error

    @property
    def made(self) -> bool:
        """Whether the call came to a result. Worker's side: true before `done` is."""
        return self._error is None and bool(self._value)

    def finish(self, needed: int, futures: dict[Loop, list[Waiting]], at_sync: list[Callable[[], None]]) -> None:
        """Become done; add who waits to `futures`, and what to call at sync `needed` to `at_sync`. Desk's side."""
        self._run = None
        self._needed = needed
        self._done = True
        for loop, future in self._futures or ():
            futures.setdefault(loop, []).append(future)
        if self._event is not None:
            self._event.set()
        if self._thens is not None and self._error is None:
            at_sync.extend(self._thens)
        self._futures = self._thens = None

    def _result(self) -> T_co:
        if self._error is not None:
            raise self._error
        return self._value[0]


def _wake(waiting: list[Waiting]) -> None:
    for future in waiting:
        if not future.done():
            future.set_result(None)


def _call(then: Callable[[], None]) -> None:
    # In the writer's thread nobody else is there to hear of it, and the writer must go on.
    try:
        then()
    except Exception:
        logging.getLogger("effectgraph.stores").exception("what was to be called after a sync failed")
