"""A new interpreter for one piece of code, so that what the tests themselves imported does not count."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

DEADLINE_S = 60
"""A child that takes longer than this hangs: importing everything takes about a second."""


def output_of(code: str, folder: Path) -> str:
    """Run `code` in a new interpreter whose working folder, first on its import path, is `folder`.

    Returns what it printed; fails with its error output if it ended with anything but 0. Warnings are errors there too.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    child = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
    assert child.returncode == 0, child.stderr
    return child.stdout
