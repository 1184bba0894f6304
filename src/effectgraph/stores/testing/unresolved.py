"""The listing of what is unresolved: in order, page by page."""

from __future__ import annotations

from effectgraph.stores.keys import EffectKey
from effectgraph.stores.protocol import Store
from effectgraph.stores.records import Evidence, Sync
from effectgraph.stores.testing.expect import equal
from effectgraph.stores.testing.pages import by_page
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.samples import (
    THREAD,
    begun,
    created,
    gone,
    intent,
    key,
    outcome,
    outside,
    settled,
)
from effectgraph.stores.testing.seen import everything, found


def unresolved_calls(store: Store) -> list[str]:
    """The calls of the effects that are listed as unresolved, sorted."""
    return sorted(each.key.call for each in store.unresolved().wait())


class UnresolvedChecks(Checks):
    """What is unresolved."""

    @on_store
    def test_unresolved_is_what_nobody_is_at_work_on(self, store: Store) -> None:
        """An intent is unresolved with trouble, under an older token, without a holder, or of an owner that is gone."""
        claim = created(store).claim
        begun(store, claim, key("at work"))
        settled(store, claim, key("settled"))
        begun(store, claim, key("trouble"))
        store.trouble(claim, key("trouble"), "timed out", seen=1).wait()
        begun(store, claim, key("uncertain"))
        store.uncertain(claim, key("uncertain"), seen=1).wait()
        begun(store, outside(store), key("outside", "script"))
        begun(store, gone(), key("gone", "script"))
        always = ["gone", "trouble", "uncertain"]
        equal(always, unresolved_calls(store), "what is unresolved while the run goes on")

        store.release(claim).wait()
        equal(["at work", *always], unresolved_calls(store), "what is unresolved after the release")

        again = store.claim(THREAD).wait().claim
        equal(["at work", *always], unresolved_calls(store), "what is unresolved under a successor")

        store.begin(again, key("at work"), intent(), seen=1).wait()
        equal(always, unresolved_calls(store), "what is unresolved once the successor is at work on it")
        store.take(THREAD, "stuck", at_us=1).wait()
        equal(["at work", *always], unresolved_calls(store), "what is unresolved after a take")

    @on_store
    def test_trouble_is_over_with_the_next_attempt(self, store: Store) -> None:
        """An effect that is tried again is at work again, and is not listed."""
        for claim in (created(store).claim, outside(store)):
            name = begun(store, claim)
            store.trouble(claim, name, "timed out", seen=1).wait()
            equal([name], [each.key for each in store.unresolved().wait()], "what is unresolved after trouble")
            store.begin(claim, name, intent(), seen=2).wait()
            equal([], [each.key for each in store.unresolved().wait()], "what is unresolved while it is tried again")

    @on_store
    def test_EL17_a_listing_changes_nothing(self, store: Store) -> None:
        """Listing changes nothing, gives what stands, and what is settled, withdrawn or deleted is listed no more."""
        name = begun(store, gone())
        other = begun(store, gone(), key("other", "script"))
        before = everything(store, "script")
        equal(
            (found(store, name, 0), found(store, other, 0)),
            store.unresolved().wait(),
            "what is unresolved, as it stands",
        )
        equal(before, everything(store, "script"), "what can be read after listings")

        store.settle(gone(), name, outcome(), seen=1, sync=Sync.NOW).wait()
        store.withdraw(gone(), other, seen=1).wait()

        equal((), store.unresolved().wait(), "what is unresolved then")

    @on_store
    def test_unresolved_comes_in_order_by_page(self, store: Store) -> None:
        """Pages come in the order of keys (scope, task, call), each behind a key; none is left out or comes twice."""
        keys = [
            EffectKey(scope, task, call) for scope in ("A", "a", "ä") for task in ("1", "日") for call in ("x", "y b")
        ]
        for name in reversed(keys):
            begun(store, gone(name.scope), name)

        def listed(limit: int) -> list[Evidence]:
            first = store.unresolved(limit=limit)
            return by_page(first, lambda last: store.unresolved(limit=limit, after=last.key), most=limit)

        for limit in (1, 2, 5, len(keys), 100):
            equal(keys, [each.key for each in listed(limit)], f"keys by pages of {limit}")
        behind = store.unresolved(limit=2, after=EffectKey("A", "日", "a")).wait()
        equal(keys[2:4], [each.key for each in behind], "effects behind a key that is not there")

    @on_store
    def test_pages_pass_over_what_is_not_listed(self, store: Store) -> None:
        """However many effects between two unresolved ones are not listed, a page is full while there are more."""
        script = outside(store)
        for number in range(30):
            name = key(f"call-{number:02}", "script")
            if number % 10 == 0:
                begun(store, gone(), name)
            elif number % 2:
                begun(store, script, name)
            else:
                settled(store, script, name)

        first = store.unresolved(limit=2).wait()
        second = store.unresolved(limit=2, after=first[-1].key).wait()

        equal(["call-00", "call-10"], [each.key.call for each in first], "the first page")
        equal(["call-20"], [each.key.call for each in second], "the second page")

    @on_store
    def test_a_key_of_two_incarnations_is_listed_twice(self, store: Store) -> None:
        """A thread's effect and one outside a runtime can have one key: both are listed, however small the page."""
        thread = created(store).claim
        begun(store, thread)
        store.release(thread).wait()
        begun(store, gone(THREAD), key())
        begun(store, gone(THREAD), key("later"))

        first = store.unresolved(limit=1)
        listed = by_page(first, lambda last: store.unresolved(limit=1, after=last.key), most=None)

        equal(
            sorted([(key(), 0), (key(), thread.incarnation), (key("later"), 0)], key=str),
            sorted([(each.key, each.incarnation) for each in listed], key=str),
            "key and incarnation of what is unresolved",
        )
