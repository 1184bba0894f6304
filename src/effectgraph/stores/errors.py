"""The store's errors: what could not be stored or read, and the way out."""

from __future__ import annotations

import attrs

from effectgraph.errors import GraphError


class StoreError(GraphError):
    """Anything a store refuses or fails to do."""


@attrs.define(slots=False, eq=False)
class StoreUnusable(StoreError, RuntimeError):
    """The store cannot be opened, read or written: not ours, newer than this program, read-only, full, broken."""

    store: str
    why: str
    way_out: str

    def __str__(self) -> str:
        return f"store {self.store}: {self.why}; {self.way_out}"


@attrs.define(slots=False, eq=False)
class StoreReadOnly(StoreError, RuntimeError):
    """A write to a store that was opened for reading only. Nothing was written."""

    store: str

    def __str__(self) -> str:
        return f"store {self.store}: it was opened for reading only; nothing was written; open it without read_only"


@attrs.define(slots=False, eq=False)
class StoreBusy(StoreError, RuntimeError):
    """Another process kept the store locked for longer than the store waits. Nothing was written."""

    store: str
    waited_s: float

    def __str__(self) -> str:
        return (
            f"store {self.store}: another process held its write lock for {self.waited_s:.1f} s; nothing was written; "
            "try again, and look for a long transaction on that file"
        )


@attrs.define(slots=False, eq=False)
class QueueFull(StoreError, RuntimeError):
    """Too many writes wait for the store's writer already. This one was not queued; those are still written."""

    store: str
    waiting: int

    def __str__(self) -> str:
        return (
            f"store {self.store}: {self.waiting} writes wait already, so this one was not taken; await the receipt of "
            "an earlier one, then try again"
        )


@attrs.define(slots=False, eq=False)
class StoreClosed(StoreError, RuntimeError):
    """The store was closed, or belongs to the process that this one was forked from."""

    store: str
    why: str

    def __str__(self) -> str:
        return f"store {self.store}: {self.why}; open it again in this process"


@attrs.define(slots=False, eq=False)
class EarlierWriteFailed(StoreError, RuntimeError):
    """A write of the same run, queued before this one, failed; so this one was not written either."""

    thread: str
    token: int
    earlier: str

    def __str__(self) -> str:
        return (
            f"thread {self.thread}, token {self.token}: an earlier write of this run failed ({self.earlier}), so "
            "nothing behind it was written; recover the thread, and it goes on from its last commit"
        )


@attrs.define(slots=False, eq=False)
class ClaimLost(StoreError, RuntimeError):
    """The claim is no longer the current one: another owner took the thread, or it was deleted. Nothing was changed."""

    thread: str
    token: int
    current: int | None

    @property
    def fact(self) -> str:
        """What is so, without the way out."""
        if self.current is None:
            now = "the thread was deleted"
        elif self.current == self.token:
            now = "it was released"
        else:
            now = f"token {self.current} is the current one"
        return f"thread {self.thread}: token {self.token} is no longer current ({now}); nothing was changed"

    def __str__(self) -> str:
        return f"{self.fact}; stop this run, its successor goes on"


@attrs.define(slots=False, eq=False)
class ClaimHeld(StoreError, RuntimeError):
    """Another owner that is alive runs the thread."""

    thread: str
    owner: str
    token: int

    def __str__(self) -> str:
        return (
            f"thread {self.thread}: owner {self.owner} is alive and runs it (token {self.token}); wait for it, or, if "
            "it is stuck, call take(thread, reason)"
        )


@attrs.define(slots=False, eq=False)
class ThreadExists(StoreError, ValueError):
    """A thread of this id is there already."""

    thread: str
    status: str

    def __str__(self) -> str:
        return f"thread {self.thread}: exists already and is {self.status}; use another id, or delete it first"


@attrs.define(slots=False, eq=False)
class ThreadUnknown(StoreError, LookupError):
    """No thread of this id is in the store."""

    thread: str
    store: str

    def __str__(self) -> str:
        return f"thread {self.thread}: not in store {self.store}; run it first, or look at the id"


@attrs.define(slots=False, eq=False)
class TaskClosed(StoreError, RuntimeError):
    """The task has committed or failed, or was never scheduled. Nothing was changed."""

    thread: str
    task: str

    def __str__(self) -> str:
        return f"thread {self.thread}, task {self.task}: not open; nothing was changed; read the thread again"


@attrs.define(slots=False, eq=False)
class EvidenceChanged(StoreError, RuntimeError):
    """The evidence is not at the version that the writer saw. Nothing was changed."""

    key: str
    seen: int | None
    current: int | None

    def __str__(self) -> str:
        seen = "none" if self.seen is None else f"version {self.seen}"
        current = "none" if self.current is None else f"version {self.current}"
        return f"effect {self.key}: the writer saw {seen}, the store has {current}; nothing was changed; read it again"


@attrs.define(slots=False, eq=False)
class UnresolvedStands(StoreError, RuntimeError):
    """A thread cannot be deleted, nor a key released, while an effect of it is unresolved."""

    thread: str
    effects: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"thread {self.thread}: unresolved, and nobody knows whether they happened: {', '.join(self.effects)}; "
            "look at the target first, or drop them on purpose"
        )


@attrs.define(slots=False, eq=False)
class StepUnknown(StoreError, LookupError):
    """A thread's state after a step cannot be read: it was pruned, or the thread has not come that far."""

    thread: str
    step: int
    kept_from: int
    last: int

    def __str__(self) -> str:
        return (
            f"thread {self.thread}: nothing is kept of step {self.step}; name one from {self.kept_from} to {self.last}"
        )


@attrs.define(slots=False, eq=False)
class QuestionUnknown(StoreError, LookupError):
    """No question of this id is in the store. Nothing was changed."""

    question: str
    store: str

    def __str__(self) -> str:
        return f"question {self.question}: not in store {self.store}; list the pending ones, and look at the id"


@attrs.define(slots=False, eq=False)
class QuestionClosed(StoreError, ValueError):
    """The question was answered before, or its task has ended. Nothing was changed."""

    question: str
    thread: str
    why: str

    def __str__(self) -> str:
        return f"question {self.question} of thread {self.thread}: {self.why}; nothing was changed"


@attrs.define(slots=False, eq=False)
class EffectAtWork(StoreError, RuntimeError):
    """A decision on an effect whose owner is alive and at work on it. Nothing was changed."""

    key: str
    owner: str
    token: int

    def __str__(self) -> str:
        way_out = (
            f"call take({self.key.partition(' / ')[0]!r}, reason) first" if self.token else "end its process first"
        )
        return (
            f"effect {self.key}: owner {self.owner} is alive and at work on it (token {self.token}); nothing was "
            f"changed; wait for it, or, if it is stuck, {way_out}"
        )


@attrs.define(slots=False, eq=False)
class DecisionConflict(StoreError, ValueError):
    """A decision of this id was made before, and says something else. Nothing was changed."""

    decision: str
    key: str
    earlier: str

    def __str__(self) -> str:
        return (
            f"decision {self.decision} on effect {self.key}: this id was used before ({self.earlier}); nothing was "
            "changed; give a new decision an id of its own"
        )


@attrs.define(slots=False, eq=False)
class DecisionRefused(StoreError, ValueError):
    """The decision does not fit what is known of the effect. Nothing was changed."""

    decision: str
    key: str
    why: str

    def __str__(self) -> str:
        return f"decision {self.decision} on effect {self.key}: {self.why}; nothing was changed"
