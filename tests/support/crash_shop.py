"""One order with one effect of a kind, on real targets, for tests that kill its worker."""

from __future__ import annotations

import json
import sqlite3
import urllib.request
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Final

import attrs

from effectgraph import (
    END,
    Context,
    CurrentEffect,
    FileTarget,
    Graph,
    SqliteTarget,
    Update,
    Verifiable,
    current_effect,
    tool,
    updates,
)

LINE: Final = "one order\n"


class EffectKind(Enum):
    """The four ways in which an effect of these tests can be settled."""

    VERIFIABLE = "verifiable"
    APPLIED_KEYS = "applied_keys"
    UNCHECKED = "unchecked"
    IDEMPOTENT = "idempotent"


class Boundary(Enum):
    """Where a worker is killed or stopped."""

    BEFORE_INTENT = "before_intent"
    AFTER_INTENT = "after_intent"
    AFTER_TARGET = "after_target"
    AFTER_OUTCOME = "after_outcome"
    AFTER_COMMIT = "after_commit"


@attrs.frozen(kw_only=True)
class Order:
    """The state of an order: what its effect answered."""

    answers: Annotated[tuple[str, ...], "append"] = ()


@attrs.frozen
class Place:
    """Where the targets of one order are: files in a folder, a payment provider at an address."""

    folder: Path
    provider: str

    @property
    def store(self) -> Path:
        return self.folder / "store.db"

    @property
    def file(self) -> Path:
        return self.folder / "orders.txt"

    @property
    def database(self) -> Path:
        return self.folder / "books.db"

    @property
    def card(self) -> str:
        """The provider counts charges by card: each order pays with one of its own."""
        return self.folder.as_posix()

    def counted(self, kind: EffectKind) -> int:
        """How often the target was changed, looked at from outside."""
        if kind is EffectKind.VERIFIABLE:
            return self.file.read_text().count(LINE) if self.file.exists() else 0
        if kind is EffectKind.APPLIED_KEYS:
            with sqlite3.connect(self.database) as connection:
                (count,) = connection.execute("SELECT count(*) FROM sales").fetchone()
            connection.close()
            return int(count)
        with urllib.request.urlopen(f"{self.provider}/charges", timeout=30) as answer:
            charges = json.load(answer)["charges"]
        return sum(charge["card"] == self.card for charge in charges)

    def prepare(self) -> None:
        """Make the user's own table."""
        self.folder.mkdir()
        connection = sqlite3.connect(self.database)
        connection.execute("CREATE TABLE sales (item TEXT NOT NULL)")
        connection.close()


def _charge(place: Place, idempotency_key: str | None) -> str:
    headers = {"Content-Type": "application/json"}
    if idempotency_key is not None:
        headers["Idempotency-Key"] = idempotency_key
    body = json.dumps({"amount": 5, "card": place.card}).encode()
    request = urllib.request.Request(f"{place.provider}/charges", body, headers, method="POST")
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(json.load(answer)["id"])


def order_graph(place: Place, kind: EffectKind, changed: Callable[[], None]) -> Graph[Order, None]:
    """A graph whose node makes one effect of this kind; `changed` is called when the target has just changed."""

    def digest(line: str) -> str:
        return FileTarget(place.file).probe(current_effect())

    @tool.verifiable(probe=digest)
    def write(line: str) -> Verifiable[str]:
        planned = FileTarget(place.file).plan(current_effect(), lambda old: (old or b"") + line.encode())

        def effect(token: int) -> None:
            planned.effect(token)
            changed()

        return Verifiable(before=planned.before, after=planned.after, presumed=line, effect=effect)

    class ReportingBooks:
        """The books, whose change is on disk when `changed` is called."""

        def apply(self, effect: CurrentEffect, run: Callable[[sqlite3.Connection], bytes], /) -> bytes:
            with SqliteTarget(place.database) as books:
                outcome = books.apply(effect, run)
            changed()
            return outcome

        def forget(self, effect: CurrentEffect, /) -> None:
            with SqliteTarget(place.database) as books:
                books.forget(effect)

    @tool.applied_keys(target=ReportingBooks)
    def sell(sales: sqlite3.Connection, item: str) -> str:
        sales.execute("INSERT INTO sales VALUES (?)", (item,))
        return item

    @tool.unchecked()
    def charge(amount: int) -> str:
        receipt = _charge(place, None)
        changed()
        return receipt

    @tool.unchecked(idempotent=True)
    def charge_once(amount: int) -> str:
        receipt = _charge(place, current_effect().idempotency_key)
        changed()
        return receipt

    graph = Graph("order", version=1, state=Order)
    change = updates(Order)

    @graph.node()
    async def act(order: Order, ctx: Context) -> Update[Order]:
        if kind is EffectKind.VERIFIABLE:
            answer = await ctx.call(write, LINE)
        elif kind is EffectKind.APPLIED_KEYS:
            answer = await ctx.call(sell, "book")
        elif kind is EffectKind.UNCHECKED:
            answer = await ctx.call(charge, 5)
        else:
            answer = await ctx.call(charge_once, 5)
        return change(answers=(answer,))

    graph.start(act)
    graph.edge(act, END)
    return graph
