"""A type form together with its values, and with values that are wrong in exactly one place."""

from __future__ import annotations

import datetime as dt
import enum
import re
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Hashable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Final, NamedTuple
from uuid import UUID

import attrs
import hypothesis.strategies as st
from hypothesis.strategies import SearchStrategy

ANY_KEY: Final = r"(?:\[.*\]|\.\w+)"
"""The step to what stands under a key of any type."""

BAD_KEY: Final = r"\[key .*\]"
"""The step to a key that is wrong itself."""


@attrs.frozen(eq=False)
class Bad:
    """A value that is wrong in exactly one place. `path` is a pattern of the path to it, with a dot before each name."""

    value: object
    path: str = ""

    def under(self, step: str, whole: object) -> Bad:
        """The same mistake seen from one level further out."""
        return Bad(whole, step + self.path)


@attrs.frozen(eq=False)
class Form:
    """A type form, a strategy of its values, and one of values of its classes that are wrong further inside.

    The last is made when it is asked for: most forms are never asked. `nests` says that the levels of the JSON are those of the path, `exact` that one value has one JSON form.
    """

    type: object
    classes: frozenset[type[object]] = attrs.field(repr=False)
    values: SearchStrategy[object] = attrs.field(repr=False)
    bad: Callable[[], SearchStrategy[Bad]] = attrs.field(repr=False, default=st.nothing)
    is_key: bool = attrs.field(default=False, repr=False)
    nests: bool = attrs.field(default=True, repr=False)
    exact: bool = attrs.field(default=True, repr=False)

    @property
    def wrong(self) -> SearchStrategy[Bad]:
        """Values that are wrong as a whole, or in one place inside."""
        outside = [value for value in OUTSIDERS if type(value) not in self.classes]
        return st.one_of(st.sampled_from(outside).map(Bad), self.bad())

    @property
    def wrong_keys(self) -> SearchStrategy[Bad]:
        """The same, as far as they have a hash."""
        return self.wrong.filter(lambda bad: has_hash(bad.value))


def has_hash(value: object) -> bool:
    """Whether a value can be an element of a set: a signalling NaN is none, though its class has a hash."""
    if not isinstance(value, Hashable):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return True


def field_step(name: str) -> str:
    """The pattern of the step to a field or to a key that is a text."""
    if name.isidentifier() and len(name) <= 60:
        return rf"\.{name}"
    return ANY_KEY


class SubInt(int):
    """A subclass."""


class SubFloat(float):
    """A subclass."""


class SubStr(str):
    """A subclass."""

    __slots__ = ()


class SubBytes(bytes):
    """A subclass."""


class SubDecimal(Decimal):
    """A subclass."""


class SubFraction(Fraction):
    """A subclass."""


class SubUUID(UUID):
    """A subclass."""


class SubDatetime(dt.datetime):
    """A subclass."""


class SubTime(dt.time):
    """A subclass."""


class SubTimedelta(dt.timedelta):
    """A subclass."""


class SubPath(PurePosixPath):
    """A subclass."""


class SubList(list[object]):
    """A subclass."""


class SubTuple(tuple[object, ...]):
    """A subclass."""

    __slots__ = ()


class SubDict(dict[object, object]):
    """A subclass."""


class SubSet(set[object]):
    """A subclass."""


class SubFrozenset(frozenset[object]):
    """A subclass."""


class SubDeque(deque[object]):
    """A subclass."""


class SubCounter(Counter[object]):
    """A subclass."""


class SubOrderedDict(OrderedDict[object, object]):
    """A subclass."""


class SubDefaultdict(defaultdict[object, object]):
    """A subclass."""


class Number(enum.IntEnum):
    """An integer and a member at once."""

    FIVE = 5


class Word(enum.StrEnum):
    """A text and a member at once."""

    FIVE = "5"


class Row(NamedTuple):
    """A tuple with a name."""

    x: int = 5


@attrs.frozen
class Stranger:
    """A class that no form has."""

    x: int = 5


OUTSIDERS: Final[list[object]] = [
    *(None, True, False, 0, 1, 5, 0.0, 1.0, 5.0, "", "5", "None", b"", b"5", 1j, ..., object(), bytearray(b"5")),
    *(Decimal("5"), Fraction(5), UUID(int=5), Path("5"), PurePosixPath("5"), PureWindowsPath("5")),
    *(dt.date(2026, 3, 7), dt.datetime(2026, 3, 7, tzinfo=dt.UTC), dt.time(5), dt.timedelta(5)),
    *([], [5], (), (5,), set[object](), frozenset[object](), deque[object](), {}, Counter[object]()),
    *(OrderedDict[object, object](), defaultdict[object, object](int), range(5), {"a": 5}.keys()),
    *(SubInt(5), SubFloat(5), SubStr("5"), SubBytes(b"5"), SubDecimal(5), SubFraction(5), SubUUID(int=5)),
    *(SubDatetime(2026, 3, 7, tzinfo=dt.UTC), SubTime(5), SubTimedelta(5), SubPath("5"), SubList(), SubTuple()),
    *(SubDict(), SubSet(), SubFrozenset(), SubDeque(), SubCounter(), SubOrderedDict(), SubDefaultdict(int)),
    *(Number.FIVE, Word.FIVE, Row(), Stranger(), Stranger, int, len, re.compile("5")),
]
"""Values of many classes, for each class of a form one of a subclass among them."""
