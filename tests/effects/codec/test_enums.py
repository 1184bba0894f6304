"""Enums and flags of every kind: by the names of their members, whatever their values are."""

from __future__ import annotations

import enum
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Literal, TypedDict, cast

import attrs
import pytest
from typing_extensions import TypeForm

from alike import look
from effectgraph.effects.codec import Codec, NotDecodable, NotEncodable, UnsupportedType, codec_for
from stable_ids import named


def codec_of(form: object) -> Codec[object]:
    """The codec of a type that is in a table."""
    return codec_for(cast("TypeForm[object]", form))


class Plain(enum.Enum):
    """Values that are equal to others, that have no hash, or that are not equal to themselves."""

    ONE = 1
    UN = ONE
    TRUE = "true"
    MANY = bytearray(1)
    NOTHING = None
    NAN = float("nan")


Text = enum.Enum("Text", {"GOOD": "good", "BAD": "bad"}, type=str)
"""Texts and members at once, as before StrEnum."""


class Str(enum.StrEnum):
    """Texts and members at once; one has the name of another's value."""

    A = "B"
    B = "A"


class Int(enum.IntEnum):
    """Integers and members at once; equal to bools."""

    NONE = 0
    ONE = 1


class Real(float, enum.Enum):
    """Floats and members at once."""

    HALF = 0.5


class Pair(tuple[int, str], enum.Enum):
    """Tuples and members at once."""

    __slots__ = ()

    FIRST = (1, "a")


@dataclass(frozen=True)
class Body:
    """What each planet is."""

    mass: float


class Planet(Body, enum.Enum):
    """Dataclasses and members at once."""

    EARTH = 5.97
    MARS = 0.64


class Right(enum.Flag):
    """Bits, one without a name, one name for several, and one for none."""

    NONE = 0
    READ = 1
    WRITE = 2
    RUN = 8
    ALL = 11


class Mode(enum.IntFlag):
    """Integers and flags at once."""

    A = 1
    B = 2


class Strict(enum.Flag, boundary=enum.STRICT):
    """A flag that refuses bits it does not know."""

    A = 1
    B = 4


class Kept(enum.Flag, boundary=enum.KEEP):
    """A flag that keeps them."""

    A = 1
    B = 4


class Nested:
    """A class with an enum in it."""

    class Colour(enum.Enum):
        """An enum in a class."""

        RED = 1


@attrs.frozen
class Outer:
    """Enums in every place of a class."""

    plain: Plain
    right: Right
    many: frozenset[Int]
    by_text: dict[Text, list[Str]]
    literal: Literal[Str.A, Int.ONE] = Str.A


class Keys(TypedDict):
    """Enums in a typed dict."""

    planets: tuple[Planet, ...]


VALUES: list[tuple[object, object, bytes | None]] = [
    *((Plain, member, b'"%s"' % member.name.encode()) for member in Plain),
    (Plain, Plain.UN, b'"ONE"'),
    (Text, Text("bad"), b'"BAD"'),
    (Str, Str.A, b'"A"'),
    (Str, Str.B, b'"B"'),
    (Int, Int.ONE, b'"ONE"'),
    (Real, Real.HALF, b'"HALF"'),
    (Pair, Pair.FIRST, b'"FIRST"'),
    (Planet, Planet.MARS, b'"MARS"'),
    (Nested.Colour, Nested.Colour.RED, b'"RED"'),
    (Right, Right.NONE, b'"NONE"'),
    (Right, Right.ALL, b'"ALL"'),
    (Right, Right.READ | Right.RUN, b'"READ|RUN"'),
    (Right, ~Right.READ, b'"WRITE|RUN"'),
    (Mode, Mode.A | Mode.B, b'"A|B"'),
    (Mode, Mode(0), b'""'),
    (Strict, Strict.A | Strict.B, b'"A|B"'),
    (Kept, Kept.B, b'"B"'),
    (set[Plain], {Plain.NAN, Plain.ONE, Plain.MANY}, b'["MANY","NAN","ONE"]'),
    (frozenset[Int], frozenset(Int), b'["NONE","ONE"]'),
    (frozenset[Right], frozenset({Right.READ, Right.READ | Right.WRITE}), b'["READ","READ|WRITE"]'),
    (dict[Plain, int], {Plain.MANY: 1, Plain.NAN: 2}, b'{"MANY":1,"NAN":2}'),
    (dict[Planet, int], {Planet.EARTH: 1}, b'{"EARTH":1}'),
    (Counter[Str], Counter([Str.A, Str.A, Str.B]), b'{"A":2,"B":1}'),
    (Int | int | bool, Int.ONE, b'"ONE"'),
    (Int | int | bool, 1, b"1"),
    (Int | int | bool, True, b"true"),
    (Str | str, Str.A, b'{"Str":"A"}'),
    (Str | str, "A", b'{"str":"A"}'),
    (Str | Text, Text("good"), b'{"Text":"GOOD"}'),
    (Literal[Right.READ, Mode.B], Mode.B, b'"B"'),
    (Outer, Outer(Plain.UN, Right.ALL, frozenset(Int), {Text("good"): [Str.B]}, Int.ONE), None),
    (Keys, {"planets": (Planet.EARTH,)}, b'{"planets":["EARTH"]}'),
]
"""Types, a value of each, and its bytes where they are worth a look."""


