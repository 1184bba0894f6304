"""Paths: a path is a path, whatever letters are in it, and one file has one name."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Final

import pytest

from effectgraph.stores import SqliteStore, StoreUnusable, open_store
from effectgraph.stores.limits import KEY_PART_BYTES
from effectgraph.stores.sqlite.paths import BESIDE_BYTES, PATH_BYTES
from stable_ids import named
from store_files import contents
from store_processes import FAULTS, run
from store_records import THREAD, begun, commit, created, key, outside

BESIDE: Final = ("-wal", "-shm", "-owners")

NAMES: Final = [
    "a b.db",
    "größe?.db",
    "50%41#x.db",
    "file:x.db?mode=ro",
    "file:x.db",
    ":memory: not",
    "'q\".db",
    "two\nlines",
    "\t\x01\x7f.db",
    "back\\slash.db",
    "-rf",
    "~",
    "$HOME",
    "*",
    "..db",
    "日本語 🦊.db",
    "a\u0301 \u202e.db",
    os.fsdecode(b"no utf-8 \xe9.db"),
    "x" * (255 - BESIDE_BYTES),
    "ü" * ((255 - BESIDE_BYTES) // 2),
]


@pytest.mark.parametrize("name", NAMES, ids=[f"name {number}" for number in range(len(NAMES))])
def test_any_name_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A name is taken as it is, relative or not, to write and to read; all that is made lies beside it."""

    monkeypatch.chdir(tmp_path)
    with SqliteStore(name) as store:
        created(store)
        assert {f"{name}{end}" for end in ("", *BESIDE)} == set(os.listdir(tmp_path))
    assert {name, f"{name}-owners"} == set(os.listdir(tmp_path))

    with SqliteStore(tmp_path / name) as store:
        assert store.read(THREAD).wait().id == THREAD
    with open_store(name, read_only=True) as store:
        assert store.read(THREAD).wait().id == THREAD


@pytest.mark.parametrize("name", ["x" * (256 - BESIDE_BYTES), "x" * 255, "x" * 256, "ü" * 127, "x" * 5000])
def test_a_name_that_is_too_long_is_refused(tmp_path: Path, name: str) -> None:
    """A name beside which no longer one fits is refused before anything is made."""

    with pytest.raises(StoreUnusable, match=r"longer than 247 bytes|has \d+ bytes"):
        open_store(tmp_path / name)

    assert [] == os.listdir(tmp_path)


@pytest.mark.parametrize("more", [0, 1], ids=named)
def test_a_path_of_the_greatest_length_will_do(tmp_path: Path, more: int) -> None:
    """A path of the length that SQLite takes is opened, one longer is refused; a relative one counts whole."""

    folder = tmp_path
    while len(os.fsencode(folder)) < PATH_BYTES - 200:
        folder /= "d" * 100
    folder.mkdir(parents=True)
    name = "x" * (PATH_BYTES - len(os.fsencode(folder)) - 1 + more)

    with chdir(folder):
        if more:
            with pytest.raises(StoreUnusable, match=f"its path has {PATH_BYTES + 1} bytes"):
                open_store(name)
            assert [] == os.listdir(folder)
        else:
            with open_store(name) as store:
                created(store)


@pytest.mark.parametrize("name", ["", "/", "store.db/", "store.db//", "no such/", "a\0b"])
@pytest.mark.parametrize("read_only", [False, True], ids=["write", "read"])
def test_what_names_no_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, *, read_only: bool
) -> None:
    """A path that can only be a folder's, or nobody's, is refused, and nothing is made."""

    monkeypatch.chdir(tmp_path)

    with pytest.raises(StoreUnusable, match="names no file"):
        open_store(name, read_only=read_only)

    assert [] == os.listdir(tmp_path)


def test_bytes_are_no_path(tmp_path: Path) -> None:
    """A path is text, as strings and path objects have it; bytes and others are refused with the way out."""

    # As somebody without a type checker calls them.
    ways: list[Callable[..., object]] = [open_store, SqliteStore]
    for way in ways:
        with pytest.raises(TypeError, match=r"not bytes; os\.fsdecode"):
            way(os.fsencode(tmp_path / "store.db"))
        with pytest.raises(TypeError, match="not int"):
            way(5)

    assert [] == os.listdir(tmp_path)


def test_a_path_object_and_its_text_name_one_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However a file is named, by text, a path object, dots or the folder one stands in, it is one store."""

    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("sub").mkdir()
    ways: list[str | Path] = [
        "store.db",
        "./store.db",
        Path("store.db"),
        Path("store.db/"),
        tmp_path / "store.db",
        f"{tmp_path}//store.db",
        "sub/../store.db",
        tmp_path / "sub" / ".." / "store.db",
    ]

    with open_store("store.db") as first:
        for way in ways:
            with open_store(way) as store, open_store(way, read_only=True) as onlooker:
                assert (store.namespace, store.path) == (first.namespace, first.path)
                assert first.alive(store.owner).wait()
                assert onlooker.alive(first.owner).wait()

    assert {"store.db"} == set(contents(tmp_path))


def test_a_relative_path_is_of_the_folder_it_was_opened_in(tmp_path: Path) -> None:
    """Who changes the folder after a store was opened goes on with the store that he opened."""

    for name in ("here", "there"):
        tmp_path.joinpath(name).mkdir()
    with chdir(tmp_path / "here"), open_store("store.db") as store:
        claim = created(store).claim
        os.chdir(tmp_path / "there")
        store.commit(claim, commit(1)).wait()
        store.flush().wait()
        assert store.read(THREAD).wait().step == 1
        with open_store(tmp_path / "here" / "store.db") as other:
            assert other.alive(store.owner).wait()

    assert {"here/store.db"} == set(contents(tmp_path))


def test_a_folder_that_is_gone_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path leads nowhere when the folder one stands in was removed."""

    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    for read_only in (False, True):
        with pytest.raises(StoreUnusable, match="leads nowhere"):
            open_store("store.db", read_only=read_only)


