"""Reducers: which a field may name, and what each makes of an old and a new value."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, NewType

import attrs
import pytest

from effectgraph.effects.codec import codec_for
from effectgraph.graph.errors import UpdateRefused
from effectgraph.graph.reducers import Reducer, add, append, merge, reducer_of, union
from effectgraph.graph.state import updates
from effectgraph.graph.state_type import state_type_of
from stable_ids import named

Names = NewType("Names", tuple[str, ...])


def longest(old: str, new: str) -> str:
    """A reducer of our own."""
    return max(old, new, key=len)


def failing(old: int, new: int) -> int:
    """A reducer that raises."""
    raise OverflowError("too much")


def to_text(old: int, new: int) -> str:
    """A reducer that returns another type."""
    return f"{old}{new}"


def greedy(old: list[int], new: list[int]) -> list[int]:
    """A reducer that changes the old value."""
    old.extend(new)
    return old


async def later(old: int, new: int) -> int:
    """A coroutine function."""
    await asyncio.sleep(0)
    return new


def one_sided(old: int) -> int:
    """A function of the old value only."""
    return old


@attrs.frozen(kw_only=True)
class Basket:
    """One field for each reducer."""

    items: Annotated[tuple[str, ...], append] = ()
    rows: Annotated[list[int], "append"] = attrs.Factory(list[int])
    sum: Annotated[int, add] = 0
    price: Annotated[Decimal, "add"] = Decimal("0.10")
    by_name: Annotated[dict[str, int], merge] = attrs.Factory(dict[str, int])
    tags: Annotated[frozenset[str], union] = frozenset()
    marks: Annotated[set[int], "union"] = attrs.Factory(set[int])
    title: Annotated[str, longest] = ""
    plain: int = 0


baskets = state_type_of(Basket)
change = updates(Basket)


def read(form: object) -> tuple[Reducer | None, list[str]]:
    """The reducer that a type names, and what is wrong with it."""
    told: list[str] = []
    return reducer_of(form, told.append), told


def test_each_reducer_joins_old_and_new() -> None:
    """The update's value is joined with the old one, and the result has the field's type."""

    old = Basket(
        items=("a",), rows=[1], sum=2, by_name={"a": 1, "b": 1}, tags=frozenset({"x"}), marks={1}, title="abc", plain=1
    )

    new = baskets.merge(
        old,
        change(
            items=("b", "c"),
            rows=[2],
            sum=3,
            price=Decimal("0.20"),
            by_name={"b": 2, "c": 3},
            tags=frozenset({"y"}),
            marks={2},
            title="ab",
            plain=5,
        ),
        by="node n",
    ).state

    assert new == Basket(
        items=("a", "b", "c"),
        rows=[1, 2],
        sum=5,
        price=Decimal("0.30"),
        by_name={"a": 1, "b": 2, "c": 3},
        tags=frozenset({"x", "y"}),
        marks={1, 2},
        title="abc",
        plain=5,
    )
    assert list(new.by_name) == ["a", "b", "c"]


def test_only_what_was_appended_is_stored() -> None:
    """A commit's bytes follow what a task added, not what was there before."""

    merged = baskets.merge(Basket(items=("a",) * 1000), change(items=("b",), sum=1), by="node n")

    assert [(piece.field, piece.value, piece.appended) for piece in merged.pieces] == [
        ("items", codec_for(tuple[str, ...]).encode(("b",)), True),
        ("sum", codec_for(int).encode(1), False),
    ]


def test_G07_appending_nothing_changes_nothing() -> None:
    """An empty list adds nothing and is not stored."""

    old = Basket(items=("a",), rows=[1])

    merged = baskets.merge(old, change(items=(), rows=[]), by="node n")

    assert merged.state is old
    assert merged.pieces == ()


def test_G07_replace_goes_past_the_reducer() -> None:
    """An explicit replace puts the value in the place of the old one, and is stored whole."""

    merged = baskets.merge(Basket(items=("a",), sum=5), change.replace(items=("b",), sum=1), by="node n")

    assert (merged.state.items, merged.state.sum) == (("b",), 1)
    assert [(piece.field, piece.appended) for piece in merged.pieces] == [("items", False), ("sum", False)]


