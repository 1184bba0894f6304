"""Listings of threads and of questions: in order, page by page."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from effectgraph.stores.limits import LISTED
from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import Asked, QuestionId
from effectgraph.stores.testing.expect import equal, refused
from effectgraph.stores.testing.pages import by_page
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.samples import (
    THREAD,
    answer,
    commit,
    created,
    failure,
    fork,
    gone,
    intent,
    key,
    new_thread,
    question,
)

IN_ORDER = ["A", "B", "Z", "a", "a b", "ab", "b", "z", "ä", "日", "\uffff", "\U0001f600"]
"""Names in the order of their code points, which is that of their UTF-8: not that of a language, nor of UTF-16."""


class RunnableChecks(Checks):
    """What can be run."""

    @on_store
    def test_runnable_is_running_and_held_by_nobody(self, store: Store) -> None:
        """Threads that run but that nobody runs are listed; those that are held, done, failed or waiting are not."""
        for name in ("done", "failed", "free", "held", "taken", "waiting"):
            claim = created(store, name).claim
            match name:
                case "done":
                    store.commit(claim, commit(1, done=True)).wait()
                case "failed":
                    store.fail(claim, "1.pay", failure()).wait()
                case "waiting":
                    store.ask(claim, "1.pay", (question(),)).wait()
                case _:
                    pass
            if name == "taken":
                store.take(name, "stuck", at_us=1).wait()
            elif name != "held":
                store.release(claim).wait()

        equal(("free", "taken"), store.runnable("shop").wait(), "what can be run")

    @on_store
    def test_what_is_claimed_again_is_not_runnable(self, store: Store) -> None:
        """A thread leaves the list with its claim, and comes back with its release."""
        claim = created(store).claim
        equal((), store.runnable("shop").wait(), "what can be run while it is held")
        store.release(claim).wait()
        equal((THREAD,), store.runnable("shop").wait(), "what can be run after the release")
        claim = store.claim(THREAD).wait().claim
        equal((), store.runnable("shop").wait(), "what can be run while it is held again")
        store.commit(claim, commit(1)).wait()
        store.release(claim).wait()
        equal((THREAD,), store.runnable("shop").wait(), "what can be run after the second release")

    @on_store
    def test_runnable_is_of_one_graph(self, store: Store) -> None:
        """Only threads of the graph that is asked for are listed, forks of them too."""
        for graph in ("shop", "mail"):
            claim = store.create(new_thread(f"{graph}-1", graph=graph)).wait().claim
            store.fork(fork(claim, 0, f"{graph}-2")).wait()
            store.release(claim).wait()

        equal(("mail-1", "mail-2"), store.runnable("mail").wait(), "what can be run of one graph")
        equal((), store.runnable("no such graph").wait(), "what can be run of no graph")

    @on_store
    def test_runnable_comes_in_order_by_page(self, store: Store) -> None:
        """Pages come in the order of ids, each of greater ids than `after`; none is left out or comes twice."""
        for name in reversed(IN_ORDER):
            store.release(created(store, name).claim).wait()

        def listed(limit: int) -> list[str]:
            first = store.runnable("shop", limit=limit)
            return by_page(first, lambda last: store.runnable("shop", limit=limit, after=last), most=limit)

        for limit in (1, 2, 5, len(IN_ORDER), 100):
            equal(IN_ORDER, listed(limit), f"ids by pages of {limit}")
        equal(("B", "Z"), store.runnable("shop", limit=2, after="A~").wait(), "ids greater than one that is not there")

    @on_store
    def test_a_listing_has_a_bound(self, store: Store) -> None:
        """A listing that is not told a limit has at most `LISTED` rows."""
        claims = [store.create(new_thread(f"order-{number:03}")) for number in range(LISTED + 1)]
        for claimed in claims:
            _ = store.release(claimed.wait().claim)
        script = gone()
        for number in range(LISTED + 1):
            _ = store.begin(script, key(f"call-{number:03}", "script"), intent(), seen=None)
        store.flush().wait()

        equal(LISTED, len(store.runnable("shop").wait()), "the rows of a page of runnable threads")
        equal(LISTED, len(store.unresolved().wait()), "the rows of a page of unresolved effects")

    @on_store
    def test_EL17_a_limit_is_a_number_of_rows(self, store: Store) -> None:
        """A listing of no rows is refused (`ValueError`)."""
        listings: dict[str, Callable[[int], Receipt[object]]] = {
            "runnable": lambda limit: store.runnable("shop", limit=limit),
            "unresolved": lambda limit: store.unresolved(limit=limit),
            "pending": lambda limit: store.pending(limit=limit),
            "due": lambda limit: store.due(1, limit=limit),
            "decisions": lambda limit: store.decisions(limit=limit),
        }
        for what, listing in listings.items():
            for limit in (0, -1):
                refused(ValueError, partial(listing, limit), f"{what} with limit {limit}")


class PendingChecks(Checks):
    """What waits for an answer."""

    @on_store
    def test_pending_is_what_waits_for_an_answer(self, store: Store) -> None:
        """Questions without an answer, of tasks that have not ended, are listed, whoever holds their threads."""
        one, two = created(store).claim, created(store, "order-2").claim
        store.ask(one, "1.pay", (question("q-1"), question("q-2"))).wait()
        store.ask(two, "1.pay", (question("q-3"),)).wait()
        store.release(two).wait()
        store.answer(QuestionId("q-1"), answer()).wait()

        expected = (
            Asked(thread=THREAD, task="1.pay", question=question("q-2")),
            Asked(thread="order-2", task="1.pay", question=question("q-3")),
        )
        equal(expected, store.pending().wait(), "the questions that are pending")

    @on_store
    def test_pending_comes_in_order_by_page(self, store: Store) -> None:
        """Pages come in the order of the ids, each beginning behind an id; none is left out or comes twice."""
        claim = created(store).claim
        store.ask(claim, "1.pay", tuple(question(name) for name in reversed(IN_ORDER))).wait()

        def listed(limit: int) -> list[Asked]:
            first = store.pending(limit=limit)
            return by_page(first, lambda last: store.pending(limit=limit, after=last.question.id), most=limit)

        for limit in (1, 2, 5, len(IN_ORDER), 100):
            equal(IN_ORDER, [each.question.id for each in listed(limit)], f"questions by pages of {limit}")
        behind = store.pending(limit=2, after=QuestionId("A~")).wait()
        equal(["B", "Z"], [each.question.id for each in behind], "questions behind an id that is not there")

    @on_store
    def test_due_is_what_has_expired(self, store: Store) -> None:
        """Pending questions that expire at a time or before are due, the earliest first; others never are."""
        claim = created(store).claim
        ends = {"q-1": 300, "q-2": 100, "q-3": None, "q-4": 200, "q-5": 400}
        store.ask(claim, "1.pay", tuple(question(name, expires_us=at) for name, at in ends.items())).wait()
        store.answer(QuestionId("q-5"), answer()).wait()

        for until, expected in ((99, []), (100, ["q-2"]), (299, ["q-2", "q-4"]), (2**62, ["q-2", "q-4", "q-1"])):
            equal(expected, [each.question.id for each in store.due(until).wait()], f"what is due at {until}")
        equal(
            ["q-2", "q-4"], [each.question.id for each in store.due(1_000, limit=2).wait()], "the two that came first"
        )
        store.answer(QuestionId("q-2"), answer()).wait()
        equal(["q-4", "q-1"], [each.question.id for each in store.due(1_000).wait()], "what is due after an answer")

    @on_store
    def test_what_has_ended_is_not_due(self, store: Store) -> None:
        """A question whose task has ended, or whose thread is deleted, is neither pending nor due."""
        one, two = created(store).claim, created(store, "order-2").claim
        for claim, name in ((one, "q-1"), (two, "q-2")):
            store.ask(claim, "1.pay", (question(name, expires_us=100),)).wait()
        store.attempt(one, "1.pay").wait()
        store.commit(one, commit(1)).wait()
        store.release(two).wait()
        store.delete("order-2").wait()

        equal(((), ()), (store.pending().wait(), store.due(1_000).wait()), "what is pending and due")
