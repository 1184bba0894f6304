"""Calls that are made at the same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from effectgraph.stores.testing.place import DEADLINE_S

T = TypeVar("T")


class Call(threading.Thread, Generic[T]):
    """A call in a thread of its own, and what came of it."""

    def __init__(self, call: Callable[[], T], start: threading.Barrier) -> None:
        super().__init__(daemon=True)
        self._call = call
        self._start_line = start
        self.results: list[T] = []
        self.errors: list[Exception] = []

    def run(self) -> None:
        """Wait for the others, then make the call."""
        self._start_line.wait(DEADLINE_S)
        try:
            self.results.append(self._call())
        except Exception as error:
            self.errors.append(error)


def together(calls: Sequence[Callable[[], T]]) -> tuple[list[T], list[Exception]]:
    """The results and the errors of calls that begin at the same moment, each in a thread of its own."""
    start = threading.Barrier(len(calls))
    threads = [Call(call, start) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_S)
    stuck = sum(thread.is_alive() for thread in threads)
    if stuck:
        raise TimeoutError(f"{stuck} of {len(calls)} calls at the same moment have no result after {DEADLINE_S:.0f} s")
    return [each for thread in threads for each in thread.results], [
        each for thread in threads for each in thread.errors
    ]
