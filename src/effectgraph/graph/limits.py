"""The runtime's limits, each with its unit and its reason."""

from __future__ import annotations

from typing import Final

QUEUED_COMMITS: Final = 64
"""Commits of one run that may wait for the store before the run waits for the oldest: bounds what a crash takes back.
"""

THREADS_AT_ONCE: Final = 64
"""Threads that one `recover()` runs at the same time, so that a long list is worked off with bounded memory."""

FAILURE_CHARS: Final = 32_768
"""Characters kept of a failure's text and of its traceback's end: enough to find the line, whatever an error drags
along.
"""
