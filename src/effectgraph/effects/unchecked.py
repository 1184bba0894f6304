"""Effects that nobody can look up afterwards, unless the recipient keeps a record of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import attrs

from effectgraph.effects.attempt import LOOK, Attempt, Settled
from effectgraph.effects.errors import Refusal
from effectgraph.effects.transition import Verdict, after_reconcile
from effectgraph.stores.records import Evidence, How

A = TypeVar("A")


@attrs.frozen
class UncheckedProcedure(Generic[A]):
    """How an unchecked effect runs, and how its recipient is asked.

    It runs again on an intent only if the table says so, which was asked before.
    """

    effect: Callable[[], A | Awaitable[A]]
    recall: Callable[[], A | None | Awaitable[A | None]] | None = None

    async def start(self, attempt: Attempt[A]) -> Settled:
        return await self._run(attempt, seen=None)

    async def again(self, attempt: Attempt[A], evidence: Evidence) -> Settled:
        return await self._run(attempt, seen=evidence)

    async def granted(self, attempt: Attempt[A], evidence: Evidence) -> Settled:
        return await self._run(attempt, seen=evidence)

    async def reconcile(self, attempt: Attempt[A], evidence: Evidence) -> Settled:
        if self.recall is None:
            raise ValueError(f"effect {evidence.key}: nobody can be asked for it")
        recalled, value, why = await attempt.recall(self.recall)
        match after_reconcile(recalled, idempotent=attempt.call.idempotent):
            case Verdict.RECORD if value is not None:
                return await attempt.record(evidence, value, how=How.RECONCILE)
            case Verdict.RUN_AGAIN:
                return await self.again(attempt, evidence)
            case Verdict.GIVE_UP:
                await attempt.give_up(evidence)
                raise attempt.refusal(Refusal.UNCERTAIN, "the recipient has no record of it", LOOK)
            case Verdict.REFUSE_UNKNOWN | Verdict.RECORD:
                known = f"attempt {evidence.attempt} may have happened, and {why or 'the recipient said nothing'}"
                raise attempt.refusal(Refusal.OUTCOME_UNKNOWN, known, "call again once the recipient answers")

    async def _run(self, attempt: Attempt[A], *, seen: Evidence | None) -> Settled:
        evidence = await attempt.write_intent(plan=None, seen=seen)
        value = await attempt.perform(evidence, self.effect)
        return await attempt.record(evidence, value)
