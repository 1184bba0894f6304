"""Which types can be shared between tasks, and how the values of the others are copied."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import uuid
from collections.abc import Iterable
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Annotated, Any, Generic, Literal, NamedTuple, NewType, TypeVar, cast

import attrs
import pytest

from effectgraph.effects.codec import codec_for
from effectgraph.graph.isolation import copier, is_immutable
from stable_ids import named


class Color(enum.Enum):
    """An enum."""

    RED = 1


T = TypeVar("T")

OrderId = NewType("OrderId", str)


@attrs.frozen
class Point:
    """Frozen."""

    x: int = 0
    label: str | None = None


@attrs.frozen
class Tree:
    """Frozen, and made of itself."""

    value: int
    children: tuple[Tree, ...] = ()


@dataclasses.dataclass(frozen=True)
class Pair:
    """A frozen dataclass of frozen parts."""

    left: Point
    right: Color


@attrs.frozen
class Box(Generic[T]):
    """Frozen, of anything."""

    inside: T


class Row(NamedTuple):
    """A tuple with names."""

    number: int
    name: str = ""


class Rows(NamedTuple):
    """A tuple with names, and a list in it."""

    rows: list[int]


@attrs.define
class Open:
    """Not frozen."""

    x: int = 0


@attrs.frozen
class HoldsList:
    """Frozen, with a list in it."""

    rows: list[int]


@dataclasses.dataclass
class OpenData:
    """A dataclass that is not frozen."""

    x: int = 0


@attrs.frozen
class HoldsOpen:
    """Frozen, with open parts."""

    inner: tuple[Open, ...] = ()


@pytest.mark.parametrize(
    "form",
    [
        *(int, bool, float, str, bytes, None, Decimal, uuid.UUID, dt.datetime, dt.timedelta, PurePosixPath),
        *(Color, OrderId, Literal["a", 1], int | str | None, tuple[int, ...], tuple[int, str], tuple[()]),
        *(frozenset[int], Annotated[int, "add"], Point, Tree, Pair, tuple[Pair, ...], Box[int], Row),
    ],
    ids=named,
)
def test_immutable_types_are_shared(form: object) -> None:
    """Where no value can change, none is copied."""

    assert is_immutable(form)


@pytest.mark.parametrize(
    "form",
    [
        *(list[int], dict[str, int], set[int], tuple[list[int], ...], int | list[int], bytearray, object, Any),
        *(Open, OpenData, HoldsList, HoldsOpen, tuple[Open, ...], Box[list[int]], Rows, Annotated[list[int], "append"]),
    ],
    ids=named,
)
def test_a_type_with_something_in_it_that_can_change_is_not(form: object) -> None:
    """One part that can change is enough, and a type that is not known counts as one."""

    assert not is_immutable(form)


@pytest.mark.parametrize(
    ("form", "value"),
    [
        (list[int], [1, 2]),
        (dict[str, Point], {"a": Point(1)}),
        (set[str], {"a"}),
        (list[list[int]], [[1], [2]]),
        (dict[str, Open], {"a": Open(1)}),
        (Open, Open(1)),
        (HoldsList, HoldsList([1])),
        (tuple[Open, ...], (Open(1),)),
    ],
    ids=named,
)
def test_a_copy_is_equal_and_shares_nothing_that_can_change(form: Any, value: object) -> None:
    """The copy has the same type and value; whatever can change in it is another object."""

    copied = copier(form, codec_for(form))

    assert copied is not None
    twin = copied(value)
    assert twin == value
    assert type(twin) is type(value)
    assert changeable(twin).isdisjoint(changeable(value))


def test_a_list_of_what_cannot_change_is_not_encoded_to_be_copied() -> None:
    """A long list of immutable items costs a copy of its references."""

    items = [Point(number) for number in range(3)]

    copied = copier(list[Point], codec_for(list[Point]))

    assert copied is not None
    assert [one is other for one, other in zip(cast("list[Point]", copied(items)), items, strict=True)] == [True] * 3


def changeable(value: object) -> set[int]:
    """The ids of all lists, dicts, sets and open objects in a value."""
    parts: Iterable[object] = ()
    if isinstance(value, (list, tuple, set)):
        parts = cast("Iterable[object]", value)
    elif isinstance(value, dict):
        parts = cast("dict[str, object]", value).values()
    elif isinstance(value, HoldsList):
        parts = (value.rows,)
    own = {id(cast("object", value))} if isinstance(value, (list, dict, set, Open)) else set[int]()
    return own.union(*(changeable(part) for part in parts))
