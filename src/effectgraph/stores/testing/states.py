"""State by field and piece, step by step; and the bytes and numbers in it, exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import attrs

from effectgraph.stores.errors import StepUnknown
from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import Claim, Piece, Task
from effectgraph.stores.testing.expect import equal, refused
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.samples import (
    THREAD,
    closing,
    commit,
    created,
    fork,
    new_run,
    new_thread,
    piece,
    question,
    task,
    task_commit,
)
from effectgraph.stores.testing.seen import changes_nothing
from effectgraph.stores.testing.steps import again


def pieces(store: Store) -> tuple[Piece, ...]:
    """The state as it stands."""
    return store.read(THREAD).wait().pieces


class StateChecks(Checks):
    """State by field and piece, step by step."""

    @on_store
    def test_replaced_and_appended_fields(self, store: Store) -> None:
        """A value replaces all before it; what is appended comes behind; a field can begin with what is appended."""
        claim = created(store).claim
        store.commit(claim, commit(1, piece("notes", b"a", appended=True))).wait()
        store.commit(claim, commit(2, piece("notes", b"b", appended=True), piece("total", b"7"))).wait()
        equal(
            (piece("notes", b"a", appended=True), piece("notes", b"b", appended=True), piece("total", b"7")),
            pieces(store),
            "a field that begins with what was appended, and one that was replaced",
        )

        store.commit(claim, commit(3, piece("notes", b"new"))).wait()
        equal((piece("notes", b"new"), piece("total", b"7")), pieces(store), "a value in place of what was appended")
        store.commit(claim, commit(4, piece("notes", b"c", appended=True))).wait()

        equal(
            (piece("notes", b"new"), piece("notes", b"c", appended=True), piece("total", b"7")),
            pieces(store),
            "what is appended to a value",
        )

    @on_store
    def test_pieces_come_in_the_order_of_steps(self, store: Store) -> None:
        """What was appended is put together in the order of steps, also past the tenth."""
        claim = created(store).claim
        for step in range(1, 13):
            store.commit(claim, commit(step, piece("notes", b"%d" % step, appended=True))).wait()

        equal(
            [b"%d" % step for step in range(1, 13)],
            [each.value for each in pieces(store) if each.field == "notes"],
            "what was appended, in order",
        )

    @on_store
    def test_a_step_that_changes_nothing_keeps_the_state(self, store: Store) -> None:
        """A commit without pieces leaves the state as it was; a run without input begins on what the last came to."""
        claim = created(store).claim
        store.commit(claim, commit(1, piece("notes", b"a", appended=True))).wait()
        before = pieces(store)
        store.commit(claim, commit(2, done=True)).wait()
        equal(before, pieces(store), "the state after a step that changes nothing")

        store.start(claim, attrs.evolve(new_run(3), pieces=())).wait()

        equal(before, pieces(store), "the state after a start without input")

    @on_store
    def test_every_state_is_kept(self, store: Store) -> None:
        """The state after each step can be read as it was then, whatever came later, over all runs."""
        claim = store.create(new_thread(THREAD, piece("total", b"0"))).wait().claim
        states = [pieces(store)]
        store.commit(claim, commit(1, piece("notes", b"a", appended=True))).wait()
        states.append(pieces(store))
        store.commit(claim, commit(2, piece("notes", b"b", appended=True), piece("total", b"2"))).wait()
        states.append(pieces(store))
        store.commit(claim, commit(3, piece("notes", b"new"), done=True)).wait()
        states.append(pieces(store))
        store.start(claim, new_run(4, piece("notes", b"c", appended=True))).wait()
        states.append(pieces(store))
        store.commit(claim, commit(5, piece("fresh", b"x"))).wait()
        states.append(pieces(store))

        equal(states, [store.state(THREAD, step).wait() for step in range(6)], "the states after the steps 0 to 5")
        equal(4, len(states[5]), "the number of pieces of the last state")

    @on_store
    def test_a_step_that_is_not_there_is_said(self, store: Store) -> None:
        """The state after a step that has not closed, or before the first, is refused (`StepUnknown` names what is)."""
        claim = created(store).claim
        store.commit(claim, commit(1)).wait()
        for step in (-1, 2, 99):
            error = refused(StepUnknown, partial(store.state, THREAD, step), f"the state after step {step}")
            equal((THREAD, step, 0, 1), (error.thread, error.step, error.kept_from, error.last), "what the error names")

    @on_store
    def test_a_step_can_be_left_out(self, store: Store) -> None:
        """Steps grow, not by one: the state after a number that no step had is that of the step before it."""
        claim = created(store).claim
        store.commit(claim, commit(1, piece("total", b"2"), done=True)).wait()
        store.start(claim, new_run(5, piece("total", b"3"))).wait()
        store.commit(claim, commit(6, piece("notes", b"a", appended=True))).wait()

        equal((piece("total", b"2"),), store.state(THREAD, 3).wait(), "the state after step 3, between 1 and 5")
        equal((piece("total", b"3"),), store.state(THREAD, 5).wait(), "the state after step 5")
        equal([1, 6], [entry.step for entry in store.history(THREAD).wait()], "the steps in history")

    @on_store
    def test_history_is_oldest_first(self, store: Store) -> None:
        """History lists each committed task once, the oldest step first, with the fields that it changed."""
        claim = created(store).claim
        store.commit(claim, commit(1, piece("total"), piece("notes", b"a", appended=True))).wait()
        for step in range(2, 12):
            store.commit(claim, commit(step, piece(f"field {step}"))).wait()

        entries = store.history(THREAD).wait()

        equal([f"{step}.pay" for step in range(1, 12)], [entry.task for entry in entries], "the tasks in history")
        equal(
            [("total", "notes"), *((f"field {step}",) for step in range(2, 12))],
            [entry.fields for entry in entries],
            "the fields that they changed",
        )


class AtomicChecks(Checks):
    """A record that is no good changes nothing."""

    @on_store
    def test_a_bad_record_changes_nothing(self, store: Store) -> None:
        """What a record says twice (a field, a task, a question) is refused (`ValueError`); nothing of it is kept."""
        claim = created(store).claim
        fields, tasks = (piece("notes"), piece("total", b"7"), piece("notes")), (task(2), task(2, "mail"), task(2))
        writes: Mapping[str, Callable[[Claim], Receipt[object]]] = {
            "a commit that changes a field twice": lambda claim: store.commit(claim, commit(1, *fields)),
            "a commit that schedules a task twice": lambda claim: store.commit(
                claim, attrs.evolve(commit(1), closing=attrs.evolve(closing(1), tasks=tasks))
            ),
            "a fork that schedules a task twice": lambda claim: store.fork(attrs.evolve(fork(claim, 0), tasks=tasks)),
            "a thread that begins with a field twice": lambda _: store.create(new_thread("order-2", *fields)),
            "a thread that begins with a task twice": lambda _: store.create(
                attrs.evolve(new_thread("order-2"), run=attrs.evolve(new_run(), tasks=tasks))
            ),
            "a task that asks one question twice": lambda claim: store.ask(
                claim, "1.pay", (question("q-1"), question("q-2"), attrs.evolve(question("q-1"), content=b"1"))
            ),
        }
        for what, write in writes.items():
            changes_nothing(store, ValueError, partial(write, claim), what, THREAD, "order-2")
            claim = again(store)

    @on_store
    def test_a_bad_close_or_start_changes_nothing(self, store: Store) -> None:
        """A step or a run that changes a field or schedules a task twice is refused (`ValueError`), whole."""
        claim = created(store).claim
        store.commit(claim, task_commit(1, "pay")).wait()
        fields, tasks = (piece("notes"), piece("notes")), (task(2), task(2))
        for what, bad in {
            "a step that changes a field twice": closing(1, *fields),
            "a step that schedules a task twice": attrs.evolve(closing(1), tasks=tasks),
        }.items():
            changes_nothing(store, ValueError, partial(store.close, claim, bad), what)
            claim = again(store)
        store.close(claim, closing(1, done=True)).wait()
        for what, run in {
            "a run that begins with a field twice": new_run(2, *fields),
            "a run that begins with a task twice": attrs.evolve(new_run(2), tasks=tasks),
        }.items():
            changes_nothing(store, ValueError, partial(store.start, claim, run), what)
            claim = again(store)

        store.start(claim, new_run(2)).wait()
        equal((Task(id="3.pay", step=3, node="pay"),), store.read(THREAD).wait().tasks, "the tasks of the run")
