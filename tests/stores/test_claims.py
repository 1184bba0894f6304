"""Claims and tokens: who may write to a thread, and how long."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from effectgraph.stores import (
    ClaimHeld,
    ClaimLost,
    Receipt,
    SqliteStore,
    Store,
    ThreadExists,
    ThreadUnknown,
    UnresolvedStands,
)
from effectgraph.stores.records import Claim, Sync, Task, ThreadStatus
from store_records import (
    GRAPH,
    TASK,
    THREAD,
    begun,
    closing,
    commit,
    created,
    failure,
    intent,
    key,
    new_run,
    new_thread,
    outcome,
    piece,
    settled,
)

WRITES: dict[str, Callable[[Store, Claim], Receipt[object]]] = {
    "start": lambda store, claim: store.start(claim, new_run(9)),
    "attempt": lambda store, claim: store.attempt(claim, TASK),
    "commit": lambda store, claim: store.commit(claim, commit()),
    "close": lambda store, claim: store.close(claim, closing(1)),
    "fail": lambda store, claim: store.fail(claim, TASK, failure()),
    "begin": lambda store, claim: store.begin(claim, key("other"), intent(), seen=None),
    "begin again": lambda store, claim: store.begin(claim, key(), intent(), seen=1),
    "settle": lambda store, claim: store.settle(claim, key(), outcome(), seen=1, sync=Sync.NOW),
    "withdraw": lambda store, claim: store.withdraw(claim, key(), seen=1),
    "trouble": lambda store, claim: store.trouble(claim, key(), "timed out", seen=1),
    "release": lambda store, claim: store.release(claim),
}
"""Every write of a claim."""


def rows(path: Path) -> dict[str, int]:
    """How many rows each table of a store file has, of those that have any; the owners' table aside."""
    connection = sqlite3.connect(path)
    tables = [
        str(name)
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if not str(name).startswith(("_", "sqlite_", "owners"))
    ]
    counts = {name: int(connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]) for name in tables}
    connection.close()
    return {name: count for name, count in counts.items() if count}


def everything(store: Store) -> object:
    """All that can be read of the thread and its effects."""
    view = store.read(THREAD).wait()
    known = [store.evidence(key(call), view.incarnation).wait() for call in ("charge", "other")]
    return view, store.history(THREAD).wait(), known


def test_a_new_thread_is_claimed(store: Store) -> None:
    """`create` makes a thread with its first run, and gives its maker the claim and all that the run needs."""

    made = store.create(new_thread(THREAD, piece("total", b"5"))).wait()

    assert made.claim.thread == THREAD
    assert made.claim.owner == store.owner
    assert made.claim.token > 0
    assert made.thread == store.read(THREAD).wait()
    assert made.thread.graph == GRAPH
    assert made.thread.status is ThreadStatus.RUNNING
    assert made.thread.step == 0
    assert made.thread.pieces == (piece("total", b"5"),)
    assert made.thread.tasks == (Task(id=TASK, step=1, node="pay"),)
    assert made.evidence == ()


def test_a_thread_is_made_once(store: Store) -> None:
    """Making a thread that is there is refused, naming how it stands."""

    created(store)

    with pytest.raises(ThreadExists) as refused:
        created(store)

    assert (refused.value.thread, refused.value.status) == (THREAD, "running")


@pytest.mark.parametrize("name", ["", "x" * 513, "a\nb", "\ud800"])
def test_a_thread_id_can_be_part_of_a_key(store: Store, name: str) -> None:
    """A thread id that no effect key can hold is refused before anything is written."""

    with pytest.raises(ValueError, match="thread id"):
        created(store, name)


def test_tokens_grow_over_all_threads(store: Store) -> None:
    """Every claim of a store has a higher token than all before it, whatever the thread."""

    first = created(store).claim.token
    second = created(store, "order-2").claim.token
    taken = store.take(THREAD, "stuck", at_us=1).wait()
    third = store.claim(THREAD).wait().claim.token

    assert first < second < taken < third


def test_E14_tokens_grow_over_a_deletion(store: Store) -> None:
    """A thread made anew has a higher token and another incarnation than any of its name before, and no evidence."""

    old = created(store).claim
    settled(store, old)
    store.release(old).wait()
    store.delete(THREAD).wait()

    new = created(store)

    assert new.claim.token > old.token
    assert new.claim.incarnation > old.incarnation
    assert new.evidence == ()
    assert store.evidence(key(), old.incarnation).wait() is None
    assert store.history(THREAD).wait() == ()


