"""The limits of what a codec carries."""

from __future__ import annotations

from typing import Final

MAX_BYTES: Final = 64 * 1024 * 1024
"""Bytes of one encoded value: far above any sensible state field, far below what would use up a machine's memory."""

MAX_DEPTH: Final = 100
"""Levels of a value or of a type, one inside the other: three calls a level, a third of Python's own stack."""

MAX_JSON_DEPTH: Final = 6 * MAX_DEPTH
"""Levels of a JSON form: a level of a type takes at most three, and a type that refers to itself as many again."""

MAX_INT_DIGITS: Final = 4_300
"""Digits of an integer: Python's own limit, as the cost of reading one grows with the square of its length."""

MAX_SHOWN: Final = 60
"""Characters of a name, a key or a text from outside that an error shows: the rest would not help to find it."""

CACHED_CODECS: Final = 1_024
"""Codecs kept for the next time: more types than a program has, few enough for one that makes types as it runs."""
