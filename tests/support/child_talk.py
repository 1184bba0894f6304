"""How a child process talks with the test that started it: lines on its standard streams."""

from __future__ import annotations

import os
import sys


def say(text: object) -> None:
    """Tell the parent something at once, in one piece: others may speak as well."""
    os.write(1, f"{text}\n".encode())


def told() -> str:
    """What the parent says next."""
    return sys.stdin.readline().rstrip("\n")
