"""One attempt of a task: its node called with a context of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

from effectgraph.graph.call_keys import CallKeys
from effectgraph.graph.context import BlockingContext, Context, present_task, present_thread
from effectgraph.graph.parts import Node
from effectgraph.graph.session import TaskSession
from effectgraph.outside import Runner

S = TypeVar("S")


async def run_node(node: Node[S, None], state: S, session: TaskSession, deps: object, runner: Runner) -> object:
    """Call a node and return what it returns: async in the event loop, plain through `runner`.

    Raises what the node raises, and `CallNotAwaited` if it left a call behind.
    """
    try:
        if node.is_async:
            update = await _run_async(node, state, session, deps)
        else:
            update = await _run_plain(node, state, session, deps, runner)
    except BaseException:
        session.abandon()
        raise
    session.close()
    return update


async def _run_async(node: Node[S, None], state: S, session: TaskSession, deps: object) -> object:
    keys = CallKeys(session.task, present_task)
    keys.bind()
    fn = cast("Callable[..., Awaitable[object]]", node.fn)
    return await fn(state, Context(session, keys, deps))


async def _run_plain(node: Node[S, None], state: S, session: TaskSession, deps: object, runner: Runner) -> object:
    loop = asyncio.get_running_loop()

    def call() -> object:
        keys = CallKeys(session.task, present_thread)
        keys.bind()
        return node.fn(state, BlockingContext(session, keys, deps, loop))

    return await runner.in_thread(call)
