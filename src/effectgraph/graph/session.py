"""One attempt of a task: the calls that its node makes, and their end."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

from effectgraph.effects import EffectGuard
from effectgraph.graph.errors import CallNotAwaited, ContextClosed
from effectgraph.outside import Runner
from effectgraph.stores.keys import EffectKey
from effectgraph.tools import Prepared

A = TypeVar("A")


class TaskSession:
    """The calls of one attempt. When the node has ended it is closed, and every later call is refused."""

    def __init__(self, *, thread: str, task: str, guard: EffectGuard, runner: Runner) -> None:
        self.thread = thread
        self.task = task
        self.guard = guard
        self.runner = runner
        self._made: dict[str, Coroutine[Any, Any, object]] = {}
        self._closed = False

    def call(self, call_key: str, prepared: Prepared[A]) -> Coroutine[object, None, A]:
        """The coroutine that performs a call; the session remembers it until it starts."""
        self._check_open()
        coroutine = self._perform(call_key, prepared)
        self._made[call_key] = coroutine
        return coroutine

    def key(self, call_key: str) -> EffectKey:
        """The effect key of one of the task's calls."""
        return EffectKey(self.thread, self.task, call_key)

    def close(self) -> None:
        """Refuse all later calls. Raises `CallNotAwaited` if a call was made and never awaited: it did not run."""
        self._closed = True
        never_started = tuple(self._made)
        for coroutine in self._made.values():
            coroutine.close()
        self._made.clear()
        if never_started:
            raise CallNotAwaited(self.thread, self.task, never_started)

    def abandon(self) -> None:
        """Refuse all later calls, of a node that has failed already: what it did not await is let go."""
        self._closed = True
        for coroutine in self._made.values():
            coroutine.close()
        self._made.clear()

    async def _perform(self, call_key: str, prepared: Prepared[A]) -> A:
        self._made.pop(call_key, None)
        self._check_open()
        return await prepared.run(self.guard, self.key(call_key), self.runner)

    def _check_open(self) -> None:
        if self._closed:
            raise ContextClosed(self.thread, self.task)
