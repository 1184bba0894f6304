"""Effects that nobody can look up afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import attrs

from effectgraph.effects.attempt import Attempt, Settled
from effectgraph.stores.records import Evidence

A = TypeVar("A")


@attrs.frozen
class UncheckedProcedure(Generic[A]):
    """How an unchecked effect runs. It runs again on an intent only if it is idempotent: the table decides that
    before.
    """

    effect: Callable[[], A | Awaitable[A]]

    async def start(self, attempt: Attempt[A]) -> Settled:
        return await self._run(attempt, seen=None)

    async def again(self, attempt: Attempt[A], evidence: Evidence) -> Settled:
        return await self._run(attempt, seen=evidence)

    async def _run(self, attempt: Attempt[A], *, seen: Evidence | None) -> Settled:
        evidence = await attempt.write_intent(plan=None, seen=seen)
        value = await attempt.perform(evidence, self.effect)
        return await attempt.record(evidence, value)
