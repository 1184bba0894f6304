"""The effect that runs now, for the code that performs it."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

import attrs

from effectgraph.effects.errors import OutsideEffect
from effectgraph.stores.keys import EffectKey


@attrs.frozen(kw_only=True)
class CurrentEffect:
    """Which effect this is, and under which token it runs (0 outside a runtime)."""

    key: EffectKey
    namespace: str
    incarnation: int
    token: int
    fingerprint: str
    _stop: threading.Event | None = attrs.field(default=None, alias="stop", eq=False, repr=False)

    @property
    def told_to_stop(self) -> bool:
        """Whether a `reconcile` that runs in a worker thread has used up its time: what it answers now is not looked
        at. An async one is cancelled instead.
        """
        return self._stop is not None and self._stop.is_set()

    @property
    def scope(self) -> str:
        """The name under which a target keeps the newest token: tokens of one scope can be compared."""
        return f"{self.namespace}/{self.incarnation}/{self.key.scope}"

    @property
    def idempotency_key(self) -> str:
        """A key for a provider that takes one: the same on every attempt, never shared by two stores or two requests.

        The form follows the Idempotency-Key header field (IETF httpapi draft): printable, 64 characters.
        """
        parts = (self.namespace, str(self.incarnation), self.key.scope, self.key.task, self.key.call, self.fingerprint)
        digest = hashlib.sha256()
        for part in parts:
            data = part.encode()
            digest.update(len(data).to_bytes(4, "big") + data)
        return digest.hexdigest()


_running: Final[ContextVar[CurrentEffect]] = ContextVar("effectgraph_running_effect")


@contextmanager
def running(effect: CurrentEffect) -> Generator[None]:
    """Make `effect` the current one, around the callables that a guard is given."""
    token = _running.set(effect)
    try:
        yield
    finally:
        _running.reset(token)


def current_effect() -> CurrentEffect:
    """The effect whose plan, probe, forget or effect callable is running now.

    Raises `OutsideEffect` elsewhere.
    """
    try:
        return _running.get()
    except LookupError:
        raise OutsideEffect from None
