"""The store as the kernel sees it: what is synced, and what becomes of a write that the disk refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from effectgraph.stores import SqliteStore
from store_processes import run

SYNCS = "fsync,fdatasync"


def syncs(path: Path, what: str, count: int) -> list[str]:
    """The files that some writes sync, in order."""
    trace = path.with_name("trace")
    run(
        "write_between_marks",
        path,
        what,
        count,
        under=("strace", "-f", "-y", "-o", str(trace), "-e", f"trace=openat,{SYNCS}"),
    )
    _, _, text = trace.read_text().partition('"/begin"')
    text, _, _ = text.partition('"/end"')
    return re.findall(r"f(?:data)?sync\(\d+<([^>]*)>", text)


@pytest.mark.parametrize(
    ("what", "most"),
    [
        ("synced", 25),
        # What needs no sync goes with the next one, so that an effect of this kind costs one.
        ("settled", 25),
        # Only what the writer syncs by itself when it is slow.
        ("not synced", 2),
    ],
)
def test_intent_unsynced_each_synced_write_is_one_sync(path: Path, what: str, most: int) -> None:
    """Each awaited synced write is one sync of the log; writes that need none make none."""

    found = syncs(path, what, 25)

    assert {f"{path}-wal"} >= set(found)
    assert len(found) <= most + 2
    if what != "not synced":
        assert len(found) >= 25


def test_claim_unsynced_what_others_rely_on_is_synced(path: Path) -> None:
    """Making, claiming, taking, releasing, deleting a thread, an attempt, an intent, a withdrawal: each is synced."""

    assert len(syncs(path, "relied on", 1)) >= 8


def test_a_full_disk_takes_back_nothing(path: Path) -> None:
    """A write for which the disk has no room fails with the way out; what was acknowledged before is there."""

    SqliteStore(path).__exit__(None, None, None)
    # The first thread or none finds room.
    under = ("strace", "-f", "-o", "/dev/null", "-P", f"{path}-wal", "-e", "inject=pwrite64:error=ENOSPC:when=9+")

    *lines, closed = run("write_to_a_bad_disk", path, under=under).splitlines()

    made = [line for line in lines if line.startswith("order-")]
    failed = [line for line in lines if line.startswith("StoreUnusable: ")]
    assert len(made) + len(failed) == 3
    assert failed
    assert all("the disk is full" in line and "make room" in line for line in failed)
    assert closed == "None" or "could not be synced" in closed
    with SqliteStore(path) as store:
        assert made == list(store.runnable("shop").wait())


def test_a_sync_that_fails_ends_all_writing(path: Path) -> None:
    """After a failed sync nothing is written any more: a later one could succeed though earlier writes are lost."""

    SqliteStore(path).__exit__(None, None, None)
    # The first sync is that of the log's header.
    under = ("strace", "-f", "-o", "/dev/null", "-P", f"{path}-wal", "-e", f"inject={SYNCS}:error=EIO:when=3")

    lines = run("write_to_a_bad_disk", path, under=under).splitlines()

    assert lines[0] == "order-0"
    assert all(line.startswith("StoreUnusable: ") and "the disk failed" in line for line in lines[1:3]), lines
    with SqliteStore(path) as store:
        listed = store.runnable("shop").wait()
    assert "order-0" in listed
    assert "order-2" not in listed
