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
    here = threading.get_ident()
    called, go_on = threading.Event(), threading.Event()
    callers: list[int] = []

    def wait() -> None:
        callers.append(threading.get_ident())
        called.set()
        # The flush can have been made before it is asked for: then it is this thread that is called.
        if callers[-1] != here:
            assert go_on.wait(PATIENCE_S)

    while callers[-1:] in ([], [here]):
        called.clear()
        store.flush().when_synced(wait)
        assert called.wait(PATIENCE_S)
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
