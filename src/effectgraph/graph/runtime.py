"""The runtime: runs, recovers and retries the threads of one graph over one store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Generic, Self, cast, overload

import attrs
from typing_extensions import TypeVar

from effectgraph.effects.limits import DRAIN_S
from effectgraph.graph.definition import Graph
from effectgraph.graph.engine import Engine, Outside, first_task
from effectgraph.graph.errors import GraphChanged, InputMissing, RuntimeClosed, ThreadNotReady
from effectgraph.graph.limits import THREADS_AT_ONCE
from effectgraph.graph.run import Run
from effectgraph.graph.state import Update
from effectgraph.graph.stored_state import pieces_to_write, restored
from effectgraph.graph.structure import Structure
from effectgraph.outside import Clock, Runner, SystemClock, Threads, micros
from effectgraph.stores.errors import ClaimHeld, ThreadExists, ThreadUnknown
from effectgraph.stores.keys import check_key_part
from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import (
    Claimed,
    HistoryEntry,
    NewRun,
    NewThread,
    ThreadStatus,
    ThreadView,
)

S = TypeVar("S")
S0 = TypeVar("S0")
D = TypeVar("D", default=None)


@attrs.frozen
class Program(Generic[S]):
    """What an open runtime works with."""

    graph: Structure[S]
    outside: Outside


class Runtime(Generic[S, D]):
    """Runs threads of `graph` over `store`; use it in `async with`.

    `deps` reaches the nodes as `ctx.deps` and is never stored. `clock` and `runner` (threads for plain functions) are
    the machine's unless handed in; a runner needs a thread for each plain node and one more for the effect it waits
    for. Leaving the block stops every run before its next task and releases the claims; the store stays open, it is
    the caller's. Raises `GraphInvalid` on entry, with everything that is wrong with the graph.
    """

    @overload
    def __init__(
        self: Runtime[S0, None],
        graph: Graph[S0, None],
        store: Store,
        *,
        clock: Clock | None = None,
        runner: Runner | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self, graph: Graph[S, D], store: Store, *, deps: D, clock: Clock | None = None, runner: Runner | None = None
    ) -> None: ...
    def __init__(
        self,
        graph: object,
        store: Store,
        *,
        deps: object = None,
        clock: Clock | None = None,
        runner: Runner | None = None,
    ) -> None:
        self._graph = cast("Graph[S, D]", graph)
        self._store = store
        self._deps = cast("D", deps)
        self._clock = clock or SystemClock()
        self._runner = runner
        self._program: Program[S] | None = None
        self._stack = ExitStack()
        self._active: set[Engine[S, D]] = set()

    async def __aenter__(self) -> Self:
        structure = self._graph.check()
        self._stack = ExitStack()
        nodes = self._runner or self._stack.enter_context(Threads())
        effects = self._runner or self._stack.enter_context(Threads())
        self._program = Program(structure, Outside(clock=self._clock, nodes=nodes, effects=effects))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._program = None
        active = tuple(self._active)
        for engine in active:
            engine.stop()
        if active:
            await asyncio.wait([asyncio.ensure_future(engine.ended.wait()) for engine in active], timeout=DRAIN_S)
        self._stack.close()

    async def run(self, thread: str, change: Update[S] | None = None) -> Run[S]:
        """Run a thread from the graph's start until it is done or has failed.

        A new thread begins with the state's defaults and `change` as its input; a finished one takes `change` as an
        update and begins again at the start. A task that fails is in the result, not raised. On disk on return.

        Raises `ThreadNotReady` if the thread is running or failed (naming `recover`, `take` or `retry`), `ClaimHeld`,
        `InputMissing` and `UpdateRefused` for the input, `GraphChanged`, `StateChanged`, `ClaimLost`, `StoreError`.
        """
        check_key_part("thread id", thread)
        self._open()
        try:
            new = self._new_thread(thread, change)
        except InputMissing:
            # The input may be an update for a thread that is there already.
            if not await self._exists(thread):
                raise
            return await self._run_again(thread, change)
        try:
            claimed = await self._claimed(lambda: self._store.create(new))
        except ThreadExists:
            return await self._run_again(thread, change)
        return await self._finish(claimed)

    async def recover(self) -> int:
        """Take over every thread of this graph that was running when its owner died, and run it on. How many there
        were.

        Effects replay from their evidence; what nobody can settle fails its task. Several processes may recover at
        once: each thread has one claim. Raises `ExceptionGroup` at the end, of what kept single threads from going
        on.
        """
        self._open()
        errors: list[Exception] = []
        count = 0
        after = ""
        while page := await self._store.runnable(self._graph.name, limit=THREADS_AT_ONCE, after=after):
            after = page[-1]
            for outcome in await asyncio.gather(*map(self._recover_one, page), return_exceptions=True):
                if isinstance(outcome, Exception):
                    errors.append(outcome)
                elif isinstance(outcome, BaseException):
                    raise outcome
                else:
                    count += outcome
        if errors:
            raise ExceptionGroup(f"recover: {len(errors)} threads of graph {self._graph.name} could not go on", errors)
        return count

    async def retry(self, thread: str) -> Run[S]:
        """Run the failed tasks of a thread again, and go on from there. On disk on return.

        Effects with an outcome replay. Raises as `run` does, and `ThreadUnknown`.
        """
        self._open()
        claimed = await self._claimed(lambda: self._store.claim(thread))
        if claimed.thread.status is not ThreadStatus.FAILED:
            await self._store.release(claimed.claim)
            raise _not_ready(claimed.thread, "be retried")
        return await self._finish(claimed, resumed=True)

    async def take(self, thread: str, reason: str) -> None:
        """Fence whoever runs the thread, alive, stopped or stuck; then `recover()` runs it on. On disk on return.

        The old run changes nothing from here on, in the store or at a target that keeps tokens. `reason` is kept for
        people. Raises `ThreadUnknown`.
        """
        self._open()
        await self._store.take(thread, reason, at_us=micros(self._clock.now()))

    async def state(self, thread: str) -> S:
        """The committed state of a thread. Raises `ThreadUnknown`, `StateChanged`."""
        graph = self._open().graph
        view = await self._store.read(thread)
        return restored(graph.state, view.pieces, thread=thread).state

    async def history(self, thread: str) -> tuple[HistoryEntry, ...]:
        """The committed tasks of a thread, oldest first, each with how its effects were settled. Raises
        `ThreadUnknown`.
        """
        self._open()
        return await self._store.history(thread)

    async def delete(self, thread: str) -> None:
        """Remove a thread and all that is stored of it. On disk on return.

        Raises `ThreadUnknown`, `ClaimHeld` while somebody runs it, `UnresolvedStands` while an effect of it is
        unresolved.
        """
        self._open()
        await self._store.delete(thread)

    async def _run_again(self, thread: str, change: Update[S] | None) -> Run[S]:
        claimed = await self._claimed(lambda: self._store.claim(thread))
        try:
            if claimed.thread.status is not ThreadStatus.DONE:
                raise _not_ready(claimed.thread, "begin a new run")
            _check_graph(self._open().graph, claimed.thread)
            run = self._next_run(claimed.thread, change)
        except BaseException:
            await self._store.release(claimed.claim)
            raise
        await self._store.start(claimed.claim, run)
        thread_now = attrs.evolve(claimed.thread, pieces=(*claimed.thread.pieces, *run.pieces), tasks=run.tasks)
        return await self._finish(attrs.evolve(claimed, thread=thread_now))

    async def _recover_one(self, thread: str) -> int:
        try:
            claimed = await self._claimed(lambda: self._store.claim(thread))
        except (ClaimHeld, ThreadUnknown):
            # Somebody else was first, or it was deleted since it was listed.
            return 0
        if claimed.thread.status is not ThreadStatus.RUNNING:
            await self._store.release(claimed.claim)
            return 0
        await self._finish(claimed, resumed=True)
        return 1

    async def _finish(self, claimed: Claimed, *, resumed: bool = False) -> Run[S]:
        try:
            program = self._open()
            _check_graph(program.graph, claimed.thread)
            engine = Engine(program.graph, self._store, claimed, self._deps, program.outside)
        except BaseException:
            await self._store.release(claimed.claim)
            raise
        self._active.add(engine)
        try:
            return await engine.run(resumed=resumed)
        finally:
            self._active.discard(engine)

    async def _claimed(self, claim: Callable[[], Receipt[Claimed]]) -> Claimed:
        """Wait for a claim; a caller that is cancelled meanwhile gives it back."""
        receipt = claim()
        try:
            return await receipt
        except asyncio.CancelledError:
            claimed = await receipt
            await self._store.release(claimed.claim)
            raise

    def _new_thread(self, thread: str, change: Update[S] | None) -> NewThread:
        graph = self._open().graph
        begun = graph.state.begin(change, by=f"input of thread {thread}")
        run = NewRun(
            step=0,
            pieces=begun.pieces,
            tasks=(first_task(graph.start, 1),),
            at_us=micros(self._clock.now()),
        )
        return NewThread(id=thread, graph=graph.stamp, run=run)

    def _next_run(self, thread: ThreadView, change: Update[S] | None) -> NewRun:
        graph = self._open().graph
        found = restored(graph.state, thread.pieces, thread=thread.id)
        merged = graph.state.merge(found.state, change, by=f"input of thread {thread.id}")
        step = thread.step + 1
        return NewRun(
            step=step,
            pieces=pieces_to_write(graph.state, found.fresh, merged),
            tasks=(first_task(graph.start, step + 1),),
            at_us=micros(self._clock.now()),
        )

    async def _exists(self, thread: str) -> bool:
        try:
            await self._store.read(thread)
        except ThreadUnknown:
            return False
        return True

    def _open(self) -> Program[S]:
        if self._program is None:
            raise RuntimeClosed(self._graph.name)
        return self._program


def _not_ready(thread: ThreadView, asked: str) -> ThreadNotReady:
    way_out = {
        ThreadStatus.RUNNING: "recover() goes on if its owner is gone, take(thread, reason) fences one that is stuck",
        ThreadStatus.FAILED: "retry(thread) runs its failed task again",
        ThreadStatus.DONE: "run(thread, change) begins a new run",
    }
    return ThreadNotReady(thread.id, thread.status.value, asked, way_out[thread.status])


def _check_graph(graph: Structure[S], thread: ThreadView) -> None:
    """Refuse a thread of another definition, unless its tasks still make sense in this one."""
    stored = thread.graph
    if stored.name != graph.name:
        raise GraphChanged(thread.id, graph.name, f"it belongs to graph {stored.name}")
    if stored.version != graph.version:
        why = f"it was begun by version {stored.version}, this is version {graph.version}"
        raise GraphChanged(thread.id, graph.name, why)
    for task in thread.tasks:
        if task.node not in graph.nodes:
            raise GraphChanged(thread.id, graph.name, f"its task {task.id} runs node {task.node}, which is not there")
