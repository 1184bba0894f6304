"""The store in one SQLite file: many processes on one host, one writer thread and one reader thread in each."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import weakref
from collections.abc import Callable, MutableMapping
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, TypeVar

from effectgraph.stores.errors import StoreClosed, StoreReadOnly, StoreUnusable, ThreadUnknown
from effectgraph.stores.keys import EffectKey, check_key_part
from effectgraph.stores.limits import BUSY_S, LISTED
from effectgraph.stores.owners import Owner
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import (
    OUTSIDE,
    Answer,
    Asked,
    Begun,
    Claim,
    Claimed,
    Closing,
    Commit,
    Decided,
    Decision,
    Evidence,
    Failure,
    Fork,
    HistoryEntry,
    Intent,
    NewRun,
    NewThread,
    Outcome,
    OwnerId,
    Piece,
    Question,
    QuestionId,
    Remark,
    Sync,
    Task,
    ThreadView,
)
from effectgraph.stores.sqlite import (
    checks,
    claims,
    decisions,
    effects,
    forks,
    questions,
    reads,
    registry,
    remarks,
    tasks,
    threads,
)
from effectgraph.stores.sqlite.connect import open_for_reading, read_namespace
from effectgraph.stores.sqlite.endings import ending, forget
from effectgraph.stores.sqlite.inherited import Use
from effectgraph.stores.sqlite.opening import MEMORY, accepted, open_to_write
from effectgraph.stores.sqlite.paths import path_text, store_file
from effectgraph.stores.sqlite.read_only import ReadOnlyFile
from effectgraph.stores.sqlite.reader import KeptConnection, Reader
from effectgraph.stores.sqlite.receipts import Desk, QueuedReceipt
from effectgraph.stores.sqlite.turns import Turns
from effectgraph.stores.sqlite.writer import Counts, Writer
from effectgraph.stores.sqlite.writes import Write

T = TypeVar("T")


class SqliteStore:
    """A `Store` in one SQLite file (made if absent, private to the user), or in memory for one process.

    `path` is a file, or ":memory:", where nothing is durable. `namespace` names the store in all keys that leave it;
    it is made up if the store is new and none is given. `sync="all"` syncs every write before it is acknowledged.
    `busy_s` is how long another process may hold the write lock before `StoreBusy`.

    With `read_only` it is looked at: nothing is made, locked or written, and no permission to write is needed, also
    while others write. It has no claims: `owner` is nobody's, and every write raises `StoreReadOnly` at the call.

    Raises `StoreUnusable`, `StoreBusy`; `ValueError` for a namespace that cannot be part of a key. Readings see what
    has been written, not what still waits: await a write's receipt before you read what it wrote.

    Close it: a store that is forgotten instead is closed when Python frees it, with a `ResourceWarning`; until then, or
    until the process ends, its claims are held. A process that is forked while the store is open can neither use it nor
    open its file again; one that is started without a fork can.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        namespace: str | None = None,
        sync: Literal["commit", "all"] = "commit",
        busy_s: float = BUSY_S,
        read_only: bool = False,
    ) -> None:
        if namespace is not None:
            check_key_part("namespace", namespace)
        given = path_text(path)
        file = None if given == MEMORY else store_file(given)
        self._desk = Desk(MEMORY if file is None else str(file))
        self._sync_all = sync == "all"
        self._at_work: dict[tuple[EffectKey, int], object] = {}
        self._unwritten: dict[tuple[EffectKey, int], object] = {}
        self._closed = False
        self._read_only = read_only
        self._use = None if file is None else Use.begin(self._desk.store)
        self._writer = Writer(self._desk)
        self._reader = None if file is None else Reader(self._desk)
        self._forgotten = weakref.finalize(self, forget, self._desk, self._reader, self._writer)
        # A program that ends without closing ends as if it were killed.
        self._forgotten.atexit = False
        try:
            if read_only:
                self._look_at(file, namespace, busy_s)
            else:
                self._open(file, namespace, busy_s)
        except BaseException:
            with contextlib.suppress(StoreUnusable):
                self._shut()
            raise

    @property
    def path(self) -> str:
        """Where the store is: its file without links, or ":memory:"."""
        return self._desk.store

    @property
    def namespace(self) -> str:
        """The name of this store in all keys that leave it."""
        return self._namespace

    @property
    def owner(self) -> OwnerId:
        """This open store of this process, as claims and intents name it."""
        return self._owner.id

    @property
    def syncs_all(self) -> bool:
        """Whether it was opened with `sync="all"`: every write is synced before it is acknowledged."""
        return self._sync_all

    @property
    def at_work(self) -> MutableMapping[tuple[EffectKey, int], object]:
        """The effects (key, token) that this owner is running now; the guard's."""
        return self._at_work

    @property
    def unwritten(self) -> MutableMapping[tuple[EffectKey, int], object]:
        """What this owner knows of effects (key, incarnation) and failed to write down; the guard's."""
        return self._unwritten

    @property
    def counts(self) -> Counts:
        """What this open store has written so far: transactions, synced transactions, writes."""
        return self._writer.counts

    def create(self, thread: NewThread, /) -> Receipt[Claimed]:
        """Make a thread with its first run and claim it. Synced. Raises `ThreadExists`; `ValueError` for its id."""
        check_key_part("thread id", thread.id)
        return self._claiming(lambda connection: threads.create(connection, thread, self._owner.id))

    def claim(self, thread: str, /) -> Receipt[Claimed]:
        """Claim a thread that nobody runs. Synced. Raises `ThreadUnknown`, `ClaimHeld`."""

        def run(connection: sqlite3.Connection) -> Claim:
            found = self._find(connection, thread)
            claims.check_free(thread, found, self._owner.runs_on)
            return claims.hand_to(connection, thread, found, self._owner.id)

        return self._claiming(run)

    def take(self, thread: str, reason: str, *, at_us: int) -> Receipt[int]:
        """Fence whoever runs the thread by a new token, which nobody holds. Synced. Raises `ThreadUnknown`."""
        return self._write(
            lambda connection: claims.take(connection, self._find(connection, thread), reason, at_us), Sync.NOW
        )

    def renew(self, claim: Claim, /) -> Receipt[None]:
        """Look whether the claim is the current one; an owner's life needs no renewing here. Raises `ClaimLost`."""

        def run(connection: sqlite3.Connection) -> None:
            claims.current(connection, claim)

        return self._write(run, Sync.LATER, claim=claim)

    def release(self, claim: Claim, /) -> Receipt[None]:
        """Give a claim back. Synced, with all before it; tried even if an earlier write of the claim failed."""

        def over(made: bool) -> None:
            # One that was made up, or changed, ends nobody's run.
            if self._owner.runs.get(claim.token) != claim:
                return
            del self._owner.runs[claim.token]
            if not made:
                self._owner.unreleased.add(claim.thread)

        return self._write(
            lambda connection: claims.release(connection, claim), Sync.NOW, claim=claim, ends_lane=True, at_end=over
        )

    def start(self, claim: Claim, run: NewRun, /) -> Receipt[None]:
        """Begin another run of a thread that is done. Raises `ClaimLost`; `ValueError` if not, or for an old step."""
        return self._write(lambda connection: threads.start(connection, claim, run), Sync.LATER, claim=claim)

    def attempt(self, claim: Claim, task: str, /) -> Receipt[Task]:
        """Count one more attempt of a task, and open it if it failed. Synced. Raises `ClaimLost`, `TaskClosed`."""
        return self._write(lambda connection: tasks.attempt(connection, claim, task), Sync.NOW, claim=claim)

    def commit(self, claim: Claim, commit: Commit, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        """End a task, and its step with `closing`. Raises `ClaimLost`, `TaskClosed`; `ValueError` for an old step."""
        return self._write(lambda connection: threads.commit(connection, claim, commit), sync, claim=claim)

    def close(self, claim: Claim, closing: Closing, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        """End a step whose tasks have all committed. Raises `ClaimLost`, `TaskClosed`; `ValueError` for an old step."""
        return self._write(lambda connection: threads.close(connection, claim, closing), sync, claim=claim)

    def fail(self, claim: Claim, task: str, failure: Failure, /) -> Receipt[None]:
        """Record why a task failed; its evidence stays. Raises `ClaimLost`, `TaskClosed`."""
        return self._write(lambda connection: tasks.fail(connection, claim, task, failure), Sync.LATER, claim=claim)

    def ask(self, claim: Claim, task: str, asked: tuple[Question, ...], /) -> Receipt[tuple[Asked, ...]]:
        """Write down what an open task waits for. Synced. Raises `ClaimLost`, `TaskClosed`, `QuestionClosed`;
        `ValueError` for no question, or for its id.
        """
        return self._write(lambda connection: questions.ask(connection, claim, task, asked), Sync.NOW, claim=claim)

    def answer(self, question: QuestionId, answer: Answer, /) -> Receipt[Asked]:
        """Answer a question; the first answer stands. Synced. Raises `QuestionUnknown`, `QuestionClosed`."""
        return self._write(
            lambda connection: questions.answer(connection, self._desk.store, question, answer), Sync.NOW
        )

    def begin(self, claim: Claim, key: EffectKey, intent: Intent, *, seen: int | None) -> Receipt[Begun]:
        """Write an intent if the evidence is at version `seen` (None: there is none). Synced.

        Raises `ClaimLost`, `TaskClosed`; `EvidenceChanged` if `seen` names a version and there is no evidence.
        """
        return self._write(
            lambda connection: effects.begin(connection, claim, key, intent, seen), Sync.NOW, claim=claim
        )

    def settle(self, claim: Claim, key: EffectKey, outcome: Outcome, *, seen: int, sync: Sync) -> Receipt[Outcome]:
        """Record an outcome; the first one wins. Raises `ClaimLost`, `TaskClosed`, `EvidenceChanged`."""
        return self._write(lambda connection: effects.settle(connection, claim, key, outcome, seen), sync, claim=claim)

    def withdraw(self, claim: Claim, key: EffectKey, *, seen: int) -> Receipt[None]:
        """Remove an intent whose effect did not happen. Synced. Raises as `settle` does."""
        return self._write(lambda connection: effects.withdraw(connection, claim, key, seen), Sync.NOW, claim=claim)

    def trouble(self, claim: Claim, key: EffectKey, text: str, *, seen: int) -> Receipt[None]:
        """Note that an attempt ended without knowing. Raises as `settle` does."""
        return self._write(
            lambda connection: effects.trouble(connection, claim, key, text, seen), Sync.LATER, claim=claim
        )

    def uncertain(self, claim: Claim, key: EffectKey, *, seen: int) -> Receipt[None]:
        """Note that the recipient knows nothing of an effect. Synced. Raises as `settle` does."""
        return self._write(lambda connection: effects.uncertain(connection, claim, key, seen), Sync.NOW, claim=claim)

    def remark(self, remark: Remark, /) -> Receipt[None]:
        """Keep what came too late to be evidence."""
        return self._write(lambda connection: remarks.add(connection, remark), Sync.LATER)

    def remarks(self, key: EffectKey, incarnation: int, /) -> Receipt[tuple[Remark, ...]]:
        """What came too late of one effect, in the order of coming."""
        return self._read(lambda connection: remarks.of_effect(connection, key, incarnation))

    def decide(self, decision: Decision, /) -> Receipt[Evidence]:
        """Rule on an effect without outcome. Synced. Raises `EvidenceChanged`, `EffectAtWork`, `DecisionConflict`,
        `DecisionRefused`; `ValueError` for its id.
        """
        return self._write(lambda connection: decisions.decide(connection, decision, self._owner.alive), Sync.NOW)

    def decisions(self, *, limit: int = LISTED, after: int = 0) -> Receipt[tuple[Decided, ...]]:
        """Decisions of greater number than `after`, in the order in which they were made."""
        _check_limit(limit)
        return self._read(lambda connection: decisions.listed(connection, limit, after))

    def drop(self, claim: Claim, key: EffectKey, /) -> Receipt[None]:
        """Remove settled evidence outside a runtime. Synced. Raises `UnresolvedStands`; `ValueError` under a claim."""
        if claim.token != OUTSIDE:
            raise ValueError(f"effect {key}: a thread's evidence goes with the commit of its task; it is not dropped")
        return self._write(lambda connection: effects.drop(connection, claim, key), Sync.NOW)

    def evidence(self, key: EffectKey, incarnation: int, /) -> Receipt[Evidence | None]:
        """What is known of one effect."""
        return self._read(lambda connection: effects.find(connection, key, incarnation))

    def read(self, thread: str, /) -> Receipt[ThreadView]:
        """A thread as it stands. Raises `ThreadUnknown`."""
        return self._read(lambda connection: reads.thread(connection, self._desk.store, thread))

    def state(self, thread: str, step: int, /) -> Receipt[tuple[Piece, ...]]:
        """The pieces of a thread's state after a step. Raises `ThreadUnknown`, `StepUnknown`."""
        return self._read(lambda connection: forks.pieces(connection, self._desk.store, thread, step))

    def history(self, thread: str, /) -> Receipt[tuple[HistoryEntry, ...]]:
        """The committed tasks of a thread, oldest first. Raises `ThreadUnknown`."""
        return self._read(lambda connection: reads.history(connection, self._desk.store, thread))

    def runnable(self, graph: str, /, *, limit: int = LISTED, after: str = "") -> Receipt[tuple[str, ...]]:
        """At most `limit` ids, in order and greater than `after`, of a graph's running threads that nobody runs."""
        _check_limit(limit)
        return self._read(lambda connection: reads.runnable(connection, self._owner, graph, limit, after))

    def unresolved(self, *, limit: int = LISTED, after: EffectKey | None = None) -> Receipt[tuple[Evidence, ...]]:
        """Intents without outcome that nobody is at work on, in the order of keys, beginning behind `after`.

        At most `limit` keys; a key that two incarnations of its scope have comes with both.
        """
        _check_limit(limit)
        return self._read(lambda connection: reads.unresolved(connection, self._owner, limit, after))

    def pending(self, *, limit: int = LISTED, after: QuestionId | None = None) -> Receipt[tuple[Asked, ...]]:
        """At most `limit` questions without an answer, in the order of their ids, beginning behind `after`."""
        _check_limit(limit)
        return self._read(lambda connection: questions.pending(connection, limit, after))

    def due(self, until_us: int, /, *, limit: int = LISTED) -> Receipt[tuple[Asked, ...]]:
        """At most `limit` pending questions that expire at `until_us` or before, the earliest first."""
        _check_limit(limit)
        return self._read(lambda connection: questions.due(connection, until_us, limit))

    def alive(self, owner: OwnerId, /) -> Receipt[bool]:
        """Whether an owner's process still holds its store open."""
        return self._read(lambda _: self._owner.alive(owner))

    def fork(self, fork: Fork, /) -> Receipt[None]:
        """Make a thread of another one's state after a step. Synced. Raises `ThreadUnknown`, `ThreadExists`,
        `StepUnknown`; `ValueError` for its id.
        """
        return self._write(lambda connection: forks.fork(connection, self._desk.store, fork), Sync.NOW)

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        """Forget what only states before step `before` need. Synced. Raises `ThreadUnknown`, `StepUnknown`,
        `UnresolvedStands`.
        """

        def run(connection: sqlite3.Connection) -> None:
            forks.prune(connection, self._desk.store, thread, before, drop_unresolved=drop_unresolved)

        return self._write(run, Sync.NOW)

    def delete(self, thread: str, /, *, drop_unresolved: bool = False) -> Receipt[None]:
        """Remove a thread with everything of it. Synced. Raises `ThreadUnknown`, `ClaimHeld`, `UnresolvedStands`."""

        def run(connection: sqlite3.Connection) -> None:
            found = self._find(connection, thread)
            claims.check_free(thread, found, self._owner.runs_on)
            threads.delete(connection, thread, found, drop_unresolved=drop_unresolved)

        return self._write(run, Sync.NOW)

    def check(self) -> Receipt[tuple[str, ...]]:
        """What does not fit together in the file, in plain words; nothing if all is well. Reads everything."""
        return self._read(checks.findings)

    def flush(self) -> Receipt[None]:
        """Wait until everything written before is on disk. Costs nothing if it is."""
        if self._read_only:
            return self._read(lambda _: None)
        return self._write(self._writer.sync_if_needed, Sync.NOW)

    async def aclose(self) -> None:
        """Write what waits, sync it, let go of the owner's lock. A second call does nothing.

        Raises `StoreUnusable` if what was acknowledged could not be synced. The store is closed all the same.
        """
        await asyncio.get_running_loop().run_in_executor(None, self._shut)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shut()

    def _open(self, file: Path | None, namespace: str | None, busy_s: float) -> None:
        opened = open_to_write(file, namespace, busy_s)
        self._namespace, self._owner, files = opened.namespace, opened.owner, opened.files
        turns = Turns(opened.owner.folder, busy_s)
        self._writer.start(opened.connection, files, turns, ending(self._reader, opened.owner, self._use))
        del opened
        if file is not None and self._reader is not None:
            self._reader.start(KeptConnection(open_for_reading(file, busy_s), files))
        self._write(self._register, Sync.LATER).wait()

    def _look_at(self, file: Path | None, namespace: str | None, busy_s: float) -> None:
        if file is None or self._reader is None:
            raise StoreUnusable(MEMORY, "a store in memory is new, so there is nothing to read", "give a file's path")
        self._reader.start(ReadOnlyFile(file, busy_s))
        self._owner = Owner.nobody(file)
        self._namespace = accepted(self._desk.store, self._read(read_namespace).wait(), namespace)

    def _shut(self) -> None:
        self._desk.check_process()
        self._closed = True
        self._forgotten.detach()
        if self._reader is not None:
            self._reader.stop()
            self._reader.join()
        self._writer.stop()
        self._writer.join()
        if self._use is not None:
            self._use.end()
        self._writer.check_synced()

    def _register(self, connection: sqlite3.Connection) -> None:
        registry.register(connection, self._owner)

    def _find(self, connection: sqlite3.Connection, thread: str) -> claims.Found:
        found = claims.find(connection, thread)
        if found is None:
            raise ThreadUnknown(thread, self._desk.store)
        return found

    def _claiming(self, make: Callable[[sqlite3.Connection], Claim]) -> Receipt[Claimed]:
        def run(connection: sqlite3.Connection) -> Claimed:
            claim = make(connection)
            view = reads.thread(connection, self._desk.store, claim.thread)
            evidence = effects.of_thread(connection, claim.thread, claim.incarnation)
            # Now, because a second claim of the thread can be in the same group. Should the group be lost, the token is
            # given again, and until then no thread has it.
            self._owner.runs[claim.token] = claim
            return Claimed(claim=claim, thread=view, evidence=evidence)

        return self._write(run, Sync.NOW)

    def _write(
        self,
        run: Callable[[sqlite3.Connection], T],
        sync: Sync,
        *,
        claim: Claim | None = None,
        ends_lane: bool = False,
        at_end: Callable[[bool], None] | None = None,
    ) -> Write[T]:
        self._check_open()
        if self._read_only:
            raise StoreReadOnly(self._desk.store)
        write = Write(
            self._desk,
            run,
            Sync.NOW if self._sync_all else sync,
            claim=claim if claim is not None and claim.token != OUTSIDE else None,
            ends_lane=ends_lane,
            at_end=at_end,
        )
        self._writer.submit(write)
        return write

    def _read(self, run: Callable[[sqlite3.Connection], T]) -> QueuedReceipt[T]:
        if self._reader is None:
            return self._write(run, Sync.LATER)
        self._check_open()
        reading = QueuedReceipt(self._desk, run)
        self._reader.submit(reading)
        return reading

    def _check_open(self) -> None:
        self._desk.check_process()
        if self._closed:
            raise StoreClosed(self._desk.store, "it was closed")


def _check_limit(limit: object) -> None:
    if type(limit) is not int or limit < 1:
        raise ValueError(f"limit: {limit!r}; at least 1 row can be asked for")
