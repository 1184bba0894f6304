"""The tables of a store file, and how they come to be."""

from __future__ import annotations

import sqlite3
import uuid
from typing import Final

from effectgraph.stores.errors import StoreUnusable

APPLICATION_ID: Final = 0x45464752
"""Marks a SQLite file as ours: "EFGR" in its header, where `file` and SQLite's own tools look for such a mark."""

MIGRATION_SET: Final = "effectgraph"

MIGRATIONS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "0001_threads_effects_history",
        (
            """CREATE TABLE store (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                namespace TEXT NOT NULL,
                token INTEGER NOT NULL,
                incarnation INTEGER NOT NULL,
                syncs INTEGER NOT NULL
            ) STRICT""",
            """CREATE TABLE owners (
                id TEXT PRIMARY KEY,
                pid INTEGER NOT NULL,
                host TEXT NOT NULL,
                started_us INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID""",
            """CREATE TABLE threads (
                ref INTEGER PRIMARY KEY,
                id TEXT NOT NULL UNIQUE,
                incarnation INTEGER NOT NULL,
                graph TEXT NOT NULL,
                graph_version INTEGER NOT NULL,
                graph_fingerprint TEXT NOT NULL,
                status TEXT NOT NULL,
                step INTEGER NOT NULL,
                token INTEGER NOT NULL,
                owner TEXT
            ) STRICT""",
            "CREATE INDEX running ON threads (graph, owner, id) WHERE status = 'running'",
            """CREATE TABLE tasks (
                thread INTEGER NOT NULL,
                id TEXT NOT NULL,
                step INTEGER NOT NULL,
                node TEXT NOT NULL,
                attempts INTEGER NOT NULL,
                status TEXT NOT NULL,
                error TEXT,
                error_text TEXT,
                error_traceback TEXT,
                failed_us INTEGER,
                changes BLOB,
                PRIMARY KEY (thread, id)
            ) STRICT, WITHOUT ROWID""",
            """CREATE TABLE fields (
                thread INTEGER NOT NULL,
                field TEXT NOT NULL,
                step INTEGER NOT NULL,
                appended INTEGER NOT NULL,
                value BLOB NOT NULL,
                schema TEXT NOT NULL,
                PRIMARY KEY (thread, field, step)
            ) STRICT, WITHOUT ROWID""",
            """CREATE TABLE heads (
                thread INTEGER NOT NULL,
                field TEXT NOT NULL,
                base_step INTEGER NOT NULL,
                PRIMARY KEY (thread, field)
            ) STRICT, WITHOUT ROWID""",
            """CREATE TABLE history (
                thread INTEGER NOT NULL,
                step INTEGER NOT NULL,
                task TEXT NOT NULL,
                node TEXT NOT NULL,
                fields TEXT NOT NULL,
                effects TEXT,
                at_us INTEGER NOT NULL,
                PRIMARY KEY (thread, step, task)
            ) STRICT, WITHOUT ROWID""",
            """CREATE TABLE takes (
                token INTEGER PRIMARY KEY,
                thread INTEGER NOT NULL,
                reason TEXT NOT NULL,
                at_us INTEGER NOT NULL
            ) STRICT""",
            """CREATE TABLE effects (
                scope TEXT NOT NULL,
                incarnation INTEGER NOT NULL,
                task TEXT NOT NULL,
                call TEXT NOT NULL,
                kind TEXT NOT NULL,
                tool TEXT NOT NULL,
                fingerprint TEXT NOT NULL,
                request BLOB NOT NULL,
                schema TEXT NOT NULL,
                begun_us INTEGER NOT NULL,
                before TEXT,
                after TEXT,
                presumed BLOB,
                earlier TEXT,
                owner TEXT NOT NULL,
                token INTEGER NOT NULL,
                attempt INTEGER NOT NULL,
                version INTEGER NOT NULL,
                outcome BLOB,
                outcome_schema TEXT,
                how TEXT,
                settled_us INTEGER,
                trouble TEXT,
                ended INTEGER NOT NULL,
                PRIMARY KEY (scope, incarnation, task, call)
            ) STRICT, WITHOUT ROWID""",
            "CREATE INDEX without_outcome ON effects (scope, task, call) WHERE settled_us IS NULL",
        ),
    ),
    (
        "0002_questions_decisions_remarks",
        (
            "ALTER TABLE store ADD COLUMN versions INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE threads ADD COLUMN kept_from INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE threads ADD COLUMN origin_thread TEXT",
            "ALTER TABLE threads ADD COLUMN origin_incarnation INTEGER",
            "ALTER TABLE threads ADD COLUMN origin_step INTEGER",
            "ALTER TABLE tasks ADD COLUMN asked INTEGER NOT NULL DEFAULT 0",
            "ALTER TABLE effects ADD COLUMN uncertain TEXT",
            "ALTER TABLE effects ADD COLUMN granted INTEGER NOT NULL DEFAULT 0",
            "DROP INDEX without_outcome",
            """CREATE INDEX without_outcome ON effects (scope, task, call)
            WHERE settled_us IS NULL AND uncertain IS NOT 'decision'""",
            """CREATE TABLE questions (
                id TEXT PRIMARY KEY,
                thread INTEGER NOT NULL,
                task TEXT NOT NULL,
                number INTEGER NOT NULL,
                content BLOB NOT NULL,
                schema TEXT NOT NULL,
                asked_us INTEGER NOT NULL,
                expires_us INTEGER,
                default_answer BLOB,
                answer BLOB,
                answer_schema TEXT,
                answered_by TEXT,
                answered_us INTEGER,
                ended INTEGER NOT NULL DEFAULT 0
            ) STRICT, WITHOUT ROWID""",
            "CREATE INDEX questions_of_thread ON questions (thread, number)",
            "CREATE INDEX pending ON questions (id) WHERE answered_us IS NULL AND NOT ended",
            """CREATE INDEX due ON questions (expires_us, id)
            WHERE answered_us IS NULL AND NOT ended AND expires_us IS NOT NULL""",
            """CREATE TABLE decisions (
                number INTEGER PRIMARY KEY AUTOINCREMENT,
                id TEXT NOT NULL UNIQUE,
                scope TEXT NOT NULL,
                task TEXT NOT NULL,
                call TEXT NOT NULL,
                decision TEXT NOT NULL,
                before TEXT NOT NULL,
                after TEXT NOT NULL
            ) STRICT""",
            """CREATE TABLE remarks (
                scope TEXT NOT NULL,
                incarnation INTEGER NOT NULL,
                task TEXT NOT NULL,
                call TEXT NOT NULL,
                number INTEGER NOT NULL,
                owner TEXT NOT NULL,
                token INTEGER NOT NULL,
                attempt INTEGER NOT NULL,
                outcome BLOB,
                outcome_schema TEXT NOT NULL,
                how TEXT NOT NULL,
                settled_us INTEGER NOT NULL,
                text TEXT NOT NULL,
                at_us INTEGER NOT NULL,
                PRIMARY KEY (scope, incarnation, task, call, number)
            ) STRICT, WITHOUT ROWID""",
        ),
    ),
)
"""Each with its name and its statements. Only ever appended to: a name that a file has had stays what it was."""

