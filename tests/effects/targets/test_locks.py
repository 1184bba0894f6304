"""The locks that every writer of a target takes."""

from __future__ import annotations

import os
import pickle
import pwd
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from effectgraph.effects.targets.errors import TargetBusy, TargetUnusable
from effectgraph.effects.targets.locks import LOCK_DIR_VARIABLE, LockFolder
from target_calls import finish, names_in, run, start


def test_the_folder_is_made_private(tmp_path: Path) -> None:
    """A lock folder that is not there is made, for its user alone."""

    LockFolder(str(tmp_path / "a" / "b"))

    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


def test_the_variable_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`EFFECTGRAPH_LOCK_DIR` says where the lock files are."""

    monkeypatch.setenv(LOCK_DIR_VARIABLE, str(tmp_path / "named"))

    assert LockFolder.of_user().path == str(tmp_path / "named")


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777])
def test_a_folder_that_others_can_write_is_refused(tmp_path: Path, mode: int) -> None:
    """Whoever can write the folder could swap a lock file that is held."""

    folder = tmp_path / "locks"
    folder.mkdir()
    folder.chmod(mode)

    with pytest.raises(TargetUnusable, match="can be written by others"):
        LockFolder(str(folder))


def test_a_relative_folder_is_refused() -> None:
    """Processes with different working folders would not agree on it."""

    with pytest.raises(TargetUnusable, match="not an absolute path"):
        LockFolder("locks")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """A file where the folder should be is named in the error."""

    (tmp_path / "locks").write_text("")

    with pytest.raises(TargetUnusable, match=str(tmp_path / "locks")):
        LockFolder(str(tmp_path / "locks"))


def test_a_link_of_the_users_own_is_followed(tmp_path: Path) -> None:
    """The folder may lie elsewhere, if the user says so."""

    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")

    with LockFolder(str(tmp_path / "link")).hold("target"):
        names = names_in(tmp_path / "real")

    assert [name.rpartition(".")[2] for name in names] == ["lock", "self-check"]


def owned_by_another(path: Path, instead: Path) -> Path:
    """A path that is another user's: this one given away, where we may do that, else one that root owns."""
    if os.geteuid() != 0:
        return instead
    os.chown(path, 12345, -1, follow_symlinks=False)
    return path


def test_a_folder_of_another_user_is_refused(tmp_path: Path) -> None:
    """Its owner could swap a lock file that is held."""

    (tmp_path / "locks").mkdir(mode=0o700)

    with pytest.raises(TargetUnusable, match="belongs to user"):
        LockFolder(str(owned_by_another(tmp_path / "locks", Path("/usr"))))


def test_a_link_of_another_user_is_refused(tmp_path: Path) -> None:
    """Its owner could lead some processes elsewhere."""

    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to("real")
    link_of_root = next(path for path in (Path("/proc/self"), Path("/tmp")) if path.is_symlink() or os.geteuid() == 0)

    with pytest.raises(TargetUnusable, match="is a link of user"):
        LockFolder(str(owned_by_another(tmp_path / "link", link_of_root)))


def test_the_home_is_that_of_the_passwd_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the variable the folder is in the user's home, which `$HOME` does not change."""

    def entry(user: int) -> SimpleNamespace:
        return SimpleNamespace(pw_dir=str(tmp_path))

    monkeypatch.delenv(LOCK_DIR_VARIABLE)
    monkeypatch.setenv("HOME", "/elsewhere")
    monkeypatch.setattr(pwd, "getpwuid", entry)

    assert LockFolder.of_user().path == str(tmp_path / ".local" / "state" / "effectgraph" / "locks")


