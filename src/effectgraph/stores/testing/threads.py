"""Threads: made, named, deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import attrs

from effectgraph.stores.errors import (
    ClaimHeld,
    ClaimLost,
    QuestionUnknown,
    ThreadExists,
    ThreadUnknown,
    UnresolvedStands,
)
from effectgraph.stores.limits import KEY_PART_BYTES
from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import NewRun, QuestionId, Ruling, Task, ThreadStatus
from effectgraph.stores.testing.expect import equal, refused, true
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.samples import (
    GRAPH,
    TASK,
    THREAD,
    answer,
    begun,
    commit,
    created,
    decision,
    fork,
    key,
    new_thread,
    outside,
    piece,
    question,
    settled,
)
from effectgraph.stores.testing.seen import changes_nothing, found, seen_thread

NOT_A_NAME: Final = {
    "is empty": "",
    "has a byte too many": "x" * (KEY_PART_BYTES + 1),
    "has letters that take too many bytes": "é" * (KEY_PART_BYTES // 2 + 1),
    "has a control character": "a\nb",
    "has a lone surrogate": "\ud800",
}
"""Thread ids that no effect key could hold."""

OF_NO_THREAD: Final[Mapping[str, Callable[[Store], Receipt[object]]]] = {
    "claim": lambda store: store.claim("nobody"),
    "take": lambda store: store.take("nobody", "stuck", at_us=1),
    "read": lambda store: store.read("nobody"),
    "state": lambda store: store.state("nobody", 0),
    "history": lambda store: store.history("nobody"),
    "prune": lambda store: store.prune("nobody", before=0),
    "delete": lambda store: store.delete("nobody"),
}
"""What can be asked of a thread that is not there."""


class ThreadChecks(Checks):
    """Threads: made, named, deleted."""

    @on_store
    def test_a_new_thread_is_claimed(self, store: Store) -> None:
        """`create` makes a thread with its first run, and gives its maker the claim and all that the run needs."""
        made = store.create(new_thread(THREAD, piece("total", b"5"))).wait()

        equal((THREAD, store.owner), (made.claim.thread, made.claim.owner), "thread and owner of the claim")
        true(made.claim.token > 0, "the token of a claim is greater than 0")
        true(made.claim.incarnation > 0, "the incarnation of a thread is greater than 0, which is that of no runtime")
        equal(store.read(THREAD).wait(), made.thread, "the thread that came with the claim, and as it is read")
        view = made.thread
        equal((GRAPH, ThreadStatus.RUNNING, 0), (view.graph, view.status, view.step), "graph, status and step")
        equal((made.claim.token, store.owner), (view.token, view.owner), "token and owner of the thread")
        equal(made.claim.incarnation, view.incarnation, "the incarnation of the thread")
        equal((piece("total", b"5"),), view.pieces, "the state of the new thread")
        equal((Task(id=TASK, step=1, node="pay"),), view.tasks, "the tasks of the new thread")
        equal(((), 0, None), (view.questions, view.kept_from, view.origin), "questions, kept_from, origin")
        equal((), made.evidence, "the evidence of a new thread")
        equal((), store.history(THREAD).wait(), "the history of a new thread")

    @on_store
    def test_a_thread_is_made_once(self, store: Store) -> None:
        """Making a thread that is there is refused (`ThreadExists`), naming how it stands."""
        claim = created(store).claim
        error = changes_nothing(store, ThreadExists, lambda: store.create(new_thread()), "making it again")
        equal((THREAD, "running"), (error.thread, error.status), "what the error names")

        store.commit(claim, commit(1, done=True)).wait()
        store.release(claim).wait()
        error = changes_nothing(store, ThreadExists, lambda: store.create(new_thread()), "making it when it is done")

        equal("done", error.status, "the status that the error names")

    @on_store
    def test_a_thread_id_can_be_part_of_a_key(self, store: Store) -> None:
        """A thread id that no effect key can hold is refused (`ValueError`), and nothing is made."""
        claim = created(store).claim
        for what, name in NOT_A_NAME.items():
            changes_nothing(store, ValueError, partial(store.create, new_thread(name)), f"an id that {what}")
            changes_nothing(store, ValueError, partial(store.fork, fork(claim, 0, name)), f"a fork whose id {what}")

    @on_store
    def test_names_are_kept_as_they_are(self, store: Store) -> None:
        """Ids of every length and script that are allowed come back as they were given, and are told apart."""
        names = ["x", "X", "x ", " x", "%", "_", "a'b", 'a"b', "a\\b", "ä", "a\u0308", "日本", "\U0010ffff"]
        names += ["x" * KEY_PART_BYTES, "é" * (KEY_PART_BYTES // 2)]
        claims = [store.create(new_thread(name)).wait().claim for name in names]
        for claim in claims:
            settled(store, claim)

        equal(names, [store.read(name).wait().id for name in names], "ids as they are read")
        equal(
            [claim.token for claim in claims],
            [found(store, key(thread=claim.thread), claim.incarnation).token for claim in claims],
            "tokens of the effects of those threads",
        )

    @on_store
    def test_a_run_with_no_task_is_done(self, store: Store) -> None:
        """A first run that schedules nothing is done at once."""
        empty = NewRun(step=0, pieces=(), tasks=(), at_us=1)
        made = store.create(attrs.evolve(new_thread(), run=empty)).wait()

        equal((ThreadStatus.DONE, ()), (made.thread.status, made.thread.pieces), "status and state")

    @on_store
    def test_unknown_threads_are_named(self, store: Store) -> None:
        """Whatever is asked of a thread that is not there is refused by its name (`ThreadUnknown`)."""
        for what, ask in OF_NO_THREAD.items():
            error = refused(ThreadUnknown, partial(ask, store), f"{what} of a thread that is not there")
            equal("nobody", error.thread, f"the thread that the error of {what} names")
        claim = created(store).claim
        refused(ThreadUnknown, lambda: store.fork(attrs.evolve(fork(claim, 0), source="nobody")), "fork of no thread")

    @on_store
    def test_E14_a_thread_made_anew_starts_clean(self, store: Store) -> None:
        """A deleted thread is gone with everything of it; one made anew has nothing of it and another incarnation."""
        old = created(store).claim
        store.commit(old, commit(1, piece("notes", b"1", appended=True))).wait()
        settled(store, old, key("charge", task="2.pay"))
        begun(store, old, key("other", task="2.pay"))
        store.release(old).wait()
        store.delete(THREAD, drop_unresolved=True).wait()
        refused(ThreadUnknown, lambda: store.read(THREAD), "reading a deleted thread")
        equal((), store.unresolved().wait(), "what is unresolved after the deletion")

        new = created(store)

        true(new.claim.token > old.token, "the token is higher than any before the deletion")
        true(new.claim.incarnation > old.incarnation, "the incarnation is another, higher one")
        equal(((piece(),), ()), (new.thread.pieces, new.evidence), "state and evidence of the new thread")
        for incarnation in (old.incarnation, new.claim.incarnation):
            for call in ("charge", "other"):
                equal(None, store.evidence(key(call, task="2.pay"), incarnation).wait(), "evidence of a deleted thread")
        equal((), store.history(THREAD).wait(), "the history of the new thread")

    @on_store
    def test_E14_tokens_grow_over_deletions(self, store: Store) -> None:
        """A token is higher than all before it, also when the newest one belonged to a thread that is gone."""
        newest = 0
        for _ in range(3):
            claim = created(store).claim
            true(claim.token > newest, f"token {claim.token} is higher than {newest}, given before")
            newest = store.take(THREAD, "to be deleted", at_us=1).wait()
            store.delete(THREAD).wait()

    @on_store
    def test_a_deletion_names_what_is_unresolved(self, store: Store) -> None:
        """A thread with an unresolved effect is deleted only when told to drop it (`UnresolvedStands` names it)."""
        claim = created(store).claim
        begun(store, claim)
        settled(store, claim, key("other"))
        store.release(claim).wait()

        error = changes_nothing(store, UnresolvedStands, lambda: store.delete(THREAD), "deleting the thread")
        equal((THREAD, 1), (error.thread, len(error.effects)), "thread and number of effects that the error names")
        true("charge" in error.effects[0], f"{error.effects[0]!r} names the call that is unresolved")

        store.delete(THREAD, drop_unresolved=True).wait()
        equal((), store.unresolved().wait(), "what is unresolved then")

    @on_store
    def test_a_deletion_names_what_a_commit_left(self, store: Store) -> None:
        """An effect that outlived its task is unresolved: it stands in the way of a deletion as well."""
        claim = created(store).claim
        begun(store, claim)
        store.commit(claim, commit(1)).wait()
        store.release(claim).wait()

        changes_nothing(store, UnresolvedStands, lambda: store.delete(THREAD), "deleting the thread")
        store.delete(THREAD, drop_unresolved=True).wait()

        equal((), store.unresolved().wait(), "what is unresolved then")

    @on_store
    def test_what_was_given_up_on_does_not_stand_in_the_way(self, store: Store) -> None:
        """A thread whose only open effect a person gave up on is deleted without being told to drop it."""
        claim = created(store).claim
        name = begun(store, claim)
        store.release(claim).wait()
        store.decide(decision(found(store, name, claim.incarnation), Ruling.ABANDON)).wait()

        store.delete(THREAD).wait()

        equal(None, store.evidence(name, claim.incarnation).wait(), "the evidence of the deleted thread")

    @on_store
    def test_what_is_held_is_not_deleted(self, store: Store) -> None:
        """While a run holds its thread it is not deleted (`ClaimHeld`), not even to drop what is unresolved."""
        claim = created(store).claim
        for drop in (False, True):
            error = changes_nothing(
                store, ClaimHeld, partial(store.delete, THREAD, drop_unresolved=drop), "deleting what runs"
            )
            equal((store.owner, claim.token), (error.owner, error.token), "owner and token that the error names")

    @on_store
    def test_a_deletion_takes_the_questions(self, store: Store) -> None:
        """The questions of a deleted thread are gone, and their ids are free."""
        claim = created(store).claim
        store.ask(claim, TASK, (question(),)).wait()
        store.release(claim).wait()
        store.delete(THREAD).wait()

        equal((), store.pending().wait(), "what is pending then")
        refused(QuestionUnknown, lambda: store.answer(QuestionId("q-1"), answer()), "answering a deleted question")
        store.ask(created(store).claim, TASK, (question(),)).wait()

    @on_store
    def test_a_deletion_touches_no_other(self, store: Store) -> None:
        """Deleting a thread leaves other threads, and effects of that scope outside a runtime, as they are."""
        old = created(store).claim
        settled(store, old)
        other = created(store, "order-2").claim
        settled(store, other)
        settled(store, outside(store, THREAD))
        store.release(old).wait()
        other_key = key(thread="order-2")

        def rest() -> object:
            evidence = store.evidence(other_key, other.incarnation).wait(), store.evidence(key(), 0).wait()
            return seen_thread(store, "order-2"), *evidence

        before = rest()
        store.delete(THREAD).wait()

        equal(before, rest(), "what is not the thread's")
        refused(ClaimLost, lambda: store.attempt(old, TASK), "a write to the deleted thread")
