"""SQLite alone, one insert a commit: the limit for everything that is stored before it is acknowledged."""

from __future__ import annotations

import functools
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Literal

from bench_child import WARM_UP, one_by_one, serve

PAYLOAD = b"x" * 200
"""About the size of an intent with a small request."""


def commits(level: Literal["FULL", "NORMAL"], count: int, folder: Path) -> float:
    """Autocommitted inserts in WAL mode at this `PRAGMA synchronous`."""
    with closing(sqlite3.connect(folder / "raw.db", isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(f"PRAGMA synchronous={level}")
        db.execute("CREATE TABLE row (number INTEGER NOT NULL, payload BLOB NOT NULL)")
        seconds = one_by_one(count, lambda number: db.execute("INSERT INTO row VALUES (?, ?)", (number, PAYLOAD)))
        stored = db.execute("SELECT count(*) FROM row").fetchone()
        if stored != (count + WARM_UP,):
            raise RuntimeError(f"raw SQLite holds {stored} rows, not {count + WARM_UP}")
        return seconds


if __name__ == "__main__":
    serve({"full": functools.partial(commits, "FULL"), "normal": functools.partial(commits, "NORMAL")})
