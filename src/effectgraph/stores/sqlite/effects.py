"""Effects: intents, outcomes, and what becomes of them when their task ends."""

from __future__ import annotations

import sqlite3
from typing import Final

import msgspec

from effectgraph.stores.errors import EvidenceChanged, TaskClosed, UnresolvedStands
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.records import (
    OUTSIDE,
    Begun,
    Claim,
    EffectSummary,
    Evidence,
    How,
    Intent,
    Kind,
    Landing,
    Outcome,
    OwnerId,
    Plan,
)
from effectgraph.stores.sqlite import claims, remarks, tasks

COLUMNS: Final = """scope, incarnation, task, call, kind, tool, fingerprint, request, schema, begun_us,
before, after, presumed, earlier, owner, token, attempt, version,
outcome, outcome_schema, how, settled_us, trouble, ended, uncertain, granted"""
Row = tuple[
    str, int, str, str, str, str, str, bytes, str, int,
    str | None, str | None, bytes | None, str | None, OwnerId, int, int, int,
    bytes | None, str | None, str | None, int | None, str | None, int, str | None, int,
]  # fmt: skip

KEY: Final = "scope = :scope AND incarnation = :incarnation AND task = :task AND call = :call"
SEEN: Final = f"{KEY} AND version = :seen AND settled_us IS NULL"
GIVEN_UP: Final = "uncertain IS 'decision'"
OPEN: Final = "settled_us IS NULL AND uncertain IS NOT 'decision'"
"""Without an outcome, and no person has given up on it."""
MAY: Final = """(:token = 0 OR EXISTS (
    SELECT 1 FROM threads t JOIN tasks k ON k.thread = t.ref
    WHERE t.id = :scope AND t.incarnation = :incarnation AND t.token = :token AND t.owner = :owner
        AND k.id = :task AND k.status = 'open'
))"""
"""The claim is the current one and the task is open; nothing fences token 0."""

FIRST_INTENT: Final = f"""
INSERT INTO effects ({COLUMNS})
SELECT :scope, :incarnation, :task, :call, :kind, :tool, :fingerprint, :request, :schema, :begun_us,
    :before, :after, :presumed, :earlier, :owner, :token, 1, (SELECT versions FROM store) + 1,
    NULL, NULL, NULL, NULL, NULL, 0, NULL, 0
WHERE {MAY}
ON CONFLICT DO NOTHING
RETURNING version
"""
NEXT_INTENT: Final = f"""
UPDATE effects
SET kind = :kind, tool = :tool, fingerprint = :fingerprint, request = :request, schema = :schema, begun_us = :begun_us,
    before = :before, after = :after, presumed = :presumed, earlier = :earlier, owner = :owner, token = :token,
    attempt = attempt + 1, version = version + 1, trouble = NULL, granted = 0
WHERE {SEEN} AND {MAY}
RETURNING attempt, version
"""
SETTLE: Final = f"""
UPDATE effects
SET outcome = :outcome, outcome_schema = :outcome_schema, how = :how, settled_us = :settled_us, trouble = NULL,
    version = version + 1
WHERE {SEEN} AND {MAY}
"""
TROUBLE: Final = f"UPDATE effects SET trouble = :trouble, version = version + 1 WHERE {SEEN} AND {MAY}"
UNCERTAIN: Final = f"""
UPDATE effects SET uncertain = 'reconcile', granted = 0, version = version + 1 WHERE {SEEN} AND {MAY}
"""
WITHDRAW: Final = f"DELETE FROM effects WHERE {SEEN} AND {MAY}"
DROP: Final = f"DELETE FROM effects WHERE {KEY} AND (settled_us IS NOT NULL OR {GIVEN_UP}) RETURNING version"
RAISE_VERSIONS: Final = "UPDATE store SET versions = max(versions, ?)"
"""So that a key which begins anew has a version that nobody has seen of it."""
FIND: Final = f"SELECT {COLUMNS} FROM effects WHERE {KEY}"

OF_THREAD: Final = f"SELECT {COLUMNS} FROM effects WHERE scope = ? AND incarnation = ? AND NOT ended"
OF_TASK: Final = """
SELECT call, tool, kind, CASE WHEN uncertain = 'decision' THEN uncertain ELSE how END, attempt, begun_us, settled_us
FROM effects WHERE scope = ? AND incarnation = ? AND task = ? ORDER BY call
"""
Summary = tuple[str, str, str, str | None, int, int, int | None]
REMOVE_SETTLED: Final = f"""
DELETE FROM effects WHERE scope = ? AND incarnation = ? AND task = ? AND (settled_us IS NOT NULL OR {GIVEN_UP})
"""
END: Final = "UPDATE effects SET ended = 1, version = version + 1 WHERE scope = ? AND incarnation = ? AND task = ?"
WITHOUT_OUTCOME: Final = f"""
SELECT task, call FROM effects WHERE scope = ? AND incarnation = ? AND {OPEN} ORDER BY task, call
"""
REMOVE_ALL: Final = "DELETE FROM effects WHERE scope = ? AND incarnation = ?"