FIRST_ROW: Final = """
INSERT INTO store (id, namespace, token, incarnation, syncs) VALUES (1, ?, 0, 0, 0) ON CONFLICT DO NOTHING
"""

KNOWN: Final = frozenset(name for name, _ in MIGRATIONS)


def applied(connection: sqlite3.Connection) -> frozenset[str]:
    """The names of the migrations that a file has had, none for an empty one."""
    is_there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = '_sqlite_migrations'").fetchone()
    if is_there is None:
        return frozenset()
    rows: list[tuple[str]] = connection.execute(
        "SELECT name FROM _sqlite_migrations WHERE migration_set = ?", (MIGRATION_SET,)
    ).fetchall()
    return frozenset(name for (name,) in rows)


def check_known(store: str, names: frozenset[str]) -> None:
    """Raise `StoreUnusable` for a migration that this version of the package does not know."""
    newer = sorted(names - KNOWN)
    if newer:
        raise StoreUnusable(
            store,
            f"it was made by a newer effectgraph (this one does not know {', '.join(newer)})",
            "upgrade effectgraph in this environment",
        )


def check_current(connection: sqlite3.Connection, store: str) -> None:
    """Raise `StoreUnusable` for a file whose schema is not the one that this version of the package writes."""
    names = applied(connection)
    check_known(store, names)
    lacking = [name for name, _ in MIGRATIONS if name not in names]
    if lacking:
        why = f"its schema is older (it lacks {', '.join(lacking)})" if names else "it is empty, so no store yet"
        raise StoreUnusable(
            store, f"{why}; nothing was changed", "open it once for writing, which brings it up to date"
        )


def application_id(connection: sqlite3.Connection) -> int:
    """The mark in the file's header, 0 if it has none."""
    row: tuple[int] = connection.execute("PRAGMA application_id").fetchone()
    return row[0]


def migrate(connection: sqlite3.Connection, store: str, namespace: str | None) -> None:
    """Bring a file that is ours or empty to the newest schema, in one transaction; others wait for it meanwhile.

    Durable on return, if the connection syncs its commits.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        names = applied(connection)
        check_known(store, names)
        if names != KNOWN:
            if not names:
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            _apply(connection)
            connection.execute(FIRST_ROW, (namespace or uuid.uuid4().hex,))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _apply(connection: sqlite3.Connection) -> None:
    # Here and not above: a store that is up to date opens without it.
    import sqlite_utils

    migrations = sqlite_utils.Migrations(MIGRATION_SET)
    for name, statements in MIGRATIONS:

        @migrations(name=name)
        def run(db: sqlite_utils.Database, statements: tuple[str, ...] = statements) -> None:
            for statement in statements:
                db.conn.execute(statement)

    # Inside our transaction, where each of its own becomes a savepoint.
    migrations.apply(sqlite_utils.Database(connection, recursive_triggers=False, execute_plugins=False))