def test_what_is_joined_already_is_not_stored() -> None:
    """A merge or a union that adds nothing leaves the field as it was."""

    old = Basket(by_name={"a": 1}, tags=frozenset({"x"}), title="abc")

    merged = baskets.merge(old, change(by_name={"a": 1}, tags=frozenset({"x"}), title="a", sum=0), by="node n")

    assert merged.pieces == ()


def test_the_new_state_shares_no_list_with_the_old_one() -> None:
    """Appending to a list makes a new one: the old state stays as it was."""

    old = Basket(rows=[1])

    new = baskets.merge(old, change(rows=[2]), by="node n").state

    assert (old.rows, new.rows) == ([1], [1, 2])


def test_a_reducer_cannot_damage_the_old_state() -> None:
    """A function gets an old value of its own."""

    @attrs.frozen
    class Greedy:
        rows: Annotated[list[int], greedy] = attrs.Factory(list[int])

    old = Greedy([1])

    new = state_type_of(Greedy).merge(old, updates(Greedy)(rows=[2]), by="node n").state

    assert (old.rows, new.rows) == ([1], [1, 2])


def test_a_reducer_that_raises_is_named() -> None:
    """The error names node, field and reducer, and keeps the cause."""

    @attrs.frozen
    class Failing:
        x: Annotated[int, failing] = 0

    with pytest.raises(
        UpdateRefused, match="node n: field x: reducer failing raised OverflowError: too much"
    ) as caught:
        state_type_of(Failing).merge(Failing(), updates(Failing)(x=1), by="node n")

    assert isinstance(caught.value.__cause__, OverflowError)


def test_a_reducer_that_returns_another_type_is_refused() -> None:
    """What a function makes is checked as a plain value is."""

    @attrs.frozen
    class Texts:
        x: Annotated[int, to_text] = 0

    with pytest.raises(UpdateRefused, match="node n: field x: "):
        state_type_of(Texts).merge(Texts(), updates(Texts)(x=1), by="node n")


@pytest.mark.parametrize(
    ("form", "reducer"),
    [
        (Annotated[tuple[int, ...], "append"], append),
        (Annotated[list[int], append], append),
        (Annotated[Names, append], append),
        (Annotated[int, "add"], add),
        (Annotated[float | int, add], add),
        (Annotated[Fraction, add], add),
        (Annotated[dict[str, int], "merge"], merge),
        (Annotated[set[int], "union"], union),
        (Annotated[frozenset[int], union], union),
        (Annotated[int, 3, add], add),
        (Annotated[int, Decimal], None),
        (Annotated[int, 3], None),
        (int, None),
    ],
    ids=named,
)
def test_a_field_names_its_reducer(form: object, reducer: Reducer | None) -> None:
    """By itself or as text; what else stands in `Annotated` is for others."""

    assert read(form) == (reducer, [])


@pytest.mark.parametrize(
    ("form", "why"),
    [
        (Annotated[int, append], "reducer append joins list[...] and tuple[..., ...]; "),
        (Annotated[tuple[int, str], append], "reducer append joins list[...] and tuple[..., ...]; "),
        (Annotated[set[int], append], "reducer append joins "),
        (Annotated[int | None, add], "reducer add joins numbers and other types that have a +; "),
        (Annotated[bool, add], "reducer add joins numbers and other types that have a +; "),
        (Annotated[dict[str, int], add], "reducer add joins "),
        (Annotated[list[int], merge], "reducer merge joins dict[..., ...]; "),
        (Annotated[dict[str, int], union], "reducer union joins set[...] and frozenset[...]; "),
        (Annotated[int, "sum"], "no reducer 'sum'; name append, add, merge, union, or give a function (old, new)"),
        (Annotated[int, add, longest], "names the reducers add and longest; keep one"),
        (Annotated[int, later], "reducer later is async; "),
        (Annotated[int, one_sided], "reducer one_sided does not take (old, new); "),
    ],
    ids=named,
)
def test_a_reducer_that_cannot_work_is_told(form: Any, why: str) -> None:
    """A reducer that does not fit its field is found before anything runs."""

    reducer, told = read(form)

    assert reducer is None
    assert [problem.startswith(why) for problem in told] == [True], told
