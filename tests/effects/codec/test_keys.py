"""Keys of dicts: of every type that can be one, alone and mixed, each the same key afterwards."""

from __future__ import annotations

import datetime as dt
import enum
import json
import math
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath, PureWindowsPath
from types import GenericAlias
from typing import Generic, Literal, NamedTuple, TypeVar, cast
from uuid import UUID

import attrs
import hypothesis.strategies as st
import pytest
from hypothesis import given
from typing_extensions import TypeForm

from alike import look
from effectgraph.effects.codec import Codec, NotDecodable, NotEncodable, UnsupportedType, codec_for
from stable_ids import named

T = TypeVar("T")


def codec_of(form: object) -> Codec[object]:
    """The codec of a type that is in a table."""
    return codec_for(cast("TypeForm[object]", form))


class Colour(enum.Enum):
    """Values of several kinds, one without a hash."""

    RED = 1
    BLUE = bytearray(1)


class Size(enum.IntEnum):
    """Integers and members at once."""

    SMALL = 1


class Unit(enum.StrEnum):
    """Texts and members at once."""

    METRE = "m"


class Right(enum.Flag):
    """Members that add up."""

    READ = 1
    WRITE = 2


class Span(NamedTuple):
    """A tuple with names."""

    start: int
    unit: str = "m"


@attrs.frozen
class Place:
    """A frozen class, with fields in no order of the alphabet."""

    row: int
    at: tuple[float, ...] = ()


@attrs.frozen
class Pair(Generic[T]):
    """A generic frozen class."""

    first: T
    second: T


@attrs.frozen(eq=False)
class Identity:
    """A class whose objects are only equal to themselves."""

    x: int


@attrs.frozen
class Loose:
    """A frozen class with a field that has no hash."""

    x: list[int] = attrs.field(factory=list[int], eq=False)


@attrs.frozen
class Tree:
    """A class that refers to itself."""

    branches: tuple[Tree, ...] = ()


