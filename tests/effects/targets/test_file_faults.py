"""The file target under kills, full disks and programs that do not take its lock."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from effectgraph.effects.errors import NotApplied, TargetMoved
from effectgraph.effects.targets.digests import digest_of
from effectgraph.effects.targets.errors import FileMoved
from effectgraph.effects.targets.file import FileTarget
from target_calls import at, effect, names_in, run
from target_child import KILL_POINTS

LINE = "one more line\n"


def run_again(target: FileTarget) -> str:
    """Do what a guard does with an intent that has no outcome: probe, and plan and run again if nothing has landed."""
    digest = target.probe(effect(token=2))
    planned = target.plan(effect(token=2), lambda old: (old or b"") + LINE.encode())
    if planned.before == digest and digest == digest_of(b"first\n"):
        planned.effect(2)
        return "ran"
    return "landed"


@pytest.mark.parametrize("point", [*KILL_POINTS, "returned"])
def test_F05_killed_at_any_point_the_effect_happens_once(tmp_path: Path, point: str) -> None:
    """SIGKILL at a point of the effect, then recovery: the line is there once, and no temporary file is left."""

    path = tmp_path / "file"
    path.write_bytes(b"first\n")
    before, after = run("write", path, LINE, point, expected=-signal.SIGKILL).split()
    landed = FileTarget(path).probe(effect(token=2)) == after

    answer = run_again(FileTarget(path))

    assert (before, landed) == (digest_of(b"first\n"), point in ("file replaced", "returned"))
    assert answer == ("landed" if landed else "ran")
    assert path.read_text() == "first\n" + LINE
    assert names_in(tmp_path) == ["file"]


def test_F05_a_leftover_is_in_nobodys_way(tmp_path: Path) -> None:
    """Killed between temporary file and rename: the target is old, and the same plan runs without a probe before it."""

    path = tmp_path / "file"
    path.write_bytes(b"first\n")
    run("write", path, LINE, "temporary synced", expected=-signal.SIGKILL)
    left = names_in(tmp_path)
    old = path.read_bytes()

    FileTarget(path).plan(effect(token=2), lambda old: (old or b"") + LINE.encode()).effect(2)

    assert (len(left), old) == (2, b"first\n")
    assert left[0].startswith(".file.")
    assert left[0].endswith(".effectgraph-tmp")
    assert path.read_text() == "first\n" + LINE
    assert names_in(tmp_path) == ["file"]


def test_F05_a_leftover_of_another_plan_is_removed_by_a_probe(tmp_path: Path) -> None:
    """A leftover that holds what its own plan would have left is removed, whatever is planned next."""

    path = tmp_path / "file"
    path.write_bytes(b"first\n")
    run("write", path, "a line from a killed plan\n", "temporary synced", expected=-signal.SIGKILL)

    FileTarget(path).probe(effect(token=2))

    assert names_in(tmp_path) == ["file"]


def killed_in_the_middle(path: Path) -> Path:
    """Have a writer killed in the middle of its temporary file; the leftover's path."""
    run("write_on_full_disk", path, 1_000_000, 8192, "killed", expected=-signal.SIGXFSZ)
    (leftover,) = path.parent.glob(".*")
    return leftover


def test_F05_a_leftover_of_unknown_content_is_kept_and_named(tmp_path: Path) -> None:
    """A temporary file that was half written has no known digest: it stays, and a conflict names it."""

    path = tmp_path / "file"
    path.write_bytes(b"first\n")
    leftover = killed_in_the_middle(path)
    target = FileTarget(path)
    target.probe(effect(token=2))
    planned = target.plan(effect(token=2), lambda old: b"mine")
    path.write_bytes(b"somebody else's")

    with pytest.raises(FileMoved, match=leftover.name) as refused:
        planned.effect(2)
    assert refused.value.leftovers == (str(leftover),)
    assert leftover.stat().st_size == 8192


