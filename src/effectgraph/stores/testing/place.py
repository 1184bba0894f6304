"""Where a check has its data, and how a check is run there."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from enum import Enum
from multiprocessing.connection import Connection
from typing import Final, TypeVar

import attrs

from effectgraph.stores.protocol import Store
from effectgraph.stores.testing.expect import equal

Work = Callable[[Store], None]
"""Something done with an open store. Can be pickled, so that another process can do it."""

DEADLINE_S: Final = 60.0
"""Seconds that another process or a store may take for anything: long past what a store needs, short of for ever."""


@attrs.frozen(kw_only=True)
class Place:
    """The data of one check: new and empty, and nobody else's.

    `open` opens it as another owner each time. `shared` says that it can be opened again, at the same time and after
    all are closed, and is the same data then; a store in memory may be unable to. `killed` does some work on a store
    that it opens, and lets that owner die without closing before it returns: `in_killed_process` for what can be
    opened in another process. `power_cut` forgets what is not synced and ends all who have it open, for a store that
    can simulate that. What a place is not able to do is not checked there.
    """

    open: Callable[[], Store]
    shared: bool = True
    killed: Callable[[Work], None] | None = None
    power_cut: Callable[[], None] | None = None


class Needs(Enum):
    """What a check needs of its place."""

    ONE = "one open store"
    SEVERAL = "several owners on the same data: `shared`"
    KILLED = "an owner that dies without closing: `killed`"
    POWER_CUT = "a power cut: `power_cut`"

    def are_met(self, place: Place) -> bool:
        """Whether a place can do it."""
        match self:
            case Needs.ONE:
                return True
            case Needs.SEVERAL:
                return place.shared
            case Needs.KILLED:
                return place.shared and place.killed is not None
            case Needs.POWER_CUT:
                return place.power_cut is not None


class Checks:
    """What all checks stand on: where they have their data."""

    patience_s: float = DEADLINE_S
    """Seconds to wait for what a store is to do by itself."""

    def place(self) -> AbstractContextManager[Place]:
        """A new, empty place for one check, cleaned up behind it. To be overridden."""
        raise NotImplementedError(f"{type(self).__name__}: say where a check has its data, by a method `place`")

    def unchecked(self, why: str) -> None:
        """Called instead of a check that the place is not able for. Does nothing; a test tool's `skip` fits here."""


C = TypeVar("C", bound=Checks)


def on_store(check: Callable[[C, Store], None]) -> Callable[[C], None]:
    """A check of one open store. What is stored must fit together at its end."""

    def run(self: C) -> None:
        with self.place() as place, opened(place) as store:
            check(self, store)
            all_fits(store)

    return _like(check, run)


def on_place(needs: Needs = Needs.ONE) -> Callable[[Callable[[C, Place], None]], Callable[[C], None]]:
    """A check that opens stores itself, at a place that is able to do what it needs."""

    def decorate(check: Callable[[C, Place], None]) -> Callable[[C], None]:
        def run(self: C) -> None:
            with self.place() as place:
                if needs.are_met(place):
                    check(self, place)
                else:
                    self.unchecked(f"this place has not got what the check needs: {needs.value}")

        return _like(check, run)

    return decorate


@contextmanager
def opened(place: Place) -> Generator[Store]:
    """A store that is opened, and closed at the end."""
    store = place.open()
    try:
        yield store
    finally:
        closed(store)


def closed(store: Store) -> None:
    """Close a store, from a plain thread."""
    asyncio.run(store.aclose())


def all_fits(store: Store) -> None:
    """Whether the store finds its own data in order."""
    equal((), store.check().wait(), "what `check` finds wrong in data that the store alone has written")


def in_killed_process(open_store: Callable[[], Store], work: Work) -> None:
    """Open a store in a process of its own, do the work, and kill the process then; both arguments are pickled.

    For a place: `killed=partial(in_killed_process, partial(SqliteStore, path))`. Raises `ChildProcessError` if the
    work fails there.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work_and_wait, args=(open_store, work, theirs))
    process.start()
    theirs.close()
    try:
        said = ours.recv() if ours.poll(DEADLINE_S) else "it hangs"
    except EOFError:
        said = "it ended"
    finally:
        process.kill()
        process.join()
        process.close()
        ours.close()
    if said is not None:
        raise ChildProcessError(f"the process that was to be killed did not do its work: {said}")


def _work_and_wait(open_store: Callable[[], Store], work: Work, parent: Connection) -> None:
    try:
        work(open_store())
    except Exception as error:
        parent.send(f"{type(error).__name__}: {error}")
    else:
        parent.send(None)
    # Ends with the parent if that is killed first.
    parent.poll(None)


def _like(check: Callable[..., None], run: Callable[[C], None]) -> Callable[[C], None]:
    # Not `functools.wraps`: a test tool would follow it to the parameters of the check and look for them.
    run.__name__, run.__qualname__, run.__module__, run.__doc__ = (
        check.__name__,
        check.__qualname__,
        check.__module__,
        check.__doc__,
    )
    return run
