"""The shop's four tools: one for each way in which an effect can be settled after a crash."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final

import attrs
import httpx
import msgspec

from effectgraph import (
    AppliedKeys,
    CurrentEffect,
    FileTarget,
    NotApplied,
    SqliteTarget,
    Tool,
    Verifiable,
    current_effect,
    tool,
)
from effectgraph.cli.demo.effect import Effect, Halts, Moment
from effectgraph.cli.demo.place import Place
from effectgraph.cli.demo.provider import KEY_HEADER, STALL_AFTER_COMMIT, STALL_HEADER, Asked, Entry, Kind

ANSWER_WAIT_S: Final = 30.0
"""How long an answer of the server is waited for: far longer than it takes, and the halted worker is killed before."""


@attrs.frozen(kw_only=True)
class Shop:
    """What the nodes of an order work with."""

    reserve: Tool[[str, str], int]
    charge: Tool[[str, int, str], str]
    reward: Tool[[str, int, str], str]
    receipt: Tool[[str], int]


@attrs.frozen
class Stock:
    """The shop's database, as a target that keeps applied keys; a worker may halt when a change of it is on disk."""

    target: SqliteTarget
    halts: Halts

    def apply(self, effect: CurrentEffect, run: Callable[[sqlite3.Connection], bytes], /) -> bytes:
        outcome = self.target.apply(effect, run)
        self.halts.reach(Moment.AFTER_CHANGE, Effect.RESERVE)
        return outcome

    def forget(self, effect: CurrentEffect, /) -> None:
        self.target.forget(effect)


@attrs.frozen
class Payments:
    """The payment server, over HTTP. When the worker is to halt in an effect, the server is told never to answer it."""

    client: httpx.AsyncClient
    halts: Halts

    async def book(self, kind: Kind, asked: Asked, *, effect: Effect, key: str | None = None) -> str:
        """Send one request and return the name of what was done. Raises `NotApplied` if it surely did not happen."""
        headers = {"Content-Type": "application/json"}
        if key is not None:
            headers[KEY_HEADER] = key
        if self.halts.wanted(Moment.AFTER_CHANGE, effect):
            headers[STALL_HEADER] = STALL_AFTER_COMMIT
        try:
            answer = await self.client.post(f"/{kind.value}", content=msgspec.json.encode(asked), headers=headers)
        except httpx.ConnectError as error:
            raise NotApplied(f"the payment server cannot be reached ({error})") from error
        if answer.is_client_error:
            raise NotApplied(f"the payment server turned it down: {answer.text}")
        answer.raise_for_status()
        return msgspec.json.decode(answer.content, type=Entry).id


def reserve_tool(stock: AppliedKeys[sqlite3.Connection]) -> Tool[[str, str], int]:
    """A change of a database: the key of the effect is stored in the same transaction, so the database knows it."""

    @tool.applied_keys(target=lambda: stock)
    def reserve(connection: sqlite3.Connection, order: str, item: str) -> int:
        """Take one piece out of the stock; returns how many are left."""
        left = connection.execute(
            "UPDATE stock SET pieces = pieces - 1 WHERE item = ? AND pieces > 0 RETURNING pieces", (item,)
        ).fetchone()
        if left is None:
            raise NotApplied(f"no {item} is left")
        connection.execute("INSERT INTO reserved VALUES (?, ?)", (order, item))
        return int(left[0])

    return reserve


def charge_tool(payments: Payments) -> Tool[[str, int, str], str]:
    """A request without a key: when its answer is lost, nobody can tell whether it happened."""

    @tool.unchecked()
    async def charge(order: str, amount: int, card: str) -> str:
        """Charge a card; returns the charge's name."""
        asked = Asked(amount=amount, card=card, order=order)
        return await payments.book(Kind.CHARGES, asked, effect=Effect.CHARGE)

    return charge


def reward_tool(payments: Payments) -> Tool[[str, int, str], str]:
    """A request with a key that is the same on every attempt: a server that knows it does nothing more."""

    @tool.unchecked(idempotent=True)
    async def reward(order: str, amount: int, card: str) -> str:
        """Book points on a card; returns the booking's name."""
        asked = Asked(amount=amount, card=card, order=order)
        key = current_effect().idempotency_key
        return await payments.book(Kind.POINTS, asked, effect=Effect.REWARD, key=key)

    return reward


def receipt_tool(ledger: FileTarget, halts: Halts) -> Tool[[str], int]:
    """A change of a file: its digests before and after are stored first, so the file itself can tell."""

    def digest(line: str) -> str:
        return ledger.probe(current_effect())

    @tool.verifiable(probe=digest)
    def receipt(line: str) -> Verifiable[int]:
        """Append a line to the ledger; returns how many bytes that were."""
        planned = ledger.plan(current_effect(), lambda content: (content or b"") + f"{line}\n".encode())

        def append(token: int) -> None:
            halts.reach(Moment.BEFORE_CHANGE, Effect.RECEIPT)
            planned.effect(token)
            halts.reach(Moment.AFTER_CHANGE, Effect.RECEIPT)

        return Verifiable(before=planned.before, after=planned.after, presumed=len(line) + 1, effect=append)

    return receipt


@asynccontextmanager
async def open_shop(place: Place, provider: str, halts: Halts) -> AsyncGenerator[Shop, None]:
    """Open the shop's targets for the time of an `async with` block."""
    # A proxy of the environment must not come between two processes of this machine.
    client = httpx.AsyncClient(base_url=provider, timeout=ANSWER_WAIT_S, trust_env=False)
    with SqliteTarget(place.shop) as stock:
        async with client:
            payments = Payments(client, halts)
            yield Shop(
                reserve=reserve_tool(Stock(stock, halts)),
                charge=charge_tool(payments),
                reward=reward_tool(payments),
                receipt=receipt_tool(FileTarget(place.ledger, locks=place.lock_folder), halts),
            )
