"""The demo as a command: plays the acts, shows what was seen, gives the verdict as an exit code."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import time
from pathlib import Path

import attrs
import click
import httpx
import msgspec
from rich.console import Console

from effectgraph import GraphError
from effectgraph.cli.demo.errors import FolderUnfit
from effectgraph.cli.demo.observed import Observed, OrderSeen
from effectgraph.cli.demo.place import Place, make_place
from effectgraph.cli.demo.report import Report
from effectgraph.cli.demo.story import ACTS, play, staged
from effectgraph.cli.demo.verdict import verdict
from effectgraph.cli.exits import Exit


@attrs.frozen(kw_only=True)
class Result:
    """The JSON output. `folder` is None if the files were removed."""

    problems: tuple[str, ...]
    seconds: float
    folder: str | None
    observed: Observed


def run_demo(folder: Path | None, *, as_json: bool) -> Exit:
    """Play the demo in this folder, or in a temporary one that is removed unless something was wrong."""
    try:
        place = make_place(folder)
    except FolderUnfit as error:
        click.echo(f"effectgraph demo: {error}", err=True)
        return Exit.BAD_CALL
    keep = True
    try:
        exit_code = _run(place, keep=folder is not None, as_json=as_json)
        keep = folder is not None or exit_code is not Exit.DONE
    except (KeyboardInterrupt, SystemExit):
        # Whoever wanted the demo has gone; a temporary folder is of no use to anybody then.
        keep = folder is not None
        raise
    finally:
        if not keep:
            shutil.rmtree(place.folder, ignore_errors=True)
    return exit_code


def _run(place: Place, *, keep: bool, as_json: bool) -> Exit:
    began = time.monotonic()
    report = Report(Console(quiet=as_json, highlight=False))
    try:
        observed = asyncio.run(_played(place, report))
    except (GraphError, OSError, sqlite3.Error, httpx.HTTPError) as error:
        click.echo(f"effectgraph demo: could not go on: {error}; its files are in {place.folder}", err=True)
        return Exit.FAULT
    problems = verdict(observed)
    folder = str(place.folder) if keep or problems else None
    result = Result(problems=problems, seconds=round(time.monotonic() - began, 3), folder=folder, observed=observed)
    report.close(observed, problems, result.seconds)
    if folder is not None:
        report.kept(folder)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(result)))
    return Exit.FAULT if problems else Exit.DONE


async def _played(place: Place, report: Report) -> Observed:
    report.open()
    orders: tuple[OrderSeen, ...] = ()
    async with staged(place) as stage:
        for act in ACTS:
            with report.playing(act):
                seen = await play(stage, act)
            report.show(seen)
            orders = (*orders, seen)
        return await stage.observed(orders)
