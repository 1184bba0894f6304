"""What a group of writes costs in statements, and what several processes that write make of their syncs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from effectgraph.stores import SqliteStore
from effectgraph.stores.records import Sync
from effectgraph.stores.sqlite.group import TOUCH, make
from effectgraph.stores.sqlite.lanes import Lanes
from effectgraph.stores.sqlite.receipts import Desk
from effectgraph.stores.sqlite.turns import Turns
from effectgraph.stores.sqlite.writes import Write
from store_nursery import Nursery

INSERT = "INSERT INTO numbers VALUES (1)"


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A file with one table, whose numbers are all different."""
    with closing(sqlite3.connect(tmp_path / "numbers.db", isolation_level=None)) as opened:
        opened.execute("CREATE TABLE numbers (number INTEGER PRIMARY KEY)")
        opened.execute("CREATE TABLE store (syncs INTEGER)")
        opened.execute("INSERT INTO store VALUES (0)")
        yield opened


def run(sql: str, connection: sqlite3.Connection) -> object:
    """What a write does: one statement."""
    return connection.execute(sql).rowcount


def statements(connection: sqlite3.Connection, *writes: str, touch: bool = False) -> list[str]:
    """What is executed for a group of writes of one statement each."""
    seen: list[str] = []
    desk = Desk("numbers")
    group = [Write(desk, partial(run, each), Sync.NOW) for each in writes]
    connection.set_trace_callback(seen.append)
    make(connection, Turns(None, 0.0), group, Lanes(), touch=touch)
    connection.set_trace_callback(None)
    return seen


def test_a_write_that_waits_alone_pays_for_nothing(connection: sqlite3.Connection) -> None:
    """One write is its own statements between the two of a transaction: there is nobody to be kept apart from."""

    assert ["BEGIN IMMEDIATE", INSERT, "COMMIT"] == statements(connection, INSERT)


def test_a_write_that_fails_alone_is_rolled_back_with_its_transaction(connection: sqlite3.Connection) -> None:
    """A single write that fails leaves nothing to commit."""

    statements(connection, INSERT)

    assert ["BEGIN IMMEDIATE", INSERT, "ROLLBACK"] == statements(connection, INSERT)


def test_writes_of_a_group_pay_two_statements_each(connection: sqlite3.Connection) -> None:
    """Each write of a group can be taken back alone, for two statements; the transaction is that of all of them."""

    seen = statements(connection, INSERT, INSERT, "INSERT INTO numbers VALUES (2)")

    assert [
        "BEGIN IMMEDIATE",
        *("SAVEPOINT write", INSERT, "RELEASE write"),
        *("SAVEPOINT write", INSERT, "ROLLBACK TO write", "RELEASE write"),
        *("SAVEPOINT write", "INSERT INTO numbers VALUES (2)", "RELEASE write"),
        "COMMIT",
    ] == seen
    assert [(1,), (2,)] == connection.execute("SELECT number FROM numbers").fetchall()


@pytest.mark.parametrize(("sql", "touched"), [("DELETE FROM numbers", [TOUCH]), (INSERT, [])])
def test_a_row_is_touched_only_when_nothing_else_changes(
    connection: sqlite3.Connection, sql: str, touched: list[str]
) -> None:
    """What must reach the disk with a transaction that changes nothing costs one row, and nothing otherwise."""

    assert ["BEGIN IMMEDIATE", sql, *touched, "COMMIT"] == statements(connection, sql, touch=True)


def test_everybody_is_synced_by_himself(nursery: Nursery, path: Path) -> None:
    """While four processes write without asking for a sync and without a pause, each of them still makes its own.

    What is to be called once a write is on disk is called in each, long before it ends.
    """

    assert nursery.run("write_until_synced", path, 4) == "done"


def test_sync_all_holds_for_each_of_many(nursery: Nursery, path: Path) -> None:
    """With `sync="all"` each write of each process is on disk before it is acknowledged, whoever writes beside it."""

    assert nursery.run("sync_all", path, 4, 25) == "done"

    with SqliteStore(path) as store:
        assert [25] * 4 == [store.read(f"order-{number}").wait().step for number in range(4)]
