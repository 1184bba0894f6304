"""How long a file and a function may be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import package_source

FILE_LINES = 500
"""A file has fewer lines than this: one subject, read at one go."""

FUNCTION_LINES = 70
"""A function has fewer lines than this, from its `def` to its end: it fits on a screen."""

TESTS = Path(__file__).parent


def sources() -> list[Path]:
    """Every Python file of the package and of its tests."""
    return sorted([*package_source.folder().rglob("*.py"), *TESTS.rglob("*.py")])


def long_functions(text: str) -> Iterator[str]:
    """The functions and methods in a text that are too long, with their lengths."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines >= FUNCTION_LINES:
                yield f"{node.name}: {lines}"


def test_files_are_short() -> None:
    """Every file of the package and of its tests has fewer than 500 lines."""

    lengths = {str(path): len(path.read_text().splitlines()) for path in sources()}

    assert {} == {path: lines for path, lines in lengths.items() if lines >= FILE_LINES}


def test_functions_are_short() -> None:
    """Every function of the package and of its tests has fewer than 70 lines."""

    found = {str(path): list(long_functions(path.read_text())) for path in sources()}

    assert {} == {path: functions for path, functions in found.items() if functions}


def test_a_function_at_the_limit_is_found() -> None:
    """A function of 70 lines is too long, one of 69 is not; decorators do not count."""

    body = "    x = 1\n"

    assert [] == list(long_functions("@decorated\ndef f():\n" + body * 68))
    assert ["f: 70"] == list(long_functions("class C:\n  async def f():\n" + body * 69))
