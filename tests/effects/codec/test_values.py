"""Values of plain types, texts, times, choices and containers: each comes back as it was."""

from __future__ import annotations

import datetime as dt
import enum
import math
import typing
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PosixPath, PurePath, PurePosixPath, PureWindowsPath
from typing import Annotated, Literal, NewType, cast
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from typing_extensions import TypeForm

from alike import look
from effectgraph.effects.codec import NotEncodable, codec_for

NEW_YORK = ZoneInfo("America/New_York")
OrderId = NewType("OrderId", str)
Numbers = NewType("Numbers", list[int])


class Colour(enum.Enum):
    """Values that are no texts, and one that is written under two names."""

    RED = 1
    GREEN = (2, 3)
    ROUGE = RED


Mood = enum.Enum("Mood", {"GOOD": "good"}, type=str)
"""Texts and members at once, as before StrEnum."""


class Size(enum.IntEnum):
    """Integers and members at once."""

    SMALL = 1
    LARGE = 2


class Unit(enum.StrEnum):
    """Texts and members at once."""

    METRE = "m"


class Right(enum.Flag):
    """Members that add up, one of them already added up."""

    READ = 1
    WRITE = 2
    RUN = 4
    ALL = 7


class Mode(enum.IntFlag):
    """Members with bits that have no name alone."""

    ONE = 1
    READ_BOTH = 6
    WRITE_BOTH = 24


VALUES: list[tuple[object, object]] = [
    (None, None),
    (bool, True),
    (bool, False),
    (int, 0),
    (int, -1),
    (float, 1.5),
    (float, 1),
    (float, 2**64),
    (float, 0.0),
    (float, -0.0),
    (float, math.nan),
    (float, math.inf),
    (float, -math.inf),
    (float, 5e-324),
    (float, 1.7976931348623157e308),
    (float, 0.1),
    (str, ""),
    (str, "None"),
    (str, 'caf\u00e9 \U0001f600 \x00 \\ " / \u2028'),
    (bytes, b""),
    (bytes, bytes(range(256))),
    (Decimal, Decimal("1.00")),
    (Decimal, Decimal("-0")),
    (Decimal, Decimal("1E+3")),
    (Decimal, Decimal("19.90")),
    (Decimal, Decimal("1" * 5000)),
    (Decimal, Decimal("NaN")),
    (Decimal, Decimal("sNaN12")),
    (Decimal, Decimal("-Infinity")),
    (Decimal, Decimal("1e-999999")),
    (Fraction, Fraction(0)),
    (Fraction, Fraction(-4, 6)),
    (Fraction, Fraction(1, 10**4299)),
    (Fraction, Fraction(1 - 10**4300, 10**4300 - 3)),
    (UUID, UUID("12345678-1234-5678-1234-567812345678")),
    (dt.date, dt.date(1, 1, 1)),
    (dt.datetime, dt.datetime.max.replace(tzinfo=NEW_YORK, fold=1)),
    (dt.datetime, dt.datetime.min.replace(tzinfo=dt.timezone(dt.timedelta(hours=23, minutes=59)))),
    (dt.datetime, dt.datetime(2026, 3, 8, 2, 30, tzinfo=NEW_YORK)),
    (dt.datetime, dt.datetime(2026, 3, 8, 2, 30, tzinfo=NEW_YORK, fold=1)),
    (dt.datetime, dt.datetime.fromisoformat("9999-12-31T23:59:59.999999")),
    (dt.datetime, dt.datetime.fromisoformat("2026-03-07T09:00:00").replace(fold=1)),
    (dt.datetime, dt.datetime(2026, 3, 7, 9, tzinfo=dt.UTC)),
    (dt.datetime, dt.datetime(2026, 3, 7, 9, tzinfo=ZoneInfo("UTC"))),
    (dt.datetime, dt.datetime(1, 1, 1, tzinfo=ZoneInfo("Asia/Kathmandu"))),
    (dt.datetime, dt.datetime(2026, 3, 7, 9, 1, 2, 3, tzinfo=dt.timezone(dt.timedelta(hours=-5, seconds=-1)))),
    (dt.datetime, dt.datetime(2026, 3, 7, 9, fold=1, tzinfo=dt.timezone(dt.timedelta(hours=1), "[name=x]\n=]"))),
    (dt.datetime, dt.datetime(2026, 3, 7, 9, tzinfo=dt.timezone(dt.timedelta(hours=1), ""))),
    (dt.datetime, dt.datetime(2026, 3, 7, 9, tzinfo=dt.timezone(dt.timedelta(microseconds=-1)))),
    (dt.time, dt.time(9, tzinfo=dt.timezone(dt.timedelta(microseconds=1)))),
    (dt.time, dt.time(9, 30)),
    (dt.time, dt.time(9, 30, 0, 1, tzinfo=dt.UTC, fold=1)),
    (dt.time, dt.time(9, 30, tzinfo=NEW_YORK)),
    (dt.timedelta, dt.timedelta(0)),
    (dt.timedelta, dt.timedelta(days=1, seconds=5, microseconds=7)),
    (dt.timedelta, dt.timedelta(microseconds=-1)),
    (dt.timedelta, dt.timedelta.max),
    (dt.timedelta, dt.timedelta.min),
    (Colour, Colour.GREEN),
    (Colour, Colour.ROUGE),
    (Mood, Mood("good")),
    (Size, Size.LARGE),
    (Unit, Unit.METRE),
    (Right, Right.WRITE),
    (Right, Right.ALL),
    (Right, Right.READ | Right.RUN),
    (Right, Right(0)),
    (Mode, Mode.READ_BOTH | Mode.ONE),
    (Mode, Mode.READ_BOTH | Mode.WRITE_BOTH),
    (Path, Path("a/b")),
    (Path, Path("caf\u00e9 /\x00..//./x")),
    (PurePosixPath, PurePosixPath("//a/b")),
    (PurePosixPath, PurePosixPath("c:\\a")),
    (PureWindowsPath, PureWindowsPath("//server/share/a")),
    (PureWindowsPath, PureWindowsPath("c:a/B.TXT")),
    (PureWindowsPath, PureWindowsPath("//?/c:/a")),
    (PosixPath, PosixPath("/")),
    (PurePath, PurePath("x.txt")),
    (PurePosixPath, PurePosixPath()),
    (PureWindowsPath, PureWindowsPath("C:\\a")),
    (Literal["a", 1, True, None, b"a b"], "a"),
    (Literal["a", 1, True, None, b"a b"], True),
    (Literal["a", 1, True, None, b"a b"], 1),
    (Literal["a", 1, True, None, b"a b"], None),
    (Literal["a", 1, True, None, b"a b"], b"a b"),
    (Literal[Size.SMALL, 1], Size.SMALL),
    (Literal[Size.SMALL, 1], 1),
    (list[int], []),
    (list[list[bool]], [[True], []]),
    (tuple[()], ()),
    (tuple[int, str], (1, "a")),
    (tuple[float, ...], (1, 1.0, -0.0)),
    (tuple[tuple[int], ...], ((1,), (2,))),
    (set[str], {"b", "a"}),
    (set[float], {math.nan}),
    (frozenset[tuple[int, ...]], frozenset({(1, 2), ()})),
    (set[Size], {Size.SMALL, Size.LARGE}),
    (set[frozenset[int]], {frozenset({1}), frozenset({1, 2})}),
    (dict[str, int], {"b": 1, "a": 2, "": 3, "float": 4}),
    (dict[str, dict[str, None]], {"a": {"b": None}}),
    (dict[OrderId, int], {OrderId("a"): 1}),
    (dict[UUID, int], {UUID(int=1): 1}),
    (dict[dt.date, int], {dt.date(2026, 3, 7): 1}),
    (dict[Literal["a", "b"], int], {"a": 1}),
    (OrderId, OrderId("a")),
    (Numbers, Numbers([1])),
    (typing.__dict__["List"][int], [1]),
    (Annotated[int, "a note", []], 1),
    (list[Annotated[int, []]], [1]),
    (int | None, None),
    (int | None, 1),
]
"""Types, and a value of each."""


