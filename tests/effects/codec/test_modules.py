"""Classes and aliases as programs write them, one module at a time, also in syntax that older Pythons cannot read."""

from __future__ import annotations

import sys
import types
from typing import cast

import pytest
from typing_extensions import TypeForm

from alike import look
from effectgraph.effects.codec import Codec, NotEncodable, UnsupportedType, codec_for

SELF = """
from __future__ import annotations
from typing import *
import attrs, dataclasses, typing
from typing_extensions import TypedDict

T = TypeVar("T")

@attrs.frozen
class Box(Generic[T]):
    inside: T

@attrs.frozen
class Person:
    name: str
    parent: Self | None = None
    children: tuple[Self, ...] = ()
    friends: dict[str, typing.Optional[Self]] = attrs.field(factory=dict)
    boxed: Box[typing.List[Self]] | None = None

@attrs.frozen
class Worker(Person):
    pay: int = 0

@dataclasses.dataclass
class Generation(Generic[T]):
    value: T
    next: Self | None = None

class Chain(NamedTuple):
    value: int
    rest: Optional[Chain] = None

class Doc(TypedDict):
    title: str
    parts: NotRequired[list[Doc]]
    me: NotRequired[Self]

VALUES = [
    (Person, Person("a", Person("b"), (Person("c"),), {"d": None, "e": Person("e")}, Box([Person("f")])), None),
    (Worker, Worker("a", Worker("b", pay=1), (Worker("c"),), {"d": Worker("d")}, None, 2), None),
    (Generation[int], Generation(1, Generation(2)), b'{"value":1,"next":{"value":2,"next":null}}'),
    (Generation[str] | Generation[int], Generation("a", Generation("b")), None),
    (Chain, Chain(1, Chain(2)), b'{"value":1,"rest":{"value":2,"rest":null}}'),
    (Doc, {"title": "a", "parts": [{"title": "b"}], "me": {"title": "c"}}, None),
]
WRONG = [
    (Worker, Worker("a", Person("b")), "parent", "None | Worker"),
    (Person, Person("a", None, (Worker("b"),)), "children[0]", "Person"),
    (Generation[int], Generation(1, Generation("a")), "next.value", "int"),
]
REFUSED = [
    (Self, "", "Self", "name the class"),
    (list[Self], "[]", "Self", "name the class"),
    (dict[str, T], "[]", "~T", "a type variable that nothing fills in"),
    (Box, "inside", "~T", "a type variable that nothing fills in; write what stands in its place, as in Box[int]"),
    (Box[Box[T]], "inside.inside", "~T", "a type variable that nothing fills in"),
]
"""

DEFAULTS = """
from __future__ import annotations
from typing import Generic, NamedTuple
import attrs
from typing_extensions import TypedDict, TypeVar

Int = TypeVar("Int", default=int)
Ints = TypeVar("Ints", default=list[Int])
Later = TypeVar("Later", default="Item")
Nothing = TypeVar("Nothing", default=None)
Lost = TypeVar("Lost", default="Nowhere")
T = TypeVar("T")

@attrs.frozen
class Two(Generic[Int, Ints]):
    x: Int
    y: Ints

@attrs.frozen
class Named(Generic[Later]):
    x: Later

@attrs.frozen
class Empty(Generic[Nothing]):
    x: Nothing

@attrs.frozen
class OnTwo(Two[Int]):
    z: Int

@attrs.frozen
class OnBare(Empty):
    pass

class Row(NamedTuple, Generic[Int]):
    x: Int

class Keys(TypedDict, Generic[Int]):
    x: Int

@attrs.frozen
class Mixed(Generic[T, Int]):
    x: T
    y: Int
    two: Two[T]

@attrs.frozen
class LostBox(Generic[Lost]):
    x: Lost

@attrs.frozen
class Item:
    name: str = "a"

VALUES = [
    (Two, Two(1, [2]), b'{"x":1,"y":[2]}'),
    (Two[str], Two("a", ["b"]), b'{"x":"a","y":["b"]}'),
    (Two[str, bool], Two("a", True), b'{"x":"a","y":true}'),
    (list[Two], [Two(1, [2])], b'[{"x":1,"y":[2]}]'),
    (Named, Named(Item()), b'{"x":{"name":"a"}}'),
    (Named[int], Named(1), b'{"x":1}'),
    (Empty, Empty(None), b'{"x":null}'),
    (Empty[int], Empty(1), b'{"x":1}'),
    (OnTwo, OnTwo(1, [2], 3), b'{"x":1,"y":[2],"z":3}'),
    (OnTwo[str], OnTwo("a", ["b"], "c"), b'{"x":"a","y":["b"],"z":"c"}'),
    (OnBare, OnBare(None), b'{"x":null}'),
    (Row, Row(1), b'{"x":1}'),
    (Keys, {"x": 1}, b'{"x":1}'),
    (Keys[str], {"x": "a"}, b'{"x":"a"}'),
    (Mixed[str], Mixed("a", 1, Two("b", ["c"])), b'{"x":"a","y":1,"two":{"x":"b","y":["c"]}}'),
    (Mixed[str, bytes], Mixed("a", b"", Two("b", ["c"])), None),
]
WRONG = [
    (Two, Two("a", [2]), "x", "int"),
    (Two, Two(1, ["a"]), "y[0]", "int"),
    (Two[str], Two("a", [1]), "y[0]", "str"),
    (OnTwo[str], OnTwo("a", [1], "c"), "y[0]", "str"),
    (OnBare, OnBare(1), "x", "None"),
    (Mixed[str], Mixed("a", 1, Two("b", [1])), "two.y[0]", "str"),
]
REFUSED = [
    (LostBox, "", "LostBox", "its type variables cannot be filled in (name 'Nowhere' is not defined)"),
    (Mixed, "two.x", "~T", "a type variable that nothing fills in"),
]
"""

