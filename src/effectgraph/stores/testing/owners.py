"""Several owners with the same data open."""

from __future__ import annotations

from functools import partial

from effectgraph.stores.errors import ClaimHeld, ClaimLost, EffectAtWork
from effectgraph.stores.records import QuestionId, Ruling, Sync
from effectgraph.stores.testing.expect import equal, refused, true
from effectgraph.stores.testing.place import Checks, Needs, Place, all_fits, on_place, opened
from effectgraph.stores.testing.samples import (
    TASK,
    THREAD,
    answer,
    begun,
    commit,
    created,
    decision,
    fork,
    intent,
    key,
    outcome,
    outside,
    piece,
    question,
)
from effectgraph.stores.testing.seen import changes_nothing, everything, found


class LivingOwnerChecks(Checks):
    """Several open stores on the same data."""

    @on_place(Needs.SEVERAL)
    def test_what_one_writes_the_other_reads(self, place: Place) -> None:
        """What was acknowledged to one owner is read by all of them, and the next one goes on with it."""
        with opened(place) as one, opened(place) as two:
            claim = created(one).claim
            begun(one, claim)
            one.ask(claim, TASK, (question(),)).wait()
            equal(everything(one), everything(two), "what both of them read")

            two.answer(QuestionId("q-1"), answer()).wait()
            equal(everything(two), everything(one), "what both of them read after an answer of the other one")
            one.commit(claim, commit(1)).wait()
            one.release(claim).wait()
            won = two.claim(THREAD).wait()
            two.commit(won.claim, commit(2)).wait()
            equal(everything(two), everything(one), "what both of them read when the other one runs the thread")
            all_fits(one)

    @on_place(Needs.SEVERAL)
    def test_owners_have_one_store_and_their_own_names(self, place: Place) -> None:
        """All who open the same data have its namespace, and each has a name and a memory of its own."""
        with opened(place) as one, opened(place) as two:
            true(one.namespace != "", "the namespace is not empty")
            equal(one.namespace, two.namespace, "the namespaces of both")
            true(one.owner != two.owner, "the owners have different names")
            one.at_work[key(), 1] = "running"
            equal({}, dict(two.at_work), "what is at work in the other one")
            one.unwritten[key(), 1] = "known"
            equal({}, dict(two.unwritten), "what the other one knows and has not written")
            for each in (one, two):
                true(each.alive(one.owner).wait(), "the first owner is alive")
                true(each.alive(two.owner).wait(), "the second owner is alive")
            namespace = one.namespace
        with opened(place) as three:
            equal(namespace, three.namespace, "the namespace when it is opened again")

    @on_place(Needs.SEVERAL)
    def test_a_living_owner_keeps_its_thread(self, place: Place) -> None:
        """While its owner's store is open, a held thread is neither claimed, deleted nor listed by another one."""
        with opened(place) as one, opened(place) as two:
            claim = created(one).claim
            begun(one, claim)
            for what, ask in {
                "claim": lambda: two.claim(THREAD),
                "delete": lambda: two.delete(THREAD, drop_unresolved=True),
            }.items():
                error = changes_nothing(two, ClaimHeld, ask, f"{what} of what another owner runs")
                equal((one.owner, claim.token), (error.owner, error.token), "owner and token that the error names")
            equal((), two.runnable("shop").wait(), "what can be run")
            equal((), two.unresolved().wait(), "what is unresolved")
            one.commit(claim, commit(1)).wait()

    @on_place(Needs.SEVERAL)
    def test_a_living_owner_can_be_passed_over(self, place: Place) -> None:
        """`take` fences an owner that is alive, from another open store; all its later writes are refused."""
        with opened(place) as one, opened(place) as two:
            claim = created(one).claim
            begun(one, claim)
            token = two.take(THREAD, "stuck", at_us=1).wait()
            won = two.claim(THREAD).wait()
            true(won.claim.token > token > claim.token, "the tokens grow")
            for write in (
                lambda: one.settle(claim, key(), outcome(), seen=1, sync=Sync.NOW),
                lambda: one.commit(claim, commit(1)),
                lambda: one.release(claim),
            ):
                changes_nothing(two, ClaimLost, write, "a write of the owner that was passed over")
            true(two.begin(won.claim, key(), intent(), seen=1).wait().mine, "the successor takes the intent over")
            refused(ClaimHeld, lambda: one.claim(THREAD), "claiming what the successor runs")

    @on_place(Needs.SEVERAL)
    def test_what_another_owner_is_at_work_on_is_not_decided(self, place: Place) -> None:
        """An effect that a living owner is at work on is not decided from another open store (`EffectAtWork`)."""
        with opened(place) as one, opened(place) as two:
            claim = created(one).claim
            for each in (claim, outside(one)):
                seen = found(two, begun(one, each), each.incarnation)
                error = changes_nothing(
                    two,
                    EffectAtWork,
                    partial(two.decide, decision(seen, Ruling.ABANDON)),
                    "a decision on what another owner is at work on",
                )
                equal((one.owner, each.token), (error.owner, error.token), "owner and token that the error names")

    @on_place(Needs.SEVERAL)
    def test_others_do_not_disturb_a_run(self, place: Place) -> None:
        """Another owner can fork, prune, decide and answer while a thread runs; its run goes on."""
        with opened(place) as one, opened(place) as two:
            claim = created(one).claim
            one.commit(claim, commit(1, piece("total", b"2"))).wait()
            name = begun(one, claim, key(task="2.pay"))
            one.trouble(claim, name, "timed out", seen=1).wait()
            one.ask(claim, "2.pay", (question(),)).wait()

            two.fork(fork(claim, 1)).wait()
            two.prune(THREAD, before=1).wait()
            ruled = two.decide(decision(found(two, name, claim.incarnation), Ruling.RETRY)).wait()
            two.answer(QuestionId("q-1"), answer()).wait()

            true(one.begin(claim, name, intent(), seen=ruled.version).wait().mine, "the run uses the grant")
            one.commit(claim, commit(2)).wait()
            equal(2, two.read(THREAD).wait().step, "the step that the run came to")
            equal(1, one.read("order-2").wait().step, "the step of the fork")
