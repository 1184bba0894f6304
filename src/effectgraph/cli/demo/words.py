"""The demo's sentences, for readers who have never heard of any of this."""

from __future__ import annotations

from typing import Final

from effectgraph.cli.demo.effect import Effect
from effectgraph.cli.demo.job import Settled
from effectgraph.stores.records import How

OPENING: Final = (
    "An order has four effects: it takes a teapot out of the stock (a database), charges a card and books points "
    "(a payment server in a process of its own), and writes a receipt (a file). Its worker is killed in the middle of "
    "each of them, another worker recovers the order, and then the targets are counted. Before an effect its intent is "
    "stored, after it its outcome; what is killed between the two leaves an intent that something has to settle."
)

CHANGED: Final = {
    Effect.RESERVE: "row committed",
    Effect.CHARGE: "card charged",
    Effect.REWARD: "points booked",
    Effect.RECEIPT: "file replaced",
}
"""What has happened at the target when a worker is killed."""

SETTLED_BY: Final = {
    Effect.RESERVE: "the database: same key",
    Effect.CHARGE: "nobody",
    Effect.REWARD: "the server: same key",
    Effect.RECEIPT: "the file: its digest",
}
"""Who can tell whether an effect has happened."""

NOT_KNOWN: Final = (
    "The card may have been charged or not: the answer was lost with the worker, and this request had no key that the "
    "server could know it by. A second try could charge twice, and to call it done could be wrong. So neither is "
    "guessed."
)

LATER: Final = (
    "The order stays failed and listed as unresolved; recover leaves it alone, retry is refused again, and nothing is "
    "charged twice. To tell effectgraph what the list says, by a command that lets the order go on, comes in a "
    "later version; until then a person finishes this order by hand."
)


def recovery_of(effect: Effect, settled: Settled | None) -> str:
    """What recovery did about an effect, by how it was settled; a settlement that nobody expects is told as it is."""
    match effect, settled:
        case Effect.RESERVE, Settled(how=How.TARGET.value):
            return (
                "sent the change to the database again, with the same key. The database had stored that key together "
                "with the change, so it changed nothing and gave the answer of the first time."
            )
        case Effect.REWARD, Settled(how=How.RUN.value, attempt=2):
            return (
                "sent the request again, with the same idempotency key. The server knows the key, so it booked nothing "
                "and gave the answer of the first time."
            )
        case Effect.RECEIPT, Settled(how=How.PROBE.value):
            return (
                "asked the file. Its digest is already the one that was planned before the change, so the line is "
                "there and nothing was written."
            )
        case _, None:
            return f"{effect} was not settled."
        case _, Settled(how=how, attempt=attempt):
            return f"{effect} was settled by {how}, in attempt {attempt}."
