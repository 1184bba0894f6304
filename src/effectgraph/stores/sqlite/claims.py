"""Claims: who may write to a thread now."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Final

import attrs

from effectgraph.stores.errors import ClaimHeld, ClaimLost
from effectgraph.stores.records import Claim, OwnerId

FIND: Final = "SELECT ref, incarnation, status, token, owner FROM threads WHERE id = ?"
NEW_TOKEN: Final = "UPDATE store SET token = token + 1 RETURNING token"
HAND_TO: Final = "UPDATE threads SET token = ?, owner = ? WHERE ref = ?"
RELEASE: Final = "UPDATE threads SET owner = NULL WHERE ref = ?"
TAKEN: Final = "INSERT INTO takes (token, thread, reason, at_us) VALUES (?, ?, ?, ?)"


@attrs.frozen
class Found:
    """A thread's row, as far as claims need it. `ref` stands for the thread in all other tables."""

    ref: int
    incarnation: int
    status: str
    token: int
    owner: OwnerId | None


def find(connection: sqlite3.Connection, thread: str) -> Found | None:
    """The thread's row, None if there is no such thread."""
    row: tuple[int, int, str, int, OwnerId | None] | None = connection.execute(FIND, (thread,)).fetchone()
    return None if row is None else Found(*row)


def new_token(connection: sqlite3.Connection) -> int:
    """A token that is greater than any that this store has given."""
    row: tuple[int] = connection.execute(NEW_TOKEN).fetchone()
    return row[0]


def current(connection: sqlite3.Connection, claim: Claim) -> int:
    """The `ref` of the claim's thread. Raises `ClaimLost` if the claim is not the current one."""
    found = find(connection, claim.thread)
    if found is None or found.incarnation != claim.incarnation:
        raise ClaimLost(claim.thread, claim.token, None if found is None else found.token)
    if found.token != claim.token or found.owner != claim.owner:
        raise ClaimLost(claim.thread, claim.token, found.token)
    return found.ref


def check_free(thread: str, found: Found, runs_on: Callable[[OwnerId, int], bool]) -> None:
    """Raise `ClaimHeld` while the thread's run goes on; `runs_on` tells it from owner and token."""
    if found.owner is not None and runs_on(found.owner, found.token):
        raise ClaimHeld(thread, found.owner, found.token)


def hand_to(connection: sqlite3.Connection, thread: str, found: Found, owner: OwnerId) -> Claim:
    """Give the thread to `owner` under a new token."""
    token = new_token(connection)
    connection.execute(HAND_TO, (token, owner, found.ref))
    return Claim(thread=thread, incarnation=found.incarnation, token=token, owner=owner)


def take(connection: sqlite3.Connection, found: Found, reason: str, at_us: int) -> int:
    """Fence the thread's run by a new token that nobody holds, and keep the reason for people."""
    token = new_token(connection)
    connection.execute(HAND_TO, (token, None, found.ref))
    connection.execute(TAKEN, (token, found.ref, reason, at_us))
    return token


def release(connection: sqlite3.Connection, claim: Claim) -> None:
    """Give the claim back. Raises `ClaimLost`."""
    connection.execute(RELEASE, (current(connection, claim),))
