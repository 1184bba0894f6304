"""The order: its state, and its graph of four nodes with one effect each."""

from __future__ import annotations

from typing import Final

import attrs

from effectgraph import END, Context, Graph, Update, given, updates
from effectgraph.cli.demo.shop import Shop


@attrs.frozen(kw_only=True)
class Order:
    """What is kept of an order: what it asks for, then what its effects answered."""

    id: str = given()
    item: str = given()
    amount: int = given()
    card: str = given()
    left: int | None = None
    charge: str | None = None
    points: str | None = None


change: Final = updates(Order)
orders: Final = Graph("orders", version=1, state=Order, deps=Shop)


@orders.node()
async def reserve(order: Order, ctx: Context[Shop]) -> Update[Order]:
    """Reserve the item."""
    left = await ctx.call(ctx.deps.reserve, order.id, order.item)
    return change(left=left)


@orders.node()
async def charge(order: Order, ctx: Context[Shop]) -> Update[Order]:
    """Take the money."""
    name = await ctx.call(ctx.deps.charge, order.id, order.amount, order.card)
    return change(charge=name)


@orders.node()
async def reward(order: Order, ctx: Context[Shop]) -> Update[Order]:
    """Book a point for every whole unit of money."""
    name = await ctx.call(ctx.deps.reward, order.id, order.amount // 100, order.card)
    return change(points=name)


@orders.node()
async def receipt(order: Order, ctx: Context[Shop]) -> None:
    """Write the receipt."""
    await ctx.call(ctx.deps.receipt, f"{order.id} {order.item} {order.amount} {order.charge} {order.points}")


orders.start(reserve)
orders.edge(reserve, charge)
orders.edge(charge, reward)
orders.edge(reward, receipt)
orders.edge(receipt, END)
