"""A file as a target that can be verified: its content has a digest, and is changed by compare-and-set."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial

import attrs

from effectgraph.effects.current import CurrentEffect
from effectgraph.effects.errors import NotApplied
from effectgraph.effects.targets.digests import ABSENT, digest_of, digest_of_fd
from effectgraph.effects.targets.errors import FileMoved, TargetBusy, TargetUnusable
from effectgraph.effects.targets.fences import Fence
from effectgraph.effects.targets.folders import Spot, spot, sync
from effectgraph.effects.targets.locks import LOCK_WAIT_S, LockFolder
from effectgraph.effects.targets.temporaries import Temporaries


@attrs.frozen
class PlannedWrite:
    """What is planned for a file: its digest now and then, and `effect(token)`, which does it or changes nothing."""

    before: str
    after: str
    effect: Callable[[int], None]


@attrs.frozen
class _Change:
    scope: str
    before: str
    after: str
    content: bytes | None


class FileTarget:
    """A file that many threads and processes change one at a time, each change planned from the content it replaces.

    The file is replaced whole (temporary file, sync, rename, sync of the folder), so a reader sees the old or the new
    content and nothing else. If the path is a link, the link stays and the file behind it is changed. Mode and, where
    the system allows it, owner are kept; extended attributes are not, and other hard links keep the old content.

    Every read and write of this class holds an OS lock, named by the file's real path, and first records the token of
    the effect's scope beside it; an older token than one seen before is refused with `TargetFenced`. So content that
    went from A to B and back to A does not let a stale run through. Token 0 is neither recorded nor refused.

    A program that changes the file without this lock is noticed up to the moment before the rename: its content is
    found and kept, and `FileMoved` raised. What it writes between that last look and the rename, some microseconds
    later, is lost.

    All calls block. They raise `TargetUnusable` if the path is not a regular file in a folder that exists, and
    `TargetBusy` if the lock was not to be had for `wait_s` seconds. One object may be used by many threads.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, locks: LockFolder | None = None, wait_s: float = LOCK_WAIT_S
    ) -> None:
        self._path = os.fspath(path) if os.path.isabs(path) else os.path.join(os.getcwd(), path)
        self._locks = LockFolder.of_user() if locks is None else locks
        self._wait_s = wait_s

    @property
    def path(self) -> str:
        """The absolute path, as given: links in it are followed anew by each call."""
        return self._path

    def plan(self, effect: CurrentEffect, make: Callable[[bytes | None], bytes | None]) -> PlannedWrite:
        """Read the file once, and let `make` say what it shall hold; the file itself is not changed.

        `make` gets the present content, None if there is no file, and returns the new one, None to delete the file. It
        runs without the lock, and may raise to refuse.

        The `effect` of what is returned takes a token. It is durable when it returns. It raises `FileMoved` if the file
        is not as it was planned for, `TargetFenced` for an old token, and `NotApplied` if something else kept it from
        happening; nothing was changed then. An `OSError` means that the file was replaced and the folder not synced.
        """
        with self._held(effect.scope, effect.token) as here, here.opened() as fd:
            present = None if fd is None else _read(fd)
        content = make(present)
        change = _Change(effect.scope, digest_of(present), digest_of(content), content)
        return PlannedWrite(change.before, change.after, partial(self._apply, change))

    def probe(self, effect: CurrentEffect) -> str:
        """The digest of the file's present content, `"absent"` if there is no file.

        File and folder are synced before it is answered. Leftovers of killed writers are removed if their
        content is known.
        """
        with self._held(effect.scope, effect.token) as here:
            Temporaries(here).clear()
            with here.opened() as fd:
                digest = ABSENT if fd is None else digest_of_fd(fd)
                if fd is not None:
                    sync(fd)
            here.sync_folder()
        return digest

    @contextmanager
    def _held(self, scope: str, token: int) -> Generator[Spot, None, None]:
        real_path = os.path.realpath(self._path)
        with spot(real_path) as here, self._locks.hold(real_path, self._wait_s) as stem:
            Fence(real_path, stem).admit(scope, token)
            yield here

    def _apply(self, change: _Change, token: int) -> None:
        try:
            with self._held(change.scope, token) as here:
                try:
                    _exchange(here, change)
                except OSError as error:
                    raise NotApplied(f"target {here.real_path}: {error}") from error
                here.sync_folder()
        except (TargetBusy, TargetUnusable) as error:
            raise NotApplied(str(error)) from error


def _exchange(here: Spot, change: _Change) -> None:
    seen = _stamp(here)
    _compare(here, change.before)
    if change.content is None:
        with suppress(FileNotFoundError):
            os.unlink(here.name, dir_fd=here.folder_fd)
        return
    temporaries = Temporaries(here)
    name = temporaries.write(change.before, change.after, change.content)
    try:
        # Writing and syncing took its time, and a program without our lock may have used it.
        if _stamp(here) != seen:
            _compare(here, change.before)
        os.replace(name, here.name, src_dir_fd=here.folder_fd, dst_dir_fd=here.folder_fd)
    except BaseException:
        temporaries.remove(name)
        raise


def _compare(here: Spot, before: str) -> None:
    found = here.digest()
    if found != before:
        raise FileMoved(here.real_path, before, found, Temporaries(here).clear())


def _stamp(here: Spot) -> tuple[int, ...] | None:
    try:
        status = os.stat(here.name, dir_fd=here.folder_fd, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _read(fd: int) -> bytes:
    with open(fd, "rb", closefd=False) as file:
        return file.read()
