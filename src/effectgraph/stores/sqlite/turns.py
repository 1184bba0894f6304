"""Turns: who writes next, of all processes that write to one store file."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import sqlite3
import threading
import time
import weakref
from enum import Enum
from pathlib import Path
from typing import Final

from effectgraph.stores.sqlite.faults import is_busy

TURN_S: Final = 2.0
"""Seconds to wait for a turn before writing without one: some hundred times what twenty busy writers let each wait.

Only a process that was stopped in its turn takes longer, or a child that was forked outside Python and has it still.
"""

POLL_S: Final = 0.005
"""Seconds between two tries for SQLite's write lock, which others have only if they write out of turn."""


class Place(Enum):
    """Where we are in the line for the next turn."""

    NOWHERE = "nowhere"
    WAITING = "waiting"
    """The doorman stands in line, and the writer waits for him."""
    IN_VAIN = "in vain"
    """The doorman stands in line, and the writer went on without him."""


class Turns:
    """The turns of one open store at writing to its file, taken in the order in which all who write came.

    A turn is an OS lock on the owners' folder: the kernel lets processes queue for it, where SQLite lets them try
    again after pauses that grow, which starves those that have waited longest. It orders and decides nothing: SQLite's
    own lock does that, and who cannot have a turn writes without. `folder` is None for a store that nobody else can
    open. All calls come from the writer's thread.
    """

    def __init__(self, folder: Path | None, busy_s: float) -> None:
        self._busy_s = busy_s
        self._descriptor: int | None = None
        if folder is not None:
            with contextlib.suppress(OSError):
                self._descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._is_mine = False
        self._closed = False
        self._place = Place.NOWHERE
        self._lock = threading.Lock()
        self._asked = threading.Semaphore(0)
        self._granted = threading.Semaphore(0)
        self._doorman: threading.Thread | None = None
        _open_here().add(self)

    def begin(self, connection: sqlite3.Connection) -> None:
        """Begin a transaction that writes, in our turn. The connection itself must not wait for locks.

        Raises `sqlite3.OperationalError`, for a lock that others have after `busy_s` seconds.
        """
        deadline = time.monotonic() + self._busy_s
        self._is_mine = self._take(min(TURN_S, self._busy_s))
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                left_s = deadline - time.monotonic()
                if left_s <= 0 or not is_busy(error):
                    raise
                time.sleep(min(POLL_S, left_s))
            else:
                return

    def end(self) -> None:
        """Let the next one have his turn. Does nothing without a turn."""
        if self._is_mine:
            self._is_mine = False
            self._give_up()

    def close(self) -> None:
        """Leave the line for good. A second call does nothing."""
        with self._lock:
            self._closed = True
            # Else he closes it: by then its number could be another file's.
            if self._place is Place.NOWHERE:
                self.forget()
            self._asked.release()

    def forget(self) -> None:
        """Close the folder: a forked process has it open as well, and would keep the turn of a parent that dies."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            os.close(descriptor)

    def _give_up(self) -> None:
        if self._descriptor is not None:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            except OSError:
                # Closed, it is free as well; from now on this store writes out of turn.
                self.forget()

    def _take(self, patience_s: float) -> bool:
        with self._lock:
            if self._descriptor is None or self._place is Place.IN_VAIN:
                return False
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if not self._has_doorman():
                    return False
                self._place = Place.WAITING
                self._asked.release()
            except OSError:
                # Not every file system locks folders.
                return False
            else:
                return True
        if self._granted.acquire(timeout=patience_s):
            return True
        with self._lock:
            # He can have come at the last moment.
            if self._granted.acquire(blocking=False):
                return True
            self._place = Place.IN_VAIN
            return False

    def _has_doorman(self) -> bool:
        # A wait for a file lock has no time limit and cannot be broken off, so it is not the writer who waits.
        if self._doorman is None:
            doorman = threading.Thread(target=self._stand_in_line, name="effectgraph-doorman", daemon=True)
            # A program that ends can start no threads any more.
            with contextlib.suppress(RuntimeError):
                doorman.start()
                self._doorman = doorman
        return self._doorman is not None

    def _stand_in_line(self) -> None:
        while True:
            self._asked.acquire()
            if self._descriptor is None:
                return
            with contextlib.suppress(OSError):
                fcntl.flock(self._descriptor, fcntl.LOCK_EX)
            with self._lock:
                waited_for = self._place is Place.WAITING
                self._place = Place.NOWHERE
                if self._closed:
                    self.forget()
                elif waited_for:
                    self._granted.release()
                else:
                    self._give_up()


@functools.cache
def _open_here() -> weakref.WeakSet[Turns]:
    here: weakref.WeakSet[Turns] = weakref.WeakSet()

    def forget_all() -> None:
        for turns in here:
            turns.forget()

    os.register_at_fork(after_in_child=forget_all)
    return here
