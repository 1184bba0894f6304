"""Readings: what stands in the file, for people and for those who look for work."""

from __future__ import annotations

import functools
import heapq
import sqlite3
from collections.abc import Iterator
from itertools import islice
from typing import Final

import msgspec

from effectgraph.stores.errors import ThreadUnknown
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.owners import Owner
from effectgraph.stores.records import Evidence, GraphStamp, HistoryEntry, Origin, OwnerId, ThreadStatus, ThreadView
from effectgraph.stores.sqlite import decisions, effects, questions, state, tasks

THREAD: Final = """
SELECT ref, incarnation, graph, graph_version, graph_fingerprint, status, step, token, owner,
    kept_from, origin_thread, origin_incarnation, origin_step
FROM threads WHERE id = ?
"""
REF: Final = "SELECT ref FROM threads WHERE id = ?"
HISTORY: Final = """
SELECT step, task, node, fields, effects, at_us FROM history WHERE thread = ? ORDER BY step, task
"""
NEXT_OWNER: Final = "SELECT min(owner) FROM threads WHERE status = 'running' AND graph = ? AND owner > ?"
RUNNING: Final = """
SELECT id FROM threads WHERE status = 'running' AND graph = ? AND owner IS ? AND id > ? ORDER BY id
"""
HELD: Final = "SELECT token FROM threads WHERE id = ? AND status = 'running' AND graph = ? AND owner = ?"
WITHOUT_OUTCOME: Final = f"""
SELECT t.token, t.owner, {", ".join("e." + column.strip() for column in effects.COLUMNS.split(","))}
FROM effects e LEFT JOIN threads t ON e.token > 0 AND t.id = e.scope AND t.incarnation = e.incarnation
WHERE e.settled_us IS NULL AND e.uncertain IS NOT 'decision' AND (e.scope, e.task, e.call) > (?, ?, ?)
ORDER BY e.scope, e.task, e.call
"""

fields: Final = msgspec.json.Decoder(tuple[str, ...])

Row = tuple[
    int, int, str, int, str, str, int, int, OwnerId | None, int, str | None, int | None, int | None
]  # fmt: skip
Page = tuple[int | None, OwnerId | None, *effects.Row]


def thread(connection: sqlite3.Connection, store: str, name: str) -> ThreadView:
    """A thread as it stands. Raises `ThreadUnknown`."""
    row: Row | None = connection.execute(THREAD, (name,)).fetchone()
    if row is None:
        raise ThreadUnknown(name, store)
    ref, incarnation, graph, graph_version, graph_fingerprint, status, step, token, owner, kept_from = row[:10]
    return ThreadView(
        id=name,
        incarnation=incarnation,
        graph=GraphStamp(name=graph, version=graph_version, fingerprint=graph_fingerprint),
        status=ThreadStatus(status),
        step=step,
        token=token,
        owner=owner,
        pieces=state.read(connection, ref),
        tasks=tasks.of_thread(connection, ref),
        questions=questions.of_thread(connection, ref, ended=False),
        kept_from=kept_from,
        origin=_origin(*row[10:]),
    )


def history(connection: sqlite3.Connection, store: str, name: str) -> tuple[HistoryEntry, ...]:
    """The committed tasks of a thread, oldest first. Raises `ThreadUnknown`."""
    found: tuple[int] | None = connection.execute(REF, (name,)).fetchone()
    if found is None:
        raise ThreadUnknown(name, store)
    rows: list[tuple[int, str, str, str, str | None, int]] = connection.execute(HISTORY, found).fetchall()
    asked = questions.of_thread(connection, found[0], ended=True)
    return tuple(
        HistoryEntry(
            step=step,
            task=task,
            node=node,
            fields=fields.decode(changed),
            effects=effects.summed_up(task, summary),
            at_us=at_us,
            questions=tuple(each for each in asked if each.task == task),
        )
        for step, task, node, changed, summary, at_us in rows
    )


def runnable(connection: sqlite3.Connection, own: Owner, graph: str, limit: int, after: str) -> tuple[str, ...]:
    """Ids of a graph's running threads whose run does not go on, in order: from the index of those, owner by owner."""
    listed = [
        _of_owner(connection, holder, graph, after)
        for holder in _holders(connection, graph)
        if holder is None or not own.alive(holder)
    ]
    return tuple(islice(heapq.merge(*listed, _unreleased(connection, own, graph, after)), limit))


def unresolved(connection: sqlite3.Connection, own: Owner, limit: int, after: EffectKey | None) -> tuple[Evidence, ...]:
    """Intents without outcome that nobody is at work on, in the order of keys."""
    alive = functools.cache(own.alive)
    behind = ("", "", "") if after is None else (after.scope, after.task, after.call)
    found: list[Evidence] = []
    row: Page
    for row in connection.execute(WITHOUT_OUTCOME, behind):
        token, holder, *_ = row
        record = effects.evidence(row[2:])
        # A page ends between keys: one scope can have had two incarnations, and the next page begins behind the key.
        if len(found) >= limit and record.key != found[-1].key:
            break
        held = None if token is None else (token, holder)
        if decisions.is_left(record, held, alive):
            found.append(record)
    return tuple(found)


def _origin(thread: str | None, incarnation: int | None, step: int | None) -> Origin | None:
    if thread is None or incarnation is None or step is None:
        return None
    return Origin(thread=thread, incarnation=incarnation, step=step)


def _holders(connection: sqlite3.Connection, graph: str) -> Iterator[OwnerId | None]:
    yield None
    holder = OwnerId("")
    while True:
        row: tuple[OwnerId | None] = connection.execute(NEXT_OWNER, (graph, holder)).fetchone()
        if row[0] is None:
            return
        holder = row[0]
        yield holder


def _of_owner(connection: sqlite3.Connection, holder: OwnerId | None, graph: str, after: str) -> Iterator[str]:
    row: tuple[str]
    for row in connection.execute(RUNNING, (graph, holder, after)):
        yield row[0]


def _unreleased(connection: sqlite3.Connection, own: Owner, graph: str, after: str) -> Iterator[str]:
    for name in sorted(own.unreleased):
        row: tuple[int] | None = connection.execute(HELD, (name, graph, own.id)).fetchone()
        if name > after and row is not None and row[0] not in own.runs:
            yield name
