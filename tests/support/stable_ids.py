"""Names for test cases that are the same in every process."""

from __future__ import annotations

import re


def named(value: object) -> str:
    """A value's text without addresses in memory: processes that share a run must collect the same names."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))
