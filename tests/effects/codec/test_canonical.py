"""Bytes and fingerprints that are the same in every process, and what changes them."""

from __future__ import annotations

import dataclasses
import enum
import json
import os
import subprocess
import sys
from decimal import Decimal
from typing import Annotated, Literal, NamedTuple, NewType, NotRequired, TypedDict, cast

import attrs
import pytest
from typing_extensions import TypeForm

from effectgraph.effects.codec import codec_for

CHILD = """
import enum, json
from collections import Counter, OrderedDict
from decimal import Decimal
import attrs
from effectgraph.effects.codec import codec_for

class Colour(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 3

@attrs.frozen
class Item:
    name: str
    tags: frozenset[str]
    colours: frozenset[Colour]
    mixed: frozenset[int | str | None]
    counts: frozenset[tuple[str, ...]]
    keys: OrderedDict[str, int] = attrs.field(default=OrderedDict(b=1, a=2), eq=False)

names = ["gamma", "alpha", "beta", "delta", "caf\\u00e9", "a" * 40]
items = {Item(name, frozenset(names), frozenset(Colour), frozenset({1, "1", None, 20, "x"}),
    frozenset((each, name) for each in names)) for name in names}
form = dict[str, set[Item]] | set[str] | list[Decimal]
codec = codec_for(form)
value = {name: items for name in set(names)}
other = codec_for(Counter[frozenset[str] | tuple[Colour, str] | int | None])
counts = Counter({key: 1 for key in {frozenset(names), (Colour.RED, "a"), (Colour.BLUE, "b"), 1, None}})
print(json.dumps([codec.schema, codec.canonical(value).decode(), codec.encode({"a": items}).decode(),
    other.schema, other.canonical(counts).decode()]))
"""


def in_child(seed: str) -> object:
    """What another process with this hash seed makes of the same values."""
    child = subprocess.run(
        [sys.executable, "-W", "error", "-c", CHILD],
        env={**os.environ, "PYTHONHASHSEED": seed},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout)


def test_bytes_and_schema_do_not_depend_on_the_hash_seed() -> None:
    """Equal values give equal canonical bytes in every process, and equal types equal schemas; sets are sorted."""

    first, second = in_child("1"), in_child("2")

    assert first == second
    assert first != [None, None, None]


def test_canonical_bytes_are_of_the_value_and_not_of_its_order() -> None:
    """Dicts that are equal have the same canonical bytes at every level; `encode` keeps their order."""

    codec = codec_for(list[dict[str, dict[int, str]]])
    one, other = [{"b": {2: "x", 1: "y"}, "a": {}}], [{"a": {}, "b": {1: "y", 2: "x"}}]

    assert codec.canonical(one) == codec.canonical(other)
    assert codec.encode(one) != codec.encode(other)


@pytest.mark.parametrize(
    ("form", "one", "other"),
    [
        (float, 1, 1.0),
        (float, 0.0, -0.0),
        (Decimal, Decimal("1.0"), Decimal("1.00")),
        (int | bool, 1, True),
    ],
)
def test_values_that_look_different_have_other_bytes(form: object, one: object, other: object) -> None:
    """Values that Python calls equal and still tells apart are told apart: what looks different is another request."""

    codec = codec_for(cast("TypeForm[object]", form))

    assert one == other
    assert codec.canonical(one) != codec.canonical(other)


def test_sets_are_sorted() -> None:
    """The elements of a set stand in one order, also where they are of several kinds."""

    assert codec_for(set[str]).encode({"b", "a", "c"}) == b'["a","b","c"]'
    assert codec_for(cast("TypeForm[object]", set[int | str | None])).encode({"a", None, 2, 1}) == b'["a",1,2,null]'


class Colour(enum.Enum):
    """Two members."""

    RED = 1
    GREEN = 2


@attrs.frozen
class Order:
    """Fields of several kinds, one of them the class itself."""

    name: str
    prices: dict[str, Decimal | None]
    colours: frozenset[Colour]
    parts: tuple[Order, ...] = ()
    state: Literal["new", "paid"] | int = "new"


