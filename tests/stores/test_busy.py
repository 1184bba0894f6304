"""Busy files: another process holds the write lock, or reads for long."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from effectgraph.stores import ClaimHeld, EarlierWriteFailed, SqliteStore, StoreBusy, StoreUnusable
from effectgraph.stores.records import Sync
from effectgraph.stores.sqlite.connect import CHECKPOINT_PAGES, KEPT_LOG_BYTES
from store_processes import FAULTS, finish, kill, said, start, tell
from store_records import THREAD, commit, created, new_thread, piece, settled
from store_writer import locked

FRAME_BYTES: Final = 24 + 4096
"""Bytes of a page in the log, with what stands before it."""

HEADER_BYTES: Final = 32


def logged_pages(path: Path) -> int:
    """Pages for which the log has room."""
    return (Path(f"{path}-wal").stat().st_size - HEADER_BYTES) // FRAME_BYTES


def check_sound(path: Path) -> None:
    """Fail unless SQLite finds the file sound."""
    with closing(sqlite3.connect(path)) as connection:
        assert [("ok",)] == connection.execute("PRAGMA integrity_check").fetchall()


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


def test_a_run_that_waited_too_long_has_no_holes(path: Path) -> None:
    """Of a claim's writes, none stands behind one that waited too long, also when the lock is free by then."""

    with SqliteStore(path, busy_s=0.05) as store:
        claim = created(store).claim
        store.commit(claim, commit(1)).wait()
        with locked(path), pytest.raises(StoreBusy):
            store.commit(claim, commit(2)).wait()

        with pytest.raises(EarlierWriteFailed, match="StoreBusy"):
            store.commit(claim, commit(3)).wait()
        with pytest.raises(EarlierWriteFailed, match="StoreBusy"):
            store.commit(claim, commit(2)).wait()
        store.release(claim).wait()

        again = store.claim(THREAD).wait()
        assert again.thread.step == 1
        store.commit(again.claim, commit(2)).wait()

    with SqliteStore(path, read_only=True) as store:
        assert store.read(THREAD).wait().step == 2
    check_sound(path)


def test_S01_another_process_that_holds_on_is_named_in_time(path: Path) -> None:
    """A process that keeps the write lock fails what others write, not what they wrote; killed, it is in no way."""

    with SqliteStore(path, busy_s=0.2) as store:
        claim = created(store).claim
        settled(store, claim)
        child = start("hold_lock", path, child=FAULTS)
        assert said(child) == "held"

        with pytest.raises(StoreBusy) as refused:
            store.commit(claim, commit(1), sync=Sync.NOW).wait()
        assert 0.2 <= refused.value.waited_s < 60
        assert store.read(THREAD).wait().step == 0

        kill(child)
        store.release(claim).wait()
        store.commit(store.claim(THREAD).wait().claim, commit(1)).wait()
        assert store.read(THREAD).wait().step == 1
    check_sound(path)


def test_S01_who_is_locked_out_for_a_moment_sees_nothing_of_it(path: Path) -> None:
    """While another process takes and leaves the write lock all the time, every write and reading is made."""

    child = start("hold_often", path, child=FAULTS)
    assert said(child) == "held"
    with SqliteStore(path) as store:
        claim = created(store).claim
        for step in range(1, 9):
            store.commit(claim, commit(step), sync=Sync.NOW).wait()
            assert store.read(THREAD).wait().step == step
    tell(child, "stop")

    assert int(finish(child)) > 0
    check_sound(path)


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


def test_closing_a_store_that_is_locked_out_says_so(path: Path) -> None:
    """A store is closed although others hold the write lock, and says that what it wrote last is not synced."""

    store = SqliteStore(path, busy_s=0.05)
    store.commit(created(store).claim, commit(1)).wait()
    with locked(path):
        with pytest.raises(StoreUnusable, match=r"could not be synced.*open the store again and call flush"):
            store.__exit__(None, None, None)
        store.__exit__(None, None, None)
        with SqliteStore(path, read_only=True) as onlooker:
            assert onlooker.read(THREAD).wait().step == 1
            assert not onlooker.alive(store.owner).wait()

    check_sound(path)


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
    assert path.stat().st_size == 0


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


def test_opening_a_store_that_is_locked_for_writing_fails_in_time(path: Path) -> None:
    """A store that others keep locked cannot be opened for writing, says so, and lets go of its owner's lock."""

    SqliteStore(path).__exit__(None, None, None)
    with locked(path), pytest.raises(StoreBusy):
        SqliteStore(path, busy_s=0.05)

    assert [] == list(Path(f"{path}-owners").glob("*.lock"))
    with SqliteStore(path) as store:
        created(store)


def test_a_long_reading_holds_nobody_up(path: Path) -> None:
    """While somebody reads for long the log grows and nothing fails; afterwards it is written over, and cut again."""

    large = b"x" * (KEPT_LOG_BYTES // 2)
    with SqliteStore(path) as store, closing(sqlite3.connect(path, isolation_level=None)) as reader:
        claim = created(store).claim
        reader.execute("BEGIN")
        assert reader.execute("SELECT step FROM threads").fetchall() == [(0,)]
        for step in range(1, 5):
            store.commit(claim, commit(step, piece("total", large)), sync=Sync.NOW).wait()
        grown = logged_pages(path)
        assert grown * FRAME_BYTES > 4 * len(large)
        assert reader.execute("SELECT step FROM threads").fetchall() == [(0,)]
        assert store.read(THREAD).wait().step == 4

        reader.execute("ROLLBACK")
        for step in range(5, 8):
            store.commit(claim, commit(step, piece("total", b"1")), sync=Sync.NOW).wait()

        assert logged_pages(path) * FRAME_BYTES <= KEPT_LOG_BYTES
        for step in range(8, 10):
            store.commit(claim, commit(step, piece("total", large)), sync=Sync.NOW).wait()
        assert logged_pages(path) < grown
        assert store.read(THREAD).wait().step == 9
    check_sound(path)


def test_the_log_is_bounded(path: Path) -> None:
    """However much is written, synced or not, the log has not many more pages than those after which it is copied."""

    with SqliteStore(path) as store:
        claim = created(store).claim
        most = 0
        for step in range(1, 13):
            store.commit(claim, commit(step, piece("total", b"x" * 1_000_000)), sync=Sync.LATER).wait()
            if step % 2 == 0:
                store.flush().wait()
            most = max(most, logged_pages(path))

        assert CHECKPOINT_PAGES < most < 2.2 * CHECKPOINT_PAGES
        assert store.read(THREAD).wait().step == 12
