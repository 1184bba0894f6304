"""The fingerprint of a type: what it depends on, and on nothing else."""

from __future__ import annotations

import dataclasses
import enum
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import GenericAlias, NoneType
from typing import Annotated, Generic, Literal, NamedTuple, TypedDict, TypeVar, cast

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import TypeForm

from effectgraph.effects.codec import codec_for
from fresh_python import output_of

T = TypeVar("T")


def schema_of(form: object) -> str:
    """The schema of a type that is known only at run time."""
    return codec_for(cast("TypeForm[object]", form)).schema


@attrs.frozen
class Told:
    """A type as it is told: a record of this name with these fields, a list or a dict of the one part."""

    name: str
    parts: frozenset[tuple[str, Told | type[object]]]


def record(kind: str, name: str, fields: list[tuple[str, object]]) -> type[object]:
    """A class of this kind with this name and these fields."""
    named = [(field, cast("type", form)) for field, form in fields]
    as_tuple = cast("Callable[[str, list[tuple[str, type]]], object]", NamedTuple)
    cls: object = attrs.make_class(name, {field: attrs.field(type=form) for field, form in named})
    if kind == "NamedTuple":
        cls = as_tuple(name, named)
    if kind == "dataclass":
        cls = dataclasses.make_dataclass(name, named)
    return cast("type[object]", cls)


def made(told: Told | type[object], order: random.Random) -> object:
    """The type, the fields of its records in some order."""
    if not isinstance(told, Told):
        return told
    parts = sorted(((name, made(part, order)) for name, part in told.parts), key=lambda part: part[0])
    if told.name in ("list", "dict"):
        return GenericAlias(list, parts[0][1]) if told.name == "list" else GenericAlias(dict, (str, parts[0][1]))
    order.shuffle(parts)
    return record(order.choice(["attrs", "dataclass", "NamedTuple"]), told.name, parts)


def wholes(parts: st.SearchStrategy[Told | type[object]]) -> st.SearchStrategy[Told | type[object]]:
    """Types made of types."""
    fields = st.dictionaries(NAMES, parts, min_size=1, max_size=4).map(lambda told: frozenset(told.items()))
    return st.one_of(
        st.builds(Told, st.sampled_from(["list", "dict"]), parts.map(lambda part: frozenset({("", part)}))),
        st.builds(Told, st.sampled_from(["One", "Two"]), fields),
    )


NAMES = st.sampled_from(["a", "b", "c", "d", "number"])
PLAIN: st.SearchStrategy[Told | type[object]] = st.sampled_from([int, str, float, bool, NoneType])
TYPES = st.recursive(PLAIN, wholes, max_leaves=8)
ORDERS = st.randoms(use_true_random=False)


@given(TYPES, ORDERS, ORDERS)
def test_the_order_of_fields_has_no_part_in_it(
    told: Told | type[object], one: random.Random, other: random.Random
) -> None:
    """Types that differ at any depth in the order of fields and the kind of records alone have one schema."""

    assert schema_of(made(told, one)) == schema_of(made(told, other))


@given(TYPES, TYPES, ORDERS)
def test_types_that_differ_have_different_schemas(
    one: Told | type[object], other: Told | type[object], order: random.Random
) -> None:
    """Two types have one schema only if they say the same."""

    assert (one == other) == (schema_of(made(one, order)) == schema_of(made(other, order)))


@given(st.dictionaries(NAMES, PLAIN, min_size=2), NAMES, PLAIN, st.sampled_from(["attrs", "dataclass", "NamedTuple"]))
def test_every_change_of_a_record_changes_it(fields: dict[str, object], name: str, form: object, kind: str) -> None:
    """A field that comes, goes, or has another name or type, and another name of the class: each is another schema."""
    victim, *_ = fields
    rest = {field: each for field, each in fields.items() if field != victim}

    changed = [{**fields, name: form}, rest, {**rest, name: fields[victim]}, {**rest, victim: form}]
    known = schema_of(record(kind, "Record", [*fields.items()]))

    for each in changed:
        assert (each == fields) == (schema_of(record(kind, "Record", [*each.items()])) == known)
    assert known != schema_of(record(kind, "Renamed", [*fields.items()]))


class Plain(TypedDict):
    """A typed dict."""

    a: int
    b: str


class Shade(enum.Enum):
    """An enum."""

    LIGHT = 1
    DARK = 2


@attrs.frozen
class Box(Generic[T]):
    """A generic class."""

    inside: T


@attrs.frozen
class Bare:
    """Two fields."""

    a: int
    b: list[Shade]


NO_SHADES: list[Shade] = []


