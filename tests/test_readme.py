"""The README's programs, run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from effectgraph import open_store

README = Path(__file__).parent.parent / "README.md"

pytestmark = pytest.mark.source_tree


def programs() -> list[str]:
    """Every Python block of the README."""
    return re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, ["done ch_42"]), (1, ["mail-1", "mail-1"]), (2, ["()", "()"])],
    ids=["run", "mail", "look"],
)
def test_a_program_of_the_readme_prints_what_it_says(number: int, expected: list[str], tmp_path: Path) -> None:
    """In a folder of its own, with warnings as errors; what it prints stands in the text below it."""
    program = tmp_path / "program.py"
    open_store(tmp_path / "effects.db").__exit__(None, None, None)
    program.write_text(programs()[number])

    child = subprocess.run(
        [sys.executable, "-W", "error", str(program), "order-1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (child.stdout.splitlines(), child.stderr) == (expected, "")
    assert all(f"`{line}`" in README.read_text() for line in expected)


def test_every_program_of_the_readme_is_run() -> None:
    """None is left out above."""

    assert len(programs()) == 3
