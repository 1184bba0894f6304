"""What a model store keeps: plain records in dicts, and what of them is on disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from typing import Generic, TypeVar

import attrs

from effectgraph.stores.keys import EffectKey
from effectgraph.stores.records import (
    Asked,
    Decided,
    Evidence,
    GraphStamp,
    HistoryEntry,
    Origin,
    OwnerId,
    Piece,
    Remark,
    Task,
    ThreadStatus,
)

SYNC_AFTER_S = 0.5
"""Seconds until what was written is synced although nobody asked for it, as soon as somebody waits for that."""

T_co = TypeVar("T_co", covariant=True)


@attrs.frozen(kw_only=True)
class Thread:
    """A thread's rows. `pieces` are of all its steps; tasks by their ids."""

    id: str
    incarnation: int
    graph: GraphStamp
    status: ThreadStatus
    step: int
    token: int
    owner: OwnerId | None
    pieces: tuple[tuple[int, Piece], ...] = ()
    tasks: tuple[Task, ...] = ()
    history: tuple[HistoryEntry, ...] = ()
    questions: tuple[Asked, ...] = ()
    takes: tuple[tuple[int, str, int], ...] = ()
    kept_from: int = 0
    origin: Origin | None = None


@attrs.define
class Rows:
    """Everything that a store keeps. The records never change, so that a copy of the dicts is a copy of all."""

    namespace: str
    token: int = 0
    incarnation: int = 0
    versions: int = 0
    threads: dict[str, Thread] = attrs.Factory(dict[str, Thread])
    effects: dict[tuple[EffectKey, int], Evidence] = attrs.Factory(dict[tuple[EffectKey, int], Evidence])
    remarks: dict[tuple[EffectKey, int], tuple[Remark, ...]] = attrs.Factory(
        dict[tuple[EffectKey, int], tuple[Remark, ...]]
    )
    decisions: list[tuple[Decided, Evidence]] = attrs.Factory(list[tuple[Decided, Evidence]])

    def copy(self) -> Rows:
        """The same rows, to be changed or kept on their own."""
        return Rows(
            self.namespace,
            self.token,
            self.incarnation,
            self.versions,
            dict(self.threads),
            dict(self.effects),
            dict(self.remarks),
            list(self.decisions),
        )


class ModelData:
    """What several model stores share, as processes share a file: the rows, what of them is synced, who is alive."""

    def __init__(self, namespace: str = "model") -> None:
        self.lock = threading.RLock()
        self.rows = Rows(namespace)
        self.alive: set[OwnerId] = set()
        self.syncs = 0
        self._on_disk = self.rows.copy()
        self._at_sync: list[Callable[[], None]] = []

    def sync(self) -> None:
        """Put everything that was written on disk, and call who waits for that."""
        self._on_disk = self.rows.copy()
        self.syncs += 1
        due, self._at_sync = self._at_sync, []
        for then in due:
            then()

    def when_synced(self, number: int, then: Callable[[], None]) -> None:
        """Call `then` at sync number `number`, now if that has been."""
        if number <= self.syncs:
            then()
        else:
            self._at_sync.append(then)
            # Somebody waits: what nobody asks to have synced is synced after a while.
            timer = threading.Timer(SYNC_AFTER_S, self._sync_by_itself)
            timer.daemon = True
            timer.start()

    def _sync_by_itself(self) -> None:
        with self.lock:
            if self._at_sync:
                self.sync()

    def power_cut(self) -> None:
        """Forget what is not synced; nobody who had it open is alive."""
        with self.lock:
            self.rows = self._on_disk.copy()
            self._at_sync.clear()
            self.alive.clear()


class DoneReceipt(Generic[T_co]):
    """The receipt of something that was done, or failed, at the call."""

    def __init__(self, data: ModelData, synced_by: int, value: tuple[T_co, ...], error: Exception | None) -> None:
        self._data = data
        self._synced_by = synced_by
        self._value = value
        self._error = error

    def __await__(self) -> Generator[object, None, T_co]:
        yield from ()
        return self.wait()

    def wait(self) -> T_co:
        """The result."""
        if self._error is not None:
            raise self._error
        return self._value[0]

    def done(self) -> bool:
        """It is."""
        return True

    def when_synced(self, then: Callable[[], None], /) -> None:
        """Call `then` once the write is on disk; never for a failed one."""
        if self._error is None:
            with self._data.lock:
                self._data.when_synced(self._synced_by, then)