def there_and_back(form: object, value: object) -> object:
    """What comes back of a value, encoded and in canonical bytes alike."""
    codec = codec_for(cast("TypeForm[object]", form))
    data = codec.encode(value)
    assert codec.canonical(codec.decode(codec.canonical(value))) == codec.canonical(value)
    assert codec.encode(codec.decode(data)) == data
    return codec.decode(data)


@pytest.mark.parametrize(("form", "value"), VALUES, ids=map(str, range(len(VALUES))))
def test_a_value_comes_back_as_it_was(form: object, value: object) -> None:
    """What is decoded is equal to what was encoded, and of the same types and the same look all the way down."""

    assert look(there_and_back(form, value)) == look(value)


def test_K01_a_wall_time_keeps_its_zone_and_fold() -> None:
    """A day after 09:00 in New York, on the night the clocks change, it is 09:00 again, at the other offset."""

    codec = codec_for(dt.datetime)
    before = codec.decode(codec.encode(dt.datetime(2026, 3, 7, 9, tzinfo=NEW_YORK)))
    second = codec.decode(codec.encode(dt.datetime(2026, 11, 1, 1, 30, tzinfo=NEW_YORK, fold=1)))

    assert before.isoformat() == "2026-03-07T09:00:00-05:00"
    assert (before + dt.timedelta(days=1)).isoformat() == "2026-03-08T09:00:00-04:00"
    assert second.fold == 1
    assert second.isoformat() == "2026-11-01T01:30:00-05:00"


