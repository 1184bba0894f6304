"""LangGraph: a loop over one node that adds one to a counter, with its SQLite saver and without a saver."""

from __future__ import annotations

import functools
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol, TypedDict

from bench_child import WARM_UP, serve


class Counter(TypedDict):
    """The state of the graph."""

    n: int


class Compiled(Protocol):
    """The part of a compiled LangGraph graph used here; found by name, as the peer need not be installed."""

    def invoke(
        self, values: Counter, config: Mapping[str, object], /, *, durability: Literal["sync"] | None
    ) -> Mapping[str, object]: ...


class Saver(Protocol):
    """The part of LangGraph's SQLite saver used here."""

    def setup(self) -> None: ...


def loop(limit: int, saver: Saver | None) -> Compiled:
    """A graph whose one node runs `limit` times."""
    graph = import_module("langgraph.graph")

    def add_one(state: Counter) -> Counter:
        return {"n": state["n"] + 1}

    def again(state: Counter) -> bool:
        return state["n"] < limit

    builder = graph.StateGraph(Counter)
    builder.add_node("count", add_one)
    builder.add_edge(graph.START, "count")
    builder.add_conditional_edges("count", again, {True: "count", False: graph.END})
    compiled: Compiled = builder.compile(checkpointer=saver)
    return compiled


def run(limit: int, saver: Saver | None) -> float:
    """Seconds for one run of `limit` steps."""
    compiled = loop(limit, saver)
    config = {"configurable": {"thread_id": f"run-of-{limit}"}, "recursion_limit": limit + 1}
    durability: Literal["sync"] | None = None if saver is None else "sync"
    start = time.perf_counter()
    end = compiled.invoke({"n": 0}, config, durability=durability)
    seconds = time.perf_counter() - start
    if end["n"] != limit:
        raise RuntimeError(f"LangGraph counted to {end['n']}, not {limit}")
    return seconds


def with_saver(level: Literal["FULL", "NORMAL"], count: int, folder: Path) -> float:
    """Durability "sync": each step's checkpoint is written before the next step; synced by FULL, not by NORMAL.

    FULL is what the saver gets from SQLite when nobody says anything; it is set here because some builds of
    SQLite have another default.
    """
    with closing(sqlite3.connect(folder / "checkpoints.db", check_same_thread=False)) as db:
        saver: Saver = import_module("langgraph.checkpoint.sqlite").SqliteSaver(db)
        saver.setup()
        db.execute(f"PRAGMA synchronous={level}")
        run(WARM_UP, saver)
        return run(count, saver)


def without_saver(count: int, _folder: Path) -> float:
    """The engine alone: nothing is stored."""
    run(WARM_UP, None)
    return run(count, None)


if __name__ == "__main__":
    serve(
        {
            "full": functools.partial(with_saver, "FULL"),
            "normal": functools.partial(with_saver, "NORMAL"),
            "no-saver": without_saver,
        }
    )
