"""Forks: a thread made of another one's state."""

from __future__ import annotations

from functools import partial

import attrs

from effectgraph.stores.errors import StepUnknown, ThreadExists, ThreadUnknown
from effectgraph.stores.protocol import Store
from effectgraph.stores.records import Claim, Origin, ThreadStatus
from effectgraph.stores.testing.expect import equal, refused, true
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.samples import (
    GRAPH,
    THREAD,
    answer,
    begun,
    commit,
    created,
    fork,
    key,
    new_thread,
    piece,
    question,
    settled,
    task,
)
from effectgraph.stores.testing.seen import changes_nothing, everything, seen_thread


def grown(store: Store) -> Claim:
    """The claim of a thread at step 3, whose state is in pieces of all steps."""
    claim = created(store).claim
    store.commit(claim, commit(1, piece("notes", b"a", appended=True))).wait()
    store.commit(claim, commit(2, piece("notes", b"b", appended=True), piece("total", b"2"))).wait()
    store.commit(claim, commit(3, piece("notes", b"new"))).wait()
    return claim


class ForkChecks(Checks):
    """Forks: a thread made of another one's state."""

    @on_store
    def test_a_fork_has_the_state_after_a_step(self, store: Store) -> None:
        """A fork begins with the state of the other thread after a step: that step, its graph, its own tasks."""
        claim = grown(store)
        for step in range(4):
            store.fork(fork(claim, step, f"fork-{step}")).wait()
            view = store.read(f"fork-{step}").wait()
            equal(store.state(THREAD, step).wait(), view.pieces, f"the state of a fork after step {step}")
            equal(
                (step, GRAPH, ThreadStatus.RUNNING, (task(step + 1),)),
                (view.step, view.graph, view.status, view.tasks),
                "step, graph, status and tasks of the fork",
            )
            equal(view.pieces, store.state(f"fork-{step}", step).wait(), "its state, read by step")
            equal(Origin(thread=THREAD, incarnation=claim.incarnation, step=step), view.origin, "its origin")

    @on_store
    def test_a_fork_is_held_by_nobody(self, store: Store) -> None:
        """Nobody holds a fork: it is runnable, its incarnation is new, and its first claim has a higher token."""
        claim = grown(store)
        newest = created(store, "order-9").claim

        store.fork(fork(claim, 1)).wait()

        view = store.read("order-2").wait()
        equal(None, view.owner, "who holds the fork")
        true(view.incarnation > newest.incarnation, "its incarnation is higher than all before it")
        equal(("order-2",), store.runnable("shop").wait(), "what can be run")
        won = store.claim("order-2").wait()
        true(won.claim.token > newest.token, "its first claim has a higher token than all before it")
        equal(view.incarnation, won.claim.incarnation, "the incarnation of the claim")
        store.commit(won.claim, commit(2)).wait()

    @on_store
    def test_a_fork_without_tasks_is_done(self, store: Store) -> None:
        """A fork that schedules nothing is done; another run can begin on its state."""
        claim = grown(store)

        store.fork(fork(claim, 3, done=True)).wait()

        view = store.read("order-2").wait()
        equal((ThreadStatus.DONE, ()), (view.status, view.tasks), "status and tasks of the fork")

    @on_store
    def test_nothing_but_the_state_is_copied(self, store: Store) -> None:
        """A fork has no history, no evidence and no questions of the other thread, and no older states."""
        claim = grown(store)
        store.ask(claim, "4.pay", (question("q-1"), question("q-2"))).wait()
        store.answer(question("q-1").id, answer()).wait()
        store.answer(question("q-2").id, answer()).wait()
        settled(store, claim, key(task="4.pay"))
        begun(store, claim, key("other", task="4.pay"))

        store.fork(attrs.evolve(fork(claim, 3), tasks=(task(4),))).wait()

        equal((), store.history("order-2").wait(), "the history of the fork")
        won = store.claim("order-2").wait()
        equal(((), ()), (won.evidence, won.thread.questions), "evidence and questions of the fork")
        for call in ("charge", "other"):
            equal(
                None,
                store.evidence(key(call, "order-2", "4.pay"), won.claim.incarnation).wait(),
                "an effect's evidence in the fork",
            )
        equal(3, won.thread.kept_from, "the first step whose state can be read")
        error = refused(StepUnknown, lambda: store.state("order-2", 2), "a state before the fork")
        equal((3, 3), (error.kept_from, error.last), "the steps that the error names")

    @on_store
    def test_the_other_thread_stays_as_it_is(self, store: Store) -> None:
        """A fork changes nothing of the thread that it was made of, whoever runs it: he goes on."""
        claim = grown(store)
        begun(store, claim, key(task="4.pay"))
        before = seen_thread(store, THREAD), store.unresolved().wait()

        store.fork(fork(claim, 1)).wait()

        equal(before, (seen_thread(store, THREAD), store.unresolved().wait()), "the thread that was forked")
        store.commit(claim, commit(4)).wait()

    @on_store
    def test_a_fork_goes_its_own_way(self, store: Store) -> None:
        """What is committed to one of both is not seen in the other; either can be deleted."""
        claim = grown(store)
        store.fork(fork(claim, 2)).wait()
        ours = store.claim("order-2").wait().claim
        store.commit(ours, commit(3, piece("notes", b"ours", appended=True))).wait()
        store.commit(claim, commit(4, piece("notes", b"theirs", appended=True))).wait()
        equal(
            [b"a", b"b", b"ours", b"2"],
            [each.value for each in store.read("order-2").wait().pieces],
            "the state of the fork",
        )
        equal([b"new", b"theirs", b"2"], [each.value for each in store.read(THREAD).wait().pieces], "the other state")
        equal(["3.pay"], [entry.task for entry in store.history("order-2").wait()], "the history of the fork")
        store.release(claim).wait()
        before = seen_thread(store, "order-2")

        store.delete(THREAD).wait()

        equal(before, seen_thread(store, "order-2"), "the fork after the other thread was deleted")
        store.fork(attrs.evolve(fork(ours, 3), id="order-3")).wait()
        equal(store.read("order-2").wait().pieces, store.read("order-3").wait().pieces, "a fork of the fork")

    @on_store
    def test_what_cannot_be_forked_is_refused(self, store: Store) -> None:
        """A fork of no thread, of another incarnation, of a step that is not there, under a taken id, is refused."""
        claim = grown(store)
        created(store, "taken")
        ids = (THREAD, "order-2", "taken")
        for what, bad in {
            "no thread": attrs.evolve(fork(claim, 1), source="nobody"),
            "another incarnation": attrs.evolve(fork(claim, 1), incarnation=claim.incarnation + 1_000),
        }.items():
            changes_nothing(store, ThreadUnknown, partial(store.fork, bad), f"a fork of {what}", *ids)
        for step in (-1, 4):
            error = changes_nothing(
                store, StepUnknown, partial(store.fork, fork(claim, step)), f"a fork of step {step}", *ids
            )
            equal((step, 0, 3), (error.step, error.kept_from, error.last), "the steps that the error names")
        for name in ("taken", THREAD):
            exists = changes_nothing(
                store, ThreadExists, partial(store.fork, fork(claim, 1, name)), "a fork under a taken id", *ids
            )
            equal(name, exists.thread, "the thread that the error names")

    @on_store
    def test_a_fork_of_an_old_incarnation_is_refused(self, store: Store) -> None:
        """A thread that was made anew is not the one that the caller saw: it is not forked for it (`ThreadUnknown`)."""
        claim = grown(store)
        store.release(claim).wait()
        store.delete(THREAD).wait()
        store.create(new_thread()).wait()

        changes_nothing(store, ThreadUnknown, lambda: store.fork(fork(claim, 0)), "a fork of a thread that was deleted")

    @on_store
    def test_a_fork_is_all_there(self, store: Store) -> None:
        """A fork can be released, taken, asked, answered, and forked at its own first step, like any other thread."""
        claim = grown(store)
        store.fork(fork(claim, 1)).wait()
        won = store.claim("order-2").wait().claim
        store.ask(won, "2.pay", (question(),)).wait()
        store.answer(question().id, answer()).wait()
        settled(store, won, key(thread="order-2", task="2.pay"))
        store.commit(won, commit(2)).wait()
        store.release(won).wait()
        before = everything(store, THREAD)

        store.take("order-2", "stuck", at_us=1).wait()
        store.delete("order-2").wait()

        equal(
            before.threads, everything(store, THREAD).threads, "the thread that was forked, after the fork was deleted"
        )
