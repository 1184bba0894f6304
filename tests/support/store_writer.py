"""Holding up a store's writer, so that a test decides what waits together."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

from effectgraph.stores import Store

PATIENCE_S = 60
"""What a test waits at most for another thread: long past every bound that is checked elsewhere."""


@contextmanager
def held_up(store: Store) -> Generator[None]:
    """Everything that is written inside waits, and is one group at the end."""
    inside, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        inside.set()
        assert go_on.wait(PATIENCE_S)

    store.flush().when_synced(wait)
    assert inside.wait(PATIENCE_S)
    try:
        yield
    finally:
        go_on.set()


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Another connection holds the file's write lock."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