SEVERAL = """
from __future__ import annotations
from typing import Generic, ParamSpec, TypedDict, TypeVar, TypeVarTuple, Unpack
import attrs, typing_extensions

T = TypeVar("T")
P = ParamSpec("P")
Ts = TypeVarTuple("Ts")
OtherTs = typing_extensions.TypeVarTuple("OtherTs")
OtherP = typing_extensions.ParamSpec("OtherP")

@attrs.frozen
class Several(Generic[Unpack[Ts], T]):
    x: T

@attrs.frozen
class OnSeveral(Several[int, str, bytes]):
    pass

@attrs.frozen
class Called(Generic[P]):
    x: int

class Keys(TypedDict, Generic[Unpack[Ts]]):
    x: int

class Extra(typing_extensions.TypedDict, extra_items=int):
    a: int

@attrs.frozen
class Many:
    x: tuple[int, *tuple[str, ...]]

@attrs.frozen
class ManyOf(Generic[T]):
    x: tuple[int, *tuple[T, ...]]

VALUES = []
WRONG = []
REFUSED = [
    (Several[int, str, bytes], "", "Several[int, str, bytes]", "Ts stands for several types at once"),
    (OnSeveral, "", "OnSeveral", "Ts stands for several types at once"),
    (Called[int, str], "", "Called[(<class 'int'>, <class 'str'>)]", "P stands for several types at once"),
    (Keys[int], "", "Keys[int]", "Ts stands for several types at once"),
    (Ts, "", "Ts", "it stands for several types at once"),
    (OtherTs, "", "OtherTs", "it stands for several types at once"),
    (P, "", "~P", "it stands for several types at once"),
    (OtherP, "", "~OtherP", "it stands for several types at once"),
    (tuple[Unpack[Ts]], "", "tuple[*Ts]", "a part of it stands for several items"),
    (tuple[int, Unpack[tuple[str, ...]]], "", "tuple[int, *tuple[str, ...]]", "a part of it stands for several items"),
    (tuple[int, *tuple[str, ...]], "", "tuple[int, *tuple[str, ...]]", "write tuple[X, ...], or every item's own type"),
    (Many, "x", "tuple[int, *tuple[str, ...]]", "a part of it stands for several items"),
    (ManyOf[str], "x", "tuple[int, *tuple[str, ...]]", "a part of it stands for several items"),
    (list[typing_extensions.Unpack[OtherTs]], "[]", "*OtherTs", "it stands for several types at once"),
    (Extra, "", "Extra", "it takes keys that are not written down (extra_items)"),
]
"""

