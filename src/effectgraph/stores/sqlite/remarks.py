"""Remarks: outcomes that came too late to be evidence."""

from __future__ import annotations

import sqlite3
from typing import Final

from effectgraph.stores.keys import EffectKey
from effectgraph.stores.limits import REMARKS
from effectgraph.stores.records import How, Outcome, OwnerId, Remark

OF_KEY: Final = "scope = :scope AND incarnation = :incarnation AND task = :task AND call = :call"
ADD: Final = f"""
INSERT INTO remarks (
    scope, incarnation, task, call, number,
    owner, token, attempt, outcome, outcome_schema, how, settled_us, text, at_us
)
SELECT :scope, :incarnation, :task, :call, n.kept,
    :owner, :token, :attempt, :outcome, :outcome_schema, :how, :settled_us, :text, :at_us
FROM (SELECT count(*) AS kept FROM remarks WHERE {OF_KEY}) n WHERE n.kept < :most
"""
OF_EFFECT: Final = """
SELECT owner, token, attempt, outcome, outcome_schema, how, settled_us, text, at_us FROM remarks
WHERE scope = ? AND incarnation = ? AND task = ? AND call = ? ORDER BY number
"""
REMOVE: Final = "DELETE FROM remarks WHERE scope = ? AND incarnation = ? AND task = ? AND call = ?"
REMOVE_ALL: Final = "DELETE FROM remarks WHERE scope = ? AND incarnation = ?"

Row = tuple[OwnerId, int, int, bytes | None, str, str, int, str, int]


def add(connection: sqlite3.Connection, remark: Remark) -> None:
    """Keep a remark, if its effect has not as many as are kept of one."""
    key, outcome = remark.key, remark.outcome
    values = {
        "scope": key.scope,
        "incarnation": remark.incarnation,
        "task": key.task,
        "call": key.call,
        "owner": remark.owner,
        "token": remark.token,
        "attempt": remark.attempt,
        "outcome": outcome.value,
        "outcome_schema": outcome.schema,
        "how": outcome.how.value,
        "settled_us": outcome.at_us,
        "text": remark.text,
        "at_us": remark.at_us,
        "most": REMARKS,
    }
    connection.execute(ADD, values)


def of_effect(connection: sqlite3.Connection, key: EffectKey, incarnation: int) -> tuple[Remark, ...]:
    """The remarks on an effect, in the order of coming."""
    rows: list[Row] = connection.execute(OF_EFFECT, (key.scope, incarnation, key.task, key.call)).fetchall()
    return tuple(
        Remark(
            key=key,
            incarnation=incarnation,
            owner=owner,
            token=token,
            attempt=attempt,
            outcome=Outcome(value=value, schema=schema, how=How(how), at_us=settled_us),
            text=text,
            at_us=at_us,
        )
        for owner, token, attempt, value, schema, how, settled_us, text, at_us in rows
    )


def remove(connection: sqlite3.Connection, key: EffectKey, incarnation: int) -> None:
    """Remove the remarks on an effect."""
    connection.execute(REMOVE, (key.scope, incarnation, key.task, key.call))


def remove_all(connection: sqlite3.Connection, thread: str, incarnation: int) -> None:
    """Remove the remarks on all effects of a thread."""
    connection.execute(REMOVE_ALL, (thread, incarnation))
