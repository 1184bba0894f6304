"""One guarded call: what it asks for, and how its plain and async callables are run."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from enum import Enum
from functools import partial
from typing import Generic, TypeVar

import attrs

from effectgraph.effects.codec import Codec, CodecError, OtherSchema
from effectgraph.effects.errors import OutcomeUnreadable
from effectgraph.effects.limits import OUTCOME_BYTES, RECONCILE_S
from effectgraph.outside import Runner
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.records import Kind

A = TypeVar("A")


class Repeat(Enum):
    """What running an unchecked effect once more would do."""

    HARMFUL = "harmful"
    IDEMPOTENT = "idempotent"
    COSTLY = "costly"
    """Idempotent, but paid for each time, so its outcome is synced before it is returned."""


@attrs.frozen(kw_only=True)
class Call(Generic[A]):
    """One call of an entry point. `request` is what an operator may see of it; sizes in bytes."""

    kind: Kind
    key: EffectKey
    codec: Codec[A]
    fingerprint: str
    tool: str = ""
    request: bytes = b""
    repeat: Repeat = Repeat.HARMFUL
    reconciles: bool = False
    reconcile_s: float = RECONCILE_S
    max_outcome_bytes: int = OUTCOME_BYTES

    @property
    def idempotent(self) -> bool:
        return self.repeat is not Repeat.HARMFUL

    @property
    def outcome_lost_is_harmless(self) -> bool:
        """Whether the outcome may be lost with the power: the target remembers it, or running again costs nothing."""
        return self.kind is not Kind.UNCHECKED or self.repeat is Repeat.IDEMPOTENT

    def decode(self, value: bytes, schema: str) -> A:
        """An outcome, or one that a plan presumed, which `schema` wrote. Raises `OutcomeUnreadable`."""
        try:
            return self.codec.decode(value, schema=schema)
        except OtherSchema as error:
            raise OutcomeUnreadable(self.key, schema, self.codec.schema, "there is no migration") from error
        except CodecError as error:
            raise OutcomeUnreadable(self.key, schema, self.codec.schema, str(error)) from error


async def run_callable(runner: Runner, fn: Callable[..., A | Awaitable[A]], *args: object) -> A:
    """Call `fn`: in the event loop if it is async, else in a worker thread. An awaitable that it returns is awaited."""
    if inspect.iscoroutinefunction(fn):
        answer: A | Awaitable[A] = fn(*args)
    else:
        answer = await runner.in_thread(partial(fn, *args))
    if inspect.isawaitable(answer):
        return await answer
    return answer
