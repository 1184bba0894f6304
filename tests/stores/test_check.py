"""What `check()` finds: each kind of damage in words of its own, and nothing in a store that is well."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from effectgraph.stores import SqliteStore, Store
from effectgraph.stores.records import Answer, Decision, Fork, Question, QuestionId, Remark, Ruling
from effectgraph.stores.sqlite.checks import RULES, SHOWN
from store_records import (
    TASK,
    begun,
    commit,
    created,
    failure,
    key,
    new_run,
    outcome,
    outside,
    piece,
    settled,
    task,
    task_commit,
)

REASK = "UPDATE tasks SET status = 'open' WHERE thread = 3"


def full(store: Store) -> None:
    """One of everything that a store keeps: threads that run, are done, failed, wait, were forked and pruned."""
    running = created(store).claim
    store.commit(running, commit(1, piece("total", b"2"), piece("lines", b"a", appended=True))).wait()
    store.commit(running, commit(2, piece("lines", b"b", appended=True))).wait()
    store.prune("order-1", before=2).wait()
    begun(store, running, key("open", task="3.pay"))
    settled(store, running, key("settled", task="3.pay"))

    done = created(store, "order-2").claim
    store.commit(done, commit(1, piece("total", b"3"), done=True)).wait()
    store.start(done, new_run(2)).wait()
    begun(store, done, key("left", "order-2", "3.pay"))
    store.commit(done, commit(3, done=True)).wait()

    waiting = created(store, "order-3").claim
    answered = question("q1"), question("q2", expires_us=50)
    store.ask(waiting, TASK, answered).wait()
    store.answer(QuestionId("q1"), Answer(value=b"true", schema="bool", by="ann", at_us=5)).wait()

    failed = created(store, "order-4").claim
    store.fail(failed, TASK, failure()).wait()
    store.release(failed).wait()
    store.take("order-4", "stuck", at_us=3).wait()
    fork = Fork(source="order-1", incarnation=running.incarnation, step=2, id="order-5", tasks=(task(3),))
    store.fork(fork).wait()

    script = outside(store)
    given_up = begun(store, script, key("given up", "script"))
    store.trouble(script, given_up, "timed out", seen=1).wait()
    store.decide(ruling(given_up.call, Ruling.ABANDON)).wait()
    granted = begun(store, script, key("granted", "script"))
    store.trouble(script, granted, "timed out", seen=1).wait()
    store.decide(ruling(granted.call, Ruling.RETRY)).wait()
    late = Remark(
        key=key("open", task="3.pay"),
        incarnation=running.incarnation,
        owner=store.owner,
        token=running.token,
        attempt=1,
        outcome=outcome(),
        text="late",
        at_us=9,
    )
    store.remark(late).wait()


def question(name: str, *, expires_us: int | None = None) -> Question:
    """Something that a task asks."""
    return Question(id=QuestionId(name), content=b'"ship?"', schema="bool", at_us=2, expires_us=expires_us)


def ruling(call: str, what: Ruling) -> Decision:
    """A decision on an effect outside a runtime."""
    return Decision(
        id=f"d-{call}", key=key(call, "script"), incarnation=0, seen=2, ruling=what, by="ann", reason="seen", at_us=4
    )


def test_a_store_that_is_well_has_nothing_to_tell(path: Path) -> None:
    """Whatever a thread has been through."""

    with SqliteStore(path) as store:
        full(store)
        assert store.check().wait() == ()
    with SqliteStore(":memory:") as store:
        full(store)
        assert store.check().wait() == ()


DAMAGE = {
    "two rows": ("DELETE FROM store", "the store has not exactly one row"),
    "token": ("UPDATE store SET token = 1", "thread order-2: its token is greater"),
    "incarnation": ("UPDATE store SET incarnation = 1", "thread order-2: its incarnation is greater"),
    "kept from": ("UPDATE threads SET kept_from = 9 WHERE id = 'order-1'", "it keeps steps from 9 on"),
    "running": ("DELETE FROM tasks WHERE thread = 1", "thread order-1: it is running, and no task of it is open"),
    "waiting": (REASK, "thread order-3: it is waiting, and a task of it is open"),
    "done": ("UPDATE threads SET status = 'done' WHERE id = 'order-1'", "thread order-1: it is done, and task 3.pay"),
    "status": ("UPDATE threads SET status = 'gone' WHERE id = 'order-1'", "thread order-1: its status is gone"),
    "answered": (
        "UPDATE questions SET answer = x'31', answer_schema = 'int', answered_by = 'x', answered_us = 1",
        "thread order-3, task 1.pay: it waits, and no question",
    ),
    "task status": (
        "UPDATE tasks SET status = 'odd' WHERE thread = 4",
        "thread order-4, task 1.pay: its status is odd",
    ),
    "never asked": ("UPDATE tasks SET asked = 0", "thread order-3, question q1: its task 1.pay is gone, or has never"),
    "half an answer": ("UPDATE questions SET answered_us = NULL", "question q1: half an answer"),
    "no piece": ("DELETE FROM fields WHERE field = 'total'", "field total: its value begins at step"),
    "no head": ("DELETE FROM heads WHERE field = 'lines'", "field lines: it has pieces, and nothing says"),
    "late value": ("UPDATE fields SET appended = 0 WHERE field = 'lines'", "field lines: a value that replaced"),
    "late piece": ("UPDATE threads SET step = 1, kept_from = 0 WHERE id = 'order-1'", "a piece of step 2 lies behind"),
    **{
        table: (f"UPDATE OR IGNORE {table} SET thread = 77", f"{table}: rows of thread number 77")
        for table in ("tasks", "history", "takes", "questions")
    },
    "fields": ("UPDATE fields SET thread = 77 WHERE thread = 1", "fields: rows of thread number 77"),
    "heads": ("UPDATE heads SET thread = 77 WHERE thread = 1", "heads: rows of thread number 77"),
    "effect token": ("UPDATE effects SET token = 99 WHERE call = 'open'", "effect order-1 / 3.pay / open: its token"),
    "effect thread": (
        "UPDATE effects SET incarnation = 9 WHERE call = 'open'",
        "effect order-1 / 3.pay / open: its thr",
    ),
    "effect task": (
        "UPDATE effects SET task = '9.x' WHERE call = 'open'",
        "effect order-1 / 9.x / open: its task is g",
    ),
    "ended": ("UPDATE effects SET ended = 1 WHERE call = 'settled'", "effect order-1 / 3.pay / settled: it is marked"),
    "half an outcome": ("UPDATE effects SET how = NULL", "effect order-1 / 3.pay / settled: half an outcome"),
    "granted": ("UPDATE effects SET granted = 1 WHERE call = 'settled'", "settled: it has an outcome, and is granted"),
    "half a plan": (
        "UPDATE effects SET before = 'x' WHERE call = 'open'",
        "effect order-1 / 3.pay / open: half a plan",
    ),
    "remarks": ("UPDATE remarks SET incarnation = 9", "remarks on effect order-1 / 3.pay / open: its thread is gone"),
}
"""What is done to a store, and what is said of it."""


@pytest.mark.parametrize(("damage", "told"), list(DAMAGE.values()), ids=list(DAMAGE))
def test_damage_is_named(path: Path, damage: str, told: str) -> None:
    """Each rule is broken by one statement, and says what is wrong and where."""

    with SqliteStore(path) as store:
        full(store)
        store.flush().wait()
        with closing(sqlite3.connect(path)) as other, other:
            other.execute(damage)

        findings = store.check().wait()

    assert any(told in finding for finding in findings), findings


def test_every_rule_is_broken_by_a_test(path: Path) -> None:
    """A rule that nothing breaks proves nothing."""

    with SqliteStore(path) as store:
        full(store)
    broken: set[str] = set()
    for damage, _ in DAMAGE.values():
        with closing(sqlite3.connect(path)) as original, closing(sqlite3.connect(":memory:")) as copy:
            original.backup(copy)
            copy.execute(damage)
            broken.update(sentence for sentence, query in RULES if copy.execute(query).fetchone())

    assert broken == {sentence for sentence, _ in RULES}


def test_a_damaged_page_is_found(path: Path) -> None:
    """SQLite's own check comes first: rows of a damaged file prove nothing."""

    with SqliteStore(path) as store:
        claim = created(store).claim
        for step in range(1, 40):
            store.commit(claim, commit(step, piece("lines", b"x" * 3_000, appended=True))).wait()
    size = path.stat().st_size
    with path.open("r+b") as file:
        for page in range(size // 4096 - 3, size // 4096):
            file.seek(page * 4096)
            file.write(b"\xff" * 64)

    with SqliteStore(path, read_only=True) as store:
        findings = store.check().wait()

    assert findings
    assert all(finding.startswith("the file is damaged: ") for finding in findings)


def test_many_findings_of_one_rule_are_cut(path: Path) -> None:
    """The first ones say what it is."""

    with SqliteStore(path) as store:
        claim = created(store).claim
        for number in range(SHOWN + 5):
            settled(store, claim, key(f"call-{number:02}"))
        store.flush().wait()
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("UPDATE effects SET how = NULL")

        findings = store.check().wait()

    assert len(findings) == SHOWN + 1
    assert findings[-1].startswith("... and more like it: ")


def test_a_committed_task_of_an_open_step_is_well(path: Path) -> None:
    """Its step closes later."""

    with SqliteStore(path) as store:
        claim = created(store).claim
        settled(store, claim)
        store.commit(claim, task_commit(1, "pay")).wait()
        assert store.check().wait() == ()
