"""What can be read of a store, for tests of reading."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from effectgraph.stores import Receipt, SqliteStore
from effectgraph.stores.records import Evidence, Remark, Ruling
from effectgraph.stores.testing.samples import decision, gone, question
from store_records import TASK, THREAD, begun, commit, created, key, outcome, outside, piece, settled


def make(path: Path) -> None:
    """A closed store with something of each kind: a thread that can be run, one that waits, effects, a decision."""
    with SqliteStore(path) as store:
        claim = created(store).claim
        settled(store, claim)
        store.commit(claim, commit(1, piece("total", b"2"))).wait()
        store.release(claim).wait()
        begun(store, outside(store), key(thread="script"))
        asking = created(store, "order-0").claim
        store.ask(asking, TASK, (question(expires_us=5),)).wait()
        store.release(asking).wait()
        store.remark(remark(unresolved(store))).wait()
        begun(store, gone("other"))
        found = store.evidence(key(thread="other"), 0).wait()
        assert found is not None
        store.decide(decision(found, Ruling.RETRY)).wait()


def unresolved(store: SqliteStore) -> Evidence:
    """The effect whose owner is gone, as it stands."""
    found = store.evidence(key(thread="script"), 0).wait()
    assert found is not None
    return found


def remark(seen: Evidence) -> Remark:
    """An outcome that came too late for evidence."""
    return Remark(
        key=seen.key,
        incarnation=seen.incarnation,
        owner=seen.owner,
        token=seen.token,
        attempt=seen.attempt,
        outcome=outcome(),
        text="came too late",
        at_us=90,
    )


READINGS: Final[dict[str, Callable[[SqliteStore], Receipt[object]]]] = {
    "read": lambda store: store.read(THREAD),
    "state": lambda store: store.state(THREAD, 0),
    "history": lambda store: store.history(THREAD),
    "evidence": lambda store: store.evidence(key(thread="script"), 0),
    "remarks": lambda store: store.remarks(key(thread="script"), 0),
    "decisions": lambda store: store.decisions(),
    "runnable": lambda store: store.runnable("shop"),
    "unresolved": lambda store: store.unresolved(),
    "pending": lambda store: store.pending(),
    "due": lambda store: store.due(10),
    "alive": lambda store: store.alive(unresolved(store).owner),
    "check": lambda store: store.check(),
    "flush": lambda store: store.flush(),
}
"""Each operation that changes nothing."""


def look(store: SqliteStore) -> dict[str, object]:
    """What each reading gives."""
    return {name: reading(store).wait() for name, reading in READINGS.items()}
