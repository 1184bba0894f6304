"""Temporary files beside a target: how they are named, written, and cleared away after a kill."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from typing import Final

import attrs
import xxhash

from effectgraph.effects.targets.digests import ABSENT
from effectgraph.effects.targets.errors import TargetUnusable
from effectgraph.effects.targets.folders import Spot, sync

SUFFIX: Final = "effectgraph-tmp"
"""The end of the name of every temporary file of ours."""

KEPT_MOST: Final = 100
"""Leftovers of one plan that cannot be removed: more of them means that something is wrong with the folder."""

_NAME_BYTES: Final = 150
_NAME: Final = re.compile(rf"\.(.+)\.(absent|[0-9a-f]{{16}})-(absent|[0-9a-f]{{16}})\.[0-9]+\.{SUFFIX}", re.DOTALL)
_PERMISSIONS: Final = 0o777


@attrs.frozen
class Temporaries:
    """The temporary files of one target. Use it only while the target's lock is held.

    A name says which target it is for, and the first half of the digests that its plan found and would leave. So a
    leftover tells by itself whether its content is known: if it is, it is removed, else it is kept and can be named.
    """

    spot: Spot

    def write(self, before: str, after: str, content: bytes) -> str:
        """Write a content into a new temporary file, synced, with mode and owner of the target; give its name.

        Without a target it gets the mode that new files get. Another owner is kept only where the system allows it.
        Raises `OSError`, and leaves nothing then.
        """
        model = self._model()
        name, fd = self._create(f"{_short(before)}-{_short(after)}", 0o666 if model is None else 0o600)
        try:
            with open(fd, "wb") as file:
                file.write(content)
                file.flush()
                if model is not None:
                    _imitate(fd, model)
                sync(fd)
        except BaseException:
            self.remove(name)
            raise
        return name

    def remove(self, name: str) -> None:
        """Remove a temporary file of this call; one that is gone or stays changes nothing that matters."""
        with suppress(OSError):
            os.unlink(name, dir_fd=self.spot.folder_fd)

    def clear(self) -> tuple[str, ...]:
        """Remove the leftovers whose content is known, and give the paths of those that are kept."""
        try:
            with os.scandir(self.spot.folder_fd) as entries:
                names = sorted(entry.name for entry in entries if entry.name.endswith(f".{SUFFIX}"))
        except OSError:
            return ()
        folder = os.path.dirname(self.spot.real_path)
        return tuple(os.path.join(folder, name) for name in names if self._is_ours(name) and not self._cleared(name))

    def _create(self, digests: str, mode: int) -> tuple[str, int]:
        for number in range(KEPT_MOST):
            name = f".{self._stem}.{digests}.{number}.{SUFFIX}"
            with suppress(FileExistsError):
                return name, self._create_new(name, mode)
            if self._cleared(name):
                with suppress(FileExistsError):
                    return name, self._create_new(name, mode)
        raise FileExistsError(f"{KEPT_MOST} leftovers of one plan beside it")

    def _create_new(self, name: str, mode: int) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(name, flags, mode, dir_fd=self.spot.folder_fd)

    def _cleared(self, name: str) -> bool:
        match = _NAME.fullmatch(name)
        if match is None:
            return False
        try:
            found = _short(attrs.evolve(self.spot, name=name).digest())
            if found in (match[2], match[3]):
                os.unlink(name, dir_fd=self.spot.folder_fd)
                return True
        except (OSError, TargetUnusable):
            return False
        return found == ABSENT

    def _is_ours(self, name: str) -> bool:
        match = _NAME.fullmatch(name)
        return match is not None and match[1] == self._stem

    def _model(self) -> os.stat_result | None:
        try:
            return os.stat(self.spot.name, dir_fd=self.spot.folder_fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    @property
    def _stem(self) -> str:
        name = os.fsencode(self.spot.name)
        return self.spot.name if len(name) <= _NAME_BYTES else xxhash.xxh3_128_hexdigest(name)


def _short(digest: str) -> str:
    return digest.removeprefix("xxh3:")[:16]


def _imitate(fd: int, model: os.stat_result) -> None:
    mode = stat.S_IMODE(model.st_mode)
    own = os.fstat(fd)
    if (own.st_uid, own.st_gid) != (model.st_uid, model.st_gid):
        try:
            os.fchown(fd, model.st_uid, model.st_gid)
        except PermissionError:
            # A set-user-id bit must not move to a file of another user.
            mode &= _PERMISSIONS
    os.fchmod(fd, mode)
