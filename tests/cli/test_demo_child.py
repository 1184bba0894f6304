"""The demo's processes: what is told when one does not do its part, and that none is left behind."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest

from effectgraph.cli.demo.child import child
from effectgraph.cli.demo.effect import Effect, Halt, Moment
from effectgraph.cli.demo.errors import ChildFailed
from effectgraph.cli.demo.job import Ask, Job
from effectgraph.cli.demo.place import make_place
from effectgraph.cli.demo.story import Stage

DEADLINE_S = 60.0
NOBODY = "http://127.0.0.1:1"


def test_a_child_that_ends_early_is_told_with_its_last_words(tmp_path: Path) -> None:
    """A child that ends before it has said anything is an error with its name, exit code and last line on stderr."""

    async def listen() -> None:
        async with child("server", "effectgraph.cli.demo.provider", log=tmp_path / "demo.log") as started:
            await started.line()

    with pytest.raises(ChildFailed, match=r"demo's server ended with exit code 2 .*required: --db") as caught:
        asyncio.run(listen())
    assert "\n" not in str(caught.value)


def test_a_child_that_says_something_else_is_told(tmp_path: Path) -> None:
    """A line that was not expected is an error that shows it."""

    async def listen() -> None:
        arguments = ("--db", str(tmp_path / "provider.db"))
        async with child("server", "effectgraph.cli.demo.provider", *arguments, log=tmp_path / "demo.log") as started:
            await started.expect("hello")

    with pytest.raises(ChildFailed, match=r"demo's server said '\d+' and not 'hello'"):
        asyncio.run(listen())


def test_a_killed_child_tells_the_signal(tmp_path: Path) -> None:
    """The exit code of a killed child is the signal's number, negative."""

    async def kill() -> int:
        arguments = ("--db", str(tmp_path / "provider.db"))
        async with child("server", "effectgraph.cli.demo.provider", *arguments, log=tmp_path / "demo.log") as started:
            await started.line()
            return await started.kill()

    assert -9 == asyncio.run(kill())


def test_a_halted_worker_ends_with_whoever_drives_it(tmp_path: Path) -> None:
    """A worker that waits to be killed ends itself when its stdin ends, and stores nothing more."""

    place = make_place(tmp_path)
    halt = Halt(Moment.AFTER_CHANGE, Effect.RESERVE)
    job = Job(ask=Ask.RUN, order="order-1", folder=str(place.folder), provider=NOBODY, halt=halt)
    command = [sys.executable, "-m", "effectgraph.cli.demo.worker", job.to_line()]

    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert f"{halt}\n" == process.stdout.readline()
        process.stdin.close()
        assert 1 == process.wait(DEADLINE_S)


def test_a_server_that_cannot_be_reached_was_not_applied(tmp_path: Path) -> None:
    """A refused connection is known not to have charged: the order fails, and nothing is left unresolved."""

    place = make_place(tmp_path)

    async def run() -> tuple[str | None, tuple[str, ...]]:
        async with child(
            "server", "effectgraph.cli.demo.provider", "--db", str(place.provider), log=place.log
        ) as server:
            told = await Stage(place, server, NOBODY).told(Ask.RUN, "order-1")
            return told.failure, told.unresolved

    failure, unresolved = asyncio.run(run())

    assert "refused, not_applied" in (failure or "")
    assert () == unresolved
