"""The file target: what a plan, an effect and a probe do."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from effectgraph.effects.errors import NotApplied, TargetFenced, TargetMoved
from effectgraph.effects.targets.digests import ABSENT, CHUNK_BYTES, digest_of
from effectgraph.effects.targets.errors import FileMoved, TargetBusy, TargetUnusable
from effectgraph.effects.targets.file import FileTarget
from effectgraph.effects.targets.locks import LockFolder
from target_calls import calls_of, effect, finish, names_in, run, start


def appending(line: bytes) -> Callable[[bytes | None], bytes]:
    """What makes a content with one more line."""
    return lambda old: (old or b"") + line


def becoming(content: bytes | None) -> Callable[[bytes | None], bytes | None]:
    """What makes a content whatever was there."""
    return lambda old: content


def put(path: Path, content: bytes | None, token: int = 1) -> None:
    """Plan and apply one write."""
    FileTarget(path).plan(effect(token=token), becoming(content)).effect(token)


def test_digests_are_xxh3_128() -> None:
    """A digest names its kind; these are the ones that xxHash publishes for XXH3 128 of these inputs."""

    assert digest_of(b"") == "xxh3:99aa06d3014798d86001c324468d497f"
    assert digest_of(None) == ABSENT == "absent"


@pytest.mark.parametrize("size_bytes", [0, 1, CHUNK_BYTES, 2 * CHUNK_BYTES + 1])
def test_a_file_is_digested_in_pieces(tmp_path: Path, size_bytes: int) -> None:
    """A probe's digest is that of the whole content, however large."""

    content = bytes(range(251)) * (size_bytes // 251 + 1)
    path = tmp_path / "file"
    path.write_bytes(content[:size_bytes])

    assert FileTarget(path).probe(effect()) == digest_of(content[:size_bytes])


def test_a_plan_says_before_and_after_and_changes_nothing(tmp_path: Path) -> None:
    """A plan hands the content out once, digests both contents, and leaves the folder as it is."""

    path = tmp_path / "file"
    path.write_bytes(b"one\n")
    planned = FileTarget(path).plan(effect(), appending(b"two\n"))

    assert (planned.before, planned.after) == (digest_of(b"one\n"), digest_of(b"one\ntwo\n"))
    assert path.read_bytes() == b"one\n"
    assert names_in(tmp_path) == ["file"]


def test_an_effect_replaces_the_file(tmp_path: Path) -> None:
    """The effect leaves the planned content, its digest, and nothing else in the folder."""

    path = tmp_path / "file"
    path.write_bytes(b"one\n")
    target = FileTarget(path)
    planned = target.plan(effect(), appending(b"two\n"))
    planned.effect(1)

    assert path.read_bytes() == b"one\ntwo\n"
    assert target.probe(effect()) == planned.after
    assert names_in(tmp_path) == ["file"]


def test_an_empty_file_is_not_an_absent_one(tmp_path: Path) -> None:
    """To create an empty file, to delete it, to delete nothing: each has its own pair of digests."""

    path = tmp_path / "file"
    target = FileTarget(path)
    seen: list[tuple[str, str, bool]] = []
    for content in (b"", None, None):
        planned = target.plan(effect(), becoming(content))
        planned.effect(1)
        seen.append((planned.before, planned.after, path.exists()))

    empty = digest_of(b"")
    assert seen == [(ABSENT, empty, True), (empty, ABSENT, False), (ABSENT, ABSENT, False)]
    assert target.probe(effect()) == ABSENT


def test_a_plan_that_refuses_leaves_nothing(tmp_path: Path) -> None:
    """What `make` raises comes out as it is, and the file stays."""

    path = tmp_path / "file"
    path.write_bytes(b"one\n")

    def refuse(old: bytes | None) -> bytes:
        raise ValueError(f"old text not found in {old!r}")

    with pytest.raises(ValueError, match="old text not found in b'one"):
        FileTarget(path).plan(effect(), refuse)
    assert path.read_bytes() == b"one\n"


def test_the_planner_runs_without_the_lock(tmp_path: Path) -> None:
    """Code that is not ours may take its time, and may even look at the same target."""

    path = tmp_path / "file"
    target = FileTarget(path, wait_s=0)

    planned = target.plan(effect(), lambda old: target.probe(effect()).encode())

    planned.effect(1)
    assert path.read_bytes() == b"absent"


@pytest.mark.parametrize("other", [b"changed\n", b"", None])
def test_F03_a_file_that_was_changed_in_between_is_kept(tmp_path: Path, other: bytes | None) -> None:
    """A writer without the lock changes the file between plan and effect: a conflict, and its bytes are kept."""

    path = tmp_path / "file"
    path.write_bytes(b"one\n")
    planned = FileTarget(path).plan(effect(), appending(b"two\n"))
    path.unlink()
    if other is not None:
        path.write_bytes(other)

    with pytest.raises(TargetMoved) as refused:
        planned.effect(1)
    error = refused.value
    assert (error.target, error.expected, error.found) == (str(path), digest_of(b"one\n"), digest_of(other))
    assert names_in(tmp_path) == ([] if other is None else ["file"])
    assert other is None or path.read_bytes() == other


def test_a_moved_file_says_so_after_pickling(tmp_path: Path) -> None:
    """The error comes back whole, with the leftovers that it names."""

    error = FileMoved("/file", "xxh3:1", "absent", ("/.file.tmp",))

    again = pickle.loads(pickle.dumps(error))

    assert str(again) == str(error)
    assert "/.file.tmp" in str(again)
    assert str(FileMoved("/file", "xxh3:1", "absent", ())) == str(TargetMoved("/file", "xxh3:1", "absent"))


def test_an_effect_does_not_run_twice(tmp_path: Path) -> None:
    """The second run of one plan finds that the file has moved, by itself."""

    path = tmp_path / "file"
    planned = FileTarget(path).plan(effect(), appending(b"one\n"))
    planned.effect(1)

    with pytest.raises(TargetMoved):
        planned.effect(1)
    assert path.read_bytes() == b"one\n"


def test_F01_a_link_stays_and_the_file_behind_it_changes(tmp_path: Path) -> None:
    """The target is a link to a link: both stay, and the real file is replaced where it is."""

    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_bytes(b"one\n")
    (tmp_path / "middle").symlink_to("real/file")
    (tmp_path / "link").symlink_to(tmp_path / "middle")

    FileTarget(tmp_path / "link").plan(effect(), appending(b"two\n")).effect(1)

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "middle").is_symlink()
    assert (tmp_path / "real" / "file").read_bytes() == b"one\ntwo\n"
    assert names_in(tmp_path) == ["link", "middle", "real"]


