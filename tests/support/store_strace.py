"""Runs of a child in which strace makes one system call fail, and what must be so afterwards."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from enum import Enum
from pathlib import Path
from typing import Final

import attrs

from effectgraph.stores import SqliteStore, ThreadUnknown
from store_files import contents
from store_processes import FAULTS, finish, kill, said, start
from store_records import commit, created, key, piece

SMALL_BYTES: Final = 10_000
"""Bytes of state that take a few pages of the log."""

LARGE_BYTES: Final = 4_500_000
"""Bytes of state that fill the log, so that the next synced commit copies it into the file."""

WRITE: Final = "?write,?pwrite64,?pwritev,?pwritev2"
SYNC: Final = "?fsync,?fdatasync,?sync_file_range"
OPEN: Final = "?open,?openat,?openat2"
CUT: Final = "?ftruncate,?fallocate"
UNLINK: Final = "?unlink,?unlinkat"
MAKE_FOLDER: Final = "?mkdir,?mkdirat"
SET_MODE: Final = "?fchmod,?fchown"
LOCK: Final = "?flock"
READ: Final = "?pread64"
MAP: Final = "?mmap"


class Before(Enum):
    """What the child finds."""

    NOTHING = "nothing"
    CLOSED = "closed"
    """A store that was closed in order."""
    KILLED = "killed"
    """A store whose last user was killed: what he wrote is in the log alone."""


@attrs.frozen
class Target:
    """Which system calls of which file are to fail: the `end` of its name, None for all files and all else."""

    calls: str
    end: str | None

    @property
    def name(self) -> str:
        """Its name in a test's id."""
        return f"{self.calls.lstrip('?').split(',')[0]} {'all' if self.end is None else self.end or 'file'}"


@attrs.frozen
class Fault:
    """The `number`th such call fails, in each thread that comes so far; all later ones as well if it `lasts`."""

    target: Target
    error: str
    number: int
    lasts: bool = False

    def tracer(self, path: Path, trace: Path) -> tuple[str, ...]:
        """The command line that runs a program with this fault."""
        when = f"{self.number}+" if self.lasts else str(self.number)
        inject = f"inject={self.target.calls}:error={self.error}:when={when}"
        only = () if self.target.end is None else ("-P", place(path, self.target.end))
        return ("strace", "-f", "-qq", "-y", "-o", str(trace), *only, "-e", f"trace={self.target.calls}", "-e", inject)


def place(path: Path, end: str) -> str:
    """The path of a store's file, of one beside it, or of their folder ("/")."""
    return str(path.parent) if end == "/" else f"{path}{end}"


def prepare(path: Path, before: Before) -> None:
    """Make what the child is to find."""
    if before is Before.NOTHING:
        return
    with SqliteStore(path) as store:
        claim = created(store, "before").claim
        store.commit(claim, commit(1, piece("total", b"0"))).wait()
    if before is Before.KILLED:
        child = start("hold", path)
        said(child)
        kill(child)


@attrs.frozen
class Ran:
    """What came of a run: whether the fault came about, and what the child said."""

    hit: bool
    lines: list[str]


def run_with(fault: Fault, path: Path, before: Before, state_bytes: int = SMALL_BYTES) -> Ran:
    """Run the child with a fault, and check what it leaves."""
    prepare(path, before)
    trace = path.with_name("trace")
    child = start("work", path, state_bytes, under=fault.tracer(path, trace), child=FAULTS)
    lines = finish(child).splitlines()
    hit = "(INJECTED)" in trace.read_text()
    trace.unlink()
    if not hit:
        assert not [line for line in lines if line.startswith("! ")]
        assert lines[-1] == "closed"
    check_left(path, lines, before)
    return Ran(hit, lines)


def check_left(path: Path, lines: list[str], before: Before) -> None:
    """Fail unless the store opens, holds all that was acknowledged, is sound, and can be written."""
    acknowledged = {line for line in lines if not line.startswith("! ")}
    failed = [line for line in lines if line.startswith("! ")]
    assert "closed" in acknowledged or failed
    with SqliteStore(path) as store:
        if before is not Before.NOTHING:
            assert store.read("before").wait().step == 1
        if before is Before.KILLED:
            assert store.evidence(key(thread="script"), 0).wait() is not None
        for thread in ("work-0", "work-1", "work-2"):
            stage = stage_of(store, thread)
            for number, what in enumerate(STAGES):
                if f"{thread} {what}" in acknowledged:
                    assert stage > number, (thread, what, stage, lines)
                if any(line.startswith(f"! {thread} {what}: ") and "the disk is full" in line for line in failed):
                    assert stage <= number, (thread, what, stage, lines)
        created(store, "afterwards")
        assert store.check().wait() == ()
    assert contents(path.parent).keys() == {path.name}
    with closing(sqlite3.connect(path)) as connection:
        assert [("ok",)] == connection.execute("PRAGMA integrity_check").fetchall()


STAGES: Final = ("created", "begun", "settled", "committed", "released")


def stage_of(store: SqliteStore, thread: str) -> int:
    """How many of the stages a thread has behind it."""
    try:
        view = store.read(thread).wait()
    except ThreadUnknown:
        return 0
    if view.step == 1:
        assert view.pieces[-1].value.strip(b"x") == b""
        return 4 if view.owner is not None else 5
    evidence = store.evidence(key(thread=thread), view.incarnation).wait()
    if evidence is None:
        return 1
    return 2 if evidence.outcome is None else 3
