"""Files that are no store, newer than this program, or damaged: each is refused by name and left as it is."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from effectgraph.stores import SqliteStore, StoreUnusable, open_store
from effectgraph.stores.sqlite.schema import APPLICATION_ID
from store_files import found_in
from store_records import created

PAGE_BYTES: Final = 4096

NAMES: Final = ("store", "owners", "threads", "tasks", "fields", "heads", "history", "takes", "effects")


def make(path: Path) -> None:
    """A closed store with something in it, and nothing beside it."""
    with SqliteStore(path) as store:
        created(store)
    shutil.rmtree(f"{path}-owners")


def text(path: Path) -> None:
    """Some notes."""
    path.write_text("my notes\n" * 500)


def one_letter(path: Path) -> None:
    """Less than a header."""
    path.write_text("x")


def looks_like_one(path: Path) -> None:
    """The first letters of a database, and nonsense."""
    path.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 64)


def database(path: Path) -> None:
    """Another program's database, with tables that are named like ours."""
    with closing(sqlite3.connect(path)) as connection:
        for name in NAMES:
            connection.execute(f"CREATE TABLE {name} (id TEXT, namespace TEXT)")
        connection.execute("CREATE TABLE _sqlite_migrations (migration_set TEXT, name TEXT)")
        connection.execute("INSERT INTO store VALUES ('1', 'mine')")
        connection.commit()


def marked(path: Path) -> None:
    """Another program's database with a mark of its own."""
    database(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 1")


def with_a_log(path: Path) -> None:
    """Another program's database as a crash left it: what was written last is in its log alone."""
    copied(path, "PRAGMA journal_mode = WAL", "-wal")


def with_a_journal(path: Path) -> None:
    """Another program's database as a crash left it: half of a change is in it, what was before in its journal."""
    copied(path, "PRAGMA cache_size = 2", "-journal")


def copied(path: Path, setting: str, end: str) -> None:
    """Copy a database in the midst of a change, with the file beside it."""
    first = path.with_name("first.db")
    with closing(sqlite3.connect(first, isolation_level=None)) as connection:
        connection.execute(setting)
        connection.execute("CREATE TABLE notes (content BLOB)")
        connection.execute("BEGIN")
        connection.execute("INSERT INTO notes VALUES (zeroblob(1000000))")
        if end == "-wal":
            connection.execute("COMMIT")
        for each in ("", end):
            shutil.copy(f"{first}{each}", f"{path}{each}")
        if end == "-journal":
            connection.execute("ROLLBACK")
    for left in path.parent.glob("first.db*"):
        left.unlink()


def folder(path: Path) -> None:
    """A folder."""
    path.mkdir()


def pipe(path: Path) -> None:
    """A named pipe: opening one waits for who writes to it."""
    os.mkfifo(path)


def plug(path: Path) -> None:
    """A socket."""
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(path.parent)
        server.bind(path.name)
        os.chdir(here)


NOT_OURS: Final[list[tuple[Callable[[Path], None], str]]] = [
    (text, "not a store of effectgraph"),
    (one_letter, "another program's"),
    (looks_like_one, "not a store of effectgraph|another program's"),
    (database, "another program's SQLite file"),
    (marked, "another program's SQLite file"),
    (with_a_log, "another program's SQLite file"),
    (with_a_journal, "another program's SQLite file"),
    (folder, "not a plain file"),
    (pipe, "not a plain file"),
    (plug, "not a plain file"),
]


@pytest.mark.parametrize("read_only", [False, True], ids=["write", "read"])
@pytest.mark.parametrize(("make_it", "why"), NOT_OURS, ids=[make_it.__name__ for make_it, _ in NOT_OURS])
def test_what_is_not_ours_is_left_as_it_is(
    path: Path, make_it: Callable[[Path], None], why: str, *, read_only: bool
) -> None:
    """What is no store is refused, and neither it nor anything beside it is touched, made or removed."""

    make_it(path)
    before = found_in(path.parent)

    with pytest.raises(StoreUnusable, match=why) as refused:
        open_store(path, read_only=read_only)

    assert str(path) == refused.value.store
    assert before == found_in(path.parent)


@pytest.mark.parametrize("read_only", [False, True], ids=["write", "read"])
@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_a_device_is_no_store(device: str, *, read_only: bool) -> None:
    """A device is refused, and nothing is made beside it."""

    with pytest.raises(StoreUnusable, match="not a plain file"):
        open_store(device, read_only=read_only)

    assert not Path(f"{device}-owners").exists()


def newer(path: Path) -> None:
    """A store that a newer version has changed."""
    make(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('effectgraph', '9999_later', '')"
        )


def newer_and_older(path: Path) -> None:
    """A store that a newer version has changed, and that lacks what this one knows."""
    newer(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM _sqlite_migrations WHERE name != '9999_later'")


def garbage(path: Path) -> None:
    """A store whose first page is whole, and whose others are nonsense."""
    make(path)
    size_bytes = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(PAGE_BYTES)
        file.write(bytes(range(1, 256)) * (size_bytes // 255 + 1))
        file.truncate(size_bytes)


def cut(size_bytes: int) -> Callable[[Path], None]:
    """A store of which only so many bytes are left."""

    def make_it(path: Path) -> None:
        make(path)
        os.truncate(path, size_bytes)

    make_it.__name__ = f"cut {size_bytes}"
    return make_it


def ours_by_mark_alone(path: Path) -> None:
    """A database with our mark and tables that we did not make."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("CREATE TABLE history (id INTEGER)")


BROKEN: Final[list[tuple[Callable[[Path], None], str]]] = [
    (newer, r"newer effectgraph .*9999_later.*upgrade effectgraph"),
    (newer_and_older, r"newer effectgraph .*9999_later.*upgrade effectgraph"),
    (garbage, r"damaged.*restore a backup"),
    *((cut(size_bytes), r"damaged.*restore a backup") for size_bytes in (100, 4095, PAGE_BYTES, 3 * PAGE_BYTES)),
    (cut(50), "another program's"),
    (ours_by_mark_alone, "history already exists|no store yet"),
]


@pytest.mark.parametrize("read_only", [False, True], ids=["write", "read"])
@pytest.mark.parametrize(("make_it", "why"), BROKEN, ids=[make_it.__name__ for make_it, _ in BROKEN])
def test_EL30_what_cannot_be_read_is_left_as_it_is(
    path: Path, make_it: Callable[[Path], None], why: str, *, read_only: bool
) -> None:
    """A newer store or a damaged one is refused with the way out; not a byte changes, and nothing is left beside it."""

    make_it(path)
    before = found_in(path.parent)

    with pytest.raises(StoreUnusable, match=why):
        open_store(path, read_only=read_only)

    after = found_in(path.parent)
    if not read_only:
        # SQLite looks into its own files with a log, and removes it.
        del before["."], after["."]
    assert before == after


def test_what_lies_beside_is_left_as_it_is(path: Path) -> None:
    """A stranger's file where the owners' locks would lie is refused and kept."""

    Path(f"{path}-owners").write_text("mine")

    with pytest.raises(StoreUnusable, match="no owner's lock can be had"):
        open_store(path)

    assert Path(f"{path}-owners").read_text() == "mine"


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    """An empty file, as a killed process may leave it, is made a store."""

    path.touch()

    with SqliteStore(path) as store:
        created(store)
