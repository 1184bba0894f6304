"""The demo as a user runs it, whole, in a process of its own."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import msgspec

from effectgraph.cli.demo.command import Result
from effectgraph.cli.demo.effect import Effect
from effectgraph.cli.demo.observed import Mishap

COLUMNS = 80
DEADLINE_S = 110
"""It takes 6 s on a machine that does nothing else."""


def demo(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the demo and wait for it; a warning in it is an error, and so is a file or process left open."""
    return subprocess.run(
        [sys.executable, "-m", "effectgraph", "demo", *arguments],
        env={**os.environ, "COLUMNS": str(COLUMNS), "PYTHONWARNINGS": "error", **environment},
        check=False,
        capture_output=True,
        encoding="utf-8",
        timeout=DEADLINE_S,
    )


def rows(path: Path, query: str) -> list[tuple[object, ...]]:
    """What a query of a database gives."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def test_every_effect_is_counted_once_and_the_unknown_one_refused(tmp_path: Path) -> None:
    """With --dir and --json: exit 0, one document, and its counts are those that the kept targets hold."""

    folder = tmp_path / "made" / "by the demo"
    done = demo("--json", "--dir", str(folder))
    assert (0, "") == (done.returncode, done.stderr), done.stderr
    result = msgspec.json.decode(done.stdout, type=Result)

    seen = result.observed.orders
    assert () == result.problems
    assert str(folder.resolve()) == result.folder
    assert [
        (Mishap.NONE, None),
        (Mishap.KILLED, Effect.RESERVE),
        (Mishap.KILLED, Effect.CHARGE),
        (Mishap.KILLED, Effect.REWARD),
        (Mishap.KILLED, Effect.RECEIPT),
        (Mishap.STOPPED, Effect.RECEIPT),
    ] == [(order.act.mishap, order.act.effect) for order in seen]
    orders = [order.act.order for order in seen]
    refused = orders[2]
    assert {order: [1, 1, 1, 1] for order in orders} | {refused: [1, 1, 0, 0]} == {
        order.act.order: [order.counts.of(effect) for effect in Effect] for order in seen
    }
    assert [True, True] == [told is not None and told.is_unknown for told in (seen[2].told, seen[2].retried)]
    assert [(order,) for order in orders] == rows(folder / "shop.db", "SELECT order_id FROM reserved ORDER BY 1")
    assert [(order,) for order in orders] == rows(
        folder / "provider.db", "SELECT order_id FROM entries WHERE kind = 'charges' ORDER BY 1"
    )
    finished = [order for order in orders if order != refused]
    assert [(order,) for order in finished] == rows(
        folder / "provider.db", "SELECT order_id FROM entries WHERE kind = 'points' ORDER BY 1"
    )
    assert finished == [line.split()[0] for line in (folder / "ledger.txt").read_text().splitlines()]


def test_it_reads_well_in_80_columns_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """Piped at 80 columns: plain text, no longer line, each order and the refusal told; its files are removed."""

    done = demo(TMPDIR=str(tmp_path))
    assert (0, "") == (done.returncode, done.stderr), done.stderr
    lines = done.stdout.splitlines()

    assert [] == [line for line in lines if len(line) > COLUMNS or line != line.rstrip()]
    assert "\x1b" not in done.stdout
    assert [f"order-{number}:" for number in range(1, 7)] == [
        line.split()[0] for line in lines if line.startswith("order")
    ]
    assert 4 == done.stdout.count("SIGKILL, outcome not stored")
    assert "refused, outcome_unknown" in done.stdout
    assert "ch_3  order-3  42.00" in done.stdout
    assert lines[-2].startswith("✓ Every effect that ran was counted exactly once")
    assert [] == list(tmp_path.iterdir())