VALUES: list[tuple[object, object, bytes | None]] = [
    (dict[tuple[int, str], bool], {(1, "b"): True}, b'{"[1,\\"b\\"]":true}'),
    (dict[tuple[int, ...], int], {(): 0, (2, 1): 1, (1,): 2}, b'{"[]":0,"[2,1]":1,"[1]":2}'),
    (dict[tuple[tuple[int, ...], tuple[Colour, str | None]], int], {((1, 2), (Colour.BLUE, None)): 1}, None),
    (dict[tuple[bytes, dt.date], int], {(b"\xff", dt.date(2026, 3, 7)): 1}, b'{"[\\"/w==\\",\\"2026-03-07\\"]":1}'),
    (dict[float, str], {1.5: "a", -0.0: "b", 1: "c", 2**70: "d"}, None),
    (dict[float, str], {math.nan: "a", math.inf: "b", -math.inf: "c"}, None),
    (dict[float, str], {0.1: "a", 1e300: "b", 5e-324: "c"}, b'{"0.1":"a","1e300":"b","5e-324":"c"}'),
    (dict[bool, str], {True: "a", False: "b"}, b'{"true":"a","false":"b"}'),
    (dict[None, int], {None: 1}, b'{"null":1}'),
    (dict[int | str, int], {1: 1, "1": 2, "x": 3}, b'{"1":1,"\\"1\\"":2,"\\"x\\"":3}'),
    (dict[int | str | None, int], {None: 0, "null": 1, 1: 2, "1": 3, "None": 4}, None),
    (dict[str | None, int], {None: 0, "null": 1, "": 2}, b'{"null":0,"\\"null\\"":1,"\\"\\"":2}'),
    (dict[bool | str, int], {True: 0, "true": 1, "True": 2}, None),
    (dict[float | str, int], {1.0: 0, "1.0": 1, math.nan: 2, "nan": 3, '{"float":"nan"}': 4}, None),
    (dict[Colour | str | int, int], {Colour.RED: 1, "RED": 2, 3: 4}, None),
    (dict[Size | int | str, int], {Size.SMALL: 1, "SMALL": 2, 5: 3}, None),
    (dict[Unit | str, int], {Unit.METRE: 1, "METRE": 2}, b'{"{\\"Unit\\":\\"METRE\\"}":1,"{\\"str\\":\\"METRE\\"}":2}'),
    (dict[tuple[int, ...] | int, int], {(1,): 1, 1: 2}, b'{"[1]":1,"1":2}'),
    (dict[tuple[int, int] | tuple[str, str], int], {(1, 2): 1, ("1", "2"): 2}, None),
    (dict[Literal["a", 1, None], int], {"a": 1, 1: 2, None: 3}, b'{"\\"a\\"":1,"1":2,"null":3}'),
    (dict[Decimal | str, int], {Decimal("1.0"): 1, "1.0": 2}, None),
    (dict[Colour, int], {Colour.BLUE: 1, Colour.RED: 2}, b'{"BLUE":1,"RED":2}'),
    (dict[Size, int], {Size.SMALL: 1}, b'{"SMALL":1}'),
    (dict[Unit, int], {Unit.METRE: 1}, b'{"METRE":1}'),
    (dict[Right, int], {Right.READ | Right.WRITE: 1, Right(0): 2}, b'{"READ|WRITE":1,"":2}'),
    (dict[Fraction, int], {Fraction(1, 3): 1, Fraction(2): 2}, b'{"1/3":1,"2":2}'),
    (dict[UUID, int], {UUID(int=5): 1}, None),
    (dict[dt.datetime, int], {dt.datetime(2026, 3, 7, tzinfo=dt.UTC): 1}, b'{"2026-03-07T00:00:00+00:00":1}'),
    (dict[dt.time | dt.timedelta, int], {dt.time(9): 1, dt.timedelta(1): 2}, None),
    (dict[PurePosixPath, int], {PurePosixPath("a/b"): 1}, b'{"a/b":1}'),
    (dict[PurePosixPath | PureWindowsPath, int], {PurePosixPath("a"): 1, PureWindowsPath("a"): 2}, None),
    (dict[bytes, int], {b"a": 1}, b'{"YQ==":1}'),
    (dict[frozenset[str], int], {frozenset({"b", "a"}): 1}, b'{"[\\"a\\",\\"b\\"]":1}'),
    (dict[frozenset[frozenset[int]], int], {frozenset({frozenset({2, 1}), frozenset[int]()}): 1}, None),
    (dict[Span, int], {Span(1): 1}, b'{"{\\"start\\":1,\\"unit\\":\\"m\\"}":1}'),
    (dict[Place, int], {Place(1, (0.5,)): 1}, b'{"{\\"at\\":[0.5],\\"row\\":1}":1}'),
    (dict[Pair[int] | Pair[str], int], {Pair(1, 2): 1, Pair("a", "b"): 2}, None),
    (dict[tuple[Place | None, ...], int], {(None, Place(1)): 1}, None),
    (dict[tuple[int, str], dict[int | str, int]], {(1, "a"): {1: 1, "1": 2}, (2, "b"): {}}, None),
]
"""Types of dicts, values of them, and their bytes where they are worth a look."""


@pytest.mark.parametrize(("form", "value", "data"), VALUES, ids=map(str, range(len(VALUES))))
def test_K05_every_key_is_the_same_key_afterwards(form: object, value: object, data: bytes | None) -> None:
    """Keys come back equal, of their own types, in their order, and are found again; 1 and "1" stay apart."""

    codec = codec_of(form)
    encoded = codec.encode(value)
    back = cast("dict[object, object]", codec.decode(encoded))

    assert data is None or encoded == data
    assert look(back) == look(value)
    assert back == value
    assert codec.encode(back) == encoded
    assert codec.canonical(codec.decode(codec.canonical(value))) == codec.canonical(value)


