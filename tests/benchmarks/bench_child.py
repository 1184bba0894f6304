"""The child's side of the benchmark: one case in one fresh folder, timed, and one line of JSON."""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import msgspec


class Counted(msgspec.Struct, frozen=True):
    """The seconds of a case that also counts the transactions that it made meanwhile, and those that were synced."""

    seconds: float
    transactions: int
    synced: int


Case = Callable[[int, Path], float | Counted]
"""Does so many operations in an empty folder; returns the seconds that they took, without set-up and clean-up."""

WARM_UP = 20
"""Operations done before the clock starts, so that lazy imports and first pages are not timed."""

IN_FLIGHT = 32
"""Operations under way at the same time in the cases that run them at once."""


class Timing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one child reports: operations done, the seconds that all of them took, and what it counted itself."""

    count: int
    seconds: float
    transactions: int | None = None
    synced: int | None = None


def serve(cases: Mapping[str, Case]) -> None:
    """Run the case that the command line names and print its `Timing`.

    The command line is: case, number of operations, folder.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=sorted(cases))
    parser.add_argument("count", type=int)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    taken = cases[asked.case](asked.count, asked.folder)
    if isinstance(taken, Counted):
        timing = Timing(asked.count, taken.seconds, taken.transactions, taken.synced)
    else:
        timing = Timing(asked.count, taken)
    print(msgspec.json.encode(timing).decode())


def one_by_one(count: int, operation: Callable[[int], object]) -> float:
    """Seconds for `count` calls, numbered from 0; the calls that warm up carry negative numbers."""
    for number in range(-WARM_UP, 0):
        operation(number)
    start = time.perf_counter()
    for number in range(count):
        operation(number)
    return time.perf_counter() - start


async def at_once(count: int, operation: Callable[[int], Awaitable[object]], *, in_flight: int = IN_FLIGHT) -> float:
    """Seconds for `count` awaited calls of which up to `in_flight` are under way; numbered as in `one_by_one`."""
    await _drain(range(-WARM_UP, 0), operation, in_flight)
    start = time.perf_counter()
    await _drain(range(count), operation, in_flight)
    return time.perf_counter() - start


async def _drain(numbers: range, operation: Callable[[int], Awaitable[object]], in_flight: int) -> None:
    waiting = iter(numbers)

    async def work() -> None:
        for number in waiting:
            await operation(number)

    async with asyncio.TaskGroup() as group:
        for _ in range(in_flight):
            group.create_task(work())
