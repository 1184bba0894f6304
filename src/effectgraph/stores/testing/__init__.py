"""The promises of a store, as checks that anyone's store can be put to.

A store is checked where it can have new, empty data for each check: a `Place`, made by a context manager. With pytest,
subclass `StoreContract`; every promise is then a test of its own:

    class TestMyStore(StoreContract):
        @contextmanager
        def place(self) -> Iterator[Place]:
            with TemporaryDirectory() as folder:
                yield Place(open=partial(MyStore, Path(folder, "my.store")))

Without a test tool, call `check_store`: it gives the promises that are broken, in plain words.

>>> from collections.abc import Iterator
>>> from contextlib import contextmanager
>>> from functools import partial
>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> from effectgraph.stores import SqliteStore
>>> from effectgraph.stores.testing import Place, check_store, in_killed_process
>>> @contextmanager
... def a_file() -> Iterator[Place]:
...     with TemporaryDirectory() as folder:
...         open_store = partial(SqliteStore, Path(folder, "my.store"))
...         yield Place(open=open_store, killed=partial(in_killed_process, open_store))
>>> for broken in check_store(a_file, only=lambda name: "answer" in name):
...     print(broken)

Without `only` all checks are run; they take some seconds on a store that syncs to a disk.

What a place is not able to do (`shared`, `killed`, `power_cut`) is not checked there. The records that the checks use
are in `effectgraph.stores.testing.samples`, for checks of your own.
"""

from __future__ import annotations

from effectgraph.stores.testing.contract import Broken, StoreContract, check_names, check_store
from effectgraph.stores.testing.expect import PromiseBroken
from effectgraph.stores.testing.place import Checks, Needs, Place, in_killed_process, on_place, on_store

__all__ = [
    "Broken",
    "Checks",
    "Needs",
    "Place",
    "PromiseBroken",
    "StoreContract",
    "check_names",
    "check_store",
    "in_killed_process",
    "on_place",
    "on_store",
]
