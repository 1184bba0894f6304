"""What a target owes that settles replays by applied keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from effectgraph.effects.current import CurrentEffect

C_co = TypeVar("C_co", covariant=True)


class AppliedKeys(Protocol[C_co]):
    """A target whose own transaction stores (key, outcome), and the newest token of each scope. Blocking calls."""

    def apply(self, effect: CurrentEffect, run: Callable[[C_co], bytes], /) -> bytes:
        """Apply an effect at most once, and return its outcome as encoded by `run`.

        In one transaction: an older token than the newest seen of this scope raises `TargetFenced`; a known key returns
        its recorded outcome and `run` is not called; otherwise `run` gets the open transaction, and what it
        returns is recorded with the key. Durable on return. When it raises, nothing was changed.
        """
        ...

    def forget(self, effect: CurrentEffect, /) -> None:
        """Remove a key and record the token. Raises `TargetFenced` for an older token. Nothing there is no error."""
        ...
