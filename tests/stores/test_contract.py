"""The contract of a store, on every store that is here."""

from __future__ import annotations

from contextlib import AbstractContextManager

import store_places
from effectgraph.stores.testing import Needs, Place, StoreContract


class TestFile(StoreContract):
    """A store in a file."""

    def place(self) -> AbstractContextManager[Place]:
        return store_places.a_file()

    def unchecked(self, why: str) -> None:
        assert Needs.POWER_CUT.value in why


class TestMemory(StoreContract):
    """A store in memory."""

    def place(self) -> AbstractContextManager[Place]:
        return store_places.memory()


class TestModel(StoreContract):
    """The model."""

    def place(self) -> AbstractContextManager[Place]:
        return store_places.model()

    def unchecked(self, why: str) -> None:
        raise AssertionError(why)
