"""Stores that break one promise each: what they stand on, and where they are listed."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import ClassVar, TypeVar

import attrs

from effectgraph.stores.keys import EffectKey
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import Claim, Evidence, ThreadView
from model_data import ModelData, Thread
from model_store import ModelStore

K = TypeVar("K", bound="type[BrokenStore]")


@attrs.frozen
class Broken:
    """A store that breaks a promise, and the checks that notice."""

    kind: type[BrokenStore]
    checks: tuple[str, ...]

    def __str__(self) -> str:
        return self.kind.__name__


BROKEN: list[Broken] = []
"""All that were defined with `breaks`."""


def breaks(*checks: str) -> Callable[[K], K]:
    """Say by which checks a broken store must be noticed, without `test_` before them."""

    def list_it(kind: K) -> K:
        BROKEN.append(Broken(kind, tuple(f"test_{check}" for check in checks)))
        return kind

    return list_it


class BrokenStore(ModelStore):
    """The model, with what is needed to break it in one place."""

    data_kind: ClassVar[type[ModelData]] = ModelData
    """The data that it is opened on."""

    _blind = False

    @contextmanager
    def blind(self) -> Generator[None]:
        """What is done inside takes every claim for the current one of its thread."""
        with self.data.lock:
            self._blind = True
            try:
                yield
            finally:
                self._blind = False

    def _current(self, claim: Claim) -> Thread:
        found = self.rows.threads.get(claim.thread)
        return found if self._blind and found is not None else super()._current(claim)

    def alter(self, thread: str, change: Callable[[Thread], Thread]) -> None:
        """Change a thread behind everybody's back; nothing if it is not there."""
        with self.data.lock:
            if thread in self.rows.threads:
                self.rows.threads[thread] = change(self.rows.threads[thread])

    def alter_effect(self, key: EffectKey, incarnation: int, change: Callable[[Evidence], Evidence]) -> None:
        """Change evidence behind everybody's back; nothing if it is not there."""
        with self.data.lock:
            if (key, incarnation) in self.rows.effects:
                self.rows.effects[key, incarnation] = change(self.rows.effects[key, incarnation])


class Seen(BrokenStore):
    """A store of which threads are seen otherwise than they are."""

    def _view(self, thread: Thread) -> ThreadView:
        return self.as_seen(super()._view(thread))

    def as_seen(self, view: ThreadView) -> ThreadView:
        """What is shown of a thread."""
        return view


def failed(receipt: Receipt[object]) -> bool:
    """Whether an operation of the model came to nothing."""
    try:
        receipt.wait()
    except Exception:
        return True
    return False
