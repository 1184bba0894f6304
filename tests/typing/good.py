"""Good uses of the public surface: type checkers accept every line, and the graph passes its check."""

from __future__ import annotations

import sqlite3
from enum import Enum
from typing import Annotated, Literal, assert_type

import attrs

from effectgraph import (
    END,
    AppliedKeys,
    BlockingContext,
    Codec,
    Context,
    EffectGuard,
    EffectKey,
    Graph,
    Node,
    Run,
    Runtime,
    SqliteTarget,
    Status,
    Store,
    Update,
    Verifiable,
    append,
    codec_for,
    given,
    open_store,
    tool,
    updates,
)


@attrs.frozen(kw_only=True)
class Order:
    """A state."""

    id: str = given()
    total: int = 0
    receipt: str | None = None
    notes: Annotated[tuple[str, ...], append] = ()
    lines: Annotated[tuple[int, ...], "append"] = ()


@attrs.frozen
class Deps:
    """What the program hands its nodes."""

    api_key: str


class Size(Enum):
    """Keys of a branch."""

    SMALL = 1
    LARGE = 2


change = updates(Order)
shop = Graph("order", version=1, state=Order, deps=Deps)


@tool.unchecked(idempotent=True)
async def charge(amount: int, card: str) -> str:
    """An async tool."""
    return f"ch_{amount}_{card}"


@tool
def mail(text: str) -> None:
    """The most cautious tool."""


@tool.read_only()
def price_of(name: str) -> int:
    """A tool without effect."""
    return len(name)


def digest_of(path: str, text: str) -> str:
    """The probe of `write`."""
    return f"{path}{text}"


@tool.verifiable(probe=digest_of)
def write(path: str, text: str) -> Verifiable[int]:
    """A plan."""
    return Verifiable(before="a", after="b", presumed=len(text), effect=lambda token: None)


def books() -> AppliedKeys[sqlite3.Connection]:
    """A database that keeps applied keys."""
    return SqliteTarget("books.db")


@tool.applied_keys(target=books)
def book(tx: sqlite3.Connection, amount: int) -> int:
    """Works in the target's transaction."""
    tx.execute("insert into bookings values (?)", (amount,))
    return amount


@shop.node(attempts=4)
async def pay(s: Order, ctx: Context[Deps]) -> Update[Order]:
    """An async node."""
    receipt = await ctx.call(charge, s.total, card=ctx.deps.api_key)
    assert_type(receipt, str)
    n = await ctx.at("copy").call(write, "r.txt", text=receipt)
    assert_type(n, int)
    b = await ctx.call(book, amount=3)
    assert_type(b, int)
    assert_type(ctx.guard, EffectGuard)
    return change(receipt=receipt) | change.replace(notes=("paid",))


@shop.node()
def pack(s: Order, ctx: BlockingContext[Deps]) -> Update[Order] | None:
    """A plain node that may return an update."""
    price = ctx.call(price_of, s.id)
    assert_type(price, int)
    ctx.call(mail, "packed")
    return change(lines=(price,)) if price else None


@shop.node()
def ship(s: Order, ctx: BlockingContext[Deps]) -> None:
    """A plain node that returns nothing."""


def way(s: Order) -> Literal["pack", "stop"]:
    """A router whose keys are listed."""
    return "pack" if s.total else "stop"


def size(s: Order) -> Size:
    """A router over an enum."""
    return Size.LARGE if s.total > 10 else Size.SMALL


shop.start(pay)
shop.branch(pay, way).to({"pack": pack, "stop": END})
shop.branch(pack, size).to({Size.LARGE: pay, Size.SMALL: ship})
shop.edge(ship, END)
assert_type(pay, Node[Order, None])
assert_type(pack, Node[Order, None])

bare = Graph("bare", version=1, state=Order)


@bare.node()
async def idle(s: Order, ctx: Context) -> None:
    """A node of a graph without deps."""
    assert_type(ctx.deps, None)


bare.start(idle)
bare.edge(idle, END)


async def main(store: Store) -> None:
    """Runs of both graphs."""
    async with Runtime(shop, store, deps=Deps("k")) as rt:
        r = await rt.run("o-1", change(id="o-1", total=3))
        assert_type(r, Run[Order])
        assert_type(r.status, Status)
        assert_type(await rt.state("o-1"), Order)
    async with Runtime(bare, store) as plain:
        assert_type(await plain.run("b-1", change(id="b-1")), Run[Order])


async def guarded(guard: EffectGuard) -> int:
    """The guard without a graph."""
    codec = codec_for(int)
    assert_type(codec, Codec[int])
    return await guard.unchecked(EffectKey("me", "job", "1"), codec, fingerprint="f", effect=lambda: 1)


assert_type(codec_for(dict[str, int]), Codec[dict[str, int]])


def opened() -> Store:
    """A store in memory."""
    return open_store(":memory:")
