"""A SQLite connection lent to code that is not ours, for the time of one open transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress

import attrs

from effectgraph.effects.targets.errors import TransactionTaken


@attrs.define(eq=False)
class Lending:
    """Keeps a borrower from beginning, committing or rolling back. `target` names the database in errors."""

    connection: sqlite3.Connection
    target: str
    _denied: bool = attrs.field(default=False, init=False)

    def to(self, borrower: Callable[[sqlite3.Connection], bytes]) -> bytes:
        """Call `borrower` with the connection, in the transaction that is open; give what it returns.

        Raises what `borrower` raises, and `TransactionTaken` if it tried to end the transaction or did.
        """
        self.connection.set_authorizer(self._authorize)
        try:
            outcome = borrower(self.connection)
        except sqlite3.DatabaseError as error:
            if self._denied and sqlite_code(error) == sqlite3.SQLITE_AUTH:
                how, known = "tried to begin or end a transaction", "nothing was changed"
                raise TransactionTaken(self.target, how, known) from error
            raise
        if not self._is_open():
            how, known = "ended its transaction", "what it wrote may be committed, and its key is not recorded"
            raise TransactionTaken(self.target, how, known)
        self.connection.set_authorizer(None)
        return outcome

    def roll_back(self) -> None:
        """End the transaction without a trace, whatever state the borrower left the connection in."""
        # Closing is not enough: a cursor that the borrower keeps would keep the transaction open.
        with suppress(sqlite3.Error):
            self.connection.set_authorizer(None)
            self.connection.rollback()

    def _is_open(self) -> bool:
        try:
            return self.connection.in_transaction
        except sqlite3.ProgrammingError:
            return False

    def _authorize(self, action: int, *about: str | None) -> int:
        # Some statements roll the whole transaction back when they fail; what follows must not commit by itself.
        if action == sqlite3.SQLITE_TRANSACTION or not self.connection.in_transaction:
            self._denied = True
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK


def sqlite_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code behind an error; `SQLITE_ERROR` for those that the module raises by itself."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & 0xFF
