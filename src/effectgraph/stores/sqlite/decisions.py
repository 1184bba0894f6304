"""Decisions of people on effects without outcome, kept for ever."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

import attrs
import msgspec

from effectgraph.stores.errors import DecisionConflict, DecisionRefused, EffectAtWork, EvidenceChanged
from effectgraph.stores.keys import check_key_part
from effectgraph.stores.records import Decided, Decision, Evidence, How, Outcome, OwnerId, Ruling
from effectgraph.stores.sqlite import effects

FIND: Final = "SELECT number, decision, before, after FROM decisions WHERE id = ?"
ADD: Final = """
INSERT INTO decisions (id, scope, task, call, decision, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
LIST: Final = "SELECT number, decision, before, after FROM decisions WHERE number > ? ORDER BY number LIMIT ?"
CLAIM: Final = "SELECT token, owner FROM threads WHERE id = ? AND incarnation = ?"
CHANGE: Final = f"""
UPDATE effects
SET outcome = :outcome, outcome_schema = :outcome_schema, how = :how, settled_us = :settled_us,
    trouble = :trouble, uncertain = :uncertain, granted = :granted, version = version + 1
WHERE {effects.KEY}
"""
REMOVE: Final = f"DELETE FROM effects WHERE {effects.KEY}"

Row = tuple[int, str, str, str]
Holder = tuple[int, OwnerId | None]

_decisions: Final = msgspec.json.Decoder(Decision)
_evidences: Final = msgspec.json.Decoder(Evidence)


def decide(connection: sqlite3.Connection, decision: Decision, alive: Callable[[OwnerId], bool]) -> Evidence:
    """Rule on an effect. Raises `EvidenceChanged`, `EffectAtWork`, `DecisionConflict`, `DecisionRefused`."""
    check_key_part("decision id", decision.id)
    key = decision.key
    found = effects.find(connection, key, decision.incarnation)
    row: Row | None = connection.execute(FIND, (decision.id,)).fetchone()
    if row is not None:
        earlier = _decided(row).decision
        if _content(earlier) != _content(decision):
            told = f"{earlier.ruling.value} of effect {earlier.key} by {earlier.by}"
            raise DecisionConflict(decision.id, str(key), told)
        return _evidences.decode(row[3]) if found is None else found
    if found is None or found.version != decision.seen:
        raise EvidenceChanged(str(key), decision.seen, None if found is None else found.version)
    if why := _misfit(decision, found):
        raise DecisionRefused(decision.id, str(key), why)
    if not is_left(found, holder(connection, found), alive):
        raise EffectAtWork(str(key), found.owner, found.token)
    after = _ruled(decision, found)
    _write(connection, found, after)
    values = (decision.id, key.scope, key.task, key.call, _text(decision), _text(found), _text(after))
    connection.execute(ADD, values)
    return after


def listed(connection: sqlite3.Connection, limit: int, after: int) -> tuple[Decided, ...]:
    """Decisions in the order in which they were made."""
    rows: list[Row] = connection.execute(LIST, (after, limit)).fetchall()
    return tuple(map(_decided, rows))


def holder(connection: sqlite3.Connection, evidence: Evidence) -> Holder | None:
    """Token and owner of the thread that an effect belongs to; None outside a runtime, or if the thread is gone."""
    if evidence.token == 0:
        return None
    row: Holder | None = connection.execute(CLAIM, (evidence.key.scope, evidence.incarnation)).fetchone()
    return row


def is_left(evidence: Evidence, held: Holder | None, alive: Callable[[OwnerId], bool]) -> bool:
    """Whether nobody is at work on an intent without outcome."""
    if evidence.ended or evidence.trouble is not None or evidence.granted or evidence.uncertain is not None:
        return True
    if evidence.token > 0 and (held is None or held[0] != evidence.token or held[1] is None):
        return True
    return not alive(evidence.owner)


def _misfit(decision: Decision, found: Evidence) -> str | None:
    if found.outcome is not None:
        return f"it has an outcome (by {found.outcome.how.value}); there is nothing to decide"
    if (decision.ruling is Ruling.COMPLETE) != (decision.outcome is not None):
        return "give it the outcome" if decision.outcome is None else f"{decision.ruling.value} takes no outcome"
    match decision.ruling:
        case Ruling.RETRY if found.granted:
            return "one more attempt is granted already"
        case Ruling.RETRY if found.uncertain is not None:
            return "it was given up on, which is final; it can only be completed"
        case Ruling.RETRY if found.ended:
            return "its task has ended, so nobody would try; complete or abandon it"
        case Ruling.WITHDRAW if not found.granted:
            return "there is no grant to take back"
        case Ruling.ABANDON if found.uncertain is How.DECISION:
            return "a person gave up on it before"
        case _:
            return None


def _ruled(decision: Decision, found: Evidence) -> Evidence:
    newer = attrs.evolve(found, version=found.version + 1)
    match decision.ruling:
        case Ruling.COMPLETE:
            return attrs.evolve(newer, outcome=decision.outcome, trouble=None, uncertain=None, granted=False)
        case Ruling.RETRY:
            return attrs.evolve(newer, granted=True)
        case Ruling.WITHDRAW:
            return attrs.evolve(newer, granted=False)
        case Ruling.ABANDON:
            return attrs.evolve(newer, uncertain=How.DECISION, granted=False)


def _write(connection: sqlite3.Connection, found: Evidence, after: Evidence) -> None:
    key, outcome = found.key, after.outcome
    where = {"scope": key.scope, "incarnation": found.incarnation, "task": key.task, "call": key.call}
    if found.ended:
        # No run looks at it again, and nobody has to decide any more.
        connection.execute(REMOVE, where)
        return
    values = where | {
        "outcome": None if outcome is None else outcome.value,
        "outcome_schema": None if outcome is None else outcome.schema,
        "how": None if outcome is None else outcome.how.value,
        "settled_us": None if outcome is None else outcome.at_us,
        "trouble": after.trouble,
        "uncertain": None if after.uncertain is None else after.uncertain.value,
        "granted": after.granted,
    }
    connection.execute(CHANGE, values)


def _content(decision: Decision) -> Decision:
    """A decision without its times: who sends it again may take the time again."""
    outcome = decision.outcome
    timeless: Outcome | None = None if outcome is None else attrs.evolve(outcome, at_us=0)
    return attrs.evolve(decision, at_us=0, outcome=timeless)


def _decided(row: Row) -> Decided:
    number, decision, before, _ = row
    return Decided(number=number, decision=_decisions.decode(decision), before=_evidences.decode(before))


def _text(record: Decision | Evidence) -> str:
    return msgspec.json.encode(record).decode()
