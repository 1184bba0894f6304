"""The reader: one thread, readings in the order of the calls."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Protocol

from effectgraph.stores.errors import StoreClosed, StoreError
from effectgraph.stores.sqlite.faults import as_ours, as_told
from effectgraph.stores.sqlite.files import Files
from effectgraph.stores.sqlite.receipts import Desk, QueuedReceipt


class Source(Protocol):
    """Where readings are made."""

    def read(self, perform: Callable[[sqlite3.Connection], None], /) -> None:
        """Make a reading on a connection, in a transaction of its own. Raises what it raises, and `sqlite3.Error`."""
        ...

    def close(self) -> None:
        """Close the connection that is kept, if one is."""
        ...


class KeptConnection:
    """A source that keeps one connection: the caller keeps no reference to it."""

    def __init__(self, connection: sqlite3.Connection, files: Files) -> None:
        self._connection = connection
        self._files = files

    def read(self, perform: Callable[[sqlite3.Connection], None], /) -> None:
        """Make a reading. Raises what it raises, `sqlite3.Error`, and `StoreUnusable` if the file was replaced."""
        self._files.check()
        self._connection.execute("BEGIN")
        try:
            perform(self._connection)
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class Reader:
    """Makes readings, each in a transaction of its own: what it sees belongs together. Never waits for the writer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._queue: SimpleQueue[QueuedReceipt[object] | None] = SimpleQueue()
        self._ended: StoreError | None = None
        self._thread: threading.Thread | None = None

    def start(self, source: Source) -> None:
        """Begin to read. `source` is the reader's from now on; the caller keeps no reference to it."""
        self._thread = threading.Thread(target=self._main, args=(source,), name="effectgraph-reader", daemon=True)
        self._thread.start()

    def submit(self, reading: QueuedReceipt[object]) -> None:
        """Queue a reading."""
        self._queue.put(reading)
        if self._ended is not None:
            self._refuse_the_rest(self._ended)

    def stop(self) -> None:
        """Make the readings that wait, then end. What is queued later fails with `StoreClosed`."""
        self._queue.put(None)

    def join(self) -> None:
        """Wait for the end of the thread."""
        if self._thread is not None:
            self._thread.join()

    def _main(self, source: Source) -> None:
        while (reading := self._queue.get()) is not None:
            self._make(source, reading)
        self._ended = StoreClosed(self._desk.store, "it was closed")
        self._refuse_the_rest(self._ended)
        source.close()

    def _make(self, source: Source, reading: QueuedReceipt[object]) -> None:
        started = time.monotonic()
        try:
            source.read(reading.perform)
        except sqlite3.Error as error:
            reading.fail(as_ours(self._desk.store, error, waited_s=time.monotonic() - started))
        except Exception as error:
            reading.fail(as_told(self._desk.store, error))
        self._desk.hand_out((reading,), synced=False)

    def _refuse_the_rest(self, error: StoreError) -> None:
        with contextlib.suppress(Empty):
            while True:
                reading = self._queue.get_nowait()
                if reading is not None:
                    reading.fail(error)
                    self._desk.hand_out((reading,), synced=False)
