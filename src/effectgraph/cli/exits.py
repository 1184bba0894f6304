"""Exit codes of the command line."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What the command line's exit code says. The numbers stay as they are."""

    DONE = 0
    FAULT = 1
    """Something is wrong on our side."""
    BAD_CALL = 2
    """The command was called with what it cannot work with; one line on stderr says what to do."""
