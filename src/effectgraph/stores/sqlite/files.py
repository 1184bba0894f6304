"""The files of an open store: whether they are still those that were opened."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Self

import attrs

from effectgraph.stores.errors import StoreUnusable

Identity = tuple[int, int]


@attrs.frozen
class Files:
    """Paths of an open store, each with what was found there. SQLite goes on in a file that was deleted or replaced.

    What is written then is lost with the last process that has it open, and who opens the store anew knows nothing of
    those that have it open; so it is looked at before each transaction, which takes microseconds. A stranger who comes
    between the look and the commit is not seen.
    """

    _store: str
    _opened: tuple[tuple[str, Identity], ...]

    @classmethod
    def at(cls, store: str, paths: Iterable[str]) -> Self:
        """The files as they are now. Raises `StoreUnusable`."""
        return cls(store, tuple((path, _identity(store, path)) for path in paths))

    def check(self) -> None:
        """Raise `StoreUnusable` if a file is gone or another one."""
        for path, opened in self._opened:
            if _identity(self._store, path) != opened:
                raise _lost(self._store, path, "replaced")


def _identity(store: str, path: str) -> Identity:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise _lost(store, path, "deleted or moved") from None
    except OSError as error:
        raise StoreUnusable(
            store, f"{path} cannot be looked at ({error}); nothing was written", "look at who may read its folder"
        ) from error
    return found.st_dev, found.st_ino


def _lost(store: str, path: str, what: str) -> StoreUnusable:
    return StoreUnusable(
        store,
        f"{path} was {what} while the store was open; nothing was written",
        "stop every process that uses it, put its files back, then open it again",
    )
