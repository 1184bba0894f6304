"""What a power cut takes: nothing that was acknowledged as synced, nor anything before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import Claim, QuestionId, Ruling, Sync
from effectgraph.stores.testing.expect import equal, true
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
    settled,
    task_commit,
)
from effectgraph.stores.testing.seen import Seen, everything, found

THREADS: Final = (THREAD, "order-2", "order-9")


def doubtful(store: Store, claim: Claim) -> None:
    """An effect whose attempt ended without knowing."""
    begun(store, claim)
    store.trouble(claim, key(), "timed out", seen=1).wait()


def nothing(store: Store, claim: Claim) -> None:
    """The thread as it was made."""


def an_intent(store: Store, claim: Claim) -> None:
    """An intent at version 1."""
    begun(store, claim)


def asked(store: Store, claim: Claim) -> None:
    """A task that waits."""
    store.ask(claim, TASK, (question(),)).wait()


def released(store: Store, claim: Claim) -> None:
    """A thread that nobody holds."""
    store.release(claim).wait()


def dropped_next(store: Store, claim: Claim) -> None:
    """An outcome outside a runtime."""
    settled(store, outside(store, THREAD), key("other"))


Operation = tuple[Callable[[Store, Claim], None], Callable[[Store, Claim], Receipt[object]]]

SYNCED: Final[Mapping[str, Operation]] = {
    "create": (nothing, lambda store, _: store.create(new_thread("order-9"))),
    "claim": (released, lambda store, _: store.claim(THREAD)),
    "take": (nothing, lambda store, _: store.take(THREAD, "stuck", at_us=1)),
    "release": (nothing, lambda store, claim: store.release(claim)),
    "attempt": (nothing, lambda store, claim: store.attempt(claim, TASK)),
    "commit that asks for it": (
        nothing,
        lambda store, claim: store.commit(claim, commit(1, piece("total", b"9")), sync=Sync.NOW),
    ),
    "close that asks for it": (
        lambda store, claim: store.commit(claim, task_commit(1, "pay")).wait(),
        lambda store, claim: store.close(claim, closing(1, piece("total", b"9")), sync=Sync.NOW),
    ),
    "ask": (nothing, lambda store, claim: store.ask(claim, TASK, (question(),))),
    "answer": (asked, lambda store, _: store.answer(QuestionId("q-1"), answer())),
    "begin": (nothing, lambda store, claim: store.begin(claim, key(), intent(), seen=None)),
    "begin over an intent": (
        an_intent,
        lambda store, claim: store.begin(claim, key(), intent(fingerprint="f2"), seen=1),
    ),
    "settle that asks for it": (
        an_intent,
        lambda store, claim: store.settle(claim, key(), outcome(), seen=1, sync=Sync.NOW),
    ),
    "withdraw": (an_intent, lambda store, claim: store.withdraw(claim, key(), seen=1)),
    "uncertain": (an_intent, lambda store, claim: store.uncertain(claim, key(), seen=1)),
    "drop": (dropped_next, lambda store, _: store.drop(outside(store, THREAD), key("other"))),
    "decide": (
        doubtful,
        lambda store, claim: store.decide(decision(found(store, key(), claim.incarnation), Ruling.RETRY)),
    ),
    "fork": (nothing, lambda store, claim: store.fork(fork(claim, 0, "order-9"))),
    "prune": (
        lambda store, claim: store.commit(claim, commit(1)).wait(),
        lambda store, _: store.prune(THREAD, before=1),
    ),
    "delete": (released, lambda store, _: store.delete(THREAD)),
}
"""What is synced before it is acknowledged: what stands before it, and the write."""

LATER: Final[Mapping[str, Operation]] = {
    "start": (
        lambda store, claim: store.commit(claim, commit(1, done=True)).wait(),
        lambda store, claim: store.start(claim, new_run(2)),
    ),
    "commit": (nothing, lambda store, claim: store.commit(claim, commit(1, piece("total", b"9")))),
    "commit without its step": (nothing, lambda store, claim: store.commit(claim, task_commit(1, "pay"))),
    "close": (
        lambda store, claim: store.commit(claim, task_commit(1, "pay")).wait(),
        lambda store, claim: store.close(claim, closing(1)),
    ),
    "fail": (nothing, lambda store, claim: store.fail(claim, TASK, failure())),
    "settle": (
        an_intent,
        lambda store, claim: store.settle(claim, key(), outcome(), seen=1, sync=Sync.LATER),
    ),
    "trouble": (an_intent, lambda store, claim: store.trouble(claim, key(), "late", seen=1)),
    "remark": (an_intent, lambda store, claim: store.remark(remark(claim))),
}
"""What is on disk with the next synced write."""


def power_cut(place: Place) -> None:
    """The power goes: what is not synced is forgotten, and all who have the data open are gone."""
    if place.power_cut is not None:
        place.power_cut()


def survives(seen: Seen, place: Place, what: str) -> None:
    """Whether everything of these threads is there for who opens the data after the power has gone."""
    power_cut(place)
    with opened(place) as store:
        again = everything(store, *THREADS)
        equal(seen.threads, again.threads, f"the threads after a power cut behind {what}")
        equal(seen.evidence, again.evidence, f"the evidence after a power cut behind {what}")
        equal(seen.remarks, again.remarks, f"the remarks after a power cut behind {what}")
        equal(seen.decisions, again.decisions, f"the decisions after a power cut behind {what}")
        equal(seen.pending, again.pending, f"the questions after a power cut behind {what}")
        all_fits(store)


class DurabilityChecks(Checks):
    """What a power cut takes: nothing that was acknowledged as synced, nor anything before it."""

    @on_place(Needs.POWER_CUT)
    def test_a_synced_claim_survives(self, place: Place) -> None:
        """Once acknowledged, what was created, claimed, taken, released or attempted is on disk, with all before it."""
        self.each_survives("create", "claim", "take", "release", "attempt")

    @on_place(Needs.POWER_CUT)
    def test_a_synced_step_survives(self, place: Place) -> None:
        """A commit and the end of a step that ask for it are on disk once acknowledged, with all before them."""
        self.each_survives("commit that asks for it", "close that asks for it")

    @on_place(Needs.POWER_CUT)
    def test_a_synced_question_survives(self, place: Place) -> None:
        """Questions and answers are on disk once acknowledged, with all before them."""
        self.each_survives("ask", "answer")

    @on_place(Needs.POWER_CUT)
    def test_a_synced_effect_survives(self, place: Place) -> None:
        """Intents, withdrawals, doubts, drops, and outcomes that ask for it are on disk once acknowledged."""
        self.each_survives("begin", "begin over an intent", "settle that asks for it", "withdraw", "uncertain", "drop")

    @on_place(Needs.POWER_CUT)
    def test_a_synced_ruling_survives(self, place: Place) -> None:
        """Decisions, forks, prunes and deletions are on disk once acknowledged, with all before them."""
        self.each_survives("decide", "fork", "prune", "delete")

    @on_place(Needs.POWER_CUT)
    def test_what_is_not_synced_is_on_disk_with_the_next_that_is(self, place: Place) -> None:
        """Whatever was written before a synced write, a flush or a close is on disk with it."""
        for what, (prepare, write) in LATER.items():
            for how in ("a synced write", "a flush", "a close"):
                with self.place() as each:
                    store = each.open()
                    claim, other = created(store).claim, created(store, "order-2").claim
                    prepare(store, claim)
                    write(store, claim).wait()
                    match how:
                        case "a synced write":
                            store.attempt(other, TASK).wait()
                        case "a flush":
                            store.flush().wait()
                        case _:
                            pass
                    seen = everything(store, *THREADS)
                    if how == "a close":
                        closed(store)
                    survives(seen, each, f"{what} and {how}")

    @on_place(Needs.POWER_CUT)
    def test_what_is_lost_is_lost_from_the_end(self, place: Place) -> None:
        """Of writes that nobody asked to have synced a power cut takes the last ones, never one from among them."""
        store = place.open()
        claim = created(store).claim
        for step in range(1, 9):
            store.commit(claim, commit(step, piece("notes", b"%d" % step, appended=True))).wait()
        power_cut(place)

        with opened(place) as again:
            view = again.read(THREAD).wait()
            steps = list(range(1, view.step + 1))
            equal(steps, [entry.step for entry in again.history(THREAD).wait()], "the steps in history")
            equal(
                [b"%d" % step for step in steps],
                [each.value for each in view.pieces if each.field == "notes"],
                "what was appended",
            )
            true(again.claim(THREAD).wait().claim.token > claim.token, "the token is higher than all before")
            all_fits(again)

    @on_place(Needs.POWER_CUT)
    def test_what_is_called_synced_survives(self, place: Place) -> None:
        """`when_synced` calls no sooner than the write is on disk; where every write is synced, each is."""
        for what, (prepare, write) in LATER.items():
            with self.place() as each:
                store = each.open()
                claim = created(store).claim
                prepare(store, claim)
                store.flush().wait()
                called: list[str] = []
                receipt = write(store, claim)
                receipt.when_synced(partial(called.append, "synced"))
                receipt.wait()
                receipt.when_synced(partial(called.append, "synced"))
                seen = everything(store, *THREADS)
                if called or store.syncs_all:
                    survives(seen, each, f"{what}, which was called synced")
                else:
                    power_cut(each)

    def each_survives(self, *names: str) -> None:
        """Whether each of these operations is on disk once acknowledged, with an unsynced commit before it."""
        for name in names:
            prepare, write = SYNCED[name]
            with self.place() as place:
                store = place.open()
                claim, other = created(store).claim, created(store, "order-2").claim
                prepare(store, claim)
                store.commit(other, commit(1, piece("total", b"2"))).wait()
                write(store, claim).wait()
                survives(everything(store, *THREADS), place, name)
