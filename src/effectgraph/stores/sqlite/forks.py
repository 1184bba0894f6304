"""Earlier states of a thread: read, forked from, forgotten."""

from __future__ import annotations

import sqlite3
from typing import Final

from effectgraph.stores.errors import StepUnknown, ThreadExists, ThreadUnknown, UnresolvedStands
from effectgraph.stores.keys import check_distinct, check_key_part
from effectgraph.stores.records import Fork, Piece, ThreadStatus
from effectgraph.stores.sqlite import claims, effects, state, tasks, threads

STEPS: Final = "SELECT ref, incarnation, kept_from, step FROM threads WHERE id = ?"
CREATE: Final = """
INSERT INTO threads (
    id, incarnation, graph, graph_version, graph_fingerprint, status, step, token, owner,
    kept_from, origin_thread, origin_incarnation, origin_step
)
SELECT ?, ?, graph, graph_version, graph_fingerprint, ?, ?, 0, NULL, ?, id, incarnation, ? FROM threads WHERE ref = ?
RETURNING ref
"""
LEFT_BEHIND: Final = f"""
SELECT e.task, e.call FROM history h
JOIN effects e ON e.scope = ? AND e.incarnation = ? AND e.task = h.task AND e.ended AND {effects.OPEN}
WHERE h.thread = ? AND h.step < ? ORDER BY e.task, e.call
"""
DROP: Final = "DELETE FROM effects WHERE scope = ? AND incarnation = ? AND task = ? AND call = ? AND ended"
FORGET_QUESTIONS: Final = """
DELETE FROM questions WHERE thread = ? AND ended AND task IN (SELECT task FROM history WHERE thread = ? AND step < ?)
"""
FORGET_HISTORY: Final = "DELETE FROM history WHERE thread = ? AND step < ?"
KEEP_FROM: Final = "UPDATE threads SET kept_from = ? WHERE ref = ?"

Steps = tuple[int, int, int, int]


def pieces(connection: sqlite3.Connection, store: str, thread: str, step: int) -> tuple[Piece, ...]:
    """A thread's state after a step. Raises `ThreadUnknown`, `StepUnknown`."""
    ref, *_ = _kept(connection, store, thread, step)
    return state.read_at(connection, ref, step)


def fork(connection: sqlite3.Connection, store: str, fork: Fork) -> None:
    """Make a thread of another one's state. Raises `ThreadUnknown`, `ThreadExists`, `StepUnknown`; `ValueError`."""
    check_key_part("thread id", fork.id)
    source, incarnation, *_ = _kept(connection, store, fork.source, fork.step)
    if incarnation != fork.incarnation:
        raise ThreadUnknown(f"{fork.source} of incarnation {fork.incarnation}", store)
    check_distinct(f"fork {fork.id}: task", (task.id for task in fork.tasks))
    there = claims.find(connection, fork.id)
    if there is not None:
        raise ThreadExists(fork.id, there.status)
    status = ThreadStatus.RUNNING if fork.tasks else ThreadStatus.DONE
    counted = threads.new_incarnation(connection)
    values = (fork.id, counted, status.value, fork.step, fork.step, fork.step, source)
    made: tuple[int] = connection.execute(CREATE, values).fetchone()
    state.copy(connection, source, fork.step, made[0])
    tasks.schedule(connection, made[0], fork.tasks)


def prune(connection: sqlite3.Connection, store: str, thread: str, before: int, *, drop_unresolved: bool) -> None:
    """Forget what only earlier states need. Raises `ThreadUnknown`, `StepUnknown`, `UnresolvedStands`."""
    ref, incarnation, *_ = _kept(connection, store, thread, before)
    left: list[tuple[str, str]] = connection.execute(LEFT_BEHIND, (thread, incarnation, ref, before)).fetchall()
    if left and not drop_unresolved:
        raise UnresolvedStands(thread, tuple(f"{task} / {call}" for task, call in left))
    for task, call in left:
        connection.execute(DROP, (thread, incarnation, task, call))
    connection.execute(FORGET_QUESTIONS, (ref, ref, before))
    connection.execute(FORGET_HISTORY, (ref, before))
    state.forget_before(connection, ref, before)
    connection.execute(KEEP_FROM, (before, ref))


def _kept(connection: sqlite3.Connection, store: str, thread: str, step: int) -> Steps:
    row: Steps | None = connection.execute(STEPS, (thread,)).fetchone()
    if row is None:
        raise ThreadUnknown(thread, store)
    _, _, kept_from, last = row
    if not kept_from <= step <= last:
        raise StepUnknown(thread, step, kept_from, last)
    return row
