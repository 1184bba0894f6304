"""The folder of a target file, held open while the file in it is read and replaced."""

from __future__ import annotations

import fcntl
import os
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress

import attrs

from effectgraph.effects.targets.digests import ABSENT, digest_of_fd
from effectgraph.effects.targets.errors import TargetUnusable


@attrs.frozen
class Spot:
    """A name in an open folder. Everything is done relative to the folder, so moving it elsewhere changes nothing."""

    real_path: str
    folder_fd: int
    name: str

    @contextmanager
    def opened(self) -> Generator[int | None, None, None]:
        """Open the file for reading, for the time of a `with` block; None if there is none.

        Raises `TargetUnusable` if it is anything but a regular file that can be read.
        """
        fd = self._open()
        try:
            if fd is not None:
                self._check_regular(os.fstat(fd))
            yield fd
        finally:
            if fd is not None:
                os.close(fd)

    def digest(self) -> str:
        """The digest of the file's present content, or `ABSENT`. Raises `TargetUnusable`."""
        with self.opened() as fd:
            return ABSENT if fd is None else digest_of_fd(fd)

    def sync_folder(self) -> None:
        """Make the folder's names durable: which file is called what."""
        sync(self.folder_fd)

    def _open(self) -> int | None:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            # Opening some devices does something, and opening a pipe tells its other end.
            self._check_regular(os.stat(self.name, dir_fd=self.folder_fd, follow_symlinks=False))
            return os.open(self.name, flags, dir_fd=self.folder_fd)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(f"it cannot be read: {error.strerror}", "let the user read it") from error

    def _check_regular(self, status: os.stat_result) -> None:
        kind = status.st_mode
        if stat.S_ISREG(kind):
            return
        what = "a folder" if stat.S_ISDIR(kind) else "a link" if stat.S_ISLNK(kind) else "a pipe, socket or device"
        raise self._unusable(f"it is {what}, not a regular file", "name a regular file")

    def _unusable(self, why: str, way_out: str) -> TargetUnusable:
        return TargetUnusable(self.real_path, why, way_out)


@contextmanager
def spot(real_path: str) -> Generator[Spot, None, None]:
    """Open the folder of a file, for the time of a `with` block.

    `real_path` has no links in it. Raises `TargetUnusable` if the folder is not there or cannot be opened, without
    which it cannot be synced.
    """
    folder, name = os.path.split(real_path)
    try:
        folder_fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise TargetUnusable(real_path, "the folder it is in does not exist", "make the folder first") from error
    except OSError as error:
        raise TargetUnusable(
            real_path, f"the folder it is in cannot be opened: {error.strerror}", "let the user read that folder"
        ) from error
    try:
        yield Spot(real_path, folder_fd, name or os.curdir)
    finally:
        os.close(folder_fd)


def sync(fd: int) -> None:
    """Have the disk, not only its cache, keep what was written to an open file or folder."""
    if sys.platform == "darwin":
        # fsync leaves it in the drive's cache there; some file systems know only fsync.
        with suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
            return
    os.fsync(fd)
