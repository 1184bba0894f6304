"""One run of one thread under one claim."""

from __future__ import annotations

import asyncio
import traceback
from collections import deque
from contextlib import suppress
from typing import Generic, TypeVar

import attrs

from effectgraph.effects import EffectGuard, EffectNotRecorded, EffectReplayRefused, EffectUnknown, Refusal
from effectgraph.effects.limits import DRAIN_S
from effectgraph.graph.attempt import run_node
from effectgraph.graph.errors import GraphChanged, RuntimeClosed
from effectgraph.graph.limits import FAILURE_CHARS, QUEUED_COMMITS
from effectgraph.graph.parts import End, Node
from effectgraph.graph.run import Run, Status, TaskFailure
from effectgraph.graph.session import TaskSession
from effectgraph.graph.state_type import Merged
from effectgraph.graph.stored_state import pieces_to_write, restored
from effectgraph.graph.stored_update import decode_update, encode_update
from effectgraph.graph.structure import Structure
from effectgraph.outside import Clock, Runner, micros
from effectgraph.stores.errors import StoreError
from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import Claimed, Closing, Commit, Failure, Piece, Task, TaskStatus

S = TypeVar("S")
D = TypeVar("D")


@attrs.frozen(kw_only=True)
class Outside:
    """What the program and the runtime hand to every run: the clock, threads for nodes, threads for effects.

    Two sets of threads, because a plain node that waits for a plain effect would otherwise hold the thread it needs.
    """

    clock: Clock
    nodes: Runner
    effects: Runner


