"""The benchmark's command: ours and the peers in the same rounds, on one disk, as tables and JSON."""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path

import attrs
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from bench_disk import NotADisk, Place, place
from bench_lineup import COMPARISONS, PARTS, Contender, NobodyByThatName, chosen
from bench_measure import ContenderFailed, Plan, measure, missing, version_of
from bench_report import (
    Machine,
    Report,
    absent,
    figures_table,
    parts,
    parts_table,
    ratios,
    ratios_table,
    row,
    to_json,
)

PIPE_WIDTH = 130
"""Columns of the tables where there is no terminal to ask."""

JSON = Path(__file__).parents[2] / "build" / "bench.json"
"""Where the report goes if nobody says otherwise; git ignores the folder."""


@attrs.frozen(kw_only=True)
class Asked:
    """The command line, checked."""

    rounds: int
    scale: float
    contenders: tuple[Contender, ...]
    place: Place
    json: Path


def asked(arguments: list[str]) -> Asked:
    """Read the command line; ends the process with a message where it cannot be followed."""
    parser = argparse.ArgumentParser(description="Effects and graph steps, beside the peers' and SQLite's own limit.")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="runs of every contender (default 5)")
    parser.add_argument("--scale", type=float, default=1.0, metavar="F", help="multiplies the operations of a round")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the report goes here (default: build/bench.json)")
    parser.add_argument("--dir", type=Path, metavar="DIR", help="database files go here (default: a temporary folder)")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="contenders with this in the name")
    given = parser.parse_args(arguments)
    if given.rounds < 1:
        parser.error(f"--rounds {given.rounds}: at least 1 is needed")
    if not 0 < given.scale <= 1000:
        parser.error(f"--scale {given.scale}: must be over 0 and at most 1000")
    if given.json is not None and not given.json.absolute().parent.is_dir():
        parser.error(f"--json {given.json}: there is no such folder to write it to")
    try:
        contenders = chosen(tuple(given.only))
        where = place(given.dir)
    except (NobodyByThatName, NotADisk, OSError) as error:
        parser.error(str(error))
    return Asked(rounds=given.rounds, scale=given.scale, contenders=contenders, place=where, json=given.json or JSON)


def report_of(request: Asked, progress: Console) -> Report:
    """Measure what can run here, and put the figures together."""
    gaps = {contender: needs for contender in request.contenders if (needs := missing(contender)) is not None}
    present = [contender for contender in request.contenders if contender not in gaps]
    plan = Plan(rounds=request.rounds, folder=request.place.folder, scale=request.scale)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=progress, transient=True, disable=not progress.is_terminal) as display:
        task = display.add_task("starting", total=None)
        results = measure(present, plan, lambda text: display.update(task, description=text))
    return Report(
        machine=Machine(
            python=platform.python_version(),
            sqlite=sqlite3.sqlite_version,
            system=platform.system(),
            cpus=os.cpu_count(),
            file_system=request.place.file_system,
            versions=_versions(present),
        ),
        rounds=request.rounds,
        rows=[row(result) for result in results],
        absent=[absent(contender, needs) for contender, needs in gaps.items()],
        ratios=ratios(COMPARISONS, results),
        parts=parts(PARTS, results),
    )


def show(report: Report, out: Console) -> None:
    """Print the tables."""
    machine = report.machine
    out.print(
        f"Python {machine.python}, SQLite {machine.sqlite}, {machine.system}, {machine.cpus} CPUs, "
        f"{machine.file_system or 'unknown file system'}"
    )
    out.print(", ".join(f"{name} {version}" for name, version in machine.versions.items()))
    if machine.file_system is None:
        out.print("The file system could not be checked: these figures mean nothing if the folder is in memory.")
    out.print(figures_table(report))
    if report.ratios:
        out.print(ratios_table(report))
    if report.parts:
        out.print(parts_table(report))


def main(arguments: list[str]) -> int:
    """Run the benchmark; 0 if every contender that is installed gave its figures."""
    request = asked(arguments)
    out, err = Console(), Console(stderr=True)
    if not out.is_terminal:
        out.width = PIPE_WIDTH
    try:
        report = report_of(request, err)
    except ContenderFailed as failure:
        err.print(str(failure), markup=False, highlight=False, soft_wrap=True)
        return 1
    show(report, out)
    if request.json == JSON:
        JSON.parent.mkdir(exist_ok=True)
    request.json.write_bytes(to_json(report))
    out.print(f"written to {request.json}", soft_wrap=True)
    return 0


def _versions(contenders: Sequence[Contender]) -> dict[str, str]:
    names = dict.fromkeys(["effectgraph", *(name for contender in contenders for name in contender.needs)])
    return {name: version for name in names if (version := version_of(name)) is not None}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