def test_stored_forms_stay_as_they_are() -> None:
    """Bytes and schema of a released version are what a later one still writes and reads."""

    codec = codec_for(Order)
    order = Order("a", {"x": Decimal("1.50"), "y": None}, frozenset(Colour), (Order("b", {}, frozenset()),), 3)
    data = (
        b'{"name":"a","prices":{"x":"1.50","y":null},"colours":["GREEN","RED"],'
        b'"parts":[{"name":"b","prices":{},"colours":[],"parts":[],"state":"new"}],"state":3}'
    )

    assert codec.encode(order) == data
    assert codec.decode(data) == order
    assert codec.schema == "5b92be4eebc43267"


def record(name: str, **fields: object) -> object:
    """A class of this name with fields of these types."""
    return dataclasses.make_dataclass(name, list(fields.items()))


def members(name: str, **values: int) -> object:
    """An enum of this name."""
    return enum.Enum(name, values)


def required_key() -> object:
    """A typed dict with a key that must be there."""

    class Keys(TypedDict):
        a: int

    return Keys


def optional_key() -> object:
    """The same with a key that may be absent."""

    class Keys(TypedDict):
        a: NotRequired[int]

    return Keys


def keys_in_order() -> object:
    """A typed dict whose keys hold classes."""

    class Keys(TypedDict):
        a: Order
        b: R

    return Keys


def keys_in_another_order() -> object:
    """The same with the keys the other way round."""

    class Keys(TypedDict):
        b: R
        a: Order

    return Keys


Renamed = NewType("Renamed", int)


class R(NamedTuple):
    """Like the class that `record` makes of the same fields."""

    a: int
    b: str = "x"


@attrs.define
class Data:
    """Like the class that `record` makes of the same fields."""

    a: int
    b: str = "x"


Data.__name__ = "R"


DIFFERENT: list[tuple[object, object]] = [
    (record("R", a=int), record("S", a=int)),
    (record("R", a=int), record("R", b=int)),
    (record("R", a=int), record("R", a=float)),
    (record("R", a=int), record("R", a=int | None)),
    (record("R", a=int), record("R", a=int, b=int)),
    (record("R", a=record("S", x=int)), record("R", a=record("S", x=str))),
    (required_key(), optional_key()),
    (list[int], tuple[int, ...]),
    (tuple[int, ...], tuple[int]),
    (set[int], frozenset[int]),
    (dict[int, str], dict[str, str]),
    (int | str, int | bytes),
    (Literal["a"], Literal["b"]),
    (Literal["1"], Literal[1]),
    (members("E", A=1), members("E", B=1)),
    (members("E", A=1), members("F", A=1)),
    (Decimal, str),
]
"""Pairs of types that are written in different forms."""


@pytest.mark.parametrize(("one", "other"), DIFFERENT, ids=map(str, range(len(DIFFERENT))))
def test_another_form_has_another_schema(one: object, other: object) -> None:
    """A schema changes with a class's name, a field, a field's type, a member, however deep inside."""

    assert codec_for(cast("TypeForm[object]", one)).schema != codec_for(cast("TypeForm[object]", other)).schema


SAME: list[tuple[object, object]] = [
    (record("R", a=int, b=str), record("R", b=str, a=int)),
    (record("R", a=int, b=str), R),
    (record("R", a=int, b=str), Data),
    (record("R", a=record("A", x=int), b=record("B", y=int)), record("R", b=record("B", y=int), a=record("A", x=int))),
    (keys_in_order(), keys_in_another_order()),
    (members("E", A=1, B=2), members("E", B=3, A=4)),
    (int | str | None, None | str | int),
    (Literal["a", "b"], Literal["b", "a"]),
    (list[Annotated[int, "a note"]], list[int]),
    (list[Renamed], list[int]),
]
"""Pairs of types that are written in one form."""


@pytest.mark.parametrize(("one", "other"), SAME, ids=map(str, range(len(SAME))))
def test_the_same_form_has_the_same_schema(one: object, other: object) -> None:
    """What changes nothing in the bytes leaves the schema alone: order of fields, defaults, values of members."""

    assert codec_for(cast("TypeForm[object]", one)).schema == codec_for(cast("TypeForm[object]", other)).schema