@given(
    value=st.dictionaries(
        st.one_of(st.integers(), st.none(), st.text(st.characters(exclude_categories=["Cs"]))), st.booleans()
    )
)
def test_mixed_keys_never_meet(value: dict[int | str | None, bool]) -> None:
    """Whatever a text looks like, it is never taken for a number or for nothing, nor the other way round."""

    codec = codec_of(dict[int | str | None, bool])

    assert look(codec.decode(codec.encode(value))) == look(value)


@given(
    keys=st.lists(
        st.tuples(
            st.one_of(st.integers(), st.text(st.characters(exclude_categories=["Cs"]))),
            st.tuples(st.floats(), st.sampled_from(Colour)),
        ),
        max_size=4,
    )
)
def test_nested_keys_come_back(keys: list[tuple[int | str, tuple[float, Colour]]]) -> None:
    """Tuples of several levels with mixed parts are the same keys; two nans are refused, as they would become one."""

    codec = codec_for(cast("TypeForm[object]", dict[tuple[int | str, tuple[float, Colour]], int]))
    value = {key: index for index, key in enumerate(keys)}

    texts = {json.dumps([first, str(number), colour.name]) for first, (number, colour) in value}
    if len(texts) < len(value):
        with pytest.raises(NotEncodable, match="has two keys that are written alike"):
            codec.encode(value)
    else:
        assert look(codec.decode(codec.encode(value))) == look(value)


def test_canonical_bytes_do_not_depend_on_the_order_of_mixed_keys() -> None:
    """Dicts with keys of several types are sorted as well, at every level."""

    codec = codec_of(dict[int | str, dict[tuple[int, ...], int]])
    one = {1: {(2,): 1, (1,): 2}, "1": dict[tuple[int, ...], int]()}
    other = {"1": dict[tuple[int, ...], int](), 1: {(1,): 2, (2,): 1}}

    assert codec.canonical(one) == codec.canonical(other) == b'{"\\"1\\"":{},"1":{"[1]":2,"[2]":1}}'
    assert codec.encode(one) != codec.encode(other)


def test_the_order_of_fields_is_nothing_to_a_key() -> None:
    """A key that is an object has one text, whatever the order in which its class names the fields."""

    codec = codec_for(dict[Place, int])

    assert codec.encode({Place(1): 1}) == codec.canonical({Place(1): 1}) == b'{"{\\"at\\":[],\\"row\\":1}":1}'
    with pytest.raises(NotDecodable, match="expected the JSON of Place as key, as it is written here"):
        codec.decode(b'{"{\\"row\\":1,\\"at\\":[]}":1}')


REFUSED: list[tuple[object, object, str, str, str]] = [
    (dict[float, int], {math.nan: 1, float("nan"): 2}, "", "dict[float, int]", "two keys that are written alike"),
    (dict[float, int], {True: 1}, "[key True]", "float", "is of type bool"),
    (dict[int | str, int], {1.0: 1}, "[key 1.0]", "int | str", "is of type float"),
    (dict[int | str, int], {True: 1}, "[key True]", "int | str", "is of type bool"),
    (dict[int | str, int], {1: None}, "[1]", "int", "is of type NoneType"),
    (dict[int | str, int], {"a": None}, '["a"]', "int", "is of type NoneType"),
    (dict[tuple[int, str], int], {(1, "b"): None}, '[[1,"b"]]', "int", "is of type NoneType"),
    (dict[tuple[int, str], int], {(1, 2): 1}, "[key (1, 2)][1]", "str", "is of type int"),
    (dict[tuple[int, str], int], {(1,): 1}, "[key (1,)]", "tuple[int, str]", "has 1 items, not 2"),
    (
        dict[tuple[int, str], int],
        {Span(1): 1},
        "[key Span(start=1, unit='m')]",
        "tuple[int, str]",
        "is a Span, a subclass",
    ),
    (dict[None, int], {1: 1}, "[key 1]", "None", "is of type int"),
    (dict[Span, int], {(1, "m"): 1}, "[key (1, 'm')]", "Span", "is of type tuple"),
    (dict[Colour, int], {Size.SMALL: 1}, "[key 1]", "Colour", "is of type Size"),
    (dict[Size, int], {1: 1}, "[key 1]", "Size", "is of type int"),
    (dict[int, int], {10**4300: 1}, "[key of type int]", "int", "has more than 4300 digits"),
    (dict[tuple[int, ...], int], {(10**4300,): 1}, "[key of type tuple][0]", "int", "has more than 4300 digits"),
    (OrderedDict[tuple[int, ...], int], OrderedDict({(1,): None}), "[[1]]", "int", "is of type NoneType"),
]
"""Types of dicts, values with a key or value of another type, and the path, the type and the reason of the refusal."""


