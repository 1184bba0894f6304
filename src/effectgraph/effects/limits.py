"""The guard's limits, each with its unit and its reason."""

from __future__ import annotations

from typing import Final

OUTCOME_BYTES: Final = 256 * 1024
"""Bytes of an encoded intent or outcome, unless the guard or the tool says otherwise: a store is no place for files."""

TASK_EFFECTS: Final = 10_000
"""Effects of one task: its evidence is held in memory while it runs."""

ROUNDS: Final = 16
"""Times one call looks again because the evidence or the target moved under it, before it refuses."""

FORGET_BATCH: Final = 256
"""Keys that wait to be forgotten at their targets before a run forgets some on its way; the rest at its end."""

DRAIN_S: Final = 10.0
"""Seconds that a run that ends waits for effects that are still running, before it lets its claim go."""
