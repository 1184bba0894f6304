"""A SQLite connection lent to code that is not ours, for the time of one open transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final, TypeVar, cast, overload
from weakref import WeakSet

from effectgraph.effects.targets.errors import TransactionTaken

K = TypeVar("K", bound=sqlite3.Cursor)

_LASTING: Final = frozenset(
    {
        sqlite3.SQLITE_ATTACH,
        sqlite3.SQLITE_DETACH,
        sqlite3.SQLITE_PRAGMA,
        sqlite3.SQLITE_CREATE_TEMP_INDEX,
        sqlite3.SQLITE_CREATE_TEMP_TABLE,
        sqlite3.SQLITE_CREATE_TEMP_TRIGGER,
        sqlite3.SQLITE_CREATE_TEMP_VIEW,
    }
)
"""What changes a connection beyond the transaction."""

_LEGACY_AUTOCOMMIT: Final = -1
"""What `autocommit` of a connection is, from Python 3.12 on, if nobody set it."""


class LentConnection(sqlite3.Connection):
    """A connection in autocommit mode that can be lent and taken back.

    It knows its cursors: one that is unread and kept, if only by the traceback of an error, would hold SQLite's lock
    after the transaction has ended. And it knows whether a borrower left something on it for the next one.
    """

    def __init__(self, path: str, wait_s: float) -> None:
        # A statement from the cache is not authorized anew, so there is no cache.
        super().__init__(path, timeout=wait_s, isolation_level=None, check_same_thread=False, cached_statements=0)
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()
        self._lent = False
        self._denied = False
        self._changed = False

    @property
    def as_new(self) -> bool:
        """Whether the next borrower finds it as the first one did, as far as that can be told."""
        if self._changed or not self._is_open() or self.in_transaction:
            return False
        autocommit = getattr(self, "autocommit", _LEGACY_AUTOCOMMIT)
        settings = (self.row_factory, self.text_factory, self.isolation_level, autocommit)
        return settings == (None, str, None, _LEGACY_AUTOCOMMIT)

    def lend(self, borrower: Callable[[sqlite3.Connection], bytes], target: str) -> bytes:
        """Call `borrower` with this connection, in the transaction that is open; give what it returns.

        Raises what `borrower` raises, and `TransactionTaken`, naming the target, if it tried to end the transaction or
        did.
        """
        # Set anew each time: an earlier borrower may have removed it.
        self.set_authorizer(self._authorize)
        self._lent, self._denied = True, False
        try:
            outcome = borrower(self)
        except sqlite3.DatabaseError as error:
            if self._denied and sqlite_code(error) == sqlite3.SQLITE_AUTH:
                how, known = "tried to begin or end a transaction", "nothing was changed"
                raise TransactionTaken(target, how, known) from error
            raise
        finally:
            self._lent = False
            self._close_cursors()
        if not self._is_open() or not self.in_transaction:
            how, known = "ended its transaction", "what it wrote may be committed, and its key is not recorded"
            raise TransactionTaken(target, how, known)
        return outcome

    def give_up(self) -> None:
        """Roll back, whatever state the borrower left the connection in."""
        with suppress(sqlite3.Error):
            self.set_authorizer(None)
            self.rollback()

    @overload
    def cursor(self, factory: None = None) -> sqlite3.Cursor: ...

    @overload
    def cursor(self, factory: Callable[[sqlite3.Connection], K]) -> K: ...

    def cursor(self, factory: Callable[[sqlite3.Connection], sqlite3.Cursor] | None = None) -> sqlite3.Cursor:
        """As that of any connection."""
        cursor = super().cursor(factory or sqlite3.Cursor)
        self._cursors.add(cursor)
        return cursor

    def execute(self, sql: str, parameters: object = (), /) -> sqlite3.Cursor:
        """As that of any connection."""
        return self.cursor().execute(sql, cast("Sequence[object]", parameters))

    def executemany(self, sql: str, parameters: Iterable[object], /) -> sqlite3.Cursor:
        """As that of any connection."""
        return self.cursor().executemany(sql, cast("Iterable[Sequence[object]]", parameters))

    def executescript(self, sql_script: str, /) -> sqlite3.Cursor:
        """As that of any connection."""
        return self.cursor().executescript(sql_script)

    def _close_cursors(self) -> None:
        for cursor in tuple(self._cursors):
            with suppress(sqlite3.Error):
                cursor.close()

    def _is_open(self) -> bool:
        try:
            return self.total_changes >= 0
        except sqlite3.ProgrammingError:
            return False

    def _authorize(self, action: int, *about: str | None) -> int:
        if not self._lent:
            return sqlite3.SQLITE_OK
        self._changed = self._changed or action in _LASTING
        # Some statements roll the whole transaction back when they fail; what follows must not commit by itself.
        if action == sqlite3.SQLITE_TRANSACTION or not self.in_transaction:
            self._denied = True
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK


def sqlite_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code behind an error; `SQLITE_ERROR` for those that the module raises by itself."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF
