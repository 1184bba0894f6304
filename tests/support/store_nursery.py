"""A process that forks children of `store_owner_child.py`, so that each need not start Python and import everything."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress

from store_processes import DEADLINE_S, OWNERS, said, tell


class Nursery:
    """Runs one command at a time, each in a forked process that ends as any Python program does.

    What it prints and reads passes through the nursery's own pipes.
    """

    def __init__(self) -> None:
        # What children print of their errors goes to the test's own.
        line = [sys.executable, "-W", "error", str(OWNERS), "nursery"]
        self._process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._child = 0

    def start(self, command: str, *arguments: object) -> int:
        """Start a command; its process id."""
        assert not self._child
        tell(self._process, json.dumps([command, *(str(each) for each in arguments)]))
        self._child = int(said(self._process))
        return self._child

    def said(self) -> str:
        """The next line that the child prints."""
        return said(self._process)

    def tell(self, line: str) -> None:
        """Give the child a line to read."""
        tell(self._process, line)

    def ended(self) -> int:
        """Wait for the child's end; its exit code, less than 0 for a signal. It must have nothing more to say."""
        word, code = self.said().split()
        assert word == "ended"
        self._child = 0
        return int(code)

    def run(self, command: str, *arguments: object) -> str:
        """Run a command that says one thing to its end, which must be a good one; what it said."""
        self.start(command, *arguments)
        answer = self.said()
        assert self.ended() == 0
        return answer

    def kill(self) -> None:
        """End the child as a power cut would have it, whatever it still says."""
        with suppress(ProcessLookupError):
            os.kill(self._child, signal.SIGKILL)
        while not self.said().startswith("ended "):
            pass
        self._child = 0

    def clear(self) -> None:
        """End what a failed test has left."""
        if self._child:
            self.kill()

    def close(self) -> None:
        """End the nursery."""
        self.clear()
        output, _ = self._process.communicate(timeout=DEADLINE_S)
        assert (self._process.returncode, output) == (0, "")


@contextmanager
def opened() -> Generator[Nursery]:
    """A nursery that is closed at the end."""
    nursery = Nursery()
    yield nursery
    nursery.close()
