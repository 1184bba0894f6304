"""Claims of both kinds: what holds within a runtime holds without one."""

from __future__ import annotations

from collections.abc import Iterator

from effectgraph.stores.protocol import Store
from effectgraph.stores.records import Claim
from effectgraph.stores.testing.samples import (
    THREAD,
    created,
    outside,
)


def claims(store: Store) -> Iterator[Claim]:
    """A claim of each kind, one after the other: a thread's, and that of somebody without a runtime."""
    yield created(store).claim
    yield outside(store, THREAD)


def named(claim: Claim) -> str:
    """A claim's kind in words."""
    return "under a claim" if claim.token else "outside a runtime"


def at_work(store: Store, claim: Claim) -> Claim:
    """The claim to go on with after a write of this one failed: its successor's if it is a thread's."""
    if not claim.token:
        return claim
    store.take(claim.thread, "its last write failed", at_us=1).wait()
    return store.claim(claim.thread).wait().claim
