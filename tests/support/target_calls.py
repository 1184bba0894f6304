"""What tests of targets share: effects to apply, child processes that may be killed, moments to do something at."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from effectgraph.effects.current import CurrentEffect
from effectgraph.stores.keys import EffectKey

CHILD = Path(__file__).with_name("target_child.py")

DEADLINE_S = 60
"""A child that takes longer than this hangs."""


def effect(call: str = "call", *, scope: str = "scope", token: int = 1, fingerprint: str = "request") -> CurrentEffect:
    """An effect as a guard would hand it to a target."""
    return CurrentEffect(
        key=EffectKey(scope, "task", call), namespace="namespace", incarnation=1, token=token, fingerprint=fingerprint
    )


def start(command: str, *arguments: object, under: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Start a command of `target_child.py`, under another program if one is named."""
    line = [*under, sys.executable, "-W", "error", str(CHILD), command, *(str(each) for each in arguments)]
    return subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(child: subprocess.Popen[str], expected: int = 0) -> str:
    """Wait for a child's end, which must be the expected one; what it printed."""
    output, errors = child.communicate(timeout=DEADLINE_S)
    assert child.returncode == expected, errors
    return output


def run(command: str, *arguments: object, expected: int = 0, under: tuple[str, ...] = ()) -> str:
    """Run a command of `target_child.py` to its end; what it printed."""
    return finish(start(command, *arguments, under=under), expected)


@contextmanager
def at(function: Callable[..., object], number: int, do: Callable[[], object]) -> Generator[None, None, None]:
    """Do something just before this thread calls a builtin function for the `number`th time."""
    calls = 0

    def profile(frame: FrameType, event: str, called: object) -> None:
        nonlocal calls
        if event == "c_call" and called is function:
            calls += 1
            if calls == number:
                do()

    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(None)


@contextmanager
def calls_of(*functions: Callable[..., object]) -> Generator[list[str], None, None]:
    """The names of some builtin functions, in the order in which this thread calls them."""
    names: list[str] = []

    def profile(frame: FrameType, event: str, called: object) -> None:
        if event == "c_call":
            names.extend(function.__name__ for function in functions if called is function)

    sys.setprofile(profile)
    try:
        yield names
    finally:
        sys.setprofile(None)


def names_in(folder: Path) -> list[str]:
    """Every name in a folder, hidden ones as well."""
    return sorted(os.listdir(folder))
