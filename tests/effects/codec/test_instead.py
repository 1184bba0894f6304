"""What a refused type is told: what to write instead, or what is missing."""

from __future__ import annotations

import array
import collections
import collections.abc
import datetime as dt
import enum
import io
import re
import types
import typing
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from types import GenericAlias
from typing import Any, ClassVar, Protocol, TypeVar, cast
from zoneinfo import ZoneInfo

import attrs
import pytest
import typing_extensions
from typing_extensions import TypeForm

from effectgraph.effects.codec import NotEncodable, UnsupportedType, codec_for

T = TypeVar("T")


class Interface(Protocol):
    """What others look like."""

    x: int


class Abstract(ABC):
    """What others derive from."""

    @abstractmethod
    def run(self) -> None:
        """What a subclass does."""


class Text(str):
    """A subclass of `str`."""

    __slots__ = ()


class Number(int):
    """A subclass of `int`."""


class Table(dict[str, int]):
    """A subclass of `dict`."""


class Rows(list[int]):
    """A subclass of `list`."""


class Plain:
    """Nothing that a codec knows."""


LIST, ANY, CODE = "write tuple or list instead", "it can be anything", "code is not stored; store a name"
GENERAL = "a codec has no faithful form for it; use types that have one"
BARE = "it does not say what is in it; write it with brackets, as in list[int]"

INSTEAD: list[tuple[object, str, str]] = [
    (Any, "Any", ANY),
    (object, "object", ANY),
    *(
        (GenericAlias(cls, (int,)), f"{cls.__name__}[int]", LIST)
        for cls in (
            *(collections.abc.Sequence, collections.abc.Iterable, collections.abc.Iterator),
            *(collections.abc.Reversible, collections.abc.ValuesView, collections.abc.KeysView),
        )
    ),
    *(
        (GenericAlias(cls, (int,)), f"{cls.__name__}[int]", "write tuple, list or frozenset instead")
        for cls in (collections.abc.Collection, collections.abc.Container)
    ),
    (typing.__dict__["Sequence"][int], "Sequence[int]", LIST),
    (typing.__dict__["Sequence"], "Sequence", LIST),
    (collections.abc.Sequence, "Sequence", LIST),
    (collections.abc.Generator[int, None, None], "Generator[int, None, None]", LIST),
    (collections.abc.MutableSequence[int], "MutableSequence[int]", "write list instead"),
    (collections.abc.Mapping[str, int], "Mapping[str, int]", "write dict instead"),
    (collections.abc.MutableMapping[str, int], "MutableMapping[str, int]", "write dict instead"),
    (collections.abc.ItemsView[str, int], "ItemsView[str, int]", "write tuple or list, of tuples instead"),
    (collections.abc.Set[int], "Set[int]", "write frozenset or set instead"),
    (collections.abc.MutableSet[int], "MutableSet[int]", "write set instead"),
    (collections.abc.Hashable, "Hashable", "write what it is, such as str or int instead"),
    (collections.abc.Sized, "Sized", "write tuple, list or frozenset instead"),
    (collections.ChainMap[str, int], "ChainMap[str, int]", "write dict instead"),
    (collections.UserDict[str, int], "UserDict[str, int]", "write dict instead"),
    (collections.UserList[int], "UserList[int]", "write list instead"),
    (collections.UserString, "UserString", "write str instead"),
    (types.MappingProxyType[str, int], "mappingproxy[str, int]", "write dict instead"),
    (types.SimpleNamespace, "SimpleNamespace", "write an attrs class instead"),
    (array.array, "array", LIST),
    (bytearray, "bytearray", "write bytes instead"),
    (memoryview, "memoryview", "write bytes instead"),
    (slice, "slice", "write tuple[int, int, int], of start, stop and step instead"),
    (Callable[[int], str], "Callable[[<class 'int'>], str]", CODE),
    (typing.__dict__["Callable"], "Callable", CODE),
    (type[int], "type[int]", CODE),
    (type, "type", CODE),
    (types.FunctionType, "function", CODE),
    (types.MethodType, "method", CODE),
    *(
        (cls, cls.__name__, BARE)
        for cls in (
            *(list, tuple, set, frozenset, dict),
            *(collections.deque, collections.defaultdict, collections.Counter, collections.OrderedDict),
        )
    ),
    (typing.__dict__["List"], "list", BARE),
    (typing.__dict__["Counter"], "Counter", BARE),
    (Interface, "Interface", "its values are of other classes, and bytes cannot tell which; write a union of those"),
    (typing.SupportsInt, "SupportsInt", "write a union of those"),
    (Abstract, "Abstract", "write a union of those"),
    (Text, "Text", "it is a subclass of str, and may hold more than that; write str"),
    (Number, "Number", "it is a subclass of int, and may hold more than that; write int"),
    (Table, "Table", "it is a subclass of dict, and may hold more than that; write dict"),
    (Rows, "Rows", "it is a subclass of list, and may hold more than that; write list"),
    (T, "~T", "a type variable that nothing fills in"),
    (typing.NoReturn, "NoReturn", "no value is of it; leave it out"),
    (typing_extensions.Never, "Never", "no value is of it; leave it out"),
    (Plain, "Plain", GENERAL),
    (Exception, "Exception", GENERAL),
    (dt.tzinfo, "tzinfo", GENERAL),
    (ZoneInfo, "ZoneInfo", GENERAL),
    (io.StringIO, "StringIO", GENERAL),
    (re.Pattern[str], "Pattern[str]", GENERAL),
    (ClassVar[int], "ClassVar[int]", GENERAL),
    (5, "5", GENERAL),
    (enum.Enum, "Enum", "it has no members; declare an enum that has"),
]
"""Types that no codec carries, what each is called, and what it is told."""


