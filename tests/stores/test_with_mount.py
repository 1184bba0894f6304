"""A small disk that is really full."""

from __future__ import annotations

import itertools
import os
import sqlite3
import subprocess
from collections.abc import Generator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import attrs
import pytest

from effectgraph.stores import SqliteStore, StoreUnusable
from effectgraph.stores.records import Intent
from store_files import found_in
from store_processes import kill, said, start
from store_records import THREAD, commit, created, intent, key, outside, piece

DISK_BYTES: Final = 1_000_000

FILLER_BYTES: Final = 400_000
"""What somebody else has on the disk, and can delete."""


@pytest.fixture
def small_disk(tmp_path: Path) -> Generator[Path]:
    """A disk of its own with a filler on it."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)], check=True)
    try:
        folder.joinpath("filler").write_bytes(b"x" * FILLER_BYTES)
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Leave no room on a disk."""
    with folder.joinpath("more").open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)


def begin_for_ever(store: SqliteStore, large: Intent, acknowledged: list[int]) -> None:
    """Write one intent after another until there is no room."""
    for number in itertools.count():
        store.begin(outside(store), key(str(number), "script"), large, seen=None).wait()
        acknowledged.append(number)


def check_sound(path: Path) -> None:
    """Fail unless SQLite finds the file sound."""
    with closing(sqlite3.connect(path)) as connection:
        assert [("ok",)] == connection.execute("PRAGMA integrity_check").fetchall()


def test_a_disk_that_fills_up_takes_back_nothing(small_disk: Path) -> None:
    """What was acknowledged before the disk was full is there; what was not is not; with room the store goes on."""

    path = small_disk / "store.db"
    large = attrs.evolve(intent(), request=b"x" * 20_000)
    with SqliteStore(path) as store:
        claim = outside(store)
        acknowledged: list[int] = []
        with pytest.raises(StoreUnusable, match=r"the disk is full.*make room") as refused:
            begin_for_ever(store, large, acknowledged)
        written = len(acknowledged)
        assert written > 3
        assert refused.value.store == str(path)
        assert len(store.unresolved().wait()) == 0
        with SqliteStore(path, read_only=True) as onlooker:
            assert onlooker.evidence(key(str(written - 1), "script"), 0).wait() is not None
            assert onlooker.evidence(key(str(written), "script"), 0).wait() is None

        small_disk.joinpath("filler").unlink()
        assert store.begin(claim, key(str(written), "script"), large, seen=None).wait().mine

    check_sound(path)
    with SqliteStore(path) as store:
        assert [str(number) for number in sorted(range(written + 1), key=str)] == [
            found.key.call for found in store.unresolved().wait()
        ]


def test_a_full_disk_opens_and_closes_nothing_wrong(small_disk: Path) -> None:
    """A store is closed on a full disk; what is there can be read, and is written on when there is room."""

    path = small_disk / "store.db"
    store = SqliteStore(path)
    store.commit(created(store).claim, commit(1, piece("total", b"x" * 100_000))).wait()
    fill(small_disk)
    with pytest.raises(StoreUnusable, match=r"could not be synced .*the disk is full"):
        store.__exit__(None, None, None)
    with pytest.raises(StoreUnusable, match=r"is full|can be had|disk failed"):
        SqliteStore(path).__exit__(None, None, None)
    with SqliteStore(path, read_only=True) as store:
        assert store.read(THREAD).wait().step == 1

    small_disk.joinpath("more").unlink()
    with SqliteStore(path) as store:
        store.commit(store.claim(THREAD).wait().claim, commit(2)).wait()
    check_sound(path)


@pytest.mark.parametrize("killed", [False, True], ids=["closed", "killed"])
def test_a_disk_that_may_only_be_read_is_read(small_disk: Path, *, killed: bool) -> None:
    """On a disk that was mounted for reading a store is read, with what a killed process left; it is not written."""

    path = small_disk / "store.db"
    SqliteStore(path).__exit__(None, None, None)
    child = start("hold", path)
    said(child)
    kill(child)
    if not killed:
        SqliteStore(path).__exit__(None, None, None)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    before = found_in(small_disk)

    with SqliteStore(path, read_only=True) as store:
        assert store.runnable("shop").wait() == (THREAD,)
        assert store.evidence(key(thread="script"), 0).wait() is not None
        assert store.check().wait() == ()
    with pytest.raises(StoreUnusable, match=r"Read-only file system|who may read and write"):
        SqliteStore(path)

    assert before == found_in(small_disk)


def test_a_full_disk_has_no_room_for_a_new_store(small_disk: Path) -> None:
    """A new store for which there is no room is the store's own error, and is made once there is."""

    fill(small_disk)
    path = small_disk / "store.db"

    with pytest.raises(StoreUnusable):
        SqliteStore(path)

    small_disk.joinpath("filler").unlink()
    with SqliteStore(path) as store:
        created(store)
    assert {"store.db", "store.db-owners", "more"} == set(os.listdir(small_disk))
    check_sound(path)
