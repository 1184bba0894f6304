"""The folder of one demo, and the files in it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import attrs

ITEM: Final = "teapot"
STOCK: Final = 10
"""Items in stock before the first order: more than the demo has orders."""


@attrs.frozen
class Place:
    """Where everything of one demo lies."""

    folder: Path

    @property
    def store(self) -> Path:
        """The store of effectgraph itself."""
        return self.folder / "store.db"

    @property
    def shop(self) -> Path:
        """The shop's database, with its stock."""
        return self.folder / "shop.db"

    @property
    def ledger(self) -> Path:
        """The file that gets a line for each receipt."""
        return self.folder / "ledger.txt"

    @property
    def provider(self) -> Path:
        """The payment server's own database."""
        return self.folder / "provider.db"

    @property
    def locks(self) -> Path:
        """Lock files, here so that they go when the demo's files go."""
        return self.folder / "locks"

    @property
    def log(self) -> Path:
        """What the demo's processes wrote to stderr."""
        return self.folder / "demo.log"

    def prepare(self) -> None:
        """Fill the shop. Raises `OSError` or `sqlite3.Error` if the folder cannot be written."""
        self.log.touch()
        with closing(sqlite3.connect(self.shop)) as connection, connection:
            connection.execute("CREATE TABLE stock (item TEXT PRIMARY KEY, pieces INTEGER NOT NULL) STRICT")
            connection.execute("CREATE TABLE reserved (order_id TEXT NOT NULL, item TEXT NOT NULL) STRICT")
            connection.execute("INSERT INTO stock VALUES (?, ?)", (ITEM, STOCK))
