"""Closing: what waits is written, and then nothing more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from effectgraph.stores.errors import StoreClosed
from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import Claim, QuestionId, Ruling, Sync
from effectgraph.stores.testing.expect import equal, failed, refused, true
from effectgraph.stores.testing.place import Checks, Needs, Place, all_fits, closed, on_place, opened
from effectgraph.stores.testing.remarks import remark
from effectgraph.stores.testing.samples import (
    TASK,
    THREAD,
    answer,
    begun,
    closing,
    commit,
    created,
    decision,
    failure,
    fork,
    intent,
    key,
    new_run,
    new_thread,
    outcome,
    outside,
    piece,
    question,
)
from effectgraph.stores.testing.seen import found

OPERATIONS: Final[Mapping[str, Callable[[Store, Claim], Receipt[object]]]] = {
    "create": lambda store, _: store.create(new_thread("order-9")),
    "claim": lambda store, _: store.claim(THREAD),
    "take": lambda store, _: store.take(THREAD, "stuck", at_us=1),
    "renew": lambda store, claim: store.renew(claim),
    "release": lambda store, claim: store.release(claim),
    "start": lambda store, claim: store.start(claim, new_run(2)),
    "attempt": lambda store, claim: store.attempt(claim, TASK),
    "commit": lambda store, claim: store.commit(claim, commit(1)),
    "close": lambda store, claim: store.close(claim, closing(1)),
    "fail": lambda store, claim: store.fail(claim, TASK, failure()),
    "ask": lambda store, claim: store.ask(claim, TASK, (question(),)),
    "answer": lambda store, _: store.answer(QuestionId("q-1"), answer()),
    "begin": lambda store, claim: store.begin(claim, key("new"), intent(), seen=None),
    "settle": lambda store, claim: store.settle(claim, key(), outcome(), seen=1, sync=Sync.LATER),
    "withdraw": lambda store, claim: store.withdraw(claim, key(), seen=1),
    "trouble": lambda store, claim: store.trouble(claim, key(), "late", seen=1),
    "uncertain": lambda store, claim: store.uncertain(claim, key(), seen=1),
    "drop": lambda store, _: store.drop(outside(store), key(thread="script")),
    "remark": lambda store, claim: store.remark(remark(claim)),
    "remarks": lambda store, claim: store.remarks(key(), claim.incarnation),
    "decisions": lambda store, _: store.decisions(),
    "evidence": lambda store, claim: store.evidence(key(), claim.incarnation),
    "read": lambda store, _: store.read(THREAD),
    "state": lambda store, _: store.state(THREAD, 0),
    "history": lambda store, _: store.history(THREAD),
    "runnable": lambda store, _: store.runnable("shop"),
    "unresolved": lambda store, _: store.unresolved(),
    "pending": lambda store, _: store.pending(),
    "due": lambda store, _: store.due(1),
    "alive": lambda store, _: store.alive(store.owner),
    "fork": lambda store, claim: store.fork(fork(claim, 0)),
    "prune": lambda store, _: store.prune(THREAD, before=0),
    "delete": lambda store, _: store.delete(THREAD),
    "check": lambda store, _: store.check(),
    "flush": lambda store, _: store.flush(),
}
"""Every operation but `decide`, which needs what was seen."""


class ClosingChecks(Checks):
    """Closing: what waits is written, and then nothing more."""

    @on_place(Needs.ONE)
    def test_a_closed_store_refuses(self, place: Place) -> None:
        """After the close every operation says that the store is closed (`StoreClosed`)."""
        with opened(place) as store:
            claim = created(store).claim
            begun(store, claim)
            seen = found(store, key(), claim.incarnation)
        for what, ask in OPERATIONS.items():
            refused(StoreClosed, partial(ask, store, claim), f"{what} after the close")
        refused(StoreClosed, lambda: store.decide(decision(seen, Ruling.ABANDON)), "decide after the close")

    @on_place(Needs.ONE)
    def test_what_was_queued_is_acknowledged(self, place: Place) -> None:
        """Writes that wait when the store is closed have their result when it is: those that are made and those not."""
        store = place.open()
        claim = created(store).claim
        receipts = [store.commit(claim, commit(step)) for step in range(1, 30)]
        bad = store.fail(claim, "no such task", failure())
        closed(store)

        equal([True] * 30, [each.done() for each in [*receipts, bad]], "whether the receipts are done")
        for each in receipts:
            each.wait()
        failed(Exception, bad, "a failure of no task")

    @on_place(Needs.SEVERAL)
    def test_what_was_queued_is_written(self, place: Place) -> None:
        """Closing writes what waits, in order, although nobody awaited it; who opens the data then reads it."""
        with opened(place) as store:
            claim = created(store).claim
            for step in range(1, 50):
                _ = store.commit(claim, commit(step, piece("notes", b"%d" % step, appended=True)))
            _ = store.release(claim)

        with opened(place) as store:
            view = store.read(THREAD).wait()
            equal((49, 50, None), (view.step, len(view.pieces), view.owner), "step, pieces and holder of the thread")
            equal(49, len(store.history(THREAD).wait()), "the history of the thread")
            all_fits(store)

    @on_place(Needs.SEVERAL)
    def test_a_store_is_closed_in_an_event_loop(self, place: Place) -> None:
        """`aclose` is awaited in an event loop, like anything else, and writes what waits before it returns."""

        async def use() -> None:
            store = place.open()
            claim = (await store.create(new_thread())).claim
            for step in range(1, 100):
                _ = store.commit(claim, commit(step))
            await store.aclose()

        asyncio.run(use())
        with opened(place) as store:
            equal(99, store.read(THREAD).wait().step, "the step of the thread")

    @on_place(Needs.SEVERAL)
    def test_closing_one_disturbs_no_other(self, place: Place) -> None:
        """When one owner closes its store, another one that has the same data open goes on."""
        with opened(place) as store:
            claim = created(store).claim
            with opened(place) as other:
                created(other, "order-2")
            store.commit(claim, commit(1)).wait()
            true(store.alive(store.owner).wait(), "the owner whose store is open is alive")
            equal(("order-2",), store.runnable("shop").wait(), "what can be run")
