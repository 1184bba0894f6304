"""Owners that end in every way: each is gone at once, and none that lives is taken for gone."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from effectgraph.stores import ClaimHeld, SqliteStore
from effectgraph.stores.records import OwnerId
from more_rounds import TIMES
from store_nursery import Nursery, opened
from store_records import THREAD, commit, created


@pytest.fixture(scope="module")
def shared_nursery() -> Iterator[Nursery]:
    """One process that forks the children of all tests here."""
    with opened() as nursery:
        yield nursery


@pytest.fixture
def nursery(shared_nursery: Nursery) -> Iterator[Nursery]:
    """A nursery without a child."""
    yield shared_nursery
    shared_nursery.clear()


LIVES_ON = ("exec", "closes", "forgets")
"""Ends of an owner that are not the end of its process."""


@pytest.mark.parametrize(
    ("way", "code"),
    [
        ("returns", 0),
        ("raises", 1),
        ("sys.exit", 3),
        ("os._exit", 4),
        ("aborts", -signal.SIGABRT),
        ("SIGTERM", -signal.SIGTERM),
        ("SIGKILL", -signal.SIGKILL),
        ("exec", 0),
        ("closes", 0),
        ("forgets", 0),
    ],
)
def test_L07_an_owner_is_gone_at_once(nursery: Nursery, path: Path, way: str, code: int) -> None:
    """However an owner ends, its thread is held until then, and can be claimed from then on: nobody waits for a timer.

    A process that becomes another program under its own id is gone too, and so is a store that was closed or forgotten.
    """

    nursery.start("end", path, way)
    owner, token = nursery.said().split()
    with SqliteStore(path) as store:
        assert store.alive(OwnerId(owner)).wait()
        with pytest.raises(ClaimHeld) as refused:
            store.claim(THREAD).wait()
        assert (refused.value.owner, refused.value.token) == (owner, int(token))

        nursery.tell("end")
        if way in LIVES_ON:
            assert nursery.said() == "gone"
        else:
            assert nursery.ended() == code

        assert not store.alive(OwnerId(owner)).wait()
        assert store.runnable("shop").wait() == (THREAD,)
        assert store.claim(THREAD).wait().claim.token > int(token)
    if way in LIVES_ON:
        nursery.tell("end")
        assert nursery.ended() == code


@pytest.mark.parametrize(
    "how",
    [
        "fork",
        "fork before opening",
        "daemon",
        "multiprocessing fork",
        "multiprocessing spawn",
        "multiprocessing forkserver",
        "subprocess",
        "posix_spawn",
    ],
)
def test_L07_no_child_keeps_its_parent_alive(nursery: Nursery, path: Path, how: str) -> None:
    """When an owner is killed, a child that it has started and that lives on does not hold its threads."""

    nursery.start("leave_a_child", path, how)
    child = int(nursery.said())
    try:
        with SqliteStore(path) as store:
            with pytest.raises(ClaimHeld):
                store.claim(THREAD).wait()

            nursery.kill()

            store.claim(THREAD).wait()
            os.kill(child, 0)
    finally:
        os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize("how", ["fork in C", "subprocess", "posix_spawn"])
def test_limit_a_child_that_has_the_lock_open_keeps_its_parent_alive(nursery: Nursery, path: Path, how: str) -> None:
    """A child that was forked behind Python's back, or handed every descriptor, counts as its parent while it lives.

    Until then only `take` passes it over.
    """

    nursery.start("hand_the_lock_on", path, how)
    child, owner = nursery.said().split()
    with SqliteStore(path) as store:
        nursery.kill()

        assert store.alive(OwnerId(owner)).wait()
        with pytest.raises(ClaimHeld):
            store.claim(THREAD).wait()
        store.take(THREAD, "its process is gone, a child of it lives", at_us=1).wait()
        store.claim(THREAD).wait()

        with held_until_gone(store, OwnerId(owner)):
            os.kill(int(child), signal.SIGKILL)
        assert not store.alive(OwnerId(owner)).wait()


@contextmanager
def held_until_gone(store: SqliteStore, owner: OwnerId) -> Generator[None]:
    """Wait at the end until an owner is gone: the kernel tells us by the lock."""
    lock = os.open(f"{store.path}-owners/{owner}.lock", os.O_RDONLY)
    try:
        yield
        fcntl.flock(lock, fcntl.LOCK_SH)
    finally:
        os.close(lock)


def test_a_thread_that_fails_is_no_death(nursery: Nursery, path: Path) -> None:
    """While the process lives its claims are held, although the thread of it that made them has failed."""

    nursery.start("crash_a_thread", path)
    owner = nursery.said()
    with SqliteStore(path) as store:
        assert store.alive(OwnerId(owner)).wait()
        with pytest.raises(ClaimHeld):
            store.claim(THREAD).wait()

        nursery.tell("end")
        assert nursery.ended() == 0

        store.claim(THREAD).wait()


def test_a_store_that_is_closed_at_exit_writes_what_waits(nursery: Nursery, path: Path) -> None:
    """A program may close its store when the interpreter ends, also while others write: what was queued is written."""

    nursery.start("close_at_exit", path)
    assert nursery.said() == "ready"
    folder = os.open(f"{path}-owners", os.O_RDONLY)
    # By now it can start no thread that waits for its turn.
    fcntl.flock(folder, fcntl.LOCK_EX)
    nursery.tell("go on")
    assert nursery.ended() == 0
    os.close(folder)

    with SqliteStore(path) as store:
        assert store.read(THREAD).wait().step == 49


def test_a_forgotten_store_writes_what_waits(path: Path) -> None:
    """A store that is freed without being closed says so, writes what was queued, and lets go of its claims."""

    with SqliteStore(path) as other:
        stores = [SqliteStore(path)]
        owner = stores[0].owner
        claim = created(stores[0]).claim
        with held_until_gone(other, owner):
            for step in range(1, 50):
                _ = stores[0].commit(claim, commit(step))
            with pytest.warns(ResourceWarning, match="forgotten without being closed"):
                stores.clear()

        assert not other.alive(owner).wait()
        assert other.claim(THREAD).wait().thread.step == 49


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_S04_a_process_without_a_fork_may_open_the_same_file(nursery: Nursery, path: Path, method: str) -> None:
    """A process that multiprocessing starts afresh opens the store that its parent has open."""

    assert nursery.run("open_in_a_child", path, method) == "order-2"


def test_S04_a_forked_process_may_not_open_the_same_file(nursery: Nursery, path: Path) -> None:
    """What SQLite inherits by a fork would lose what is written there: a child is told so, and how to go on."""

    said_by_child = nursery.run("open_in_a_child", path, "fork")

    assert said_by_child.startswith("StoreUnusable: ")
    assert "had it open when this process was forked" in said_by_child
    assert "spawn" in said_by_child
    with SqliteStore(path) as store:
        assert store.runnable("shop").wait() == (THREAD,)


def test_S04_who_forks_before_opening_shares_the_file(nursery: Nursery, path: Path) -> None:
    """A file that was closed before the fork is opened in parent and child, and what both write is there."""

    assert nursery.run("fork_then_open", path) == "order-2"

    with SqliteStore(path) as store:
        assert store.runnable("shop").wait() == ("order-2", "order-3")


def test_two_stores_of_a_process_are_two_owners(path: Path) -> None:
    """Each open store of a process has claims of its own; closing one frees its threads and not the other's."""

    with SqliteStore(path) as one:
        created(one, "order-1")
        with SqliteStore(path) as two:
            created(two, "order-2")
            assert one.owner != two.owner
            for store, thread in ((one, "order-2"), (two, "order-1")):
                with pytest.raises(ClaimHeld):
                    store.claim(thread).wait()

        assert one.claim("order-2").wait().claim.owner == one.owner
        with pytest.raises(ClaimHeld):
            one.claim("order-1").wait()


