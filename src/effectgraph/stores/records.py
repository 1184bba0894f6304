"""What a store keeps, as plain records: bytes in, bytes out."""

from __future__ import annotations

from enum import Enum
from typing import NewType

import attrs

from effectgraph.stores.keys import EffectKey

OwnerId = NewType("OwnerId", str)
"""One open store of one process: its holder can be seen to die."""

QuestionId = NewType("QuestionId", str)
"""What a task waits for, named once for all threads of a store."""

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
    RECONCILE = "reconcile"
    """The recipient's own record said it."""
    DECISION = "decision"
    """A person said it."""


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
    WAITING = "waiting"
    """Every task of it that has not ended waits for an answer."""
    DONE = "done"
    FAILED = "failed"


class TaskStatus(Enum):
    """Where a task stands. Once its step has closed it is gone: its history entry says what it did."""

    OPEN = "open"
    WAITING = "waiting"
    """It has asked, and a question of it has no answer yet."""
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
    `uncertain` is set when it was given up on, and says by whom: the guard (RECONCILE: the recipient knows nothing of
    it), or a person (DECISION). `granted` is set while a person's grant of one more attempt is not used. `ended` is set
    when its task has ended without it: no run will look at it again, it stays listed for people.
    `version` counts the changes of this record, and never comes back for its key; who changes the record names the
    version that he saw.
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
    uncertain: How | None = None
    granted: bool = False
    ended: bool = False


@attrs.frozen(kw_only=True)
class Begun:
    """The answer of `begin`: the evidence as it stands, and whether it is the caller's own intent."""

    evidence: Evidence
    mine: bool


@attrs.frozen(kw_only=True)
class Remark:
    """What came too late to change an effect's evidence: an outcome of a run that had lost its claim, or that a
    decision had overtaken. Kept for people.
    """

    key: EffectKey
    incarnation: int
    owner: OwnerId
    token: int
    attempt: int
    outcome: Outcome
    text: str
    at_us: int


class Ruling(Enum):
    """What a person rules on an effect without outcome."""

    COMPLETE = "complete"
    """It has happened: the decision brings its outcome."""
    RETRY = "retry"
    """It may be tried once more, exactly."""
    WITHDRAW = "withdraw"
    """The grant of one more attempt is taken back; it has not been used."""
    ABANDON = "abandon"
    """It is given up on: never run again, and no longer listed."""


@attrs.frozen(kw_only=True)
class Decision:
    """What a person decided on an effect without outcome: on the version that he saw, under an id of his own."""

    id: str
    key: EffectKey
    incarnation: int
    seen: int
    ruling: Ruling
    by: str
    reason: str
    at_us: int
    outcome: Outcome | None = None


@attrs.frozen(kw_only=True)
class Decided:
    """A decision as it is kept for ever: its place in the order of decisions, and the evidence as it was before."""

    number: int
    decision: Decision
    before: Evidence


@attrs.frozen(kw_only=True)
class Question:
    """What a task waits for. `content` and `default` as the graph encoded them; `schema` is that of the answer's type.

    `expires_us` is when the default becomes the answer; whoever runs the thread gives it then, the store does not.
    """

    id: QuestionId
    content: bytes
    schema: str
    at_us: int
    expires_us: int | None = None
    default: bytes | None = None


@attrs.frozen(kw_only=True)
class Answer:
    """What was answered, as its codec wrote it, by whom, and when."""

    value: bytes
    schema: str
    by: str
    at_us: int


@attrs.frozen(kw_only=True)
class Asked:
    """A question as it stands. `ended` is set when its task has ended: it can no longer be answered."""

    thread: str
    task: str
    question: Question
    answer: Answer | None = None
    ended: bool = False


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
class Origin:
    """What a thread was forked from."""

    thread: str
    incarnation: int
    step: int


@attrs.frozen(kw_only=True)
class Fork:
    """A thread to be made of another one's state after a step; `tasks` are to run on it, none means that it is done.

    `incarnation` is that of the thread `source` which the caller saw.
    """

    source: str
    incarnation: int
    step: int
    id: str
    tasks: tuple[Task, ...]


@attrs.frozen(kw_only=True)
class ThreadView:
    """A thread as it stands. `step` is the last one that closed; pieces come in the order to put them together.

    `kept_from` is the first step whose state and history can still be read. `questions` are those of tasks that have
    not ended, in the order of asking.
    """

    id: str
    incarnation: int
    graph: GraphStamp
    status: ThreadStatus
    step: int
    token: int
    owner: OwnerId | None
    pieces: tuple[Piece, ...]
    tasks: tuple[Task, ...]
    questions: tuple[Asked, ...] = ()
    kept_from: int = 0
    origin: Origin | None = None


@attrs.frozen(kw_only=True)
class Claimed:
    """A claim with all that its run needs, so that nothing is read back while it holds."""

    claim: Claim
    thread: ThreadView
    evidence: tuple[Evidence, ...]


@attrs.frozen(kw_only=True)
class EffectSummary:
    """What history keeps of an effect once its task has committed: how it was settled, not its outcome.

    Without outcome, `how` is None, or DECISION if a person gave up on it.
    """

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
    """One committed task: its step, node, the fields that its commit changed, its effects, its questions, its time."""

    step: int
    task: str
    node: str
    fields: tuple[str, ...]
    effects: tuple[EffectSummary, ...]
    at_us: int
    questions: tuple[Asked, ...] = ()
