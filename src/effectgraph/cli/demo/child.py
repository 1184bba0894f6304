"""A process of the demo: started, listened to, killed, stopped, woken."""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from effectgraph.cli.demo.errors import ChildFailed

LINE_WAIT_S: Final = 60.0
"""How long a line of a child is waited for: it takes about a second, and much longer on a machine that is busy."""


class Child:
    """A running module of the demo. It reads lines on stdin, and tells lines on stdout."""

    def __init__(self, name: str, process: Process, log: Path) -> None:
        self._name = name
        self._process = process
        self._log = log

    async def line(self) -> str:
        """The next line that the child tells. Raises `ChildFailed` if it ends or stays silent instead."""
        if self._process.stdout is None:
            raise self.failed("has no stdout")
        try:
            async with asyncio.timeout(LINE_WAIT_S):
                line = await self._process.stdout.readline()
        except TimeoutError:
            raise self.failed(f"said nothing for {LINE_WAIT_S:g} s") from None
        if not line.endswith(b"\n"):
            raise self.failed(f"ended with exit code {await self._process.wait()} before it said what came of it")
        return line.decode().rstrip("\n")

    async def say(self, line: str) -> None:
        """Send the child a line."""
        if self._process.stdin is None:
            raise self.failed("has no stdin")
        self._process.stdin.write(f"{line}\n".encode())
        await self._process.stdin.drain()

    async def expect(self, line: str) -> None:
        """Wait for this very line. Raises `ChildFailed` if another one comes."""
        told = await self.line()
        if told != line:
            raise self.failed(f"said {told!r} and not {line!r}")

    def stop(self) -> None:
        """Stop the child where it is (SIGSTOP). It is alive, and does nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def wake(self) -> None:
        """Let a stopped child go on (SIGCONT)."""
        self._process.send_signal(signal.SIGCONT)

    async def kill(self) -> int:
        """Kill the child (SIGKILL) if it still runs, and wait until it is gone. Returns its exit code, -9 if killed."""
        if self._process.returncode is None:
            self._process.kill()
        return await self._process.wait()

    def failed(self, why: str) -> ChildFailed:
        """The error for what the child did."""
        lines = self._log.read_text(errors="replace").split("\n")
        return ChildFailed(self._name, why, next((line.strip() for line in reversed(lines) if line), ""))


@asynccontextmanager
async def child(name: str, module: str, *arguments: str, log: Path) -> AsyncGenerator[Child, None]:
    """Run a module as a child for the time of an `async with` block; killed at its end if it still runs then."""
    with log.open("ab") as stderr:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            # The folder that the demo is started in may hold a file that is named like a module.
            "-P",
            "-m",
            module,
            *arguments,
            stdin=PIPE,
            stdout=PIPE,
            stderr=stderr,
            # Ctrl-C reaches only the demo, which ends its children itself.
            start_new_session=True,
        )
    running = Child(name, process, log)
    try:
        yield running
    finally:
        await running.kill()
