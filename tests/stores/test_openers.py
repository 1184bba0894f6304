"""Many who open one file at the same moment: a new one, one of an older version, one that is just being closed."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from effectgraph.stores import SqliteStore, StoreUnusable
from effectgraph.stores.sqlite.schema import MIGRATIONS
from store_files import OLD_THREADS, contents, make_older
from store_processes import FAULTS, finish, said, start_together, tell

OPENERS: Final = 10

ROUNDS: Final = int(os.environ.get("EFFECTGRAPH_TEST_OPENINGS", "5"))
"""Rounds in which all of them open a new store together."""


def opened_by_many(paths: list[Path]) -> list[list[str]]:
    """What the openers said of each path, each of which they opened at once."""
    children = start_together(OPENERS, "open_each", *paths, child=FAULTS)
    found: list[list[str]] = []
    for path in paths:
        found.append([said(child) for child in children])
        for child in children:
            tell(child, f"close {path}")
    for child in children:
        finish(child)
    return found


def check_whole(path: Path) -> None:
    """Fail unless the file is sound, has had each schema change once, and nothing lies beside it."""
    with closing(sqlite3.connect(path)) as connection:
        assert [("ok",)] == connection.execute("PRAGMA integrity_check").fetchall()
        names = connection.execute("SELECT name FROM _sqlite_migrations ORDER BY id").fetchall()
    assert [(name,) for name, _ in MIGRATIONS] == names


def test_S02_many_processes_open_a_new_store_or_an_older_one_together(tmp_path: Path) -> None:
    """Of ten processes that open one file together one makes it, or brings it up to date, and all have the same store.

    They do so several times with a new file, and with one of each older version, of which no row is lost.
    """

    new = [tmp_path / f"new-{number}.db" for number in range(ROUNDS)]
    older = [tmp_path / f"older-{known}.db" for known in range(1, len(MIGRATIONS))]
    for known, path in enumerate(older, start=1):
        make_older(path, known)

    found = opened_by_many([*older, *new])

    for namespaces in found[len(older) :]:
        assert [namespaces[0]] * OPENERS == namespaces
        assert "Store" not in namespaces[0]
    assert [["older"] * OPENERS] * len(older) == found[: len(older)]
    for path in (*older, *new):
        check_whole(path)
    for path in older:
        check_rows(path)
    assert {path.name for path in (*older, *new)} == set(contents(tmp_path))


def check_rows(path: Path) -> None:
    """Fail unless all that an older version had written is there, and can be gone on with."""
    with SqliteStore(path) as store:
        names = [f"order-{number}" for number in range(1, OLD_THREADS + 1)]
        assert sorted(names) == list(store.runnable("shop", limit=OLD_THREADS + 1).wait())
        assert sorted(names) == [found.key.scope for found in store.unresolved(limit=OLD_THREADS + 1).wait()]
        for number, name in enumerate(names, start=1):
            view = store.read(name).wait()
            assert [str(number).encode()] == [piece.value for piece in view.pieces]
            assert (view.token, view.incarnation, [task.id for task in view.tasks]) == (number, number, ["1.pay"])
        assert store.claim(names[0]).wait().claim.token == OLD_THREADS + 1
        assert store.check().wait() == ()


def test_who_opens_while_others_close_finds_everything(path: Path) -> None:
    """Processes that open one store, write and close it, again and again, never hinder each other and lose nothing."""

    children = start_together(3, "come_and_go", path, 10, child=FAULTS)
    for child in children:
        finish(child)

    with SqliteStore(path) as store:
        expected = sorted(f"order-{child.pid}-{number}" for child in children for number in range(10))
        assert expected == list(store.runnable("shop").wait())
    check_whole(path)
    assert {path.name} == set(contents(path.parent))


def test_a_migration_that_fails_leaves_the_older_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema change that fails half-way is taken back whole; the file is then opened as if it had not been tried."""

    broken = (*MIGRATIONS, ("9999_broken", ("CREATE TABLE half (id INTEGER)", "CREATE TABLE half (id INTEGER)")))
    make_older(path, len(MIGRATIONS))
    monkeypatch.setattr("effectgraph.stores.sqlite.schema.MIGRATIONS", broken)
    monkeypatch.setattr("effectgraph.stores.sqlite.schema.KNOWN", frozenset(name for name, _ in broken))
    monkeypatch.setattr("effectgraph.stores.sqlite.connect.KNOWN", frozenset(name for name, _ in broken))
    before = contents(path.parent)

    with pytest.raises(StoreUnusable, match="half"):
        SqliteStore(path)

    monkeypatch.undo()
    assert before == contents(path.parent)
    check_whole(path)
