"""Stores that older versions of the package made, brought up to date."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlite_utils

from effectgraph.stores import SqliteStore
from effectgraph.stores.records import How, Kind, Outcome, TaskStatus, ThreadStatus
from effectgraph.stores.sqlite import schema
from store_records import commit, key, piece, task_commit

FIRST = "0001_threads_effects_history"

ROWS = """
INSERT INTO store VALUES (1, 'shop-eu', 7, 2, 0);
INSERT INTO owners VALUES ('0123', 1, 'host', 1);
INSERT INTO threads VALUES (1, 'order-1', 2, 'shop', 1, 'f1', 'running', 1, 7, NULL);
INSERT INTO tasks VALUES (1, '2.pay', 2, 'pay', 3, 'open', NULL, NULL, NULL, NULL, NULL);
INSERT INTO tasks VALUES (1, '2.ship', 2, 'ship', 1, 'failed', 'E', 'text', 'trace', 5, NULL);
INSERT INTO fields VALUES (1, 'total', 0, 0, x'31', 'int');
INSERT INTO fields VALUES (1, 'lines', 1, 1, x'32', 'list');
INSERT INTO heads VALUES (1, 'total', 0);
INSERT INTO heads VALUES (1, 'lines', 1);
INSERT INTO history VALUES (1, 1, '1.pay', 'pay', '["lines"]', NULL, 30);
INSERT INTO takes VALUES (6, 1, 'stuck', 4);
INSERT INTO effects VALUES ('order-1', 2, '2.pay', 'charge', 'unchecked', 'charge', 'f1', x'7b7d', 'in', 10,
    NULL, NULL, NULL, NULL, '0123', 6, 1, 1, NULL, NULL, NULL, NULL, 'timed out', 0);
INSERT INTO effects VALUES ('order-1', 2, '2.pay', 'mail', 'unchecked', 'mail', 'f2', x'7b7d', 'in', 10,
    NULL, NULL, NULL, NULL, '0123', 6, 1, 2, x'31', 'out', 'run', 20, NULL, 0)
"""


@pytest.fixture
def old(path: Path) -> Path:
    """A store file as the first version of the schema had it, with a row of everything."""
    statements = dict(schema.MIGRATIONS)[FIRST]
    migrations = sqlite_utils.Migrations(schema.MIGRATION_SET)

    @migrations(name=FIRST)
    def first(db: sqlite_utils.Database) -> None:
        for statement in statements:
            db.conn.execute(statement)

    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        migrations.apply(sqlite_utils.Database(connection, recursive_triggers=False, execute_plugins=False))
        for statement in ROWS.split(";\n"):
            connection.execute(statement)
        connection.commit()
    return path


def test_an_older_store_keeps_everything(old: Path) -> None:
    """Threads, tasks, state, history, evidence and tokens are as they were; what is new has its plain default."""

    with SqliteStore(old) as store:
        thread = store.read("order-1").wait()
        (entry,) = store.history("order-1").wait()
        (open_effect,) = store.unresolved().wait()
        settled = store.evidence(key("mail", task="2.pay"), 2).wait()
        findings = store.check().wait()
        claim = store.claim("order-1").wait().claim

    assert (store.namespace, thread.status, thread.step, thread.token) == ("shop-eu", ThreadStatus.RUNNING, 1, 7)
    assert [(task.id, task.status, task.attempts) for task in thread.tasks] == [
        ("2.pay", TaskStatus.OPEN, 3),
        ("2.ship", TaskStatus.FAILED, 1),
    ]
    assert [(part.field, part.value, part.appended) for part in thread.pieces] == [
        ("lines", b"2", True),
        ("total", b"1", False),
    ]
    assert (thread.questions, thread.kept_from, thread.origin) == ((), 0, None)
    assert (entry.task, entry.fields, entry.questions) == ("1.pay", ("lines",), ())
    assert (open_effect.trouble, open_effect.granted, open_effect.uncertain) == ("timed out", False, None)
    assert settled is not None
    assert settled.intent.kind is Kind.UNCHECKED
    assert settled.outcome == Outcome(value=b"1", schema="out", how=How.RUN, at_us=20)
    assert findings == ()
    assert claim.token == 8


def test_an_older_store_goes_on(old: Path) -> None:
    """A thread that an older version left behind is run on, and its earlier states can be read."""

    with SqliteStore(old) as store:
        claim = store.claim("order-1").wait().claim
        store.attempt(claim, "2.ship").wait()
        store.commit(claim, task_commit(2, "ship")).wait()
        store.commit(claim, commit(2, piece("total", b"5"))).wait()
        before, now = store.state("order-1", 1).wait(), store.state("order-1", 2).wait()
        findings = store.check().wait()

    assert [part.value for part in before] == [b"2", b"1"]
    assert [part.value for part in now] == [b"2", b"5"]
    assert findings == ()


def test_the_first_schema_is_what_it_was() -> None:
    """A migration that files have had is never changed: only its name says which one it was."""

    name, statements = schema.MIGRATIONS[0]
    words = " ".join(" ".join(statements).split())

    assert name == FIRST
    assert hashlib.sha256(words.encode()).hexdigest()[:16] == "d8aa737f18e1dc33"
