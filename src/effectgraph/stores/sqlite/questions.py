"""Questions: what tasks wait for, and what was answered."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from effectgraph.stores.errors import QuestionClosed, QuestionUnknown, TaskClosed
from effectgraph.stores.keys import check_distinct, check_key_part
from effectgraph.stores.records import Answer, Asked, Claim, Question, QuestionId
from effectgraph.stores.sqlite import claims, tasks

MARK_ASKED: Final = "UPDATE tasks SET asked = 1 WHERE thread = ? AND id = ? AND status = 'open'"
ADD: Final = """
INSERT INTO questions (id, thread, task, number, content, schema, asked_us, expires_us, default_answer)
SELECT :id, :thread, :task, coalesce(max(number), 0) + 1, :content, :schema, :asked_us, :expires_us, :default_answer
FROM questions WHERE thread = :thread
ON CONFLICT DO NOTHING
"""
COLUMNS: Final = """t.id, q.task, q.id, q.content, q.schema, q.asked_us, q.expires_us, q.default_answer,
q.answer, q.answer_schema, q.answered_by, q.answered_us, q.ended"""
Row = tuple[
    str, str, QuestionId, bytes, str, int, int | None, bytes | None,
    bytes | None, str | None, str | None, int | None, int,
]  # fmt: skip
SELECT: Final = f"SELECT {COLUMNS} FROM questions q JOIN threads t ON t.ref = q.thread"

FIND: Final = f"{SELECT} WHERE q.id = ?"
OF_THREAD: Final = f"{SELECT} WHERE q.thread = ? AND q.ended = ? ORDER BY q.number"
PENDING: Final = f"{SELECT} WHERE q.answered_us IS NULL AND NOT q.ended AND q.id > ? ORDER BY q.id LIMIT ?"
DUE: Final = f"""
{SELECT} WHERE q.answered_us IS NULL AND NOT q.ended AND q.expires_us IS NOT NULL AND q.expires_us <= ?
ORDER BY q.expires_us, q.id LIMIT ?
"""
WAITS: Final = """
UPDATE tasks SET status = 'waiting' WHERE thread = :thread AND id = :task AND status = 'open' AND EXISTS (
    SELECT 1 FROM questions WHERE thread = :thread AND task = :task AND answered_us IS NULL AND NOT ended
)
"""
ANSWER: Final = """
UPDATE questions SET answer = ?, answer_schema = ?, answered_by = ?, answered_us = ?
WHERE id = ? AND answered_us IS NULL AND NOT ended
RETURNING thread, task
"""
GOES_ON: Final = """
UPDATE tasks SET status = 'open' WHERE thread = :thread AND id = :task AND status = 'waiting' AND NOT EXISTS (
    SELECT 1 FROM questions WHERE thread = :thread AND task = :task AND answered_us IS NULL AND NOT ended
)
"""
THREAD_GOES_ON: Final = "UPDATE threads SET status = 'running' WHERE ref = ? AND status = 'waiting'"
END_TASK: Final = "UPDATE questions SET ended = 1 WHERE thread = ? AND task = ?"


def ask(connection: sqlite3.Connection, claim: Claim, task: str, questions: Sequence[Question]) -> tuple[Asked, ...]:
    """Write down what an open task waits for. Raises `ClaimLost`, `TaskClosed`, `QuestionClosed`; `ValueError`."""
    if not questions:
        raise ValueError(f"thread {claim.thread}, task {task}: nothing is asked; give a question")
    check_distinct(f"thread {claim.thread}, task {task}: question", (question.id for question in questions))
    ref = claims.current(connection, claim)
    if connection.execute(MARK_ASKED, (ref, task)).rowcount == 0:
        raise TaskClosed(claim.thread, task)
    asked = tuple(_ask(connection, ref, claim, task, question) for question in questions)
    if connection.execute(WAITS, {"thread": ref, "task": task}).rowcount:
        tasks.let_thread_wait(connection, ref)
    return asked


def answer(connection: sqlite3.Connection, store: str, question: QuestionId, given: Answer) -> Asked:
    """Answer a question; its task goes on if it was the last one. Raises `QuestionUnknown`, `QuestionClosed`."""
    values = (given.value, given.schema, given.by, given.at_us, question)
    row: tuple[int, str] | None = connection.execute(ANSWER, values).fetchone()
    asked = find(connection, question)
    if asked is None:
        raise QuestionUnknown(question, store)
    if row is None:
        why = "its task has ended" if asked.answer is None else f"{asked.answer.by} has answered it"
        raise QuestionClosed(question, asked.thread, why)
    thread, task = row
    if connection.execute(GOES_ON, {"thread": thread, "task": task}).rowcount:
        connection.execute(THREAD_GOES_ON, (thread,))
    return asked


def find(connection: sqlite3.Connection, question: QuestionId) -> Asked | None:
    """A question as it stands."""
    row: Row | None = connection.execute(FIND, (question,)).fetchone()
    return None if row is None else _asked(row)


def of_thread(connection: sqlite3.Connection, ref: int, *, ended: bool) -> tuple[Asked, ...]:
    """A thread's questions, of tasks that have ended or of those that have not, in the order of asking."""
    return _all(connection, OF_THREAD, (ref, ended))


def pending(connection: sqlite3.Connection, limit: int, after: QuestionId | None) -> tuple[Asked, ...]:
    """Questions without an answer, in the order of their ids."""
    return _all(connection, PENDING, (after or "", limit))


def due(connection: sqlite3.Connection, until_us: int, limit: int) -> tuple[Asked, ...]:
    """Questions without an answer that have expired, the earliest first."""
    return _all(connection, DUE, (until_us, limit))


def end_task(connection: sqlite3.Connection, ref: int, task: str) -> None:
    """Leave a task's questions to history."""
    connection.execute(END_TASK, (ref, task))


def _ask(connection: sqlite3.Connection, ref: int, claim: Claim, task: str, question: Question) -> Asked:
    check_key_part("question id", question.id)
    values = {
        "id": question.id,
        "thread": ref,
        "task": task,
        "content": question.content,
        "schema": question.schema,
        "asked_us": question.at_us,
        "expires_us": question.expires_us,
        "default_answer": question.default,
    }
    connection.execute(ADD, values)
    asked = find(connection, question.id)
    if asked is None or (asked.thread, asked.task, asked.ended) != (claim.thread, task, False):
        who = "nobody" if asked is None else f"task {asked.task} of thread {asked.thread}"
        thread = claim.thread if asked is None else asked.thread
        raise QuestionClosed(question.id, thread, f"{who} has asked under that id before; give it another")
    return asked


def _all(connection: sqlite3.Connection, statement: str, values: tuple[object, ...]) -> tuple[Asked, ...]:
    rows: list[Row] = connection.execute(statement, values).fetchall()
    return tuple(map(_asked, rows))


def _asked(row: Row) -> Asked:
    thread, task, name, content, schema, asked_us, expires_us, default, value, value_schema, by, at_us, ended = row
    question = Question(id=name, content=content, schema=schema, at_us=asked_us, expires_us=expires_us, default=default)
    given = None
    if value is not None and value_schema is not None and by is not None and at_us is not None:
        given = Answer(value=value, schema=value_schema, by=by, at_us=at_us)
    return Asked(thread=thread, task=task, question=question, answer=given, ended=bool(ended))
