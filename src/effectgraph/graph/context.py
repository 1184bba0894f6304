"""What a node gets beside the state: its calls, its guard, and what the program handed in."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Hashable
from typing import Generic, ParamSpec, final

from typing_extensions import TypeVar

from effectgraph.effects import EffectGuard
from effectgraph.graph.call_keys import CallKeys
from effectgraph.graph.session import TaskSession
from effectgraph.stores.keys import EffectKey
from effectgraph.tools import Tool

P = ParamSpec("P")
A = TypeVar("A")
D = TypeVar("D", default=None)


@final
class Context(Generic[D]):
    """What an async node gets. `deps` is what the program handed to the runtime; it is never stored."""

    deps: D

    def __init__(self, session: TaskSession, keys: CallKeys, deps: D) -> None:
        self.deps = deps
        self._session = session
        self._keys = keys

    def call(self, tool: Tool[P, A], /, *args: P.args, **kwargs: P.kwargs) -> Coroutine[object, None, A]:
        """Call a tool. The arguments are checked, and its key is taken, now; the effect runs when the coroutine is
        awaited.

        So calls get their keys in program order, also inside `gather(...)`. A call that is never awaited fails the
        task. Raises `BadArguments`, and `CallOutOfOrder` in another asyncio task than the node's own: use `at` there.
        """
        prepared = tool.prepare(*args, **kwargs)
        return self._session.call(self._keys.next(tool.name), prepared)

    def at(self, key: str) -> Context[D]:
        """A branch of the keys, for a loop over data that may change, or for a concurrent helper: `ctx.at(order.id)`.

        The same name is the same branch. A branch belongs to the asyncio task that first calls in it.
        """
        return Context(self._session, self._keys.at(key), self.deps)

    def key(self, name: str) -> EffectKey:
        """An effect key of this task for `guard`, under a name of your own, once for each name."""
        return self._session.key(self._keys.named(name))

    @property
    def guard(self) -> EffectGuard:
        """The guard of this claim, for effects that are no tools: take their keys from `key`."""
        return self._session.guard


@final
class BlockingContext(Generic[D]):
    """What a plain node gets, in its worker thread: as `Context`, with calls that block until they are done."""

    deps: D

    def __init__(self, session: TaskSession, keys: CallKeys, deps: D, loop: asyncio.AbstractEventLoop) -> None:
        self.deps = deps
        self._session = session
        self._keys = keys
        self._loop = loop

    def call(self, tool: Tool[P, A], /, *args: P.args, **kwargs: P.kwargs) -> A:
        """Call a tool and wait for its value. Raises as `Context.call` does; threads stand for asyncio tasks."""
        prepared = tool.prepare(*args, **kwargs)
        coroutine = self._session.call(self._keys.next(tool.name), prepared)
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def at(self, key: str) -> BlockingContext[D]:
        """A branch of the keys; see `Context.at`. A branch belongs to the thread that first calls in it."""
        return BlockingContext(self._session, self._keys.at(key), self.deps, self._loop)


def present_task() -> Hashable:
    """Which asyncio task runs now, or which thread where there is no event loop: what a context's keys belong to."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return threading.get_ident()


def present_thread() -> Hashable:
    """Which thread runs now: what a blocking context's keys belong to."""
    return threading.get_ident()
