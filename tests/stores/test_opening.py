"""Opening: what is made, and what is found again."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from effectgraph.stores import SqliteStore, StoreUnusable, open_store
from fresh_python import output_of
from store_records import THREAD, created


def test_what_is_stored_is_found_again(path: Path) -> None:
    """A store that is opened again has its threads, its namespace and its tokens."""

    with SqliteStore(path) as store:
        namespace, token = store.namespace, created(store).claim.token
    with SqliteStore(path) as store:
        assert store.namespace == namespace
        claimed = store.claim(THREAD).wait()
        assert claimed.claim.token > token
        assert claimed.claim.owner == store.owner


def test_a_memory_store_is_new_each_time() -> None:
    """A store in memory belongs to who opened it, and leaves no file."""

    with open_store(":memory:") as first, open_store(":memory:") as second:
        created(first)
        created(second)
        assert first.namespace != second.namespace

    assert not Path(":memory:").exists()


def test_EL26_EL29_a_schema_change_is_made_once(path: Path) -> None:
    """The file names the schema changes that it has had; opening it again makes none, and loads nothing for that."""

    SqliteStore(path).__exit__(None, None, None)

    loaded = output_of(
        "import sys\nfrom effectgraph.stores import open_store\n"
        f"open_store({str(path)!r}).__exit__(None, None, None)\nprint('sqlite_utils' in sys.modules)",
        path.parent,
    )

    assert "False\n" == loaded
    with closing(sqlite3.connect(path)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM _sqlite_migrations ORDER BY id")]
        (mark,) = connection.execute("PRAGMA application_id").fetchone()
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    assert names == ["0001_threads_effects_history", "0002_questions_decisions_remarks"]
    assert (mark, mode) == (0x45464752, "wal")


def test_a_namespace_can_be_given(path: Path) -> None:
    """A namespace that is given with a new store is its name for ever; another one is refused later."""

    with open_store(path, namespace="shop-eu") as store:
        assert store.namespace == "shop-eu"
    with open_store(path) as store:
        assert store.namespace == "shop-eu"
    with open_store(path, namespace="shop-eu") as store:
        assert store.namespace == "shop-eu"
    with pytest.raises(StoreUnusable, match="its namespace is 'shop-eu'"):
        open_store(path, namespace="shop-us")
    with open_store(path) as store:
        created(store)


@pytest.mark.parametrize("namespace", ["", "x" * 513, "a\nb"])
def test_a_namespace_can_be_part_of_a_key(path: Path, namespace: str) -> None:
    """A namespace that no key can hold is refused, and nothing is made."""

    with pytest.raises(ValueError, match="namespace"):
        open_store(path, namespace=namespace)

    assert not path.exists()


@pytest.mark.parametrize("address", ["postgresql://ann:secret@db/shop", "postgres://ann:secret@db/shop"])
def test_what_is_not_there_yet_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """An address of PostgreSQL is refused with a clear word and without its password, and makes no file."""

    monkeypatch.chdir(tmp_path)

    with pytest.raises(StoreUnusable, match="not there yet") as refused:
        open_store(address)

    assert "secret" not in str(refused.value)
    assert [] == list(tmp_path.iterdir())
