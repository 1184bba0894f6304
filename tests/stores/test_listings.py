"""Listings as SQLite makes them. What they list is in the contract's checks: `test_contract.py`."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from effectgraph.stores import SqliteStore, Store
from effectgraph.stores.sqlite import reads


@pytest.mark.parametrize("limit", [0, -1, True, 1.5])
def test_EL17_a_limit_is_a_number_of_rows(store: Store, limit: int) -> None:
    """A limit that is no number of rows is a mistake of the caller, for who does not check types as well."""

    with pytest.raises(ValueError, match="limit"):
        store.unresolved(limit=limit).wait()
    with pytest.raises(ValueError, match="limit"):
        store.runnable("shop", limit=limit).wait()


@pytest.mark.parametrize(
    ("statement", "values", "index"),
    [
        (reads.RUNNING, ("shop", None, ""), "running"),
        (reads.NEXT_OWNER, ("shop", ""), "running"),
        (reads.WITHOUT_OUTCOME, ("", "", ""), "without_outcome"),
    ],
)
def test_listings_read_an_index(path: Path, statement: str, values: tuple[object, ...], index: str) -> None:
    """What is listed is read from an index in its order: no scan of threads or effects, no sorting."""

    SqliteStore(path).__exit__(None, None, None)
    connection = sqlite3.connect(path)
    steps = [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)]
    connection.close()

    assert any(f"USING INDEX {index} (" in step or f"USING COVERING INDEX {index} (" in step for step in steps), steps
    assert [] == [step for step in steps if "SCAN" in step or "TEMP B-TREE" in step]
