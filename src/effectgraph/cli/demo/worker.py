"""The worker: a process that runs, recovers or retries one order.

`python -m effectgraph.cli.demo.worker JOB` prints one line: what came of the job, or where it halted.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing

import attrs

from effectgraph import GraphError, Runtime, Store, TargetFenced, open_store
from effectgraph.cli.demo.effect import Halts
from effectgraph.cli.demo.job import Ask, Fenced, Job, Settled, Told, job_of
from effectgraph.cli.demo.order import Order, change, orders
from effectgraph.cli.demo.place import ITEM, Place
from effectgraph.cli.demo.shop import Shop, open_shop

AMOUNT = 4200
CARD = "card-of-ada"


async def work(job: Job) -> Told:
    """Do the job with the shop and the store in its folder."""
    place = Place(job.path)
    async with (
        aclosing(open_store(place.store)) as store,
        open_shop(place, job.provider, Halts(job.halt)) as shop,
        Runtime(orders, store, deps=shop) as runtime,
    ):
        found = Told(unsettled=await _unresolved(store, job.order))
        try:
            done = await _done(job, runtime, found)
        except (GraphError, ExceptionGroup) as error:
            done = attrs.evolve(found, raised=f"{type(error).__name__}: {error}", fenced=_fenced(error))
        return await _left_behind(job.order, store, done)


async def _done(job: Job, runtime: Runtime[Order, Shop], found: Told) -> Told:
    match job.ask:
        case Ask.RUN:
            await runtime.run(job.order, change(id=job.order, item=ITEM, amount=AMOUNT, card=CARD))
            return found
        case Ask.RETRY:
            await runtime.retry(job.order)
            return found
        case Ask.RECOVER:
            return attrs.evolve(found, recovered=await runtime.recover())
        case Ask.TAKE_OVER:
            before = await runtime.recover()
            await runtime.take(job.order, reason="its worker does not go on")
            return attrs.evolve(found, recovered_before=before, recovered=await runtime.recover())


async def _left_behind(order: str, store: Store, done: Told) -> Told:
    thread = await store.read(order)
    history = await store.history(order)
    failures = [task.failure.text for task in thread.tasks if task.failure is not None]
    return attrs.evolve(
        done,
        status=thread.status.value,
        settled=tuple(
            Settled(effect=effect.tool, how="" if effect.how is None else effect.how.value, attempt=effect.attempt)
            for entry in history
            for effect in entry.effects
        ),
        failure=next(iter(failures), None),
        unresolved=await _unresolved(store, order),
    )


async def _unresolved(store: Store, order: str) -> tuple[str, ...]:
    return tuple(evidence.intent.tool for evidence in await store.unresolved() if evidence.key.scope == order)


def _fenced(error: BaseException) -> Fenced | None:
    """The refusal of a target among the errors that led to this one."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, TargetFenced):
            return Fenced(token=seen.token, newest=seen.newest)
        seen = seen.__cause__ or seen.__context__
    return None


def main() -> None:
    """Do the job that the command line names, and tell what came of it."""
    told = asyncio.run(work(job_of(sys.argv[1])))
    sys.stdout.write(f"{told.to_line()}\n")


if __name__ == "__main__":
    main()
