"""Mistakes that mypy --strict and pyright both refuse: every marked line, and no other.

The numbers are those of the public surface's list; those that are missing belong to parts that are not built yet.
"""

from __future__ import annotations

from typing import Literal

import attrs
from good import Deps, Order, change, charge, digest_of, pay, ship, shop, way

from effectgraph import END, BlockingContext, Context, Runtime, Store, Update, Verifiable, tool, updates


@attrs.frozen
class Other:
    """Another state."""

    x: int = 0


oc = updates(Other)


def make_updates() -> None:
    """Updates of what the state does not have."""
    change(reciept="x")  # B01 wrong field
    change(total="x")  # B02 wrong type
    change.replace(notes="x")  # B03 wrong type in replace
    _ = change(total=1) | oc(x=1)  # B04 two states


@shop.node()  # B05 wrong state
async def n3(s: Other, ctx: Context[Deps]) -> None:
    """See above."""


@shop.node()  # B06 update of another state
async def n4(s: Order, ctx: Context[Deps]) -> Update[Other]:
    """See above."""
    return oc(x=1)


@shop.node()  # B07 returns the state
async def n5(s: Order, ctx: Context[Deps]) -> Order:
    """See above."""
    return s


@shop.node()  # B08 returns a dict
def n6(s: Order, ctx: BlockingContext[Deps]) -> dict[str, int]:
    """See above."""
    return {}


@shop.node()  # B09 plain node, async context
def n7(s: Order, ctx: Context[Deps]) -> None:
    """See above."""


@shop.node()  # B10 async node, blocking context
async def n8(s: Order, ctx: BlockingContext[Deps]) -> None:
    """See above."""


@shop.node()  # B11 other deps
async def n9(s: Order, ctx: Context[int]) -> None:
    """See above."""


def way2(s: Order) -> Literal["ship", "stp"]:
    """A router with a misspelt key."""
    return "stp"


def way3(s: Other) -> bool:
    """A router of another state."""
    return True


shop.edge(pay, "ship")  # B12 not a node
shop.branch(pay, way2).to({"ship": ship, "stop": END})  # B14 wrong key
shop.branch(pay, way3).to({True: ship})  # B15 router of another state


async def call_tools(ctx: Context[Deps], store: Store) -> None:
    """Calls that do not fit their tool, and runtimes that do not fit their graph."""
    await ctx.call(charge, "x", card="t")  # B17 argument of another type
    await ctx.call(charge, 1)  # B18 missing argument
    await ctx.call(charge, 1, kard="t")  # B19 misspelt argument
    x: int = await ctx.call(charge, 1, "t")  # B20 result of another type
    print(x)
    ctx.call(charge, 1, "t")  # B22 forgot await
    Runtime(shop, store, deps=3)  # B23 wrong deps
    Runtime(shop, store)  # B24 missing deps
    await Runtime(shop, store, deps=Deps("k")).run("t", oc(x=1))  # B25 update of another state


@tool.verifiable(probe=digest_of)  # B26 probe of another signature
def w2(path: int) -> Verifiable[int]:
    """See above."""
    return Verifiable(before="a", after="b", presumed=path, effect=lambda token: None)


@tool.verifiable(probe=digest_of)  # B27 plan returns a value
def w3(path: str, text: str) -> int:
    """See above."""
    return 1


def set_field(s: Order) -> None:
    """A state is frozen."""
    s.total = 1  # B28 frozen
    way(s)
