"""The locks that owners live by: what a lock file is like, who lets go of it, and who is being born meanwhile."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from effectgraph.stores import ClaimHeld, SqliteStore, StoreUnusable
from effectgraph.stores.owners import Owner
from effectgraph.stores.records import OwnerId
from more_rounds import TIMES
from store_nursery import Nursery
from store_records import THREAD, created


@pytest.mark.parametrize("what", ["closes", "forgets", "exits"])
def test_L01_a_forked_child_does_not_let_go(nursery: Nursery, path: Path, what: str) -> None:
    """A child that inherits an open store, and closes, forgets or just leaves it: the parent's claims are held."""

    nursery.start("fork_and", path, what)
    assert nursery.said() == "0"
    with SqliteStore(path) as store:
        with pytest.raises(ClaimHeld):
            store.claim(THREAD).wait()

        nursery.kill()

        store.claim(THREAD).wait()


def test_L02_nobody_who_lives_is_taken_for_dead(tmp_path: Path) -> None:
    """Owners are born and die, 1,000 in all, while others clear up: whoever lives is seen to live, by each of them."""

    store = tmp_path / "store.db"
    over = threading.Event()
    watching = Owner.beside(store)

    def clear_up() -> None:
        sweeping = Owner.beside(store)
        while not over.is_set():
            sweeping.clear_up()
        sweeping.let_go()

    def live() -> None:
        for _ in range(250 * TIMES):
            owner = Owner.beside(store)
            assert watching.alive(owner.id)
            owner.let_go()
            assert not watching.alive(owner.id)

    with ThreadPoolExecutor() as pool:
        sweeper = pool.submit(clear_up)
        for done in [pool.submit(live) for _ in range(4)]:
            done.result()
        over.set()
        sweeper.result()
    watching.let_go()

    assert [] == os.listdir(tmp_path / "store.db-owners")


def test_L04_opened_in_one_thread_and_closed_in_another(path: Path) -> None:
    """A store is not bound to the thread that opened it: another one can close it, and then its claims are free."""

    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as two, SqliteStore(path) as other:
        store = one.submit(SqliteStore, path).result()
        created(store)
        assert other.alive(store.owner).wait()

        two.submit(store.__exit__, None, None, None).result()

        assert not other.alive(store.owner).wait()
        other.claim(THREAD).wait()


@pytest.mark.parametrize("content", [b"", b"\0\xff garbage", b"12345 host\n"])
def test_L06_what_is_in_a_lock_file_does_not_matter(path: Path, content: bytes) -> None:
    """Empty, with garbage, from long ago: whether its owner lives is told by the lock on it and by nothing else."""

    with SqliteStore(path) as store, SqliteStore(path) as other:
        locks = Path(f"{path}-owners")
        for name in (store.owner, "f" * 32):
            (locks / f"{name}.lock").write_bytes(content)
            os.utime(locks / f"{name}.lock", (0, 0))

        assert other.alive(store.owner).wait()
        assert not other.alive(OwnerId("f" * 32)).wait()

        with SqliteStore(path) as third:
            assert {f"{each.owner}.lock" for each in (store, other, third)} == set(os.listdir(locks))


def test_L06_what_is_no_lock_file_is_in_nobodys_way(path: Path) -> None:
    """A folder, a link, a pipe, a name of no owner among the lock files: the store opens, and none of them lives."""

    SqliteStore(path).__exit__(None, None, None)
    locks = Path(f"{path}-owners")
    (locks / "folder.lock").mkdir()
    (locks / "link.lock").symlink_to(path)
    os.mkfifo(locks / "pipe.lock")
    (locks / "notes.txt").touch()
    (locks / os.fsdecode(b"\xff.lock")).touch()
    strange = os.listdir(locks)

    with SqliteStore(path) as store:
        assert not store.alive(OwnerId("folder")).wait()
        assert not store.alive(OwnerId("pipe")).wait()
        with pytest.raises(StoreUnusable, match="whether owner link lives cannot be seen"):
            store.alive(OwnerId("link")).wait()
        created(store)

    assert {*strange} == set(os.listdir(locks))
