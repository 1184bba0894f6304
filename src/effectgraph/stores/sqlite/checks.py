"""What must fit together in a store file, as queries that find what does not."""

from __future__ import annotations

import sqlite3
from typing import Final

SHOWN: Final = 20
"""Findings of one rule that are told one by one; a damaged file has thousands, and the first ones say which rule."""

INTEGRITY: Final = "PRAGMA integrity_check"

_THREAD_OF: Final = "SELECT 1 FROM threads t WHERE t.ref = x.thread"

RULES: Final[tuple[tuple[str, str], ...]] = (
    (
        "the store has not exactly one row of its own",
        "SELECT 1 WHERE (SELECT count(*) FROM store) <> 1",
    ),
    (
        "thread {}: its token is greater than the newest of the store",
        "SELECT id FROM threads WHERE token > (SELECT token FROM store)",
    ),
    (
        "thread {}: its incarnation is greater than the newest of the store",
        "SELECT id FROM threads WHERE incarnation > (SELECT incarnation FROM store)",
    ),
    (
        "thread {}: it keeps steps from {} on, and its last step is {}",
        "SELECT id, kept_from, step FROM threads WHERE kept_from > step",
    ),
    (
        "thread {}: it is running, and no task of it is open",
        """SELECT id FROM threads t WHERE status = 'running'
        AND NOT EXISTS (SELECT 1 FROM tasks k WHERE k.thread = t.ref AND k.status IN ('open', 'committed'))""",
    ),
    (
        "thread {}: it is waiting, and a task of it is open, or none waits",
        """SELECT id FROM threads t WHERE status = 'waiting'
        AND (EXISTS (SELECT 1 FROM tasks k WHERE k.thread = t.ref AND k.status = 'open')
            OR NOT EXISTS (SELECT 1 FROM tasks k WHERE k.thread = t.ref AND k.status = 'waiting'))""",
    ),
    (
        "thread {}: it is done, and task {} is left",
        "SELECT t.id, k.id FROM threads t JOIN tasks k ON k.thread = t.ref WHERE t.status = 'done'",
    ),
    (
        "thread {}: its status is {}",
        "SELECT id, status FROM threads WHERE status NOT IN ('running', 'waiting', 'done', 'failed')",
    ),
    (
        "thread {}, task {}: it waits, and no question of it is without an answer",
        """SELECT t.id, k.id FROM tasks k JOIN threads t ON t.ref = k.thread WHERE k.status = 'waiting'
        AND NOT EXISTS (SELECT 1 FROM questions q WHERE q.thread = k.thread AND q.task = k.id
            AND q.answered_us IS NULL AND NOT q.ended)""",
    ),
    (
        "thread {}, task {}: its status is {}",
        """SELECT t.id, k.id, k.status FROM tasks k JOIN threads t ON t.ref = k.thread
        WHERE k.status NOT IN ('open', 'waiting', 'failed', 'committed')""",
    ),
    (
        "thread {}, question {}: its task {} is gone, or has never asked",
        """SELECT t.id, q.id, q.task FROM questions q JOIN threads t ON t.ref = q.thread WHERE NOT q.ended
        AND NOT EXISTS (SELECT 1 FROM tasks k WHERE k.thread = q.thread AND k.id = q.task AND k.asked)""",
    ),
    (
        "question {}: half an answer is there",
        """SELECT id FROM questions WHERE (answered_us IS NULL) <> (answer IS NULL)
        OR (answered_us IS NULL) <> (answered_by IS NULL) OR (answered_us IS NULL) <> (answer_schema IS NULL)""",
    ),
    (
        "thread {}, field {}: its value begins at step {}, of which there is no piece",
        """SELECT t.id, h.field, h.base_step FROM heads h JOIN threads t ON t.ref = h.thread
        WHERE NOT EXISTS (SELECT 1 FROM fields f
            WHERE f.thread = h.thread AND f.field = h.field AND f.step = h.base_step)""",
    ),
    (
        "thread {}, field {}: it has pieces, and nothing says where its value begins",
        """SELECT DISTINCT t.id, f.field FROM fields f JOIN threads t ON t.ref = f.thread
        WHERE NOT EXISTS (SELECT 1 FROM heads h WHERE h.thread = f.thread AND h.field = f.field)""",
    ),
    (
        "thread {}, field {}: a value that replaced all before it lies behind the step where its value begins",
        """SELECT DISTINCT t.id, f.field FROM fields f JOIN threads t ON t.ref = f.thread
        JOIN heads h ON h.thread = f.thread AND h.field = f.field WHERE f.step > h.base_step AND NOT f.appended""",
    ),
    (
        "thread {}, field {}: a piece of step {} lies behind its last step",
        """SELECT t.id, f.field, f.step FROM fields f JOIN threads t ON t.ref = f.thread WHERE f.step > t.step""",
    ),
    *(
        (
            f"{table}: rows of thread number {{}}, which is not there",
            f"""SELECT DISTINCT x.thread FROM {table} x
        WHERE NOT EXISTS ({_THREAD_OF})""",
        )
        for table in ("tasks", "fields", "heads", "history", "takes", "questions")
    ),
    (
        "effect {} / {} / {}: its token is greater than the newest of the store",
        "SELECT scope, task, call FROM effects WHERE token > (SELECT token FROM store)",
    ),
    (
        "effect {} / {} / {}: its thread is gone",
        """SELECT scope, task, call FROM effects e WHERE token > 0
        AND NOT EXISTS (SELECT 1 FROM threads t WHERE t.id = e.scope AND t.incarnation = e.incarnation)""",
    ),
    (
        "effect {} / {} / {}: its task is gone, and it is not marked as ended",
        """SELECT e.scope, e.task, e.call
        FROM effects e JOIN threads t ON t.id = e.scope AND t.incarnation = e.incarnation
        WHERE e.token > 0 AND NOT e.ended
        AND NOT EXISTS (SELECT 1 FROM tasks k WHERE k.thread = t.ref AND k.id = e.task AND k.status <> 'committed')""",
    ),
    (
        "effect {} / {} / {}: it is marked as ended, and there is nothing left to decide",
        """SELECT scope, task, call FROM effects WHERE ended
        AND (settled_us IS NOT NULL OR uncertain IS 'decision' OR granted)""",
    ),
    (
        "effect {} / {} / {}: half an outcome is there",
        """SELECT scope, task, call FROM effects WHERE (settled_us IS NULL) <> (how IS NULL)
        OR (settled_us IS NULL) <> (outcome_schema IS NULL) OR (settled_us IS NULL AND outcome IS NOT NULL)""",
    ),
    (
        "effect {} / {} / {}: it has an outcome, and is granted or uncertain",
        """SELECT scope, task, call FROM effects
        WHERE settled_us IS NOT NULL AND (granted OR uncertain IS NOT NULL)""",
    ),
    (
        "effect {} / {} / {}: half a plan is there",
        """SELECT scope, task, call FROM effects
        WHERE (before IS NULL) <> (after IS NULL) OR (before IS NULL) <> (presumed IS NULL)""",
    ),
    (
        "remarks on effect {} / {} / {}: its thread is gone",
        """SELECT DISTINCT scope, task, call FROM remarks r WHERE token > 0
        AND NOT EXISTS (SELECT 1 FROM threads t WHERE t.id = r.scope AND t.incarnation = r.incarnation)""",
    ),
)
"""A sentence for what is wrong, and the query that finds it: its columns fill the sentence."""


def findings(connection: sqlite3.Connection) -> tuple[str, ...]:
    """What does not fit together, in plain words. Reads the whole file."""
    damaged: list[tuple[str]] = connection.execute(INTEGRITY).fetchall()
    if damaged != [("ok",)]:
        return tuple(f"the file is damaged: {text}" for (text,) in damaged[:SHOWN])
    found: list[str] = []
    for sentence, query in RULES:
        rows: list[tuple[object, ...]] = connection.execute(query).fetchmany(SHOWN + 1)
        found.extend(sentence.format(*row) for row in rows[:SHOWN])
        if len(rows) > SHOWN:
            found.append(f"... and more like it: {sentence}")
    return tuple(found)
