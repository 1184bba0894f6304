"""A disk that is full or fails, at each system call of a run that writes.

By default a sample, spread over files and calls. `EFFECTGRAPH_TEST_FAULTS=all pytest --timeout 3000` makes every call
fail in turn, which takes two hours.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

import attrs
import pytest

import store_strace as calls
from store_strace import Before, Fault, Target, run_with

ALL: Final = os.environ.get("EFFECTGRAPH_TEST_FAULTS") == "all"

WRITING: Final = (
    Target(calls.OPEN, ""),
    Target(calls.WRITE, ""),
    Target(calls.SYNC, ""),
    Target(calls.OPEN, "-journal"),
    Target(calls.WRITE, "-journal"),
    Target(calls.SYNC, "-journal"),
    Target(calls.OPEN, "-wal"),
    Target(calls.WRITE, "-wal"),
    Target(calls.SYNC, "-wal"),
    Target(calls.OPEN, "-shm"),
    Target(calls.WRITE, "-shm"),
    Target(calls.CUT, "-shm"),
    Target(calls.MAP, "-shm"),
    Target(calls.CUT, "-wal"),
    Target(calls.OPEN, "/"),
    Target(calls.SYNC, "/"),
    Target(calls.OPEN, "-owners"),
    Target(calls.MAKE_FOLDER, None),
    Target(calls.SET_MODE, None),
    Target(calls.UNLINK, None),
    Target(calls.LOCK, None),
    Target(calls.READ, ""),
    Target(calls.READ, "-journal"),
    Target(calls.READ, "-wal"),
)
"""All system calls with which a store changes anything, and those without which it cannot go on."""

SAMPLE: Final = (
    (Before.NOTHING, Fault(Target(calls.OPEN, "-wal"), "ENOSPC", 1)),
    (Before.NOTHING, Fault(Target(calls.WRITE, ""), "EIO", 7)),
    (Before.NOTHING, Fault(Target(calls.WRITE, "-wal"), "ENOSPC", 40, lasts=True)),
    (Before.NOTHING, Fault(Target(calls.MAKE_FOLDER, None), "ENOSPC", 1)),
    (Before.NOTHING, Fault(Target(calls.UNLINK, None), "EIO", 3)),
    (Before.CLOSED, Fault(Target(calls.WRITE, "-wal"), "EIO", 60)),
    (Before.CLOSED, Fault(Target(calls.SYNC, "-wal"), "EIO", 4)),
    (Before.CLOSED, Fault(Target(calls.SYNC, ""), "EIO", 1)),
    (Before.CLOSED, Fault(Target(calls.LOCK, None), "EIO", 4)),
    (Before.KILLED, Fault(Target(calls.UNLINK, None), "EIO", 1, lasts=True)),
)


EACH: Final = [
    (before, Fault(target, error, 1, lasts=lasts))
    for before in Before
    for target in WRITING
    for error, lasts in (("ENOSPC", False), ("ENOSPC", True), ("EIO", False), ("EIO", True), ("EINTR", False))
]
"""The first of each. A call that is interrupted for ever is tried for ever, so there is none of those."""


def named(value: object) -> str:
    """A short name of a fault or a target, the same in every process."""
    match value:
        case Before():
            return value.value
        case Target():
            return value.name
        case Fault():
            return f"{value.target.name} {value.number}{'+' if value.lasts else ''} {value.error}"
        case _:
            return str(value)


@pytest.mark.parametrize(("before", "fault"), EACH if ALL else SAMPLE, ids=named)
def test_a_call_that_fails_loses_nothing(tmp_path: Path, before: Before, fault: Fault) -> None:
    """When one system call fails, the error is the store's own, all that was acknowledged is there, and it goes on."""

    assert run_with(fault, tmp_path / "store.db", before).hit or ALL

    hit = ALL
    while hit:
        fault = attrs.evolve(fault, number=fault.number + 1)
        with tempfile.TemporaryDirectory(dir=tmp_path) as folder:
            hit = run_with(fault, Path(folder, "store.db"), before).hit


def test_a_store_that_cannot_be_read_is_not_called_a_strangers(path: Path) -> None:
    """When the disk fails while a file is looked at, the error names the disk, not the path."""

    ran = run_with(Fault(Target(calls.READ, ""), "EIO", 1), path, Before.CLOSED)

    assert ran.hit
    (line,) = ran.lines
    assert line.startswith("! StoreUnusable: ")
    assert "the disk failed" in line
    assert "give another path" not in line


def test_a_sync_that_fails_is_told_though_the_log_is_being_copied(path: Path) -> None:
    """A log that is full is synced by a write that asks for it, which fails, not in a copy that nobody waits for."""

    # Behind those for the log's header, for the first thread and for the intent of the second.
    ran = run_with(Fault(Target(calls.SYNC, "-wal"), "EIO", 8), path, Before.CLOSED, calls.LARGE_BYTES)

    assert ran.hit
    assert ["work-1 committed", "! work-1 synced", "! work-2 created", "! StoreUnusable"] == [
        line.partition(":")[0] for line in ran.lines[10:]
    ]
    assert "could not be synced" in ran.lines[-1]
