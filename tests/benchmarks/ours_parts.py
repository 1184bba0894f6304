"""What an effect and a step are made of, each part alone and in one thread: codec, store with and without its sync.

The store's part is the very writes that an effect or a step makes, on the store's own connection settings, without
queue and writer thread. Each is a transaction of its own, but for steps, which share one as a run's commits do.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from bench_child import WARM_UP, one_by_one, serve
from effectgraph import EffectKey, codec_for, tool
from effectgraph.stores.limits import BUSY_S
from effectgraph.stores.records import (
    Claim,
    Closing,
    Commit,
    GraphStamp,
    How,
    Intent,
    Kind,
    NewRun,
    NewThread,
    Outcome,
    OwnerId,
    Piece,
    Sync,
    Task,
)
from effectgraph.stores.sqlite import effects, threads
from effectgraph.stores.sqlite.connect import open_file
from effectgraph.stores.sqlite.writer import set_level

EFFECTS_A_TASK: Final = 1000
"""As many as in the effects that are timed whole, so that the table is as large."""

STEPS_A_TRANSACTION: Final = 64

THREAD: Final = "timed"
TASK: Final = "1.pay"
FINGERPRINT: Final = "f" * 64
SCHEMA: Final = "a" * 16
REQUEST: Final = b'{"amount":1000,"card":"tok_visa"}'
RECEIPT: Final = b'{"receipt":"r-1000"}'
AT_US: Final = 1_800_000_000_000_000
STAMP: Final = GraphStamp(name="payments", version=1, fingerprint=FINGERPRINT)


def codec(count: int, _folder: Path) -> float:
    """All that is encoded, fingerprinted and decoded for one call of a tool, its outcome included."""
    receipts = codec_for(dict[str, str])

    @tool.unchecked()
    async def charge(amount: int, card: str) -> dict[str, str]:
        raise NotImplementedError(f"{amount}, {card}: only its arguments are looked at")

    def call(number: int) -> None:
        arguments = charge.prepare(number, card="tok_visa").arguments
        arguments.fingerprint(charge.name, charge.version)
        arguments.shown(frozenset())
        arguments.fresh()
        receipts.decode(receipts.encode({"receipt": f"r-{number}"}))

    return one_by_one(count, call)


def effect_writes(intent_level: Sync, count: int, folder: Path) -> float:
    """An intent in one transaction, at this level, and its outcome in the next, which is not synced."""
    with closing(open_file(folder / "store.db", None, BUSY_S)) as connection:
        claim = claimed(connection)

        def write(number: int) -> None:
            key = EffectKey(THREAD, TASK, f"{number}.charge")
            begin = functools.partial(effects.begin, connection, claim, key, intent(), None)
            settle = functools.partial(effects.settle, connection, claim, key, outcome(), 1)
            transact(connection, intent_level, begin)
            transact(connection, Sync.LATER, settle)
            if number % EFFECTS_A_TASK == EFFECTS_A_TASK - 1:
                transact(connection, Sync.LATER, functools.partial(effects.end_task, connection, claim, TASK))

        return one_by_one(count, write)


def step_writes(count: int, folder: Path) -> float:
    """Commits that close their steps, as many in one transaction as a run may have waiting; nothing is synced."""
    with closing(open_file(folder / "store.db", None, BUSY_S)) as connection:
        claim = claimed(connection)
        step = 0

        def write(_number: int) -> None:
            nonlocal step
            step += 1
            if step % STEPS_A_TRANSACTION == 1:
                connection.execute("BEGIN IMMEDIATE")
            threads.commit(connection, claim, commit(step))
            if step % STEPS_A_TRANSACTION == 0:
                connection.execute("COMMIT")

        set_level(connection, Sync.LATER)
        seconds = one_by_one(count, write)
        if connection.in_transaction:
            connection.execute("COMMIT")
        if step != count + WARM_UP:
            raise RuntimeError(f"{step} steps were written, not {count + WARM_UP}")
        return seconds


def transact(connection: sqlite3.Connection, level: Sync, write: Callable[[], object]) -> None:
    """One write, alone in its transaction, as the store's writer makes it."""
    set_level(connection, level)
    connection.execute("BEGIN IMMEDIATE")
    write()
    connection.execute("COMMIT")


def claimed(connection: sqlite3.Connection) -> Claim:
    """A new thread with its first task open."""
    connection.execute("BEGIN IMMEDIATE")
    run = NewRun(step=0, pieces=(), tasks=(Task(id=TASK, step=1, node="pay"),), at_us=AT_US)
    claim = threads.create(connection, NewThread(id=THREAD, graph=STAMP, run=run), OwnerId("bench"))
    connection.execute("COMMIT")
    return claim


def intent() -> Intent:
    """The intent of one payment."""
    return Intent(
        kind=Kind.UNCHECKED, tool="charge", fingerprint=FINGERPRINT, request=REQUEST, schema=SCHEMA, at_us=AT_US
    )


def outcome() -> Outcome:
    """The outcome of one payment."""
    return Outcome(value=RECEIPT, schema=SCHEMA, how=How.RUN, at_us=AT_US)


def commit(step: int) -> Commit:
    """The commit of one counted step."""
    piece = Piece(field="n", value=str(step).encode(), schema=SCHEMA)
    following = Task(id=f"{step + 1}.pay", step=step + 1, node="pay")
    closes = Closing(step=step, pieces=(piece,), tasks=(following,), at_us=AT_US)
    return Commit(task=f"{step}.pay", step=step, node="pay", fields=("n",), at_us=AT_US, closing=closes)


if __name__ == "__main__":
    serve(
        {
            "codec": codec,
            "effect": functools.partial(effect_writes, Sync.LATER),
            "effect-synced": functools.partial(effect_writes, Sync.NOW),
            "step": step_writes,
        }
    )
