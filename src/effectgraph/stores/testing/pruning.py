"""Pruning: forgetting what only old states need."""

from __future__ import annotations

from functools import partial

from effectgraph.stores.errors import StepUnknown, UnresolvedStands
from effectgraph.stores.protocol import Store
from effectgraph.stores.records import Claim, Ruling, Sync
from effectgraph.stores.testing.expect import equal, refused
from effectgraph.stores.testing.forks import grown
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.samples import (
    THREAD,
    answer,
    begun,
    commit,
    created,
    decision,
    fork,
    key,
    outcome,
    piece,
    question,
    task_commit,
    two_tasks,
)
from effectgraph.stores.testing.seen import changes_nothing, everything, found, seen_thread


def with_unresolved(store: Store) -> Claim:
    """The claim of a thread at step 3, of which the tasks of step 1 and 2 have left an effect unresolved."""
    claim = created(store).claim
    for step in (1, 2, 3):
        if step < 3:
            begun(store, claim, key(f"call-{step}", task=f"{step}.pay"))
        store.commit(claim, commit(step)).wait()
    return claim


class PruneChecks(Checks):
    """Pruning: forgetting what only old states need."""

    @on_store
    def test_later_states_are_kept(self, store: Store) -> None:
        """After a prune the state before that it was made, and all later ones, are read and forked as before."""
        claim = grown(store)
        states = {step: store.state(THREAD, step).wait() for step in range(4)}
        for before in (1, 2, 3):
            store.prune(THREAD, before=before).wait()

            view = store.read(THREAD).wait()
            equal((before, 3, states[3]), (view.kept_from, view.step, view.pieces), "kept_from, step and state")
            for step in range(before, 4):
                equal(states[step], store.state(THREAD, step).wait(), f"state {step} after pruning before {before}")
                name = f"fork-{before}-{step}"
                store.fork(fork(claim, step, name)).wait()
                equal(states[step], store.read(name).wait().pieces, f"a fork of {step} after pruning before {before}")

    @on_store
    def test_older_states_are_forgotten(self, store: Store) -> None:
        """What is older than the step of a prune cannot be read or forked any more (`StepUnknown`)."""
        claim = grown(store)

        store.prune(THREAD, before=2).wait()

        for step in (0, 1):
            error = refused(StepUnknown, partial(store.state, THREAD, step), "a state that was pruned")
            equal((step, 2, 3), (error.step, error.kept_from, error.last), "the steps that the error names")
            changes_nothing(store, StepUnknown, partial(store.fork, fork(claim, step)), "a fork of what was pruned")
        equal([2, 3], [entry.step for entry in store.history(THREAD).wait()], "the steps in history")

    @on_store
    def test_appended_pieces_that_later_states_need_are_kept(self, store: Store) -> None:
        """A piece of an old step is kept as long as a later state is put together from it."""
        claim = created(store).claim
        for step in range(1, 7):
            store.commit(claim, commit(step, piece("notes", b"%d" % step, appended=True))).wait()
        states = {step: store.state(THREAD, step).wait() for step in range(7)}

        store.prune(THREAD, before=4).wait()

        equal([states[step] for step in (4, 5, 6)], [store.state(THREAD, step).wait() for step in (4, 5, 6)], "states")
        store.commit(claim, commit(7, piece("notes", b"7", appended=True))).wait()
        equal(
            [b"%d" % step for step in range(1, 8)],
            [each.value for each in store.read(THREAD).wait().pieces if each.field == "notes"],
            "what was appended over all steps",
        )

    @on_store
    def test_what_runs_is_not_touched(self, store: Store) -> None:
        """A prune touches nothing of what is to run, nor who runs it: claim, tasks, evidence and questions stay."""
        claim = two_tasks(store)
        store.commit(claim, task_commit(1, "pack")).wait()
        store.commit(claim, commit(1)).wait()
        store.commit(claim, commit(2)).wait()
        begun(store, claim, key(task="3.pay"))
        store.ask(claim, "3.pay", (question("q-1"),)).wait()
        before = store.read(THREAD).wait(), store.evidence(key(task="3.pay"), claim.incarnation).wait()

        store.prune(THREAD, before=2).wait()

        view = store.read(THREAD).wait()
        after = view, store.evidence(key(task="3.pay"), claim.incarnation).wait()
        equal(before[1], after[1], "the evidence of what runs")
        for what in ("status", "step", "token", "owner", "tasks", "questions", "pieces"):
            equal(getattr(before[0], what), getattr(view, what), f"the {what} of the thread")
        store.answer(question("q-1").id, answer()).wait()
        store.settle(claim, key(task="3.pay"), outcome(), seen=1, sync=Sync.LATER).wait()
        store.commit(claim, commit(3)).wait()

    @on_store
    def test_an_open_step_is_not_forgotten(self, store: Store) -> None:
        """What was committed in a step that has not closed stays in history, and its update with its task."""
        claim = created(store).claim
        store.commit(claim, commit(1)).wait()
        store.commit(claim, task_commit(2, "pay")).wait()

        store.prune(THREAD, before=1).wait()

        equal(["1.pay", "2.pay"], [entry.task for entry in store.history(THREAD).wait()], "the history")
        equal([b"{}"], [each.update for each in store.read(THREAD).wait().tasks], "the update of the committed task")

    @on_store
    def test_nothing_can_be_pruned_twice(self, store: Store) -> None:
        """A prune before a step that is the first one already changes nothing, at the start of a thread neither."""
        grown(store)
        before = everything(store)
        store.prune(THREAD, before=0).wait()
        equal(before, everything(store), "what can be read after a prune that forgets nothing")
        store.prune(THREAD, before=2).wait()
        before = everything(store)

        store.prune(THREAD, before=2).wait()

        equal(before, everything(store), "what can be read after the same prune")

    @on_store
    def test_a_step_that_is_not_there_is_not_pruned(self, store: Store) -> None:
        """A prune before a step that has not closed, or that was pruned, is refused (`StepUnknown`)."""
        grown(store)
        store.prune(THREAD, before=1).wait()
        for step in (-1, 0, 4):
            error = changes_nothing(
                store, StepUnknown, partial(store.prune, THREAD, before=step), f"a prune before step {step}"
            )
            equal((THREAD, step, 1, 3), (error.thread, error.step, error.kept_from, error.last), "what the error names")

    @on_store
    def test_what_is_unresolved_stands_in_the_way(self, store: Store) -> None:
        """A task that has left an effect unresolved is not forgotten (`UnresolvedStands` names it), unless told to."""
        claim = with_unresolved(store)
        one, two = (found(store, key(f"call-{n}", task=f"{n}.pay"), claim.incarnation) for n in (1, 2))
        error = changes_nothing(store, UnresolvedStands, lambda: store.prune(THREAD, before=2), "a prune")
        equal((THREAD, 1), (error.thread, len(error.effects)), "thread and number of effects that the error names")

        store.prune(THREAD, before=2, drop_unresolved=True).wait()

        equal(None, store.evidence(one.key, one.incarnation).wait(), "the effect of the forgotten task")
        equal((two,), store.unresolved().wait(), "what is unresolved of later tasks")
        equal([2, 3], [entry.step for entry in store.history(THREAD).wait()], "the steps in history")

    @on_store
    def test_what_later_tasks_left_does_not_stand_in_the_way(self, store: Store) -> None:
        """An unresolved effect of a task that is kept, or of one that runs, stops no prune of what is before it."""
        claim = with_unresolved(store)
        begun(store, claim, key("running", task="4.pay"))
        store.prune(THREAD, before=1).wait()
        store.decide(decision(found(store, key("call-1", task="1.pay"), claim.incarnation), Ruling.COMPLETE)).wait()

        store.prune(THREAD, before=2).wait()

        equal(["call-2"], [each.key.call for each in store.unresolved().wait()], "what is unresolved")
        found(store, key("running", task="4.pay"), claim.incarnation)

    @on_store
    def test_questions_of_forgotten_tasks_go(self, store: Store) -> None:
        """The questions of a forgotten task go with its history; those of later ones stay."""
        claim = created(store).claim
        for step in (1, 2):
            store.ask(claim, f"{step}.pay", (question(f"q-{step}"),)).wait()
            store.answer(question(f"q-{step}").id, answer()).wait()
            store.commit(claim, commit(step)).wait()

        store.prune(THREAD, before=2).wait()

        asked = [each.question.id for entry in store.history(THREAD).wait() for each in entry.questions]
        equal(["q-2"], asked, "the questions in history")

    @on_store
    def test_other_threads_are_not_pruned(self, store: Store) -> None:
        """A prune touches no other thread, a fork of this one neither."""
        claim = grown(store)
        store.fork(fork(claim, 1)).wait()
        other = created(store, "order-3").claim
        store.commit(other, commit(1)).wait()
        before = [seen_thread(store, name) for name in ("order-2", "order-3")]

        store.prune(THREAD, before=3).wait()

        equal(before, [seen_thread(store, name) for name in ("order-2", "order-3")], "the other threads")
