"""Checking a store without a test tool, and what its author is told."""

from __future__ import annotations

import doctest
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from operator import attrgetter
from pathlib import Path

import attrs
import pytest

import effectgraph.stores.testing
import store_places
from broken_evidence import BeginOverwrites
from broken_questions import AnswersTwice
from effectgraph.stores import SqliteStore, Store
from effectgraph.stores.testing import (
    Needs,
    Place,
    PromiseBroken,
    StoreContract,
    check_names,
    check_store,
    in_killed_process,
    on_place,
    on_store,
)
from effectgraph.stores.testing.expect import difference, equal, failed, refused, there, true
from effectgraph.stores.testing.pages import by_page
from effectgraph.stores.testing.samples import created, intent, piece
from effectgraph.stores.testing.together import together
from fresh_python import output_of
from model_data import ModelData


@contextmanager
def broken() -> Generator[Place]:
    """A store in which the last answer stands."""
    yield store_places.model_place(AnswersTwice, ModelData())


def test_the_example_runs() -> None:
    """What the package's text shows is run as it stands."""

    found = doctest.testmod(effectgraph.stores.testing)

    assert (found.attempted > 0, found.failed) == (True, 0)


def test_a_store_that_is_right_breaks_nothing() -> None:
    """The function runs the checks of the class, and finds nothing in a store that keeps the contract."""

    assert check_store(store_places.memory, only=lambda name: "answer" in name) == ()


def test_a_broken_promise_is_told_in_words() -> None:
    """What is broken is told by its promise, its check, and what was expected and came."""

    (found,) = check_store(broken, only=lambda name: name == "test_the_first_answer_stands")

    assert found.check == "test_the_first_answer_stands"
    assert found.promise == "A question that has an answer takes no other (`QuestionClosed`), not even the same."
    assert isinstance(found.error, PromiseBroken)
    assert str(found).startswith(f"{found.promise}\n    test_the_first_answer_stands: PromiseBroken: a second answer")
    assert "QuestionClosed was expected" in str(found)


def test_every_check_is_run_and_says_what_it_promises() -> None:
    """The names are those of all test methods of the class, each once; each has its promise as a docstring."""

    methods = [name for name in dir(StoreContract) if name.startswith("test_")]

    assert sorted(check_names()) == methods
    assert [] == [name for name in methods if not (getattr(StoreContract, name).__doc__ or "").strip()]


def test_the_class_and_the_function_find_the_same() -> None:
    """A check that fails in the function fails as a method, with the same error."""

    class Mine(StoreContract):
        def place(self) -> AbstractContextManager[Place]:
            return broken()

    with pytest.raises(PromiseBroken) as told:
        Mine().test_the_first_answer_stands()

    (found,) = check_store(broken, only=lambda name: name == "test_the_first_answer_stands")
    assert str(told.value) == str(found.error)


def test_a_contract_without_a_place_says_so() -> None:
    """Whoever forgets to say where the data is, is told to."""

    with pytest.raises(NotImplementedError, match="StoreContract: say where"):
        StoreContract().test_steps_grow()


@pytest.mark.parametrize(
    ("needs", "place"),
    [
        (Needs.SEVERAL, Place(open=partial(SqliteStore, ":memory:"), shared=False)),
        (Needs.KILLED, Place(open=partial(SqliteStore, ":memory:"))),
        (Needs.POWER_CUT, Place(open=partial(SqliteStore, ":memory:"))),
    ],
)
def test_what_a_place_cannot_do_is_not_checked(needs: Needs, place: Place) -> None:
    """A check that needs more than the place has is not run; its author can hear of it."""

    heard: list[str] = []

    class Mine(StoreContract):
        @contextmanager
        def place(self) -> Generator[Place]:
            yield place

        def unchecked(self, why: str) -> None:
            heard.append(why)

        @on_place(needs)
        def test_more(self, place: Place) -> None:
            """Fails if it is run."""
            raise AssertionError

    Mine().test_more()

    assert heard == [f"this place has not got what the check needs: {needs.value}"]


