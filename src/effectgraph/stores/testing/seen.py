"""All that can be read of a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import attrs

from effectgraph.stores.errors import ThreadUnknown
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import Asked, Decided, Evidence, HistoryEntry, Piece, Remark, ThreadView
from effectgraph.stores.testing.expect import equal, refused, there
from effectgraph.stores.testing.samples import THREAD, key

E = TypeVar("E", bound=Exception)

FOR_EVER_US: Final = 2**62
"""Later than everything that a check lets expire."""


@attrs.frozen(kw_only=True)
class SeenThread:
    """All that can be read of one thread: as it stands, its states by step, its history."""

    view: ThreadView
    states: tuple[tuple[Piece, ...], ...]
    history: tuple[HistoryEntry, ...]


@attrs.frozen(kw_only=True)
class Seen:
    """All that can be read of a store at one time; a thread that is not there is None."""

    threads: tuple[SeenThread | None, ...]
    evidence: tuple[Evidence | None, ...]
    remarks: tuple[tuple[Remark, ...], ...]
    runnable: tuple[str, ...]
    unresolved: tuple[Evidence, ...]
    pending: tuple[Asked, ...]
    due: tuple[Asked, ...]
    decisions: tuple[Decided, ...]


def everything(store: Store, *threads: str, calls: Sequence[str] = ("charge", "other")) -> Seen:
    """All that can be read of these threads, of calls of their first task, within a runtime and without, and lists."""
    seen = tuple(seen_thread(store, name) for name in threads or (THREAD,))
    incarnations = {(name, 0) for name in threads or (THREAD,)} | {
        (each.view.id, each.view.incarnation) for each in seen if each is not None
    }
    return Seen(
        threads=seen,
        evidence=tuple(
            store.evidence(key(call, name), incarnation).wait()
            for name, incarnation in sorted(incarnations)
            for call in calls
        ),
        remarks=tuple(
            store.remarks(key(calls[0], name), incarnation).wait() for name, incarnation in sorted(incarnations)
        ),
        runnable=store.runnable("shop").wait(),
        unresolved=store.unresolved().wait(),
        pending=store.pending().wait(),
        due=store.due(FOR_EVER_US).wait(),
        decisions=store.decisions().wait(),
    )


def seen_thread(store: Store, name: str) -> SeenThread | None:
    """All that can be read of one thread, None if it is not there."""
    try:
        view = store.read(name).wait()
    except ThreadUnknown:
        return None
    steps = range(view.kept_from, view.step + 1)
    return SeenThread(
        view=view,
        states=tuple(store.state(name, step).wait() for step in steps),
        history=store.history(name).wait(),
    )


def found(store: Store, name: EffectKey, incarnation: int) -> Evidence:
    """The evidence of an effect, which must be there."""
    return there(store.evidence(name, incarnation).wait(), f"the evidence of effect {name}")


def changes_nothing(store: Store, kind: type[E], ask: Callable[[], Receipt[object]], what: str, *threads: str) -> E:
    """The error with which an operation is refused; everything that can be read is then as it was before."""
    before = everything(store, *threads)
    error = refused(kind, ask, what)
    equal(before, everything(store, *threads), f"what can be read after what was refused: {what}")
    return error
