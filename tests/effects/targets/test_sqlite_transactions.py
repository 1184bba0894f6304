"""The SQLite target's transaction, under user code that meddles with it, and under kills."""

from __future__ import annotations

import pickle
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from effectgraph.effects.errors import NotApplied
from effectgraph.effects.targets.errors import TransactionTaken
from effectgraph.effects.targets.sqlite import SqliteTarget
from target_calls import effect, run
from target_child import insert, make_numbers


@pytest.fixture(params=["delete", "wal"])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A user's database with one table, in rollback and in WAL mode."""
    path = tmp_path / "user.db"
    make_numbers(str(path), request.param)
    return path


@pytest.fixture
def target(path: Path) -> Iterator[SqliteTarget]:
    """That database as a target that does not wait for others."""
    with SqliteTarget(path, wait_s=0.05) as target:
        yield target


def rows(path: Path, table: str = "numbers") -> int:
    """How many rows another program sees in a table."""
    with closing(sqlite3.connect(path)) as connection:
        (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        return int(count)


def in_with_block(connection: sqlite3.Connection) -> None:
    """Use the connection as most programs do: the block's end commits."""
    with connection:
        insert(connection, "2")


MEDDLING: dict[str, Callable[[sqlite3.Connection], object]] = {
    "commit": lambda connection: connection.commit(),
    "rollback": lambda connection: connection.rollback(),
    "COMMIT": lambda connection: connection.execute("COMMIT"),
    "END": lambda connection: connection.execute("end transaction"),
    "ROLLBACK": lambda connection: connection.execute("ROLLBACK"),
    "BEGIN": lambda connection: connection.execute("BEGIN"),
    "script": lambda connection: connection.executescript("INSERT INTO numbers VALUES ('2')"),
    "with": in_with_block,
    "isolation_level": lambda connection: setattr(connection, "isolation_level", None),
}


@pytest.mark.parametrize("how", MEDDLING)
def test_the_users_part_cannot_end_the_transaction(target: SqliteTarget, path: Path, how: str) -> None:
    """Whatever begins, commits or rolls back is denied; the effect is rolled back, and the error says what to do."""

    def meddle(connection: sqlite3.Connection) -> bytes:
        insert(connection, "1")
        MEDDLING[how](connection)
        return b"unreached"

    with pytest.raises(TransactionTaken, match="nothing was changed") as refused:
        target.apply(effect(), meddle)
    assert rows(path) == 0
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)
    target.apply(effect(), lambda connection: insert(connection, "3"))
    assert rows(path) == 1


def test_a_denied_commit_that_is_swallowed_changes_nothing(target: SqliteTarget, path: Path) -> None:
    """User code that ignores the refusal goes on in the same transaction, which ends as it should."""

    def meddle(connection: sqlite3.Connection) -> bytes:
        insert(connection, "1")
        with suppress(sqlite3.DatabaseError):
            connection.commit()
        return insert(connection, "2")

    target.apply(effect(), meddle)

    assert (rows(path), rows(path, "effectgraph_applied")) == (2, 1)


def test_another_error_after_a_swallowed_refusal_is_itself(target: SqliteTarget, path: Path) -> None:
    """An error of the user's own statements comes out as it is."""

    def meddle(connection: sqlite3.Connection) -> bytes:
        with suppress(sqlite3.DatabaseError):
            connection.commit()
        connection.execute("SELECT * FROM nowhere")
        return b"unreached"

    with pytest.raises(sqlite3.OperationalError, match="no such table: nowhere"):
        target.apply(effect(), meddle)


def test_savepoints_are_free_to_use(target: SqliteTarget, path: Path) -> None:
    """Parts of an effect may be undone inside it."""

    def careful(connection: sqlite3.Connection) -> bytes:
        insert(connection, "1")
        connection.execute("SAVEPOINT here")
        insert(connection, "2")
        connection.execute("ROLLBACK TO here")
        connection.execute("RELEASE here")
        return b"done"

    target.apply(effect(), careful)

    assert rows(path) == 1


