"""Store files that a forked process has inherited open, and so must not open again."""

from __future__ import annotations

import functools
import os
from typing import Self

import attrs

from effectgraph.stores.errors import StoreUnusable


@attrs.frozen(eq=False)
class Use:
    """One open store of one process: from before its file is opened until its connections are closed.

    SQLite keeps a table of the files that a process has open and of the locks that it has on them. A forked process
    inherits the table without the locks. A store that is opened there anew has none of its own, so when the parent
    closes, the log goes that the child writes to, and what the child was told is on disk is lost.
    """

    store: str
    pid: int

    @classmethod
    def begin(cls, store: str) -> Self:
        """Note that a store file is about to be opened. Raises `StoreUnusable` if this process inherited it open."""
        here = os.getpid()
        inherited = {use.pid for use in tuple(_uses()) if use.store == store and use.pid != here}
        if inherited:
            raise StoreUnusable(
                store,
                f"process {inherited.pop()} had it open when this process was forked from it, and what SQLite inherits "
                "by that makes writes get lost",
                "close it there before the fork, or start this process without one (multiprocessing's 'spawn' or "
                "'forkserver')",
            )
        use = cls(store, here)
        _uses().add(use)
        return use

    def end(self) -> None:
        """Note that its connections are closed. A second call does nothing."""
        _uses().discard(self)


@functools.cache
def _uses() -> set[Use]:
    return set()
