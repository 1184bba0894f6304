"""The contract's checks notice: for each of them a store that is broken on purpose."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import pytest

import broken_stores
from broken import BROKEN
from effectgraph.stores.testing import Place, check_names, check_store
from store_places import model_place

STORES = broken_stores.by_name()

PATIENCE_S = 1.0
"""A broken store that is to do something by itself is not waited for longer: it never does."""


@pytest.mark.parametrize("name", STORES)
def test_a_broken_store_is_noticed(name: str) -> None:
    """Each check that is named for a broken store fails on it."""

    broken = STORES[name]

    @contextmanager
    def place() -> Generator[Place]:
        yield model_place(broken.kind, broken.kind.data_kind())

    found = check_store(place, only=lambda check: check in broken.checks, patience_s=PATIENCE_S)

    assert sorted(broken.checks) == sorted(each.check for each in found)


def test_every_check_notices_something() -> None:
    """No check is there that no broken store fails: whoever adds one adds a store that it is for."""

    noticed = {check for broken in STORES.values() for check in broken.checks}

    assert sorted(check_names()) == sorted(noticed)


def test_broken_stores_have_names_of_their_own() -> None:
    """No broken store hides another of its name."""

    assert len(STORES) == len(BROKEN)
