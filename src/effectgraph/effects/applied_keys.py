"""Effects whose target keeps the keys it has applied, in its own transaction."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import attrs

from effectgraph.effects.attempt import Attempt, Settled
from effectgraph.stores.records import OUTSIDE, Evidence

A = TypeVar("A")


@attrs.frozen
class AppliedKeysProcedure(Generic[A]):
    """How an applied-keys effect starts, and how it is asked again: with the same key and the present token."""

    effect: Callable[[int], A | Awaitable[A]]
    forget: Callable[[int], None | Awaitable[None]]

    async def start(self, attempt: Attempt[A]) -> Settled:
        # A key that an earlier life of this scope left at the target would answer for this effect. Outside a runtime
        # no token fences a forget that arrives late, so there only `release` forgets.
        if attempt.token != OUTSIDE:
            await attempt.ask(self.forget)
        return await self._run(attempt, seen=None)

    async def again(self, attempt: Attempt[A], evidence: Evidence) -> Settled:
        return await self._run(attempt, seen=evidence)

    async def granted(self, attempt: Attempt[A], evidence: Evidence) -> Settled:
        return await self._run(attempt, seen=evidence)

    async def _run(self, attempt: Attempt[A], *, seen: Evidence | None) -> Settled:
        evidence = await attempt.write_intent(plan=None, seen=seen)
        value = await attempt.perform(evidence, self.effect, attempt.token)
        return await attempt.record(evidence, value)
