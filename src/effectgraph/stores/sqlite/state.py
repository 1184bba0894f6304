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


def write(connection: sqlite3.Connection, ref: int, step: int, pieces: Sequence[Piece]) -> None:
    """Add what a step changed. A piece that was not appended begins its field anew; older pieces stay for history."""
    for piece in pieces:
        connection.execute(WRITE, (ref, piece.field, step, piece.appended, piece.value, piece.schema))
        connection.execute(FIRST_HEAD if piece.appended else MOVE_HEAD, (ref, piece.field, step))


def read(connection: sqlite3.Connection, ref: int) -> tuple[Piece, ...]:
    """The pieces of the current state, by field and then in the order to put them together."""
    rows: list[tuple[str, bytes, str, int]] = connection.execute(READ, (ref,)).fetchall()
    return tuple(
        Piece(field=field, value=value, schema=schema, appended=bool(appended))
        for field, value, schema, appended in rows
    )
