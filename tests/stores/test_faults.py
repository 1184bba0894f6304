"""Faults: a locked file, a full disk, and what they leave."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from effectgraph.stores import ClaimHeld, SqliteStore, StoreBusy
from store_processes import run
from store_records import THREAD, begun, commit, created, key, new_thread, outside
from store_writer import locked


def test_a_locked_file_is_waited_for(path: Path) -> None:
    """A write waits while another process holds the file's write lock; readings do not; nothing fails."""

    with SqliteStore(path) as store:
        claim = created(store).claim
        with locked(path):
            receipt = store.commit(claim, commit(1))
            assert store.read(THREAD).wait().step == 0
            assert not receipt.done()

        receipt.wait()

        assert store.read(THREAD).wait().step == 1


def test_S01_who_waits_too_long_is_told_so(path: Path) -> None:
    """After the time that the store waits, what waited fails with how long it was, and nothing of it was written."""

    with SqliteStore(path, busy_s=0.05) as store:
        with locked(path):
            receipts = [store.create(new_thread(f"order-{number}")) for number in range(3)]
            for receipt in receipts:
                with pytest.raises(StoreBusy) as refused:
                    receipt.wait()
                assert refused.value.waited_s >= 0.05
                assert "nothing was written" in str(refused.value)

        assert store.runnable("shop").wait() == ()
        assert created(store, "order-0").claim.token == 1


def test_a_release_that_fails_leaves_the_thread_to_this_process(path: Path) -> None:
    """A run is over when its claim was to be released, although that was not written: this process claims it again."""

    with SqliteStore(path, busy_s=0.05) as store, SqliteStore(path) as other:
        claim = created(store).claim
        with locked(path), pytest.raises(StoreBusy):
            store.release(claim).wait()
        with pytest.raises(ClaimHeld):
            other.claim(THREAD).wait()
        assert store.runnable("shop").wait() == (THREAD,)
        assert store.runnable("shop", after=THREAD).wait() == ()

        assert store.claim(THREAD).wait().claim.token > claim.token
        assert store.runnable("shop").wait() == ()


def test_opening_waits_for_who_is_making_the_file(path: Path) -> None:
    """A store that another process is just making is waited for, and then opened as that one made it."""

    opened: list[str] = []

    def open_it() -> None:
        with SqliteStore(path) as store:
            opened.append(store.namespace)

    path.touch()
    with locked(path):
        thread = threading.Thread(target=open_it)
        thread.start()
    thread.join()

    with SqliteStore(path) as store:
        assert opened == [store.namespace]


def test_opening_a_locked_file_fails_in_time(path: Path) -> None:
    """An empty file that stays locked cannot be opened, and the error says how long it was tried."""

    path.touch()
    with locked(path), pytest.raises(StoreBusy) as refused:
        SqliteStore(path, busy_s=0.05)

    assert refused.value.waited_s >= 0.05


def test_opening_waits_to_turn_the_log_on(path: Path) -> None:
    """A file that was made, but whose log is not on yet, is waited for while others read it, and opened then."""

    SqliteStore(path).__exit__(None, None, None)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN")
        other.execute("SELECT namespace FROM store").fetchone()
        with pytest.raises(StoreBusy) as refused:
            SqliteStore(path, busy_s=0.05)
        assert refused.value.waited_s >= 0.05

    with SqliteStore(path) as store:
        created(store)


def test_a_write_without_room_fails_alone(path: Path) -> None:
    """Of writes in one transaction only that fails for which the disk has no room; the store goes on when it has."""

    first, large, last, again = run("write_a_large_one", path, 60_000).splitlines()

    assert (first, last, again) == ("True", "True", "True")
    assert large.startswith("StoreUnusable: ")
    assert "the disk failed" in large
    with SqliteStore(path) as store:
        calls = [found.key.call for found in store.unresolved().wait()]
    assert calls == ["first", "large", "last"]


def test_what_was_acknowledged_outlives_a_kill(path: Path) -> None:
    """What a killed process had acknowledged is there for the next one."""

    with SqliteStore(path) as store:
        begun(store, outside(store), key(thread="script"))

        with SqliteStore(path) as other:
            assert other.evidence(key(thread="script"), 0).wait() is not None
