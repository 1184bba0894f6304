"""Our two tables in a SQLite database of the user's: applied keys, and the newest token of each scope."""

from __future__ import annotations

import sqlite3
from typing import Final

import attrs

from effectgraph.effects.current import CurrentEffect

_APPLIED_TABLE: Final = """
CREATE TABLE IF NOT EXISTS effectgraph_applied (
    scope TEXT NOT NULL,
    task TEXT NOT NULL,
    call TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    outcome BLOB NOT NULL,
    token INTEGER NOT NULL,
    applied_at TEXT NOT NULL,
    answered INTEGER NOT NULL,
    PRIMARY KEY (scope, task, call)
) WITHOUT ROWID
"""
_TOKENS_TABLE: Final = """
CREATE TABLE IF NOT EXISTS effectgraph_tokens (
    scope TEXT NOT NULL PRIMARY KEY,
    token INTEGER NOT NULL,
    writes INTEGER NOT NULL
) WITHOUT ROWID
"""
_NEWEST: Final = "SELECT token FROM effectgraph_tokens WHERE scope = ?"
_RAISE: Final = """
INSERT INTO effectgraph_tokens VALUES (?, ?, 1)
ON CONFLICT (scope) DO UPDATE SET token = excluded.token, writes = writes + 1
"""
_FIND: Final = "SELECT fingerprint, outcome FROM effectgraph_applied WHERE scope = ? AND task = ? AND call = ?"
_RECORD: Final = """
INSERT INTO effectgraph_applied VALUES (?, ?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), 0)
"""
_ANSWER: Final = "UPDATE effectgraph_applied SET answered = answered + 1 WHERE scope = ? AND task = ? AND call = ?"
_FORGET: Final = "DELETE FROM effectgraph_applied WHERE scope = ? AND task = ? AND call = ?"

_NO_SCOPE: Final = ""
"""No effect has this scope: its row is for writes that only have to take earlier ones to the disk with them."""


@attrs.frozen
class Applied:
    """What is recorded of an effect that was applied: the fingerprint of its request, and its encoded outcome."""

    fingerprint: str
    outcome: bytes


@attrs.frozen
class Tables:
    """The tables as one connection sees them. Raises `sqlite3.Error`; transactions are the caller's."""

    connection: sqlite3.Connection

    def make(self) -> None:
        """Make the tables that are not there."""
        self.connection.execute(_APPLIED_TABLE)
        self.connection.execute(_TOKENS_TABLE)

    def newest_token(self, scope: str) -> int:
        """The newest token seen of a scope, 0 if none was."""
        row: tuple[int] | None = self.connection.execute(_NEWEST, (scope,)).fetchone()
        return 0 if row is None else row[0]

    def raise_token(self, scope: str, token: int) -> None:
        """Record the newest token of a scope."""
        self.connection.execute(_RAISE, (scope, token))

    def write_something(self) -> None:
        """Change a row that means nothing, so that committing syncs, and with it all commits before."""
        self.raise_token(_NO_SCOPE, 0)

    def find(self, effect: CurrentEffect) -> Applied | None:
        """What is recorded under an effect's key."""
        row: tuple[str, bytes] | None = self.connection.execute(_FIND, _key(effect)).fetchone()
        return None if row is None else Applied(*row)

    def record(self, effect: CurrentEffect, outcome: bytes) -> None:
        """Record that an effect was applied. Raises `TypeError` if the outcome is not bytes."""
        values = (*_key(effect), effect.fingerprint, memoryview(outcome), effect.token)
        self.connection.execute(_RECORD, values)

    def count_answer(self, effect: CurrentEffect) -> None:
        """Count that a recorded outcome was given back once more."""
        self.connection.execute(_ANSWER, _key(effect))

    def forget(self, effect: CurrentEffect) -> bool:
        """Remove an effect's key; whether it was there."""
        return self.connection.execute(_FORGET, _key(effect)).rowcount > 0


def _key(effect: CurrentEffect) -> tuple[str, str, str]:
    return effect.scope, effect.key.task, effect.key.call
