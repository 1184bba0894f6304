"""What the store's operations cost, in what can be counted: statements, pages, bytes, steps of SQLite's machine."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import attrs
import pytest

from effectgraph.stores.limits import BUSY_S
from effectgraph.stores.owners import Owner
from effectgraph.stores.records import Claim, Commit, Piece
from effectgraph.stores.sqlite import claims, effects, reads, threads
from effectgraph.stores.sqlite.connect import open_file
from store_records import commit, intent, key, new_thread, outcome, piece

FIELDS = 12
"""Fields of a state of which a task changes one."""


@pytest.fixture
def connection(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection as the store's writer has it, to a new store; nothing is copied from the log into the file."""
    with closing(open_file(path, None, BUSY_S)) as opened:
        opened.execute("PRAGMA wal_autocheckpoint = 0")
        opened.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        yield opened


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    """One transaction, as the writer makes them."""
    connection.execute("BEGIN IMMEDIATE")
    yield
    connection.execute("COMMIT")


def made(connection: sqlite3.Connection, *pieces: Piece) -> Claim:
    """A thread that was made and is claimed."""
    with transaction(connection):
        return threads.create(connection, new_thread("order-1", *pieces), Owner.in_memory().id)


def statements(connection: sqlite3.Connection, call: Callable[[], object]) -> int:
    """How many statements a call runs."""
    seen: list[str] = []
    connection.set_trace_callback(seen.append)
    call()
    connection.set_trace_callback(None)
    return len(seen)


def machine_steps(connection: sqlite3.Connection, call: Callable[[], object]) -> int:
    """How many instructions of SQLite's machine a call takes: the rows that it looks at, and what it does with each."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    connection.set_progress_handler(step, 1)
    call()
    connection.set_progress_handler(None, 0)
    return count


def pages_logged(path: Path, connection: sqlite3.Connection, call: Callable[[], object]) -> int:
    """How many pages a call in a transaction of its own adds to the log."""
    log = path.with_name(path.name + "-wal")
    page: tuple[int] = connection.execute("PRAGMA page_size").fetchone()
    before = log.stat().st_size if log.exists() else 0
    with transaction(connection):
        call()
    return (log.stat().st_size - before) // (page[0] + 24)


def grow(connection: sqlite3.Connection, claim: Claim, step: int) -> None:
    """One step that appends 10 KB to a field."""
    threads.commit(connection, claim, commit(step, piece("lines", b"x" * 10_240, appended=True)))


def test_a_commit_writes_what_changed_and_no_more(path: Path, connection: sqlite3.Connection) -> None:
    """A task that changes one field of many takes the pages and statements of that field, whatever the others hold."""

    small = made(connection, piece("total"))
    alone = pages_logged(path, connection, partial(one, connection, small, commit(1, piece("total", b"2"))))
    with transaction(connection):
        threads.delete(connection, "order-1", found(connection), drop_unresolved=True)
    large = made(connection, piece("total"), *(piece(f"field{n}", b"x" * 100_000) for n in range(FIELDS)))

    count = pages_logged(path, connection, partial(one, connection, large, commit(1, piece("total", b"2"))))

    # One page more at most: the thread's rows can lie on another page than the table's first.
    assert count <= alone + 1, (count, alone)


def found(connection: sqlite3.Connection) -> claims.Found:
    """The thread's row."""
    row = claims.find(connection, "order-1")
    assert row is not None
    return row


def test_statements_of_a_commit_follow_the_fields_that_change(connection: sqlite3.Connection) -> None:
    """Each field that a step changes takes two statements, and a field that it does not change takes none."""

    claim = made(connection, *(piece(f"field{n}") for n in range(FIELDS)))
    counts: list[int] = []
    for step, changed in enumerate((0, 1, 2, FIELDS), start=1):
        record = commit(step, *(piece(f"field{n}", b"2") for n in range(changed)))
        with transaction(connection):
            counts.append(statements(connection, partial(one, connection, claim, record)))

    assert [counts[0], counts[0] + 2, counts[0] + 4, counts[0] + 2 * FIELDS] == counts
    assert counts[0] <= 8


def one(connection: sqlite3.Connection, claim: Claim, record: Commit) -> None:
    """One commit."""
    threads.commit(connection, claim, record)


