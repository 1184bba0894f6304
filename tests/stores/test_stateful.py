"""A store that three processes use, kill each other over and reopen, beside a model of what it promises."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TypeVar

import attrs
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from effectgraph.stores import EffectKey, Receipt
from effectgraph.stores.records import (
    OUTSIDE,
    Answer,
    Claim,
    Claimed,
    Closing,
    Commit,
    Decision,
    Evidence,
    Failure,
    Fork,
    GraphStamp,
    How,
    Intent,
    Kind,
    NewRun,
    NewThread,
    Outcome,
    OwnerId,
    Piece,
    Question,
    QuestionId,
    Remark,
    Ruling,
    Sync,
    Task,
)
from model_data import ModelData
from model_store import ModelStore
from store_remote import RemoteProcess
from store_remote_child import Came, Order

T = TypeVar("T")

THREADS = ("a", "b")
GRAPH = GraphStamp(name="shop", version=1, fingerprint="f")
EXAMPLES_IN_CI = 8
STEPS_IN_CI = 120
PROCESSES = 3

CHANGES = ("settle", "settle later", "withdraw", "trouble", "trouble", "uncertain", "drop")

TROUBLES = ("killed", "killed while writing", "stopped", "none", "none", "none", "none", "none")
"""A process takes long to come back, so it is seldom killed."""

small = st.integers(0, 3)


@attrs.define
class Opened:
    """One open store of a process, and the model's owner for it."""

    process: RemoteProcess
    place: int
    model: ModelStore


