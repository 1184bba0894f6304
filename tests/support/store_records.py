"""Records for tests of stores: as little in them as a test needs to say."""

from __future__ import annotations

from typing import Final

import attrs

from effectgraph.stores.keys import EffectKey
from effectgraph.stores.protocol import Store
from effectgraph.stores.records import (
    OUTSIDE,
    Claim,
    Claimed,
    Closing,
    Commit,
    Failure,
    GraphStamp,
    How,
    Intent,
    Kind,
    Landing,
    NewRun,
    NewThread,
    Outcome,
    Piece,
    Plan,
    Sync,
    Task,
)

GRAPH: Final = GraphStamp(name="shop", version=1, fingerprint="f1")
THREAD: Final = "order-1"
TASK: Final = "1.pay"


def piece(field: str = "total", value: bytes = b"1", *, appended: bool = False) -> Piece:
    """A value of a field, or something appended to it."""
    return Piece(field=field, value=value, schema="int", appended=appended)


def task(step: int, node: str = "pay") -> Task:
    """A task that is to run."""
    return Task(id=f"{step}.{node}", step=step, node=node)


def new_run(step: int = 0, *pieces: Piece) -> NewRun:
    """A run with one task, one step later."""
    return NewRun(step=step, pieces=pieces or (piece(),), tasks=(task(step + 1),), at_us=1)


def new_thread(thread: str = THREAD, *pieces: Piece, graph: str = "shop") -> NewThread:
    """A thread whose first task is `TASK`."""
    return NewThread(id=thread, graph=attrs.evolve(GRAPH, name=graph), run=new_run(0, *pieces))


def created(store: Store, thread: str = THREAD) -> Claimed:
    """A thread that was made and is claimed."""
    return store.create(new_thread(thread)).wait()


def key(call: str = "charge", thread: str = THREAD, task: str = TASK) -> EffectKey:
    """The key of an effect of the first task."""
    return EffectKey(thread, task, call)


def intent(kind: Kind = Kind.UNCHECKED, *, fingerprint: str = "f1", plan: Plan | None = None) -> Intent:
    """What is written before an effect."""
    return Intent(
        kind=kind, tool="charge", fingerprint=fingerprint, request=b'{"amount":5}', schema="in", at_us=10, plan=plan
    )


def plan(after: str = "after", *earlier: Landing) -> Plan:
    """A plan whose target is at `before`."""
    return Plan(before="before", landing=Landing(after, b'"done"'), earlier=earlier)


def outcome(value: bytes | None = b'"ch_1"', how: How = How.RUN) -> Outcome:
    """What an effect returned."""
    return Outcome(value=value, schema="out", how=how, at_us=20)


def closing(step: int, *pieces: Piece, done: bool = False) -> Closing:
    """The end of a step, with one task behind it unless the thread is done."""
    return Closing(step=step, pieces=pieces, tasks=() if done else (task(step + 1),), at_us=30)


def commit(step: int = 1, *pieces: Piece, done: bool = False) -> Commit:
    """The end of the one task of a step, and of the step."""
    return Commit(
        task=f"{step}.pay",
        step=step,
        node="pay",
        fields=tuple(each.field for each in pieces),
        at_us=30,
        closing=closing(step, *pieces, done=done),
    )


def task_commit(step: int, node: str, update: bytes = b"{}") -> Commit:
    """The end of a task whose step stays open."""
    return Commit(task=f"{step}.{node}", step=step, node=node, fields=("total",), at_us=30, update=update)


def failure(text: str = "no money") -> Failure:
    """Why a task failed."""
    return Failure(error="shop.CardRefused", text=text, traceback="Traceback: ...", at_us=40)


def outside(store: Store, scope: str = "script") -> Claim:
    """What somebody without a runtime writes under."""
    return Claim(thread=scope, incarnation=0, token=OUTSIDE, owner=store.owner)


def begun(store: Store, claim: Claim, name: EffectKey | None = None) -> EffectKey:
    """An intent that was written; its key."""
    name = key(thread=claim.thread) if name is None else name
    assert store.begin(claim, name, intent(), seen=None).wait().mine
    return name


def settled(store: Store, claim: Claim, name: EffectKey | None = None) -> EffectKey:
    """An intent with an outcome; its key."""
    name = begun(store, claim, name)
    store.settle(claim, name, outcome(), seen=1, sync=Sync.NOW).wait()
    return name
