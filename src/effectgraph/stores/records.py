"""What a store keeps, as plain records: bytes in, bytes out."""

from __future__ import annotations

from enum import Enum
from typing import NewType

import attrs

from effectgraph.stores.keys import EffectKey

OwnerId = NewType("OwnerId", str)
"""One open store of one process: its holder can be seen to die."""

OUTSIDE = 0
"""The token of whoever works outside a runtime: no claim, so nothing fences him."""


class Kind(Enum):
    """Which entry point an effect came through: how its replay can be settled."""

    VERIFIABLE = "verifiable"
    APPLIED_KEYS = "applied_keys"
    UNCHECKED = "unchecked"


class How(Enum):
    """How an effect got its outcome."""

    RUN = "run"
    PROBE = "probe"
    TARGET = "target"


class Sync(Enum):
    """When a write must be on disk."""

    NOW = "now"
    """Before the write is acknowledged."""
    LATER = "later"
    """With the next synced write, one second later at the latest."""


class ThreadStatus(Enum):
    """Where a thread stands."""

    RUNNING = "running"
    """It has open tasks: somebody runs it, or it waits to be recovered."""
    DONE = "done"
    FAILED = "failed"


class TaskStatus(Enum):
    """Where a task stands. Once its step has closed it is gone: its history entry says what it did."""

    OPEN = "open"
    FAILED = "failed"
    COMMITTED = "committed"
    """It has ended, its step has not closed yet."""


@attrs.frozen(kw_only=True)
class Claim:
    """The right to run a thread now. Outside a runtime: token and incarnation 0, `thread` the caller's scope."""

    thread: str
    incarnation: int
    token: int
    owner: OwnerId


@attrs.frozen
class Landing:
    """What a target looks like once a plan has landed: its digest, and the value that the call then has."""

    after: str
    presumed: bytes


@attrs.frozen(kw_only=True)
class Plan:
    """What a verifiable effect is about to do; `earlier` are the plans that this one replaced, newest last."""

    before: str
    landing: Landing
    earlier: tuple[Landing, ...] = ()


@attrs.frozen(kw_only=True)
class Intent:
    """What is written before an effect starts. `request` is already redacted and capped; times are microseconds since
    1970, UTC.
    """

    kind: Kind
    tool: str
    fingerprint: str
    request: bytes
    schema: str
    at_us: int
    plan: Plan | None = None


@attrs.frozen(kw_only=True)
class Outcome:
    """An effect's result as its codec wrote it; `value` None is the mark `omitted`: it was over the cap."""

    value: bytes | None
    schema: str
    how: How
    at_us: int


@attrs.frozen(kw_only=True)
class Evidence:
    """All that is known of one effect. An intent without outcome has `outcome` None.

    `trouble` is set when an attempt ended without knowing whether the effect happened: nobody is at work on it then.
    `ended` is set when its task has ended without it: no run will look at it again, it stays listed for people.
    `version` counts the changes of this record; who changes it names the version that he saw.
    """

    key: EffectKey
    incarnation: int
    intent: Intent
    owner: OwnerId
    token: int
    attempt: int
    version: int
    outcome: Outcome | None = None
    trouble: str | None = None
    ended: bool = False


@attrs.frozen(kw_only=True)
class Begun:
    """The answer of `begin`: the evidence as it stands, and whether it is the caller's own intent."""

    evidence: Evidence
    mine: bool


@attrs.frozen(kw_only=True)
class Piece:
    """A field's value, or what was appended to it, as its codec wrote it."""

    field: str
    value: bytes
    schema: str
    appended: bool = False


@attrs.frozen(kw_only=True)
class Failure:
    """Why a task failed: the error's name, text and traceback. Its class is never rebuilt."""

    error: str
    text: str
    traceback: str
    at_us: int


@attrs.frozen(kw_only=True)
class Task:
    """One scheduled run of one node. `attempts` counts the runs that were started, this one included.

    `update` is what a committed task of a step that has not closed wants changed, as the graph encoded it.
    """

    id: str
    step: int
    node: str
    attempts: int = 1
    status: TaskStatus = TaskStatus.OPEN
    failure: Failure | None = None
    update: bytes | None = None


@attrs.frozen(kw_only=True)
class GraphStamp:
    """Which definition a thread runs."""

    name: str
    version: int
    fingerprint: str


@attrs.frozen(kw_only=True)
class NewRun:
    """The start of a run: the input as pieces, and the first tasks. Step numbers grow over all runs of a thread."""

    step: int
    pieces: tuple[Piece, ...]
    tasks: tuple[Task, ...]
    at_us: int


@attrs.frozen(kw_only=True)
class NewThread:
    """A thread to be made: its id, its definition, its first run."""

    id: str
    graph: GraphStamp
    run: NewRun


@attrs.frozen(kw_only=True)
class Closing:
    """The end of a step: the merged changes, and what follows. No tasks means that the thread is done."""

    step: int
    pieces: tuple[Piece, ...]
    tasks: tuple[Task, ...]
    at_us: int


@attrs.frozen(kw_only=True)
class Commit:
    """The end of a task: the fields that it changes, by name, for history.

    With `closing` its step ends in the same write, and its changes are in there. Without, `update` keeps them until
    `close`.
    """

    task: str
    step: int
    node: str
    fields: tuple[str, ...]
    at_us: int
    update: bytes | None = None
    closing: Closing | None = None


@attrs.frozen(kw_only=True)
class ThreadView:
    """A thread as it stands. `step` is the last one that closed; pieces come in the order to put them together."""

    id: str
    incarnation: int
    graph: GraphStamp
    status: ThreadStatus
    step: int
    token: int
    owner: OwnerId | None
    pieces: tuple[Piece, ...]
    tasks: tuple[Task, ...]


@attrs.frozen(kw_only=True)
class Claimed:
    """A claim with all that its run needs, so that nothing is read back while it holds."""

    claim: Claim
    thread: ThreadView
    evidence: tuple[Evidence, ...]


@attrs.frozen(kw_only=True)
class EffectSummary:
    """What history keeps of an effect once its task has committed: how it was settled, not its outcome."""

    task: str
    call: str
    tool: str
    kind: Kind
    how: How | None
    attempt: int
    begun_us: int
    settled_us: int | None


@attrs.frozen(kw_only=True)
class HistoryEntry:
    """One committed task: its step, node, the fields that its commit changed, its effects, its time."""

    step: int
    task: str
    node: str
    fields: tuple[str, ...]
    effects: tuple[EffectSummary, ...]
    at_us: int
