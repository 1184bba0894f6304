"""Opening for reading only: what can be read, beside whom, and that nothing is touched."""

from __future__ import annotations

import inspect
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from effectgraph.stores import (
    Receipt,
    SqliteStore,
    Store,
    StoreClosed,
    StoreReadOnly,
    StoreUnusable,
    ThreadUnknown,
    open_store,
)
from effectgraph.stores.records import QuestionId, Ruling, Sync
from effectgraph.stores.sqlite.schema import MIGRATIONS
from effectgraph.stores.testing.samples import answer, decision, fork, question
from stable_ids import named
from store_files import found_in, make_older
from store_looks import READINGS, look, make, remark, unresolved
from store_records import (
    THREAD,
    commit,
    failure,
    intent,
    key,
    new_run,
    new_thread,
    outcome,
    outside,
)
from store_records import (
    closing as closing_of,
)


def test_what_is_read_is_what_a_writer_reads(path: Path) -> None:
    """Each reading gives what an open store gives, and reading a closed store leaves everything as it was."""

    make(path)
    with SqliteStore(path) as store:
        expected = look(store)
        namespace = store.namespace
    before = found_in(path.parent)

    with open_store(path, read_only=True) as store:
        assert expected == look(store)
        assert store.namespace == namespace
        with pytest.raises(ThreadUnknown):
            store.read("order-2").wait()
        assert before == found_in(path.parent)

    assert before == found_in(path.parent)


WRITES: dict[str, Callable[[SqliteStore], Receipt[object]]] = {
    "create": lambda store: store.create(new_thread("order-2")),
    "claim": lambda store: store.claim(THREAD),
    "take": lambda store: store.take(THREAD, "stuck", at_us=1),
    "renew": lambda store: store.renew(outside(store)),
    "release": lambda store: store.release(outside(store)),
    "start": lambda store: store.start(outside(store), new_run(1)),
    "attempt": lambda store: store.attempt(outside(store), "2.pay"),
    "commit": lambda store: store.commit(outside(store), commit(2)),
    "close": lambda store: store.close(outside(store), closing_of(2)),
    "fail": lambda store: store.fail(outside(store), "2.pay", failure()),
    "ask": lambda store: store.ask(outside(store), "2.pay", (question("q-2"),)),
    "answer": lambda store: store.answer(QuestionId("q-1"), answer()),
    "begin": lambda store: store.begin(outside(store), key("other", "script"), intent(), seen=None),
    "settle": lambda store: store.settle(outside(store), key(thread="script"), outcome(), seen=1, sync=Sync.NOW),
    "withdraw": lambda store: store.withdraw(outside(store), key(thread="script"), seen=1),
    "trouble": lambda store: store.trouble(outside(store), key(thread="script"), "?", seen=1),
    "uncertain": lambda store: store.uncertain(outside(store), key(thread="script"), seen=1),
    "drop": lambda store: store.drop(outside(store), key(thread="script")),
    "remark": lambda store: store.remark(remark(unresolved(store))),
    "decide": lambda store: store.decide(decision(unresolved(store), Ruling.ABANDON, "d-2")),
    "fork": lambda store: store.fork(fork(outside(store, THREAD), 1)),
    "prune": lambda store: store.prune(THREAD, before=1),
    "delete": lambda store: store.delete(THREAD),
}


def test_each_write_is_refused_at_the_call(path: Path) -> None:
    """Whatever would write says that the store was opened for reading, and changes nothing."""

    make(path)
    before = found_in(path.parent)

    with SqliteStore(path, read_only=True) as store:
        for write in WRITES.values():
            with pytest.raises(StoreReadOnly, match="opened for reading only") as refused:
                _ = write(store)
            assert (refused.value.store, store.counts.writes) == (str(path), 0)
        assert store.read(THREAD).wait().step == 1

    assert before == found_in(path.parent)


def test_every_operation_is_looked_at() -> None:
    """Each operation of a store is here as a reading or as a write."""

    operations = {name for name in vars(Store) if name[0] != "_" and inspect.isfunction(getattr(Store, name))}

    assert operations == {*READINGS, *WRITES, "aclose"}