BRACKETS = """
from __future__ import annotations
import dataclasses
from typing import NamedTuple, Self, TypedDict
import attrs

type Id = int
type Pair[A, B] = tuple[A, B]
type Tree[T] = T | list[Tree[T]]
type Json = None | bool | int | str | list[Json] | dict[str, Json]
type Lost = list[Nowhere]

@attrs.frozen
class Box[T]:
    inside: T
    more: tuple[T, ...] = ()
    next: Box[T] | None = None
    me: Self | None = None

@attrs.frozen
class Crate[U](Box[list[U]]):
    own: U | None = None

@dataclasses.dataclass
class Table[K, V]:
    rows: dict[K, V]
    tree: Tree[V] | None = None

class Labelled[T](NamedTuple):
    label: str
    value: T

class Held[T](TypedDict):
    held: T

@attrs.frozen
class Several[T, *Ts]:
    x: T

def local():
    type Local = int | list[Local]
    @attrs.frozen
    class Inner[T]:
        x: T
        nested: tuple[Inner[T], ...] = ()
    return Local, Inner

Local, Inner = local()
VALUES = [
    (Id, 1, b"1"),
    (Pair[Id, str], (1, "a"), b'[1,"a"]'),
    (Tree[int], [1, [2]], b"[1,[2]]"),
    (Json, {"a": [1, None]}, b'{"a":[1,null]}'),
    (Box[str], Box("a", ("b",), Box("c"), Box("d")), None),
    (Crate[int], Crate([1], ([2],), None, None, 3), b'{"inside":[1],"more":[[2]],"next":null,"me":null,"own":3}'),
    (Table[int | str, Id], Table({1: 2, "1": 3}, [4]), None),
    (Labelled[Pair[int, int]], Labelled("a", (1, 2)), b'{"label":"a","value":[1,2]}'),
    (Held[Id | None], {"held": None}, b'{"held":null}'),
    (Local, [1, [2]], b"[1,[2]]"),
    (Inner[int], Inner(1, (Inner(2),)), b'{"x":1,"nested":[{"x":2,"nested":[]}]}'),
]
WRONG = [
    (Crate[int], Crate(["a"]), "inside[0]", "int"),
    (Json, {"a": [1.5]}, "a[0]", "None | bool | dict[str, Json] | int | list[Json] | str"),
]
REFUSED = [
    (Pair, "[0]", "A", "a type variable that nothing fills in"),
    (Box, "inside", "T", "a type variable that nothing fills in"),
    (list[Box[object]], "[].inside", "object", "it can be anything"),
    (Lost, "", "Lost", "what it stands for cannot be found: name 'Nowhere' is not defined"),
    (Several[int, str], "", "Several[int, str]", "Ts stands for several types at once"),
]
"""

BRACKETS_WITH_DEFAULTS = """
import attrs

type Filled[T = int] = list[T]

@attrs.frozen
class Box[T = int, U = list[T]]:
    x: T
    y: U

@attrs.frozen
class Lost[T = Nowhere]:
    x: T

VALUES = [
    (Filled, [1], b"[1]"),
    (Filled[str], ["a"], b'["a"]'),
    (Box, Box(1, [2]), b'{"x":1,"y":[2]}'),
    (Box[str], Box("a", ["b"]), b'{"x":"a","y":["b"]}'),
    (Box[str, None], Box("a", None), b'{"x":"a","y":null}'),
]
WRONG = [
    (Box[str], Box("a", [1]), "y[0]", "str"),
]
REFUSED = [
    (Lost, "", "Lost", "its type variables cannot be filled in (name 'Nowhere' is not defined)"),
]
"""

SOURCES = {
    (3, 11): [SELF, DEFAULTS, SEVERAL],
    (3, 12): [BRACKETS],
    (3, 13): [BRACKETS_WITH_DEFAULTS],
}
"""Modules by the first Python that can read them: values that come back, values and types that are refused."""


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """The names in each module that this Python can read. The modules are loaded as long as the test runs."""
    found: list[dict[str, object]] = []
    for source in (each for since, sources in SOURCES.items() if sys.version_info >= since for each in sources):
        module = types.ModuleType(f"module_{len(found)}")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(source, module.__name__, "exec"), vars(module))
        found.append(vars(module))
    return found


def codec_of(form: object) -> Codec[object]:
    """The codec of a type that is in a table."""
    return codec_for(cast("TypeForm[object]", form))


def test_K09_K17_values_of_such_classes_come_back(modules: list[dict[str, object]]) -> None:
    """Generic and self-referring classes, variables with defaults and type statements are what they stand for."""

    for module in modules:
        for form, value, data in cast("list[tuple[object, object, bytes | None]]", module["VALUES"]):
            codec = codec_of(form)
            encoded = codec.encode(value)

            assert data is None or encoded == data
            assert look(codec.decode(encoded)) == look(value)


def test_K09_K17_parts_of_another_type_are_refused(modules: list[dict[str, object]]) -> None:
    """A part that is not of the type that stands for a variable or for `Self` is an error with its path."""

    for module in modules:
        for form, value, path, name in cast("list[tuple[object, object, str, str]]", module["WRONG"]):
            with pytest.raises(NotEncodable) as caught:
                codec_of(form).encode(value)

            assert (caught.value.path, caught.value.type) == (path, name)


def test_K17_what_nothing_fills_in_is_refused(modules: list[dict[str, object]]) -> None:
    """A variable without a type or with several, a default or `Self` that nobody can look up: an error that says so."""

    for module in modules:
        for form, path, name, why in cast("list[tuple[object, str, str, str]]", module["REFUSED"]):
            with pytest.raises(UnsupportedType) as caught:
                codec_of(form)

            unpacked = caught.value.type.replace("typing_extensions.", "").replace("Unpack[Ts]", "*Ts")
            unpacked = unpacked.replace("Unpack[OtherTs]", "*OtherTs").replace(
                "Unpack[tuple[str, ...]]", "*tuple[str, ...]"
            )

            assert (caught.value.path, unpacked) == (path, name)
            assert why in caught.value.why
