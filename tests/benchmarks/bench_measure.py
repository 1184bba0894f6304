"""The rounds: every contender once a round in a process of its own, and a separate pass that counts syncs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path

import attrs
import msgspec

from bench_child import Timing
from bench_lineup import Contender

CHILD_TIMEOUT_S = 300
SYNC_CALLS = ("fsync", "fdatasync", "sync_file_range")


@attrs.frozen(kw_only=True)
class Result:
    """What was measured of one contender, one entry per round, each for one operation."""

    contender: Contender
    seconds: tuple[float, ...]
    syncs: float | None
    """Calls of the sync family, counted in a pass of its own; None if nobody counted."""
    transactions: tuple[float, ...] = ()
    """As the contender counts them itself; empty if it does not."""
    synced: tuple[float, ...] = ()


@attrs.frozen(kw_only=True)
class Plan:
    """How a benchmark runs: rounds, where the files go, and by what the line-up's counts are multiplied."""

    rounds: int
    folder: Path
    scale: float = 1.0

    def count(self, contender: Contender) -> int:
        """Operations of one round."""
        return max(1, round(contender.count * self.scale))


@attrs.define(slots=False, eq=False)
class ContenderFailed(RuntimeError):
    """A contender's process ended badly; no figure is made up for it."""

    name: str
    code: int
    stderr: str

    def __str__(self) -> str:
        return f"{self.name} ended with exit code {self.code}; nothing was reported. It wrote:\n{self.stderr.strip()}"


def missing(contender: Contender) -> str | None:
    """The first distribution that the contender needs and that is not installed."""
    for distribution in contender.needs:
        if version_of(distribution) is None:
            return distribution
    return None


def version_of(distribution: str) -> str | None:
    """The installed version, or None."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def measure(contenders: Sequence[Contender], plan: Plan, tick: Callable[[str], None]) -> list[Result]:
    """Time all rounds, then count syncs. `tick` is told what runs next.

    Every second round runs backwards, so that a machine that slows down or speeds up favours nobody.
    """
    timings: dict[str, list[Timing]] = {contender.name: [] for contender in contenders}
    for number in range(plan.rounds):
        for contender in contenders if number % 2 == 0 else reversed(contenders):
            tick(f"round {number + 1} of {plan.rounds}: {contender.name}")
            timings[contender.name].append(_child(contender, plan.count(contender), plan.folder))
    tracer = _tracer(plan.folder)
    results: list[Result] = []
    for contender in contenders:
        tick(f"syncs: {contender.name}")
        syncs = None if tracer is None else _syncs_each(tracer, contender, plan)
        results.append(_result(contender, timings[contender.name], syncs))
    return results


def syncs_in(summary: str) -> int:
    """Calls of the sync family in the table that `strace -c` writes."""
    calls = 0
    for line in summary.splitlines():
        words = line.split()
        if words and words[-1] in SYNC_CALLS:
            # % time, seconds, usecs/call, calls, perhaps errors, syscall
            calls += int(words[3])
    return calls


def _result(contender: Contender, timings: Sequence[Timing], syncs: float | None) -> Result:
    return Result(
        contender=contender,
        seconds=tuple(one.seconds / one.count for one in timings),
        syncs=syncs,
        transactions=tuple(one.transactions / one.count for one in timings if one.transactions is not None),
        synced=tuple(one.synced / one.count for one in timings if one.synced is not None),
    )


def _child(contender: Contender, count: int, folder: Path, prefix: Sequence[str] = ()) -> Timing:
    script = Path(__file__).with_name(contender.script)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=folder) as fresh:
        command = [*prefix, sys.executable, str(script), contender.case, str(count), fresh]
        # LangChain's tracing, if switched on around us, would talk to a server.
        environment = {**os.environ, "LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"}
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=CHILD_TIMEOUT_S, check=False, env=environment
        )
    if done.returncode != 0:
        raise ContenderFailed(contender.name, done.returncode, done.stderr)
    return msgspec.json.decode(done.stdout, type=Timing)


def _tracer(folder: Path) -> tuple[str, ...] | None:
    """A start of a command with which strace works here: it may be absent, and a container may forbid it."""
    strace = shutil.which("strace")
    if strace is None:
        return None
    # Where the kernel stops the process at these calls alone, it runs nearly as fast as without strace, and writes
    # that share a sync when they meet still meet.
    for tracer in ((strace, "--seccomp-bpf"), (strace,)):
        with tempfile.TemporaryDirectory(prefix="bench-", dir=folder) as fresh:
            summary = Path(fresh, "summary")
            command = [*_trace(tracer, summary), sys.executable, "-c", "import os; os.fsync(os.open('.', os.O_RDONLY))"]
            tried = subprocess.run(command, capture_output=True, timeout=CHILD_TIMEOUT_S, check=False, cwd=fresh)
            if tried.returncode == 0 and summary.exists() and syncs_in(summary.read_text()) == 1:
                return tracer
    return None


def _trace(tracer: Sequence[str], summary: Path) -> list[str]:
    return [*tracer, "-f", "-c", "-o", str(summary), "-e", f"trace={','.join(SYNC_CALLS)}"]


def _syncs_each(tracer: Sequence[str], contender: Contender, plan: Plan) -> float:
    """Two runs, one of twice the length: the difference leaves out opening, warming up and closing."""
    count = plan.count(contender)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=plan.folder) as fresh:
        totals: list[int] = []
        for length in (count, 2 * count):
            summary = Path(fresh, f"summary-{length}")
            _child(contender, length, plan.folder, _trace(tracer, summary))
            totals.append(syncs_in(summary.read_text()))
    return (totals[1] - totals[0]) / count
