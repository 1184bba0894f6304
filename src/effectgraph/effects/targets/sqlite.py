"""A SQLite database of the user's as a target that keeps applied keys."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from types import TracebackType
from typing import Final, Self

from effectgraph.effects.current import CurrentEffect
from effectgraph.effects.errors import NotApplied, TargetFenced
from effectgraph.effects.targets.errors import TargetBusy, TargetUnusable
from effectgraph.effects.targets.sqlite_lending import LentConnection, sqlite_code
from effectgraph.effects.targets.sqlite_tables import Tables

BUSY_WAIT_S: Final = 10.0
"""How long a transaction waits for others to end theirs: many short ones, or one that loads a lot."""

_SYNCHRONOUS_EXTRA: Final = 3
"""FULL does not sync the folder after a rollback journal is deleted, so a power cut could undo a commit."""

_UNDONE: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CONSTRAINT})
"""A COMMIT that fails with one of these has changed nothing. One whose write or sync failed may be on disk."""

_WAYS_OUT: Final = {
    sqlite3.SQLITE_FULL: "make room on the disk",
    sqlite3.SQLITE_READONLY: "let the user write the database and its folder",
    sqlite3.SQLITE_CANTOPEN: "let the user write the database and its folder",
    sqlite3.SQLITE_NOTADB: "name a SQLite database, or a file that does not exist yet",
}


class SqliteTarget:
    """Applies effects in the user's database, each in one transaction that also keeps its key and outcome.

    Two tables of ours are made there on first use, `effectgraph_applied` and `effectgraph_tokens`. The journal mode
    stays as the user has it; our connections run with `synchronous=EXTRA`, so a commit survives a power cut. Foreign
    keys are enforced in effects only with `foreign_keys=True`, since SQLite leaves that to each connection.

    All calls block: in one process they take turns, between processes they wait for SQLite's write lock, each for at
    most `wait_s` seconds. Making one opens the database and raises `TargetUnusable` if it cannot be used. One object
    may be used by many threads, and not after a fork. Close it, or use it in a `with` block.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, foreign_keys: bool = False, wait_s: float = BUSY_WAIT_S
    ) -> None:
        given = os.fspath(path)
        self._path = given if os.path.isabs(given) else os.path.join(os.getcwd(), given)
        self._foreign_keys = foreign_keys
        self._wait_s = wait_s
        self._process = os.getpid()
        self._turn = threading.Lock()
        self._tables_made = False
        if not given or given.startswith((":", "file:")):
            raise self._unusable(f"{given!r} is not the path of a file", "name a file, which outlives the process")
        if not os.path.isdir(os.path.dirname(self._path)):
            raise self._unusable("the folder it is in does not exist", "make the folder first")
        self._closed = False
        self._connection: LentConnection | None = self._open()

    @property
    def path(self) -> str:
        """The absolute path of the database."""
        return self._path

    def apply(self, effect: CurrentEffect, run: Callable[[sqlite3.Connection], bytes], /) -> bytes:
        """Apply an effect at most once, and return its outcome as encoded by `run`. Durable on return.

        `run` gets a connection in an open transaction, and must not use it after it has returned; it is not called if
        the key is known. Savepoints are free to use. To begin, commit or roll back is denied to it and raises
        `TransactionTaken`; what else it raises comes out as it is. The transaction is rolled back then. Factories,
        pragmas, attached files and temporary tables end with it; functions that it registers may stay.

        Raises `TargetFenced` for an older token than the newest seen of the scope, and `NotApplied` if the database was
        busy, full or unusable, or if the key was applied for a request with another fingerprint. A `sqlite3.Error` of
        the commit itself means that nobody can tell whether it happened; the next call finds out.
        """
        try:
            with self._writing() as connection:
                return self._apply(connection, effect, run)
        except (TargetBusy, TargetUnusable) as error:
            raise NotApplied(str(error)) from error

    def forget(self, effect: CurrentEffect, /) -> None:
        """Remove a key and record the token, durable on return. A key that is not there is no error.

        Writes nothing if the token is recorded already and the key is not there. Raises `TargetFenced` for an older
        token, and `TargetBusy` or `TargetUnusable` if the database cannot be written; nothing was changed then. A
        `sqlite3.Error` of the commit leaves it unknown.
        """
        self.forget_many((effect,))

    def forget_many(self, effects: Iterable[CurrentEffect], /) -> None:
        """Remove many keys in one transaction, each as `forget` does: all of them, or none if it raises."""
        with self._writing() as connection, self._explained():
            tables = Tables(connection)
            for effect in effects:
                self._admit(tables, effect)
                # With a token, whoever removed it earlier did so before the token was recorded, and that was synced.
                if not tables.forget(effect) and effect.token == 0:
                    tables.write_something()

    def close(self) -> None:
        """Close the database once running calls have ended; later calls raise. In a forked child it does nothing."""
        if self._process != os.getpid():
            return
        with self._turn:
            self._closed = True
            self._let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _apply(
        self, connection: LentConnection, effect: CurrentEffect, run: Callable[[sqlite3.Connection], bytes]
    ) -> bytes:
        tables = Tables(connection)
        with self._explained():
            self._admit(tables, effect)
            applied = tables.find(effect)
            if applied is not None:
                if applied.fingerprint != effect.fingerprint:
                    raise NotApplied(
                        f"target {self._path}: key {effect.key} was applied for another request "
                        f"({applied.fingerprint}, not {effect.fingerprint}); give this request a key of its own"
                    )
                # The commit that is seen here may not be synced yet; any write of this transaction takes it along.
                tables.count_answer(effect)
                return applied.outcome
        outcome = connection.lend(run, self._path)
        with self._explained():
            tables.record(effect, outcome)
        return outcome

    def _admit(self, tables: Tables, effect: CurrentEffect) -> None:
        if effect.token == 0:
            return
        newest = tables.newest_token(effect.scope)
        if newest > effect.token:
            raise TargetFenced(self._path, effect.scope, effect.token, newest)
        if newest < effect.token:
            tables.raise_token(effect.scope, effect.token)

    @contextmanager
    def _my_turn(self) -> Generator[LentConnection, None, None]:
        if self._process != os.getpid():
            raise self._unusable(f"it was opened by process {self._process}, before a fork", "open it again here")
        if not self._turn.acquire(timeout=self._wait_s):
            raise TargetBusy(self._path, self._wait_s)
        try:
            if self._closed:
                raise self._unusable("it was closed", "open it again")
            if self._connection is None:
                self._connection = self._open()
            yield self._connection
        finally:
            self._turn.release()

    @contextmanager
    def _writing(self) -> Generator[LentConnection, None, None]:
        with self._my_turn() as connection:
            with self._explained():
                connection.execute("BEGIN IMMEDIATE")
            try:
                if not self._tables_made:
                    with self._explained():
                        Tables(connection).make()
                yield connection
                self._commit(connection)
                self._tables_made = True
            except BaseException:
                connection.give_up()
                self._tables_made = False
                raise
            finally:
                if not connection.as_new:
                    self._let_go()

    def _let_go(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _commit(self, connection: sqlite3.Connection) -> None:
        try:
            connection.commit()
        except sqlite3.Error as error:
            if sqlite_code(error) in _UNDONE:
                raise self._explanation(error) from error
            raise

    def _open(self) -> LentConnection:
        with self._explained():
            connection = LentConnection(self._path, self._wait_s)
            try:
                connection.execute(f"PRAGMA foreign_keys = {int(self._foreign_keys)}")
                connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS_EXTRA}")
                # Reading it back also reads the file, and so finds out whether it is a database.
                self._check_synced(connection.execute("PRAGMA synchronous").fetchone())
            except BaseException:
                connection.close()
                raise
        return connection

    def _check_synced(self, level: tuple[int]) -> None:
        if level != (_SYNCHRONOUS_EXTRA,):
            raise self._unusable(f"its connections stay at synchronous={level[0]}", "use another build of SQLite")

    @contextmanager
    def _explained(self) -> Generator[None, None, None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._explanation(error) from error

    def _explanation(self, error: sqlite3.Error) -> TargetBusy | TargetUnusable:
        code = sqlite_code(error)
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return TargetBusy(self._path, self._wait_s)
        return self._unusable(str(error), _WAYS_OUT.get(code, "mend the cause, then try again"))

    def _unusable(self, why: str, way_out: str) -> TargetUnusable:
        return TargetUnusable(self._path, why, way_out)
