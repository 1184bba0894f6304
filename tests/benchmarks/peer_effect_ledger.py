"""effect-ledger: an effect behind a claim and a stored result, in its SQLite store as it ships."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import Protocol

from bench_child import WARM_UP, at_once, one_by_one, serve

EFFECT = "payment.charge:v1"


class Operation(Protocol):
    """What effect-ledger answers."""

    @property
    def state(self) -> str: ...


class Executor(Protocol):
    """The part of `effect_ledger.EffectExecutor` used here; found by name, as the peer need not be installed."""

    def execute(
        self, operation_id: str, effect: str, request: dict[str, object], handler: Callable[[Operation], object], /
    ) -> Operation: ...

    async def aexecute(
        self,
        operation_id: str,
        effect: str,
        request: dict[str, object],
        handler: Callable[[Operation], Awaitable[object]],
        /,
    ) -> Operation: ...


class Recipient:
    """The outside world: answers at once and counts."""

    def __init__(self) -> None:
        self.payments = 0

    def pay(self, _operation: Operation) -> object:
        self.payments += 1
        return {"receipt": f"r-{self.payments}"}

    async def pay_async(self, operation: Operation) -> object:
        return self.pay(operation)

    def check(self, count: int) -> None:
        """Every operation, those that warmed up too, has paid once."""
        if self.payments != count + WARM_UP:
            raise RuntimeError(f"effect-ledger paid {self.payments} times, not {count + WARM_UP}")


def open_ledger(folder: Path) -> Executor:
    """A new ledger: a SQLite file made with the settings that effect-ledger chooses."""
    executor: Executor = import_module("effect_ledger").EffectExecutor(folder / "ledger.db", scope="bench")
    return executor


def request_of(number: int) -> dict[str, object]:
    """What one payment asks for."""
    return {"amount": number, "card": "tok_visa"}


def must_be_completed(operation: Operation) -> None:
    """An effect that was not performed and recorded must not count as one."""
    if operation.state != "completed":
        raise RuntimeError(f"effect-ledger left an operation {operation.state}")


def one_after_another(count: int, folder: Path) -> float:
    """`execute`, one call after another."""
    ledger, recipient = open_ledger(folder), Recipient()

    def effect(number: int) -> None:
        must_be_completed(ledger.execute(f"pay-{number}", EFFECT, request_of(number), recipient.pay))

    seconds = one_by_one(count, effect)
    recipient.check(count)
    return seconds


def many_at_once(count: int, folder: Path) -> float:
    """`aexecute`, with as many calls in flight as in our own case."""
    ledger, recipient = open_ledger(folder), Recipient()

    async def effect(number: int) -> None:
        must_be_completed(await ledger.aexecute(f"pay-{number}", EFFECT, request_of(number), recipient.pay_async))

    seconds = asyncio.run(at_once(count, effect))
    recipient.check(count)
    return seconds


if __name__ == "__main__":
    serve({"one": one_after_another, "many": many_at_once})
