"""The line-up: who runs in each round, how often, and who is held against whom."""

from __future__ import annotations

from enum import Enum

import attrs

EFFECT_LEDGER = ("effect-ledger",)
LANGGRAPH = ("langgraph",)
LANGGRAPH_SQLITE = ("langgraph", "langgraph-checkpoint-sqlite")


class Group(Enum):
    """What one operation is; rows of one group may be compared."""

    COMMITS = "commits in raw SQLite, one row each"
    EFFECTS = "effects, one after another"
    EFFECTS_AT_ONCE = "effects, 32 at once"
    STEPS = "graph steps, one thread"
    HOPS = "event loop to a worker thread and back"


@attrs.frozen(kw_only=True)
class Contender:
    """One row: `python <script> <case> <count> <folder>` does `count` operations and prints a timing."""

    name: str
    title: str
    group: Group
    script: str
    case: str
    count: int
    """Operations in one round: about a second's worth."""
    needs: tuple[str, ...] = ()
    """Distributions that must be installed; without them the row is left empty."""


@attrs.frozen(kw_only=True)
class Comparison:
    """The speed of `name` as a multiple of the speed of `against`, with what is promised of it, if anything."""

    name: str
    against: str
    floor: float | None = None
    aim: float | None = None


LINEUP = (
    Contender(
        name="raw-full",
        title="WAL, synchronous=FULL",
        group=Group.COMMITS,
        script="raw_sqlite.py",
        case="full",
        count=5000,
    ),
    Contender(
        name="raw-normal",
        title="WAL, synchronous=NORMAL",
        group=Group.COMMITS,
        script="raw_sqlite.py",
        case="normal",
        count=40000,
    ),
    Contender(
        name="effect-ledger",
        title="effect-ledger, execute",
        group=Group.EFFECTS,
        script="peer_effect_ledger.py",
        case="one",
        count=500,
        needs=EFFECT_LEDGER,
    ),
    Contender(
        name="effect-ledger-32",
        title="effect-ledger, aexecute",
        group=Group.EFFECTS_AT_ONCE,
        script="peer_effect_ledger.py",
        case="many",
        count=500,
        needs=EFFECT_LEDGER,
    ),
    Contender(
        name="langgraph-full",
        title='LangGraph, SqliteSaver, durability "sync"',
        group=Group.STEPS,
        script="peer_langgraph.py",
        case="full",
        count=1000,
        needs=LANGGRAPH_SQLITE,
    ),
    Contender(
        name="langgraph-normal",
        title="LangGraph, the same, synchronous=NORMAL",
        group=Group.STEPS,
        script="peer_langgraph.py",
        case="normal",
        count=1500,
        needs=LANGGRAPH_SQLITE,
    ),
    Contender(
        name="langgraph-no-saver",
        title="LangGraph, no saver",
        group=Group.STEPS,
        script="peer_langgraph.py",
        case="no-saver",
        count=5000,
        needs=LANGGRAPH,
    ),
    Contender(
        name="hop-1",
        title="one after another",
        group=Group.HOPS,
        script="thread_hop.py",
        case="one",
        count=10000,
    ),
    Contender(
        name="hop-32",
        title="32 at once",
        group=Group.HOPS,
        script="thread_hop.py",
        case="many",
        count=20000,
    ),
)

COMPARISONS = (
    Comparison(name="effect-ledger", against="raw-full"),
    Comparison(name="effect-ledger-32", against="effect-ledger"),
    Comparison(name="langgraph-full", against="raw-full"),
    Comparison(name="langgraph-normal", against="langgraph-full"),
    Comparison(name="langgraph-no-saver", against="langgraph-full"),
)


@attrs.frozen(kw_only=True)
class Part:
    """One part of what an operation costs: the time of `of`, less that of `less` if there is one."""

    title: str
    of: str
    less: str | None = None


PARTS = (
    Part(title="sync: a synced commit less one not synced", of="raw-full", less="raw-normal"),
    Part(title="thread hop: loop, worker thread, loop", of="hop-1"),
    Part(title="thread hop with 32 in flight", of="hop-32"),
)


@attrs.define(slots=False, eq=False)
class NobodyByThatName(LookupError):
    """`--only` named a part of no contender's name."""

    wanted: str

    def __str__(self) -> str:
        names = ", ".join(contender.name for contender in LINEUP)
        return f"--only {self.wanted}: no contender's name has that in it; there are: {names}"


def chosen(only: tuple[str, ...]) -> tuple[Contender, ...]:
    """The contenders whose name has one of `only` in it; all of them if `only` is empty.

    Raises `NobodyByThatName` for a part that fits none.
    """
    for wanted in only:
        if not any(wanted in contender.name for contender in LINEUP):
            raise NobodyByThatName(wanted)
    return tuple(c for c in LINEUP if not only or any(wanted in c.name for wanted in only))
