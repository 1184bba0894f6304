"""The writer: one thread, one connection, whatever waits in one transaction."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Final

import attrs

from effectgraph.stores.errors import QueueFull, StoreBusy, StoreClosed, StoreError, StoreUnusable
from effectgraph.stores.limits import GROUP_WRITES, QUEUED_WRITES, UNSYNCED_S
from effectgraph.stores.records import Sync
from effectgraph.stores.sqlite.connect import CHECKPOINT_PAGES
from effectgraph.stores.sqlite.faults import as_ours, as_told, is_sync_failure
from effectgraph.stores.sqlite.files import Files
from effectgraph.stores.sqlite.group import TOUCH, make
from effectgraph.stores.sqlite.lanes import Lanes
from effectgraph.stores.sqlite.receipts import Desk
from effectgraph.stores.sqlite.turns import Turns
from effectgraph.stores.sqlite.writes import Write

SYNC_AFTER_S: Final = UNSYNCED_S / 2
"""Seconds after which the oldest unsynced write is synced: half of what is promised, so that the sync has time."""

LEVELS: Final = {
    Sync.NOW: ("PRAGMA synchronous = FULL", f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}"),
    Sync.LATER: ("PRAGMA synchronous = NORMAL", "PRAGMA wal_autocheckpoint = 0"),
}
"""FULL syncs the log at each commit, NORMAL does not. The log is in order: a sync covers all before it.

