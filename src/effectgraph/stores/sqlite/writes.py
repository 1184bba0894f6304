"""A queued write."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from effectgraph.stores.records import Claim, Sync
from effectgraph.stores.sqlite.receipts import Desk, QueuedReceipt

T_co = TypeVar("T_co", covariant=True)


class Write(QueuedReceipt[T_co]):
    """What a write does, when it must be on disk, and in whose lane it is.

    `claim` is None for a write that is in no lane. `ends_lane` marks the release of a claim: it is tried even if
    an earlier write failed, so that a failed run does not block its thread, and it is the last of its lane.
    `at_end` is called in the writer's thread when the write is over, before anybody hears of it: whether it was made.
    """

    __slots__ = ("at_end", "claim", "ends_lane", "sync")

    def __init__(
        self,
        desk: Desk,
        run: Callable[[sqlite3.Connection], T_co],
        sync: Sync,
        *,
        claim: Claim | None = None,
        ends_lane: bool = False,
        at_end: Callable[[bool], None] | None = None,
    ) -> None:
        super().__init__(desk, run)
        self.sync = sync
        self.claim = claim
        self.ends_lane = ends_lane
        self.at_end = at_end
