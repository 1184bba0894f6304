"""OS locks that every process of one user on one host agrees on."""

from __future__ import annotations

import hashlib
import os
import pwd
import stat
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import attrs
from filelock import Timeout, UnixFileLock, lock_descriptor

from effectgraph.effects.targets.errors import TargetBusy, TargetUnusable

LOCK_DIR_VARIABLE: Final = "EFFECTGRAPH_LOCK_DIR"
"""Names another folder for the lock files. All processes that write one target must be given the same."""

LOCK_WAIT_S: Final = 30.0
"""How long a lock is waited for. It is held for one read or one write of one file, never while foreign code runs."""

LOCK_POLL_S: Final = 0.001
"""Pause between two tries for a lock: a hold lasts about as long as a disk sync."""

_SELF_CHECK: Final = "self-check"


@attrs.frozen
class LockFolder:
    """The folder in which lock files live: not beside the user's files, and the user's alone.

    Making one makes the folder if it is not there (mode 0700) and raises `TargetUnusable` if it is a relative path,
    belongs to another user, can be written by others, or is on a file system whose locks do not exclude. Lock files are
    empty, are never removed, and may be removed by hand only while no process of the user runs. The kernel drops the
    lock of a process that dies. Users and containers that do not share the folder are not kept apart by it.
    """

    path: str = attrs.field()

    def __attrs_post_init__(self) -> None:
        if not os.path.isabs(self.path):
            raise self._unusable("the lock folder is not an absolute path, so processes would not agree on it")
        try:
            os.makedirs(self.path, mode=0o700, exist_ok=True)
            self._check_owner()
            self._check_exclusion()
        except OSError as error:
            raise self._unusable(f"the lock folder cannot be used: {error}") from error

    @classmethod
    def of_user(cls) -> LockFolder:
        """The folder that all processes of this user share: `$EFFECTGRAPH_LOCK_DIR`, else one in the user's home.

        The home is the one in the passwd database, since `$HOME` differs between processes. Raises `TargetUnusable`.
        """
        named = os.environ.get(LOCK_DIR_VARIABLE)
        if named:
            return cls(named)
        user = os.geteuid()
        try:
            home = pwd.getpwuid(user).pw_dir
        except KeyError:
            why = f"user {user} has no home in the passwd database"
            raise TargetUnusable("locks", why, f"set {LOCK_DIR_VARIABLE} to a folder of your own") from None
        return cls(os.path.join(home, ".local", "state", "effectgraph", "locks"))

    @contextmanager
    def hold(self, target: str, wait_s: float = LOCK_WAIT_S) -> Generator[str, None, None]:
        """Hold the lock of a target for the time of a `with` block, and give the stem of file names that belong to it.

        `target` is the target's one true name, such as a real path. Raises `TargetBusy` after `wait_s` seconds, and
        `TargetUnusable` where locking fails.
        """
        stem = os.path.join(self.path, hashlib.sha256(os.fsencode(target)).hexdigest())
        lock = UnixFileLock(
            f"{stem}.lock",
            timeout=wait_s,
            mode=0o600,
            thread_local=False,
            poll_interval=LOCK_POLL_S,
            fallback_to_soft=False,
            preserve_lock_file=True,
        )
        try:
            lock.acquire()
        except Timeout:
            raise TargetBusy(target, wait_s) from None
        except OSError as error:
            raise TargetUnusable(target, f"its lock cannot be taken: {error}", self._way_out()) from error
        try:
            yield stem
        finally:
            lock.release()

    def _check_owner(self) -> None:
        user = os.geteuid()
        link = os.lstat(self.path)
        if stat.S_ISLNK(link.st_mode) and link.st_uid != user:
            raise self._unusable(f"the lock folder is a link of user {link.st_uid}, not of {user}")
        folder = os.stat(self.path)
        if folder.st_uid != user:
            raise self._unusable(f"the lock folder belongs to user {folder.st_uid}, not to {user}")
        if folder.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise self._unusable(f"the lock folder can be written by others (mode {stat.S_IMODE(folder.st_mode):04o})")

    def _check_exclusion(self) -> None:
        name = os.path.join(self.path, _SELF_CHECK)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        first = os.open(name, flags, 0o600)
        try:
            # Some mounts answer every flock with success; two holders at once give them away.
            if not lock_descriptor(first, blocking=False):
                return
            second = os.open(name, flags, 0o600)
            try:
                if lock_descriptor(second, blocking=False):
                    raise self._unusable("file locks exclude nobody on the lock folder's file system")
            finally:
                os.close(second)
        finally:
            os.close(first)

    def _unusable(self, why: str) -> TargetUnusable:
        return TargetUnusable(f"locks in {self.path}", why, self._way_out())

    def _way_out(self) -> str:
        return f"set {LOCK_DIR_VARIABLE} to a folder of your own with mode 0700 on a local file system"