The log is copied into the file only behind a commit that has synced it: SQLite keeps to itself what fails in that, and
a sync of the log that fails there would be taken for made.
"""

Group = Sequence[Write[object]]


@attrs.frozen(kw_only=True)
class Counts:
    """What this open store has written so far. `writes` counts those that stand, readings of a memory store too."""

    transactions: int
    synced_transactions: int
    writes: int


class Writer:
    """Makes writes in the order of `submit`; what waits becomes one transaction, synced if any write of it asks."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._queue: SimpleQueue[Write[object] | None] = SimpleQueue()
        self._lanes = Lanes()
        self._level: Sync | None = None
        self._unsynced_since: float | None = None
        self._broken: StoreError | None = None
        self._doubt: StoreError | None = None
        self._ended: StoreError | None = None
        self._transactions = 0
        self._synced_transactions = 0
        self._writes = 0
        self._thread: threading.Thread | None = None
        self._files = Files(desk.store, ())
        self._turns = Turns(None, 0.0)

    @property
    def counts(self) -> Counts:
        """What has been written so far."""
        return Counts(
            transactions=self._transactions, synced_transactions=self._synced_transactions, writes=self._writes
        )

    def start(self, connection: sqlite3.Connection, files: Files, turns: Turns, at_end: Callable[[], None]) -> None:
        """Begin to write. `connection` is the writer's from now on; `at_end` is called last, in the writer's thread.

        The caller keeps no reference to `connection`: it then lives in the thread's frame alone, which a forked
        process never frees, so a fork never closes it (closing an inherited connection can damage the file).
        """
        self._files = files
        self._turns = turns
        # A daemon: a program that forgets to close ends as if it were killed, which is safe.
        self._thread = threading.Thread(
            target=self._main, args=(connection, at_end), name="effectgraph-writer", daemon=True
        )
        self._thread.start()

    def submit(self, write: Write[object]) -> None:
        """Queue a write. Raises `QueueFull` if too many wait already."""
        if self._queue.qsize() >= QUEUED_WRITES:
            raise QueueFull(self._desk.store, QUEUED_WRITES)
        self._queue.put(write)
        if self._ended is not None:
            self._refuse_the_rest(self._ended)

    def sync_if_needed(self, connection: sqlite3.Connection) -> None:
        """What a flush runs: in a synced transaction it makes all before it durable, at no cost if it is already."""
        if self._unsynced_since is not None:
            connection.execute(TOUCH)

    def stop(self) -> None:
        """Write what waits, sync it, end. What is queued later fails with `StoreClosed`."""
        self._queue.put(None)

    def join(self) -> None:
        """Wait for the end of the thread."""
        if self._thread is not None:
            self._thread.join()

    def check_synced(self) -> None:
        """Raise `StoreUnusable` if, at the end, writes that were acknowledged could not be synced. Once."""
        doubt, self._doubt = self._doubt, None
        if doubt is not None:
            raise StoreUnusable(
                self._desk.store,
                f"it was closed, and what was written last could not be synced ({doubt})",
                "it is lost if the machine stops now; open the store again and call flush",
            )

    def _main(self, connection: sqlite3.Connection, at_end: Callable[[], None]) -> None:
        end: StoreError = StoreUnusable(self._desk.store, "its writer failed", "report it, and open the store again")
        try:
            while self._next_group(connection):
                pass
            end = StoreClosed(self._desk.store, "it was closed")
        finally:
            self._ended = end
            self._refuse_the_rest(end)
            # What the last checkpoint could not do, the next one who opens the file does.
            with contextlib.suppress(sqlite3.Error):
                connection.close()
            self._turns.close()
            at_end()

    def _refuse_the_rest(self, error: StoreError) -> None:
        rest: list[Write[object]] = []
        with contextlib.suppress(Empty):
            while True:
                write = self._queue.get_nowait()
                if write is not None:
                    rest.append(write)
        self._give_up(rest, error)

    def _next_group(self, connection: sqlite3.Connection) -> bool:
        group: list[Write[object]] = []
        goes_on = True
        with contextlib.suppress(Empty):
            item = self._queue.get(timeout=self._patience_s())
            while item is not None:
                group.append(item)
                if len(group) == GROUP_WRITES or self._queue.empty():
                    break
                item = self._queue.get_nowait()
            goes_on = item is not None
        if not goes_on or self._patience_s() == 0.0:
            group.append(Write(self._desk, self.sync_if_needed, Sync.NOW))
        try:
            self._write(connection, group)
        except BaseException:
            unusable = StoreUnusable(self._desk.store, "its writer failed", "report it, and open the store again")
            self._give_up([write for write in group if not write.done()], unusable)
            raise
        return goes_on

    def _patience_s(self) -> float | None:
        if self._unsynced_since is None:
            return None
        return max(0.0, self._unsynced_since + SYNC_AFTER_S - time.monotonic())

    def _write(self, connection: sqlite3.Connection, group: Group) -> None:
        failure = self._transact(connection, group)
        if failure is None:
            return
        if len(group) == 1 or self._is_hopeless(failure):
            self._give_up(group, failure)
            return
        # It may be that the disk has no room for one of them only: each gets a try of its own.
        for place, write in enumerate(group):
            failure = self._transact(connection, (write,))
            if failure is not None and self._is_hopeless(failure):
                self._give_up(group[place:], failure)
                return
            if failure is not None:
                self._give_up((write,), failure)

    def _is_hopeless(self, failure: StoreError) -> bool:
        return self._broken is not None or isinstance(failure, StoreBusy)

    def _transact(self, connection: sqlite3.Connection, group: Group) -> StoreError | None:
        if self._broken is not None:
            return self._broken
        started = time.monotonic()
        level = Sync.NOW if any(write.sync is Sync.NOW for write in group) else Sync.LATER
        lanes = self._lanes.copy()
        unsynced = self._unsynced_since is not None
        try:
            self._files.check()
            if level is not self._level:
                for setting in LEVELS[level]:
                    connection.execute(setting)
                self._level = level
            made = make(connection, self._turns, group, lanes, touch=unsynced and level is Sync.NOW)
        except (sqlite3.Error, StoreUnusable) as error:
            if isinstance(error, StoreUnusable):
                failure: StoreError = error
            else:
                failure = as_ours(self._desk.store, error, waited_s=time.monotonic() - started)
                if is_sync_failure(error):
                    self._broken = failure
            if self._unsynced_since is not None:
                self._doubt = failure
                # Tried again after a while, not at once; never after a failed sync.
                self._unsynced_since = None if self._broken else time.monotonic()
            return failure
        self._lanes = lanes
        for write, reason in made.failures:
            write.fail(as_told(self._desk.store, reason))
        if level is Sync.NOW and made.changed:
            self._unsynced_since = self._doubt = None
        elif made.changed and not unsynced:
            self._unsynced_since = started
        stand = len(group) - len(made.failures)
        if stand:
            self._transactions += 1
            self._synced_transactions += level is Sync.NOW
            self._writes += stand
        self._hand_out(group, on_disk=self._unsynced_since is None)
        return None

    def _give_up(self, group: Group, error: StoreError) -> None:
        for write in group:
            refusal = self._lanes.refusal(write) or error
            write.fail(refusal)
            self._lanes.failed(write, refusal)
        self._hand_out(group, on_disk=False)

    def _hand_out(self, group: Group, *, on_disk: bool) -> None:
        for write in group:
            self._lanes.passed(write)
            if write.at_end is not None:
                write.at_end(write.made)
        self._desk.hand_out(group, synced=on_disk)
