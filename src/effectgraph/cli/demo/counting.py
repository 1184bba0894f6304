"""What the targets counted, asked of the targets themselves."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Final

import attrs
import httpx
import msgspec

from effectgraph.cli.demo.observed import Charge, Counts
from effectgraph.cli.demo.place import ITEM, Place
from effectgraph.cli.demo.provider import Entry, Kind

ANSWER_WAIT_S: Final = 30.0
"""How long an answer of the server is waited for: far longer than it takes."""


@attrs.frozen
class Targets:
    """The four targets, as anybody could look at them from outside."""

    place: Place
    provider: str

    def counts(self, order: str) -> Counts:
        """How often each effect of an order happened."""
        charges = [entry for entry in self._entries(Kind.CHARGES) if entry.order == order]
        points = [entry for entry in self._entries(Kind.POINTS) if entry.order == order]
        return Counts(
            reserve=self._number("SELECT count(*) FROM reserved WHERE order_id = ?", order),
            charge=len(charges),
            reward=len(points),
            receipt=self._lines(order),
            charge_requests=sum(entry.requests for entry in charges),
            reward_requests=sum(entry.requests for entry in points),
        )

    def pieces_left(self) -> int:
        """The shop's stock."""
        return self._number("SELECT pieces FROM stock WHERE item = ?", ITEM)

    def charges(self) -> tuple[Charge, ...]:
        """Every charge that the payment server made."""
        return tuple(
            Charge(id=entry.id, order=entry.order, amount=entry.amount, card=entry.card)
            for entry in self._entries(Kind.CHARGES)
        )

    def _number(self, query: str, argument: str) -> int:
        with closing(sqlite3.connect(self.place.shop)) as connection:
            (number,) = connection.execute(query, (argument,)).fetchone()
        return int(number)

    def _lines(self, order: str) -> int:
        if not self.place.ledger.exists():
            return 0
        return sum(line.startswith(f"{order} ") for line in self.place.ledger.read_text().splitlines())

    def _entries(self, kind: Kind) -> list[Entry]:
        answer = httpx.get(f"{self.provider}/{kind.value}", timeout=ANSWER_WAIT_S, trust_env=False)
        answer.raise_for_status()
        return msgspec.json.decode(answer.content, type=dict[str, list[Entry]])[kind.value]