def bare() -> Iterator[object]:
    """Classes that differ from `Bare` in what no bytes show."""

    @attrs.frozen
    class Bare:
        a: int
        b: list[Shade]

    yield Bare

    @attrs.define(slots=False, eq=False)
    class Documented:
        """A docstring, defaults, a validator, a converter, methods, class variables, notes on types."""

        b: Annotated[list[Shade], "a note"] = attrs.field(factory=list[Shade], metadata={"x": 1})
        a: int = attrs.field(default=3, validator=attrs.validators.ge(0), converter=int, alias="first")

        @property
        def twice(self) -> int:
            return 2 * self.a

    yield Documented

    @dataclasses.dataclass(frozen=True)
    class Data:
        b: list[Shade] = dataclasses.field(repr=False)
        a: int = dataclasses.field(default=7, kw_only=True)

    yield Data

    class Named(NamedTuple):
        a: int
        b: list[Shade] = NO_SHADES

    yield Named


@pytest.mark.parametrize("other", list(bare()), ids=range(4))
def test_what_no_bytes_show_has_no_part_in_it(other: type[object]) -> None:
    """Defaults, docstrings, validators, converters, methods and the kind of the record leave the schema alone."""

    other.__name__ = "Bare"

    assert schema_of(Bare) == schema_of(other)


def test_the_values_of_members_have_no_part_in_it_and_their_names_have() -> None:
    """An enum is its members' names, whatever their order and values."""

    known = schema_of(Shade)

    assert known == schema_of(enum.Enum("Shade", {"DARK": "d", "LIGHT": "l"}))
    assert known != schema_of(enum.Enum("Shade", {"DARK": 2}))
    assert known != schema_of(enum.Enum("Shade", {"DARK": 2, "LIGHT": 1, "MID": 3}))
    assert known != schema_of(enum.Enum("Shade", {"DARK": 2, "BRIGHT": 1}))
    assert known != schema_of(enum.Enum("Tone", {"DARK": 2, "LIGHT": 1}))
    assert schema_of(list[Bare]) != known


def test_a_change_deep_inside_is_seen_from_outside() -> None:
    """What a type is made of has a part in its schema, however many types stand between."""

    def around(form: object) -> object:
        inner = record("attrs", "Inner", [("x", form)])
        for _ in range(4):
            inner = record("dataclass", "Layer", [("one", GenericAlias(dict, (str, inner))), ("two", inner)])
        return inner

    assert schema_of(around(set[int])) == schema_of(around(set[int]))
    assert schema_of(around(set[int])) != schema_of(around(set[str]))
    assert schema_of(around(set[int])) != schema_of(around(frozenset[int]))


MODULE = """from __future__ import annotations
import dataclasses, enum
from decimal import Decimal
from pathlib import Path
from types import GenericAlias, NoneType
from typing import Generic, Literal, NamedTuple, NotRequired, TypedDict, TypeVar
import datetime as dt
import attrs
from effectgraph.effects.codec import codec_for

T = TypeVar("T")

class Shade(enum.Flag):
    LIGHT = 1
    DARK = 2

class Span(NamedTuple):
    start: dt.datetime
    end: dt.datetime | None = None

class Options(TypedDict, total=False):
    path: Path
    mode: Literal["r", "w", 3]

@attrs.frozen
class Box(Generic[T]):
    inside: T
    others: dict[str | int, frozenset[T]]

@dataclasses.dataclass
class Node:
    name: str
    shade: Shade
    next: Node | Box[Span] | Box[int] | Options | None
    parts: tuple[Node, ...] = ()

print(codec_for(Node).schema, codec_for(dict[str, Box[Decimal | Shade]]).schema)
"""
"""A program with types of many kinds that prints their schemas."""


@pytest.mark.parametrize("seed", ["0", "1", "4321"])
def test_the_schema_is_the_same_in_every_process(seed: str, tmp_path: Path) -> None:
    """Neither the process nor its hash seed, working folder, optimisation or Python has a part in a schema."""

    child = subprocess.run(
        [sys.executable, "-OO", "-c", MODULE],
        cwd=tmp_path,
        env={**os.environ, "PYTHONHASHSEED": seed},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert "d63570df455b05aa dca5c52047e8ffa0\n" == child.stdout


def test_pydantic_has_no_part_in_it(tmp_path: Path) -> None:
    """Schemas are the same where pydantic is loaded, and no codec of other types loads it."""

    without = output_of(f"{MODULE}\nimport sys\nprint('pydantic' in sys.modules)", tmp_path)
    beside = output_of(MODULE.replace("import attrs", "import attrs, pydantic"), tmp_path)

    assert beside + "False\n" == without


def test_a_schema_is_sixteen_hex_digits() -> None:
    """A schema is what a migration takes it for, whatever the type."""

    for form in (int, Bare, Plain, dict[str, Box[int]], Literal["a"], None):
        assert re.fullmatch("[0-9a-f]{16}", schema_of(form))
