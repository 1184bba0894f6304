"""What an open store begins with: its connection, its namespace, its owner, its files."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

import attrs

from effectgraph.stores.errors import StoreUnusable
from effectgraph.stores.owners import Owner
from effectgraph.stores.sqlite.connect import open_file, open_memory, read_namespace
from effectgraph.stores.sqlite.faults import as_ours
from effectgraph.stores.sqlite.files import Files

MEMORY: Final = ":memory:"


@attrs.frozen
class Opened:
    """What a store has once it is open. The caller hands the connection on and keeps no reference to it."""

    connection: sqlite3.Connection
    namespace: str
    owner: Owner
    files: Files


def open_to_write(file: Path | None, namespace: str | None, busy_s: float) -> Opened:
    """Open a file, which is made if it is absent, or a store in memory; become an owner of it.

    Raises `StoreUnusable`, `StoreBusy`; then nothing is open, and nobody an owner.
    """
    store = MEMORY if file is None else str(file)
    connection = open_memory(namespace) if file is None else open_file(file, namespace, busy_s)
    owner: Owner | None = None
    try:
        found = accepted(store, read_namespace(connection), namespace)
        owner = Owner.in_memory() if file is None else Owner.beside(file)
        paths = () if file is None else (*(f"{file}{end}" for end in ("", "-wal", "-shm")), *owner.lock_files)
        return Opened(connection, found, owner, Files.at(store, paths))
    except BaseException as error:
        connection.close()
        if owner is not None:
            owner.let_go()
        if isinstance(error, sqlite3.Error):
            raise as_ours(store, error) from error
        raise


def accepted(store: str, found: str, asked_for: str | None) -> str:
    """The namespace of a store. Raises `StoreUnusable` if another one was asked for."""
    if asked_for not in (None, found):
        raise StoreUnusable(store, f"its namespace is {found!r}", "give that one, or none")
    return found
