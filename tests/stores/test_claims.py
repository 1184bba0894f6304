"""What threads leave in the file. What a claim may do is in the contract's checks: `test_contract.py`."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from effectgraph.stores import SqliteStore
from effectgraph.stores.testing.remarks import remark
from store_records import THREAD, begun, commit, created, key, piece, question, settled


def rows(path: Path) -> dict[str, int]:
    """How many rows each table of a store file has, of those that have any; the owners' table aside."""
    connection = sqlite3.connect(path)
    tables = [
        str(name)
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if not str(name).startswith(("_", "sqlite_", "owners"))
    ]
    counts = {name: int(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]) for name in tables}
    connection.close()
    return {name: count for name, count in counts.items() if count}


def test_a_deleted_thread_leaves_no_row(path: Path) -> None:
    """Nothing of a deleted thread stays in the file."""

    with SqliteStore(path) as store:
        claim = created(store).claim
        settled(store, claim)
        store.commit(claim, commit(1, piece(), piece("notes", b"1", appended=True))).wait()
        begun(store, claim, key("second", task="2.pay"))
        store.ask(claim, "2.pay", (question(),)).wait()
        store.remark(remark(claim)).wait()
        store.take(THREAD, "stuck", at_us=1).wait()
        store.delete(THREAD, drop_unresolved=True).wait()

    assert {"store": 1} == rows(path)
