"""What the demo saw, as plain records: what its verdict is given on, and its JSON output."""

from __future__ import annotations

from enum import Enum

import attrs

from effectgraph.cli.demo.effect import Effect
from effectgraph.cli.demo.job import Told


class Mishap(Enum):
    """What happens to the first worker of an order."""

    NONE = "none"
    KILLED = "killed"
    STOPPED = "stopped"


@attrs.frozen(kw_only=True)
class Act:
    """One order of the demo, and what happens to its first worker, in which effect."""

    order: str
    mishap: Mishap
    effect: Effect | None = None


@attrs.frozen(kw_only=True)
class Counts:
    """What the targets counted for one order, and the requests that the server got for what it counted."""

    reserve: int
    charge: int
    reward: int
    receipt: int
    charge_requests: int
    reward_requests: int

    def of(self, effect: Effect) -> int:
        """The count of one effect."""
        match effect:
            case Effect.RESERVE:
                return self.reserve
            case Effect.CHARGE:
                return self.charge
            case Effect.REWARD:
                return self.reward
            case Effect.RECEIPT:
                return self.receipt


@attrs.frozen(kw_only=True)
class OrderSeen:
    """One order: what its last worker told, and what the targets counted at the end.

    `exit_code` is that of the first worker if it was killed, -9 for SIGKILL; `counts_then` were counted between it and
    the next one. `retried` is what a retry of a failed order told, `woken` what a stopped worker told when it went on.
    """

    act: Act
    told: Told
    counts: Counts
    exit_code: int | None = None
    counts_then: Counts | None = None
    retried: Told | None = None
    woken: Told | None = None


@attrs.frozen(kw_only=True)
class Charge:
    """A charge as the payment server lists it."""

    id: str
    order: str
    amount: int
    card: str


@attrs.frozen(kw_only=True)
class Observed:
    """Everything that the demo saw. `pieces_left` is the shop's stock at the end."""

    orders: tuple[OrderSeen, ...]
    pieces_left: int
    charges: tuple[Charge, ...]