def test_a_check_of_ones_own_is_run_like_all_others() -> None:
    """An author's own check gets a store that is closed behind it, and keeps its name and text."""

    seen: list[Store] = []

    class Mine(StoreContract):
        def place(self) -> AbstractContextManager[Place]:
            return store_places.model()

        @on_store
        def test_mine(self, store: Store) -> None:
            """A promise of my own."""
            seen.append(store)

    Mine().test_mine()

    assert (Mine.test_mine.__name__, Mine.test_mine.__doc__) == ("test_mine", "A promise of my own.")
    with pytest.raises(Exception, match="closed"):
        created(seen[0])


def test_a_child_that_fails_says_so(tmp_path: Path) -> None:
    """Work that fails in the process that is to be killed fails the check, with its reason."""

    open_store = partial(SqliteStore, tmp_path / "store.db")

    with pytest.raises(ChildProcessError, match=r"AttributeError: .* 'no_such_thing'"):
        in_killed_process(open_store, attrgetter("no_such_thing"))


@pytest.mark.parametrize(
    ("expected", "found", "where", "parts"),
    [
        (1, 2, "", (1, 2)),
        ((1, 2), (1, 3), "[1]", (2, 3)),
        ([1], (1,), "", ([1], (1,))),
        ((1,), (1, 2), "", ((1,), (1, 2))),
        ({"a": [1]}, {"a": [2]}, "['a'][0]", (1, 2)),
        ({"a": 1}, {"b": 1}, "", ({"a": 1}, {"b": 1})),
        (piece("total", b"1"), piece("total", b"2"), ".value", (b"1", b"2")),
        ((intent(),), (attrs.evolve(intent(), tool="x"),), "[0].tool", ("charge", "x")),
    ],
)
def test_a_difference_is_named(expected: object, found: object, where: str, parts: tuple[object, object]) -> None:
    """Of two values that differ the first place is named at which they do, and what is there in each."""

    assert difference(expected, found) == (where, *parts)
    with pytest.raises(PromiseBroken, match="was expected"):
        equal(expected, found, "a value")


def test_what_is_expected_passes() -> None:
    """Equal values, what holds, what is there, and the error that was named are no broken promise."""

    store = BeginOverwrites()

    equal((1, [2]), (1, [2]), "a value")
    true(True, "it holds")
    assert there(3, "a number") == 3
    assert refused(LookupError, lambda: store.read("nobody"), "reading").args[0] == "nobody"
    assert failed(LookupError, store.read("nobody"), "reading").args[0] == "nobody"


def test_what_is_not_expected_is_told() -> None:
    """A value that is missing, a claim that does not hold, no error and another error are broken promises."""

    store = BeginOverwrites()

    with pytest.raises(PromiseBroken, match="it holds: this was expected, the contrary came"):
        true(False, "it holds")
    with pytest.raises(PromiseBroken, match="a number: a record was expected, None came"):
        there(None, "a number")
    with pytest.raises(PromiseBroken, match="listing: LookupError was expected, the result \\(\\) came"):
        refused(LookupError, store.unresolved, "listing")
    with pytest.raises(PromiseBroken, match="reading: KeyError was expected, ThreadUnknown"):
        refused(KeyError, lambda: store.read("nobody"), "reading")


def test_a_listing_without_end_is_told() -> None:
    """A listing whose pages never end is a broken promise, not a check that hangs."""

    store = BeginOverwrites()
    store.release(created(store).claim).wait()

    with pytest.raises(PromiseBroken, match="an end was expected"):
        by_page(store.runnable("shop"), lambda _: store.runnable("shop"), most=100)


def test_calls_at_the_same_moment_tell_their_errors() -> None:
    """Results and errors of calls that begin together are told apart, in the order of the calls."""

    def fail() -> int:
        raise ZeroDivisionError

    results, errors = together([lambda: 1, fail, lambda: 2])

    assert results == [1, 2]
    assert [type(error) for error in errors] == [ZeroDivisionError]


def test_the_checks_are_imported_by_who_uses_them(tmp_path: Path) -> None:
    """Neither the package nor its stores import the checks, and the checks import no test tool."""

    ask = "import sys; print([name for name in sys.modules if name in ('effectgraph.stores.testing', 'pytest')])"

    assert output_of(f"import effectgraph, effectgraph.stores; {ask}", tmp_path) == "[]\n"
    assert output_of(f"import effectgraph.stores.testing; {ask}", tmp_path) == "['effectgraph.stores.testing']\n"
