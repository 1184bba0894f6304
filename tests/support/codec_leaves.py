"""Forms that have no other forms in them: plain types, texts, times, paths, enums, literals."""

from __future__ import annotations

import datetime as dt
import enum
import math
import typing
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PosixPath, PurePath, PurePosixPath, PureWindowsPath
from types import NoneType
from typing import Final, cast
from uuid import UUID
from zoneinfo import ZoneInfo

import attrs
import hypothesis.strategies as st
from hypothesis.strategies import SearchStrategy

from codec_form import Bad, Form, Number, one_of_these

GREATEST: Final = 10**4300 - 1
"""The greatest integer that a codec carries."""

NAMES: Final = [
    *("a", "b", "c", "A", "x1", "name", "value", "\u00e9t\u00e9"),
    *("items", "float", "maxlen", "factory", "key"),
]
"""Names of fields and members, some of which mean something in the bytes of other types."""

TEXTS: Final = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    one_of_these(
        [
            *("None", "null", "nan", "1", "-0", "true", "[]", "{}", '"', "\\", "a.b", "[0]", "\x00", "\u2028"),
            *("e\u0301", "\U0001f600", "\ufeff", "\ud7ff\ue000", "a" * 61, '{"float":"nan"}', "int", "str", "maxlen"),
        ]
    ),
)
INTS: Final = st.one_of(
    st.integers(-3, 3),
    st.integers(),
    one_of_these([2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**4299, GREATEST, -GREATEST]),
)
FLOATS: Final = st.one_of(
    st.floats(),
    INTS,
    st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e16, 1e22, 1.7976931348623157e308]),
)
DECIMALS: Final = st.one_of(
    st.decimals(),
    one_of_these(
        [
            *("1.10", "-0", "0E+5", "1E+999999999999999999", "-1E-1999999999999999997", "NaN123", "-sNaN5"),
            *("-Infinity", "1" * 5000, "0.000000", "1E-7"),
        ]
    ).map(Decimal),
)
FRACTIONS: Final = st.one_of(
    st.fractions(), one_of_these([Fraction(1, GREATEST), Fraction(-GREATEST, 2), Fraction(10**4299, GREATEST)])
)
OFFSETS: Final = st.timedeltas(dt.timedelta(days=-1, microseconds=1), dt.timedelta(days=1, microseconds=-1))
ZONES: Final[SearchStrategy[dt.tzinfo | None]] = st.one_of(
    st.none(),
    st.just(dt.UTC),
    st.timezones(),
    st.sampled_from(["America/New_York", "Europe/Dublin", "Asia/Kathmandu", "UTC"]).map(ZoneInfo),
    st.builds(dt.timezone, OFFSETS),
    st.sampled_from([dt.timedelta(0), dt.timedelta(microseconds=-1), dt.timedelta(hours=5, minutes=30)]).map(
        dt.timezone
    ),
    st.builds(
        dt.timezone,
        OFFSETS,
        st.one_of(TEXTS, st.sampled_from(["UTC", "UTC+01:00", "[name=x]", "]", "[fold=1]", "x\n[UTC]"])),
    ),
)


class Zone(dt.tzinfo):
    """A zone that only this program knows."""

    def utcoffset(self, when: dt.datetime | None, /) -> dt.timedelta:
        return dt.timedelta(hours=1)

    def dst(self, when: dt.datetime | None, /) -> None:
        return None

    def tzname(self, when: dt.datetime | None, /) -> str:
        return "one"


class Colour(enum.Enum):
    """Values of several kinds, one of them without a hash, and a member of two names."""

    RED = 1
    GREEN = (2, 3)
    BLUE = attrs.make_class("Blue", ["x"], eq=True)(4)
    ROUGE = RED


class Size(enum.IntEnum):
    """Integers and members at once."""

    SMALL = 1
    LARGE = 2


class Unit(enum.StrEnum):
    """Texts and members at once."""

    METRE = "m"
    FOOT = "ft"


Mood = enum.Enum("Mood", {"GOOD": "good", "BAD": "bad"}, type=str)
"""Texts and members at once, as before StrEnum."""


class Right(enum.Flag):
    """Members that add up, with one for none of them and one for all."""

    NONE = 0
    READ = 1
    WRITE = 2
    RUN = 4
    ALL = 7


class Mode(enum.IntFlag):
    """Members with bits that have no name alone, and that overlap."""

    ONE = 1
    LOW = 6
    HIGH = 12


class Loose(enum.Flag, boundary=enum.KEEP):
    """A flag that keeps bits nobody has named."""

    A = 1
    B = 2


def _leaf(
    cls: type[object],
    values: SearchStrategy[object],
    *bad: object,
    also: type[object] | None = None,
    exact: bool = True,
) -> Form:
    classes = frozenset({cls, also or cls})
    wrong: SearchStrategy[Bad] = one_of_these(bad).map(Bad) if bad else st.nothing()
    return Form(cls, classes, values, lambda: wrong, is_key=True, exact=exact)


