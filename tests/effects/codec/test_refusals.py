"""What a codec refuses: types when it is made, values when they are encoded. Each refusal names type and path."""

from __future__ import annotations

import collections
import dataclasses
import datetime as dt
import enum
import importlib.resources
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath, WindowsPath
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, NewType, Protocol, TypedDict, TypeVar, cast
from zoneinfo import ZoneInfo

import attrs
import pytest
from typing_extensions import TypeForm

from effectgraph.effects.codec import CodecError, NotDecodable, NotEncodable, UnsupportedType, codec_for

if TYPE_CHECKING:
    from numbers import Number as Nowhere

T = TypeVar("T")


@attrs.frozen
class Inner:
    """A field for a value."""

    x: int


@attrs.frozen
class Outer:
    """Fields for values of several kinds."""

    items: list[Inner]
    by_name: dict[str, tuple[Inner, ...]]
    maybe: set[str] | None = None


@attrs.frozen
class Box(Generic[T]):
    """A generic class."""

    inside: T


@attrs.define
class Mutable:
    """A class that compares by value and can change, so it has no hash."""

    x: int


@attrs.frozen
class Sub(Inner):
    """A subclass that is a record itself."""


class Undecorated(Inner):
    """A subclass that is none."""

    extra: int = 0


Untyped = attrs.make_class("Untyped", ["x"])
"""A field without a type."""


@attrs.frozen
class Dark:
    """A field that can be anything, deep inside."""

    table: dict[str, list[Any]]


@attrs.frozen
class Names:
    """A field whose type is not in this module."""

    there: Nowhere | None


@attrs.define(eq=False)
class Listed(list[int]):
    """A list with a field."""

    x: int = 0


@attrs.define(init=False)
class Built:
    """A constructor of its own that takes something else."""

    x: int

    def __init__(self, text: str) -> None:
        self.x = int(text)


@attrs.define(init=False)
class Careless:
    """A constructor of its own that can do without the field."""

    x: int

    def __init__(self, text: str = "") -> None:
        self.x = int(text)


Joined = enum.Flag("Joined", {"A|B": 1, "A": 2})
"""A flag whose names cannot be joined."""


@dataclasses.dataclass
class Mixed:
    """What can change and compares by value has no hash."""

    x: int


class Odd(Mixed, enum.Enum):
    """An enum whose members cannot be keys."""

    ONE = 1


@dataclasses.dataclass
class WithInit:
    """A constructor with a parameter that is no field."""

    x: int
    scale: dataclasses.InitVar[int]


@attrs.frozen
class Endless(Generic[T]):
    """A class that holds an ever longer type."""

    inside: Endless[list[T]] | None


class Named(NamedTuple):
    """A NamedTuple."""

    x: int


class MoreNamed(Named):
    """A plain subclass of one."""


class Empty(enum.Enum):
    """An enum without members."""


class Interface(Protocol):
    """No class of values."""


class Abstract(ABC):
    """No class of values either."""

    @abstractmethod
    def run(self) -> None:
        """What a subclass does."""


class Keyed(TypedDict):
    """A typed dict."""

    a: int


class Keys(TypedDict):
    """A typed dict with a key that can be anything."""

    a: object


@pytest.mark.parametrize(
    ("form", "path", "name"),
    [
        (Any, "", "Any"),
        (object, "", "object"),
        (list[Any], "[]", "Any"),
        (Dark, "table[][]", "Any"),
        (Keys, "a", "object"),
        (list, "", "list"),
        (Callable[[int], str], "", "Callable[[<class 'int'>], str]"),
        (Sequence[int], "", "Sequence[int]"),
        (Mapping[str, int], "", "Mapping[str, int]"),
        (type[int], "", "type[int]"),
        (Exception, "", "Exception"),
        (Interface, "", "Interface"),
        (Abstract, "", "Abstract"),
        (Empty, "", "Empty"),
        (WindowsPath, "", "WindowsPath"),
        (T, "", "~T"),
        (Box, "inside", "~T"),
        (Names, "there", "Nowhere | None"),
        (Untyped, "x", "a field without a type"),
        (Undecorated, "", "Undecorated"),
        (MoreNamed, "", "MoreNamed"),
        (Listed, "", "Listed"),
        (Built, "", "Built"),
        (Careless, "", "Careless"),
        (Joined, "", "Joined"),
        (dict[Odd, int], "[key]", "Odd"),
        (WithInit, "", "WithInit"),
        (set[list[int]], "[]", "list[int]"),
        (frozenset[Mutable], "[]", "Mutable"),
        (int | Any, "", "Any"),
        (list[int | list[object]], "[][]", "object"),
        ("Inner", "", "Inner"),
        ("int", "", "int"),
        (list["Nowhere"], "", "list['Nowhere']"),
        (5, "", "5"),
        ([int], "", "[<class 'int'>]"),
        (Endless[int], "", "this type"),
        (Literal["YQ==", b"a"] | None, "", "Literal['YQ==', b'a']"),
    ],
)
def test_a_type_is_refused_when_the_codec_is_made(form: object, path: str, name: str) -> None:
    """What a codec cannot carry it refuses before any value is met, naming the type and the way to it."""

    with pytest.raises(UnsupportedType) as caught:
        codec_for(cast("TypeForm[object]", form))

    assert (caught.value.path, caught.value.type) == (path, name)


