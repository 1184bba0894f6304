"""Claims and tokens: who may write to a thread, and how long."""

from __future__ import annotations

import attrs

from effectgraph.stores.errors import ClaimHeld, ClaimLost
from effectgraph.stores.protocol import Store
from effectgraph.stores.records import OwnerId, Task, ThreadStatus
from effectgraph.stores.testing.expect import equal, failed, refused, true
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.samples import (
    NOBODY,
    TASK,
    THREAD,
    begun,
    commit,
    created,
    failure,
    key,
    new_run,
    piece,
    question,
    settled,
)
from effectgraph.stores.testing.seen import everything, seen_thread


class ClaimChecks(Checks):
    """Claims and tokens: who may write to a thread, and how long."""

    @on_store
    def test_tokens_grow_over_all_threads(self, store: Store) -> None:
        """Every claim and every take of a store has a higher token than all before it, whatever the thread."""
        tokens = [
            created(store).claim.token,
            created(store, "order-2").claim.token,
            store.take(THREAD, "stuck", at_us=1).wait(),
            store.take(THREAD, "stuck", at_us=2).wait(),
            store.take("order-2", "stuck", at_us=3).wait(),
            store.claim(THREAD).wait().claim.token,
            created(store, "order-3").claim.token,
        ]

        equal(sorted(set(tokens)), tokens, "tokens in the order in which they were given")

    @on_store
    def test_a_claim_brings_everything(self, store: Store) -> None:
        """A claim comes with the state as it stands, the tasks that have not ended, and their evidence."""
        first = created(store).claim
        begun(store, first, key("charge"))
        store.commit(first, commit(1, piece("notes", b"1", appended=True))).wait()
        store.fail(first, "2.pay", failure()).wait()
        store.release(first).wait()
        second = store.claim(THREAD).wait()
        store.attempt(second.claim, "2.pay").wait()
        one = settled(store, second.claim, key("charge", task="2.pay"))
        two = begun(store, second.claim, key("other", task="2.pay"))
        store.ask(second.claim, "2.pay", (question(),)).wait()
        store.release(second.claim).wait()

        third = store.claim(THREAD).wait()

        view, incarnation = third.thread, third.claim.incarnation
        equal(store.read(THREAD).wait(), view, "the thread that came with the claim, and as it is read")
        equal((third.claim.token, store.owner), (view.token, view.owner), "token and owner of the claimed thread")
        equal((piece("notes", b"1", appended=True), piece()), view.pieces, "the state that came with the claim")
        equal(["2.pay"], [each.id for each in view.tasks], "the tasks that came with the claim")
        equal(["q-1"], [asked.question.id for asked in view.questions], "the questions that came with the claim")
        equal(
            [store.evidence(name, incarnation).wait() for name in (one, two)],
            sorted(third.evidence, key=lambda each: str(each.key)),
            "the evidence that came with the claim: that of tasks that have not ended",
        )

    @on_store
    def test_what_is_held_is_not_claimed(self, store: Store) -> None:
        """While a run holds its thread nobody else claims it (`ClaimHeld` names who holds it), nor in its process."""
        claim = created(store).claim
        before = everything(store)

        error = refused(ClaimHeld, lambda: store.claim(THREAD), "claiming what is held")

        equal((THREAD, store.owner, claim.token), (error.thread, error.owner, error.token), "what the error names")
        equal(before, everything(store), "what can be read after a refused claim")
        store.attempt(claim, TASK).wait()

    @on_store
    def test_a_refused_claim_is_not_held(self, store: Store) -> None:
        """Of claims that are asked for together the first one gets the thread; when it gives it back it is free."""
        store.release(created(store).claim).wait()

        receipts = [store.claim(THREAD) for _ in range(5)]
        won = receipts[0].wait().claim
        for receipt in receipts[1:]:
            error = failed(ClaimHeld, receipt, "a later one of the claims")
            equal(won.token, error.token, "the token of who holds the thread")
        store.release(won).wait()

        true(store.claim(THREAD).wait().claim.token > won.token, "the thread is claimed again, with a higher token")

    @on_store
    def test_a_released_thread_is_free(self, store: Store) -> None:
        """A release leaves the thread to nobody, as it was otherwise, and the claim is over."""
        claim = created(store).claim
        settled(store, claim)
        before = store.read(THREAD).wait()

        store.release(claim).wait()

        view = store.read(THREAD).wait()
        equal(attrs.evolve(before, owner=None), view, "the thread after the release")
        refused(ClaimLost, lambda: store.attempt(claim, TASK), "a write under the released claim")
        refused(ClaimLost, lambda: store.release(claim), "a second release")
        true(store.claim(THREAD).wait().claim.token > claim.token, "the next claim has a higher token")

    @on_store
    def test_a_queued_release_frees_the_thread(self, store: Store) -> None:
        """A claim that is asked for behind a release gets the thread, although nobody awaited the release."""
        claim = created(store).claim

        _ = store.release(claim)
        again = store.claim(THREAD)

        true(again.wait().claim.token > claim.token, "the thread is claimed, with a higher token")

    @on_store
    def test_a_taken_thread_is_held_by_nobody(self, store: Store) -> None:
        """`take` fences a run that is alive, by the token that it returns, and leaves the thread to who claims it."""
        claim = created(store).claim
        before = store.read(THREAD).wait()

        token = store.take(THREAD, "its notebook was interrupted", at_us=7).wait()

        true(token > claim.token, "the token of the take is higher than that of the claim")
        equal(attrs.evolve(before, token=token, owner=None), store.read(THREAD).wait(), "the thread after the take")
        equal((THREAD,), store.runnable("shop").wait(), "what can be run then")
        error = refused(ClaimLost, lambda: store.attempt(claim, TASK), "a write of the fenced run")
        equal((claim.token, token), (error.token, error.current), "the tokens that the error names")
        true(store.claim(THREAD).wait().claim.token > token, "the next claim has a higher token")

    @on_store
    def test_a_thread_that_nobody_holds_can_be_taken(self, store: Store) -> None:
        """`take` gives a new token also when nobody runs the thread, each time."""
        store.release(created(store).claim).wait()

        first = store.take(THREAD, "to be sure", at_us=1).wait()
        second = store.take(THREAD, "to be sure", at_us=1).wait()

        true(second > first, "the second take has a higher token")
        equal((second, None), (store.read(THREAD).wait().token, store.read(THREAD).wait().owner), "token and owner")

    @on_store
    def test_a_renewal_changes_nothing(self, store: Store) -> None:
        """`renew` says that a run goes on, and changes nothing that can be read."""
        claim = created(store).claim
        settled(store, claim)
        before = everything(store)

        store.renew(claim).wait()

        equal(before, everything(store), "what can be read after a renewal")
        store.attempt(claim, TASK).wait()

    @on_store
    def test_a_done_or_failed_thread_can_be_claimed(self, store: Store) -> None:
        """A thread can be claimed wherever it stands: to begin another run, or to try again."""
        done, failed = created(store).claim, created(store, "order-2").claim
        store.commit(done, commit(1, done=True)).wait()
        store.fail(failed, TASK, failure()).wait()
        store.release(done).wait()
        store.release(failed).wait()

        store.start(store.claim(THREAD).wait().claim, new_run(2)).wait()
        opened = store.attempt(store.claim("order-2").wait().claim, TASK).wait()

        equal(ThreadStatus.RUNNING, store.read(THREAD).wait().status, "the thread that was done")
        equal(Task(id=TASK, step=1, node="pay", attempts=2), opened, "the task that had failed")

    @on_store
    def test_claims_of_threads_are_apart(self, store: Store) -> None:
        """Releasing, taking and losing one thread disturbs no claim of another."""
        one, two = created(store).claim, created(store, "order-2").claim
        before = seen_thread(store, "order-2")

        store.take(THREAD, "stuck", at_us=1).wait()
        refused(ClaimLost, lambda: store.attempt(one, TASK), "a write of the fenced run")

        equal(before, seen_thread(store, "order-2"), "the other thread")
        store.attempt(two, TASK).wait()
        store.release(two).wait()

    @on_store
    def test_an_owner_is_alive_while_its_store_is_open(self, store: Store) -> None:
        """An open store's owner is alive; one that never was is not."""
        true(store.alive(store.owner).wait(), "the owner of an open store is alive")
        true(not store.alive(NOBODY).wait(), "an owner that never was is not alive")
        true(not store.alive(OwnerId("made up")).wait(), "an owner whose name is made up is not alive")

    @on_store
    def test_what_is_at_work_is_in_memory(self, store: Store) -> None:
        """`at_work` and `unwritten` are mappings that their owner writes and reads, each its own; empty at first."""
        equal(({}, {}), (dict(store.at_work), dict(store.unwritten)), "what is in them in a new store")

        store.at_work[key(), 1] = "running"
        equal("running", store.at_work.get((key(), 1)), "what was put there")
        equal(None, store.at_work.get((key(), 2)), "another token of that key")
        equal({}, dict(store.unwritten), "what is in the other one")
        store.unwritten[key(), 1] = "known"
        equal("known", store.unwritten.get((key(), 1)), "what was put into the other one")
        del store.at_work[key(), 1]
        del store.unwritten[key(), 1]

        equal(({}, {}), (dict(store.at_work), dict(store.unwritten)), "what is in them then")