@pytest.mark.parametrize(("form", "value", "path", "name", "why"), REFUSED, ids=map(str, range(len(REFUSED))))
def test_a_key_of_another_type_is_refused(form: object, value: object, path: str, name: str, why: str) -> None:
    """A key is of exactly the declared type; the path shows which key it is, or which one leads to the mistake."""

    with pytest.raises(NotEncodable) as caught:
        codec_of(form).encode(value)

    assert (caught.value.path, caught.value.type) == (path, name)
    assert why in caught.value.why


def test_a_key_that_cannot_be_shown_is_refused() -> None:
    """A key whose own text raises is still an error of the codec, and its path names the class."""

    class Shy:
        def __str__(self) -> str:
            raise RuntimeError

    with pytest.raises(NotEncodable) as caught:
        codec_of(dict[str, int]).encode({Shy(): 1})

    assert caught.value.path == "[key of type Shy]"


DAMAGED: list[tuple[object, str, str, str]] = [
    (dict[float, int], "1.50", '[key "1.50"]', "as it is written here"),
    (dict[float, int], "nan", '[key "nan"]', "expected the JSON of float as key"),
    (dict[float, int], '{"float":"NaN"}', '[key "{\\"float\\":\\"NaN\\"}"]', "expected float"),
    (dict[float, int], "1e400", '[key "1e400"]', "expected the JSON of float as key"),
    (dict[bool, int], "1", '[key "1"]', "expected bool, found an integer"),
    (dict[None, int], "None", '[key "None"]', "expected the JSON of None as key"),
    (dict[int | str, int], "a", '[key "a"]', "expected the JSON of int | str as key"),
    (dict[int | str, int], "01", '[key "01"]', "expected the JSON of int | str as key"),
    (dict[int | str, int], "-0", '[key "-0"]', "as it is written here"),
    (dict[int | str, int], " 1", '[key " 1"]', "as it is written here"),
    (dict[int | str, int], "null", '[key "null"]', "expected int | str, found null"),
    (dict[int | str, int], '"\\u0061"', '[key "\\"\\\\u0061\\""]', "as it is written here"),
    (dict[int | str, int], '"\\ud800"', '[key "\\"\\\\ud800\\""]', "expected the JSON of int | str as key"),
    (dict[tuple[int, ...], int], "", '[key ""]', "expected the JSON of tuple[int, ...] as key"),
    (dict[tuple[int, ...], int], "[1, 2]", '[key "[1, 2]"]', "as it is written here"),
    (dict[tuple[int, ...], int], "[1,null]", '[key "[1,null]"][1]', "expected int, found null"),
    (dict[tuple[int, ...], int], "[" * 100_000, f'[key "{"[" * 60}..."]', "expected the JSON of tuple[int, ...]"),
    (dict[tuple[int, ...], int], "[" * 90 + "]" * 90, f'[key "{"[" * 60}..."][0]', "expected int, found an array"),
    (
        dict[Place, int],
        '{"at":[],"at":[],"row":1}',
        '[key "{\\"at\\":[],\\"at\\":[],\\"row\\":1}"]',
        "as it is written here",
    ),
    (dict[tuple[Decimal], int], '["sNaN"]', '[key "[\\"sNaN\\"]"]', "can be no key"),
    (dict[Colour, int], "1", '[key "1"]', 'Colour has no member "1"'),
    (dict[Fraction, int], "2/6", '[key "2/6"]', "expected Fraction"),
]
"""Types of dicts, texts that are no keys of them, and where and why each is refused."""


