"""Lanes: the writes of one claim, of which none stands behind a failed one."""

from __future__ import annotations

from typing import Self

import attrs

from effectgraph.stores.errors import ClaimLost, EarlierWriteFailed
from effectgraph.stores.sqlite.writes import Write


@attrs.define
class Lanes:
    """By token, the first failure of a claim's writes. Nothing is kept of a lane without one."""

    _failures: dict[int, Exception] = attrs.Factory(dict[int, Exception])

    def copy(self) -> Self:
        """For a transaction that may be rolled back."""
        return type(self)(dict(self._failures))

    def refusal(self, write: Write[object]) -> Exception | None:
        """Why a write is not tried: one before it in its lane failed. None for the release of a claim."""
        if not self._failures or write.claim is None or write.ends_lane:
            return None
        earlier = self._failures.get(write.claim.token)
        if isinstance(earlier, ClaimLost):
            return ClaimLost(earlier.thread, earlier.token, earlier.current)
        if earlier is not None:
            return EarlierWriteFailed(write.claim.thread, write.claim.token, f"{type(earlier).__name__}: {earlier}")
        return None

    def failed(self, write: Write[object], error: Exception) -> None:
        """A write failed. The first failure of a lane is kept."""
        if write.claim is not None:
            self._failures.setdefault(write.claim.token, error)

    def passed(self, write: Write[object]) -> None:
        """A write is over; the release of a claim ends its lane."""
        if write.claim is not None and write.ends_lane:
            self._failures.pop(write.claim.token, None)