def test_a_user_without_a_home_must_name_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user whom the passwd database does not know is told which variable to set."""

    monkeypatch.delenv(LOCK_DIR_VARIABLE)
    monkeypatch.setattr(os, "geteuid", lambda: 2**31 - 7)

    with pytest.raises(TargetUnusable, match=f"has no home in the passwd database.*set {LOCK_DIR_VARIABLE}"):
        LockFolder.of_user()


def test_lock_files_are_private_and_stay(tmp_path: Path) -> None:
    """A lock file belongs to its user alone, and releasing does not remove it: others may be waiting on it."""

    with LockFolder(str(tmp_path)).hold("target"):
        pass

    (lock,) = tmp_path.glob("*.lock")
    assert lock.stat().st_mode & 0o777 == 0o600


def test_holds_of_one_target_exclude_each_other(tmp_path: Path) -> None:
    """While a lock is held, others wait as long as they said and then say that nothing was changed."""

    locks = LockFolder(str(tmp_path))
    with locks.hold("target"), ThreadPoolExecutor() as pool:

        def again() -> None:
            with locks.hold("target", wait_s=0.01):
                pass

        error = pool.submit(again).exception()

    assert isinstance(error, TargetBusy)
    assert (error.target, error.waited_s) == ("target", 0.01)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_locks_of_two_targets_are_two(tmp_path: Path) -> None:
    """Work on one target never waits for work on another."""

    locks = LockFolder(str(tmp_path))

    with locks.hold("one", wait_s=0) as one, locks.hold("two", wait_s=0) as two:
        assert one != two


@pytest.mark.parametrize("then", ["leaves", "exits"])
def test_L01_a_forked_child_does_not_release_the_lock(tmp_path: Path, then: str) -> None:
    """The holder forks, the child leaves the `with` block or exits: a third process still finds the lock held."""

    path = str(tmp_path / "target")
    with start("hold_and_fork", path, then) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip().isdigit()

        with pytest.raises(TargetBusy), LockFolder.of_user().hold(path, wait_s=0):
            pass
        holder.kill()
        finish(holder, -signal.SIGKILL)


def test_L02_never_two_inside(tmp_path: Path) -> None:
    """Three processes take one lock a thousand times in all, and never meet."""

    children = [start("take_turns", tmp_path / "target", tmp_path / "mark", 334) for _ in range(3)]

    assert [finish(child) for child in children] == ["", "", ""]


def test_L04_taken_in_one_thread_released_in_another(tmp_path: Path) -> None:
    """A hold may end in another thread than it began in; then the lock is free."""

    locks = LockFolder(str(tmp_path))
    hold = locks.hold("target")
    taking = threading.Thread(target=hold.__enter__)
    taking.start()
    taking.join()

    hold.__exit__(None, None, None)

    with locks.hold("target", wait_s=0):
        pass


@pytest.mark.parametrize("content", [b"", b"\0\xff garbage", b"12345 host\n"])
def test_L06_what_is_in_a_lock_file_does_not_matter(tmp_path: Path, content: bytes) -> None:
    """An empty lock file, one with garbage, one from long ago: each can be taken."""

    locks = LockFolder(str(tmp_path))
    with locks.hold("target"):
        pass
    (lock,) = tmp_path.glob("*.lock")
    lock.write_bytes(content)
    os.utime(lock, (0, 0))

    with locks.hold("target", wait_s=0):
        assert lock.read_bytes() == content


def test_L06_a_folder_in_place_of_the_lock_file(tmp_path: Path) -> None:
    """What cannot be a lock file is a clear error."""

    locks = LockFolder(str(tmp_path))
    with locks.hold("target"):
        pass
    (lock,) = tmp_path.glob("*.lock")
    lock.unlink()
    lock.mkdir()

    with pytest.raises(TargetUnusable, match="its lock cannot be taken"), locks.hold("target"):
        pass


def test_L07_the_lock_of_a_killed_process_is_free_at_once(tmp_path: Path) -> None:
    """SIGKILL the holder: the next one need not wait."""

    path = str(tmp_path / "target")
    with start("hold", path) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        holder.kill()
        holder.wait()

        with LockFolder.of_user().hold(path, wait_s=0):
            pass


def test_L07_a_child_of_the_killed_process_does_not_keep_the_lock(tmp_path: Path) -> None:
    """SIGKILL a holder that has forked: its child lives on, without the lock."""

    path = str(tmp_path / "target")
    with start("hold_and_fork", path, "stays") as holder:
        assert holder.stdout is not None
        child = int(holder.stdout.readline())
        try:
            holder.kill()
            holder.wait()

            with LockFolder.of_user().hold(path, wait_s=0):
                os.kill(child, 0)
        finally:
            os.kill(child, signal.SIGKILL)


def test_L08_locks_that_work_pass_the_self_check(tmp_path: Path) -> None:
    """Every process checks that the folder's file system really excludes a second holder."""

    assert run("lock_once", tmp_path / "target") == "held\n"
