"""A store file that is opened for reading only: it may be read while others write, and nothing is made beside it."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import attrs

from effectgraph.stores.errors import StoreBusy, StoreUnusable
from effectgraph.stores.sqlite.connect import check_ours, connect_as_it_is, connect_read_only
from effectgraph.stores.sqlite.faults import needs_writing
from effectgraph.stores.sqlite.files import Files
from effectgraph.stores.sqlite.paths import check_file
from effectgraph.stores.sqlite.schema import check_current

SETTLE_S: Final = 0.5
"""Seconds to wait for a log that cannot be read: who opens or closes the store is between two of its files for a
moment only."""

POLL_S: Final = 0.005
"""Seconds between two looks at a file that is just being opened or closed."""

SESSIONS: Final = "SELECT id FROM owners ORDER BY id"
"""Who has opened the store for writing: whoever does puts a new id there before he writes anything else."""

Perform = Callable[[sqlite3.Connection], None]


class ReadOnlyFile:
    """Where the readings of a read-only store are made: on a connection each, so that nothing is held between them.

    While a store is closed everything is in its file, which is read as it is, without locks: SQLite would make a log
    and its index beside it. What is read counts only if nobody has opened the store for writing meanwhile. While it
    is open, or as a crash left it, SQLite reads the file with its log, which never waits for a writer nor holds one up.
    """

    def __init__(self, path: Path, busy_s: float) -> None:
        self._path = path
        self._store = str(path)
        self._busy_s = busy_s
        check_file(path)
        self._files = Files.at(self._store, [self._store])
        check_ours(path)

    def read(self, perform: Perform, /) -> None:
        """Make a reading, perhaps several times until one counts. What it sees belongs together.

        Raises what it raises, `sqlite3.Error`; `StoreUnusable` for a file that was replaced, has another schema, or
        whose log cannot be read without writing; `StoreBusy` if it is opened and closed all the time.
        """
        started = time.monotonic()
        while True:
            self._files.check()
            found = _Found.at(self._store)
            unsettled: str | None = None
            if found.is_whole:
                if self._read_as_it_is(perform, found):
                    return
            else:
                unsettled = self._read_with_log(perform, found)
                if unsettled is None:
                    return
            waited_s = time.monotonic() - started
            if unsettled is not None and waited_s >= SETTLE_S:
                raise StoreUnusable(
                    self._store,
                    f"a log lies beside it that cannot be read without writing ({unsettled})",
                    "open it once for writing, which takes the log in: a process was killed, or files were copied",
                )
            if waited_s >= self._busy_s:
                raise StoreBusy(self._store, waited_s)
            time.sleep(POLL_S)

    def close(self) -> None:
        """Nothing: no connection is kept."""

    def _read_as_it_is(self, perform: Perform, found: _Found) -> bool:
        failure: Exception | None = None
        sessions = self._sessions()
        try:
            with closing(connect_as_it_is(self._path)) as connection:
                check_current(connection, self._store)
                perform(connection)
        except Exception as error:
            failure = error
        # Pages that were read while somebody wrote need not belong together, so that even an error means nothing.
        if _Found.at(self._store) != found or self._sessions() != sessions:
            return False
        if failure is not None:
            raise failure
        return True

    def _sessions(self) -> object:
        try:
            with closing(connect_as_it_is(self._path)) as connection:
                return connection.execute(SESSIONS).fetchall()
        except sqlite3.Error as error:
            return str(error)

    def _read_with_log(self, perform: Perform, found: _Found) -> str | None:
        """Make the reading; or why the log cannot be read now."""
        # SQLite would make one.
        if found.log_bytes and not os.path.lexists(self._store + "-shm"):
            return "its index is gone"
        with closing(connect_read_only(self._path, self._busy_s)) as connection:
            try:
                connection.execute("BEGIN")
                connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            except sqlite3.OperationalError as error:
                if not needs_writing(error):
                    raise
                return str(error)
            check_current(connection, self._store)
            perform(connection)
        return None


@attrs.frozen
class _Found:
    """What can be seen of a file and of those beside it without opening them."""

    file: tuple[int, ...]
    log_bytes: int
    journal_bytes: int

    @classmethod
    def at(cls, store: str) -> _Found:
        try:
            file = os.stat(store)
            seen = (file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns, file.st_ctime_ns)
            return cls(seen, _size_bytes(store + "-wal"), _size_bytes(store + "-journal"))
        except OSError as error:
            raise StoreUnusable(store, f"it cannot be looked at ({error})", "look at who may read it") from error

    @property
    def is_whole(self) -> bool:
        """Whether all that was written is in the file itself."""
        return self.log_bytes == self.journal_bytes == 0


def _size_bytes(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
