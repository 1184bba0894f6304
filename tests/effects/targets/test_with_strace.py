"""Targets as the kernel sees them: which syncs they ask for, and what they do when a system call fails."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from effectgraph.effects.targets.locks import LockFolder
from effectgraph.effects.targets.sqlite import SqliteTarget
from target_calls import effect, run
from target_child import insert, make_numbers

SYNCS = "fsync,fdatasync"


def syncs(path: Path, what: str, trace: Path) -> list[str]:
    """The files that one call of a target on a database syncs, in order."""
    run("work_with_marks", path, what, under=("strace", "-y", "-o", str(trace), "-e", f"trace=openat,{SYNCS}"))
    _, _, text = trace.read_text().partition('"/begin"')
    text, _, _ = text.partition('"/end"')
    return re.findall(r"^f(?:data)?sync\(\d+<(.*)>\)", text, re.MULTILINE)


def database(tmp_path: Path, journal_mode: str) -> Path:
    """A user's database in a folder of its own."""
    path = tmp_path / "db" / "user.db"
    path.parent.mkdir()
    make_numbers(str(path), journal_mode)
    return path


def test_a_file_is_synced_before_its_rename_and_its_folder_after(tmp_path: Path) -> None:
    """The temporary file reaches the disk, then gets the file's name, then the folder reaches the disk."""

    trace = tmp_path / "trace"
    folder = tmp_path / "folder"
    folder.mkdir()
    under = ("strace", "-y", "-o", str(trace), "-e", f"trace={SYNCS},rename,renameat,renameat2")

    run("create", folder / "file", "022", under=under)

    lines = [line for line in trace.read_text().splitlines() if str(folder) in line]
    assert [line.partition("(")[0] for line in lines] == ["fsync", lines[1].partition("(")[0], "fsync"]
    assert f"{folder}/.file." in lines[0]
    assert lines[1].startswith("rename")
    assert lines[1].endswith('"file") = 0')
    assert lines[2].endswith(f"<{folder}>) = 0")


def test_an_effect_in_wal_mode_costs_one_sync(tmp_path: Path) -> None:
    """In WAL mode applying is one sync of the log, with keys, token and all."""

    path = database(tmp_path, "wal")

    assert syncs(path, "apply", tmp_path / "trace") == [f"{path}-wal"]


def test_an_effect_in_rollback_mode_syncs_the_folder_last(tmp_path: Path) -> None:
    """In rollback mode a commit counts once the journal's name is gone from the disk."""

    path = database(tmp_path, "delete")

    assert syncs(path, "apply", tmp_path / "trace")[-2:] == [str(path), str(path.parent)]


def test_forgetting_nothing_costs_no_sync(tmp_path: Path) -> None:
    """With its token recorded and no key there, forget reads only."""

    assert syncs(database(tmp_path, "wal"), "forget", tmp_path / "trace") == []


def test_a_recorded_outcome_is_synced_before_it_is_given_back(tmp_path: Path) -> None:
    """Whoever recorded it may have been killed before its commit reached the disk."""

    path = database(tmp_path, "wal")

    assert syncs(path, "apply again", tmp_path / "trace") == [f"{path}-wal"]


def test_forgetting_without_token_is_synced_even_if_the_key_is_gone(tmp_path: Path) -> None:
    """Whoever removed it may have been killed before that reached the disk, and token 0 fences nobody."""

    path = database(tmp_path, "wal")

    assert syncs(path, "forget without token", tmp_path / "trace") == [f"{path}-wal"]


def test_a_full_disk_at_the_commit_is_not_applied(tmp_path: Path) -> None:
    """The log cannot be written: SQLite has rolled back and says so, and nothing is found later."""

    path = database(tmp_path, "wal")
    under = ("strace", "-o", "/dev/null", "-P", f"{path}-wal", "-e", "inject=pwrite64:error=ENOSPC:when=2+")

    said = run("apply_or_say", path, "call", under=under)

    assert re.match(r"NotApplied: .*database or disk is full; nothing was changed", said)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM numbers").fetchone() == (0,)


def test_a_sync_that_fails_at_the_commit_leaves_it_unknown(tmp_path: Path) -> None:
    """The log was written and not synced: the error is SQLite's own, and the next call ends with one row."""

    path = database(tmp_path, "wal")
    under = ("strace", "-o", "/dev/null", "-P", f"{path}-wal", "-e", f"inject={SYNCS}:error=EIO")

    said = run("apply_or_say", path, "call", under=under)

    with SqliteTarget(path) as target:
        target.apply(effect(), lambda connection: insert(connection, "1"))
    assert said == "OperationalError: disk I/O error\n"
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM numbers").fetchone() == (1,)


@pytest.mark.parametrize("when", ["1+", "3+"])
def test_L08_no_flock_is_refused(tmp_path: Path, when: str) -> None:
    """A file system without file locks is refused, whether the self-check or the lock itself finds out."""

    under = ("strace", "-o", "/dev/null", "-e", f"inject=flock:error=ENOSYS:when={when}")

    said = run("lock_once", tmp_path / "target", under=under)

    assert "Function not implemented" in said
    assert "set EFFECTGRAPH_LOCK_DIR" in said


def test_L08_a_flock_that_does_nothing_is_refused(tmp_path: Path) -> None:
    """A mount that answers every lock with success is found out before anything relies on it."""

    said = run("lock_once", tmp_path / "target", under=("strace", "-o", "/dev/null", "-e", "inject=flock:retval=0"))

    assert "file locks exclude nobody" in said


def test_L08_a_lock_file_that_is_missed_once_is_tried_again(tmp_path: Path) -> None:
    """Opening the lock file fails once with ENOENT: the next try takes the lock."""

    target = str(tmp_path / "target")
    lock = f"{LockFolder.of_user().path}/{hashlib.sha256(target.encode()).hexdigest()}.lock"
    trace = tmp_path / "trace"
    under = ("strace", "-o", str(trace), "-P", lock, "-e", "trace=openat", "-e", "inject=openat:error=ENOENT:when=1")

    said = run("lock_once", target, under=under)

    assert said == "held\n"
    assert "(INJECTED)" in trace.read_text()