def test_F01_a_link_to_nothing_makes_the_file_behind_it(tmp_path: Path) -> None:
    """Writing through a dangling link creates what it points to; deleting removes that again; the link stays."""

    (tmp_path / "link").symlink_to("file")

    put(tmp_path / "link", b"one\n")
    made = (tmp_path / "file").read_bytes()
    put(tmp_path / "link", None)

    assert made == b"one\n"
    assert names_in(tmp_path) == ["link"]


def test_two_names_of_one_file_have_one_lock(tmp_path: Path) -> None:
    """The lock is named by the real path, so a link and its file exclude each other."""

    (tmp_path / "file").write_bytes(b"one\n")
    (tmp_path / "link").symlink_to("file")

    with LockFolder.of_user().hold(str(tmp_path / "file")), pytest.raises(TargetBusy):
        FileTarget(tmp_path / "link", wait_s=0).probe(effect())


def test_a_relative_path_is_fixed_when_the_target_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later change of the working folder does not change which file is meant."""

    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    monkeypatch.chdir(tmp_path / "one")
    target = FileTarget("file")
    monkeypatch.chdir(tmp_path / "two")

    target.plan(effect(), becoming(b"x")).effect(1)

    assert target.path == str(tmp_path / "one" / "file")
    assert names_in(tmp_path / "one") == ["file"]


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    """A file cannot be made in a folder that is not there; the folder is not made either."""

    target = FileTarget(tmp_path / "gone" / "file")

    with pytest.raises(TargetUnusable, match="does not exist"):
        target.plan(effect(), becoming(b"x"))
    with pytest.raises(TargetUnusable, match="does not exist"):
        target.probe(effect())
    assert names_in(tmp_path) == []


def test_only_regular_files_are_targets(tmp_path: Path) -> None:
    """A folder, a pipe, a device, a loop of links, a file used as a folder: each is refused at once, with its kind."""

    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_bytes(b"")
    kinds = {
        tmp_path: "a folder",
        Path("/"): "a folder",
        tmp_path / "pipe": "a pipe, socket or device",
        Path("/dev/null"): "a pipe, socket or device",
        tmp_path / "loop": "a link",
        tmp_path / "file" / "inner": "cannot be opened",
        tmp_path / ("x" * 300): "cannot be read",
    }

    for path, kind in kinds.items():
        with pytest.raises(TargetUnusable, match=kind):
            FileTarget(path).plan(effect(), becoming(b"x"))
        with pytest.raises(TargetUnusable, match=kind):
            FileTarget(path).probe(effect())


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o444, 0o4711])
def test_the_mode_is_kept(tmp_path: Path, mode: int) -> None:
    """A file that is replaced keeps its mode, special bits and all."""

    path = tmp_path / "file"
    path.write_bytes(b"")
    path.chmod(mode)

    put(path, b"x")

    assert path.stat().st_mode & 0o7777 == mode


@pytest.mark.parametrize(("umask", "mode"), [("022", 0o644), ("027", 0o640), ("077", 0o600)])
def test_a_new_file_gets_the_usual_mode(tmp_path: Path, umask: str, mode: int) -> None:
    """A file that did not exist is made as any program would make it."""

    run("create", tmp_path / "file", umask)

    assert (tmp_path / "file").stat().st_mode & 0o7777 == mode


def test_the_group_is_kept(tmp_path: Path) -> None:
    """A file that is replaced keeps its owner and group where the system allows it."""

    path = tmp_path / "file"
    path.write_bytes(b"")
    group = 12345 if os.geteuid() == 0 else max(os.getgroups())
    os.chown(path, -1, group)

    put(path, b"x")

    assert (path.stat().st_uid, path.stat().st_gid) == (os.geteuid(), group)


def test_long_and_odd_names_are_targets_too(tmp_path: Path) -> None:
    """A name as long as names can be, and one that is not UTF-8, can be written."""

    for name in ("n" * 255, os.fsdecode(b"odd \xff\n name")):
        put(tmp_path / name, b"one")
        put(tmp_path / name, b"two")
        assert (tmp_path / name).read_bytes() == b"two"
    assert len(names_in(tmp_path)) == 2


def test_an_older_token_is_refused_by_plan_probe_and_effect(tmp_path: Path) -> None:
    """Once a plan was made under token 7, whatever still runs under token 6 changes nothing and learns nothing."""

    path = tmp_path / "file"
    path.write_bytes(b"one\n")
    target = FileTarget(path)
    stale = target.plan(effect(token=6), appending(b"stale\n"))
    target.plan(effect(token=7), appending(b"two\n"))

    with pytest.raises(TargetFenced):
        stale.effect(6)
    with pytest.raises(TargetFenced):
        target.plan(effect(token=6), appending(b"stale\n"))
    with pytest.raises(TargetFenced):
        target.probe(effect(token=6))
    assert path.read_bytes() == b"one\n"


@pytest.mark.parametrize("seen_by", ["plan", "probe", "effect"])
def test_each_of_plan_probe_and_effect_records_the_token(tmp_path: Path, seen_by: str) -> None:
    """A run that lost its claim is refused after any call of its successor."""

    path = tmp_path / "file"
    target = FileTarget(path)
    stale = target.plan(effect(token=6), appending(b"stale\n"))
    same = target.plan(effect(token=6), becoming(None))
    match seen_by:
        case "plan":
            target.plan(effect(token=7), appending(b"two\n"))
        case "probe":
            target.probe(effect(token=7))
        case _:
            same.effect(7)

    with pytest.raises(TargetFenced):
        stale.effect(6)
    assert not path.exists()


def test_content_that_came_back_does_not_let_a_stale_run_through(tmp_path: Path) -> None:
    """A, B, A: the successor appended and took it back, so the digest fits again; the token does not."""

    path = tmp_path / "file"
    path.write_bytes(b"A")
    target = FileTarget(path)
    stale = target.plan(effect(token=6), appending(b" stale"))
    put(path, b"B", token=7)
    put(path, b"A", token=7)

    with pytest.raises(TargetFenced):
        stale.effect(6)
    assert path.read_bytes() == b"A"


def test_content_that_came_back_lets_a_run_without_token_through_limit(tmp_path: Path) -> None:
    """Known limit: with token 0 nothing tells A, B, A from A."""

    path = tmp_path / "file"
    path.write_bytes(b"A")
    stale = FileTarget(path).plan(effect(token=0), appending(b" stale"))
    put(path, b"B", token=0)
    put(path, b"A", token=0)

    stale.effect(0)

    assert path.read_bytes() == b"A stale"


def test_a_held_lock_is_waited_for_and_then_named(tmp_path: Path) -> None:
    """While somebody holds the lock, plan and probe are busy, and the effect knows that it did not happen."""

    path = tmp_path / "file"
    target = FileTarget(path, wait_s=0.01)
    planned = target.plan(effect(), becoming(b"x"))
    with start("hold", path) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"

        with pytest.raises(TargetBusy):
            target.plan(effect(), becoming(b"x"))
        with pytest.raises(TargetBusy):
            target.probe(effect())
        with pytest.raises(NotApplied, match="held its lock"):
            planned.effect(1)
        holder.kill()
    assert not path.exists()


def test_what_kept_an_effect_from_happening_is_known(tmp_path: Path) -> None:
    """The folder went away, or the target became a folder: the effect says that it was not applied."""

    path = tmp_path / "folder" / "file"
    path.parent.mkdir()
    planned = FileTarget(path).plan(effect(), becoming(b"x"))
    path.mkdir()
    with pytest.raises(NotApplied, match="it is a folder"):
        planned.effect(1)
    path.rmdir()
    path.parent.rmdir()
    with pytest.raises(NotApplied, match="does not exist"):
        planned.effect(1)


def test_the_file_is_synced_before_it_is_renamed_and_the_folder_after(tmp_path: Path) -> None:
    """An effect is on disk when it returns, and a power cut leaves the old content or the new."""

    planned = FileTarget(tmp_path / "file").plan(effect(), becoming(b"x"))
    with calls_of(os.fsync, os.replace, os.unlink) as writing:
        planned.effect(1)
    planned = FileTarget(tmp_path / "file").plan(effect(), becoming(None))
    with calls_of(os.fsync, os.replace, os.unlink) as deleting:
        planned.effect(1)

    assert writing == ["fsync", "replace", "fsync"]
    assert deleting == ["unlink", "fsync"]


def test_a_probe_syncs_what_it_answers(tmp_path: Path) -> None:
    """What is visible may not be on disk yet: a probe syncs file and folder, a plan need not."""

    target = FileTarget(tmp_path / "file")
    with calls_of(os.fsync) as absent:
        target.probe(effect())
    (tmp_path / "file").write_bytes(b"x")
    with calls_of(os.fsync) as present:
        target.probe(effect())
    with calls_of(os.fsync) as planning:
        target.plan(effect(), becoming(b"y"))

    assert (absent, present, planning) == (["fsync"], ["fsync", "fsync"], [])


def test_two_processes_append_and_lose_nothing(tmp_path: Path) -> None:
    """Two processes append 200 lines each, planning anew when the other was first: 400 lines, each once, in order."""

    path = tmp_path / "file"
    for child in [start("append", path, name, 200) for name in ("one", "two")]:
        finish(child)
    lines = path.read_text().splitlines()

    for name in ("one", "two"):
        assert [line for line in lines if line.startswith(name)] == [f"{name} {number}" for number in range(200)]
    assert len(lines) == 400
    assert names_in(tmp_path) == ["file"]
