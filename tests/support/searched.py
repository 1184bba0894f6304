"""How many examples a property test tries."""

from __future__ import annotations

from typing import Final

from hypothesis import settings

_BOUNDED: Final = 100
"""Examples of hypothesis' own default, which the default profile keeps."""


def examples(bounded: int) -> int:
    """So many with the default profile; with another one more, as many times as its number is that of the default."""
    return bounded * settings.default.max_examples // _BOUNDED
