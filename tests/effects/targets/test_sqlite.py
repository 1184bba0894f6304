"""The SQLite target: what apply and forget do."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from effectgraph.effects.errors import NotApplied, TargetFenced
from effectgraph.effects.targets.applied import AppliedKeys
from effectgraph.effects.targets.errors import TargetBusy, TargetUnusable
from effectgraph.effects.targets.sqlite import SqliteTarget
from target_calls import effect, finish, run, start
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


def inserting(value: str) -> Callable[[sqlite3.Connection], bytes]:
    """The user's part of an effect."""
    return lambda connection: insert(connection, value)


def never(connection: sqlite3.Connection) -> bytes:
    """A user's part that must not be asked."""
    raise AssertionError("the key is known, so this must not run")


def select(path: Path, statement: str = "SELECT value FROM numbers ORDER BY rowid") -> list[tuple[object, ...]]:
    """What another program sees in the database."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


def version(connection: sqlite3.Connection) -> object:
    """A number that changes with every commit of another connection."""
    return connection.execute("PRAGMA data_version").fetchone()


def test_it_keeps_applied_keys(target: SqliteTarget) -> None:
    """The target is what the guard and the tools ask for."""

    keeper: AppliedKeys[sqlite3.Connection] = target

    assert keeper.apply(effect(), inserting("1")) == b"1"


def test_an_effect_is_applied_once(target: SqliteTarget, path: Path) -> None:
    """The first call runs; every later one gets the recorded outcome, and nothing runs."""

    answers = [target.apply(effect(), inserting("1")), target.apply(effect(), never), target.apply(effect(), never)]

    assert answers == [b"1", b"1", b"1"]
    assert select(path) == [("1",)]
    assert select(path, "SELECT scope, task, call, outcome, answered FROM effectgraph_applied") == [
        ("namespace/1/scope", "task", "call", b"1", 2)
    ]


def test_the_outcome_comes_back_byte_for_byte(target: SqliteTarget) -> None:
    """Empty outcomes and any bytes are outcomes."""

    def echo(outcome: bytes, connection: sqlite3.Connection) -> bytes:
        return outcome

    for number, outcome in enumerate([b"", b"\0", bytes(range(256)) * 1000]):
        key = effect(str(number))
        assert target.apply(key, partial(echo, outcome)) == outcome
        assert target.apply(key, never) == outcome


def test_another_object_knows_the_keys(target: SqliteTarget, path: Path) -> None:
    """What was applied is known to whoever opens the database next."""

    target.apply(effect(), inserting("1"))

    with SqliteTarget(path) as other:
        assert other.apply(effect(token=2), never) == b"1"


def test_keys_differ_by_scope_task_and_call(target: SqliteTarget, path: Path) -> None:
    """Effects with other keys are other effects."""

    target.apply(effect("a"), inserting("1"))
    target.apply(effect("b"), inserting("2"))
    target.apply(effect("a", scope="other"), inserting("3"))

    assert select(path) == [("1",), ("2",), ("3",)]


def test_a_key_of_another_request_is_refused(target: SqliteTarget, path: Path) -> None:
    """The outcome of one request is never given to another, and the other does not run under its key."""

    target.apply(effect(fingerprint="one"), inserting("1"))

    with pytest.raises(NotApplied, match=r"another request \(one, not two\)"):
        target.apply(effect(fingerprint="two"), never)
    assert select(path) == [("1",)]


def test_an_older_token_is_refused_by_apply_and_forget(target: SqliteTarget, path: Path) -> None:
    """Once token 7 was seen, token 6 neither applies nor forgets, and nothing changes."""

    target.apply(effect("known", token=7), inserting("1"))

    for call in ("known", "new"):
        with pytest.raises(TargetFenced) as refused:
            target.apply(effect(call, token=6), never)
        error = refused.value
        assert (error.target, error.token, error.newest) == (str(path), 6, 7)
        with pytest.raises(TargetFenced):
            target.forget(effect(call, token=6))
    assert target.apply(effect("known", token=7), never) == b"1"
    assert select(path, "SELECT scope, token FROM effectgraph_tokens") == [("namespace/1/scope", 7)]


def test_forgetting_records_the_token(target: SqliteTarget) -> None:
    """A successor that has only forgotten fences its predecessor already."""

    target.forget(effect(token=7))

    with pytest.raises(TargetFenced):
        target.apply(effect(token=6), never)


def test_tokens_of_other_scopes_are_not_compared(target: SqliteTarget) -> None:
    """Each scope has its own newest token."""

    target.apply(effect(token=7), inserting("1"))

    assert target.apply(effect(scope="other", token=6), inserting("2")) == b"2"


def test_token_zero_is_neither_checked_nor_recorded(target: SqliteTarget, path: Path) -> None:
    """Outside a runtime there is nothing to compare."""

    target.apply(effect(token=7), inserting("1"))
    target.apply(effect("two", token=0), inserting("2"))
    target.forget(effect("two", token=0))

    assert target.apply(effect("two", token=0), inserting("3")) == b"3"
    assert select(path, "SELECT token FROM effectgraph_tokens WHERE scope <> ''") == [(7,)]


def test_a_forgotten_key_is_applied_again(target: SqliteTarget, path: Path) -> None:
    """Once its key is forgotten, an effect is a new one."""

    target.apply(effect(), inserting("1"))
    target.forget(effect())
    target.apply(effect(), inserting("2"))

    assert select(path) == [("1",), ("2",)]


def test_forgetting_what_is_not_there_is_no_error(target: SqliteTarget) -> None:
    """A key that was never applied, in a database that has never seen us, can be forgotten, and twice."""

    target.forget(effect())
    target.forget(effect())


def test_forgetting_nothing_writes_nothing(target: SqliteTarget, path: Path) -> None:
    """With the token recorded and no key there, forget does not write; with a key there it does."""

    target.apply(effect("one"), inserting("1"))
    with closing(sqlite3.connect(path)) as other:
        versions = [version(other)]
        target.forget(effect("two"))
        versions.append(version(other))
        target.forget(effect("one"))
        versions.append(version(other))

    assert versions[0] == versions[1] != versions[2]


def test_many_keys_are_forgotten_together(target: SqliteTarget, path: Path) -> None:
    """A batch is one transaction."""

    keys = [effect(str(number)) for number in range(3)]
    for key in keys:
        target.apply(key, inserting(key.key.call))
    target.forget_many(keys[:2])

    assert select(path, "SELECT call FROM effectgraph_applied") == [("2",)]


def test_a_batch_with_an_older_token_forgets_nothing(target: SqliteTarget, path: Path) -> None:
    """One refused key keeps them all."""

    target.apply(effect("one"), inserting("1"))
    target.apply(effect("two", scope="other", token=7), inserting("2"))

    with pytest.raises(TargetFenced):
        target.forget_many([effect("one"), effect("two", scope="other", token=6)])
    assert select(path, "SELECT count(*) FROM effectgraph_applied") == [(2,)]


def test_what_the_users_part_raises_comes_out_and_nothing_is_kept(target: SqliteTarget, path: Path) -> None:
    """A failing effect leaves neither rows nor key nor token."""

    def fail(connection: sqlite3.Connection) -> bytes:
        insert(connection, "1")
        raise LookupError("no such account")

    with pytest.raises(LookupError, match="no such account"):
        target.apply(effect(token=7), fail)
    assert select(path) == []
    assert target.apply(effect(token=6), inserting("2")) == b"2"


def test_an_outcome_that_is_not_bytes_is_refused(target: SqliteTarget, path: Path) -> None:
    """An effect whose encoded outcome cannot be stored is rolled back."""

    with pytest.raises(TypeError):
        target.apply(effect(), lambda connection: (insert(connection, "1"), cast(bytes, "text"))[1])
    assert select(path) == []


def test_the_journal_mode_stays(target: SqliteTarget, path: Path) -> None:
    """The user's choice of a journal is not touched."""

    before = select(path, "PRAGMA journal_mode")
    target.apply(effect(), inserting("1"))

    assert select(path, "PRAGMA journal_mode") == before