@pytest.mark.parametrize(("form", "text", "path", "why"), DAMAGED, ids=map(str, range(len(DAMAGED))))
def test_a_text_that_no_key_has_is_refused(form: object, text: str, path: str, why: str) -> None:
    """Each key has exactly one text; any other, as deep as it may be, is an error that shows it."""

    with pytest.raises(NotDecodable) as caught:
        codec_of(form).decode(json.dumps({text: 1}).encode())

    assert caught.value.path == path
    assert why in caught.value.why


def test_the_path_to_a_value_is_the_same_both_ways() -> None:
    """A value under a key that is no text is found by the same path on the way out and on the way in."""

    codec = codec_of(dict[tuple[int, str], dict[int, dict[Colour, dict[UUID | None, int]]]])
    with pytest.raises(NotEncodable) as encoding:
        codec.encode({(1, "a"): {7: {Colour.RED: {None: "x"}}}})
    with pytest.raises(NotDecodable) as decoding:
        codec.decode(b'{"[1,\\"a\\"]":{"7":{"RED":{"null":"x"}}}}')

    assert encoding.value.path == decoding.value.path == '[[1,"a"]][7].RED[null]'


def test_two_equal_keys_are_refused() -> None:
    """Texts of two keys that Python takes for equal are not a dict that lost one of them."""

    with pytest.raises(NotDecodable, match="two keys are equal"):
        codec_of(dict[int | bool, int]).decode(b'{"1":1,"true":2}')
    with pytest.raises(NotDecodable, match="two keys are equal"):
        codec_of(dict[float, int]).decode(b'{"1":1,"1.0":2}')


@pytest.mark.parametrize(
    ("form", "name", "why"),
    [
        (list[int], "list[int]", "list has no hash"),
        (tuple[list[int], int], "tuple[list[int], int]", "something in it has no hash"),
        (tuple[tuple[set[int], ...], int], "tuple[tuple[set[int], ...], int]", "something in it has no hash"),
        (int | dict[str, int], "dict[str, int] | int", "dict has no hash"),
        (Identity, "Identity", "a key is a text, a number"),
        (Loose, "Loose", "a key is a text, a number"),
        (tuple[Loose, int], "tuple[Loose, int]", "a key is a text, a number"),
        (Tree, "Tree", "does not refer to itself"),
    ],
    ids=named,
)
def test_a_type_that_is_no_key_is_refused(form: object, name: str, why: str) -> None:
    """What has no hash, or another one afterwards, is refused as a key when the codec is made."""

    for whole in (GenericAlias(dict, (form, int)), GenericAlias(OrderedDict, (form, int))):
        with pytest.raises(UnsupportedType) as caught:
            codec_of(whole)

        assert (caught.value.path, caught.value.type) == ("[key]", name)
        assert why in caught.value.why


def test_a_tuple_that_never_has_a_hash_is_no_element() -> None:
    """A tuple with a list in it can stand in no set, and its type shows it."""

    with pytest.raises(UnsupportedType, match=r"tuple\[list\[int\], int\] at \[\]: something in it has no hash"):
        codec_of(set[tuple[list[int], int]])


def test_objects_that_compare_by_identity_may_stand_in_sets() -> None:
    """A set of them is what it was before: as many objects, with the same fields."""

    codec = codec_for(frozenset[Identity])
    back = codec.decode(codec.encode(frozenset({Identity(1), Identity(2)})))

    assert sorted(each.x for each in back) == [1, 2]


@pytest.mark.parametrize(
    ("form", "part"), [(dict[tuple[object, int], int], "[key][0]"), (dict[object, int], "[key]")], ids=named
)
def test_the_type_of_a_key_is_checked_all_the_way_down(form: object, part: str) -> None:
    """What is refused anywhere is refused in a key, with the path to it."""

    with pytest.raises(UnsupportedType) as caught:
        codec_of(form)

    assert (caught.value.path, caught.value.type) == (part, "object")