Values = dict[str, str | bytes | int | None]

landings: Final = msgspec.json.Decoder(tuple[Landing, ...])
summaries: Final = msgspec.json.Decoder(tuple[Summary, ...])


def begin(connection: sqlite3.Connection, claim: Claim, key: EffectKey, intent: Intent, seen: int | None) -> Begun:
    """Write an intent if the evidence is what the caller saw. Raises `ClaimLost`, `TaskClosed`, `EvidenceChanged`."""
    values = _of(claim, key) | _of_intent(intent)
    if seen is None:
        first: tuple[int] | None = connection.execute(FIRST_INTENT, values).fetchone()
        if first is not None:
            return _mine(claim, key, intent, 1, first[0])
    else:
        row: tuple[int, int] | None = connection.execute(NEXT_INTENT, values | {"seen": seen}).fetchone()
        if row is not None:
            return _mine(claim, key, intent, *row)
    _check_may(connection, claim, key)
    found = find(connection, key, claim.incarnation)
    if found is None:
        raise EvidenceChanged(str(key), seen, None)
    return Begun(evidence=found, mine=False)


def settle(connection: sqlite3.Connection, claim: Claim, key: EffectKey, outcome: Outcome, seen: int) -> Outcome:
    """Record an outcome; the one that stands is returned."""
    values = _of(claim, key) | {
        "seen": seen,
        "outcome": outcome.value,
        "outcome_schema": outcome.schema,
        "how": outcome.how.value,
        "settled_us": outcome.at_us,
    }
    if connection.execute(SETTLE, values).rowcount == 1:
        return outcome
    return _settled_before(connection, claim, key, seen)


def trouble(connection: sqlite3.Connection, claim: Claim, key: EffectKey, text: str, seen: int) -> None:
    """Note that an attempt ended without knowing; evidence that has an outcome stays as it is."""
    if connection.execute(TROUBLE, _of(claim, key) | {"seen": seen, "trouble": text}).rowcount == 0:
        _settled_before(connection, claim, key, seen)


def uncertain(connection: sqlite3.Connection, claim: Claim, key: EffectKey, seen: int) -> None:
    """Mark an intent of which the recipient knows nothing; evidence that has an outcome stays as it is."""
    if connection.execute(UNCERTAIN, _of(claim, key) | {"seen": seen}).rowcount == 0:
        _settled_before(connection, claim, key, seen)


def withdraw(connection: sqlite3.Connection, claim: Claim, key: EffectKey, seen: int) -> None:
    """Remove an intent whose effect did not happen."""
    if connection.execute(WITHDRAW, _of(claim, key) | {"seen": seen}).rowcount == 1:
        connection.execute(RAISE_VERSIONS, (seen,))
        return
    _check_may(connection, claim, key)
    found = find(connection, key, claim.incarnation)
    raise EvidenceChanged(str(key), seen, None if found is None else found.version)


def drop(connection: sqlite3.Connection, claim: Claim, key: EffectKey) -> None:
    """Remove settled evidence. Raises `UnresolvedStands` for an intent without outcome."""
    dropped: tuple[int] | None = connection.execute(DROP, _of(claim, key)).fetchone()
    if dropped is not None:
        connection.execute(RAISE_VERSIONS, dropped)
        remarks.remove(connection, key, claim.incarnation)
    elif find(connection, key, claim.incarnation) is not None:
        raise UnresolvedStands(key.scope, (f"{key.task} / {key.call}",))


def find(connection: sqlite3.Connection, key: EffectKey, incarnation: int) -> Evidence | None:
    """What is known of an effect."""
    values = {"scope": key.scope, "incarnation": incarnation, "task": key.task, "call": key.call}
    row: Row | None = connection.execute(FIND, values).fetchone()
    return None if row is None else evidence(row)


def of_thread(connection: sqlite3.Connection, thread: str, incarnation: int) -> tuple[Evidence, ...]:
    """The evidence of the tasks that have not ended."""
    rows: list[Row] = connection.execute(OF_THREAD, (thread, incarnation)).fetchall()
    return tuple(evidence(row) for row in rows)


def end_task(connection: sqlite3.Connection, claim: Claim, task: str) -> str | None:
    """Remove a task's evidence, but for what has no outcome, which stays as ended. Gives the summary for history."""
    where = (claim.thread, claim.incarnation, task)
    rows: list[Summary] = connection.execute(OF_TASK, where).fetchall()
    if not rows:
        return None
    connection.execute(REMOVE_SETTLED, where)
    if any(how is None for _, _, _, how, *_ in rows):
        connection.execute(END, where)
    return msgspec.json.encode(rows).decode()