def test_an_owner_is_seen_through_every_name_of_the_file(nursery: Nursery, path: Path) -> None:
    """A store that is opened through a link to its file, or to its folder, holds its claims against all others."""

    (path.parent / "link.db").symlink_to(path.name)
    (path.parent / "folder").symlink_to(path.parent)
    nursery.start("hold", path.parent / "link.db", THREAD)
    nursery.said()
    with SqliteStore(path) as here, SqliteStore(path.parent / "folder" / path.name) as there:
        for store in (here, there):
            with pytest.raises(ClaimHeld):
                store.claim(THREAD).wait()

        nursery.kill()

        there.claim(THREAD).wait()


def test_many_who_ask_at_once_are_told_the_truth(nursery: Nursery, path: Path) -> None:
    """Eight processes ask together, 8,000 times in all, whether owners live: two that do, two that were killed."""

    with SqliteStore(path) as one, SqliteStore(path) as two, opened() as another:
        another.start("own", path, 2)
        dead = another.said()
        nursery.start("ask_who_lives", path, 8, 250 * TIMES, f"{one.owner},{two.owner}", dead)
        assert nursery.said() == "ready"
        # Only now: who opens a store clears up what dead owners left.
        another.kill()
        nursery.tell("go")

        assert [f"0 {1000 * TIMES}"] * 8 == [nursery.said() for _ in range(8)]
        assert nursery.ended() == 0
        assert {*dead.split(",")} <= {file.stem for file in Path(f"{path}-owners").iterdir()}