def test_step_1000_of_a_growing_field_costs_what_step_10_does(path: Path, connection: sqlite3.Connection) -> None:
    """A field that grows by 10 KB a step: step 1,000 writes at most 1.3 times the pages of step 10, runs as many
    statements, and the file is at most 1.5 times as large as everything that was appended.
    """

    claim = made(connection, piece("lines", b"[]"))
    pages: dict[int, int] = {}
    counts: dict[int, int] = {}
    for step in range(1, 1_001):
        pages[step] = pages_logged(path, connection, partial(grow, connection, claim, step))
        if step in (9, 999):
            connection.execute("BEGIN IMMEDIATE")
            counts[step] = statements(connection, partial(grow, connection, claim, step + 1))
            connection.execute("ROLLBACK")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # A split of a page now and then adds two; what counts is what a step takes on the average.
    early, late = sum(pages[step] for step in range(5, 16)), sum(pages[step] for step in range(990, 1_001))
    assert late <= 1.3 * early
    assert counts[9] == counts[999]
    assert path.stat().st_size <= 1.5 * 1_000 * 10_240


@pytest.mark.parametrize("pieces", [1, 300])
def test_reading_a_state_is_one_query(connection: sqlite3.Connection, pieces: int) -> None:
    """A thread is read with as many statements, however many fields it has and in however many pieces they lie."""

    claim = made(connection, piece("total"), *(piece(f"field{n}") for n in range(pieces)))
    for step in range(1, pieces + 1):
        with transaction(connection):
            grow(connection, claim, step)

    count = statements(connection, lambda: reads.thread(connection, "store", "order-1"))

    assert len(reads.thread(connection, "store", "order-1").pieces) == 1 + pieces + pieces
    assert count <= 4


def test_an_effect_takes_one_statement_to_begin_and_one_to_settle(connection: sqlite3.Connection) -> None:
    """Token, open task and version are looked at in the statement that writes."""

    claim = made(connection)
    with transaction(connection):
        begin = statements(connection, lambda: effects.begin(connection, claim, key(), intent(), None))
        settle = statements(connection, lambda: effects.settle(connection, claim, key(), outcome(), 1))

    assert (1, 1) == (begin, settle)


def many(connection: sqlite3.Connection, count: int, status: str) -> None:
    """Threads by the number, each with an effect that nobody knows the outcome of; a hundred of them are running."""
    made(connection)
    with transaction(connection):
        effects.begin(connection, outside(), key(thread="script"), intent(), None)
        for table, changed in (("threads", THREADS), ("effects", EFFECTS)):
            names = [str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})") if row[1] != "ref"]
            values = ", ".join(changed.get(name, name) for name in names)
            connection.execute(
                f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) "
                f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM n, {table}"
            )
        connection.execute("UPDATE threads SET status = ? WHERE ref > 101", (status,))


THREADS = {"id": "printf('many-%06d', i)", "owner": "NULL", "token": "0"}
EFFECTS = {"scope": "printf('many-%06d', i)", "trouble": "'timed out'"}


def outside() -> Claim:
    """What somebody without a runtime writes under, whose process is gone."""
    return Claim(thread="script", incarnation=0, token=0, owner=Owner.in_memory().id)


@pytest.mark.parametrize("status", ["running", "done"])
@pytest.mark.parametrize("after", ["", "many-000050"])
def test_listings_do_not_look_at_what_they_do_not_list(path: Path, status: str, after: str) -> None:
    """A page of runnable threads, or of unresolved effects, costs with 100,000 threads at most 1.5 times of 100."""

    last = None if not after else attrs.evolve(key(), scope=after)
    costs: dict[int, list[int]] = {}
    for count in (100, 100_000):
        file = path.with_name(f"{count}.db")
        with closing(open_file(file, None, BUSY_S)) as connection:
            many(connection, count, status)
            owner = Owner.beside(file)
            assert len(reads.runnable(connection, owner, "shop", 40, after)) == 40
            assert len(reads.unresolved(connection, owner, 40, last)) == 40
            costs[count] = [
                machine_steps(connection, partial(reads.runnable, connection, owner, "shop", 40, after)),
                machine_steps(connection, partial(reads.unresolved, connection, owner, 40, last)),
            ]
            owner.let_go()

    assert all(many <= 1.5 * few for few, many in zip(costs[100], costs[100_000], strict=True)), costs
