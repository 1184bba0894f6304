"""The queue of writes: order, groups, lanes, syncs, bounds."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from effectgraph.stores import EarlierWriteFailed, QueueFull, SqliteStore, Store, TaskClosed, ThreadExists
from effectgraph.stores.limits import GROUP_WRITES, QUEUED_WRITES
from effectgraph.stores.records import Sync
from store_records import (
    TASK,
    THREAD,
    begun,
    commit,
    created,
    failure,
    intent,
    key,
    new_thread,
    outcome,
    outside,
    piece,
)
from store_writer import PATIENCE_S, held_up


@pytest.fixture
def sqlite_store(path: Path) -> SqliteStore:
    """A store in a file; its test closes it."""
    return SqliteStore(path)


def test_what_waits_shares_one_transaction(sqlite_store: SqliteStore) -> None:
    """Writes that wait together are made in one transaction with one sync, in the order of the calls."""

    with sqlite_store as store:
        with held_up(store):
            before = store.counts
            receipts = [store.create(new_thread(f"order-{number}")) for number in range(GROUP_WRITES)]
        tokens = [receipt.wait().claim.token for receipt in receipts]
        after = store.counts

    assert sorted(tokens) == tokens
    assert after.transactions - before.transactions == 1
    assert after.synced_transactions - before.synced_transactions == 1
    assert after.writes - before.writes == GROUP_WRITES


def test_a_group_is_bounded(sqlite_store: SqliteStore) -> None:
    """One write more than a group holds is made in the next transaction."""

    with sqlite_store as store:
        with held_up(store):
            before = store.counts
            receipts = [store.create(new_thread(f"order-{number}")) for number in range(GROUP_WRITES + 1)]
        for receipt in receipts:
            receipt.wait()

        assert store.counts.transactions - before.transactions == 2


def test_one_bad_write_fails_alone(store: Store) -> None:
    """A write that fails in a group takes back only itself; those around it are made."""

    claim = created(store).claim
    with held_up(store):
        good = store.create(new_thread("order-2"))
        # It has changed rows before it finds that its task is not open.
        bad = store.commit(claim, commit(5, piece("total", b"9")))
        worse = store.create(new_thread("order-3", piece("total"), piece("total")))
        fine = store.create(new_thread("order-4"))

    with pytest.raises(TaskClosed):
        bad.wait()
    with pytest.raises(ValueError, match="stands there twice"):
        worse.wait()
    assert good.wait().claim.token < fine.wait().claim.token
    assert store.read(THREAD).wait().pieces == (piece(),)
    assert store.read(THREAD).wait().step == 0
    assert store.runnable("shop").wait() == ()
    with pytest.raises(ThreadExists):
        created(store, "order-4")


def test_a_claim_that_fails_is_not_held(store: Store) -> None:
    """A claim whose write is taken back leaves the thread free."""

    store.release(created(store).claim).wait()
    with held_up(store):
        claims = [store.claim(THREAD) for _ in range(3)]

    won = claims[0].wait().claim
    for lost in claims[1:]:
        with pytest.raises(Exception, match="alive"):
            lost.wait()
    store.release(won).wait()
    assert store.claim(THREAD).wait().claim.token > won.token


def test_strict_queue_nothing_is_written_behind_a_failed_write(store: Store) -> None:
    """After a write of a claim has failed, every later write of it fails, waiting or not; other claims go on."""

    claim = created(store).claim
    other = created(store, "order-2").claim
    with held_up(store):
        before = store.begin(claim, key("before"), intent(), seen=None)
        bad = store.fail(claim, "no such task", failure())
        behind = store.begin(claim, key("behind"), intent(), seen=None)
        others = store.begin(other, key(thread="order-2"), intent(), seen=None)
    later = store.begin(claim, key("later"), intent(), seen=None)

    assert before.wait().mine
    assert others.wait().mine
    with pytest.raises(TaskClosed):
        bad.wait()
    for receipt in (behind, later):
        with pytest.raises(EarlierWriteFailed) as refused:
            receipt.wait()
        assert (refused.value.thread, refused.value.token) == (THREAD, claim.token)
        assert "no such task" in refused.value.earlier
    assert store.evidence(key("behind"), claim.incarnation).wait() is None
    assert store.evidence(key("later"), claim.incarnation).wait() is None


def test_a_failed_run_gives_its_thread_back(store: Store) -> None:
    """The release of a claim is made although an earlier write of it failed; the next claim starts afresh."""

    claim = created(store).claim
    with held_up(store):
        bad = store.fail(claim, "no such task", failure())
        released = store.release(claim)

    with pytest.raises(TaskClosed):
        bad.wait()
    released.wait()
    again = store.claim(THREAD).wait().claim
    assert store.begin(again, key(), intent(), seen=None).wait().mine


def test_a_failed_write_outside_a_runtime_fails_alone(store: Store) -> None:
    """Without a claim there is no lane: the next write is made."""

    claim = outside(store)
    name = key(thread="script")
    with held_up(store):
        bad = store.settle(claim, name, outcome(), seen=1, sync=Sync.LATER)
        good = store.begin(claim, name, intent(), seen=None)

    with pytest.raises(Exception, match="the writer saw version 1"):
        bad.wait()
    assert good.wait().mine


def test_a_sync_is_only_made_for_who_asks(sqlite_store: SqliteStore) -> None:
    """A write that needs no sync is acknowledged without one; the next synced write is on disk with all before it."""

    called: list[str] = []
    syncs: list[int] = []

    def call(name: str) -> None:
        called.append(name)
        syncs.append(store.counts.synced_transactions)

    with sqlite_store as store:
        claim = created(store).claim
        name = begun(store, claim)
        store.flush().wait()
        before = store.counts

        settled = store.settle(claim, name, outcome(), seen=1, sync=Sync.LATER)
        settled.when_synced(lambda: call("settled"))
        settled.wait()
        after = store.counts
        committed = store.commit(claim, commit(1))
        committed.when_synced(lambda: call("committed"))
        store.begin(claim, key(task="2.pay"), intent(), seen=None).wait()
        committed.when_synced(lambda: call("at once"))

    assert after.transactions == before.transactions + 1
    assert after.synced_transactions == before.synced_transactions
    assert sorted(called) == ["at once", "committed", "settled"]
    assert min(syncs) > before.synced_transactions


def test_a_synced_write_that_changes_nothing_syncs_all_the_same(sqlite_store: SqliteStore) -> None:
    """What was written before is on disk when a synced write is acknowledged that found nothing to change."""

    called: list[str] = []
    with sqlite_store as store:
        claim = created(store).claim
        name = begun(store, claim)
        store.flush().wait()
        settled = store.settle(claim, name, outcome(), seen=1, sync=Sync.LATER)
        settled.when_synced(lambda: called.append("settled"))
        settled.wait()

        assert not store.begin(claim, name, intent(), seen=None).wait().mine
        settled.when_synced(lambda: called.append("at once"))
        assert "at once" in called

    assert sorted(called) == ["at once", "settled"]


def test_a_write_that_changes_nothing_needs_no_sync(store: Store) -> None:
    """A queued write that changes nothing is on disk as soon as all before it is."""

    called: list[str] = []
    claim = outside(store)
    name = begun(store, claim, key(thread="script"))
    store.settle(claim, name, outcome(), seen=1, sync=Sync.NOW).wait()

    again = store.settle(claim, name, outcome(), seen=1, sync=Sync.LATER)
    again.wait()
    again.when_synced(lambda: called.append("at once"))

    assert called == ["at once"]


def test_a_failed_write_is_never_called_synced(store: Store) -> None:
    """What waits for a sync of a write that failed is not called, before and after it failed."""

    called: list[str] = []
    claim = created(store).claim
    with held_up(store):
        bad = store.fail(claim, "no such task", failure())
        bad.when_synced(lambda: called.append("before"))
    with pytest.raises(TaskClosed):
        bad.wait()
    bad.when_synced(lambda: called.append("after"))

    store.flush().wait()

    assert called == []


def test_an_unsynced_write_is_synced_by_itself(sqlite_store: SqliteStore) -> None:
    """Nothing stays unsynced for long: the writer syncs what nobody asked to have synced."""

    synced = threading.Event()
    with sqlite_store as store:
        claim = created(store).claim
        store.flush().wait()

        store.commit(claim, commit(1)).when_synced(synced.set)

        assert synced.wait(PATIENCE_S)


def test_closing_syncs(path: Path) -> None:
    """What was written is on disk when the store is closed, although another process still has the file open."""

    called: list[str] = []
    with SqliteStore(path) as other:
        with SqliteStore(path) as store:
            claim = created(store).claim
            store.commit(claim, commit(1)).when_synced(lambda: called.append("committed"))

        assert called == ["committed"]
        assert other.read(THREAD).wait().step == 1


def test_flush_costs_nothing_when_all_is_synced(sqlite_store: SqliteStore) -> None:
    """A flush waits for everything before it, and changes nothing in the file if that is on disk."""

    called: list[str] = []
    with sqlite_store as store:
        claim = created(store).claim
        store.commit(claim, commit(1)).when_synced(lambda: called.append("committed"))
        store.flush().wait()
        log = Path(f"{store.path}-wal")
        size_bytes = log.stat().st_size

        store.flush().wait()

        assert size_bytes == log.stat().st_size
    assert called == ["committed"]


def test_sync_all_syncs_every_write(path: Path) -> None:
    """With `sync="all"` each write is on disk before it is acknowledged."""

    called: list[str] = []
    with SqliteStore(path, sync="all") as store:
        claim = created(store).claim
        receipt = store.commit(claim, commit(1))
        receipt.wait()
        receipt.when_synced(lambda: called.append("committed"))

        assert called == ["committed"]
        assert store.counts.synced_transactions == store.counts.transactions


def test_one_who_fails_when_called_disturbs_nobody(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    """What is called after a sync may raise: it is logged, and the writer goes on."""

    def fail() -> None:
        raise ZeroDivisionError

    store.flush().when_synced(fail)
    created(store)
    # Made after everything that the writer does for those before it.
    store.flush().wait()

    assert store.read(THREAD).wait().id == THREAD
    assert "what was to be called after a sync failed" in caplog.text


def test_the_queue_is_bounded(store: Store) -> None:
    """A write too many is refused at the call and not queued; those that wait are made."""

    claim = created(store).claim
    begun(store, claim)
    with held_up(store):
        receipts = [store.flush() for _ in range(QUEUED_WRITES)]
        with pytest.raises(QueueFull) as refused:
            store.trouble(claim, key(), "timed out", seen=1).wait()
        assert refused.value.waiting == QUEUED_WRITES

    for receipt in receipts:
        receipt.wait()
    store.trouble(claim, key(), "timed out", seen=1).wait()


def test_a_write_that_nobody_waits_for_is_made(path: Path) -> None:
    """Closing writes what waits: a receipt that was thrown away is written like any other."""

    with SqliteStore(path) as store:
        claim = created(store).claim
        with held_up(store):
            for step in range(1, 50):
                _ = store.commit(claim, commit(step))

    with SqliteStore(path) as store:
        assert store.read(THREAD).wait().step == 49
        assert len(store.history(THREAD).wait()) == 49
        assert store.history(THREAD).wait()[0].task == TASK