@pytest.mark.parametrize(("form", "value", "data"), VALUES, ids=map(str, range(len(VALUES))))
def test_K08_every_member_is_the_same_member(form: object, value: object, data: bytes | None) -> None:
    """A member is known by its name, so it comes back as itself, whatever its value is equal to."""

    codec = codec_of(form)
    encoded = codec.encode(value)
    back = codec.decode(encoded)

    assert data is None or encoded == data
    assert look(back) == look(value)
    if isinstance(value, enum.Enum):
        assert back is value


def test_K08_all_flags_come_back() -> None:
    """Every sum of members comes back as itself."""

    forms: list[type[enum.Flag]] = [Right, Mode, Strict, Kept]
    for form in forms:
        codec = codec_of(form)
        members = list(form)
        for chosen in range(2 ** len(members)):
            value = form(0)
            for index, member in enumerate(members):
                if chosen >> index & 1:
                    value |= member

            assert codec.decode(codec.encode(value)) is value


@pytest.mark.parametrize(
    ("form", "value", "why"),
    [
        (Plain, 1, "is of type int"),
        (Plain, "ONE", "is of type str"),
        (Plain, Int.ONE, "is of type Int"),
        (Int, 1, "is of type int"),
        (Int, True, "is of type bool"),
        (int, Int.ONE, "is a Int, a subclass"),
        (str, Str.A, "is a Str, a subclass"),
        (str, Text("good"), "is a Text, a subclass"),
        (float, Real.HALF, "is a Real, a subclass"),
        (tuple[int, str], Pair.FIRST, "is a Pair, a subclass"),
        (Body, Planet.EARTH, "is a Planet, a subclass"),
        (Mode, 1, "is of type int"),
        (int, Mode.A, "is a Mode, a subclass"),
        (Kept, Kept(2), "has bits that no member names"),
        (Kept, Kept(3), "has bits that no member names"),
        (Mode, Mode(4), "has bits that no member names"),
        (Literal[Str.A], Str.B, "is none of these values"),
        (Literal[Str.A], "B", "is of type str"),
    ],
    ids=map(str, range(18)),
)
def test_K08_a_member_and_its_value_are_two_things(form: object, value: object, why: str) -> None:
    """A value in the place of a member, or a member in the place of a value, is refused."""

    with pytest.raises(NotEncodable) as caught:
        codec_of(form).encode(value)

    assert why in caught.value.why


@pytest.mark.parametrize(
    ("form", "data", "why"),
    [
        (Plain, b'"THREE"', 'Plain has no member "THREE"'),
        (Plain, b"1", "found an integer"),
        (Plain, b"null", "found null"),
        (Str, b'"a"', 'Str has no member "a"'),
        (Plain, b'"name"', 'Plain has no member "name"'),
        (Plain, b'"__members__"', 'Plain has no member "__members__"'),
        (Right, b'"READ|"', 'Right has no member ""'),
        (Right, b'"READ|MORE"', 'Right has no member "MORE"'),
        (Right, b"1", "found an integer"),
        (Right, b'["READ"]', "found an array"),
        (Literal[Str.A], b'"B"', "expected Literal"),
    ],
    ids=map(str, range(11)),
)
def test_K08_a_name_of_no_member_is_refused(form: object, data: bytes, why: str) -> None:
    """Only names of members are read."""

    with pytest.raises(NotDecodable) as caught:
        codec_of(form).decode(data)

    assert why in caught.value.why


def test_an_alias_of_a_member_is_read_as_the_member() -> None:
    """A member that was renamed keeps its old name as an alias, and is found by it."""

    assert codec_for(Plain).decode(b'"UN"') is Plain.ONE
    assert codec_for(Right).decode(b'"WRITE|READ"') is Right.READ | Right.WRITE


@dataclass
class Changing:
    """What compares by value and can change has no hash."""

    x: int


class Odd(Changing, enum.Enum):
    """An enum whose members have none either."""

    ONE = 1


@pytest.mark.parametrize(
    ("form", "why"),
    [
        (enum.Enum, "it has no members"),
        (enum.Flag, "it has no members"),
        (set[Odd], "Odd has no hash"),
        (dict[Odd, int], "Odd has no hash"),
    ],
    ids=named,
)
def test_an_enum_that_cannot_be_named_is_refused(form: object, why: str) -> None:
    """An enum without members, or with names that do not tell, is refused when the codec is made."""

    with pytest.raises(UnsupportedType, match=why):
        codec_of(form)


def test_a_flag_whose_values_do_not_add_up_is_refused() -> None:
    """A flag of other values than integers has no bits to name. Before Python 3.13 there can be none."""

    if sys.version_info >= (3, 13):
        with pytest.raises(UnsupportedType, match="a flag whose values are no integers"):
            codec_of(enum.Flag("Loud", {"A": "a"}, type=str))