@pytest.mark.parametrize(("form", "name", "why"), INSTEAD, ids=map(str, range(len(INSTEAD))))
def test_a_refused_type_is_told_what_to_write_instead(form: object, name: str, why: str) -> None:
    """A type that no codec carries is refused by name and path, wherever it stands, and told the way out."""

    for whole, path in ((form, ""), (GenericAlias(dict, (str, GenericAlias(tuple, (int, form)))), "[][1]")):
        with pytest.raises(UnsupportedType) as caught:
            codec_for(cast("TypeForm[object]", whole))

        assert (caught.value.path, caught.value.type) == (path, name)
        assert why in caught.value.why


@pytest.mark.parametrize(
    ("form", "why"),
    [
        (complex, "bytes cannot tell what it was exactly; write tuple[float, float] instead"),
        (range, "bytes cannot tell what it was exactly; write tuple[int, int, int], of start, stop and step instead"),
    ],
    ids=["complex", "range"],
)
def test_K03_complex_and_range_are_refused(form: object, why: str) -> None:
    """They are refused when the codec is made, and never come back as something else."""

    with pytest.raises(UnsupportedType) as caught:
        codec_for(cast("TypeForm[object]", form))

    assert caught.value.why == why


@attrs.frozen
class Holder:
    """Places for values of several kinds."""

    number: int = 0
    measure: float = 0.0
    text: str = ""
    raw: bytes = b""
    rows: tuple[int, ...] = ()
    table: dict[str, int] = attrs.field(factory=dict[str, int])
    fraction: Fraction = Fraction(0)


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("number", True, "is a bool, a subclass"),
        ("number", Number(1), "is a Number, a subclass"),
        ("number", 1.0, "is of type float"),
        ("number", Fraction(1), "is of type Fraction"),
        ("measure", complex(1), "is of type complex"),
        ("measure", Fraction(1, 2), "is of type Fraction"),
        ("text", Text("a"), "is a Text, a subclass"),
        ("text", collections.UserString("a"), "is of type UserString"),
        ("raw", bytearray(b"a"), "is of type bytearray"),
        ("raw", memoryview(b"a"), "is of type memoryview"),
        ("rows", range(3), "is of type range"),
        ("rows", array.array("i", [1]), "is of type array"),
        ("rows", [1], "is of type list"),
        ("rows", (each for each in (1, 2)), "is of type generator"),
        ("table", Table(a=1), "is a Table, a subclass"),
        ("table", types.SimpleNamespace(a=1), "is of type SimpleNamespace"),
        ("table", types.MappingProxyType({"a": 1}), "is of type mappingproxy"),
        ("table", {"a": 1}.items(), "is of type dict_items"),
        ("fraction", 1, "is of type int"),
        ("fraction", 0.5, "is of type float"),
    ],
    ids=map(str, range(20)),
)
def test_a_value_that_only_looks_like_it_is_refused(field: str, value: object, why: str) -> None:
    """What Python would take in a place, a codec does not, as it would come back as something else."""

    holder = Holder()
    object.__setattr__(holder, field, value)
    with pytest.raises(NotEncodable) as caught:
        codec_for(list[Holder]).encode([holder])

    assert caught.value.path == f"[0].{field}"
    assert why in caught.value.why
