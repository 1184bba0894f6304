"""Connections to a store file: made, checked, set up."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

from effectgraph.stores.errors import StoreBusy, StoreUnusable
from effectgraph.stores.sqlite.faults import as_ours, is_busy, is_no_database
from effectgraph.stores.sqlite.paths import make_file
from effectgraph.stores.sqlite.schema import APPLICATION_ID, KNOWN, application_id, applied, check_known, migrate

SQLITE_NEEDED: Final = (3, 37, 0)
"""The first version with strict tables; `RETURNING` is a little older."""

CACHED_STATEMENTS: Final = 256
"""Prepared statements kept on a connection: more than the store has, so that each is prepared once."""

CHECKPOINT_PAGES: Final = 1000
"""Pages (4 MB) in the log before the commit that reaches them copies them into the file, which takes two syncs more.

Small, because after that the log is written over from its start: a sync of a log that still grows costs twice as much.
Not smaller, so that the two syncs are shared by some hundred commits.
"""

KEPT_LOG_BYTES: Final = 16 * 1024 * 1024
"""Bytes to which a log is cut that has grown beyond: while somebody reads for long it is not copied into the file."""

WAL_POLL_S: Final = 0.005
"""Seconds between two tries to turn the log on, for which SQLite does not always wait by itself."""


def open_memory(namespace: str | None) -> sqlite3.Connection:
    """A new store in memory. Nothing of it is durable."""
    connection = _connect(":memory:", ":memory:", 0.0)
    migrate(connection, ":memory:", namespace)
    return connection


def open_file(path: Path, namespace: str | None, busy_s: float) -> sqlite3.Connection:
    """A connection to write with: the file is made if it is absent, and brought to the newest schema.

    Raises `StoreUnusable` for a file that is not ours, which is left as it is, or is newer than this program, and
    `StoreBusy` after `busy_s` seconds.
    """
    store = str(path)
    make_file(path)
    check_ours(path)
    started = time.monotonic()
    connection = _connect(store, store, busy_s)
    try:
        names = applied(connection)
        check_known(store, names)
        # The file is made in rollback mode: what marks it as ours is in the file itself before there is a log.
        if names != KNOWN:
            migrate(connection, store, namespace)
        _turn_log_on(connection, store, started, busy_s)
        connection.execute(f"PRAGMA journal_size_limit = {KEPT_LOG_BYTES}")
        # From here on who writes waits for his turn instead.
        connection.execute("PRAGMA busy_timeout = 0")
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.Error):
            raise as_ours(store, error, waited_s=time.monotonic() - started) from error
        raise
    return connection


def open_for_reading(path: Path, busy_s: float) -> sqlite3.Connection:
    """A connection that only reads, to a file that `open_file` has opened."""
    connection = _connect(str(path), str(path), busy_s)
    connection.execute("PRAGMA query_only = ON")
    return connection


def connect_as_it_is(path: Path) -> sqlite3.Connection:
    """A connection that reads what is in the file alone: no locks, no log, no recovery. Nothing is touched or made."""
    return sqlite3.connect(f"{_address(path)}?immutable=1", uri=True, isolation_level=None)


def connect_read_only(path: Path, busy_s: float) -> sqlite3.Connection:
    """A connection that reads the file with its log, and waits `busy_s` seconds for who may not be read beside."""
    return sqlite3.connect(f"{_address(path)}?mode=ro", timeout=busy_s, uri=True, isolation_level=None)


def read_namespace(connection: sqlite3.Connection) -> str:
    """The name of the store in all keys that leave it."""
    row: tuple[str] = connection.execute("SELECT namespace FROM store").fetchone()
    return row[0]


def _connect(target: str, store: str, busy_s: float) -> sqlite3.Connection:
    if sqlite3.sqlite_version_info < SQLITE_NEEDED:
        needed = ".".join(map(str, SQLITE_NEEDED))
        raise StoreUnusable(store, f"SQLite {sqlite3.sqlite_version} is too old", f"use a Python with SQLite {needed}")
    try:
        connection = sqlite3.connect(
            target,
            timeout=busy_s,
            isolation_level=None,
            cached_statements=CACHED_STATEMENTS,
            # Made here, used in the thread that it is handed to.
            check_same_thread=False,
        )
        connection.execute("PRAGMA temp_store = MEMORY")
    except sqlite3.Error as error:
        raise as_ours(store, error) from error
    return connection


def _address(path: Path) -> str:
    # A name need not be UTF-8.
    return f"file:{quote(os.fsencode(path))}"


def check_ours(path: Path) -> None:
    """Raise `StoreUnusable` for a file that is another program's, which is left as it is. An empty one is nobody's."""
    try:
        if path.stat().st_size == 0:
            return
        with closing(connect_as_it_is(path)) as connection:
            # Who makes the file has perhaps written its first page only; else SQLite finds that the others are missing.
            connection.execute("PRAGMA writable_schema = ON")
            ours = application_id(connection) == APPLICATION_ID
    except OSError as error:
        raise StoreUnusable(str(path), f"it cannot be looked at ({error})", "look at who may read it") from error
    except sqlite3.Error as error:
        if not is_no_database(error):
            raise as_ours(str(path), error) from error
        raise StoreUnusable(str(path), f"it is not a store of effectgraph ({error})", "give another path") from error
    if not ours:
        raise StoreUnusable(str(path), "it is another program's SQLite file", "give another path; it was not changed")


def _turn_log_on(connection: sqlite3.Connection, store: str, started: float, busy_s: float) -> None:
    while True:
        try:
            row: tuple[str] = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
        else:
            if row[0] == "wal":
                return
            raise StoreUnusable(
                store, f"its file system has no shared memory (journal mode {row[0]})", "put it on a local disk"
            )
        waited_s = time.monotonic() - started
        if waited_s >= busy_s:
            raise StoreBusy(store, waited_s)
        time.sleep(WAL_POLL_S)