class Text(str):
    """A subclass of `str`."""

    __slots__ = ()


class Zone(dt.tzinfo):
    """A zone that only this program knows."""

    def utcoffset(self, when: dt.datetime | None, /) -> dt.timedelta:
        return dt.timedelta(hours=1)

    def dst(self, when: dt.datetime | None, /) -> None:
        return None

    def tzname(self, when: dt.datetime | None, /) -> str:
        return "one"


class Size(enum.IntEnum):
    """An integer and a member at once."""

    ONE = 1


class Right(enum.Flag, boundary=enum.KEEP):
    """A flag that keeps bits nobody has named."""

    READ = 1


class Both(enum.IntFlag):
    """Two bits that only have a name together."""

    ONE = 1
    BOTH = 6


def noon(zone: dt.tzinfo) -> dt.datetime:
    """A moment in a zone."""
    return dt.datetime(2026, 3, 7, 12, tzinfo=zone)


VALUES: list[tuple[object, object, str, str]] = [
    (None, 0, "", "None"),
    (bool, 1, "", "bool"),
    (int, True, "", "int"),
    (int, 1.0, "", "int"),
    (int, Size.ONE, "", "int"),
    (int, 10**4300, "", "int"),
    (list[int], [0, 10**4300], "[1]", "int"),
    (list[int], [0, -(10**4300)], "[1]", "int"),
    (list[Fraction], [Fraction(10**4300, 7)], "[0]", "Fraction"),
    (list[Fraction], [Fraction(7, 10**4300)], "[0]", "Fraction"),
    (float, True, "", "float"),
    (float, Decimal(1), "", "float"),
    (str, None, "", "str"),
    (str, b"a", "", "str"),
    (str, Text("a"), "", "str"),
    (str, "a\ud800", "", "str"),
    (bytes, bytearray(b"a"), "", "bytes"),
    (dt.date, noon(dt.UTC), "", "date"),
    (dt.datetime, noon(Zone()), "", "datetime"),
    (dt.datetime, noon(dt.timezone(dt.timedelta(0), "\ud800")), "", "str"),
    (dt.timedelta, 5, "", "timedelta"),
    (Path, PurePosixPath("a"), "", "Path"),
    (PurePosixPath, Path("a"), "", "PurePosixPath"),
    (Path, Path("a\udcff"), "", "str"),
    (Size, 1, "", "Size"),
    (Right, Right(5), "", "Right"),
    (Both, Both(3), "", "Both"),
    (Literal["a", 1], "b", "", "Literal['a', 1]"),
    (Literal["a", 1], [], "", "Literal['a', 1]"),
    (dict[Decimal, int], {Decimal("NaN"): 1, Decimal("NaN"): 2}, "", "dict[Decimal, int]"),
    (Literal["a", 1], True, "", "Literal['a', 1]"),
    (list[int], (1,), "", "list[int]"),
    (NewType("Numbers", list[int]), ["1"], "[0]", "int"),
    (tuple[int, ...], [1], "", "tuple[int, ...]"),
    (tuple[int, int], (1,), "", "tuple[int, int]"),
    (tuple[int, str], (1, 2), "[1]", "str"),
    (tuple[int, ...], Named(1), "", "tuple[int, ...]"),
    (set[str], {"a", 1}, "[]", "str"),
    (set[str], frozenset({"a"}), "", "set[str]"),
    (set[Decimal], {Decimal("NaN"), Decimal("NaN")}, "", "set[Decimal]"),
    (dict[str, int], {"a": "1"}, "a", "int"),
    (dict[str, int], {"a b": None}, '["a b"]', "int"),
    (dict[str, int], {1: 1}, "[key 1]", "str"),
    (dict[int, int], {True: 1}, "[key True]", "int"),
    (dict[int, str], {7: 1}, "[7]", "str"),
    (dict[str, int], collections.Counter("a"), "", "dict[str, int]"),
    (dict[str, int], {Text("a"): 1}, '[key "a"]', "str"),
    (Inner, Sub(1), "", "Inner"),
    (Inner, {"x": 1}, "", "Inner"),
    (Inner, Inner, "", "Inner"),
    (Keyed, {"a": 1, "b": 2}, "b", "Keyed"),
    (Keyed, {}, "a", "Keyed"),
    (Keyed, {"a": "x"}, "a", "int"),
    (Keyed, {Text("a"): 1}, "", "Keyed"),
    (Box[Inner], Box(Box(1)), "inside", "Inner"),
]
"""Types, values that are not of them, and where and as what each is refused."""


