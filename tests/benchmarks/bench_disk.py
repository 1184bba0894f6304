"""The disk under the benchmark: a sync in memory costs nothing, so figures taken there would mean nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path

import attrs

MOUNTS = Path("/proc/mounts")
IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})


@attrs.frozen(kw_only=True)
class Place:
    """A folder for database files, and the type of the file system under it; None where that cannot be asked."""

    folder: Path
    file_system: str | None


@attrs.define(slots=False, eq=False)
class NotADisk(ValueError):
    """The folder is on a file system that keeps its files in memory."""

    folder: Path
    file_system: str

    def __str__(self) -> str:
        return (
            f"{self.folder} is on {self.file_system}, which is memory: a sync costs nothing there. "
            "Name a folder on a real disk with --dir."
        )


def file_system_of(path: Path, mounts: str) -> str | None:
    """The type of the innermost mount that holds `path` (absolute, without links), by the text of /proc/mounts."""
    found: str | None = None
    deepest = -1
    for line in mounts.splitlines():
        _device, point, kind, *_options = line.split(" ")
        mount = Path(_unescaped(point))
        # A later line with the same mount point lies on top of the earlier one.
        if path.is_relative_to(mount) and len(mount.parts) >= deepest:
            found, deepest = kind, len(mount.parts)
    return found


def place(folder: Path | None) -> Place:
    """Where the files go: `folder`, or the first of the usual temporary folders and the current one that is on a disk.

    Raises `NotADisk` where the folder given, or the last one tried, keeps its files in memory.
    """
    if folder is not None:
        return _on_disk(folder)
    for usual in (Path(tempfile.gettempdir()), Path("/var/tmp")):
        try:
            return _on_disk(usual)
        except NotADisk:
            continue
    return _on_disk(Path.cwd())


def _on_disk(folder: Path) -> Place:
    real = folder.resolve(strict=True)
    kind = file_system_of(real, MOUNTS.read_text()) if MOUNTS.exists() else None
    if kind in IN_MEMORY:
        raise NotADisk(real, kind)
    return Place(folder=real, file_system=kind)


def _unescaped(point: str) -> str:
    # /proc/mounts writes space, tab, newline and backslash as three octal digits.
    for character in (" ", "\t", "\n", "\\"):
        point = point.replace(f"\\{ord(character):03o}", character)
    return point
