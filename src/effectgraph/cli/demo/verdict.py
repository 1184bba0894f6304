"""The demo's check of itself: what was seen, against what is promised."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Final

from effectgraph import Refusal
from effectgraph.cli.demo.effect import Effect
from effectgraph.cli.demo.job import Settled, Told
from effectgraph.cli.demo.observed import Act, Counts, Mishap, Observed, OrderSeen
from effectgraph.cli.demo.place import STOCK
from effectgraph.stores.records import How, ThreadStatus

SETTLED: Final = {
    Effect.RESERVE: Settled(effect=Effect.RESERVE.value, how=How.TARGET.value, attempt=2),
    Effect.REWARD: Settled(effect=Effect.REWARD.value, how=How.RUN.value, attempt=2),
    Effect.RECEIPT: Settled(effect=Effect.RECEIPT.value, how=How.PROBE.value, attempt=1),
}
"""How recovery settles each effect that can be settled. A file that is asked and says yes needs no second attempt."""

ONCE: Final = Counts(reserve=1, charge=1, reward=1, receipt=1, charge_requests=1, reward_requests=1)
UNTIL_CHARGED: Final = Counts(reserve=1, charge=1, reward=0, receipt=0, charge_requests=1, reward_requests=0)
SENT_AGAIN: Final = Counts(reserve=1, charge=1, reward=1, receipt=1, charge_requests=1, reward_requests=2)


def verdict(observed: Observed) -> tuple[str, ...]:
    """Everything that is not as it should be, in words; nothing if all is well."""
    problems = [problem for seen in observed.orders for problem in order_problems(seen)]
    expected = STOCK - len(observed.orders)
    if observed.pieces_left != expected:
        problems.append(f"stock: {observed.pieces_left} pieces are left, expected {expected}")
    if len(observed.charges) != len(observed.orders):
        problems.append(f"charges: the server made {len(observed.charges)}, expected {len(observed.orders)}")
    return tuple(problems)


def expected_counts(act: Act) -> Counts:
    """What the targets have to count for an order."""
    match act:
        case Act(mishap=Mishap.KILLED, effect=Effect.CHARGE):
            return UNTIL_CHARGED
        case Act(mishap=Mishap.KILLED, effect=Effect.REWARD):
            return SENT_AGAIN
        case _:
            return ONCE


def order_problems(seen: OrderSeen) -> tuple[str, ...]:
    """Everything of one order that is not as it should be."""
    return tuple(f"{seen.act.order}: {problem}" for problem in _problems(seen))


def _problems(seen: OrderSeen) -> Iterator[str]:
    yield from _wrong_counts(seen)
    match seen.act.mishap:
        case Mishap.NONE:
            yield from _not_done(seen.told)
        case Mishap.KILLED:
            yield from _killed(seen)
        case Mishap.STOPPED:
            yield from _stopped(seen)


def _wrong_counts(seen: OrderSeen) -> Iterator[str]:
    expected = ONCE
    if seen.act.mishap is Mishap.KILLED:
        expected = {Effect.CHARGE: UNTIL_CHARGED, Effect.REWARD: SENT_AGAIN}.get(
            seen.act.effect or Effect.RESERVE, ONCE
        )
    for effect in Effect:
        if seen.counts.of(effect) != expected.of(effect):
            yield f"{effect} counted {seen.counts.of(effect)}, expected {expected.of(effect)}"
    for what, got, wanted in (
        ("charge", seen.counts.charge_requests, expected.charge_requests),
        ("reward", seen.counts.reward_requests, expected.reward_requests),
    ):
        if got != wanted:
            yield f"{what} was requested {got} times, expected {wanted}"


def _killed(seen: OrderSeen) -> Iterator[str]:
    effect = seen.act.effect
    if effect is None:
        yield "it is not said in which effect its worker was killed"
        return
    if seen.exit_code != -signal.SIGKILL:
        yield f"its worker ended with {seen.exit_code}, expected {-signal.SIGKILL} (SIGKILL)"
    then = 0 if seen.counts_then is None else seen.counts_then.of(effect)
    if then != 1:
        yield f"{effect} counted {then} when its worker was killed, expected 1"
    if seen.told.unsettled != (effect.value,):
        yield f"recovery found {seen.told.unsettled} without outcome, expected {effect} alone"
    if seen.told.recovered != 1:
        yield f"{seen.told.recovered} orders were recovered, expected 1"
    if effect is Effect.CHARGE:
        yield from _not_refused(seen.told, "recovery")
        yield from _not_refused(seen.retried or Told(), "the retry")
    else:
        yield from _not_done(seen.told)
        if seen.told.of(effect) != SETTLED[effect]:
            yield f"{effect} was settled as {seen.told.of(effect)}, expected {SETTLED[effect]}"


def _stopped(seen: OrderSeen) -> Iterator[str]:
    yield from _not_done(seen.told)
    if seen.told.recovered_before != 0:
        yield f"{seen.told.recovered_before} orders were recovered while the worker was only stopped, expected 0"
    if seen.told.recovered != 1:
        yield f"{seen.told.recovered} orders were recovered after it was taken, expected 1"
    then = -1 if seen.counts_then is None else seen.counts_then.receipt
    if then != 0:
        yield f"receipt counted {then} when its worker was stopped, expected 0"
    woken = seen.woken or Told()
    if woken.fenced is None or woken.fenced.token >= woken.fenced.newest:
        yield f"the woken worker ended with {woken.raised}, expected a refusal by the file"


def _not_done(told: Told) -> Iterator[str]:
    if told.raised is not None:
        yield f"its run raised {told.raised}"
    if told.status != ThreadStatus.DONE.value:
        yield f"it is {told.status or 'nothing'} ({told.failure}), expected {ThreadStatus.DONE.value}"


def _not_refused(told: Told, who: str) -> Iterator[str]:
    if told.status != ThreadStatus.FAILED.value:
        yield f"after {who} it is {told.status or 'nothing'}, expected {ThreadStatus.FAILED.value}"
    if not told.is_unknown:
        yield f"{who} ended with {told.failure}, expected a refusal: {Refusal.OUTCOME_UNKNOWN.value}"
    if told.unresolved != (Effect.CHARGE.value,):
        yield f"after {who} {told.unresolved} is listed as unresolved, expected {Effect.CHARGE} alone"