class StoreMachine(RuleBasedStateMachine):
    """Every operation, with arguments that are right and such as are not, on the store and on the model."""

    processes: list[RemoteProcess]

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._path = Path(self._folder.name, "store.db")
        self._data = ModelData()
        self._opened: list[Opened] = []
        self._claims: list[Claim] = []
        self._count = 0
        for process in self.processes:
            self._open(process, 0)

    def teardown(self) -> None:
        try:
            self._compare_all()
            assert self._on(self._opened[0], "check") == ()
            with closing(sqlite3.connect(self._path)) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        finally:
            for process in self.processes:
                process.tell(Order(0, "close all"))
            self._folder.cleanup()

    def _open(self, process: RemoteProcess, place: int) -> None:
        self._opened.append(Opened(process, place, ModelStore(self._data, owner=process.open(self._path))))

    def _on(self, opened: Opened, operation: str, *arguments: object, **named: object) -> object:
        """Do the same to store and model; what came of it, which must be the same."""
        (came,) = opened.process.tell(Order(opened.place, operation, arguments, named))
        expected = outcome_of(lambda: getattr(opened.model, operation)(*arguments, **named))
        assert said(came) == said(expected), (operation, arguments, named)
        if isinstance(came.result, Claimed):
            self._claims.append(came.result.claim)
        return came.result

    def _pick(self, number: int) -> Opened:
        return self._opened[number % len(self._opened)]

    def _claim(self, number: int) -> Claim:
        """A claim that was given once, more often one of the last."""
        return self._claims[-1 - number % min(len(self._claims), 5)]

    def _step(self, claim: Claim, off: int) -> int:
        """The step that comes next in a thread, or one that does not."""
        thread = self._data.rows.threads.get(claim.thread)
        return (0 if thread is None else thread.step) + 1 - (1 if off == 3 else 0)

    def _tasks(self, step: int, count: int) -> tuple[Task, ...]:
        return tuple(Task(id=f"{step}.{node}", step=step, node=node) for node in "xy"[: count % 3])

    def _task(self, claim: Claim, number: int) -> str:
        thread = self._data.rows.threads.get(claim.thread)
        tasks = ["9.none"] if thread is None or not thread.tasks else [task.id for task in thread.tasks]
        return tasks[number % len(tasks)]

    def _pieces(self, number: int) -> tuple[Piece, ...]:
        self._count += 1
        value = str(self._count).encode()
        whole = Piece(field="total", value=value, schema="int")
        part = Piece(field="lines", value=value, schema="list", appended=True)
        return ((), (whole,), (part,), (whole, attrs.evolve(part, appended=False)))[number]

    @rule(on=small, name=st.sampled_from(THREADS), pieces=small, tasks=small)
    def create(self, on: int, name: str, pieces: int, tasks: int) -> None:
        run = NewRun(step=0, pieces=self._pieces(pieces), tasks=self._tasks(1, tasks + 1), at_us=1)
        self._on(self._pick(on), "create", NewThread(id=name, graph=GRAPH, run=run))

    @rule(on=small, name=st.sampled_from(THREADS))
    def claim(self, on: int, name: str) -> None:
        self._on(self._pick(on), "claim", name)

    @rule(on=small, name=st.sampled_from(THREADS))
    def take(self, on: int, name: str) -> None:
        self._on(self._pick(on), "take", name, "stuck", at_us=2)

    @precondition(lambda self: self._claims)
    @rule(on=small, claim=small, what=st.sampled_from(["release", "renew"]))
    def hold(self, on: int, claim: int, what: str) -> None:
        self._on(self._pick(on), what, self._claim(claim))

    @precondition(lambda self: self._claims)
    @rule(on=small, claim=small, off=small, tasks=small)
    def start(self, on: int, claim: int, off: int, tasks: int) -> None:
        given = self._claim(claim)
        step = self._step(given, off)
        run = NewRun(step=step, pieces=self._pieces(1), tasks=self._tasks(step + 1, tasks), at_us=3)
        self._on(self._pick(on), "start", given, run)

    @precondition(lambda self: self._claims)
    @rule(on=small, claim=small, task=small, off=small, pieces=small, tasks=small, closes=st.booleans())
    def commit(self, on: int, claim: int, task: int, off: int, pieces: int, tasks: int, closes: bool) -> None:
        self._on(self._pick(on), "commit", self._claim(claim), self._commit(claim, task, off, pieces, tasks, closes))

    def _commit(self, claim: int, task: int, off: int, pieces: int, tasks: int, closes: bool) -> Commit:
        given = self._claim(claim)
        step, name = self._step(given, off), self._task(given, task)
        closing = Closing(step=step, pieces=self._pieces(pieces), tasks=self._tasks(step + 1, tasks), at_us=4)
        return Commit(
            task=name,
            step=int(name.partition(".")[0]),
            node=name.partition(".")[2],
            fields=("total",),
            at_us=4,
            update=None if closes else b"{}",
            closing=closing if closes else None,
        )

    @precondition(lambda self: self._claims)
    @rule(on=small, claim=small, off=small, pieces=small, tasks=small)
    def close(self, on: int, claim: int, off: int, pieces: int, tasks: int) -> None:
        given = self._claim(claim)
        step = self._step(given, off)
        closing = Closing(step=step, pieces=self._pieces(pieces), tasks=self._tasks(step + 1, tasks), at_us=5)
        self._on(self._pick(on), "close", given, closing)

    @precondition(lambda self: self._claims)
    @rule(on=small, claim=small, task=small, fails=st.booleans())
    def attempt_or_fail(self, on: int, claim: int, task: int, fails: bool) -> None:
        given = self._claim(claim)
        name = self._task(given, task)
        if fails:
            failure = Failure(error="E", text="text", traceback="trace", at_us=6)
            self._on(self._pick(on), "fail", given, name, failure)
        else:
            self._on(self._pick(on), "attempt", given, name)

    @precondition(lambda self: self._claims)
    @rule(on=small, claim=small, task=small, expires=small, same=st.booleans())
    def ask(self, on: int, claim: int, task: int, expires: int, same: bool) -> None:
        given = self._claim(claim)
        self._count += not same
        asked = Question(
            id=QuestionId(f"q{self._count}"),
            content=b"?",
            schema="s",
            at_us=7,
            expires_us=expires or None,
            default=b"d",
        )
        self._on(self._pick(on), "ask", given, self._task(given, task), (asked,))

    @rule(on=small, back=st.integers(0, 5))
    def answer(self, on: int, back: int) -> None:
        asked = [each for thread in self._data.rows.threads.values() for each in thread.questions]
        name = asked[-1 - back % len(asked)].question.id if asked and back else QuestionId("q-none")
        answer = Answer(value=b"true", schema="bool", by=f"ann {back}", at_us=8)
        self._on(self._pick(on), "answer", name, answer)

    def _effect(self, claim: int, task: int, call: int) -> tuple[Claim, EffectKey, Evidence | None]:
        """An effect of a claim's task, or one outside a runtime, as the model has it, and a claim for it."""
        there = [each for each in self._data.rows.effects.values() if each.outcome is None]
        if call == 2 and there:
            found = there[task % len(there)]
            claims = [each for each in self._claims if each.thread == found.key.scope]
            if claims:
                given = claims[-1 - claim % len(claims)]
                return given, found.key, self._data.rows.effects.get((found.key, given.incarnation))
        if call == 3 or not self._claims:
            owner = self._pick(claim).model.owner
            given = Claim(thread="script", incarnation=0, token=OUTSIDE, owner=owner)
            key = EffectKey("script", "task", f"call {task}")
        else:
            given = self._claim(claim)
            key = EffectKey(given.thread, self._task(given, task), f"call {call}")
        return given, key, self._data.rows.effects.get((key, given.incarnation))

    @rule(on=small, claim=small, task=small, call=small, off=small)
    def begin(self, on: int, claim: int, task: int, call: int, off: int) -> None:
        given, key, found = self._effect(claim, task, call)
        seen = None if found is None else found.version
        if off == 3:
            seen = 1 if seen is None else None
        self._count += 1
        intent = Intent(
            kind=Kind.UNCHECKED, tool="t", fingerprint=f"f{self._count}", request=b"{}", schema="s", at_us=9
        )
        self._on(self._pick(on), "begin", given, key, intent, seen=seen)

    @rule(
        on=small,
        claim=small,
        task=small,
        call=small,
        off=small,
        what=st.sampled_from(CHANGES),
    )
    def change(self, on: int, claim: int, task: int, call: int, off: int, what: str) -> None:
        given, key, found = self._effect(claim, task, call)
        seen = (1 if found is None else found.version) - (1 if off == 3 else 0)
        opened = self._pick(on)
        if what.startswith("settle"):
            sync = Sync.LATER if what.endswith("later") else Sync.NOW
            self._on(opened, "settle", given, key, self._outcome(), seen=seen, sync=sync)
        elif what == "trouble":
            self._on(opened, "trouble", given, key, "timed out", seen=seen)
        elif what == "drop":
            self._on(opened, "drop", given, key)
        else:
            self._on(opened, what, given, key, seen=seen)

    def _outcome(self) -> Outcome:
        self._count += 1
        return Outcome(value=str(self._count).encode(), schema="s", how=How.RUN, at_us=10)

    @rule(on=small, which=st.integers(0, 7), off=small, ruling=st.sampled_from(Ruling), again=st.booleans())
    def decide(self, on: int, which: int, off: int, ruling: Ruling, again: bool) -> None:
        effects = list(self._data.rows.effects.values())
        if not effects:
            return
        found = effects[which % len(effects)]
        made = self._data.rows.decisions
        if again and made:
            repeated = made[which % len(made)][0].decision
            self._on(self._pick(on), "decide", attrs.evolve(repeated, by="bob") if off == 3 else repeated)
            return
        self._count += 1
        decision = Decision(
            id=f"d{self._count}",
            key=found.key,
            incarnation=found.incarnation,
            seen=found.version - (1 if off == 3 else 0),
            ruling=ruling,
            by="ann",
            reason="seen",
            at_us=11,
            outcome=self._outcome() if (ruling is Ruling.COMPLETE) != (off == 2) else None,
        )
        self._on(self._pick(on), "decide", decision)

    @rule(on=small, which=st.integers(0, 7))
    def remark(self, on: int, which: int) -> None:
        effects = list(self._data.rows.effects.values())
        if effects:
            found = effects[which % len(effects)]
            late = Remark(
                key=found.key,
                incarnation=found.incarnation,
                owner=found.owner,
                token=found.token,
                attempt=found.attempt,
                outcome=self._outcome(),
                text="late",
                at_us=12,
            )
            self._on(self._pick(on), "remark", late)

    @rule(on=small, source=st.sampled_from(THREADS), to=st.sampled_from([*THREADS, "c"]), back=small, tasks=small)
    def fork(self, on: int, source: str, to: str, back: int, tasks: int) -> None:
        thread = self._data.rows.threads.get(source)
        incarnation, step = (1, 0) if thread is None else (thread.incarnation, thread.step - back)
        fork = Fork(source=source, incarnation=incarnation, step=step, id=to, tasks=self._tasks(step + 1, tasks))
        self._on(self._pick(on), "fork", fork)

    @rule(on=small, name=st.sampled_from(THREADS), back=small, drop=st.booleans())
    def prune(self, on: int, name: str, back: int, drop: bool) -> None:
        thread = self._data.rows.threads.get(name)
        before = 0 if thread is None else thread.step - back
        self._on(self._pick(on), "prune", name, before=before, drop_unresolved=drop)

    @rule(on=small, name=st.sampled_from([*THREADS, "c"]), drop=st.booleans())
    def delete(self, on: int, name: str, drop: bool) -> None:
        self._on(self._pick(on), "delete", name, drop_unresolved=drop)

    @rule(on=small, limit=st.integers(1, 4), back=small)
    def list_pages(self, on: int, limit: int, back: int) -> None:
        opened = self._pick(on)
        after: EffectKey | None = None
        listed = self._on(opened, "unresolved", limit=limit)
        if isinstance(listed, tuple) and listed and isinstance(listed[-1], Evidence):
            after = listed[-1].key
        self._on(opened, "unresolved", limit=limit, after=after)
        self._on(opened, "runnable", "shop", limit=limit, after=THREADS[back % 2])
        self._on(opened, "pending", limit=limit, after=QuestionId("q2"))
        self._on(opened, "due", back, limit=limit)
        self._on(opened, "decisions", limit=limit, after=back)

    def _end(self, process: RemoteProcess) -> None:
        """Kill a process; another takes its place."""
        process.kill()
        for opened in [each for each in self._opened if each.process is process]:
            opened.model.kill()
            self._opened.remove(opened)
        self._open(process, 0)

    @precondition(lambda self: self._claims)
    @rule(how=st.sampled_from(TROUBLES), claim=small, on=small, count=small)
    def trouble_with_a_process(self, how: str, claim: int, on: int, count: int) -> None:
        if how == "killed":
            self._end(self.processes[on % PROCESSES])
        elif how == "stopped":
            self._take_from_a_stopped_one(self._claim(claim), on)
        elif how == "killed while writing":
            self._kill_while_writes_wait(claim, on, count + 1)

    def _take_from_a_stopped_one(self, given: Claim, on: int) -> None:
        stopped = next((each for each in self._opened if each.model.owner == given.owner), None)
        others = [each for each in self._opened if stopped is not None and each.process is not stopped.process]
        if stopped is None or not others:
            return
        taker = others[on % len(others)]
        stopped.process.stop()
        try:
            self._on(taker, "take", given.thread, "stopped", at_us=13)
            self._on(taker, "claim", given.thread)
        finally:
            stopped.process.wake()
        self._on(stopped, "renew", given)

    @rule(which=small)
    def reopen(self, which: int) -> None:
        opened = self._pick(which)
        (came,) = opened.process.tell(Order(opened.place, "reopen"))
        assert came.error is None
        opened.model.kill()
        opened.model = ModelStore(self._data, owner=OwnerId(str(came.result)))

    @precondition(lambda self: len(self._opened) < 2 * PROCESSES)
    @rule(which=small)
    def open_second(self, which: int) -> None:
        process = self.processes[which % PROCESSES]
        self._open(process, sum(each.process is process for each in self._opened))

    def _kill_while_writes_wait(self, claim: int, pieces: int, count: int) -> None:
        """Of writes that nobody waited for, a killed process has made the first ones, some or all."""
        given = self._claim(claim)
        writer = next((each for each in self._opened if each.model.owner == given.owner), None)
        if writer is None:
            return
        orders: list[Order] = []
        prefixes = [self._data.rows.copy()]
        for _ in range(count):
            commit = self._commit(claim, 0, 0, pieces, 1, closes=True)
            orders.append(Order(writer.place, "commit", (given, commit), waits=False))
            outcome_of(partial(writer.model.commit, given, commit))
            prefixes.append(self._data.rows.copy())
        writer.process.send(*orders)
        self._end(writer.process)
        seen = self._seen(self._opened[-1], given.thread)
        for rows in prefixes:
            self._data.rows = rows
            if said(outcome_of(lambda: self._opened[-1].model.read(given.thread))) == said(seen):
                return
        raise AssertionError(f"what is there is no beginning of what was written: {seen}")

    def _seen(self, opened: Opened, thread: str) -> Came:
        (came,) = opened.process.tell(Order(opened.place, "read", (thread,)))
        return came

    def _compare_all(self) -> None:
        opened = self._opened[0]
        for name in (*THREADS, "c"):
            self._on(opened, "read", name)
            self._on(opened, "history", name)
            thread = self._data.rows.threads.get(name)
            for step in range((0 if thread is None else thread.step) + 2):
                self._on(opened, "state", name, step)
        for key, incarnation in {*self._data.rows.effects, *self._data.rows.remarks}:
            self._on(opened, "evidence", key, incarnation)
            self._on(opened, "remarks", key, incarnation)
        for listing in ("unresolved", "pending", "decisions"):
            self._on(opened, listing)
        self._on(opened, "runnable", "shop")
        self._on(opened, "due", 100)


