"""The tasks of a thread that have not committed."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from effectgraph.stores.errors import TaskClosed
from effectgraph.stores.records import Claim, Failure, Task, TaskStatus, ThreadStatus
from effectgraph.stores.sqlite import claims

SCHEDULE: Final = """
INSERT INTO tasks (thread, id, step, node, attempts, status) VALUES (?, ?, ?, ?, ?, 'open')
"""
COLUMNS: Final = "id, step, node, attempts, status, error, error_text, error_traceback, failed_us, changes"
Row = tuple[str, int, str, int, str, str | None, str | None, str | None, int | None, bytes | None]

ALL: Final = f"SELECT {COLUMNS} FROM tasks WHERE thread = ? ORDER BY step, id"
IS_OPEN: Final = "SELECT 1 FROM tasks WHERE thread = ? AND id = ? AND status = 'open'"
REMOVE_OPEN: Final = "DELETE FROM tasks WHERE thread = ? AND id = ? AND status = 'open' RETURNING asked"
COMMIT: Final = """
UPDATE tasks SET status = 'committed', changes = ? WHERE thread = ? AND id = ? AND status = 'open' RETURNING asked
"""
OF_STEP: Final = "SELECT id, status FROM tasks WHERE thread = ? AND step = ? ORDER BY id"
REMOVE_STEP: Final = "DELETE FROM tasks WHERE thread = ? AND step = ?"
ATTEMPT: Final = f"""
UPDATE tasks
SET attempts = attempts + 1, status = 'open', error = NULL, error_text = NULL, error_traceback = NULL, failed_us = NULL
WHERE thread = ? AND id = ? AND status <> 'committed'
RETURNING {COLUMNS}
"""
FAIL: Final = """
UPDATE tasks
SET status = CASE status WHEN 'committed' THEN status ELSE 'failed' END,
    error = ?, error_text = ?, error_traceback = ?, failed_us = ?
WHERE thread = ? AND id = ? AND status <> 'failed'
"""
THREAD_STATUS: Final = "UPDATE threads SET status = ? WHERE ref = ? AND status <> ?"
THREAD_WAITS: Final = """
UPDATE threads SET status = 'waiting'
WHERE ref = :thread AND status = 'running'
    AND EXISTS (SELECT 1 FROM tasks WHERE thread = :thread AND status = 'waiting')
    AND NOT EXISTS (SELECT 1 FROM tasks WHERE thread = :thread AND status = 'open')
"""


def schedule(connection: sqlite3.Connection, ref: int, tasks: Sequence[Task]) -> None:
    """Add open tasks to a thread."""
    for task in tasks:
        connection.execute(SCHEDULE, (ref, task.id, task.step, task.node, task.attempts))


def of_thread(connection: sqlite3.Connection, ref: int) -> tuple[Task, ...]:
    """The tasks that have not ended, or whose step has not closed, in the order of steps and ids."""
    rows: list[Row] = connection.execute(ALL, (ref,)).fetchall()
    return tuple(_task(row) for row in rows)


def is_open(connection: sqlite3.Connection, ref: int, task: str) -> bool:
    """Whether a task is scheduled and has not failed."""
    return connection.execute(IS_OPEN, (ref, task)).fetchone() is not None


def commit(connection: sqlite3.Connection, ref: int, claim: Claim, task: str, changes: bytes | None) -> bool:
    """Mark an open task as committed, until its step closes; whether it had asked. Raises `TaskClosed`."""
    return _asked(claim, task, connection.execute(COMMIT, (changes, ref, task)).fetchone())


def remove(connection: sqlite3.Connection, ref: int, claim: Claim, task: str) -> bool:
    """Remove an open task, which commits with its step; whether it had asked. Raises `TaskClosed`."""
    return _asked(claim, task, connection.execute(REMOVE_OPEN, (ref, task)).fetchone())


def remove_step(connection: sqlite3.Connection, ref: int, claim: Claim, step: int) -> None:
    """Remove the committed tasks of a step. Raises `TaskClosed` naming one that has not committed."""
    rows: list[tuple[str, str]] = connection.execute(OF_STEP, (ref, step)).fetchall()
    if not rows:
        return
    for task, status in rows:
        if status != TaskStatus.COMMITTED.value:
            raise TaskClosed(claim.thread, task)
    connection.execute(REMOVE_STEP, (ref, step))


def attempt(connection: sqlite3.Connection, claim: Claim, task: str) -> Task:
    """Count one more attempt of a task and open it. Raises `ClaimLost`, `TaskClosed`."""
    ref = claims.current(connection, claim)
    row: Row | None = connection.execute(ATTEMPT, (ref, task)).fetchone()
    if row is None:
        raise TaskClosed(claim.thread, task)
    set_thread_status(connection, ref, ThreadStatus.RUNNING)
    return _task(row)


def fail(connection: sqlite3.Connection, claim: Claim, task: str, failure: Failure) -> None:
    """Record why a task, or what follows a committed one, failed; the thread is failed then.

    Raises `ClaimLost`, `TaskClosed`.
    """
    ref = claims.current(connection, claim)
    values = (failure.error, failure.text, failure.traceback, failure.at_us, ref, task)
    if connection.execute(FAIL, values).rowcount == 0:
        raise TaskClosed(claim.thread, task)
    set_thread_status(connection, ref, ThreadStatus.FAILED)


def let_thread_wait(connection: sqlite3.Connection, ref: int) -> None:
    """Say that a running thread waits, if a task of it waits and none is open."""
    connection.execute(THREAD_WAITS, {"thread": ref})


def set_thread_status(connection: sqlite3.Connection, ref: int, status: ThreadStatus) -> None:
    """Say where the thread stands; nothing is written if it stands there already."""
    connection.execute(THREAD_STATUS, (status.value, ref, status.value))


def _asked(claim: Claim, task: str, row: tuple[int] | None) -> bool:
    if row is None:
        raise TaskClosed(claim.thread, task)
    return bool(row[0])


def _task(row: Row) -> Task:
    task, step, node, attempts, status, error, text, traceback, failed_us, changes = row
    failure = None
    if error is not None and text is not None and traceback is not None and failed_us is not None:
        failure = Failure(error=error, text=text, traceback=traceback, at_us=failed_us)
    return Task(
        id=task,
        step=step,
        node=node,
        attempts=attempts,
        status=TaskStatus(status),
        failure=failure,
        update=changes,
    )