class Engine(Generic[S, D]):
    """Runs the tasks of a claimed thread one after another, until none is left or one has failed.

    The state and the evidence are in memory; nothing is read back. Commits are queued; a run waits for them before an
    effect's intent is acknowledged, every `QUEUED_COMMITS` of them, and at its end, when the claim is released; over a
    store that syncs all, for each.
    """

    def __init__(self, graph: Structure[S], store: Store, claimed: Claimed, deps: D, outside: Outside) -> None:
        self._graph = graph
        self._states = graph.state
        self._store = store
        self._claim = claimed.claim
        self._deps = deps
        self._outside = outside
        self._guard = EffectGuard(store, claimed=claimed, clock=outside.clock, runner=outside.effects)
        found = restored(self._states, claimed.thread.pieces, thread=claimed.thread.id)
        self._state = found.state
        self._unwritten: tuple[Piece, ...] = found.fresh
        self._task: Task | None = next(iter(claimed.thread.tasks), None)
        self._queued: deque[Receipt[None]] = deque()
        self._stopping = False
        self.ended = asyncio.Event()

    def stop(self) -> None:
        """Let the run end before its next task, which stays open."""
        self._stopping = True

    async def run(self, *, resumed: bool = False) -> Run[S]:
        """Run until the thread is done or failed; give the claim back in any case. On disk on return.

        `resumed` says that the open task has been tried before, so that this is one more attempt at it. Raises
        `ClaimLost` if somebody took the thread, `StoreError` if the store fails, `RuntimeClosed` after `stop`.
        """
        try:
            return await self._run(resumed)
        finally:
            self.ended.set()

    async def _run(self, resumed: bool) -> Run[S]:
        try:
            if resumed and self._task is not None and self._task.status is not TaskStatus.COMMITTED:
                self._task = await self._store.attempt(self._claim, self._task.id)
            failure = await self._tasks()
        except BaseException:
            # What went wrong first is what the caller has to hear of.
            with suppress(StoreError):
                await self._let_go()
            raise
        await self._let_go()
        for receipt in self._queued:
            await receipt
        state = self._states.isolated(self._state)
        return Run(Status.DONE, state) if failure is None else Run(Status.FAILED, state, (failure,))

    async def _tasks(self) -> TaskFailure | None:
        while self._task is not None:
            if self._stopping:
                raise RuntimeClosed(self._graph.name)
            if self._task.status is TaskStatus.COMMITTED:
                failure = await self._close_step(self._task)
            else:
                failure = await self._attempts(self._task)
            if failure is not None:
                return failure
        return None

    async def _attempts(self, task: Task) -> TaskFailure | None:
        """Try a task until its node has returned an update, or its attempts are used up."""
        node = self._node(task)
        while True:
            try:
                merged = await self._attempt(node, task)
            except StoreError:
                raise
            except Exception as error:
                if _is_final(error) or task.attempts >= node.attempts:
                    return await self._fail(task, error)
            else:
                return await self._end_task(node, task, merged)
            task = await self._store.attempt(self._claim, task.id)

    async def _end_task(self, node: Node[S, None], task: Task, merged: Merged[S]) -> TaskFailure | None:
        """Commit a task with its step; a router that raises leaves it committed, so that only the router is asked
        again.
        """
        try:
            closing = self._closing(node, task.step, merged)
        except Exception as error:
            await self._commit(task, merged, update=encode_update(merged.pieces), closing=None)
            return await self._fail(task, error)
        await self._commit(task, merged, update=None, closing=closing)
        self._step_closed(merged.state, closing)
        return None

    async def _attempt(self, node: Node[S, None], task: Task) -> Merged[S]:
        session = TaskSession(thread=self._claim.thread, task=task.id, guard=self._guard, runner=self._outside.effects)
        state = self._states.isolated(self._state)
        try:
            update = await run_node(node, state, session, self._deps, self._outside.nodes)
        finally:
            await self._guard.drain()
        return self._states.merge(self._state, update, by=f"node {node.name}")

    async def _close_step(self, task: Task) -> TaskFailure | None:
        """Ask the router again for a step whose task has committed."""
        pieces = decode_update(task.update)
        state = restored(
            self._states, (*self._states.pieces(self._state, by="state"), *pieces), thread=self._claim.thread
        )
        merged = Merged(state.state, pieces)
        try:
            closing = self._closing(self._node(task), task.step, merged)
        except Exception as error:
            return await self._fail(task, error)
        await self._queue(self._store.close(self._claim, closing))
        self._step_closed(merged.state, closing)
        return None

    def _closing(self, node: Node[S, None], step: int, merged: Merged[S]) -> Closing:
        following = self._graph.next_after(node, merged.state)
        tasks = () if isinstance(following, End) else (first_task(following, step + 1),)
        pieces = pieces_to_write(self._states, self._unwritten, merged)
        return Closing(step=step, pieces=pieces, tasks=tasks, at_us=self._now_us())

    def _step_closed(self, state: S, closing: Closing) -> None:
        self._state = state
        self._unwritten = ()
        self._task = next(iter(closing.tasks), None)

    async def _commit(self, task: Task, merged: Merged[S], *, update: bytes | None, closing: Closing | None) -> None:
        commit = Commit(
            task=task.id,
            step=task.step,
            node=task.node,
            fields=tuple(piece.field for piece in merged.pieces),
            at_us=self._now_us(),
            update=update,
            closing=closing,
        )
        await self._queue(self._store.commit(self._claim, commit))
        self._guard.end_task(task.id)

    async def _queue(self, receipt: Receipt[None]) -> None:
        if self._store.syncs_all:
            await receipt
            return
        self._queued.append(receipt)
        if len(self._queued) > QUEUED_COMMITS:
            await self._queued.popleft()
            while self._queued and self._queued[0].done():
                await self._queued.popleft()

    async def _fail(self, task: Task, error: Exception) -> TaskFailure:
        failure = Failure(
            error=f"{type(error).__module__}.{type(error).__qualname__}",
            text=_text(error)[:FAILURE_CHARS],
            traceback="".join(traceback.format_exception(error))[-FAILURE_CHARS:],
            at_us=self._now_us(),
        )
        await self._store.fail(self._claim, task.id, failure)
        return task_failure(self._claim.thread, attrs.evolve(task, failure=failure), failure)

    async def _let_go(self) -> None:
        await self._guard.drain(DRAIN_S)
        try:
            await self._store.release(self._claim)
        finally:
            await self._guard.end_claim()
        await self._guard.forget_due()

    def _node(self, task: Task) -> Node[S, None]:
        node = self._graph.nodes.get(task.node)
        if node is None:
            why = f"its task {task.id} runs node {task.node}, which is not there"
            raise GraphChanged(self._claim.thread, self._graph.name, why)
        return node

    def _now_us(self) -> int:
        return micros(self._outside.clock.now())


def first_task(node: Node[S, None], step: int) -> Task:
    """The task that runs a node in a step. Its id is derived, never random."""
    return Task(id=f"{step}.{node.name}", step=step, node=node.name)


def task_failure(thread: str, task: Task, failure: Failure) -> TaskFailure:
    """A stored failure, as callers see it."""
    return TaskFailure(
        thread=thread,
        task=task.id,
        node=task.node,
        error=failure.error,
        text=failure.text,
        traceback=failure.traceback,
    )


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception as broken:
        return f"<its text cannot be made: {type(broken).__name__}>"


def _is_final(error: Exception) -> bool:
    if isinstance(error, EffectReplayRefused):
        return error.code in (Refusal.MISMATCH, Refusal.STALE_TOKEN)
    return isinstance(error, (EffectUnknown, EffectNotRecorded))
