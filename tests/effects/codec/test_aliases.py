"""Type aliases and `NewType`s: looked through, and types that refer to themselves by one."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from itertools import repeat
from types import GenericAlias
from typing import Annotated, Generic, NamedTuple, NewType, TypedDict, TypeVar, cast

import attrs
import pytest
import typing_extensions
from typing_extensions import ParamSpec, TypeAliasType, TypeForm, TypeVarTuple

from alike import look
from effectgraph.effects.codec import Codec, NotDecodable, NotEncodable, UnsupportedType, codec_for
from effectgraph.effects.codec.limits import MAX_DEPTH
from stable_ids import named

T = TypeVar("T")
K = TypeVar("K")
D = typing_extensions.TypeVar("D", default=int)
P = ParamSpec("P")
Ts = TypeVarTuple("Ts")


def codec_of(form: object) -> Codec[object]:
    """The codec of a type that is in a table."""
    return codec_for(cast("TypeForm[object]", form))


Id = TypeAliasType("Id", int)
Numbers = TypeAliasType("Numbers", list[int])
Maybe = TypeAliasType("Maybe", "int | None")
Noted = TypeAliasType("Noted", Annotated[int, "a note"])
Ids = TypeAliasType("Ids", "list[Id]")
Table = TypeAliasType("Table", "dict[K, list[T]]", type_params=(K, T))
Filled = TypeAliasType("Filled", "dict[str, D]", type_params=(D,))
Json = TypeAliasType("Json", "None | bool | int | str | list[Json] | dict[str, Json]")
Nest = TypeAliasType("Nest", "list[Nest | None]")
Tree = TypeAliasType("Tree", "T | list[Tree[T]]", type_params=(T,))
Ping = TypeAliasType("Ping", "int | tuple[Pong, ...]")
Pong = TypeAliasType("Pong", "str | list[Ping]")
Family = TypeAliasType("Family", "frozenset[Family]")
Line = TypeAliasType("Line", "deque[Line] | None")
Lots = TypeAliasType("Lots", "defaultdict[str, Lots]")
Rows = TypeAliasType("Rows", "OrderedDict[str, Rows] | int")
Steps = TypeAliasType("Steps", "tuple[int, Steps] | None")
Tuples = TypeAliasType("Tuples", "tuple[Tuples | int, ...]")
Sets = TypeAliasType("Sets", "frozenset[Sets | int]")
Deques = TypeAliasType("Deques", "deque[Deques | int]")
Dicts = TypeAliasType("Dicts", "dict[str, Dicts | int]")
Ordered = TypeAliasType("Ordered", "OrderedDict[str, Ordered | int]")
Defaults = TypeAliasType("Defaults", "defaultdict[str, Defaults | list[int] | Maybe]")
Mixed = TypeAliasType("Mixed", "int | list[Mixed] | Holder")
Boxes = TypeAliasType("Boxes", "int | Box[Boxes]")
UserId = NewType("UserId", int)
Users = NewType("Users", "list[UserId]")


@attrs.frozen
class Holder:
    """A class in a type that refers to itself, and back to that type."""

    value: Mixed
    more: Mixed = 0


@attrs.frozen
class Box(Generic[T]):
    """A generic class."""

    inside: T


class Row(NamedTuple):
    """A record whose fields are aliases."""

    ids: Numbers
    maybe: Maybe = None


class Options(TypedDict, total=False):
    """A typed dict whose keys are aliases."""

    tree: Tree[str]


def nested(depth: int) -> object:
    """Lists in lists, so deep."""
    value: list[object] = []
    for _ in repeat(None, depth - 1):
        value = [value]
    return value


VALUES: list[tuple[object, object, bytes | None]] = [
    (Id, 1, b"1"),
    (Numbers, [1, 2], b"[1,2]"),
    (Maybe, None, b"null"),
    (Maybe | str, "a", b'"a"'),
    (Noted, 1, b"1"),
    (list[Noted], [1], b"[1]"),
    (Ids, [1], b"[1]"),
    (Numbers | list[str], [1], b'{"list[int]":[1]}'),
    (Table[str, bool], {"a": [True]}, b'{"a":[true]}'),
    (Table[tuple[int, Id], Maybe], {(1, 2): [None, 1]}, b'{"[1,2]":[null,1]}'),
    (Filled[str], {"a": "b"}, b'{"a":"b"}'),
    (Filled, {"a": 1}, b'{"a":1}'),
    (Users, [1], b"[1]"),
    (Row, Row([1], 2), b'{"ids":[1],"maybe":2}'),
    (Json, None, b"null"),
    (Json, [1, "a", {"b": [True, None, {}]}, []], b'[1,"a",{"b":[true,null,{}]},[]]'),
    (dict[str, Json], {"a": {"b": [1]}}, b'{"a":{"b":[1]}}'),
    (Json | bytes, b"a", b'{"bytes":"YQ=="}'),
    (Json | bytes, [["b"]], b'{"list[Json]":[["b"]]}'),
    (Nest, [[], None, [[None]]], b"[[],null,[[null]]]"),
    (Tree[int], [1, [2, []]], b"[1,[2,[]]]"),
    (Tree[str | None], [None, ["a"]], b'[null,["a"]]'),
    (tuple[Tree[int], Tree[str]], ([1], ["a"]), b'[[1],["a"]]'),
    (Options, {"tree": ["a", []]}, b'{"tree":["a",[]]}'),
    (Ping, ([1, ()], "b"), b'[[1,[]],"b"]'),
    (Pong, [1, ("a", [2])], b'[1,["a",[2]]]'),
    (Family, frozenset({frozenset[object](), frozenset({frozenset[object]()})}), b"[[[]],[]]"),
    (Line, deque[object]([None, deque[object](maxlen=2)], 3), b'{"maxlen":3,"items":[null,{"maxlen":2,"items":[]}]}'),
    (Lots, defaultdict[str, object](dict, {"a": defaultdict[str, object](None)}), None),
    (Rows, OrderedDict[str, object]([("b", 1), ("a", OrderedDict[str, object](c=2))]), b'[["b",1],["a",[["c",2]]]]'),
    (Steps, (1, (2, (3, None))), b"[1,[2,[3,null]]]"),
    (Tuples, (1, ((), 2)), b"[1,[[],2]]"),
    (Sets, frozenset({1, frozenset({2, 3})}), b"[1,[2,3]]"),
    (Deques, deque[object]([1, deque([2], 1)]), b'[1,{"maxlen":1,"items":[2]}]'),
    (Dicts, {"a": {"b": 1}}, b'{"a":{"b":1}}'),
    (Ordered, OrderedDict[str, object](b=1, a=OrderedDict[str, object]()), b'[["b",1],["a",[]]]'),
    (Defaults, defaultdict[str, object](defaultdict, {"a": defaultdict[str, object](int, b=1)}), None),
    (Mixed, [1, [Holder([2], Holder(3))]], None),
    (Holder, Holder([Holder(1)], 2), None),
    (Boxes, Box(Box(1)), b'{"inside":{"inside":1}}'),
    (dict[str, Family], {"a": frozenset[object]()}, b'{"a":[]}'),
]
"""Types, a value of each, and its bytes where they are worth a look."""


@pytest.mark.parametrize(("form", "value", "data"), VALUES, ids=map(str, range(len(VALUES))))
def test_an_alias_is_what_it_stands_for(form: object, value: object, data: bytes | None) -> None:
    """A value of an alias comes back as of the type behind it, also where that refers to itself by the alias."""

    codec = codec_of(form)
    encoded = codec.encode(value)

    assert data is None or encoded == data
    assert look(codec.decode(encoded)) == look(value)
    assert codec.canonical(codec.decode(codec.canonical(value))) == codec.canonical(value)


@pytest.mark.parametrize(
    ("form", "plain"),
    [
        (Id, int),
        (Noted, int),
        (Maybe | str, int | str | None),
        (list[Maybe] | bytes, list[int | None] | bytes),
        (list[Numbers] | list[str], list[list[int]] | list[str]),
        (Table[str, bool], dict[str, list[bool]]),
        (Filled, dict[str, int]),
        (Users, list[int]),
        (Tree[int] | None, None | Tree[Id]),
    ],
    ids=map(str, range(9)),
)
def test_an_alias_changes_nothing(form: object, plain: object) -> None:
    """An alias may come and go: it has no part in the bytes nor in the schema."""

    assert codec_of(form).schema == codec_of(plain).schema


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Tree[int], Tree[str]),
        (Nest, list[list[None] | None]),
        (Steps, tuple[int, None] | None),
        (Json, Mixed),
        (Ping, Pong),
    ],
    ids=map(str, range(5)),
)
def test_another_form_has_another_schema(one: object, other: object) -> None:
    """Types that refer to themselves have schemas of their own forms."""

    assert codec_of(one).schema != codec_of(other).schema


@pytest.mark.parametrize(
    ("form", "schema"),
    [
        (Json, "00898b5f5071c4ac"),
        (Nest, "7d4b7341740c92de"),
        (Tree[int], "871689ed1b8ca1e0"),
        (Ping, "327e9b055d4cb1c7"),
        (Steps, "f84e01478fd014f8"),
        (Mixed, "db713f212b552d25"),
        (Holder, "617209f89a933a55"),
    ],
    ids=named,
)
def test_the_schema_of_a_type_that_refers_to_itself_stays(form: object, schema: str) -> None:
    """Bytes of a released version are what a later one still reads, so their schema is the same on every Python."""

    assert codec_of(form).schema == schema


REFUSED: list[tuple[object, object, str, str]] = [
    (Json, [1, [2.5]], "[1][0]", "is of type float"),
    (Json, {"a": {"b": [{"c": b"x"}]}}, "a.b[0].c", "is of type bytes"),
    (Json, {"a": {1: 2}}, "a[key 1]", "is of type int"),
    (Tree[int], [1, ["a"]], "[1][0]", "is of type str"),
    (Ping, (["a"],), "[0][0]", "is of type str"),
    (Mixed, [Holder([Holder(cast("int", "x"))])], "[0].value[0].value", "is of type str"),
]
"""Types, values that are not of them, and where and why each is refused."""


@pytest.mark.parametrize(("form", "value", "path", "why"), REFUSED, ids=map(str, range(len(REFUSED))))
def test_a_wrong_value_deep_inside_is_found(form: object, value: object, path: str, why: str) -> None:
    """A type that refers to itself is as strict at any depth, and the path leads all the way."""

    with pytest.raises(NotEncodable) as caught:
        codec_of(form).encode(value)

    assert caught.value.path == path
    assert why in caught.value.why


def test_bytes_deep_inside_are_as_strict() -> None:
    """Decoding follows a type that refers to itself with the same strictness."""

    with pytest.raises(NotDecodable) as caught:
        codec_of(Json).decode(b'{"a":[1,{"b":1.5}]}')

    assert (caught.value.path, caught.value.why[:8]) == ("a[1].b", "expected")


@pytest.mark.parametrize("form", [Nest, Json, Tree[int]], ids=["Nest", "Json", "Tree"])
def test_a_value_is_bounded_in_depth(form: object) -> None:
    """A value of one level more than is allowed is refused, both ways, and so are bytes of any depth."""

    codec = codec_of(form)
    deepest = nested(MAX_DEPTH + 1)

    assert codec.decode(codec.encode(deepest)) == deepest
    with pytest.raises(NotEncodable, match="is nested more than 100 levels deep"):
        codec.encode(nested(MAX_DEPTH + 2))
    for depth in (MAX_DEPTH + 2, 100_000):
        with pytest.raises(NotDecodable, match="is nested"):
            codec.decode(b"[" * depth + b"]" * depth)
    assert codec.decode(codec.encode(deepest)) == deepest


def made(name: str, value: object, *parameters: object) -> object:
    """An alias that no type checker would take."""
    make = cast("Callable[..., object]", TypeAliasType)
    return make(name, value, type_params=parameters)


new_type = cast("Callable[[str, object], object]", NewType)
"""Makes types that no type checker would take."""

UNKNOWN: list[tuple[object, str, str, str]] = [
    (made("Itself", "Itself"), "", "Itself", "it stands for itself, and nothing else is behind it"),
    (made("Larger", "Larger[list[T]]", T), "", "Larger", "it stands for itself, and nothing else is behind it"),
    (made("Half", "int | Half"), "", "Half | int", "it is a member of itself, and nothing is left beside that"),
    (made("Wider", "T | Wider[list[T]]", T), "", "Wider[list[~T]] | ~T", "it is a member of itself"),
    (made("Grown", "list[Grown[list[T]]]", T), "", "this type", "it is nested more than 100 levels deep"),
    (made("Lost", "list[Nowhere]"), "", "Lost", "what it stands for cannot be found: name 'Nowhere' is not defined"),
    (GenericAlias(list, (made("Lost", "Nowhere"),)), "[]", "Lost", "what it stands for cannot be found"),
    (made("Broken", "list["), "", "Broken", "what it stands for cannot be found: Forward reference"),
    (GenericAlias(list, (new_type("LostId", "Nowhere"),)), "[]", "LostId", "name 'Nowhere' is not defined"),
    (Tree, "", "~T", "a type variable that nothing fills in"),
    (Table, "[key]", "~K", "a type variable that nothing fills in"),
    (made("Many", "tuple[Ts]", Ts), "", "Many", "Ts stands for several types at once"),
    (made("Called", "Callable[P, int]", P), "", "Called", "P stands for several types at once"),
    (made("Vague", "dict[str, object]"), "[]", "object", "it can be anything"),
    (made("Apart", "list[Apart] | list[Apart | None]"), "[]", "Apart | None", "all of class list and refer back"),
    (GenericAlias(dict, (Steps, int)), "[key]", "Steps", "that does not refer to itself"),
    (GenericAlias(set, (Nest,)), "[]", "Nest", "list has no hash"),
]
"""Types behind which there is none, and where, by what name and why each is refused."""


@pytest.mark.parametrize(("form", "path", "name", "why"), UNKNOWN, ids=map(str, range(len(UNKNOWN))))
def test_an_alias_without_a_type_is_refused(form: object, path: str, name: str, why: str) -> None:
    """What stands for nothing, for itself alone, or for what no codec carries is refused when the codec is made."""

    with pytest.raises(UnsupportedType) as caught:
        codec_of(form)

    assert (caught.value.path, caught.value.type) == (path, name)
    assert why in caught.value.why


def test_an_alias_made_in_a_function_knows_its_own_name() -> None:
    """An alias that its module cannot see refers to itself all the same, and not to its namesake there."""

    codec = codec_of(made("Json", "int | list[Json]"))

    assert codec.decode(b"[1,[2]]") == [1, [2]]
    with pytest.raises(NotDecodable, match="found a text"):
        codec.decode(b'["a"]')
