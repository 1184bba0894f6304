"""The demo's acts: each runs one order, lets something happen to its worker, and looks at what became of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

import attrs

from effectgraph.cli.demo.child import Child, child
from effectgraph.cli.demo.counting import Targets
from effectgraph.cli.demo.effect import Effect, Halt, Moment
from effectgraph.cli.demo.job import Ask, Job, Told, told_of
from effectgraph.cli.demo.observed import Act, Counts, Mishap, Observed, OrderSeen
from effectgraph.cli.demo.place import Place

ACTS: Final = (
    Act(order="order-1", mishap=Mishap.NONE),
    Act(order="order-2", mishap=Mishap.KILLED, effect=Effect.RESERVE),
    Act(order="order-3", mishap=Mishap.KILLED, effect=Effect.CHARGE),
    Act(order="order-4", mishap=Mishap.KILLED, effect=Effect.REWARD),
    Act(order="order-5", mishap=Mishap.KILLED, effect=Effect.RECEIPT),
    Act(order="order-6", mishap=Mishap.STOPPED, effect=Effect.RECEIPT),
)

AT_THE_SERVER: Final = {Effect.CHARGE: "stalled ch_", Effect.REWARD: "stalled pt_"}
"""Where the payment server tells that it has booked something and will not answer, instead of the worker."""


@attrs.frozen
class Stage:
    """What the acts share: the folder, the payment server, and the targets to look at."""

    place: Place
    server: Child
    address: str

    def worker(self, ask: Ask, order: str, halt: Halt | None = None) -> AbstractAsyncContextManager[Child]:
        """A worker process for one job."""
        job = Job(ask=ask, order=order, folder=str(self.place.folder), provider=self.address, halt=halt)
        module = "effectgraph.cli.demo.worker"
        return child(f"worker ({ask.value} {order})", module, job.to_line(), log=self.place.log)

    async def told(self, ask: Ask, order: str) -> Told:
        """Let a worker do a job, and return what it tells."""
        async with self.worker(ask, order) as worker:
            return told_of(await worker.line())

    async def counts(self, order: str) -> Counts:
        """What the targets counted for an order until now."""
        return await asyncio.to_thread(Targets(self.place, self.address).counts, order)

    async def observed(self, orders: tuple[OrderSeen, ...]) -> Observed:
        """What was seen of the orders, with what the targets hold in the end."""
        targets = Targets(self.place, self.address)
        left = await asyncio.to_thread(targets.pieces_left)
        return Observed(orders=orders, pieces_left=left, charges=await asyncio.to_thread(targets.charges))


@asynccontextmanager
async def staged(place: Place) -> AsyncGenerator[Stage, None]:
    """Start the payment server, for the time of an `async with` block."""
    arguments = ("--db", str(place.provider))
    async with child("payment server", "effectgraph.cli.demo.provider", *arguments, log=place.log) as server:
        yield Stage(place, server, f"http://127.0.0.1:{int(await server.line())}")


async def play(stage: Stage, act: Act) -> OrderSeen:
    """Play one act to its end. Raises `ChildFailed` if a process of it does not do its part."""
    match act.mishap:
        case Mishap.NONE:
            told = await stage.told(Ask.RUN, act.order)
            return OrderSeen(act=act, told=told, counts=await stage.counts(act.order))
        case Mishap.KILLED:
            return await _killed(stage, act, _effect_of(act))
        case Mishap.STOPPED:
            return await _stopped(stage, act, _effect_of(act))


async def _killed(stage: Stage, act: Act, effect: Effect) -> OrderSeen:
    """Kill the worker when the target has changed and no outcome is stored; then let another one recover."""
    halt = Halt(Moment.AFTER_CHANGE, effect)
    async with stage.worker(Ask.RUN, act.order, halt) as worker:
        if effect in AT_THE_SERVER:
            await _stalled(stage.server, AT_THE_SERVER[effect])
        else:
            await worker.expect(str(halt))
        exit_code = await worker.kill()
    counts_then = await stage.counts(act.order)
    told = await stage.told(Ask.RECOVER, act.order)
    retried = await stage.told(Ask.RETRY, act.order) if told.failure is not None else None
    return OrderSeen(
        act=act,
        told=told,
        counts=await stage.counts(act.order),
        exit_code=exit_code,
        counts_then=counts_then,
        retried=retried,
    )


async def _stopped(stage: Stage, act: Act, effect: Effect) -> OrderSeen:
    """Stop the worker just before the target changes, let another one take over and finish, then wake the first."""
    halt = Halt(Moment.BEFORE_CHANGE, effect)
    async with stage.worker(Ask.RUN, act.order, halt) as worker:
        await worker.expect(str(halt))
        worker.stop()
        counts_then = await stage.counts(act.order)
        told = await stage.told(Ask.TAKE_OVER, act.order)
        worker.wake()
        await worker.say("go on")
        woken = told_of(await worker.line())
    counts = await stage.counts(act.order)
    return OrderSeen(act=act, told=told, counts=counts, counts_then=counts_then, woken=woken)


async def _stalled(server: Child, begins: str) -> None:
    line = await server.line()
    if not line.startswith(begins):
        raise server.failed(f"said {line!r} and not that it stalls ({begins}...)")


def _effect_of(act: Act) -> Effect:
    if act.effect is None:
        raise ValueError(f"{act.order}: something happens to its worker, so say in which effect")
    return act.effect