def without_outcome(connection: sqlite3.Connection, thread: str, incarnation: int) -> tuple[str, ...]:
    """Task and call of each intent without outcome, for an error's text."""
    rows: list[tuple[str, str]] = connection.execute(WITHOUT_OUTCOME, (thread, incarnation)).fetchall()
    return tuple(f"{task} / {call}" for task, call in rows)


def remove_all(connection: sqlite3.Connection, thread: str, incarnation: int) -> None:
    """Remove everything that is known of a thread's effects."""
    connection.execute(REMOVE_ALL, (thread, incarnation))
    remarks.remove_all(connection, thread, incarnation)


def summed_up(task: str, text: str | None) -> tuple[EffectSummary, ...]:
    """History's effects, from what `end_task` gave."""
    if text is None:
        return ()
    return tuple(
        EffectSummary(
            task=task,
            call=call,
            tool=tool,
            kind=Kind(kind),
            how=None if how is None else How(how),
            attempt=attempt,
            begun_us=begun_us,
            settled_us=settled_us,
        )
        for call, tool, kind, how, attempt, begun_us, settled_us in summaries.decode(text)
    )


def evidence(row: Row) -> Evidence:
    """The record of a row."""
    (
        scope, incarnation, task, call, kind, tool, fingerprint, request, schema, begun_us,
        before, after, presumed, earlier, owner, token, attempt, version,
        outcome, outcome_schema, how, settled_us, trouble_text, ended, given_up, granted,
    ) = row  # fmt: skip
    plan = None
    if before is not None and after is not None and presumed is not None:
        replaced = () if earlier is None else landings.decode(earlier)
        plan = Plan(before=before, landing=Landing(after, presumed), earlier=replaced)
    settled = None
    if outcome_schema is not None and how is not None and settled_us is not None:
        settled = Outcome(value=outcome, schema=outcome_schema, how=How(how), at_us=settled_us)
    intent = Intent(
        kind=Kind(kind), tool=tool, fingerprint=fingerprint, request=request, schema=schema, at_us=begun_us, plan=plan
    )
    return Evidence(
        key=EffectKey(scope, task, call),
        incarnation=incarnation,
        intent=intent,
        owner=owner,
        token=token,
        attempt=attempt,
        version=version,
        outcome=settled,
        trouble=trouble_text,
        uncertain=None if given_up is None else How(given_up),
        granted=bool(granted),
        ended=bool(ended),
    )


def _mine(claim: Claim, key: EffectKey, intent: Intent, attempt: int, version: int) -> Begun:
    mine = Evidence(
        key=key,
        incarnation=claim.incarnation,
        intent=intent,
        owner=claim.owner,
        token=claim.token,
        attempt=attempt,
        version=version,
    )
    return Begun(evidence=mine, mine=True)


def _settled_before(connection: sqlite3.Connection, claim: Claim, key: EffectKey, seen: int) -> Outcome:
    _check_may(connection, claim, key)
    found = find(connection, key, claim.incarnation)
    if found is None or found.outcome is None:
        raise EvidenceChanged(str(key), seen, None if found is None else found.version)
    return found.outcome


def _check_may(connection: sqlite3.Connection, claim: Claim, key: EffectKey) -> None:
    if claim.token > 0 and not tasks.is_open(connection, claims.current(connection, claim), key.task):
        raise TaskClosed(claim.thread, key.task)


def _of(claim: Claim, key: EffectKey) -> Values:
    if key.scope != claim.thread:
        raise ValueError(f"effect {key}: its scope is not {claim.thread}, of which the claim is; nothing was changed")
    if claim.token == OUTSIDE and claim.incarnation != 0:
        raise ValueError(f"effect {key}: outside a runtime there is no incarnation {claim.incarnation}; give 0")
    return {
        "scope": key.scope,
        "incarnation": claim.incarnation,
        "task": key.task,
        "call": key.call,
        "token": claim.token,
        "owner": claim.owner,
    }


def _of_intent(intent: Intent) -> Values:
    plan = intent.plan
    return {
        "kind": intent.kind.value,
        "tool": intent.tool,
        "fingerprint": intent.fingerprint,
        "request": intent.request,
        "schema": intent.schema,
        "begun_us": intent.at_us,
        "before": None if plan is None else plan.before,
        "after": None if plan is None else plan.landing.after,
        "presumed": None if plan is None else plan.landing.presumed,
        "earlier": None if plan is None or not plan.earlier else msgspec.json.encode(plan.earlier).decode(),
    }
