"""The folder of one demo, and the files in it."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

import attrs

from effectgraph.cli.demo.errors import FolderUnfit
from effectgraph.effects.targets import LockFolder, TargetUnusable

ITEM: Final = "teapot"
STOCK: Final = 10
"""Items in stock before the first order: more than the demo has orders."""

_WRITABLE: Final = "name one with --dir that you can write, on a disk of this machine"


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

    @property
    def lock_folder(self) -> LockFolder:
        """The lock files as a file target wants them. Raises `TargetUnusable` where files cannot be locked."""
        return LockFolder(str(self.locks))

    def fill(self) -> None:
        """Put the shop's stock in place. Raises `OSError`, `sqlite3.Error`, `TargetUnusable` if it cannot."""
        self.log.touch()
        _ = self.lock_folder
        with closing(sqlite3.connect(self.shop)) as connection, connection:
            connection.execute("CREATE TABLE stock (item TEXT PRIMARY KEY, pieces INTEGER NOT NULL) STRICT")
            connection.execute("CREATE TABLE reserved (order_id TEXT NOT NULL, item TEXT NOT NULL) STRICT")
            connection.execute("INSERT INTO stock VALUES (?, ?)", (ITEM, STOCK))


def make_place(folder: Path | None) -> Place:
    """Make a filled place in this folder, or in a temporary one. Raises `FolderUnfit` if it cannot be used."""
    if folder is None:
        try:
            return _filled(Path(tempfile.mkdtemp(prefix="effectgraph-demo-")))
        except OSError as error:
            raise FolderUnfit(tempfile.gettempdir(), f"no temporary folder ({error})", "use --dir PATH") from error
    shown = str(folder)
    try:
        shown.encode()
        folder.mkdir(parents=True, exist_ok=True)
        empty = next(folder.iterdir(), None) is None
    except UnicodeEncodeError as error:
        raise FolderUnfit(repr(shown), "its name is not UTF-8", "name another one with --dir") from error
    except (FileExistsError, NotADirectoryError) as error:
        raise FolderUnfit(shown, "there is a file in its place", "name another one with --dir") from error
    except OSError as error:
        raise FolderUnfit(shown, f"it cannot be used ({error.strerror})", _WRITABLE) from error
    if not empty:
        raise FolderUnfit(shown, "it is not empty", "name an empty one with --dir, or one that is not there yet")
    return _filled(folder)


def _filled(folder: Path) -> Place:
    place = Place(folder.resolve())
    try:
        place.fill()
    except TargetUnusable as error:
        raise FolderUnfit(str(folder), error.why, _WRITABLE) from error
    except (OSError, sqlite3.Error) as error:
        raise FolderUnfit(str(folder), f"it cannot be written ({error})", _WRITABLE) from error
    return place
