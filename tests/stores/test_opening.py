"""Opening: what a store file may be, what is made, and what is left as it is."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path

import pytest

from effectgraph.stores import SqliteStore, StoreUnusable, open_store
from fresh_python import output_of
from store_processes import finish, run, start_together
from store_records import THREAD, created


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with its bytes."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_new_store_is_private(path: Path) -> None:
    """The file and those beside it are the user's alone, whatever the umask."""

    old = os.umask(0)
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


@pytest.mark.parametrize("name", ["a b.db", "größe?.db", "50%41#x.db", "file:x.db?mode=ro", ":memory: not", "'q\".db"])
def test_any_name_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A path is a path, whatever letters are in it, relative or not."""

    monkeypatch.chdir(tmp_path)
    with SqliteStore(name) as store:
        created(store)
    assert (tmp_path / name).is_file()

    with SqliteStore(tmp_path / name) as store:
        assert store.read(THREAD).wait().id == THREAD


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


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """A mistyped folder is an error, and nothing is made."""

    with pytest.raises(StoreUnusable, match="is not there"):
        open_store(tmp_path / "no such" / "store.db")

    assert [] == list(tmp_path.iterdir())


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    """The path of a folder is an error."""

    with pytest.raises(StoreUnusable, match="not a plain file"):
        open_store(tmp_path)

    assert [] == list(tmp_path.iterdir())


def strange_text(path: Path) -> None:
    """A file that is no database."""
    path.write_text("my notes\n" * 500)


def strange_database(path: Path) -> None:
    """Another program's database."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE store (id INTEGER)")


def strange_marked(path: Path) -> None:
    """Another program's database with a mark of its own."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA application_id = 1")
        connection.execute("CREATE TABLE store (id INTEGER)")


def strange_log(path: Path) -> None:
    """Another program's database as a crash left it: what was written last is in its log alone."""
    first = path.with_name("first.db")
    with closing(sqlite3.connect(first)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE notes (text TEXT)")
        connection.commit()
        for end in ("", "-wal"):
            shutil.copy(f"{first}{end}", f"{path}{end}")
    for left in path.parent.glob("first.db*"):
        left.unlink()


@pytest.mark.parametrize("make", [strange_text, strange_database, strange_marked, strange_log])
def test_a_strangers_file_is_left_as_it_is(path: Path, make: Callable[[Path], None]) -> None:
    """A file that is not ours is refused, and neither it nor what lies beside it is touched."""

    make(path)
    before = contents(path.parent)

    with pytest.raises(StoreUnusable) as refused:
        open_store(path)

    assert "not a store" in str(refused.value) or "another program's" in str(refused.value)
    assert before == contents(path.parent)


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    """An empty file, as a killed process may leave it, is made a store."""

    path.touch()

    with SqliteStore(path) as store:
        created(store)


def test_EL30_a_newer_schema_is_refused_by_name(path: Path) -> None:
    """A file that a newer version has changed is refused, naming the change, and left as it is."""

    SqliteStore(path).__exit__(None, None, None)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) VALUES ('effectgraph', '9999_later', '')"
        )
    before = contents(path.parent)

    with pytest.raises(StoreUnusable, match=r"newer effectgraph .*9999_later") as refused:
        open_store(path)

    assert "upgrade effectgraph" in refused.value.way_out
    assert before == contents(path.parent)


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
    assert names == ["0001_threads_effects_history"]
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


def test_links_lead_to_one_store(path: Path) -> None:
    """Two who open one file through different names see each other's owners."""

    link = path.with_name("link.db")
    link.symlink_to(path)
    with SqliteStore(path) as here, SqliteStore(link) as there:
        assert there.path == here.path
        assert here.alive(there.owner).wait()
        assert there.alive(here.owner).wait()


@pytest.mark.parametrize("address", ["postgresql://ann:secret@db/shop", "postgres://ann:secret@db/shop"])
def test_what_is_not_there_yet_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """An address of PostgreSQL is refused with a clear word and without its password, and makes no file."""

    monkeypatch.chdir(tmp_path)

    with pytest.raises(StoreUnusable, match="not there yet") as refused:
        open_store(address)

    assert "secret" not in str(refused.value)
    assert [] == list(tmp_path.iterdir())


@pytest.fixture
def open_folder() -> Generator[Path]:
    """A folder that any user can look into."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_a_file_that_may_only_be_read_is_refused(open_folder: Path) -> None:
    """Who may not write gets the store's own error, which says so."""

    path = open_folder / "store.db"
    SqliteStore(path).__exit__(None, None, None)
    path.chmod(0o444)
    open_folder.joinpath("store.db-owners").chmod(0o777)
    open_folder.chmod(0o777)

    answer = run("open_as_nobody", path)

    assert answer.startswith(f"StoreUnusable: store {path}: the file is read-only")


def test_S02_many_processes_open_a_new_store_together(path: Path) -> None:
    """Ten processes that open a store that is not there all get the same one."""

    children = start_together(10, "open_new", path)
    namespaces = {finish(child) for child in children}

    assert len(namespaces) == 1