def test_a_commit_survives_a_power_cut_in_every_mode(target: SqliteTarget) -> None:
    """The user's part runs on a connection with synchronous=EXTRA."""

    def level(connection: sqlite3.Connection) -> bytes:
        return str(connection.execute("PRAGMA synchronous").fetchone()).encode()

    assert target.apply(effect(), level) == b"(3,)"


def test_a_busy_database_is_waited_for_and_then_named(target: SqliteTarget, path: Path) -> None:
    """While another program writes, an effect is not applied, and forget says that it was busy."""

    target.apply(effect(), inserting("1"))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(NotApplied, match="others held its lock"):
            target.apply(effect("two"), never)
        with pytest.raises(TargetBusy):
            target.forget(effect())
        other.execute("ROLLBACK")

    assert target.apply(effect("two"), inserting("2")) == b"2"


def test_threads_take_turns(path: Path) -> None:
    """Eight threads apply eighty effects and ask for one of them again and again: each happens once."""

    with SqliteTarget(path) as target, ThreadPoolExecutor(8) as pool:

        def work(number: int) -> tuple[bytes, bytes]:
            own = target.apply(effect(str(number)), inserting(str(number)))
            return own, target.apply(effect("shared"), inserting("shared"))

        answers = list(pool.map(work, range(80)))

    assert answers == [(str(number).encode(), b"shared") for number in range(80)]
    assert sorted(select(path)) == sorted([(str(number),) for number in range(80)] + [("shared",)])


