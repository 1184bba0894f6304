"""Where a store's file may be, and how a new one is made."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from effectgraph.stores.errors import StoreUnusable

PATH_BYTES: Final = 504
"""Bytes of a file's whole path: SQLite takes 512, and needs 8 of them for the names beside the file."""

BESIDE_BYTES: Final = len("-journal")
"""Bytes by which the longest name beside a store's file is longer than its own."""


def path_text(path: str | bytes | os.PathLike[str] | os.PathLike[bytes]) -> str:
    """A path as it was given. Raises `TypeError` for what is no text."""
    given = os.fspath(path)
    if isinstance(given, bytes):
        raise TypeError("the path of a store: text is needed, not bytes; os.fsdecode makes it one")
    return given


def store_file(given: str) -> Path:
    """The one name of a store's file: whole and without links, since owners are looked for beside it.

    Raises `StoreUnusable` for what cannot name a file.
    """
    if not given or given.endswith(os.sep) or "\0" in given:
        raise StoreUnusable(repr(given), "this names no file", "give the path of a file")
    try:
        file = Path(os.path.realpath(given))
    except OSError as error:
        raise StoreUnusable(given, f"this leads nowhere ({error})", "give a whole path") from error
    size_bytes = len(os.fsencode(file))
    if size_bytes > PATH_BYTES:
        raise StoreUnusable(
            str(file), f"its path has {size_bytes} bytes, and SQLite takes {PATH_BYTES}", "put it nearer to the root"
        )
    return file


def check_file(path: Path) -> None:
    """Raise `StoreUnusable` if there is no plain file."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        raise StoreUnusable(str(path), "it is not there; nothing was made", "look at the path") from None
    except OSError as error:
        raise StoreUnusable(str(path), f"it cannot be looked at ({error})", "look at who may read there") from error
    if not stat.S_ISREG(found.st_mode):
        raise StoreUnusable(str(path), "it is not a plain file", "give the path of a file")


def make_file(path: Path) -> None:
    """Make an empty file that is the user's alone, unless there is one. Raises `StoreUnusable`."""
    if not os.path.isdir(path.parent):
        raise StoreUnusable(str(path), f"the folder {path.parent} is not there", "make it, or look at the path")
    try:
        room_bytes = os.pathconf(path.parent, "PC_NAME_MAX") - BESIDE_BYTES
        if len(os.fsencode(path.name)) > room_bytes:
            raise StoreUnusable(
                str(path), f"its name is longer than {room_bytes} bytes, and files beside it need 8 more", "shorten it"
            )
        # Never opened when it is there: closing a second descriptor of a file drops every lock this process has on it.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        check_file(path)
    except OSError as error:
        raise StoreUnusable(str(path), f"it cannot be made ({error})", "look at who may write there") from error
    else:
        os.close(descriptor)