@pytest.mark.parametrize(
    "number",
    [2**63, 2**64, -(2**63) - 1, 10**3999 + 7, -(10**4299), 1 - 10**4300, 10**4300 - 1],
    ids=["63 bits", "64 bits", "-63 bits", "4,000 digits", "4,300 digits below zero", "least", "greatest"],
)
def test_K02_integers_of_any_size_are_exact(number: int) -> None:
    """Integers beyond 64 bits, up to 4,300 digits, come back digit by digit, wherever they may stand."""

    assert there_and_back(int, number) == number
    assert look(there_and_back(float, number)) == look(number)
    assert there_and_back(dict[int, list[int | str]], {number: [number, "a"]}) == {number: [number, "a"]}
    assert there_and_back(dict[tuple[int, ...], int], {(number, 1): number}) == {(number, 1): number}
    assert there_and_back(Fraction, Fraction(number, 2**64)) == Fraction(number, 2**64)


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        (Decimal, Decimal("19.90"), b'"19.90"'),
        (Fraction, Fraction(1, 3), b'"1/3"'),
        (PurePosixPath, PurePosixPath("a/b"), b'"a/b"'),
        (dt.timedelta, dt.timedelta(minutes=90), b'"P0DT5400S"'),
        (UUID, UUID(int=7), b'"00000000-0000-0000-0000-000000000007"'),
    ],
)
def test_K03_values_written_as_texts_keep_their_text(form: object, value: object, text: bytes) -> None:
    """A Decimal keeps its zeros; paths, durations and UUIDs are texts that an operator can read."""

    codec = codec_for(cast("TypeForm[object]", form))

    assert codec.encode(value) == text
    assert look(codec.decode(text)) == look(value)


@pytest.mark.parametrize(
    ("form", "value"),
    [
        (dict[int, int], {1: 1, -2: 2, 2**70: 3}),
        (dict[bool, str], {True: "a", False: "b"}),
        (dict[str, int], {"1": 1, "true": 2}),
        (dict[Size, int], {Size.SMALL: 1}),
        (dict[Colour, int], {Colour.RED: 1}),
        (dict[Literal[1, 2], int], {1: 1}),
    ],
)
def test_K05_keys_keep_their_types(form: object, value: object) -> None:
    """Keys that are no texts are the same keys afterwards, in the same order."""

    assert look(there_and_back(form, value)) == look(value)


def test_a_path_that_would_be_another_one_is_refused() -> None:
    """Python 3.11 gives a file named `c:x` the text of a file `x` on drive C; later ones give it a text of its own."""

    path = PureWindowsPath("./c:x")
    codec = codec_for(PureWindowsPath)

    if str(path) == "c:x":
        with pytest.raises(NotEncodable, match="looks like a path on a drive, and is none"):
            codec.encode(path)
    else:
        assert codec.decode(codec.encode(path)) == path


def test_K08_members_are_the_same_members() -> None:
    """Members of every kind of enum come back as themselves, wherever they stand."""

    form = dict[Colour, tuple[set[Size], Unit, Right]]
    value = {Colour.GREEN: ({Size.SMALL, Size.LARGE}, Unit.METRE, Right.READ | Right.WRITE)}

    back = codec_for(form).decode(codec_for(form).encode(value))

    assert back == value
    assert [type(member) for member in back] == [Colour]
    assert {type(member) for member in back[Colour.GREEN][0]} == {Size}


def test_an_enum_is_written_by_name() -> None:
    """The value of a member may change: it is the name that is stored, and an alias is read as its member."""

    assert codec_for(Colour).encode(Colour.ROUGE) == b'"RED"'
    assert codec_for(Colour).decode(b'"ROUGE"') is Colour.RED
    assert codec_for(Right).encode(Right.READ | Right.RUN) == b'"READ|RUN"'


def test_a_dict_keeps_its_order() -> None:
    """A program sees the order of a dict, so it is kept."""

    codec = codec_for(dict[str, int])

    assert list(codec.decode(codec.encode({"b": 1, "a": 2}))) == ["b", "a"]


def test_what_is_decoded_is_a_copy() -> None:
    """What a caller does to a decoded value changes nothing for the next one."""

    codec = codec_for(list[list[int]])
    data = codec.encode([[1]])
    codec.decode(data)[0].append(2)

    assert codec.decode(data) == [[1]]


def test_a_codec_is_made_once_for_each_type() -> None:
    """Asking again for a type gives the same codec; types that Python takes for equal have one."""

    assert codec_for(dict[str, int]) is codec_for(dict[str, int])
    assert codec_for(Literal[1]) is not codec_for(Literal[True])
    assert codec_for(list[Literal[1]]).decode(b"[1]") == [1]
    assert codec_for(list[Literal[True]]).decode(b"[true]") == [True]
