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
    STEPS_AT_ONCE = "graph steps, 64 threads at once"
    PARTS = "what ours are made of, each part alone"
    HOPS = "event loop to another thread and back"


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


RAW_COMMIT = 1 / 1.5
"""The speed of what takes one and a half times as long as one raw synced commit."""

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
        name="effect-unchecked",
        title="effectgraph, unchecked",
        group=Group.EFFECTS,
        script="ours_effects.py",
        case="unchecked",
        count=1000,
    ),
    Contender(
        name="effect-idempotent",
        title="effectgraph, unchecked and idempotent",
        group=Group.EFFECTS,
        script="ours_effects.py",
        case="idempotent",
        count=2000,
    ),
    Contender(
        name="effect-verifiable",
        title="effectgraph, verifiable",
        group=Group.EFFECTS,
        script="ours_effects.py",
        case="verifiable",
        count=2000,
    ),
    Contender(
        name="effect-applied-keys",
        title="effectgraph, applied keys",
        group=Group.EFFECTS,
        script="ours_effects.py",
        case="applied-keys",
        count=2000,
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
        name="effect-unchecked-32",
        title="effectgraph, unchecked",
        group=Group.EFFECTS_AT_ONCE,
        script="ours_effects.py",
        case="unchecked-many",
        count=5000,
    ),
    Contender(
        name="effect-idempotent-32",
        title="effectgraph, unchecked and idempotent",
        group=Group.EFFECTS_AT_ONCE,
        script="ours_effects.py",
        case="idempotent-many",
        count=10000,
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
        name="steps-all",
        title='effectgraph, sync="all"',
        group=Group.STEPS,
        script="ours_steps.py",
        case="all",
        count=5000,
    ),
    Contender(
        name="steps-default",
        title="effectgraph, default",
        group=Group.STEPS,
        script="ours_steps.py",
        case="default",
        count=20000,
    ),
    Contender(
        name="steps-plain",
        title="effectgraph, default, plain node",
        group=Group.STEPS,
        script="ours_steps.py",
        case="default-plain",
        count=5000,
    ),
    Contender(
        name="steps-all-64",
        title='effectgraph, sync="all"',
        group=Group.STEPS_AT_ONCE,
        script="ours_steps.py",
        case="all-many",
        count=12800,
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
        name="part-codec",
        title="codec: a call of a tool, its arguments and its outcome",
        group=Group.PARTS,
        script="ours_parts.py",
        case="codec",
        count=50000,
    ),
    Contender(
        name="part-store",
        title="store: intent and outcome, two transactions, not synced",
        group=Group.PARTS,
        script="ours_parts.py",
        case="effect",
        count=10000,
    ),
    Contender(
        name="part-store-synced",
        title="store: the same, the intent synced",
        group=Group.PARTS,
        script="ours_parts.py",
        case="effect-synced",
        count=3000,
    ),
    Contender(
        name="part-step",
        title="store: commit of a step, 64 a transaction, not synced",
        group=Group.PARTS,
        script="ours_parts.py",
        case="step",
        count=30000,
    ),
    Contender(
        name="hop-writer",
        title="to the store's writer, with an empty transaction",
        group=Group.HOPS,
        script="thread_hop.py",
        case="writer",
        count=10000,
    ),
    Contender(
        name="hop-1",
        title="to a worker thread, one after another",
        group=Group.HOPS,
        script="thread_hop.py",
        case="one",
        count=10000,
    ),
    Contender(
        name="hop-32",
        title="to a worker thread, 32 at once",
        group=Group.HOPS,
        script="thread_hop.py",
        case="many",
        count=20000,
    ),
)

COMPARISONS = (
    Comparison(name="effect-unchecked", against="effect-ledger", floor=2.5, aim=4.0),
    Comparison(name="effect-idempotent", against="effect-ledger", floor=4.5, aim=7.0),
    Comparison(name="effect-verifiable", against="effect-ledger", floor=4.5, aim=7.0),
    Comparison(name="effect-applied-keys", against="effect-ledger", floor=4.5, aim=7.0),
    Comparison(name="effect-idempotent", against="raw-full", aim=RAW_COMMIT),
    Comparison(name="effect-verifiable", against="raw-full", aim=RAW_COMMIT),
    Comparison(name="effect-applied-keys", against="raw-full", aim=RAW_COMMIT),
    Comparison(name="effect-unchecked-32", against="effect-ledger-32", floor=60.0, aim=120.0),
    Comparison(name="effect-idempotent-32", against="effect-ledger-32", floor=60.0, aim=120.0),
    Comparison(name="steps-all", against="langgraph-full", floor=2.8, aim=4.0),
    Comparison(name="steps-default", against="langgraph-normal", floor=8.0, aim=15.0),
    Comparison(name="steps-default", against="langgraph-no-saver", floor=1.5, aim=3.0),
    Comparison(name="steps-all-64", against="steps-all", floor=5.0, aim=10.0),
    Comparison(name="effect-ledger", against="raw-full"),
    Comparison(name="effect-ledger-32", against="effect-ledger"),
    Comparison(name="langgraph-full", against="raw-full"),
    Comparison(name="langgraph-normal", against="langgraph-full"),
    Comparison(name="langgraph-no-saver", against="langgraph-full"),
)


@attrs.frozen(kw_only=True)
class Part:
    """One part of what an operation costs: the time of `of`, less the times of all in `less`."""

    title: str
    of: str
    less: tuple[str, ...] = ()


PARTS = (
    Part(title="an idempotent effect", of="effect-idempotent"),
    Part(title="  codec: arguments, fingerprint, outcome", of="part-codec"),
    Part(title="  store: intent and outcome, two transactions", of="part-store"),
    Part(title="  sync: the same with the intent synced, less without", of="part-store-synced", less=("part-store",)),
    Part(title="  thread hop: to the writer and back", of="hop-writer"),
    Part(
        title="  rest: guard, tool and task, waits for each other's thread",
        of="effect-idempotent",
        less=("part-codec", "part-store-synced", "hop-writer"),
    ),
    Part(title="a step", of="steps-default"),
    Part(title="  store: its commit, 64 in a transaction", of="part-step"),
    Part(title="  rest: codec, node, runtime", of="steps-default", less=("part-step",)),
    Part(title="a sync alone: a raw commit synced, less one that is not", of="raw-full", less=("raw-normal",)),
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
