"""Fences: no write of somebody who lost his claim changes anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import attrs

from effectgraph.stores.errors import ClaimLost
from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import OUTSIDE, Claim, Sync
from effectgraph.stores.testing.expect import equal
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.samples import (
    NOBODY,
    TASK,
    begun,
    closing,
    commit,
    created,
    failure,
    intent,
    key,
    new_run,
    outcome,
    piece,
    question,
    task_commit,
)
from effectgraph.stores.testing.seen import changes_nothing

Prepare = Callable[[Store, Claim], None]
Write = Callable[[Store, Claim], Receipt[object]]


def an_intent(store: Store, claim: Claim) -> None:
    """The thread has an open task with one intent, at version 1."""
    begun(store, claim)


def a_committed_task(store: Store, claim: Claim) -> None:
    """The only task of the step has committed, the step is open."""
    store.commit(claim, task_commit(1, "pay")).wait()


def a_done_run(store: Store, claim: Claim) -> None:
    """The thread's run is done."""
    store.commit(claim, commit(1, done=True)).wait()


@attrs.frozen
class Lost:
    """A claim that is not the current one, and the token that the error must name as current (-1: any)."""

    claim: Claim
    current: int | None = -1


def released(store: Store, claim: Claim, prepare: Prepare) -> Lost:
    """It was given back."""
    store.release(claim).wait()
    return Lost(claim, claim.token)


def taken(store: Store, claim: Claim, prepare: Prepare) -> Lost:
    """Somebody fenced it."""
    return Lost(claim, store.take(claim.thread, "stuck", at_us=1).wait())


def claimed_again(store: Store, claim: Claim, prepare: Prepare) -> Lost:
    """Its successor holds the thread."""
    store.take(claim.thread, "stuck", at_us=1).wait()
    return Lost(claim, store.claim(claim.thread).wait().claim.token)


def released_and_claimed(store: Store, claim: Claim, prepare: Prepare) -> Lost:
    """It was given back, and somebody has claimed the thread since."""
    store.release(claim).wait()
    return Lost(claim, store.claim(claim.thread).wait().claim.token)


def deleted(store: Store, claim: Claim, prepare: Prepare) -> Lost:
    """The thread is gone."""
    store.release(claim).wait()
    store.delete(claim.thread, drop_unresolved=True).wait()
    return Lost(claim, None)


def made_anew(store: Store, claim: Claim, prepare: Prepare) -> Lost:
    """The thread was deleted, and another one has its name and stands where it stood."""
    deleted(store, claim, prepare)
    new = created(store, claim.thread).claim
    prepare(store, new)
    return Lost(claim, new.token)


def of_another_owner(store: Store, claim: Claim, prepare: Prepare) -> Lost:
    """It names the current token, and an owner who does not hold it."""
    return Lost(attrs.evolve(claim, owner=NOBODY))


def of_no_token(store: Store, claim: Claim, prepare: Prepare) -> Lost:
    """It names a token that was not given yet."""
    return Lost(attrs.evolve(claim, token=claim.token + 1_000))


def of_another_incarnation(store: Store, claim: Claim, prepare: Prepare) -> Lost:
    """It names an incarnation that the thread has not come to."""
    return Lost(attrs.evolve(claim, incarnation=claim.incarnation + 1_000))


LOST: Final[Mapping[str, Callable[[Store, Claim, Prepare], Lost]]] = {
    "was released": released,
    "was taken": taken,
    "was taken and has a successor": claimed_again,
    "was released and has a successor": released_and_claimed,
    "is of a deleted thread": deleted,
    "is of a thread that was made anew": made_anew,
    "names another owner": of_another_owner,
    "names a token that was not given": of_no_token,
    "names another incarnation": of_another_incarnation,
}
"""What a claim can have become that is not the current one."""


def is_fenced(store: Store, prepare: Prepare, write: Write) -> None:
    """Whether a write that is made under the current claim is refused, and changes nothing, under every lost one."""
    control = created(store, "control").claim
    prepare(store, control)
    write(store, control).wait()
    for number, (what, lose) in enumerate(LOST.items()):
        thread = f"order-{number}"
        claim = created(store, thread).claim
        prepare(store, claim)
        lost = lose(store, claim, prepare)
        refusal = changes_nothing(
            store,
            ClaimLost,
            partial(write, store, lost.claim),
            f"a write under a claim that {what}",
            thread,
        )
        equal((thread, lost.claim.token), (refusal.thread, refusal.token), f"what the error names if the claim {what}")
        if lost.current != -1:
            equal(lost.current, refusal.current, f"the current token in the error if the claim {what}")


