"""How many examples a property test tries."""

from __future__ import annotations

from typing import Final

from hypothesis import settings

BOUNDED: Final = 100
"""Examples of the default profile. One that asks for more asks for a long search."""

LONGER: Final = 50
"""A long search tries so many times as many: ten minutes of one core for the codec's two files together."""


def examples(bounded: int) -> int:
    """So many, or many times as many in a long search: `pytest --timeout 3000 --hypothesis-profile=deep FILE`."""
    return bounded * LONGER if settings.get_current_profile_name() == "deep" else bounded