@pytest.mark.parametrize(("form", "value", "path", "name"), VALUES, ids=map(str, range(len(VALUES))))
def test_a_value_is_refused_when_it_is_encoded(form: object, value: object, path: str, name: str) -> None:
    """A value that is not exactly of the declared type is refused, in both kinds of bytes, naming the way to it."""

    codec = codec_for(cast("TypeForm[object]", form))
    for encode in (codec.encode, codec.canonical):
        with pytest.raises(NotEncodable) as caught:
            encode(value)
        assert (caught.value.path, caught.value.type) == (path, name)


def test_K15_none_is_no_text_and_a_text_is_no_none() -> None:
    """None where a text is declared is an error with its path; it never becomes "None"."""

    with pytest.raises(NotEncodable, match=r"^the value cannot be encoded as str: is of type NoneType$"):
        codec_for(cast("TypeForm[object]", str)).encode(None)
    with pytest.raises(NotEncodable, match=r"^a cannot be encoded as str: is of type NoneType$"):
        codec_for(cast("TypeForm[object]", dict[str, str])).encode({"a": None})
    with pytest.raises(NotDecodable, match=r"^a cannot be decoded: expected str, found null$"):
        codec_for(dict[str, str]).decode(b'{"a":null}')


def test_K23_an_error_names_the_path() -> None:
    """A wrong value deep inside is found by its path, on the way out and on the way in."""

    codec = codec_for(dict[str, Outer])
    wrong = {"outer": Outer([Inner(1), Inner(cast("int", "2"))], {})}

    with pytest.raises(NotEncodable) as encoding:
        codec.encode(wrong)
    with pytest.raises(NotDecodable) as decoding:
        codec.decode(b'{"outer":{"items":[{"x":1},{"x":"2"}],"by_name":{}}}')

    assert encoding.value.path == decoding.value.path == "outer.items[1].x"
    assert str(encoding.value) == "outer.items[1].x cannot be encoded as int: is of type str"
    assert str(decoding.value) == "outer.items[1].x cannot be decoded: expected int, found a text"


@pytest.mark.parametrize("form", [Undecorated, MoreNamed])
def test_a_plain_subclass_of_a_record_is_told_so(form: object) -> None:
    """A subclass that is no record itself may have more state than its fields; the error says what to do."""

    with pytest.raises(UnsupportedType, match=r"it is a plain subclass of a record .*; decorate it as well"):
        codec_for(cast("TypeForm[object]", form))


def test_the_size_of_a_tuple_is_told() -> None:
    """A tuple of another length is refused by its length."""

    with pytest.raises(NotEncodable, match="has 3 items, not 2"):
        codec_for(cast("TypeForm[object]", tuple[int, int])).encode((1, 2, 3))


def test_names_that_are_no_texts_are_refused() -> None:
    """An enum made at run time may have names that no bytes can hold; its codec is not made."""

    with pytest.raises(UnsupportedType, match="a name in it has a lone surrogate"):
        codec_for(cast("TypeForm[object]", enum.Enum("broken", {"\ud800": 1})))


def test_a_subclass_is_told_so() -> None:
    """The error for a value of a subclass says that it is one, and the way out."""

    with pytest.raises(NotEncodable, match="is a Sub, a subclass; declare that, or both of them"):
        codec_for(Inner).encode(Sub(1))


def test_zones_that_cannot_be_found_again_are_refused() -> None:
    """A zone with a made-up key could not be read back, so it is not written."""

    with importlib.resources.files("tzdata.zoneinfo").joinpath("UTC").open("rb") as data:
        made_up = ZoneInfo.from_file(data, key="Nowhere/Nowhere")

    with pytest.raises(NotEncodable, match='has the zone "Nowhere/Nowhere", which this system cannot find'):
        codec_for(dt.datetime).encode(noon(made_up))


@pytest.mark.parametrize(
    "error",
    [UnsupportedType("a[]", "Any", "why"), NotEncodable("a.b", "int", "why"), NotDecodable("", "why")],
    ids=lambda error: type(error).__name__,
)
def test_errors_come_back_whole_from_pickle(error: CodecError) -> None:
    """An error of a codec keeps its fields and its text in another process."""

    back = pickle.loads(pickle.dumps(error))

    assert type(back) is type(error)
    assert vars(back) == vars(error)
    assert str(back) == str(error)
    assert isinstance(error, TypeError if isinstance(error, UnsupportedType) else ValueError)
