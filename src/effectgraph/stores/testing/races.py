"""Races: of those who try at the same moment exactly one wins, and every write is there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final, TypeVar

import attrs

from effectgraph.stores.errors import (
    ClaimHeld,
    DecisionConflict,
    DecisionRefused,
    EvidenceChanged,
    QuestionClosed,
    ThreadExists,
)
from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import OwnerId, QuestionId, Ruling, Sync
from effectgraph.stores.testing.expect import equal, true
from effectgraph.stores.testing.place import Checks, Place, all_fits, on_place, on_store, opened
from effectgraph.stores.testing.samples import (
    TASK,
    THREAD,
    answer,
    begun,
    commit,
    created,
    decision,
    fork,
    intent,
    key,
    new_thread,
    outcome,
    outside,
    piece,
    question,
)
from effectgraph.stores.testing.seen import found
from effectgraph.stores.testing.together import together

ROUNDS: Final = 12
"""Races of each kind: two threads that start at one moment collide within a few."""

TRIES: Final = 5_000
"""Tries after which somebody who is never told that he won gives up."""

T = TypeVar("T")


@contextmanager
def rivals(place: Place) -> Generator[tuple[Store, Store]]:
    """Two owners of the same data, or one open store twice where there cannot be two."""
    with opened(place) as one:
        if place.shared:
            with opened(place) as two:
                yield one, two
        else:
            yield one, one
        all_fits(one)


def race(asks: Sequence[Callable[[], Receipt[T]]]) -> tuple[list[T], list[Exception]]:
    """Results and errors of operations that are asked for and waited for at the same moment."""
    return together([partial(_wait, ask) for ask in asks])


def _wait(ask: Callable[[], Receipt[T]]) -> T:
    return ask().wait()


def one_wins(won: list[T], lost: list[Exception], kinds: tuple[type[Exception], ...], what: str) -> T:
    """The result of the one who won; all others failed, with an error of one of these kinds."""
    equal(1, len(won), f"how many of those who {what} at the same moment win ({len(lost)} were refused)")
    for error in lost:
        true(isinstance(error, kinds), f"who {what} too late is told so, not {type(error).__name__} ({error})")
    return won[0]


class RaceChecks(Checks):
    """Races: of those who try at the same moment exactly one wins."""

    @on_place()
    def test_a_claim_has_one_winner(self, place: Place) -> None:
        """Of owners that claim a thread at the same moment one gets it, and all others are told who has it."""
        with rivals(place) as (one, two):
            for number in range(ROUNDS):
                name = f"order-{number}"
                one.release(created(one, name).claim).wait()
                asks = [partial(store.claim, name) for store in (one, two, one, two)]
                won = one_wins(*race(asks), (ClaimHeld,), "claim a thread").claim
                view = one.read(name).wait()
                equal((won.token, won.owner), (view.token, view.owner), "token and owner of the thread")
                (one if won.owner == one.owner else two).release(won).wait()

    @on_place()
    def test_a_thread_is_made_by_one(self, place: Place) -> None:
        """Of those who make a thread at the same moment one does, and holds it."""
        with rivals(place) as (one, two):
            for number in range(ROUNDS):
                asks = [partial(store.create, new_thread(f"order-{number}")) for store in (one, two)]
                won = one_wins(*race(asks), (ThreadExists,), "make a thread").claim
                equal(won.token, two.read(f"order-{number}").wait().token, "the token of the thread")

    @on_place()
    def test_a_fork_is_made_by_one(self, place: Place) -> None:
        """Of those who fork to one id at the same moment one does."""
        with rivals(place) as (one, two):
            claim = created(one).claim
            for number in range(ROUNDS):
                asks = [partial(store.fork, fork(claim, 0, f"fork-{number}")) for store in (one, two)]
                one_wins(*race(asks), (ThreadExists,), "fork to one id")

    @on_place()
    def test_tokens_are_given_once(self, place: Place) -> None:
        """Tokens that are given at the same moment are all different, whoever gives them."""
        with rivals(place) as (one, two):
            given: list[int] = []
            for number in range(ROUNDS):
                created(one, f"order-{number}")
                before = one.read(f"order-{number}").wait().token
                won, lost = race(
                    [partial(store.take, f"order-{number}", "race", at_us=1) for store in (one, two, one, two)]
                )
                equal([], lost, "takes at the same moment that fail")
                equal(max(won), one.read(f"order-{number}").wait().token, "the token of the thread is the newest")
                given += [before, *won]
            equal(len(given), len(set(given)), "how many different tokens were given")

    @on_place()
    def test_EL16_an_intent_has_one_winner(self, place: Place) -> None:
        """Of owners that begin one effect at the same moment one is told that it is his, and all see the same."""
        with rivals(place) as (one, two):
            for number in range(ROUNDS):
                name = key(f"call-{number}", "script")
                asks = [
                    partial(
                        store.begin,
                        attrs.evolve(outside(store), owner=OwnerId(f"owner-{place}")),
                        name,
                        intent(),
                        seen=None,
                    )
                    for place, store in enumerate((one, two, one, two))
                ]
                answers, errors = race(asks)
                equal([], errors, "intents at the same moment that fail")
                equal(1, sum(each.mine for each in answers), "how many of them are told that the intent is theirs")
                equal(1, len({each.evidence.owner for each in answers}), "how many owners they see")
                mine = next(each for each in answers if each.mine)
                equal(mine.evidence, found(one, name, 0), "the evidence as it is read")

    @on_place()
    def test_a_takeover_has_one_winner_at_a_time(self, place: Place) -> None:
        """Of owners that take one intent over at the same moment, having seen the same version, one does."""
        with rivals(place) as (one, two):
            name = begun(one, outside(one))
            for version in range(1, ROUNDS + 1):
                asks = [
                    partial(store.begin, outside(store), name, intent(), seen=version) for store in (one, two, one, two)
                ]
                answers, errors = race(asks)
                equal([], errors, "takeovers at the same moment that fail")
                equal(1, sum(each.mine for each in answers), "how many of them are told that the intent is theirs")
                equal({version + 1}, {each.evidence.version for each in answers}, "the version that all see")

    @on_place()
    def test_an_outcome_has_one_winner(self, place: Place) -> None:
        """Of those who settle one effect at the same moment one does, and all are given his outcome."""
        with rivals(place) as (one, two):
            for number in range(ROUNDS):
                name = begun(one, outside(one), key(f"call-{number}", "script"))
                asks = [
                    partial(store.settle, outside(one), name, outcome(b"%d" % place), seen=1, sync=Sync.NOW)
                    for place, store in enumerate((one, two, one, two))
                ]
                kept, errors = race(asks)
                equal([], errors, "outcomes at the same moment that fail")
                stands = found(one, name, 0)
                equal({stands.outcome}, set(kept), "the outcomes that they are given")
                equal(2, stands.version, "the version after one outcome")

    @on_place()
    def test_an_answer_has_one_winner(self, place: Place) -> None:
        """Of those who answer a question at the same moment one does, and his answer stands."""
        with rivals(place) as (one, two):
            for number in range(ROUNDS):
                claim = created(one, f"order-{number}").claim
                one.ask(claim, TASK, (question(f"q-{number}"),)).wait()
                asks = [
                    partial(store.answer, QuestionId(f"q-{number}"), answer(b"%d" % place))
                    for place, store in enumerate((one, two, one, two))
                ]
                won = one_wins(*race(asks), (QuestionClosed,), "answer a question")
                (stands,) = one.read(f"order-{number}").wait().questions
                equal(won, stands, "the answer that stands")

    @on_place()
    def test_a_decision_has_one_winner(self, place: Place) -> None:
        """Of those who decide on one version at the same moment one does, and one decision is kept."""
        with rivals(place) as (one, two):
            script = outside(one)
            for number in range(ROUNDS):
                name = begun(one, script, key(f"call-{number}", "script"))
                one.trouble(script, name, "timed out", seen=1).wait()
                seen = found(one, name, 0)
                asks = [
                    partial(store.decide, decision(seen, Ruling.RETRY, f"d-{number}-{place}"))
                    for place, store in enumerate((one, two))
                ]
                one_wins(*race(asks), (EvidenceChanged, DecisionRefused), "decide on one version")
                equal(seen.version + 1, found(one, name, 0).version, "the version after one decision")
                equal(number + 1, len(one.decisions().wait()), "how many decisions are kept")

    @on_place()
    def test_one_decision_rules_on_one_effect(self, place: Place) -> None:
        """One id that is used for two effects at the same moment rules on one of them (`DecisionConflict`)."""
        with rivals(place) as (one, two):
            script = outside(one)
            for number in range(ROUNDS):
                names = [begun(one, script, key(f"call-{number}-{place}", "script")) for place in range(2)]
                for name in names:
                    one.trouble(script, name, "timed out", seen=1).wait()
                asks = [
                    partial(store.decide, decision(found(one, name, 0), Ruling.RETRY, f"d-{number}"))
                    for store, name in zip((one, two), names, strict=True)
                ]
                one_wins(*race(asks), (DecisionConflict,), "use one id for two effects")
                equal(1, sum(found(one, name, 0).granted for name in names), "how many effects are granted")

    @on_place()
    def test_S01_no_increment_is_lost(self, place: Place) -> None:
        """Who reads, then writes over what he saw, loses no write: all that were told of success are there."""
        with rivals(place) as stores:

            def add_up(store: Store) -> None:
                name, mine = key(thread="script"), 0
                for _ in range(TRIES):
                    stands = store.evidence(name, 0).wait()
                    seen = None if stands is None else stands.version
                    mine += store.begin(outside(store), name, intent(), seen=seen).wait().mine
                    if mine == 20:
                        return
                raise TimeoutError(f"only {mine} of 20 takeovers were told that they won, in {TRIES} tries")

            _, errors = together([partial(add_up, store) for store in (*stores, *stores)])
            equal([], errors, "errors of those who add up")
            stands = found(stores[0], key(thread="script"), 0)
            equal((80, 80), (stands.attempt, stands.version), "attempts and version")

    @on_store
    def test_S04_one_store_serves_many_threads(self, store: Store) -> None:
        """Threads that use one store object at once all get their own results, and every write is there."""

        def work(number: int) -> int:
            claim = created(store, f"order-{number}").claim
            for step in range(1, 26):
                store.commit(claim, commit(step, piece("notes", b"%d" % step, appended=True))).wait()
            store.release(claim).wait()
            return claim.token

        tokens, errors = together([partial(work, number) for number in range(8)])

        equal([], errors, "errors of the threads")
        equal(8, len(set(tokens)), "how many different tokens they got")
        for number in range(8):
            view = store.read(f"order-{number}").wait()
            equal((25, 26, None), (view.step, len(view.pieces), view.owner), "step, pieces and holder of a thread")
            equal(25, len(store.history(f"order-{number}").wait()), "the history of a thread")

    @on_store
    def test_a_reading_sees_one_moment(self, store: Store) -> None:
        """What one reading gives belongs together, whatever is written meanwhile: a step, its pieces, its next task."""
        claim = created(store).claim
        written = threading.Event()

        def write() -> None:
            try:
                for step in range(1, 151):
                    store.commit(claim, commit(step, piece("total", b"%d" % step))).wait()
            finally:
                written.set()

        def look() -> None:
            step = 0
            while not written.is_set():
                view = store.read(THREAD).wait()
                true(view.step >= step, "what is read does not go back")
                step = view.step
                equal([step + 1], [each.step for each in view.tasks], "the task after the step that was read")
                equal([b"%d" % max(step, 1)], [each.value for each in view.pieces], "the state after that step")

        _, errors = together([write, look, look])

        equal([], [str(error) for error in errors], "errors of those who write and read")