def test_a_transaction_that_was_ended_all_the_same_is_noticed(target: SqliteTarget, path: Path) -> None:
    """Code that takes our guard off and commits: its rows may be there, the key is not, and the error says so."""

    def meddle(connection: sqlite3.Connection) -> bytes:
        insert(connection, "1")
        connection.set_authorizer(None)
        connection.commit()
        return b"done"

    with pytest.raises(TransactionTaken, match="what it wrote may be committed, and its key is not recorded"):
        target.apply(effect(), meddle)
    assert (rows(path), rows(path, "sqlite_schema")) == (1, 3 if path.exists() else 0)


def test_a_guard_that_was_taken_off_is_put_on_again(target: SqliteTarget, path: Path) -> None:
    """Code that only takes our guard off does so for its own effect, not for the next."""

    def take_off(connection: sqlite3.Connection) -> bytes:
        connection.set_authorizer(None)
        return insert(connection, "1")

    def commit(connection: sqlite3.Connection) -> bytes:
        insert(connection, "2")
        connection.commit()
        return b"unreached"

    target.apply(effect("one"), take_off)

    with pytest.raises(TransactionTaken, match="nothing was changed"):
        target.apply(effect("two"), commit)
    assert rows(path) == 1


def test_a_connection_that_was_closed_is_noticed(target: SqliteTarget, path: Path) -> None:
    """Closing the connection rolls back, and is not taken for success."""

    def meddle(connection: sqlite3.Connection) -> bytes:
        insert(connection, "1")
        connection.close()
        return b"done"

    with pytest.raises(TransactionTaken):
        target.apply(effect(), meddle)
    assert rows(path) == 0


def test_nothing_commits_by_itself_after_a_statement_rolled_back(target: SqliteTarget, path: Path) -> None:
    """`INSERT OR ROLLBACK` ends the transaction when it fails; what follows it is denied, prepared before or not."""

    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE UNIQUE INDEX once ON numbers (value)")

    def meddle(connection: sqlite3.Connection) -> bytes:
        insert(connection, "1")
        with suppress(sqlite3.IntegrityError):
            connection.execute("INSERT OR ROLLBACK INTO numbers VALUES ('1')")
        return insert(connection, "2")

    target.forget(effect())
    with pytest.raises(TransactionTaken):
        target.apply(effect(), meddle)
    assert rows(path) == 0


def test_a_cursor_that_is_kept_is_in_nobodys_way(target: SqliteTarget, path: Path) -> None:
    """Cursors that outlive a failed and a successful effect hold no lock: they are closed."""

    kept: list[sqlite3.Cursor] = []

    def keep(connection: sqlite3.Connection) -> bytes:
        for value in ("1", "2", "3"):
            insert(connection, value)
        cursor = connection.execute("SELECT value FROM numbers")
        cursor.fetchone()
        kept.append(cursor)
        if len(kept) == 1:
            raise LookupError
        return b"done"

    with pytest.raises(LookupError):
        target.apply(effect(), keep)
    target.apply(effect(), keep)
    target.apply(effect("next"), lambda connection: insert(connection, "4"))

    assert rows(path) == 4
    with pytest.raises(sqlite3.ProgrammingError):
        kept[1].fetchone()


def test_a_failed_effect_frees_the_write_lock_whatever_it_keeps(tmp_path: Path) -> None:
    """In WAL mode not even a cursor that nobody knows of keeps a failed transaction open."""

    path = tmp_path / "user.db"
    make_numbers(str(path), "wal")
    kept: list[sqlite3.Cursor] = []

    def fail(connection: sqlite3.Connection) -> bytes:
        insert(connection, "1")
        insert(connection, "2")
        kept.append(sqlite3.Cursor(connection).execute("SELECT value FROM numbers"))
        raise LookupError

    with SqliteTarget(path, wait_s=0.05) as target, SqliteTarget(path, wait_s=0.05) as other:
        with pytest.raises(LookupError):
            target.apply(effect(), fail)
        assert other.apply(effect(), lambda connection: insert(connection, "3")) == b"3"
    assert rows(path) == 1


