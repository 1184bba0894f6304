"""Receipts: awaited in event loops, waited for in threads, told of syncs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from effectgraph.stores.errors import TaskClosed, ThreadExists
from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import Claimed, Sync
from effectgraph.stores.testing.expect import equal, failed, true
from effectgraph.stores.testing.place import Checks, Needs, Place, on_place, on_store, opened
from effectgraph.stores.testing.samples import (
    THREAD,
    answer,
    begun,
    commit,
    created,
    failure,
    intent,
    key,
    new_thread,
    outcome,
    piece,
    question,
)
from effectgraph.stores.testing.together import together


async def result(receipt: Receipt[Claimed]) -> Claimed:
    """What a receipt gives, in a coroutine of its own."""
    return await receipt


async def gathered(receipt: Receipt[Claimed]) -> list[Claimed]:
    """What three tasks of one loop get."""
    return list(await asyncio.gather(*(result(receipt) for _ in range(3))))


class ReceiptChecks(Checks):
    """Receipts: awaited in event loops, waited for in threads, told of syncs."""

    @on_store
    def test_a_receipt_is_awaited_by_many(self, store: Store) -> None:
        """Several tasks, several event loops and plain threads get the same result, before and after it is there."""
        for number in range(3):
            receipt = store.create(new_thread(f"order-{number}"))

            def in_a_loop(receipt: Receipt[Claimed] = receipt) -> list[Claimed]:
                return asyncio.run(gathered(receipt))

            def in_a_thread(receipt: Receipt[Claimed] = receipt) -> list[Claimed]:
                return [receipt.wait()]

            results, errors = together([in_a_loop, in_a_loop, in_a_thread, in_a_thread])

            equal([], errors, "errors of those who wait")
            came = [each for some in [*results, asyncio.run(gathered(receipt))] for each in some]
            equal([receipt.wait()] * 11, came, "what all of them get")
            true(receipt.done(), "a receipt whose result is there is done")

    @on_store
    def test_every_waiter_gets_the_error(self, store: Store) -> None:
        """A failed write raises its error for each who waits, as often as he asks."""
        created(store)
        receipt = store.create(new_thread())

        async def ask() -> list[type[object]]:
            tasks = [asyncio.ensure_future(result(receipt)) for _ in range(3)]
            return [type(each) for each in await asyncio.gather(*tasks, return_exceptions=True)]

        equal([ThreadExists] * 3, asyncio.run(ask()), "what those get who await it")
        for _ in range(2):
            failed(ThreadExists, receipt, "waiting for it in a plain thread")
        true(receipt.done(), "a receipt whose write has failed is done")

    @on_store
    def test_a_cancelled_waiter_cancels_nothing(self, store: Store) -> None:
        """The write of a waiter that is cancelled is made, and others get their result."""

        async def cancel(number: int) -> object:
            receipt = store.create(new_thread(f"order-{number}"))
            first, second = (asyncio.create_task(result(receipt)) for _ in range(2))
            await asyncio.sleep(0)
            first.cancel()
            return (await asyncio.gather(first, second, return_exceptions=True))[1]

        for number in range(5):
            came = asyncio.run(cancel(number))
            made = came.thread if isinstance(came, Claimed) else came
            equal(store.read(f"order-{number}").wait(), made, "what the second waiter gets when the first is cancelled")

    @on_store
    def test_a_closed_loop_disturbs_nobody(self, store: Store) -> None:
        """A loop that ended while one of its tasks waited is not woken, and others are."""

        async def begin_to_wait(receipt: Receipt[Claimed]) -> None:
            waiting = asyncio.create_task(result(receipt))
            await asyncio.sleep(0)
            waiting.cancel()

        for number in range(5):
            receipt = store.create(new_thread(f"order-{number}"))
            asyncio.run(begin_to_wait(receipt))
            equal(f"order-{number}", receipt.wait().claim.thread, "what another waiter gets")

    @on_store
    def test_a_write_that_nobody_waits_for_is_made(self, store: Store) -> None:
        """A receipt that is thrown away is written like any other, before what is asked for behind it."""
        claim = created(store).claim
        for step in range(1, 10):
            _ = store.commit(claim, commit(step))
        store.flush().wait()

        equal(9, store.read(THREAD).wait().step, "the step of the thread")

    @on_store
    def test_readings_have_receipts_too(self, store: Store) -> None:
        """What is read is awaited or waited for, like a write, and is as it was acknowledged."""
        claim = created(store).claim

        async def look() -> tuple[object, ...]:
            return (
                await store.read(THREAD),
                await store.evidence(key(), claim.incarnation),
                await store.alive(claim.owner),
            )

        equal((store.read(THREAD).wait(), None, True), asyncio.run(look()), "what is awaited, and waited for")

    @on_store
    def test_what_is_acknowledged_is_read(self, store: Store) -> None:
        """A reading after a write's receipt sees the write, each time."""
        claim = created(store).claim
        for step in range(1, 101):
            store.commit(claim, commit(step, piece("total", b"%d" % step))).wait()
            view = store.read(THREAD).wait()
            equal((step, (piece("total", b"%d" % step),)), (view.step, view.pieces), "step and state as they are read")

    @on_store
    def test_a_synced_write_is_called_synced(self, store: Store) -> None:
        """After a synced write's receipt, what is to be called on its sync, or on that of a write before it, is called
        at once; what was to be called before that is called as well.
        """
        claim = created(store).claim
        called, early = list[str](), threading.Event()
        later = store.commit(claim, commit(1))
        later.when_synced(early.set)
        later.wait()

        now = store.begin(claim, key(task="2.pay"), intent(), seen=None)
        now.wait()
        now.when_synced(lambda: called.append("the synced write"))
        later.when_synced(lambda: called.append("the write before it"))

        equal(["the synced write", "the write before it"], called, "what was called at once, in order")
        true(early.wait(self.patience_s), "what was to be called when the write before it is synced is called")

    @on_store
    def test_every_sync_covers_what_was_before(self, store: Store) -> None:
        """With a flush, a release, a commit or an outcome that asks for it, all before it is on disk."""
        claim = created(store).claim
        commits = iter(range(1, 100))

        def covers(what: str, sync: Callable[[], Receipt[object]]) -> None:
            before = store.commit(claim, commit(next(commits)))
            sync().wait()
            called: list[str] = []
            before.when_synced(lambda: called.append(what))
            equal([what], called, f"what is called at once on a write before {what}")

        covers("a flush", store.flush)
        covers("a commit", lambda: store.commit(claim, commit(next(commits)), sync=Sync.NOW))
        one, other = key("charge", task="4.pay"), key("other", task="4.pay")
        begun(store, claim, one)
        begun(store, claim, other)
        before = store.settle(claim, one, outcome(), seen=1, sync=Sync.LATER)
        store.settle(claim, other, outcome(), seen=1, sync=Sync.NOW).wait()
        called: list[str] = []
        before.when_synced(lambda: called.append("outcome"))
        equal(["outcome"], called, "what is called at once on a write before an outcome that asks for a sync")
        covers("an intent", lambda: store.begin(claim, key(task="5.pay"), intent(), seen=None))
        covers("a question", lambda: store.ask(claim, "6.pay", (question(),)))
        store.answer(question().id, answer()).wait()
        covers("a release", lambda: store.release(claim))

    @on_store
    def test_a_synced_write_that_changes_nothing_syncs_all_the_same(self, store: Store) -> None:
        """What was written before is on disk when a synced write is acknowledged that found nothing to change."""
        claim = created(store).claim
        name = begun(store, claim)
        called: list[str] = []
        later = store.settle(claim, name, outcome(), seen=1, sync=Sync.LATER)

        true(not store.begin(claim, name, intent(), seen=None).wait().mine, "an intent over an outcome is not written")
        later.when_synced(lambda: called.append("settled"))

        equal(["settled"], called, "what was called at once")

    @on_store
    def test_an_unsynced_write_is_synced_by_itself(self, store: Store) -> None:
        """Nothing stays unsynced: what nobody asked to have synced is called synced after a while."""
        claim = created(store).claim
        synced = threading.Event()

        store.commit(claim, commit(1)).when_synced(synced.set)

        true(synced.wait(self.patience_s), f"a write is synced within {self.patience_s} s although nobody asks for it")

    @on_store
    def test_a_failed_write_is_never_called_synced(self, store: Store) -> None:
        """What waits for the sync of a write that failed is not called, before and after it failed."""
        called: list[str] = []
        claim = created(store).claim
        bad = store.fail(claim, "no such task", failure())
        bad.when_synced(lambda: called.append("before"))
        behind = store.commit(claim, commit(1))
        behind.when_synced(lambda: called.append("behind"))
        failed(TaskClosed, bad, "a failure of no task")
        bad.when_synced(lambda: called.append("after"))

        created(store, "order-2")
        store.flush().wait()

        equal([], called, "what was called")

    @on_place(Needs.ONE)
    def test_a_close_syncs_what_was_written(self, place: Place) -> None:
        """What was written is called synced when the store has been closed; what failed is not."""
        called: list[str] = []
        with opened(place) as store:
            claim = created(store).claim
            store.commit(claim, commit(1)).when_synced(lambda: called.append("committed"))
            store.fail(claim, "no such task", failure()).when_synced(lambda: called.append("failed"))

        equal(["committed"], called, "what was called")
