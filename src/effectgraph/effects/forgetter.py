"""Keys to forget at their targets, once their outcomes are on disk."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

import attrs

from effectgraph.effects.call import run_callable
from effectgraph.effects.current import CurrentEffect, running
from effectgraph.effects.errors import TargetFenced
from effectgraph.outside import Runner

_log = logging.getLogger("effectgraph")


@attrs.frozen
class Forget:
    """One key to forget: the effect it was, and its target's forget."""

    effect: CurrentEffect
    fn: Callable[[int], None | Awaitable[None]]


class Forgetter:
    """Collects what may be forgotten, and does it in batches that no effect waits for.

    `due` may be called in any thread. A row that is left, because the process died first or its target had seen a newer
    token, does no harm: the target answers its key until it is swept.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._due: deque[Forget] = deque()
        self._working: asyncio.Task[None] | None = None

    def due(self, forget: Forget) -> None:
        """Note a key whose outcome is on disk."""
        self._due.append(forget)

    def work_on(self, batch: int) -> None:
        """Begin to forget in the background if at least `batch` keys are due."""
        idle = self._working is None or self._working.done()
        if idle and len(self._due) >= batch:
            self._working = asyncio.get_running_loop().create_task(self.drain())

    async def drain(self) -> None:
        """Forget everything that is due."""
        while self._due:
            forget = self._due.popleft()
            try:
                with running(forget.effect):
                    await run_callable(self._runner, forget.fn, forget.effect.token)
            except TargetFenced:
                _log.debug("effect %s: left at its target, which has seen a newer token", forget.effect.key)
            except Exception as error:
                _log.warning("effect %s: not forgotten at its target: %s", forget.effect.key, error)
