"""Writes that no store can make, in a group with others: each fails alone and says why."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TypeVar

import attrs
import pytest

from effectgraph.stores import (
    ClaimLost,
    Receipt,
    Store,
    StoreError,
    StoreUnusable,
    TaskClosed,
    ThreadExists,
    ThreadUnknown,
    UnresolvedStands,
)
from effectgraph.stores.records import Claim
from store_records import (
    GRAPH,
    THREAD,
    begun,
    closing,
    commit,
    created,
    failure,
    intent,
    key,
    new_thread,
    outside,
    piece,
    question,
)
from store_writer import held_up

TOO_LARGE = 1_000_000_001
"""Bytes of one value, one more than SQLite keeps."""

T = TypeVar("T")

Bad = Callable[[Store, Claim], Receipt[object]]


def with_wrong(record: T, name: str, value: object) -> T:
    """A record with a value that it must not have, as a program without type checks makes it."""
    wrong = copy.copy(record)
    object.__setattr__(wrong, name, value)
    return wrong


BAD: dict[str, tuple[Bad, type[Exception], str]] = {
    "a field twice": (
        lambda store, _: store.create(new_thread("order-9", piece(), piece())),
        ValueError,
        "'total' stands there twice",
    ),
    "a lost claim": (
        lambda store, claim: store.commit(attrs.evolve(claim, token=claim.token + 1), commit()),
        ClaimLost,
        "no longer current",
    ),
    "a closed task": (lambda store, claim: store.commit(claim, commit(5)), TaskClosed, "5.pay: not open"),
    "a thread that is there": (lambda store, _: store.create(new_thread()), ThreadExists, THREAD),
    "a thread that is not there": (lambda store, _: store.claim("nobody"), ThreadUnknown, "nobody"),
    "an old step": (
        lambda store, claim: store.close(claim, closing(0)),
        ValueError,
        "step 0 does not come after step 0",
    ),
    "an effect that nobody knows of": (
        lambda store, _: store.drop(outside(store), key("open", "script")),
        UnresolvedStands,
        "open",
    ),
    "a number of 65 bits": (
        lambda store, claim: store.fail(claim, "1.pay", attrs.evolve(failure(), at_us=2**64)),
        ValueError,
        "a number has more than 64 bits",
    ),
    "a text that UTF-8 cannot hold": (
        lambda store, claim: store.fail(claim, "1.pay", failure(f"{'x' * 100}\udcff{'y' * 100}")),
        ValueError,
        r"a text has a lone surrogate, .*at 100: 'x{20}\\udcff",
    ),
    "a name that UTF-8 cannot hold": (
        lambda store, claim: store.commit(claim, attrs.evolve(commit(), fields=("\ud800",))),
        ValueError,
        "a text has a lone surrogate",
    ),
    "a value that is too large": (
        lambda store, claim: store.commit(claim, commit(1, piece("total", bytes(TOO_LARGE)))),
        ValueError,
        "a value is larger than SQLite keeps",
    ),
    "a value over 2 GB": (
        lambda store, claim: store.commit(claim, commit(1, piece("total", bytes(2**31)))),
        ValueError,
        "a value more than 2 GB",
    ),
    "something that is no value": (
        lambda store, claim: store.ask(claim, "1.pay", (with_wrong(question(), "content", object()),)),
        ValueError,
        "a value is of a type that SQLite does not keep .*object",
    ),
    "text for a number": (
        lambda store, claim: store.fail(claim, "1.pay", with_wrong(failure(), "at_us", "soon")),
        StoreUnusable,
        "cannot store TEXT value in INTEGER column tasks.failed_us",
    ),
    "nothing for a text": (
        lambda store, _: store.create(attrs.evolve(new_thread("order-9"), graph=with_wrong(GRAPH, "name", None))),
        StoreUnusable,
        "NOT NULL constraint failed: threads.graph",
    ),
}
"""Every kind of write that cannot be made: how it comes, what it raises, what that says."""


@pytest.mark.parametrize("kind", BAD)
def test_one_bad_write_of_each_kind_fails_alone(store: Store, kind: str) -> None:
    """Writes before and behind a bad one, in one transaction, are made; it changes nothing and says what is bad."""

    bad, error, text = BAD[kind]
    claim = created(store).claim
    begun(store, outside(store), key("open", "script"))
    with held_up(store):
        before = store.create(new_thread("order-2"))
        receipt = bad(store, claim)
        behind = [store.create(new_thread(f"order-{number}")) for number in range(3, 6)]
        again = store.begin(outside(store), key("last", "script"), intent(), seen=None)

    with pytest.raises(error, match=text) as refused:
        receipt.wait()
    assert error is ValueError or isinstance(refused.value, StoreError)
    assert before.wait().claim.token < behind[0].wait().claim.token
    assert [each.wait().claim.thread for each in behind] == ["order-3", "order-4", "order-5"]
    assert again.wait().mine
    view = store.read(THREAD).wait()
    assert (view.token, view.owner, view.step, view.tasks) == (claim.token, store.owner, 0, created_tasks())
    assert store.history(THREAD).wait() == ()
    assert store.check().wait() == ()


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_write_alone_changes_nothing(store: Store, kind: str) -> None:
    """A bad write in a transaction of its own says what is bad, and the next write is made as if it had not been."""

    bad, error, text = BAD[kind]
    claim = created(store).claim
    begun(store, outside(store), key("open", "script"))

    with pytest.raises(error, match=text):
        bad(store, claim).wait()

    assert store.read(THREAD).wait().step == 0
    assert created(store, "order-2").claim.token == claim.token + 1
    assert store.check().wait() == ()


def created_tasks() -> tuple[object, ...]:
    """The tasks of a thread that was just made."""
    return new_thread().run.tasks


@pytest.mark.parametrize("name", ["\ud800", "order-\udcff"])
def test_a_reading_that_no_store_can_make_says_why(store: Store, name: str) -> None:
    """A name that UTF-8 cannot hold is refused by readings as well, and readings go on."""

    with pytest.raises(ValueError, match="a text has a lone surrogate"):
        store.read(name).wait()

    created(store)
    assert store.read(THREAD).wait().id == THREAD
