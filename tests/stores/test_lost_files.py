"""Strangers who delete or replace the files of an open store, or take away the right to write them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

import pytest

from effectgraph.stores import EarlierWriteFailed, SqliteStore, StoreUnusable
from store_files import contents
from store_processes import FAULTS, finish, run, said, start, tell
from store_records import THREAD, commit, created, key, outside, settled

ENDS: Final = ("", "-wal", "-shm", "-owners")


def lost(path: Path, store: SqliteStore, end: str) -> Path:
    """A file of an open store, by the end of its name."""
    return path.parent / f"{path.name}-owners" / f"{store.owner}.lock" if end == "-owners" else Path(f"{path}{end}")


@pytest.mark.parametrize("replaced", [True, False], ids=["replaced", "deleted"])
@pytest.mark.parametrize("end", ENDS)
def test_a_file_that_was_taken_away_ends_writing_and_reading(path: Path, end: str, *, replaced: bool) -> None:
    """Without a file of an open store nothing is acknowledged that others will not find; put back, it goes on."""

    with SqliteStore(path) as store:
        claim = created(store).claim
        store.commit(claim, commit(1)).wait()
        store.flush().wait()
        file = lost(path, store, end)
        kept = file.with_name("kept")
        file.rename(kept)
        if replaced:
            shutil.copy(kept, file)

        for _ in range(2):
            with pytest.raises(StoreUnusable, match="replaced" if replaced else "deleted") as refused:
                settled(store, outside(store), key(thread="script"))
            assert str(file) in refused.value.why
            assert "nothing was written" in refused.value.why
        with pytest.raises(StoreUnusable, match="replaced" if replaced else "deleted"):
            store.commit(claim, commit(2)).wait()
        with pytest.raises(StoreUnusable, match="replaced" if replaced else "deleted"):
            store.read(THREAD).wait()
        with pytest.raises(StoreUnusable, match="replaced" if replaced else "deleted"):
            store.flush().wait()

        kept.replace(file)
        with pytest.raises(EarlierWriteFailed):
            store.commit(claim, commit(2)).wait()
        assert store.read(THREAD).wait().step == 1
        settled(store, outside(store), key(thread="script"))

    with SqliteStore(path) as store:
        assert store.read(THREAD).wait().step == 1
        assert store.evidence(key(thread="script"), 0).wait() is not None


def test_a_store_without_its_file_can_be_closed(path: Path) -> None:
    """A store whose files were all deleted is closed and says what is lost; nothing is made in their place."""

    store = SqliteStore(path)
    store.commit(created(store).claim, commit(1)).wait()
    shutil.rmtree(f"{path}-owners")
    for file in path.parent.iterdir():
        file.unlink()
    with pytest.raises(StoreUnusable, match=r"could not be synced .*deleted"):
        store.__exit__(None, None, None)

    assert [] == os.listdir(path.parent)


def test_a_backup_that_was_put_in_place_is_left_alone(path: Path) -> None:
    """Who has a store open while a backup takes its place writes nothing into it, and is told to open it again."""

    with SqliteStore(path) as store:
        claim = created(store).claim
    backup = path.with_name("backup.db")
    shutil.copy(path, backup)
    with SqliteStore(path) as store:
        claim = store.claim(THREAD).wait().claim
        store.commit(claim, commit(1)).wait()
        store.flush().wait()
        backup.replace(path)
        before = path.read_bytes()

        with pytest.raises(StoreUnusable, match="replaced") as refused:
            store.commit(claim, commit(2)).wait()

        assert "open it again" in refused.value.way_out
    assert before == path.read_bytes()


def test_a_folder_that_becomes_unwritable_stops_nothing(open_folder: Path) -> None:
    """A store whose folders may no longer be written goes on, and what it cannot remove the next one takes in."""

    path = open_folder / "store.db"
    open_folder.chmod(0o777)
    child = start("write_as_nobody", path, child=FAULTS)
    assert said(child) == "ready"
    owners = Path(f"{path}-owners")
    for folder in (path.parent, owners):
        folder.chmod(0o555)

    tell(child, "go")

    assert ["None", "1"] == finish(child).splitlines()
    assert len(list(owners.iterdir())) == 1
    for folder in (path.parent, owners):
        folder.chmod(0o755)
    with SqliteStore(path) as store:
        assert store.runnable("shop").wait() == (THREAD,)
        assert [f"{store.owner}.lock"] == os.listdir(owners)
    assert {path.name} == contents(path.parent).keys()


@pytest.mark.parametrize("end", ["", "-owners"])
def test_a_file_that_may_only_be_read_is_refused(open_folder: Path, end: str) -> None:
    """Who may not write the file, or the owners' folder, gets the store's own error, which says so; he may read it."""

    path = open_folder / "store.db"
    SqliteStore(path).__exit__(None, None, None)
    open_folder.chmod(0o777)
    path.chmod(0o666)
    owners = Path(f"{path}-owners")
    owners.chmod(0o777)
    Path(f"{path}{end}").chmod(0o555 if end else 0o444)

    written, read = run("open_as_nobody", path, child=FAULTS).splitlines()

    assert written.startswith(f"StoreUnusable: store {path}: ")
    assert ("no owner's lock can be had" if end else "the file is read-only") in written
    with SqliteStore(path, read_only=True) as store:
        assert store.namespace == read


def test_what_cannot_be_cleared_up_is_in_nobodys_way(path: Path) -> None:
    """Opening a store removes what dead owners left, as far as it can, and leaves the rest."""

    SqliteStore(path).__exit__(None, None, None)
    owners = Path(f"{path}-owners")
    folders, dead = [[f"{begin}{number:031x}.lock" for number in range(10)] for begin in "fd"]
    for folder, file in zip(folders, dead, strict=True):
        owners.joinpath(folder).mkdir()
        owners.joinpath(file).touch()

    with SqliteStore(path) as store:
        assert {f"{store.owner}.lock", *folders} == set(os.listdir(owners))
