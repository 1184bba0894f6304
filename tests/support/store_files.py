"""Store files for tests: what lies in a folder, files as others left them, files of an older version."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Final

import attrs
import sqlite_utils

from effectgraph.stores.sqlite.schema import APPLICATION_ID, FIRST_ROW, MIGRATION_SET, MIGRATIONS

OLD_THREADS: Final = 50
"""Threads in a file that an older version left."""


@attrs.frozen
class Found:
    """A file or folder as it was found."""

    mode: int
    inode: int
    changed_ns: int
    content: bytes | None


def found_in(folder: Path) -> dict[str, Found]:
    """Everything below a folder: nothing was touched between two equal ones. Files of other kinds are not opened."""
    return {str(path.relative_to(folder)): _found(path) for path in sorted([folder, *folder.rglob("*")])}


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _found(path: Path) -> Found:
    status = os.lstat(path)
    content = path.read_bytes() if stat.S_ISREG(status.st_mode) else None
    return Found(status.st_mode, status.st_ino, status.st_mtime_ns, content)


def make_older(path: Path, migrations: int) -> None:
    """A closed store with rows in it, as a version left it that knew only some of the migrations."""
    older = sqlite_utils.Migrations(MIGRATION_SET)
    for name, statements in MIGRATIONS[:migrations]:

        @older(name=name)
        def run(db: sqlite_utils.Database, statements: tuple[str, ...] = statements) -> None:
            for statement in statements:
                db.conn.execute(statement)

    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        older.apply(sqlite_utils.Database(connection, recursive_triggers=False, execute_plugins=False))
        connection.execute(FIRST_ROW, ("older",))
        connection.execute(f"UPDATE store SET token = {OLD_THREADS}, incarnation = {OLD_THREADS}")
        for number in range(1, OLD_THREADS + 1):
            _make_thread(connection, number)
        connection.execute("PRAGMA journal_mode = WAL")


def _make_thread(connection: sqlite3.Connection, number: int) -> None:
    name = f"order-{number}"
    connection.execute(
        "INSERT INTO threads (ref, id, incarnation, graph, graph_version, graph_fingerprint, status, step, token)"
        " VALUES (?, ?, ?, 'shop', 1, 'f1', 'running', 0, ?)",
        (number, name, number, number),
    )
    connection.execute(
        "INSERT INTO tasks (thread, id, step, node, attempts, status) VALUES (?, '1.pay', 1, 'pay', 0, 'open')",
        (number,),
    )
    connection.execute(
        "INSERT INTO fields (thread, field, step, appended, value, schema) VALUES (?, 'total', 0, 0, ?, 'int')",
        (number, str(number).encode()),
    )
    connection.execute("INSERT INTO heads (thread, field, base_step) VALUES (?, 'total', 0)", (number,))
    connection.execute(
        "INSERT INTO effects (scope, incarnation, task, call, kind, tool, fingerprint, request, schema, begun_us,"
        " owner, token, attempt, version, ended)"
        " VALUES (?, ?, '1.pay', 'charge', 'unchecked', 'charge', 'f1', x'7b7d', 'in', 10, 'gone', ?, 1, 1, 0)",
        (name, number, number),
    )
