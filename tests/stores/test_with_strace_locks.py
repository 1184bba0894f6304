"""Owners' locks where the kernel's file locks fail, lie, or come late."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Final

import pytest

from effectgraph.stores import SqliteStore
from store_processes import OWNERS, run

OWNER: Final = uuid.UUID("0123456789abcdef0123456789abcdef")


def flock(fault: str) -> tuple[str, ...]:
    """Run under a tracer that makes file locks fail."""
    return ("strace", "-f", "-o", "/dev/null", "-e", "trace=flock", "-e", f"inject=flock:{fault}")


@pytest.mark.parametrize("when", ["1+", "2+"])
@pytest.mark.parametrize("error", ["ENOSYS", "ENOLCK"])
def test_L08_without_file_locks_no_store_is_opened(path: Path, error: str, when: str) -> None:
    """Where owners could not be told from dead ones, opening says so; whether the lock or the look at it finds out."""

    said = run("open_and_write", path, child=OWNERS, under=flock(f"error={error}:when={when}"))

    assert said.startswith(f"StoreUnusable: store {path}: no owner's lock can be had")
    with SqliteStore(path) as store:
        assert store.runnable("shop").wait() == ()


def test_L08_file_locks_that_do_nothing_are_found_out(path: Path) -> None:
    """A mount that answers every lock with success is refused: every living owner would look dead on it."""

    said = run("open_and_write", path, child=OWNERS, under=flock("retval=0"))

    assert said.startswith(f"StoreUnusable: store {path}: file locks do nothing")


def test_L08_file_locks_that_fail_later_decide_nothing(path: Path) -> None:
    """Once a store is open it writes without turns where locks fail; whether others live cannot be seen, and is said.

    The first two locks are the owner's own and the look at it. The tracer counts those of each thread by itself.
    """

    with SqliteStore(path) as store:
        said = run("write_and_ask", path, store.owner, child=OWNERS, under=flock("error=ENOLCK:when=3+")).splitlines()

    assert said[0] == "20"
    assert said[1].startswith("StoreUnusable: ")
    assert f"whether owner {store.owner} lives cannot be seen" in said[1]


def test_L08_a_lock_file_that_is_missed_once_is_tried_again(path: Path) -> None:
    """Opening the own lock file fails once, because it is not there: the next try makes it and takes the lock."""

    trace = path.with_name("trace")
    lock = f"{path}-owners/{OWNER.hex}.lock"
    under = ("strace", "-o", str(trace), "-P", lock, "-e", "trace=openat", "-e", "inject=openat:error=ENOENT:when=1")

    said = run("open_under_a_name", path, OWNER, child=OWNERS, under=under)

    assert "(INJECTED)" in trace.read_text()
    assert said == "order-2\n"
