"""Threads: made, run on, committed to, deleted."""

from __future__ import annotations

import sqlite3
from typing import Final

import msgspec

from effectgraph.stores.errors import ThreadExists, UnresolvedStands
from effectgraph.stores.keys import check_distinct
from effectgraph.stores.records import Claim, Closing, Commit, NewRun, NewThread, OwnerId, Piece, Task, ThreadStatus
from effectgraph.stores.sqlite import claims, effects, questions, state, tasks

NEW_INCARNATION: Final = "UPDATE store SET incarnation = incarnation + 1 RETURNING incarnation"
CREATE: Final = """
INSERT INTO threads (id, incarnation, graph, graph_version, graph_fingerprint, status, step, token, owner, kept_from)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
RETURNING ref
"""
NEXT_STEP: Final = """
UPDATE threads SET step = ? WHERE id = ? AND incarnation = ? AND token = ? AND owner = ? AND step < ? RETURNING ref
"""
STEP: Final = "SELECT step FROM threads WHERE ref = ?"
STATUS: Final = "SELECT status FROM threads WHERE ref = ?"
HISTORY: Final = "INSERT INTO history (thread, step, task, node, fields, effects, at_us) VALUES (?, ?, ?, ?, ?, ?, ?)"
DELETE: Final = (
    "DELETE FROM tasks WHERE thread = ?",
    "DELETE FROM fields WHERE thread = ?",
    "DELETE FROM heads WHERE thread = ?",
    "DELETE FROM history WHERE thread = ?",
    "DELETE FROM takes WHERE thread = ?",
    "DELETE FROM questions WHERE thread = ?",
    "DELETE FROM threads WHERE ref = ?",
)


def create(connection: sqlite3.Connection, thread: NewThread, owner: OwnerId) -> Claim:
    """Make a thread with its first run, claimed by `owner`. Raises `ThreadExists`."""
    found = claims.find(connection, thread.id)
    if found is not None:
        raise ThreadExists(thread.id, found.status)
    claim = Claim(
        thread=thread.id, incarnation=new_incarnation(connection), token=claims.new_token(connection), owner=owner
    )
    graph, run = thread.graph, thread.run
    status = _status(run.tasks)
    values = (
        thread.id, claim.incarnation, graph.name, graph.version, graph.fingerprint,
        status.value, run.step, claim.token, owner, run.step,
    )  # fmt: skip
    made: tuple[int] = connection.execute(CREATE, values).fetchone()
    _write(connection, made[0], run.step, run.pieces, run.tasks)
    return claim


def new_incarnation(connection: sqlite3.Connection) -> int:
    """A number that no thread of this store has had."""
    row: tuple[int] = connection.execute(NEW_INCARNATION).fetchone()
    return row[0]


def start(connection: sqlite3.Connection, claim: Claim, run: NewRun) -> None:
    """Begin another run. Raises `ClaimLost`; `ValueError` if the thread is not done or the step not later."""
    ref = _next_step(connection, claim, run.step)
    stands: tuple[str] = connection.execute(STATUS, (ref,)).fetchone()
    if stands[0] != ThreadStatus.DONE.value:
        why = f"it is {stands[0]}, and another run begins when it is done"
        raise ValueError(f"thread {claim.thread}: {why}; nothing was changed")
    _go_on(connection, ref, run.step, run.pieces, run.tasks)


def commit(connection: sqlite3.Connection, claim: Claim, commit: Commit) -> None:
    """End a task, with its step if the commit closes it.

    Raises `ClaimLost`, `TaskClosed`, and `ValueError` for a step that is not a later one.
    """
    if commit.closing is None:
        ref = claims.current(connection, claim)
        asked = tasks.commit(connection, ref, claim, commit.task, commit.update)
        tasks.let_thread_wait(connection, ref)
    else:
        ref = _next_step(connection, claim, commit.closing.step)
        asked = tasks.remove(connection, ref, claim, commit.task)
        _close(connection, ref, claim, commit.closing)
    if asked:
        questions.end_task(connection, ref, commit.task)
    summaries = effects.end_task(connection, claim, commit.task)
    fields = msgspec.json.encode(commit.fields).decode()
    connection.execute(HISTORY, (ref, commit.step, commit.task, commit.node, fields, summaries, commit.at_us))


def close(connection: sqlite3.Connection, claim: Claim, closing: Closing) -> None:
    """End a step whose tasks have all committed. Raises as `commit` does."""
    _close(connection, _next_step(connection, claim, closing.step), claim, closing)


def delete(connection: sqlite3.Connection, thread: str, found: claims.Found, *, drop_unresolved: bool) -> None:
    """Remove a thread with everything of it. Raises `UnresolvedStands` unless told to drop what is unresolved."""
    if not drop_unresolved:
        standing = effects.without_outcome(connection, thread, found.incarnation)
        if standing:
            raise UnresolvedStands(thread, standing)
    effects.remove_all(connection, thread, found.incarnation)
    for statement in DELETE:
        connection.execute(statement, (found.ref,))


def _next_step(connection: sqlite3.Connection, claim: Claim, step: int) -> int:
    values = (step, claim.thread, claim.incarnation, claim.token, claim.owner, step)
    row: tuple[int] | None = connection.execute(NEXT_STEP, values).fetchone()
    if row is not None:
        return row[0]
    ref = claims.current(connection, claim)
    stands: tuple[int] = connection.execute(STEP, (ref,)).fetchone()
    raise ValueError(f"thread {claim.thread}: step {step} does not come after step {stands[0]}; nothing was changed")


def _close(connection: sqlite3.Connection, ref: int, claim: Claim, closing: Closing) -> None:
    tasks.remove_step(connection, ref, claim, closing.step)
    _go_on(connection, ref, closing.step, closing.pieces, closing.tasks)


def _go_on(
    connection: sqlite3.Connection, ref: int, step: int, pieces: tuple[Piece, ...], scheduled: tuple[Task, ...]
) -> None:
    _write(connection, ref, step, pieces, scheduled)
    tasks.set_thread_status(connection, ref, _status(scheduled))


def _write(
    connection: sqlite3.Connection, ref: int, step: int, pieces: tuple[Piece, ...], scheduled: tuple[Task, ...]
) -> None:
    check_distinct(f"step {step}: field", (piece.field for piece in pieces))
    check_distinct(f"step {step}: task", (task.id for task in scheduled))
    state.write(connection, ref, step, pieces)
    tasks.schedule(connection, ref, scheduled)


def _status(scheduled: tuple[Task, ...]) -> ThreadStatus:
    return ThreadStatus.RUNNING if scheduled else ThreadStatus.DONE
