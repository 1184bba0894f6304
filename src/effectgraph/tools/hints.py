"""What a tool's author says about it, as data."""

from __future__ import annotations

from enum import Enum

import attrs


class ReplaySupport(Enum):
    """How a replay of a tool's call can be settled."""

    READ_ONLY = "read_only"
    """It has no effect, so it is not guarded and simply runs again."""
    VERIFIABLE = "verifiable"
    APPLIED_KEYS = "applied_keys"
    UNCHECKED = "unchecked"


@attrs.frozen(kw_only=True)
class ToolHints:
    """Hints with the meanings and defaults of the Model Context Protocol's tool annotations."""

    read_only: bool = False
    idempotent: bool = False
    destructive: bool = True
    open_world: bool = True