def _folded(values: SearchStrategy[dt.datetime] | SearchStrategy[dt.time]) -> SearchStrategy[object]:
    def folded(value: dt.datetime | dt.time, fold: int) -> object:
        return value.replace(fold=fold)

    return st.builds(folded, values, st.integers(0, 1))


def _paths(cls: type[PurePath]) -> SearchStrategy[PurePath]:
    names = st.sampled_from(["a", "B", "..", ".", "c:", "C:x", "/", "//", "\\", "\\\\h\\s", "x.txt", "nul", "a b", "~"])
    parts = st.lists(st.one_of(names, TEXTS), max_size=4)
    made = parts.map(lambda parts: cls("/".join(parts)))
    # Python 3.11 gives a file named `c:x` the text of a file on a drive, which no codec carries.
    return made.filter(lambda path: type(path)(str(path)).drive == path.drive)


ENUMS: Final[tuple[type[enum.Enum], ...]] = (Colour, Size, Unit, Mood)


def _members(cls: type[enum.Enum]) -> Form:
    """An enum whose members stand for themselves alone."""
    has_aliases = len(cls.__members__) > len(list(cls))
    return _leaf(cls, st.sampled_from([*cls.__members__.values()]), exact=not has_aliases)


def _sums(cls: type[enum.Flag], *bad: object) -> Form:
    """A flag, whose members are joined."""
    members = st.lists(st.sampled_from([*cls.__members__.values()]), max_size=3)

    def joined(parts: list[enum.Flag]) -> enum.Flag:
        whole = cls(0)
        for part in parts:
            whole |= part
        return whole

    return _leaf(cls, members.map(joined), *bad, exact=False)


NONE: Final = _leaf(NoneType, st.none())
BOOL: Final = _leaf(bool, st.booleans())
INT: Final = _leaf(int, INTS, GREATEST + 1, -GREATEST - 1)
FLOAT: Final = _leaf(float, FLOATS, GREATEST + 1, also=int)
STR: Final = _leaf(str, TEXTS, "\ud800", "a\udfff\U0001f600")

LEAVES: Final[list[Form]] = [
    *(NONE, BOOL, INT, FLOAT, STR),
    _leaf(bytes, st.binary(max_size=4)),
    _leaf(Decimal, DECIMALS),
    _leaf(Fraction, FRACTIONS, Fraction(GREATEST + 1), Fraction(1, GREATEST + 1)),
    _leaf(UUID, st.uuids()),
    _leaf(dt.date, st.dates()),
    _leaf(
        dt.datetime,
        _folded(st.datetimes(timezones=ZONES)),
        dt.datetime(2026, 3, 7, tzinfo=Zone()),
        dt.datetime(2026, 3, 7, tzinfo=dt.timezone(dt.timedelta(0), "\ud800")),
    ),
    _leaf(dt.time, _folded(st.times(timezones=ZONES)), dt.time(5, tzinfo=Zone())),
    _leaf(dt.timedelta, st.one_of(st.timedeltas(), st.sampled_from([dt.timedelta.min, dt.timedelta.max]))),
    _leaf(PosixPath, _paths(PosixPath), PosixPath("\udcff")),
    _leaf(PurePosixPath, _paths(PurePosixPath), PurePosixPath("a/\udcff")),
    _leaf(PureWindowsPath, _paths(PureWindowsPath), PureWindowsPath("\ud800")),
    attrs.evolve(_leaf(PosixPath, _paths(PosixPath)), annotation=Path),
    attrs.evolve(_leaf(PurePosixPath, _paths(PurePosixPath)), annotation=PurePath),
    *map(_members, ENUMS),
    *(_sums(Right), _sums(Mode, Mode(3), Mode(16)), _sums(Loose, Loose(5))),
]
"""Every form that is there before any is drawn."""


def enum_form(draw: st.DrawFn, name: str) -> Form:
    """An enum of any kind, made for the occasion."""
    kind = draw(st.sampled_from([enum.Enum, enum.IntEnum, enum.StrEnum, enum.Flag, enum.IntFlag]))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    make = cast("Callable[..., type[enum.Enum]]", kind)
    cls = make(name, names)
    return _sums(cls) if issubclass(cls, enum.Flag) else _members(cls)


def literal_form(draw: st.DrawFn) -> Form:
    """A literal of values of several types. No two of them are written alike."""
    some: list[object] = ["a", "", "b c", 0, 1, -7, True, False, None, b"xyz", Size.SMALL, Number.FIVE]
    values = draw(st.lists(st.sampled_from(some), min_size=1, max_size=4, unique_by=lambda value: (type(value), value)))
    classes = frozenset(map(type, values))
    chosen = [(type(value), value) for value in values]
    others = [value for value in (*some, "c", 7, b"") if type(value) in classes and (type(value), value) not in chosen]
    form: object = typing.__dict__["Literal"][tuple(values)]
    wrong: SearchStrategy[Bad] = st.sampled_from(others).map(Bad) if others else st.nothing()
    return Form(form, classes, st.sampled_from(values), lambda: wrong, is_key=True)
