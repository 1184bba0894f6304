"""The four effects of an order, and the places where a worker halts in them."""

from __future__ import annotations

import os
import sys
from enum import Enum, StrEnum

import attrs


class Effect(StrEnum):
    """What an order changes outside the program, in its order. The values name the tools."""

    RESERVE = "reserve"
    """Takes a piece out of the stock, in a database that keeps applied keys."""
    CHARGE = "charge"
    """Charges a card at a server that is given no key: nobody can tell afterwards."""
    REWARD = "reward"
    """Books points at a server that ignores a key it knows."""
    RECEIPT = "receipt"
    """Appends a line to a file, whose digest tells whether it is there."""


class Moment(Enum):
    """Where in an effect a worker halts."""

    BEFORE_CHANGE = "before_change"
    """The intent is on disk, the target is as it was."""
    AFTER_CHANGE = "after_change"
    """The target has changed, the worker has not been told yet or has stored nothing of it."""


@attrs.frozen
class Halt:
    """One place where a worker halts."""

    moment: Moment
    effect: Effect

    def __str__(self) -> str:
        return f"halted {self.moment.value} {self.effect}"


class Halts:
    """Lets a worker halt at one place: it says so on stdout, and goes on when it gets a line on stdin.

    If stdin ends instead, whoever drives the worker is gone, and so is the worker.
    """

    def __init__(self, at: Halt | None) -> None:
        self._at = at

    def wanted(self, moment: Moment, effect: Effect) -> bool:
        """Whether this is the place."""
        return self._at == Halt(moment, effect)

    def reach(self, moment: Moment, effect: Effect) -> None:
        """Halt if this is the place. Blocks the thread that calls it."""
        if not self.wanted(moment, effect):
            return
        sys.stdout.write(f"{self._at}\n")
        sys.stdout.flush()
        if not sys.stdin.readline():
            os._exit(1)
