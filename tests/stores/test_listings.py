"""Listings: what can be run, and what is unresolved."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from effectgraph.stores import EffectKey, SqliteStore, Store
from effectgraph.stores.records import Claim, OwnerId, Sync
from effectgraph.stores.sqlite import reads
from store_records import THREAD, begun, commit, created, failure, intent, key, new_thread, outcome, outside, settled

NOBODY = OwnerId("0" * 32)
"""An owner that no process ever was."""


def test_runnable_is_running_and_claimed_by_nobody(store: Store) -> None:
    """Threads that run but that nobody runs are listed; those that are held, done or failed are not."""

    for name in ("free", "held", "done", "failed", "taken"):
        claim = created(store, name).claim
        if name == "done":
            store.commit(claim, commit(1, done=True)).wait()
        if name == "failed":
            store.fail(claim, "1.pay", failure()).wait()
        if name == "taken":
            store.take(name, "stuck", at_us=1).wait()
        elif name != "held":
            store.release(claim).wait()

    assert store.runnable("shop").wait() == ("free", "taken")


def test_runnable_is_of_one_graph(store: Store) -> None:
    """Only threads of the graph that is asked for are listed."""

    for graph in ("shop", "mail"):
        store.release(store.create(new_thread(f"{graph}-1", graph=graph)).wait().claim).wait()

    assert store.runnable("mail").wait() == ("mail-1",)
    assert store.runnable("no such graph").wait() == ()


def test_runnable_tells_living_owners_from_dead_ones(path: Path) -> None:
    """What an open store elsewhere holds is not listed; once that store is closed, it is."""

    with SqliteStore(path) as here:
        elsewhere = SqliteStore(path)
        with elsewhere:
            created(elsewhere, "elsewhere")
            created(here, "here")
            assert here.runnable("shop").wait() == ()
            assert elsewhere.runnable("shop").wait() == ()

        assert here.runnable("shop").wait() == ("elsewhere",)


def test_runnable_pages_over_all_owners(path: Path) -> None:
    """Pages come in the order of ids, whoever held the threads, and no thread is left out or listed twice."""

    names = [f"order-{number:02}" for number in range(20)]
    with SqliteStore(path) as store:
        for group in range(3):
            with SqliteStore(path) as gone:
                for name in names[group::4]:
                    created(gone, name)
        for name in names[3::4]:
            store.release(created(store, name).claim).wait()

        pages = [store.runnable("shop", limit=7).wait()]
        while pages[-1]:
            pages.append(store.runnable("shop", limit=7, after=pages[-1][-1]).wait())

    assert [7, 7, 6, 0] == [len(page) for page in pages]
    assert names == [name for page in pages for name in page]


def test_unresolved_is_what_nobody_is_at_work_on(store: Store) -> None:
    """An intent is unresolved with trouble, under an older token, without a holder, or of an owner that is gone."""

    claim = created(store).claim
    begun(store, claim, key("at work"))
    settled(store, claim, key("settled"))
    begun(store, claim, key("trouble"))
    store.trouble(claim, key("trouble"), "timed out", seen=1).wait()
    begun(store, outside(store), key("outside", "script"))
    gone = Claim(thread="script", incarnation=0, token=0, owner=NOBODY)
    begun(store, gone, key("gone", "script"))
    assert ["gone", "trouble"] == sorted(found.key.call for found in store.unresolved().wait())

    store.release(claim).wait()
    assert ["at work", "gone", "trouble"] == sorted(found.key.call for found in store.unresolved().wait())

    again = store.claim(THREAD).wait().claim
    assert ["at work", "gone", "trouble"] == sorted(found.key.call for found in store.unresolved().wait())

    store.begin(again, key("at work"), intent(), seen=1).wait()
    assert ["gone", "trouble"] == sorted(found.key.call for found in store.unresolved().wait())


def test_EL17_unresolved_grants_nothing(store: Store) -> None:
    """Listing changes nothing, and what is settled is not listed any more."""

    gone = Claim(thread="script", incarnation=0, token=0, owner=NOBODY)
    name = begun(store, gone, key("gone", "script"))
    first = store.unresolved().wait()

    assert first == store.unresolved().wait()
    assert first[0] == store.evidence(name, 0).wait()
    store.settle(gone, name, outcome(), seen=1, sync=Sync.NOW).wait()
    assert () == store.unresolved().wait()


@pytest.mark.parametrize("limit", [0, -1, True, 1.5])
def test_EL17_a_limit_is_a_number_of_rows(store: Store, limit: int) -> None:
    """A listing of no rows is a mistake of the caller."""

    with pytest.raises(ValueError, match="limit"):
        store.unresolved(limit=limit).wait()
    with pytest.raises(ValueError, match="limit"):
        store.runnable("shop", limit=limit).wait()


def test_unresolved_pages_in_the_order_of_keys(store: Store) -> None:
    """Pages come in the order of keys, each beginning behind the last key of the one before."""

    keys = [
        EffectKey(f"s{scope}", f"t{task}", f"c{call}") for scope in range(3) for task in range(2) for call in range(2)
    ]
    for name in reversed(keys):
        begun(store, Claim(thread=name.scope, incarnation=0, token=0, owner=NOBODY), name)

    pages = [store.unresolved(limit=5).wait()]
    while pages[-1]:
        pages.append(store.unresolved(limit=5, after=pages[-1][-1].key).wait())

    assert keys == [found.key for page in pages for found in page]


def test_a_key_of_two_incarnations_stays_on_one_page(store: Store) -> None:
    """A thread's effect and one outside a runtime can have the same key: both are listed, however small the page."""

    thread = created(store).claim
    begun(store, thread)
    store.release(thread).wait()
    gone = Claim(thread=THREAD, incarnation=0, token=0, owner=NOBODY)
    begun(store, gone, key())
    begun(store, gone, key("later"))

    first = store.unresolved(limit=1).wait()
    second = store.unresolved(limit=1, after=first[-1].key).wait()

    assert [(key(), 0), (key(), thread.incarnation)] == sorted(
        ((f.key, f.incarnation) for f in first), key=lambda p: p[1]
    )
    assert [key("later")] == [found.key for found in second]


@pytest.mark.parametrize(
    ("statement", "values", "index"),
    [
        (reads.RUNNING, ("shop", None, ""), "running"),
        (reads.NEXT_OWNER, ("shop", ""), "running"),
        (reads.WITHOUT_OUTCOME, ("", "", ""), "without_outcome"),
    ],
)
def test_listings_read_an_index(path: Path, statement: str, values: tuple[object, ...], index: str) -> None:
    """What is listed is read from an index in its order: no scan of threads or effects, no sorting."""

    SqliteStore(path).__exit__(None, None, None)
    connection = sqlite3.connect(path)
    steps = [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)]
    connection.close()

    assert any(f"USING INDEX {index} (" in step or f"USING COVERING INDEX {index} (" in step for step in steps), steps
    assert [] == [step for step in steps if "SCAN" in step or "TEMP B-TREE" in step]


def test_alive(path: Path) -> None:
    """An owner is alive from the opening of its store until its close."""

    with SqliteStore(path) as here:
        elsewhere = SqliteStore(path)
        with elsewhere:
            assert here.alive(elsewhere.owner).wait()
            assert elsewhere.alive(here.owner).wait()
            assert here.alive(here.owner).wait()

        assert not here.alive(elsewhere.owner).wait()
        assert not here.alive(NOBODY).wait()
