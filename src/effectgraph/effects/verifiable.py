"""Effects whose target can tell by a digest whether they landed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import attrs

from effectgraph.effects.attempt import Attempt, Settled
from effectgraph.effects.errors import EffectReplayRefused, Refusal, TargetMoved
from effectgraph.effects.limits import ROUNDS
from effectgraph.effects.transition import Probed, judge
from effectgraph.stores.records import Evidence, How, Landing, Plan

A = TypeVar("A")


@attrs.frozen(kw_only=True)
class Verifiable(Generic[A]):
    """A planned change of a target.

    `before` and `after` are digests of the target's content now and then; `presumed` is the value of the call,
    whether it runs now or is found to have landed; `effect(token)` is a compare-and-set: under a lock that every
    writer takes it compares with `before`, writes and makes durable, or changes nothing and raises `TargetMoved`, or
    `TargetFenced` for an old token.
    """

    before: str
    after: str
    presumed: A
    effect: Callable[[int], None | Awaitable[None]]


@attrs.frozen
class VerifiableProcedure(Generic[A]):
    """How a verifiable effect starts, and how an intent without outcome is settled by its target."""

    plan: Callable[[int], Verifiable[A] | Awaitable[Verifiable[A]]]
    probe: Callable[[int], str | Awaitable[str]]

    async def start(self, attempt: Attempt[A]) -> Settled:
        planned = await attempt.ask(self.plan)
        plan = _plan(attempt, planned, earlier=())
        evidence = await attempt.write_intent(plan=plan, seen=None)
        await attempt.perform(evidence, planned.effect, attempt.token)
        return await attempt.record_encoded(evidence, plan.landing.presumed, How.RUN)

    async def again(self, attempt: Attempt[A], evidence: Evidence) -> Settled:
        for _ in range(ROUNDS):
            digest = await attempt.ask(self.probe)
            found = _plan_of(evidence)
            probed, landing = judge(digest, found)
            if landing is not None:
                return await attempt.record_encoded(evidence, landing.presumed, How.PROBE)
            if probed is Probed.CONFLICT:
                raise _conflict(attempt, digest, found)
            planned = await attempt.ask(self.plan)
            if planned.before == digest:
                return await self._replace(attempt, evidence, planned)
        raise attempt.refusal(
            Refusal.CONFLICT, f"the target changed under {ROUNDS} looks in a row", "stop its other writers, then retry"
        )

    async def granted(self, attempt: Attempt[A], evidence: Evidence) -> Settled:
        """Plan anew on whatever the target holds: a person looked, and ruled that it may be tried once more."""
        return await self._replace(attempt, evidence, await attempt.ask(self.plan))

    async def _replace(self, attempt: Attempt[A], evidence: Evidence, planned: Verifiable[A]) -> Settled:
        found = _plan_of(evidence)
        earlier = _without((*found.earlier, found.landing), planned.after)
        plan = _plan(attempt, planned, earlier=_of_today(attempt, earlier, evidence.intent.schema))
        evidence = await attempt.write_intent(plan=plan, seen=evidence)
        try:
            await attempt.perform(evidence, planned.effect, attempt.token)
        except TargetMoved as moved:
            return await self._probe_once(attempt, evidence, plan, moved)
        return await attempt.record_encoded(evidence, plan.landing.presumed, How.RUN)

    async def _probe_once(self, attempt: Attempt[A], evidence: Evidence, plan: Plan, moved: TargetMoved) -> Settled:
        digest = await attempt.ask(self.probe)
        _, landing = judge(digest, plan)
        if landing is None:
            raise _conflict(attempt, digest, plan, f" ({moved})") from moved
        return await attempt.record_encoded(evidence, landing.presumed, How.PROBE)


def _plan(attempt: Attempt[A], planned: Verifiable[A], *, earlier: tuple[Landing, ...]) -> Plan:
    presumed = attempt.call.codec.encode(planned.presumed)
    return Plan(before=planned.before, landing=Landing(planned.after, presumed), earlier=earlier)


def _plan_of(evidence: Evidence) -> Plan:
    plan = evidence.intent.plan
    if plan is None:
        raise ValueError(f"effect {evidence.key}: its intent has no plan; the store lost a part of it")
    return plan


def _without(landings: tuple[Landing, ...], after: str) -> tuple[Landing, ...]:
    return tuple(landing for landing in landings if landing.after != after)


def _of_today(attempt: Attempt[A], landings: tuple[Landing, ...], schema: str) -> tuple[Landing, ...]:
    """Landings as the codec of today writes them, as all that one intent presumes has one schema.

    Raises `OutcomeUnreadable` for one that it cannot read.
    """
    call = attempt.call
    if schema == call.codec.schema:
        return landings
    return tuple(Landing(each.after, call.codec.encode(call.decode(each.presumed, schema))) for each in landings)


def _conflict(attempt: Attempt[A], digest: str, plan: Plan, remark: str = "") -> EffectReplayRefused:
    afters = ", ".join(landing.after for landing in (plan.landing, *plan.earlier))
    return attempt.refusal(
        Refusal.CONFLICT,
        f"the target is {digest}; it was {plan.before} before, and would be {afters} after{remark}",
        "look at the target: somebody else changed it; put it right, then retry",
    )
