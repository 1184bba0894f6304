"""Receipts: awaited in event loops, waited for in threads."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from effectgraph.stores import Receipt, SqliteStore, Store, StoreClosed, ThreadExists
from effectgraph.stores.records import Claimed
from store_records import THREAD, created, new_thread
from store_writer import held_up


def test_an_operation_returns_at_once(store: Store) -> None:
    """Operations queue their write and return; nothing waits but who awaits."""

    with held_up(store):
        receipt = store.create(new_thread())
        assert not receipt.done()

    assert receipt.wait().claim.thread == THREAD
    assert receipt.done()


def test_a_receipt_is_awaited_by_many(store: Store) -> None:
    """Several tasks, several event loops and plain threads get the same result, before and after it is there."""

    results: list[Claimed] = []

    async def several(receipt: Receipt[Claimed]) -> None:
        async def one() -> None:
            results.append(await receipt)

        await asyncio.gather(*(one() for _ in range(3)))

    with held_up(store):
        receipt = store.create(new_thread())
        waiting = [threading.Thread(target=lambda: asyncio.run(several(receipt))) for _ in range(2)]
        waiting.append(threading.Thread(target=lambda: results.append(receipt.wait())))
        for thread in waiting:
            thread.start()
    for thread in waiting:
        thread.join()
    asyncio.run(several(receipt))

    assert [receipt.wait()] * 10 == results


def test_every_waiter_gets_the_error(store: Store) -> None:
    """A failed write raises its error for each who waits, as often as he asks."""

    created(store)

    async def ask() -> None:
        with held_up(store):
            receipt = store.create(new_thread())
            waiting = [asyncio.ensure_future(asyncio.wait_for(receipt, 60)) for _ in range(3)]
            await asyncio.sleep(0)
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        assert [ThreadExists] * 3 == [type(each) for each in outcomes]
        with pytest.raises(ThreadExists):
            await receipt

    asyncio.run(ask())


def test_a_cancelled_waiter_cancels_nothing(store: Store) -> None:
    """The write of a waiter that is cancelled is made, and others get their result."""

    async def cancel() -> Claimed:
        async def wait_for(receipt: Receipt[Claimed]) -> Claimed:
            return await receipt

        with held_up(store):
            receipt = store.create(new_thread())
            first, second = (asyncio.create_task(wait_for(receipt)) for _ in range(2))
            await asyncio.sleep(0)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
        return await second

    assert asyncio.run(cancel()).thread == store.read(THREAD).wait()


def test_a_closed_loop_disturbs_nobody(store: Store) -> None:
    """A loop that ended while one of its tasks waited is not woken, and others are."""

    async def begin_to_wait(receipt: Receipt[Claimed]) -> None:
        async def wait_for() -> None:
            await receipt

        waiting = asyncio.create_task(wait_for())
        await asyncio.sleep(0)
        waiting.cancel()

    with held_up(store):
        receipt = store.create(new_thread())
        asyncio.run(begin_to_wait(receipt))

    assert receipt.wait().claim.thread == THREAD


def test_a_closed_store_refuses(path: Path) -> None:
    """After the close every operation says that the store is closed; closing twice is no error."""

    store = SqliteStore(path)
    with store:
        receipt = store.create(new_thread())
    asyncio.run(store.aclose())

    assert receipt.done()
    for ask in (store.claim, store.read, store.delete):
        with pytest.raises(StoreClosed, match="it was closed"):
            ask(THREAD).wait()


def test_a_store_is_closed_in_an_event_loop(path: Path) -> None:
    """`async with` closes a store without holding up the loop; what waited is written."""

    async def use() -> None:
        async with SqliteStore(path) as store:
            _ = store.create(new_thread())

    asyncio.run(use())

    with SqliteStore(path) as store:
        assert store.read(THREAD).wait().id == THREAD
