"""Faults: a disk without room, a kill, and what they leave."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Final

import pytest

from effectgraph.stores import SqliteStore, StoreBusy, StoreError, StoreUnusable
from effectgraph.stores.sqlite.faults import as_ours
from stable_ids import named
from store_processes import FAULTS, kill, run, said, start
from store_records import THREAD, key
from store_strace import Before, check_left

LIMITS_BYTES: Final = (0, 1, 511, 4096, 20_000, 32_768, 70_000, 76_000, 80_000, 90_001, 100_000, 130_000, 1_000_000)
"""Bytes that a file may have: less than a header, a page, the log's index, the empty store, and more."""


def test_a_write_without_room_fails_alone(path: Path) -> None:
    """Of writes in one transaction only that fails for which the disk has no room; the store goes on when it has."""

    first, large, last, again = run("write_a_large_one", path, 60_000).splitlines()

    assert (first, last, again) == ("True", "True", "True")
    assert large.startswith("StoreUnusable: ")
    assert "the disk failed" in large
    with SqliteStore(path) as store:
        calls = [found.key.call for found in store.unresolved().wait()]
    assert calls == ["first", "large", "last"]


@pytest.mark.parametrize(
    ("code", "kind", "text"),
    [
        (sqlite3.SQLITE_BUSY, StoreBusy, "held its write lock for 1.5 s"),
        (sqlite3.SQLITE_BUSY_RECOVERY, StoreBusy, "held its write lock for 1.5 s"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreBusy, "held its write lock for 1.5 s"),
        (sqlite3.SQLITE_LOCKED, StoreBusy, "held its write lock for 1.5 s"),
        (sqlite3.SQLITE_PROTOCOL, StoreBusy, "held its write lock for 1.5 s"),
        (sqlite3.SQLITE_FULL, StoreUnusable, "the disk is full"),
        (sqlite3.SQLITE_IOERR_FSYNC, StoreUnusable, "the disk failed"),
        (sqlite3.SQLITE_IOERR_SHMMAP, StoreUnusable, "the disk failed"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, StoreUnusable, "the file is read-only"),
        (sqlite3.SQLITE_CORRUPT_INDEX, StoreUnusable, "the file is damaged"),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, StoreUnusable, "the file cannot be opened"),
        (sqlite3.SQLITE_NOMEM, StoreUnusable, "no memory is left"),
        (sqlite3.SQLITE_AUTH, StoreUnusable, "this is not known to happen"),
        (None, StoreUnusable, "this is not known to happen"),
    ],
    ids=named,
)
def test_whatever_sqlite_says_is_said_in_our_words(code: int | None, kind: type[StoreError], text: str) -> None:
    """Each error of SQLite's is one of ours, with what SQLite said and the way out; a lock is a lock by any name."""

    error = sqlite3.OperationalError("in other words")
    if code is not None:
        error.sqlite_errorcode = code

    ours = as_ours("shop.db", error, waited_s=1.5)

    assert type(ours) is kind
    assert text in str(ours)
    assert kind is StoreBusy or "(in other words)" in str(ours)


def test_work_in_little_room_loses_nothing(tmp_path: Path) -> None:
    """Where no file may grow beyond a limit, be it in the middle of a write, what is acknowledged is there."""

    paths = {limit_bytes: tmp_path / str(limit_bytes) / "store.db" for limit_bytes in LIMITS_BYTES}
    for path in paths.values():
        path.parent.mkdir()

    lines = run("work_in_little_room", tmp_path, *LIMITS_BYTES, child=FAULTS).splitlines()

    said_of: dict[int, list[str]] = {}
    about: list[str] = []
    for line in lines:
        if line.startswith("limit "):
            about = said_of.setdefault(int(line.removeprefix("limit ")), [])
        else:
            about.append(line)
    assert said_of.keys() == paths.keys()
    for limit_bytes, path in paths.items():
        check_left(path, said_of[limit_bytes], Before.NOTHING)
    assert said_of[0][0].startswith("! ")
    assert said_of[LIMITS_BYTES[-1]][-1] == "closed"


def test_what_was_acknowledged_outlives_a_kill(path: Path) -> None:
    """What a killed process had acknowledged is there for the next one."""

    child = start("hold", path)
    said(child)
    kill(child)

    with SqliteStore(path) as store:
        assert store.evidence(key(thread="script"), 0).wait() is not None
        assert store.runnable("shop").wait() == (THREAD,)
