"""Child processes that use a store, and may be killed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

CHILD = Path(__file__).with_name("store_child.py")

DEADLINE_S = 60
"""A child that takes longer than this hangs."""


def start(command: str, *arguments: object, under: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Start a command of `store_child.py`, under another program if one is named."""
    line = [*under, sys.executable, "-W", "error", str(CHILD), command, *(str(each) for each in arguments)]
    return subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def start_together(number: int, command: str, *arguments: object) -> list[subprocess.Popen[str]]:
    """Start a command that says that it is ready, several times, and let all of them go on at once."""
    children = [start(command, *arguments) for _ in range(number)]
    for child in children:
        assert said(child) == "ready"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    return children


def finish(child: subprocess.Popen[str]) -> str:
    """Wait for a child's end, which must be a good one; what it printed."""
    output, errors = child.communicate(timeout=DEADLINE_S)
    assert child.returncode == 0, errors
    return output


def run(command: str, *arguments: object, under: tuple[str, ...] = ()) -> str:
    """Run a command of `store_child.py` to its end; what it printed."""
    return finish(start(command, *arguments, under=under))


def said(child: subprocess.Popen[str]) -> str:
    """The next line that a child prints; fails with its error output if there is none."""
    assert child.stdout is not None
    line = child.stdout.readline()
    assert line, child.communicate(timeout=DEADLINE_S)[1]
    return line.rstrip("\n")


def kill(child: subprocess.Popen[str]) -> None:
    """End a child as a power cut would have it."""
    child.kill()
    child.communicate(timeout=DEADLINE_S)


def can_trace() -> bool:
    """Whether strace is there and may trace: it counts syncs and makes system calls fail."""
    strace = shutil.which("strace")
    return strace is not None and subprocess.run([strace, "-o", "/dev/null", "true"], check=False).returncode == 0
