"""Opening a store by its path or address."""

from __future__ import annotations

import os
from typing import Literal

from effectgraph.stores.errors import StoreUnusable
from effectgraph.stores.sqlite.paths import path_text
from effectgraph.stores.sqlite.store import SqliteStore


def open_store(
    path_or_url: str | os.PathLike[str],
    *,
    namespace: str | None = None,
    sync: Literal["commit", "all"] = "commit",
    read_only: bool = False,
) -> SqliteStore:
    """Open the store at a path, made if it is absent; ":memory:" is one for this process, of which nothing is durable.

    `namespace` names the store in all keys that leave it; it is made up if the store is new and none is given.
    `sync="all"` syncs every write before it is acknowledged. Blocks while another process brings the file to a
    newer schema. Close the store with `aclose()`, or use it in a `with` block.

    With `read_only` nothing is made, locked or written, whatever is found, and no permission to write is needed; the
    file may be in use. Every write then raises `StoreReadOnly`.

    A path is taken as it is: no "~" in it is expanded, and a link leads to the file that it names.

    Raises `StoreUnusable` for a file that is not a store or is newer than this program, for a folder (or with
    `read_only` a file) that is not there, and for an address of a kind that is not there yet; `StoreBusy` if it stays
    locked.
    """
    where = path_text(path_or_url)
    if where.startswith(("postgresql://", "postgres://")):
        # The address can hold a password.
        raise StoreUnusable(
            where.partition("://")[0], "stores in PostgreSQL are not there yet", "give the path of a file"
        )
    return SqliteStore(where, namespace=namespace, sync=sync, read_only=read_only)
