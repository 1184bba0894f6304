"""The order of writes, and that none of a claim stands behind one that failed."""

from __future__ import annotations

from effectgraph.stores.errors import ClaimLost, EarlierWriteFailed, EvidenceChanged, TaskClosed, ThreadExists
from effectgraph.stores.protocol import Store
from effectgraph.stores.records import Sync
from effectgraph.stores.testing.expect import equal, failed, refused, true
from effectgraph.stores.testing.place import Checks, Needs, Place, on_place, on_store, opened
from effectgraph.stores.testing.samples import (
    TASK,
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
    outside,
    piece,
    question,
)
from effectgraph.stores.testing.seen import everything


class LaneChecks(Checks):
    """The order of writes, and that none of a claim stands behind one that failed."""

    @on_store
    def test_writes_are_made_in_the_order_of_the_calls(self, store: Store) -> None:
        """Writes that nobody waits for in between are made one after the other, each on what those before it left."""
        claim = created(store).claim
        for step in range(1, 41):
            _ = store.commit(claim, commit(step, piece("notes", b"%d" % step, appended=True)))
        store.commit(claim, commit(41)).wait()

        equal(list(range(1, 42)), [entry.step for entry in store.history(THREAD).wait()], "the steps in history")
        equal(
            [b"%d" % step for step in range(1, 41)],
            [each.value for each in store.read(THREAD).wait().pieces if each.field == "notes"],
            "what was appended, step by step",
        )

    @on_store
    def test_a_threads_life_can_be_queued(self, store: Store) -> None:
        """A whole effect and its commit can be written without waiting in between: each sees the ones before it."""
        claim = created(store).claim
        _ = store.begin(claim, key(), intent(), seen=None)
        _ = store.trouble(claim, key(), "timed out", seen=1)
        _ = store.begin(claim, key(), intent(), seen=2)
        _ = store.settle(claim, key(), outcome(), seen=3, sync=Sync.LATER)
        _ = store.commit(claim, commit(1))
        store.release(claim).wait()

        (entry,) = store.history(THREAD).wait()
        equal([(2, outcome().how)], [(each.attempt, each.how) for each in entry.effects], "attempts and how it settled")

    @on_store
    def test_a_bad_write_fails_alone(self, store: Store) -> None:
        """A write that fails takes back only itself: what others wrote before and behind it, at once, stands."""
        claim, other = created(store).claim, created(store, "order-4").claim
        _ = store.commit(other, commit(1))
        good = store.create(new_thread("order-2"))
        _ = store.commit(other, commit(2))
        bad = store.commit(claim, commit(5, piece("total", b"9")))
        _ = store.commit(other, commit(3))
        twice = store.create(new_thread("order-2"))
        last = store.commit(other, commit(4))
        fine = store.create(new_thread("order-3"))

        failed(TaskClosed, bad, "committing a task that is not there")
        failed(ThreadExists, twice, "making a thread again")
        true(good.wait().claim.token < fine.wait().claim.token, "the writes around them are made, in order")
        last.wait()
        equal([1, 2, 3, 4], [entry.step for entry in store.history("order-4").wait()], "the steps of the other thread")
        view = store.read(THREAD).wait()
        equal(((piece(),), 0), (view.pieces, view.step), "state and step of the thread whose commit failed")

    @on_store
    def test_strict_queue_nothing_stands_behind_a_failed_write(self, store: Store) -> None:
        """After a write of a claim has failed every later one of it fails (`EarlierWriteFailed`), waiting or not."""
        claim = created(store).claim
        before = store.begin(claim, key("before"), intent(), seen=None)
        bad = store.fail(claim, "no such task", failure())
        behind = store.begin(claim, key("behind"), intent(), seen=None)
        true(before.wait().mine, "a write before the bad one is made")
        failed(TaskClosed, bad, "a failure of no task")
        seen = everything(store, calls=("before", "behind", "later"))

        for receipt in (behind, store.begin(claim, key("later"), intent(), seen=None)):
            error = failed(EarlierWriteFailed, receipt, "a write behind the bad one")
            equal((THREAD, claim.token), (error.thread, error.token), "thread and token that the error names")
        for what, write in {
            "attempt": lambda: store.attempt(claim, TASK),
            "commit": lambda: store.commit(claim, commit(1)),
            "fail": lambda: store.fail(claim, TASK, failure()),
            "ask": lambda: store.ask(claim, TASK, (question(),)),
            "settle": lambda: store.settle(claim, key("before"), outcome(), seen=1, sync=Sync.NOW),
            "withdraw": lambda: store.withdraw(claim, key("before"), seen=1),
            "trouble": lambda: store.trouble(claim, key("before"), "late", seen=1),
            "uncertain": lambda: store.uncertain(claim, key("before"), seen=1),
        }.items():
            refused(EarlierWriteFailed, write, f"{what} behind a bad write")

        equal(seen, everything(store, calls=("before", "behind", "later")), "what can be read after all of them")

    @on_store
    def test_a_refused_look_fails_the_lane_too(self, store: Store) -> None:
        """It makes no difference why a write of a claim failed: a stale version fails what is behind it as well."""
        claim = created(store).claim
        begun(store, claim)
        stale = store.settle(claim, key(), outcome(), seen=7, sync=Sync.LATER)
        behind = store.commit(claim, commit(1))

        failed(EvidenceChanged, stale, "settling over a version that never was")
        failed(EarlierWriteFailed, behind, "the commit behind it")
        equal(0, store.read(THREAD).wait().step, "the step of the thread")

    @on_store
    def test_a_refused_intent_is_no_failure(self, store: Store) -> None:
        """`begin` that finds other evidence is answered, not failed: the claim's next writes are made."""
        claim = created(store).claim
        begun(store, claim)

        true(not store.begin(claim, key(), intent(), seen=None).wait().mine, "the evidence that stands is not his")

        store.commit(claim, commit(1)).wait()

    @on_store
    def test_lanes_of_claims_are_apart(self, store: Store) -> None:
        """A failed write of one claim fails no write of another claim, nor one outside a runtime."""
        one, two, script = created(store).claim, created(store, "order-2").claim, outside(store, THREAD)
        bad = store.fail(one, "no such task", failure())
        others = store.begin(two, key(thread="order-2"), intent(), seen=None)
        without = store.begin(script, key(), intent(), seen=None)

        failed(TaskClosed, bad, "a failure of no task")
        true(others.wait().mine, "the intent of the other claim is written")
        true(without.wait().mine, "the intent outside a runtime is written")

    @on_store
    def test_a_failed_run_gives_its_thread_back(self, store: Store) -> None:
        """The release of a claim is made although an earlier write of it failed; the next claim starts afresh."""
        claim = created(store).claim
        bad = store.fail(claim, "no such task", failure())
        released = store.release(claim)

        failed(TaskClosed, bad, "a failure of no task")
        released.wait()
        equal(None, store.read(THREAD).wait().owner, "who holds the thread")
        again = store.claim(THREAD).wait().claim
        true(store.begin(again, key(), intent(), seen=None).wait().mine, "the next claim writes")

    @on_store
    def test_a_lost_claim_stays_lost(self, store: Store) -> None:
        """Every write behind the one that found its claim lost says so too (`ClaimLost`)."""
        claim = created(store).claim
        token = store.take(THREAD, "stuck", at_us=1).wait()

        receipts = [store.begin(claim, key(str(number)), intent(), seen=None) for number in range(3)]
        receipts.append(store.begin(claim, key("later"), intent(), seen=None))

        for receipt in receipts:
            error = failed(ClaimLost, receipt, "a write of a lost claim")
            equal((claim.token, token), (error.token, error.current), "the tokens that the error names")

    @on_store
    def test_outside_a_runtime_a_failed_write_fails_alone(self, store: Store) -> None:
        """Without a claim there is no order to keep: the next write is made."""
        claim = outside(store)
        bad = store.settle(claim, key(thread="script"), outcome(), seen=1, sync=Sync.LATER)
        good = store.begin(claim, key(thread="script"), intent(), seen=None)

        failed(EvidenceChanged, bad, "settling what was not begun")
        true(good.wait().mine, "the next write outside a runtime is made")

    @on_store
    def test_what_needs_no_claim_is_in_no_lane(self, store: Store) -> None:
        """A failed write of a claim stops no answer, take or release, and an answer that fails stops no write of it."""
        claim = created(store).claim
        store.ask(claim, TASK, (question("q-1"),)).wait()
        wrong = store.answer(question("q-2").id, answer())
        still = store.begin(created(store, "order-2").claim, key(thread="order-2"), intent(), seen=None)
        failed(Exception, wrong, "answering no question")
        true(still.wait().mine, "a write of a claim behind a failed answer is made")

        refused(TaskClosed, lambda: store.fail(claim, "no such task", failure()), "a failure of no task")
        store.answer(question("q-1").id, answer()).wait()
        store.take(THREAD, "to be sure", at_us=1).wait()

    @on_place(Needs.SEVERAL)
    def test_a_failed_lane_is_of_one_claim(self, place: Place) -> None:
        """The failed run of one owner does not stop the run that follows it, in another open store neither."""
        with opened(place) as one, opened(place) as two:
            claim = created(one).claim
            refused(TaskClosed, lambda: one.fail(claim, "no such task", failure()), "a failure of no task")
            one.release(claim).wait()

            again = two.claim(THREAD).wait().claim
            two.commit(again, commit(1)).wait()
            two.release(again).wait()

            one.commit(one.claim(THREAD).wait().claim, commit(2)).wait()
            equal(2, two.read(THREAD).wait().step, "the step that both came to")
