"""Where the contract of a store is checked: a file, memory, the model."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from effectgraph.stores import SqliteStore
from effectgraph.stores.testing import Place, in_killed_process
from effectgraph.stores.testing.place import Work
from model_data import ModelData
from model_store import ModelStore


@contextmanager
def a_file() -> Generator[Place]:
    """A SQLite file of its own, which processes can have open and be killed."""
    with TemporaryDirectory() as folder:
        open_store = partial(SqliteStore, Path(folder, "store.db"))
        yield Place(open=open_store, killed=partial(in_killed_process, open_store))


@contextmanager
def memory() -> Generator[Place]:
    """A SQLite store in memory: nobody else can open it, and it is gone when it is closed."""
    yield Place(open=partial(SqliteStore, ":memory:"), shared=False)


@contextmanager
def model() -> Generator[Place]:
    """The model, whose owners can die and whose power can go."""
    yield model_place(ModelStore, ModelData())


def model_place(kind: type[ModelStore], data: ModelData) -> Place:
    """Data of a model of some kind, perhaps a broken one."""

    def killed(work: Work) -> None:
        store = kind(data)
        work(store)
        store.kill()

    return Place(open=partial(kind, data), killed=killed, power_cut=data.power_cut)