def test_a_thread_does_not_wait_for_ever(target: SqliteTarget) -> None:
    """A user's part that applies another effect to the same target is told that the target is busy."""

    def nested(connection: sqlite3.Connection) -> bytes:
        return target.apply(effect("inner"), never)

    with pytest.raises(NotApplied, match="others held its lock"):
        target.apply(effect("outer"), nested)


def test_processes_that_apply_one_key_apply_it_once(path: Path) -> None:
    """Four processes start together with one key: one applies, all get its outcome."""

    children = [start("apply", path, "shared", number) for number in range(4)]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    answers = {finish(child) for child in children}

    ((value,),) = select(path)
    assert answers == {f"{value}\n"}


def test_a_target_is_not_for_forked_children(path: Path) -> None:
    """A child that inherited a target is told to open its own; the parent's goes on working."""

    said = run("use_after_fork", path).splitlines()

    assert "before a fork" in said[0]
    assert said[1] == "parent"
    assert select(path) == [("parent",)]


def test_what_is_no_database_is_an_error(tmp_path: Path) -> None:
    """A text file, a folder, a missing folder, a database in memory: each is refused when the target is made."""

    (tmp_path / "text").write_text("not a database, " * 100)
    cases: dict[Path | str, str] = {
        tmp_path / "text": "not a database",
        tmp_path: "unable to open",
        tmp_path / "gone" / "db": "the folder it is in does not exist",
        ":memory:": "not the path of a file",
        "file:x?mode=memory": "not the path of a file",
        "": "not the path of a file",
    }

    for path, why in cases.items():
        with pytest.raises(TargetUnusable, match=why):
            SqliteTarget(path)


def test_a_new_database_can_be_a_target(tmp_path: Path) -> None:
    """A file that does not exist yet becomes a database."""

    def make_table(connection: sqlite3.Connection) -> bytes:
        connection.execute("CREATE TABLE numbers (value TEXT)")
        return insert(connection, "1")

    with SqliteTarget(tmp_path / "new.db") as target:
        target.apply(effect(), make_table)

    assert select(tmp_path / "new.db") == [("1",)]


def test_a_closed_target_says_so(path: Path) -> None:
    """After close every call is refused; closing twice is fine."""

    target = SqliteTarget(path)
    target.close()
    target.close()

    with pytest.raises(NotApplied, match="it was closed"):
        target.apply(effect(), never)
    with pytest.raises(TargetUnusable, match="it was closed"):
        target.forget(effect())


def test_lost_tables_are_made_anew(target: SqliteTarget, path: Path) -> None:
    """Somebody dropped our tables while the target was open: one call says so, the next works."""

    target.apply(effect(), inserting("1"))
    with closing(sqlite3.connect(path)) as other:
        other.execute("DROP TABLE effectgraph_tokens")

    with pytest.raises(NotApplied, match="no such table"):
        target.apply(effect("two"), never)
    assert target.apply(effect("two"), inserting("2")) == b"2"
