"""Examples in docstrings are run."""

from __future__ import annotations

import doctest
import importlib

codec = importlib.import_module("effectgraph.effects.codec.codec")


def test_the_example_of_codec_for_is_true() -> None:
    """What the docstring of `codec_for` shows is what happens."""

    found = doctest.testmod(codec)

    assert found.failed == 0
    assert found.attempted > 0
