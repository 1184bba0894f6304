"""The state of a thread, by field and piece."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from effectgraph.stores.records import Piece

WRITE: Final = "INSERT INTO fields (thread, field, step, appended, value, schema) VALUES (?, ?, ?, ?, ?, ?)"
FIRST_HEAD: Final = "INSERT INTO heads (thread, field, base_step) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
MOVE_HEAD: Final = """
INSERT INTO heads (thread, field, base_step) VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET base_step = excluded.base_step
"""
READ: Final = """
SELECT f.field, f.value, f.schema, f.appended
FROM heads h JOIN fields f ON f.thread = h.thread AND f.field = h.field AND f.step >= h.base_step
WHERE h.thread = ?
ORDER BY h.field, f.step
"""
BASES: Final = """
SELECT field, coalesce(max(CASE WHEN appended THEN NULL ELSE step END), min(step)) AS base_step
FROM fields WHERE thread = :thread AND step <= :step GROUP BY field
"""
"""For each field, the step at which its value after a step begins."""
READ_AT: Final = f"""
WITH bases AS ({BASES})
SELECT f.field, f.value, f.schema, f.appended
FROM bases b JOIN fields f ON f.thread = :thread AND f.field = b.field AND f.step BETWEEN b.base_step AND :step
ORDER BY f.field, f.step
"""
COPY: Final = (
    f"""
    WITH bases AS ({BASES})
    INSERT INTO fields (thread, field, step, appended, value, schema)
    SELECT :to, f.field, f.step, f.appended, f.value, f.schema
    FROM bases b JOIN fields f ON f.thread = :thread AND f.field = b.field AND f.step BETWEEN b.base_step AND :step
    """,
    f"WITH bases AS ({BASES}) INSERT INTO heads (thread, field, base_step) SELECT :to, field, base_step FROM bases",
)
FORGET_BEFORE: Final = f"""
WITH bases AS ({BASES})
DELETE FROM fields WHERE thread = :thread AND step < (SELECT base_step FROM bases b WHERE b.field = fields.field)
"""

Pieces = list[tuple[str, bytes, str, int]]


def write(connection: sqlite3.Connection, ref: int, step: int, pieces: Sequence[Piece]) -> None:
    """Add what a step changed. A piece that was not appended begins its field anew; older pieces stay for history."""
    for piece in pieces:
        connection.execute(WRITE, (ref, piece.field, step, piece.appended, piece.value, piece.schema))
        connection.execute(FIRST_HEAD if piece.appended else MOVE_HEAD, (ref, piece.field, step))


def read(connection: sqlite3.Connection, ref: int) -> tuple[Piece, ...]:
    """The pieces of the current state, by field and then in the order to put them together."""
    return _pieces(connection.execute(READ, (ref,)).fetchall())


def read_at(connection: sqlite3.Connection, ref: int, step: int) -> tuple[Piece, ...]:
    """The pieces of the state after a step, in the same order."""
    return _pieces(connection.execute(READ_AT, {"thread": ref, "step": step}).fetchall())


def copy(connection: sqlite3.Connection, ref: int, step: int, to: int) -> None:
    """Give another thread the state after a step."""
    for statement in COPY:
        connection.execute(statement, {"thread": ref, "step": step, "to": to})


def forget_before(connection: sqlite3.Connection, ref: int, step: int) -> None:
    """Remove the pieces that only states before a step need."""
    connection.execute(FORGET_BEFORE, {"thread": ref, "step": step})


def _pieces(rows: Pieces) -> tuple[Piece, ...]:
    return tuple(
        Piece(field=field, value=value, schema=schema, appended=bool(appended))
        for field, value, schema, appended in rows
    )
