"""The store's limits, each with its unit and its reason."""

from __future__ import annotations

from typing import Final

KEY_PART_BYTES: Final = 512
"""Bytes of UTF-8 in one part of an effect key or in a thread id: keys are index entries and are read by people."""

QUEUED_WRITES: Final = 65_536
"""Writes that may wait for the writer of one open store; one more is refused. Bounds memory. Runs wait for every 64th
of their commits, so that only a program which never awaits gets here."""

GROUP_WRITES: Final = 256
"""Writes that share one transaction at most, so that nobody waits long for a full group."""

UNSYNCED_S: Final = 1.0
"""Seconds after which a write that asked for no sync is synced all the same: what a power cut may take back."""

BUSY_S: Final = 30.0
"""Seconds to wait for another process to end its transaction before `StoreBusy`."""

REMARKS: Final = 16
"""Late outcomes kept of one effect: each is a run that somebody had given up on, and the first ones tell the story."""

LISTED: Final = 100
"""Rows of a listing when the caller names no number."""
