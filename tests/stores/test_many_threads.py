"""One open store, used from many threads at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from effectgraph.stores import ClaimLost, Store, ThreadUnknown
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.records import How, Outcome, Sync, ThreadStatus
from more_rounds import TIMES
from store_records import answer, commit, created, intent, key, piece, question

THREADS = 8
STEPS = 20 * TIMES


def outcome_of(name: EffectKey) -> Outcome:
    """The outcome of an effect, which no other effect has."""
    return Outcome(value=str(name).encode(), schema="out", how=How.RUN, at_us=20)


def one_step(store: Store, name: str, step: int) -> int:
    """Claim a thread of our own and make one step of it with each kind of operation; the token."""
    claimed = store.claim(name).wait()
    claim = claimed.claim
    assert (claim.thread, claimed.thread.step, claimed.evidence) == (name, step - 1, ())
    task = f"{step}.pay"
    assert store.attempt(claim, task).wait().attempts == 2
    asked = store.ask(claim, task, (question(f"{name} {step}"),)).wait()
    assert [(each.thread, each.task) for each in asked] == [(name, task)]
    assert store.answer(asked[0].question.id, answer(name.encode())).wait().thread == name
    effect, other = key(str(step), name, task), key("other", name, task)
    seen, seen_of_other = (
        store.begin(claim, each, intent(), seen=None).wait().evidence.version for each in (effect, other)
    )
    assert store.settle(claim, effect, outcome_of(effect), seen=seen, sync=Sync.LATER).wait() == outcome_of(effect)
    store.withdraw(claim, other, seen=seen_of_other).wait()
    found = store.evidence(effect, claim.incarnation).wait()
    assert found is not None
    assert (found.key, found.outcome, found.token) == (effect, outcome_of(effect), claim.token)
    assert store.evidence(other, claim.incarnation).wait() is None
    store.commit(claim, commit(step, piece("notes", f"{name} {step}".encode(), appended=True))).wait()
    view = store.read(name).wait()
    assert (view.id, view.step, view.token, view.owner) == (name, step, claim.token, store.owner)
    assert [f"{name} {each}".encode() for each in range(1, step + 1)] == [
        each.value for each in view.pieces if each.field == "notes"
    ]
    newest = store.history(name).wait()[-1]
    assert [each.call for each in newest.effects] == [str(step)]
    assert [each.answer for each in newest.questions] == [answer(name.encode())]
    if step % 2:
        taken = store.take(name, "stuck", at_us=1).wait()
        with pytest.raises(ClaimLost) as refused:
            store.release(claim).wait()
        assert (refused.value.thread, refused.value.current) == (name, taken)
    else:
        store.release(claim).wait()
    assert name in store.runnable("shop", after=name[:-1]).wait()
    return claim.token


def test_S04_each_of_eight_threads_gets_its_own(store: Store) -> None:
    """Eight threads use one store with every kind of operation: each gets its own, and no token is given twice."""

    ready = threading.Barrier(THREADS)

    def work(number: int) -> list[int]:
        name = f"order-{number}"
        store.release(created(store, name).claim).wait()
        ready.wait(60)
        tokens = [one_step(store, name, step) for step in range(1, STEPS + 1)]
        claim = store.claim(name).wait().claim
        store.commit(claim, commit(STEPS + 1, done=True)).wait()
        assert store.read(name).wait().status is ThreadStatus.DONE
        store.release(claim).wait()
        if number % 2:
            store.delete(name).wait()
            with pytest.raises(ThreadUnknown, match=name):
                store.read(name).wait()
        return tokens

    with ThreadPoolExecutor(THREADS) as pool:
        tokens = [done.result() for done in [pool.submit(work, number) for number in range(THREADS)]]

    for mine in tokens:
        assert sorted(mine) == mine
    assert len({token for mine in tokens for token in mine}) == THREADS * STEPS
    assert store.unresolved().wait() == ()
    assert store.pending().wait() == ()
    assert store.check().wait() == ()
