"""What a run came to."""

from __future__ import annotations

from enum import Enum
from typing import Generic, TypeVar

import attrs

S = TypeVar("S")


class Status(Enum):
    """How a run ended."""

    DONE = "done"
    FAILED = "failed"


@attrs.frozen(kw_only=True)
class TaskFailure:
    """Why a task failed: the error's name, text and traceback as stored. Its class is never rebuilt."""

    thread: str
    task: str
    node: str
    error: str
    text: str
    traceback: str

    def __str__(self) -> str:
        return f"thread {self.thread}, task {self.task}, node {self.node}: {self.error}: {self.text}"


@attrs.frozen
class Run(Generic[S]):
    """How a run ended, the committed state, and the tasks that failed: `retry(thread)` runs those again."""

    status: Status
    state: S
    failures: tuple[TaskFailure, ...] = ()
