"""What a worker is asked to do, and what it tells when it has done it: one line of JSON each."""

from __future__ import annotations

from enum import Enum
from pathlib import Path

import attrs
import msgspec

from effectgraph import Refusal
from effectgraph.cli.demo.effect import Halt


class Ask(Enum):
    """What a worker does with an order."""

    RUN = "run"
    RECOVER = "recover"
    RETRY = "retry"
    TAKE_OVER = "take_over"
    """Look whether there is anything to recover, then take the thread from whoever runs it, and recover it."""


@attrs.frozen(kw_only=True)
class Job:
    """One job for one worker process. `provider` is the address of the payment server."""

    ask: Ask
    order: str
    folder: str
    provider: str
    halt: Halt | None = None

    def to_line(self) -> str:
        """The job as one line."""
        return msgspec.json.encode(self).decode()

    @property
    def path(self) -> Path:
        """The folder as a path."""
        return Path(self.folder)


def job_of(line: str) -> Job:
    """The job that a line holds. Raises `msgspec.MsgspecError` if it holds none."""
    return msgspec.json.decode(line, type=Job)


@attrs.frozen(kw_only=True)
class Settled:
    """How one effect of a committed task got its outcome, and in which attempt."""

    effect: str
    how: str
    attempt: int


@attrs.frozen(kw_only=True)
class Fenced:
    """A target refused a token because it had seen a newer one."""

    token: int
    newest: int


@attrs.frozen(kw_only=True)
class Told:
    """What a worker found, did, and left behind.

    `recovered_before` counts the threads that could be recovered before the thread was taken. `unsettled` are the
    effects of the order that had an intent and no outcome when the worker came, `unresolved` those that have none at
    the end. `raised` is the error that ended the run, `fenced` the refusal of a target that led to it, `failure` why a
    task of the order failed.
    """

    recovered: int = 0
    recovered_before: int = 0
    unsettled: tuple[str, ...] = ()
    status: str = ""
    settled: tuple[Settled, ...] = ()
    failure: str | None = None
    unresolved: tuple[str, ...] = ()
    raised: str | None = None
    fenced: Fenced | None = None

    def to_line(self) -> str:
        """All of it as one line."""
        return msgspec.json.encode(self).decode()

    @property
    def is_unknown(self) -> bool:
        """Whether a task failed because nobody can tell whether its effect happened."""
        return self.failure is not None and f"refused, {Refusal.OUTCOME_UNKNOWN.value}" in self.failure

    def of(self, effect: str) -> Settled | None:
        """How an effect was settled; None if its task has not committed."""
        return next((settled for settled in self.settled if settled.effect == effect), None)


def told_of(line: str) -> Told:
    """What a line tells. Raises `msgspec.MsgspecError` if it tells nothing."""
    return msgspec.json.decode(line, type=Told)
