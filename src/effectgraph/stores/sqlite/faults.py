"""SQLite's errors as the store's own."""

from __future__ import annotations

import sqlite3
from typing import Final

from effectgraph.stores.errors import StoreBusy, StoreError, StoreUnusable

PRIMARY: Final = 0xFF
"""The bits of SQLite's extended error code that hold the primary one."""

SHOWN_CHARS: Final = 20
"""Characters shown of a text on both sides of what is wrong in it."""

_KNOWN: Final = {
    sqlite3.SQLITE_FULL: ("the disk is full", "make room, then recover"),
    sqlite3.SQLITE_IOERR: ("the disk failed", "look at the disk and the system's log, then open the store again"),
    sqlite3.SQLITE_READONLY: ("the file is read-only", "make the file and its folder writable for this user"),
    sqlite3.SQLITE_CORRUPT: (
        "the file is damaged, or the disk failed to read it",
        "look at the system's log; stop every process that uses it and restore a backup",
    ),
    sqlite3.SQLITE_NOTADB: ("not a SQLite file", "look at the path"),
    sqlite3.SQLITE_CANTOPEN: ("the file cannot be opened", "look at the path and at who may read and write it"),
    sqlite3.SQLITE_PERM: ("the file may not be opened", "look at who may read and write it"),
    sqlite3.SQLITE_NOMEM: ("no memory is left", "make memory free, then recover"),
    sqlite3.SQLITE_CONSTRAINT: ("the write breaks a rule of its table", "this is a fault of the program: report it"),
}


_NEEDS_WRITING: Final = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY_CANTINIT,
    sqlite3.SQLITE_READONLY_CANTLOCK,
    sqlite3.SQLITE_READONLY_DIRECTORY,
    sqlite3.SQLITE_READONLY_RECOVERY,
    sqlite3.SQLITE_READONLY_ROLLBACK,
)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection holds a lock that this one needs."""
    return _code(error) & PRIMARY in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


def is_no_database(error: sqlite3.Error) -> bool:
    """Whether the file is not SQLite's."""
    return _code(error) & PRIMARY == sqlite3.SQLITE_NOTADB


def is_sync_failure(error: sqlite3.Error) -> bool:
    """Whether the disk failed to sync: what it was told earlier may be lost although a later sync succeeds."""
    return _code(error) in (sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC)


def needs_writing(error: sqlite3.Error) -> bool:
    """Whether a connection that only reads cannot, because a log beside the file would have to be written first."""
    return _code(error) in _NEEDS_WRITING


def as_ours(store: str, error: sqlite3.Error, *, waited_s: float = 0.0) -> StoreError:
    """The store's error for an error of SQLite; `waited_s` is how long a lock was waited for."""
    if is_busy(error):
        return StoreBusy(store, waited_s)
    known = _KNOWN.get(_code(error) & PRIMARY)
    if known is None:
        return StoreUnusable(store, f"SQLite failed ({error})", "this is not known to happen: report it")
    why, way_out = known
    return StoreUnusable(store, f"{why} ({error})", way_out)


def as_told(store: str, error: Exception) -> Exception:
    """What the caller hears of an operation that failed alone: `ValueError` for a value that cannot be kept."""
    why = _unkept(error)
    if why is not None:
        return ValueError(f"store {store}: {why}; nothing was changed")
    return as_ours(store, error) if isinstance(error, sqlite3.Error) else error


def _unkept(error: Exception) -> str | None:
    if isinstance(error, UnicodeEncodeError):
        part = error.object[max(0, error.start - SHOWN_CHARS) : error.end + SHOWN_CHARS]
        return f"a text has a lone surrogate, which UTF-8 cannot hold (at {error.start}: {part!r})"
    if isinstance(error, OverflowError):
        return f"a number has more than 64 bits, or a value more than 2 GB ({error})"
    if isinstance(error, sqlite3.Error):
        if _code(error) & PRIMARY == sqlite3.SQLITE_TOOBIG:
            return f"a value is larger than SQLite keeps ({error})"
        if str(error).startswith("Error binding parameter"):
            return f"a value is of a type that SQLite does not keep ({error})"
    return None


def _code(error: sqlite3.Error) -> int:
    # Errors that the driver raises by itself have no code.
    code: object = getattr(error, "sqlite_errorcode", 0)
    return code if isinstance(code, int) else 0