class FenceChecks(Checks):
    """Fences: no write of somebody who lost his claim changes anything."""

    @on_store
    def test_E20_E21_a_lost_claim_starts_no_run(self, store: Store) -> None:
        """`start` under a claim that is not the current one changes nothing, and says so (`ClaimLost`)."""
        is_fenced(store, a_done_run, lambda store, claim: store.start(claim, new_run(2, piece("total", b"9"))))

    @on_store
    def test_E20_E21_a_lost_claim_counts_no_attempt(self, store: Store) -> None:
        """`attempt` under a claim that is not the current one changes nothing, and says so (`ClaimLost`)."""
        is_fenced(store, an_intent, lambda store, claim: store.attempt(claim, TASK))

    @on_store
    def test_E20_E21_a_lost_claim_commits_no_task(self, store: Store) -> None:
        """`commit` under a claim that is not the current one changes nothing, and says so (`ClaimLost`)."""
        is_fenced(store, an_intent, lambda store, claim: store.commit(claim, task_commit(1, "pay")))

    @on_store
    def test_E20_E21_a_lost_claim_commits_no_step(self, store: Store) -> None:
        """A commit that closes its step, under a claim that is not the current one, changes nothing (`ClaimLost`)."""
        is_fenced(store, an_intent, lambda store, claim: store.commit(claim, commit(1, piece("total", b"9"))))

    @on_store
    def test_E20_E21_a_lost_claim_closes_no_step(self, store: Store) -> None:
        """`close` under a claim that is not the current one changes nothing, and says so (`ClaimLost`)."""
        is_fenced(store, a_committed_task, lambda store, claim: store.close(claim, closing(1, piece("total", b"9"))))

    @on_store
    def test_E20_E21_a_lost_claim_records_no_failure(self, store: Store) -> None:
        """`fail` under a claim that is not the current one changes nothing, and says so (`ClaimLost`)."""
        is_fenced(store, an_intent, lambda store, claim: store.fail(claim, TASK, failure()))

    @on_store
    def test_E20_E21_a_lost_claim_asks_nothing(self, store: Store) -> None:
        """`ask` under a claim that is not the current one changes nothing, and says so (`ClaimLost`)."""
        is_fenced(
            store, an_intent, lambda store, claim: store.ask(claim, TASK, (question(f"question of {claim.thread}"),))
        )

    @on_store
    def test_E20_E21_a_lost_claim_begins_nothing(self, store: Store) -> None:
        """`begin` under a claim that is not the current one changes nothing, and says so (`ClaimLost`)."""
        is_fenced(
            store,
            an_intent,
            lambda store, claim: store.begin(claim, key("other", claim.thread), intent(), seen=None),
        )

    @on_store
    def test_E20_E21_a_lost_claim_replaces_no_intent(self, store: Store) -> None:
        """`begin` over an intent, under a claim that is not the current one, changes nothing (`ClaimLost`)."""
        is_fenced(store, an_intent, lambda store, claim: store.begin(claim, key(thread=claim.thread), intent(), seen=1))

    @on_store
    def test_E20_E21_a_lost_claim_settles_nothing(self, store: Store) -> None:
        """`settle` under a claim that is not the current one changes nothing, and says so (`ClaimLost`)."""
        is_fenced(
            store,
            an_intent,
            lambda store, claim: store.settle(claim, key(thread=claim.thread), outcome(), seen=1, sync=Sync.NOW),
        )

    @on_store
    def test_E20_E21_a_lost_claim_withdraws_nothing(self, store: Store) -> None:
        """`withdraw` under a claim that is not the current one changes nothing, and says so (`ClaimLost`)."""
        is_fenced(store, an_intent, lambda store, claim: store.withdraw(claim, key(thread=claim.thread), seen=1))

    @on_store
    def test_E20_E21_a_lost_claim_notes_no_trouble(self, store: Store) -> None:
        """`trouble` under a claim that is not the current one changes nothing, and says so (`ClaimLost`)."""
        is_fenced(store, an_intent, lambda store, claim: store.trouble(claim, key(thread=claim.thread), "late", seen=1))

    @on_store
    def test_E20_E21_a_lost_claim_gives_nothing_up(self, store: Store) -> None:
        """`uncertain` under a claim that is not the current one changes nothing, and says so (`ClaimLost`)."""
        is_fenced(store, an_intent, lambda store, claim: store.uncertain(claim, key(thread=claim.thread), seen=1))

    @on_store
    def test_E20_E21_a_lost_claim_releases_nothing(self, store: Store) -> None:
        """`release` of a claim that is not the current one changes nothing, and says so (`ClaimLost`)."""
        is_fenced(store, an_intent, lambda store, claim: store.release(claim))

    @on_store
    def test_E20_E21_a_lost_claim_is_not_renewed(self, store: Store) -> None:
        """`renew` of a claim that is not the current one says that it is lost (`ClaimLost`)."""
        is_fenced(store, an_intent, lambda store, claim: store.renew(claim))

    @on_store
    def test_a_thread_is_not_written_from_outside_a_runtime(self, store: Store) -> None:
        """Who has no claim (token 0) writes nothing to a thread: no task, step, run or question (`ClaimLost`)."""
        claim = created(store).claim
        begun(store, claim)
        writes: Mapping[str, Write] = {
            "start": lambda store, claim: store.start(claim, new_run(2)),
            "attempt": lambda store, claim: store.attempt(claim, TASK),
            "commit": lambda store, claim: store.commit(claim, task_commit(1, "pay")),
            "commit with its step": lambda store, claim: store.commit(claim, commit(1)),
            "close": lambda store, claim: store.close(claim, closing(1)),
            "fail": lambda store, claim: store.fail(claim, TASK, failure()),
            "ask": lambda store, claim: store.ask(claim, TASK, (question(),)),
            "release": lambda store, claim: store.release(claim),
            "renew": lambda store, claim: store.renew(claim),
        }
        for incarnation in (0, claim.incarnation):
            lost = attrs.evolve(claim, token=OUTSIDE, incarnation=incarnation)
            for what, write in writes.items():
                changes_nothing(store, ClaimLost, partial(write, store, lost), f"{what} with token 0")
        store.attempt(claim, TASK).wait()
