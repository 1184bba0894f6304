"""The guard's limits, each with its unit and its reason."""

from __future__ import annotations

import math
from typing import Final

OUTCOME_BYTES: Final = 256 * 1024
"""Bytes of an encoded intent or outcome, unless the guard or the tool says otherwise: a store is no place for files."""

TASK_EFFECTS: Final = 10_000
"""Effects of one task: its evidence is held in memory while it runs."""

ROUNDS: Final = 16
"""Times one call looks again because the evidence or the target moved under it, before it refuses."""

FORGET_BATCH: Final = 256
"""Keys that wait to be forgotten at their targets before a run forgets some on its way; the rest at its end."""

RECONCILE_S: Final = 30.0
"""Seconds that a recipient has to answer for its own record of an effect, unless the call says otherwise."""

LONGEST_S: Final = (2**31 - 1) / 1000
"""Seconds of the longest time limit: 2**31 - 1 milliseconds, which every timer can count."""

DRAIN_S: Final = 10.0
"""Seconds that a run that ends waits for effects that are still running, before it lets its claim go."""


def check_time_limit(what: str, seconds: float) -> None:
    """Raise `ValueError` unless a time limit is a positive number of seconds, of at most `LONGEST_S`."""
    if not (math.isfinite(seconds) and 0 < seconds <= LONGEST_S):
        raise ValueError(f"{what}: {seconds} is no time limit; give seconds above 0 and up to {LONGEST_S}")
