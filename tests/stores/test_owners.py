"""Owners in processes of their own: alive, killed, forked."""

from __future__ import annotations

import fcntl
import os
import signal
from pathlib import Path

import pytest

from effectgraph.stores import ClaimHeld, SqliteStore
from effectgraph.stores.owners import Owner
from effectgraph.stores.records import OwnerId
from store_nursery import Nursery
from store_processes import kill, run, said, start
from store_records import THREAD, key


def test_L07_a_killed_owner_is_gone_at_once(path: Path) -> None:
    """While an owner's process lives its thread is held; once it is killed the thread can be claimed, with no wait."""

    child = start("hold", path)
    owner, token = said(child).split()
    with SqliteStore(path) as store:
        assert store.alive(OwnerId(owner)).wait()
        assert store.runnable("shop").wait() == ()
        assert store.unresolved().wait() == ()
        with pytest.raises(ClaimHeld) as refused:
            store.claim(THREAD).wait()
        assert (refused.value.owner, refused.value.token) == (owner, int(token))

        kill(child)

        assert not store.alive(OwnerId(owner)).wait()
        assert store.runnable("shop").wait() == (THREAD,)
        assert [found.key for found in store.unresolved().wait()] == [key(thread="script")]
        assert store.claim(THREAD).wait().claim.token > int(token)


def test_a_stopped_owner_is_alive(path: Path) -> None:
    """An owner that was stopped holds its thread; only `take` passes it over."""

    child = start("hold", path)
    said(child)
    os.kill(child.pid, signal.SIGSTOP)
    os.waitpid(child.pid, os.WUNTRACED)
    with SqliteStore(path) as store:
        with pytest.raises(ClaimHeld):
            store.claim(THREAD).wait()

        token = store.take(THREAD, "stopped", at_us=1).wait()

        assert store.claim(THREAD).wait().claim.token > token
    kill(child)


def test_S04_a_fork_cannot_use_the_store(path: Path) -> None:
    """In a forked process every use of the inherited store says so; the parent goes on as if nothing had been."""

    lines = run("use_after_fork", path).splitlines()

    assert len(lines) == 5
    assert all(line.startswith("StoreClosed: ") and "forked" in line for line in lines[:4]), lines
    assert lines[4] == "1"
    with SqliteStore(path) as store:
        assert store.read(THREAD).wait().step == 1


def test_S01_what_many_processes_write_is_all_there(nursery: Nursery, path: Path) -> None:
    """Processes that read, then write over what they saw, wait for each other: no write is lost, none finds a lock."""

    assert nursery.run("add_up", path, 8, 25) == "done"

    with SqliteStore(path) as store:
        found = store.evidence(key(thread="script"), 0).wait()
        assert found is not None
        assert (found.attempt, found.version) == (8 * 25, 8 * 25)
        assert [25] * 8 == [len(store.history(f"order-{number}").wait()) for number in range(8)]


def test_two_who_ask_at_once_do_not_see_each_other(tmp_path: Path) -> None:
    """However many ask whether a dead owner lives, at the same moment, each is told that it does not."""

    asking = [Owner.beside(tmp_path / "store.db") for _ in range(2)]
    gone = Owner.beside(tmp_path / "store.db")
    lock = tmp_path / "store.db-owners" / f"{gone.id}.lock"
    gone.let_go()
    lock.touch()

    # Held like this by somebody who asks at this moment.
    descriptor = os.open(lock, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    assert [False, False] == [owner.alive(gone.id) for owner in asking]
    os.close(descriptor)
    for owner in asking:
        owner.let_go()


def test_dead_owners_are_cleared_up(path: Path) -> None:
    """Opening a store removes what killed owners left, and nothing of those that live."""

    with SqliteStore(path) as here:
        child = start("hold", path)
        owner = said(child).split()[0]
        kill(child)
        locks = Path(f"{here.path}-owners")
        assert {f"{owner}.lock", f"{here.owner}.lock"} == {file.name for file in locks.iterdir()}

        with SqliteStore(path) as other:
            assert {f"{other.owner}.lock", f"{here.owner}.lock"} == {file.name for file in locks.iterdir()}
            assert other.alive(here.owner).wait()

    assert [] == list(locks.iterdir())
