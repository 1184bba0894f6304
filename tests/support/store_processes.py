"""Child processes that use a store, and may be killed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CHILD = Path(__file__).with_name("store_child.py")

FAULTS = Path(__file__).with_name("store_faults_child.py")

OWNERS = Path(__file__).with_name("store_owner_child.py")

DEADLINE_S = 60
"""A child that takes longer than this hangs."""


def start(command: str, *arguments: object, under: tuple[str, ...] = (), child: Path = CHILD) -> subprocess.Popen[str]:
    """Start a command of `store_child.py` or another file, under another program if one is named."""
    line = [*under, sys.executable, "-W", "error", str(child), command, *(str(each) for each in arguments)]
    return subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def start_together(number: int, command: str, *arguments: object, child: Path = CHILD) -> list[subprocess.Popen[str]]:
    """Start a command that says that it is ready, several times, and let all of them go on at once."""
    children = [start(command, *arguments, child=child) for _ in range(number)]
    for each in children:
        assert said(each) == "ready"
    for each in children:
        tell(each, "go")
    return children


def tell(child: subprocess.Popen[str], line: str) -> None:
    """Give a child a line to read."""
    assert child.stdin is not None
    child.stdin.write(f"{line}\n")
    child.stdin.flush()


def finish(child: subprocess.Popen[str]) -> str:
    """Wait for a child's end, which must be a good one; what it printed."""
    output, errors = child.communicate(timeout=DEADLINE_S)
    assert (child.returncode, errors) == (0, ""), errors
    return output


def run(command: str, *arguments: object, under: tuple[str, ...] = (), child: Path = CHILD) -> str:
    """Run a command of `store_child.py` or another file to its end; what it printed."""
    return finish(start(command, *arguments, under=under, child=child))


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


def can_mount() -> bool:
    """Whether a small disk can be made in memory, which takes the rights of root."""
    if os.getuid() != 0 or shutil.which("mount") is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], check=False, capture_output=True
        )
        if mounted.returncode == 0:
            subprocess.run(["umount", folder], check=True)
        return mounted.returncode == 0
