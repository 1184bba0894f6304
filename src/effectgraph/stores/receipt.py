"""The receipt of a queued write."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Protocol, TypeVar

T_co = TypeVar("T_co", covariant=True)


class Receipt(Protocol[T_co]):
    """What a store operation gives back at once, while the write waits in order for the store's writer.

    Await it (from any event loop) for the result: the write has then been made, and synced if its operation says
    so. A receipt that nobody awaits is still written; if it fails, the writes of its run behind it fail too.
    """

    def __await__(self) -> Generator[object, None, T_co]: ...

    def wait(self) -> T_co:
        """The result, for a plain thread. Blocks; never call it in an event loop."""
        ...

    def done(self) -> bool:
        """Whether the write has been made or has failed."""
        ...

    def when_synced(self, then: Callable[[], None], /) -> None:
        """Call `then` once the write is on disk, in the writer's thread, at once if it is already. Never called for a
        failed write.
        """
        ...