def test_a_tilde_is_not_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A "~" is a letter like any other: who means a home folder expands it himself."""

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))

    with pytest.raises(StoreUnusable, match=r"the folder .*~ is not there"):
        open_store("~/store.db")

    assert [] == os.listdir(tmp_path)


def test_only_one_word_means_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text ":memory:" exactly, also as a path object, makes no file; anything else is a file's name."""

    monkeypatch.chdir(tmp_path)
    for way in (":memory:", Path(":memory:")):
        with open_store(way) as store:
            assert (store.path, created(store).thread.step) == (":memory:", 0)
    assert [] == os.listdir(tmp_path)

    for name in ("./:memory:", ":MEMORY:", " :memory:", "file::memory:"):
        with open_store(name) as store:
            assert store.path == str(tmp_path / name)


def test_links_lead_to_one_store(path: Path) -> None:
    """Two who open one file through different names, of it or of its folder, see each other's owners."""

    link = path.with_name("link.db")
    link.symlink_to(path)
    folder = path.with_name("folder")
    folder.symlink_to(path.parent, target_is_directory=True)
    with SqliteStore(path) as here, SqliteStore(link) as there, SqliteStore(folder / "link.db") as elsewhere:
        assert {here.path} == {there.path, elsewhere.path}
        assert here.alive(there.owner).wait()
        assert there.alive(elsewhere.owner).wait()

    assert link.is_symlink()
    assert {"store.db", "link.db", "folder", "store.db-owners"} == set(os.listdir(path.parent))


def test_a_link_to_nothing_makes_the_file_that_it_names(path: Path) -> None:
    """A new store that is opened through a link lies where the link leads."""

    link = path.with_name("link.db")
    link.symlink_to(path)

    with pytest.raises(StoreUnusable, match="not there"):
        open_store(link, read_only=True)
    with open_store(link) as store:
        assert store.path == str(path)

    assert path.is_file()
    assert link.is_symlink()


def test_links_in_a_circle_lead_nowhere(path: Path) -> None:
    """A link that leads to itself is an error."""

    path.symlink_to(path)

    for read_only in (False, True):
        with pytest.raises(StoreUnusable, match="cannot be"):
            open_store(path, read_only=read_only)

    assert path.is_symlink()


@pytest.mark.parametrize("name", ["no such/store.db", "file/store.db"])
def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path, name: str) -> None:
    """A mistyped folder is an error, and nothing is made."""

    tmp_path.joinpath("file").touch()

    with pytest.raises(StoreUnusable, match="is not there"):
        open_store(tmp_path / name)

    assert ["file"] == os.listdir(tmp_path)


@pytest.mark.parametrize("umask", [0, 0o077], ids=oct)
def test_a_new_store_is_private(path: Path, umask: int) -> None:
    """The file and those beside it are the user's alone, whatever the umask."""

    old = os.umask(umask)
    try:
        with SqliteStore(path) as store:
            created(store)
            modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.rglob("*")}
            owner = store.owner
    finally:
        os.umask(old)

    assert modes == {
        "store.db": 0o600,
        "store.db-wal": 0o600,
        "store.db-shm": 0o600,
        "store.db-owners": 0o700,
        f"{owner}.lock": 0o600,
    }


def test_a_store_for_more_users_stays_theirs(path: Path) -> None:
    """A file that was opened up to a group stays so: what SQLite makes beside it follows the file."""

    SqliteStore(path).__exit__(None, None, None)
    path.chmod(0o660)

    with SqliteStore(path) as store:
        created(store)
        assert [0o660] * 3 == [stat.S_IMODE(os.stat(f"{path}{end}").st_mode) for end in ("", "-wal", "-shm")]


def test_where_one_may_not_look_is_said(open_folder: Path) -> None:
    """A folder that a user may not enter is the store's own error."""

    locked = open_folder / "locked"
    locked.mkdir()
    locked.chmod(0)

    answers = run("open_as_nobody", locked / "store.db", child=FAULTS).splitlines()

    assert len(answers) == 2
    assert all(answer.startswith("StoreUnusable: ") and "look at" in answer for answer in answers), answers


LONGEST: Final = [
    "x" * KEY_PART_BYTES,
    "é" * (KEY_PART_BYTES // 2),
    "x" + "é" * (KEY_PART_BYTES // 2 - 1) + "x",
    "🦊" * (KEY_PART_BYTES // 4),
]


@pytest.mark.parametrize("longest", LONGEST, ids=[f"text {number}" for number in range(len(LONGEST))])
def test_ids_of_the_greatest_length_are_kept(path: Path, longest: str) -> None:
    """A thread id and key parts of exactly the greatest length are kept whole; a byte more is refused at the call."""

    assert len(longest.encode()) == KEY_PART_BYTES
    with SqliteStore(path) as store:
        created(store, longest)
        name = key(longest, longest, longest)
        begun(store, outside(store, longest), name)
        with pytest.raises(ValueError, match=f"513 bytes; at most {KEY_PART_BYTES}"):
            created(store, longest[:-1] + "x" * (len(longest[-1].encode()) + 1))
        with pytest.raises(ValueError, match=f"513 bytes; at most {KEY_PART_BYTES}"):
            key(longest + "x")

    with SqliteStore(path) as store:
        assert (longest,) == store.runnable("shop").wait()
        assert [name] == [found.key for found in store.unresolved().wait()]
        assert store.read(longest).wait().id == longest