def outcome_of(ask: Callable[[], Receipt[object]]) -> Came:
    """What comes of an operation on the model."""
    try:
        return Came(result=ask().wait())
    except Exception as error:
        return Came(error=error)


def said(came: Came) -> object:
    """What came, to be compared: errors by their classes and fields, without the store's name."""
    error = came.error
    if error is None:
        return came.result
    fields: dict[str, object] = {name: value for name, value in vars(error).items() if name != "store"}
    return type(error), fields or str(error)


@pytest.fixture(scope="module")
def processes() -> Iterator[list[RemoteProcess]]:
    """Processes that live over all examples, unless one is killed."""
    started = [RemoteProcess() for _ in range(PROCESSES)]
    yield started
    for process in started:
        process.end()


@pytest.mark.timeout(0)
def test_three_processes_and_a_model_agree(processes: list[RemoteProcess]) -> None:
    """Whatever three processes do to one store, it answers, and holds in the end, what the model does."""
    machine = type("Machine", (StoreMachine,), {"processes": processes})
    deep = settings().max_examples > 10_000
    bounds = settings(
        max_examples=settings().max_examples if deep else EXAMPLES_IN_CI,
        stateful_step_count=200 if deep else STEPS_IN_CI,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )

    run_state_machine_as_test(machine, settings=bounds)
