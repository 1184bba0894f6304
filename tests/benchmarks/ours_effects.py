"""Guarded effects in claimed tasks of a real runtime, one after another and 32 at once.

The unchecked and the idempotent effect are tools, so that checking, encoding and fingerprinting the request is in the
time, as it is in a peer's. The verifiable one and the one with applied keys go to the guard itself, with targets in
memory that answer in the event loop: a real target would be timed with it, and so would the worker thread of a tool.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import attrs
import msgspec

from bench_child import IN_FLIGHT, WARM_UP, Counted, serve
from effectgraph import (
    END,
    Context,
    Graph,
    Runtime,
    Update,
    Verifiable,
    codec_for,
    current_effect,
    given,
    open_store,
    tool,
    updates,
)
from effectgraph.effects import About
from ours_clock import clocked, finished

EFFECTS_A_TASK: Final = 1000
"""Effects before the task commits: few commits, so that effects are what is timed, and far from the limit of a task."""

RECEIPT: Final = codec_for(dict[str, str])
CARD: Final = "tok_visa"

Effect = Callable[[Context, int], Awaitable[object]]
"""Performs one effect, whatever its kind, under the context of its task."""


@attrs.frozen(kw_only=True)
class Payments:
    """How many effects a run makes, and how many it has made."""

    wanted: int = given()
    made: int = 0


change = updates(Payments)


class Recipient:
    """The outside world: answers at once and counts."""

    def __init__(self) -> None:
        self.payments = 0

    def pay(self) -> dict[str, str]:
        self.payments += 1
        return {"receipt": f"r-{self.payments}"}


def unchecked(recipient: Recipient) -> Effect:
    """A tool that may be harmful to repeat: intent and outcome are synced."""

    @tool.unchecked()
    async def charge(amount: int, card: str) -> dict[str, str]:
        return recipient.pay()

    return lambda ctx, number: ctx.call(charge, number, card=CARD)


def idempotent(recipient: Recipient) -> Effect:
    """A tool whose recipient ignores repeats: the outcome waits for the next sync."""

    @tool.unchecked(idempotent=True)
    async def charge(amount: int, card: str) -> dict[str, str]:
        return recipient.pay()

    return lambda ctx, number: ctx.call(charge, number, card=CARD)


def verifiable(recipient: Recipient) -> Effect:
    """A plan, a compare-and-set, and a digest to ask for, of a number in memory."""
    held = 0

    async def plan(_token: int) -> Verifiable[dict[str, str]]:
        seen = held

        async def effect(_token: int) -> None:
            nonlocal held
            if held != seen:
                raise RuntimeError("somebody else changed the number")
            recipient.pay()
            held = seen + 1

        return Verifiable(before=str(seen), after=str(seen + 1), presumed={"receipt": f"r-{seen + 1}"}, effect=effect)

    async def probe(_token: int) -> str:
        return str(held)

    def run(ctx: Context, number: int) -> Awaitable[object]:
        request = request_of(number)
        return ctx.guard.verifiable(
            ctx.key(str(number)),
            RECEIPT,
            fingerprint=hashlib.sha256(request).hexdigest(),
            plan=plan,
            probe=probe,
            about=About(tool="charge", request=request),
        )

    return run


def applied_keys(recipient: Recipient) -> Effect:
    """A target that keeps outcomes by key, in memory, until it is told to forget them."""
    applied: dict[str, dict[str, str]] = {}

    async def effect(_token: int) -> dict[str, str]:
        key = str(current_effect().key)
        if key not in applied:
            applied[key] = recipient.pay()
        return applied[key]

    async def forget(_token: int) -> None:
        applied.pop(str(current_effect().key), None)

    def run(ctx: Context, number: int) -> Awaitable[object]:
        request = request_of(number)
        return ctx.guard.applied_keys(
            ctx.key(str(number)),
            RECEIPT,
            fingerprint=hashlib.sha256(request).hexdigest(),
            effect=effect,
            forget=forget,
            about=About(tool="charge", request=request),
        )

    return run


def request_of(number: int) -> bytes:
    """What a tool would show of the same call."""
    return msgspec.json.encode({"amount": number, "card": CARD})


def payments(effect: Effect, in_flight: int) -> Graph[Payments, None]:
    """A loop over one node that makes up to `EFFECTS_A_TASK` effects, `in_flight` at once."""
    graph = Graph("payments", version=1, state=Payments)

    @graph.node()
    async def pay(state: Payments, ctx: Context) -> Update[Payments]:
        numbers = range(state.made, min(state.made + EFFECTS_A_TASK, state.wanted))
        waiting = iter(numbers)

        async def work(branch: Context) -> None:
            for number in waiting:
                await effect(branch, number)

        if in_flight == 1:
            await work(ctx)
        else:
            await asyncio.gather(*(work(ctx.at(str(worker))) for worker in range(in_flight)))
        return change(made=numbers.stop)

    def more(state: Payments) -> bool:
        return state.made < state.wanted

    graph.start(pay)
    graph.branch(pay, more).to({True: pay, False: END})
    return graph


def effects(kind: Callable[[Recipient], Effect], in_flight: int, count: int, folder: Path) -> Counted:
    """One run that makes `count` effects, after one that makes a few."""
    recipient = Recipient()
    graph = payments(kind(recipient), in_flight)

    async def run() -> Counted:
        async with open_store(folder / "store.db") as store, Runtime(graph, store) as runtime:

            async def make(thread: str, wanted: int) -> None:
                finished(await runtime.run(thread, change(wanted=wanted)))

            await make("warm-up", WARM_UP)
            return await clocked(store, lambda: make("timed", count))

    counted = asyncio.run(run())
    if recipient.payments != WARM_UP + count:
        raise RuntimeError(f"{recipient.payments} payments were made, not {WARM_UP + count}")
    return counted


if __name__ == "__main__":
    serve(
        {
            "unchecked": functools.partial(effects, unchecked, 1),
            "idempotent": functools.partial(effects, idempotent, 1),
            "verifiable": functools.partial(effects, verifiable, 1),
            "applied-keys": functools.partial(effects, applied_keys, 1),
            "unchecked-many": functools.partial(effects, unchecked, IN_FLIGHT),
            "idempotent-many": functools.partial(effects, idempotent, IN_FLIGHT),
        }
    )
