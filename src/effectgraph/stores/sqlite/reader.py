"""The reader: one thread, one connection, readings in the order of the calls."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from queue import Empty, SimpleQueue

from effectgraph.stores.errors import StoreClosed, StoreError
from effectgraph.stores.sqlite.faults import as_ours
from effectgraph.stores.sqlite.receipts import Desk, QueuedReceipt


class Reader:
    """Makes readings, each in a transaction of its own: what it sees belongs together. Never waits for the writer."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._queue: SimpleQueue[QueuedReceipt[object] | None] = SimpleQueue()
        self._ended: StoreError | None = None
        self._thread: threading.Thread | None = None

    def start(self, connection: sqlite3.Connection) -> None:
        """Begin to read. `connection` is the reader's from now on; the caller keeps no reference to it."""
        self._thread = threading.Thread(target=self._main, args=(connection,), name="effectgraph-reader", daemon=True)
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

    def _main(self, connection: sqlite3.Connection) -> None:
        while (reading := self._queue.get()) is not None:
            self._make(connection, reading)
        self._ended = StoreClosed(self._desk.store, "it was closed")
        self._refuse_the_rest(self._ended)
        connection.close()

    def _make(self, connection: sqlite3.Connection, reading: QueuedReceipt[object]) -> None:
        try:
            connection.execute("BEGIN")
            try:
                reading.perform(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            reading.fail(as_ours(self._desk.store, error))
        except Exception as error:
            reading.fail(error)
        self._desk.hand_out((reading,), synced=False)

    def _refuse_the_rest(self, error: StoreError) -> None:
        with contextlib.suppress(Empty):
            while True:
                reading = self._queue.get_nowait()
                if reading is not None:
                    reading.fail(error)
                    self._desk.hand_out((reading,), synced=False)
