"""One transaction for a group of writes."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from typing import Final

import attrs

from effectgraph.stores.sqlite.lanes import Lanes
from effectgraph.stores.sqlite.turns import Turns
from effectgraph.stores.sqlite.writes import Write

TOUCH: Final = "UPDATE store SET syncs = syncs + 1"
"""The smallest write. SQLite syncs nothing for a transaction that changed nothing."""


@attrs.frozen(kw_only=True)
class Made:
    """What a transaction did: which writes failed, alone, and whether anything in the file changed."""

    failures: tuple[tuple[Write[object], Exception], ...]
    changed: bool


def make(
    connection: sqlite3.Connection, turns: Turns, group: Sequence[Write[object]], lanes: Lanes, *, touch: bool
) -> Made:
    """Make the writes in one transaction and commit it; with `touch`, even if none of them changes anything.

    A write that fails takes back only itself, and what stands behind it in its lane is not tried; `lanes` learns of
    both. Raises `sqlite3.Error` if the whole transaction is gone: then nothing was written.
    """
    alone = len(group) == 1
    failures: list[tuple[Write[object], Exception]] = []
    changed = False
    try:
        turns.begin(connection)
        for write in group:
            before = connection.total_changes
            error = lanes.refusal(write) or _attempt(connection, write, alone=alone)
            if error is None:
                changed = changed or connection.total_changes > before
            else:
                lanes.failed(write, error)
                failures.append((write, error))
        if alone and failures:
            connection.execute("ROLLBACK")
        else:
            if touch and not changed:
                connection.execute(TOUCH)
                changed = True
            connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise
    finally:
        turns.end()
    return Made(failures=tuple(failures), changed=changed)


def _attempt(connection: sqlite3.Connection, write: Write[object], *, alone: bool) -> Exception | None:
    try:
        if alone:
            write.perform(connection)
        else:
            connection.execute("SAVEPOINT write")
            write.perform(connection)
            connection.execute("RELEASE write")
    except Exception as error:
        # A full disk or a failed one can end the transaction of the whole group.
        if not connection.in_transaction:
            raise
        if not alone:
            connection.execute("ROLLBACK TO write")
            connection.execute("RELEASE write")
        return error
    return None