def test_a_claim_brings_everything(store: Store) -> None:
    """A claim comes with the state as it stands, the tasks that have not ended, and their evidence."""

    first = created(store).claim
    store.commit(first, commit(1, piece("notes", b"1", appended=True))).wait()
    store.fail(first, "2.pay", failure()).wait()
    store.release(first).wait()
    second = store.claim(THREAD).wait()
    store.attempt(second.claim, "2.pay").wait()
    name = settled(store, second.claim, key(task="2.pay"))
    store.release(second.claim).wait()

    third = store.claim(THREAD).wait()

    assert third.thread == store.read(THREAD).wait()
    assert third.thread.token == third.claim.token
    assert third.thread.owner == store.owner
    assert third.thread.pieces == (piece("notes", b"1", appended=True), piece())
    assert third.thread.tasks == (Task(id="2.pay", step=2, node="pay", attempts=2),)
    assert third.evidence == (store.evidence(name, third.claim.incarnation).wait(),)


def test_what_is_held_is_not_claimed(store: Store) -> None:
    """While a run holds its thread nobody else claims or deletes it, in the same process neither."""

    claim = created(store).claim

    for ask in (store.claim, store.delete):
        with pytest.raises(ClaimHeld) as refused:
            ask(THREAD).wait()
        assert (refused.value.owner, refused.value.token) == (store.owner, claim.token)


def test_two_claims_at_once_have_one_winner(store: Store) -> None:
    """Of claims that wait in the queue together, the first one gets the thread."""

    store.release(created(store).claim).wait()

    receipts = [store.claim(THREAD) for _ in range(8)]
    won = receipts[0].wait().claim.token

    for receipt in receipts[1:]:
        with pytest.raises(ClaimHeld) as refused:
            receipt.wait()
        assert won == refused.value.token


def test_a_released_thread_is_claimed_again(store: Store) -> None:
    """A released thread is free, and its old claim is over."""

    old = created(store).claim
    store.release(old).wait()
    assert store.read(THREAD).wait().owner is None

    with pytest.raises(ClaimLost, match="it was released"):
        store.attempt(old, TASK).wait()

    assert store.claim(THREAD).wait().claim.token > old.token


def test_unknown_threads_are_named(store: Store) -> None:
    """Whatever is asked of a thread that is not there is refused by its name."""

    for ask in (store.claim, store.read, store.history, store.delete):
        with pytest.raises(ThreadUnknown, match="nobody"):
            ask("nobody").wait()
    with pytest.raises(ThreadUnknown, match="nobody"):
        store.take("nobody", "stuck", at_us=1).wait()


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("fence", ["released", "taken", "taken and claimed", "deleted", "made anew"])
def test_E20_E21_every_write_is_fenced(store: Store, write: str, fence: str) -> None:
    """A write whose token is not the current one changes nothing, and says so."""

    old = created(store).claim
    begun(store, old)
    newest: int | None = old.token
    if fence == "released":
        store.release(old).wait()
    else:
        newest = store.take(THREAD, "stuck", at_us=1).wait()
    match fence:
        case "taken and claimed":
            newest = store.claim(THREAD).wait().claim.token
        case "deleted" | "made anew":
            store.delete(THREAD, drop_unresolved=True).wait()
            newest = None if fence == "deleted" else created(store).claim.token
        case _:
            pass
    before = None if newest is None else everything(store)

    with pytest.raises(ClaimLost) as refused:
        WRITES[write](store, old).wait()

    assert (refused.value.token, refused.value.current) == (old.token, newest)
    if before is None:
        with pytest.raises(ThreadUnknown):
            store.read(THREAD).wait()
    else:
        assert before == everything(store)


def test_a_taken_thread_is_held_by_nobody(store: Store) -> None:
    """`take` fences a run that is alive, and leaves the thread to whoever claims it."""

    created(store)

    token = store.take(THREAD, "its notebook was interrupted", at_us=7).wait()

    view = store.read(THREAD).wait()
    assert (view.token, view.owner) == (token, None)
    assert store.claim(THREAD).wait().claim.token > token


def test_delete_names_what_is_unresolved(store: Store) -> None:
    """A thread with an unresolved effect is deleted only when told to drop it."""

    claim = created(store).claim
    begun(store, claim)
    store.release(claim).wait()

    with pytest.raises(UnresolvedStands) as refused:
        store.delete(THREAD).wait()
    assert refused.value.effects == (f"{TASK} / charge",)
    assert store.read(THREAD).wait().id == THREAD

    store.delete(THREAD, drop_unresolved=True).wait()
    assert store.unresolved().wait() == ()


def test_a_deleted_thread_leaves_no_row(path: Path) -> None:
    """Nothing of a deleted thread stays in the file."""

    with SqliteStore(path) as store:
        claim = created(store).claim
        settled(store, claim)
        store.commit(claim, commit(1, piece(), piece("notes", b"1", appended=True))).wait()
        begun(store, claim, key("second", task="2.pay"))
        store.take(THREAD, "stuck", at_us=1).wait()
        store.delete(THREAD, drop_unresolved=True).wait()

    assert {"store": 1} == rows(path)