LASTING: dict[str, Callable[[sqlite3.Connection], object]] = {
    "temporary table": lambda connection: connection.execute("CREATE TEMP TABLE scratch (x)"),
    "attached file": lambda connection: connection.execute("ATTACH ':memory:' AS other"),
    "pragma": lambda connection: connection.execute("PRAGMA reverse_unordered_selects = 1"),
    "row factory": lambda connection: setattr(connection, "row_factory", sqlite3.Row),
    "text factory": lambda connection: setattr(connection, "text_factory", bytes),
    "isolation level": lambda connection: setattr(connection, "isolation_level", "DEFERRED"),
    "autocommit": lambda connection: setattr(connection, "autocommit", False),
}


@pytest.mark.parametrize("what", LASTING)
def test_what_one_effect_sets_on_its_connection_ends_with_it(target: SqliteTarget, what: str) -> None:
    """Whatever an effect changes about its connection, the next one finds it as the first did."""

    found: list[object] = []

    def change(connection: sqlite3.Connection) -> bytes:
        insert(connection, str(len(found)))
        first_row = connection.execute("SELECT value FROM numbers").fetchone()
        settings = (connection.row_factory, connection.text_factory, connection.isolation_level)
        found.append((settings, getattr(connection, "autocommit", -1), first_row))
        LASTING[what](connection)
        return b"done"

    target.apply(effect("one"), change)
    target.apply(effect("two"), change)

    assert found == [((None, str, None), -1, ("0",))] * 2


def test_a_commit_that_is_busy_is_not_applied(tmp_path: Path) -> None:
    """In rollback mode a reader can keep a commit waiting: it is given up, and known not to have happened."""

    path = tmp_path / "user.db"
    make_numbers(str(path), "delete")
    with SqliteTarget(path, wait_s=0.05) as target, closing(sqlite3.connect(path, isolation_level=None)) as reader:
        target.forget(effect("other"))
        insert(reader, "0")
        insert(reader, "0")
        cursor = reader.execute("SELECT value FROM numbers")
        cursor.fetchone()
        with pytest.raises(NotApplied, match="others held its lock"):
            target.apply(effect(), lambda connection: insert(connection, "1"))
        cursor.close()

        assert rows(path) == 2
        assert target.apply(effect(), lambda connection: insert(connection, "1")) == b"1"


def test_a_commit_that_breaks_a_rule_is_not_applied(path: Path) -> None:
    """A deferred constraint fails at the commit: rolled back, and known not to have happened."""

    def orphan(connection: sqlite3.Connection) -> bytes:
        connection.execute("INSERT INTO child VALUES (1)")
        return b"done"

    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE parent (id INTEGER PRIMARY KEY)")
        connection.execute("CREATE TABLE child (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED)")

    with SqliteTarget(path) as unchecked, SqliteTarget(path, foreign_keys=True) as checked:
        with pytest.raises(NotApplied, match="FOREIGN KEY constraint failed"):
            checked.apply(effect(), orphan)
        found = rows(path, "child")
        unchecked.apply(effect(), orphan)

    assert (found, rows(path, "child")) == (0, 1)


@pytest.mark.parametrize(("point", "applied"), [("in the transaction", 0), ("after the commit", 1)])
def test_killed_in_the_transaction_nothing_happened_killed_after_it_all_did(
    path: Path, point: str, applied: int
) -> None:
    """SIGKILL in the user's part leaves nothing, after the commit both rows and key; recovery makes it once."""

    run("apply_and_die", path, "1", point, expected=-signal.SIGKILL)
    found = rows(path)

    with SqliteTarget(path) as target:
        answer = target.apply(effect(token=2), lambda connection: insert(connection, "1"))

    assert (found, rows(path), answer) == (applied, 1, b"1")
