"""The contract of a store, on every store that is here."""

from __future__ import annotations

from contextlib import AbstractContextManager

import store_places
from effectgraph.stores.testing import Place, StoreContract


class TestFile(StoreContract):
    """A store in a file."""

    def place(self) -> AbstractContextManager[Place]:
        return store_places.a_file()


class TestMemory(StoreContract):
    """A store in memory."""

    def place(self) -> AbstractContextManager[Place]:
        return store_places.memory()


class TestModel(StoreContract):
    """The model."""

    def place(self) -> AbstractContextManager[Place]:
        return store_places.model()