def test_who_reads_is_no_owner(path: Path) -> None:
    """Who opened a store for reading has no lock, is not alive, and is in nobody's list."""

    make(path)
    with SqliteStore(path, read_only=True) as onlooker, SqliteStore(path) as writer:
        assert not onlooker.alive(onlooker.owner).wait()
        assert not writer.alive(onlooker.owner).wait()
        assert [f"{writer.owner}.lock"] == os.listdir(f"{path}-owners")


@pytest.mark.parametrize("name", ["store.db", "no such/store.db", "file/store.db"])
def test_what_is_not_there_is_not_made(tmp_path: Path, name: str) -> None:
    """A path at which nothing is is an error, and nothing is made."""

    tmp_path.joinpath("file").touch()
    before = found_in(tmp_path)

    with pytest.raises(StoreUnusable, match="not there; nothing was made"):
        open_store(tmp_path / name, read_only=True)

    assert before == found_in(tmp_path)


def test_an_empty_file_is_not_made_a_store(path: Path) -> None:
    """A file in which nothing is yet is refused, with the way out, and stays empty."""

    path.touch()
    before = found_in(path.parent)

    with pytest.raises(StoreUnusable, match=r"empty.*open it once for writing"):
        open_store(path, read_only=True)

    assert before == found_in(path.parent)


@pytest.mark.parametrize("known", range(len(MIGRATIONS)), ids=named)
def test_an_older_schema_is_refused(path: Path, known: int) -> None:
    """A file that an older version left is not changed: what it lacks is named, and opening it for writing adds it."""

    make_older(path, known) if known else path.touch()
    before = found_in(path.parent)

    with pytest.raises(StoreUnusable, match="open it once for writing") as refused:
        open_store(path, read_only=True)

    assert before == found_in(path.parent)
    assert not known or all(name in str(refused.value) for name, _ in MIGRATIONS[known:])
    SqliteStore(path).__exit__(None, None, None)
    with open_store(path, read_only=True) as store:
        assert store.unresolved().wait() == () or known


def test_a_newer_schema_is_refused_by_name(path: Path) -> None:
    """A file that a newer version has changed is refused, also when that happens after it was opened."""

    make(path)
    with SqliteStore(path, read_only=True) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute(
                "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
                " VALUES ('effectgraph', '9999_later', '')"
            )
        for _ in range(2):
            with pytest.raises(StoreUnusable, match="9999_later"):
                store.read(THREAD).wait()

    with pytest.raises(StoreUnusable, match=r"newer effectgraph .*9999_later"):
        open_store(path, read_only=True)


def test_a_namespace_is_checked(path: Path) -> None:
    """A namespace that is given must be the store's."""

    make(path)
    with SqliteStore(path) as store:
        namespace = store.namespace

    with open_store(path, read_only=True, namespace=namespace) as store:
        assert store.namespace == namespace
    with pytest.raises(StoreUnusable, match="its namespace is"):
        open_store(path, read_only=True, namespace="another")


def test_a_store_in_memory_cannot_be_read_only() -> None:
    """There is nothing to read in a store that is new."""

    with pytest.raises(StoreUnusable, match="nothing to read"):
        open_store(":memory:", read_only=True)


def test_a_closed_one_says_so(path: Path) -> None:
    """After it was closed, a store that was opened for reading says that it was closed, to writes as well."""

    make(path)
    store = SqliteStore(path, read_only=True)
    for _ in range(2):
        store.__exit__(None, None, None)

    with pytest.raises(StoreClosed):
        _ = store.read(THREAD)
    with pytest.raises(StoreClosed):
        _ = store.claim(THREAD)


@pytest.mark.parametrize("replaced", [True, False])
def test_a_file_that_was_replaced_is_not_read(path: Path, replaced: bool) -> None:
    """A file that is gone, or another one, since the store was opened is not read."""

    make(path)
    other = path.with_name("other.db")
    make(other)
    with SqliteStore(path, read_only=True) as store:
        other.replace(path) if replaced else path.unlink()

        with pytest.raises(StoreUnusable, match="replaced" if replaced else "deleted") as refused:
            store.read(THREAD).wait()

    assert "open it again" in refused.value.way_out