def test_F05_the_same_plan_runs_beside_a_leftover_that_is_kept(tmp_path: Path) -> None:
    """A kept leftover has the name that the next attempt would take; the attempt takes another."""

    path = tmp_path / "file"
    leftover = killed_in_the_middle(path)

    FileTarget(path).plan(effect(token=2), lambda old: b"x" * 1_000_000).effect(2)

    assert path.stat().st_size == 1_000_000
    assert names_in(tmp_path) == [leftover.name, "file"]


def test_files_that_are_not_ours_are_never_touched(tmp_path: Path) -> None:
    """Hidden files, other targets' leftovers, folders and links with names like ours: all stay."""

    short = digest_of(b"x").removeprefix("xxh3:")[:16]
    mine = f".file.absent-{short}.0.effectgraph-tmp"
    other = f".file.txt.absent-{short}.0.effectgraph-tmp"
    for name in (".file", ".file.effectgraph-tmp", other, f".file.absent-{short}.x.effectgraph-tmp"):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / f".file.absent-{short}.1.effectgraph-tmp").mkdir()
    (tmp_path / f".file.absent-{short}.2.effectgraph-tmp").symlink_to(other)
    kept = names_in(tmp_path)
    (tmp_path / mine).write_bytes(b"x")

    FileTarget(tmp_path / "file").probe(effect())

    assert names_in(tmp_path) == kept


def test_a_disk_that_is_full_changes_nothing(tmp_path: Path) -> None:
    """The temporary file cannot be written whole: not applied, the old content stays, nothing is left."""

    path = tmp_path / "file"
    path.write_bytes(b"first\n")

    said = run("write_on_full_disk", path, 1_000_000, 8192, "refused")

    assert "File too large" in said
    assert path.read_bytes() == b"first\n"
    assert names_in(tmp_path) == ["file"]


def test_a_rename_that_fails_changes_nothing(tmp_path: Path) -> None:
    """The target becomes a folder just before the rename: not applied, and nothing of ours is left."""

    path = tmp_path / "file"
    planned = FileTarget(path).plan(effect(), lambda old: b"mine")

    with at(os.replace, 1, path.mkdir), pytest.raises(NotApplied, match="Is a directory"):
        planned.effect(1)
    assert names_in(tmp_path) == ["file"]


def test_F03_a_program_without_the_lock_is_noticed_before_the_rename(tmp_path: Path) -> None:
    """Another program writes while the temporary file is synced: a conflict, its bytes kept, nothing of ours left."""

    path = tmp_path / "file"
    path.write_bytes(b"first\n")
    planned = FileTarget(path).plan(effect(), lambda old: b"mine")

    with at(os.fsync, 1, lambda: path.write_bytes(b"theirs")), pytest.raises(TargetMoved):
        planned.effect(1)
    assert path.read_bytes() == b"theirs"
    assert names_in(tmp_path) == ["file"]


def test_F03_a_write_between_the_last_look_and_the_rename_is_lost_limit(tmp_path: Path) -> None:
    """Known limit: what a program without the lock writes in the last microseconds before the rename is replaced."""

    path = tmp_path / "file"
    path.write_bytes(b"first\n")
    planned = FileTarget(path).plan(effect(), lambda old: b"mine")

    with at(os.replace, 1, lambda: path.write_bytes(b"theirs")):
        planned.effect(1)

    assert path.read_bytes() == b"mine"


def test_other_hard_links_keep_the_old_content_limit(tmp_path: Path) -> None:
    """Known limit: a file is replaced under one name, so its other hard links stay with what it was."""

    path = tmp_path / "file"
    path.write_bytes(b"first\n")
    os.link(path, tmp_path / "other")

    FileTarget(path).plan(effect(), lambda old: b"mine").effect(1)

    assert (path.read_bytes(), (tmp_path / "other").read_bytes()) == (b"mine", b"first\n")
