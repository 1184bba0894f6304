"""Deques, Counters, defaultdicts and OrderedDicts: what is in them, and what each is besides."""

from __future__ import annotations

import math
import sys
import typing
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from types import GenericAlias
from typing import NamedTuple, NewType, TypedDict, cast

import attrs
import pytest
from typing_extensions import TypeAliasType, TypeForm

from alike import look
from effectgraph.effects.codec import Codec, NotDecodable, NotEncodable, UnsupportedType, codec_for
from stable_ids import named

Names = NewType("Names", list[str])


def codec_of(form: object) -> Codec[object]:
    """The codec of a type that is in a table."""
    return codec_for(cast("TypeForm[object]", form))


@attrs.frozen
class Item:
    """A class that can be made without arguments."""

    name: str = "new"
    tags: deque[str] = attrs.field(factory=deque[str])


Noted = TypeAliasType("Noted", "Item | None")
"""An alias of a union, in which a factory may be found as well."""


class Span(NamedTuple):
    """A tuple with names."""

    start: int = 0


class Keys(TypedDict, total=False):
    """A typed dict that may be empty."""

    a: int


def namesake() -> type[object]:
    """Another class of the name `Item`."""

    @attrs.frozen
    class Item:
        size: int = 0

    return Item


OtherItem = namesake()
EITHER = GenericAlias(defaultdict, (str, Item | cast("type[int]", OtherItem)))
"""A defaultdict of two classes of one name."""


@attrs.frozen
class Stock:
    """Containers in fields."""

    counts: Counter[str]
    recent: deque[Item]
    by_name: defaultdict[str, list[Item]]
    history: OrderedDict[int, deque[int] | None]


VALUES: list[tuple[object, object, bytes | None]] = [
    (deque[int], deque[int](), b"[]"),
    (deque[int], deque([2, 1]), b"[2,1]"),
    (deque[int], deque([2, 1], 2), b'{"maxlen":2,"items":[2,1]}'),
    (deque[int], deque[int]([], 0), b'{"maxlen":0,"items":[]}'),
    (deque[int], deque[int]([], sys.maxsize), b'{"maxlen":%d,"items":[]}' % sys.maxsize),
    (deque[deque[int]], deque([deque([1], 1), deque[int]()], 5), b'{"maxlen":5,"items":[{"maxlen":1,"items":[1]},[]]}'),
    (typing.__dict__["Deque"][float], deque([1, 1.0, -0.0]), b"[1,1.0,-0.0]"),
    (deque[int] | None, None, b"null"),
    (deque[int] | list[int], deque([1]), b'{"deque[int]":[1]}'),
    (deque[int] | list[int], [1], b'{"list[int]":[1]}'),
    (deque[int] | dict[str, int], deque([1], 3), b'{"deque[int]":{"maxlen":3,"items":[1]}}'),
    (deque[int] | deque[str], deque(["a"], 3), b'{"deque[str]":{"maxlen":3,"items":["a"]}}'),
    (Counter[str], Counter[str](), b"{}"),
    (Counter[str], Counter("bba"), b'{"b":2,"a":1}'),
    (Counter[str], Counter({"z": -1, "a": 0, "m": 10**20}), b'{"z":-1,"a":0,"m":100000000000000000000}'),
    (Counter[int], Counter([3, 3]), b'{"3":2}'),
    (Counter[tuple[int, str]], Counter([(1, "a")]), b'{"[1,\\"a\\"]":1}'),
    (Counter[int | str], Counter([1, "1", 1]), b'{"1":2,"\\"1\\"":1}'),
    (typing.__dict__["Counter"][bool], Counter([True]), b'{"true":1}'),
    (Counter[str] | dict[str, int], Counter("a"), b'{"Counter[str]":{"a":1}}'),
    (Counter[str] | dict[str, int], {"a": 1}, b'{"dict[str, int]":{"a":1}}'),
    (OrderedDict[str, int], OrderedDict[str, int](), b"[]"),
    (OrderedDict[str, int], OrderedDict[str, int](b=1, a=2), b'[["b",1],["a",2]]'),
    (OrderedDict[float, str], OrderedDict([(math.nan, "a"), (-0.0, "b"), (1, "c")]), None),
    (OrderedDict[int | str | None, list[int]], OrderedDict([(1, [1]), ("1", []), (None, [2])]), None),
    (OrderedDict[Span, dict[str, int]], OrderedDict([(Span(1), {"b": 1, "a": 2})]), None),
    (
        typing.__dict__["OrderedDict"][str, int] | list[int],
        OrderedDict[str, int](a=1),
        b'{"OrderedDict[str, int]":[["a",1]]}',
    ),
    (defaultdict[str, int], defaultdict[str, int](None, {"a": 1}), b'{"factory":null,"items":{"a":1}}'),
    (defaultdict[str, int], defaultdict(int, {"b": 1, "a": 2}), b'{"factory":"int","items":{"b":1,"a":2}}'),
    (defaultdict[int, list[int]], defaultdict(list, {1: [1]}), b'{"factory":"list","items":{"1":[1]}}'),
    (defaultdict[int, list[int]], defaultdict(list[int], {1: [1]}), b'{"factory":"list[int]","items":{"1":[1]}}'),
    (
        defaultdict[str, Item],
        defaultdict(Item, {"x": Item()}),
        b'{"factory":"Item","items":{"x":{"name":"new","tags":[]}}}',
    ),
    (defaultdict[str, Span], defaultdict[str, Span](Span), b'{"factory":"Span","items":{}}'),
    (
        defaultdict[str, Keys],
        defaultdict[str, object](Keys, {"x": {"a": 1}}),
        b'{"factory":"Keys","items":{"x":{"a":1}}}',
    ),
    (defaultdict[str, Names], defaultdict[str, list[str]](list), b'{"factory":"list","items":{}}'),
    (
        defaultdict[str, deque[int] | None],
        defaultdict[str, deque[int] | None](deque, {"a": None}),
        b'{"factory":"deque","items":{"a":null}}',
    ),
    (defaultdict[str, Noted | int], defaultdict[str, object](Item), b'{"factory":"Item","items":{}}'),
    (
        defaultdict[str, Counter[str] | Item],
        defaultdict[str, Counter[str]](Counter[str]),
        b'{"factory":"Counter[str]","items":{}}',
    ),
    (EITHER, defaultdict[str, Item](Item), None),
    (EITHER, defaultdict[str, object](OtherItem), None),
    (
        typing.__dict__["DefaultDict"][str, defaultdict[int, set[int]]],
        defaultdict[str, object](dict, {"x": defaultdict(set, {1: {2, 1}})}),
        b'{"factory":"dict","items":{"x":{"factory":"set","items":{"1":[1,2]}}}}',
    ),
    (
        defaultdict[str, int] | dict[str, int],
        defaultdict[str, int](int),
        b'{"defaultdict[str, int]":{"factory":"int","items":{}}}',
    ),
    (
        Stock,
        Stock(
            Counter("aab"),
            deque([Item("a", deque(["x"], 1))], 10),
            defaultdict(list, {"a": [Item("b")]}),
            OrderedDict([(2, deque([1])), (1, None)]),
        ),
        None,
    ),
]
"""Types, a value of each, and its bytes where they are worth a look."""


@pytest.mark.parametrize(("form", "value", "data"), VALUES, ids=map(str, range(len(VALUES))))
def test_a_container_comes_back_as_it_was(form: object, value: object, data: bytes | None) -> None:
    """Order, bound, factory and counts come back, with every part of its own type."""

    codec = codec_of(form)
    encoded = codec.encode(value)

    assert data is None or encoded == data
    assert look(codec.decode(encoded)) == look(value)
    assert codec.encode(codec.decode(encoded)) == encoded
    assert codec.canonical(codec.decode(codec.canonical(value))) == codec.canonical(value)


@pytest.mark.parametrize("factory", [int, str, float, bool, list, dict, set, tuple, frozenset, None])
def test_a_builtin_factory_has_its_name(factory: Callable[[], object] | None) -> None:
    """Any of the builtin factories is kept by name, whatever the values are declared as."""

    codec = codec_of(defaultdict[str, int])
    name = b"null" if factory is None else b'"%s"' % factory.__name__.encode()

    assert codec.encode(defaultdict[str, object](factory)) == b'{"factory":%s,"items":{}}' % name
    assert look(codec.decode(codec.encode(defaultdict[str, object](factory)))) == look(
        defaultdict[str, object](factory)
    )


def test_a_factory_works_again() -> None:
    """A key that is not there is made by the factory that came back."""

    codec = codec_for(defaultdict[str, list[int]])
    back = codec.decode(codec.encode(defaultdict(list)))
    back["a"].append(1)

    assert back == {"a": [1]}


def made() -> int:
    """A factory that is a function."""
    return 0


class Plain:
    """A class that the type does not show."""


UNNAMED: list[tuple[object, Callable[[], object], str]] = [
    (int, lambda: 0, "<lambda>"),
    (int, made, "made"),
    (int, partial(int, 5), "partial"),
    (int, Plain, "Plain"),
    (list[Item], Item, "Item"),
    (list[int], list[str], "list"),
    (Item, OtherItem, "Item"),
    (None, type(None), "NoneType"),
    (int, [1].copy, "list.copy"),
]
"""Types of values, and factories that they do not show."""


@pytest.mark.parametrize(("form", "factory", "name"), UNNAMED, ids=map(str, range(len(UNNAMED))))
def test_a_factory_without_a_name_is_refused(form: object, factory: Callable[[], object], name: str) -> None:
    """A factory that the type does not show could not be found again; the error says which, and which would do."""

    codec = codec_of(GenericAlias(dict, (str, GenericAlias(defaultdict, (str, form)))))
    with pytest.raises(NotEncodable) as caught:
        codec.encode({"x": defaultdict[str, object](factory)})

    assert caught.value.path == "x.default_factory"
    assert f"{name} has no name here; use None or one of int, str, float, bool, list" in caught.value.why


@pytest.mark.parametrize(
    "name", ["os.system", "Plain", "object", "test_containers.Item", "builtins.int", "Item.name", ""]
)
def test_a_stored_name_is_never_imported(name: str) -> None:
    """A factory is looked up among those that the type shows; what else the bytes may say is refused."""

    with pytest.raises(
        NotDecodable, match=f'there is no factory "{name}"; there are int, str, .*, frozenset, Item'
    ) as caught:
        codec_for(defaultdict[str, Item]).decode(b'{"factory":"%s","items":{}}' % name.encode())

    assert caught.value.path == "default_factory"


def test_K07_a_renamed_factory_is_named() -> None:
    """A defaultdict whose factory has been renamed since is an error that names it, not one without a factory."""

    stored = codec_for(defaultdict[str, Item]).encode(defaultdict(Item))

    with pytest.raises(
        NotDecodable, match=r'^default_factory cannot be decoded: there is no factory "Item"; .*, Span$'
    ):
        codec_for(defaultdict[str, Span]).decode(stored)


def test_canonical_bytes_keep_the_order_of_an_ordered_dict() -> None:
    """OrderedDicts of another order are not equal, so their fingerprints differ; those of other dicts do not."""

    ordered, plain = codec_for(OrderedDict[str, dict[str, int]]), codec_for(dict[str, dict[str, int]])
    one, other = {"b": {"y": 1, "x": 2}, "a": {}}, {"a": {}, "b": {"x": 2, "y": 1}}

    assert OrderedDict(one) != OrderedDict(other)
    assert ordered.canonical(OrderedDict(one)) != ordered.canonical(OrderedDict(other))
    assert ordered.canonical(OrderedDict(one)) == b'[["b",{"x":2,"y":1}],["a",{}]]'
    assert plain.canonical(one) == plain.canonical(other)


def test_canonical_bytes_of_counters_and_defaultdicts_are_sorted() -> None:
    """Counters and defaultdicts are equal in any order, and so are their canonical bytes."""

    counter, default = codec_for(Counter[str]), codec_for(defaultdict[str, int])

    assert counter.canonical(Counter("ba")) == counter.canonical(Counter("ab")) == b'{"a":1,"b":1}'
    assert default.canonical(defaultdict(int, b=1, a=2)) == default.canonical(defaultdict(int, a=2, b=1))


REFUSED: list[tuple[object, object, str, str, str]] = [
    (deque[int], [1], "", "deque[int]", "is of type list"),
    (list[int], deque([1]), "", "list[int]", "is of type deque"),
    (deque[int], deque([1, True]), "[1]", "int", "is a bool, a subclass"),
    (deque[str], deque(["a", 1], 2), "[1]", "str", "is of type int"),
    (Counter[str], {"a": 1}, "", "Counter[str]", "is of type dict"),
    (Counter[str], Counter({"a": 1.5}), "a", "int", "is of type float"),
    (Counter[str], Counter([1]), "[key 1]", "str", "is of type int"),
    (dict[str, int], OrderedDict(a=1), "", "dict[str, int]", "is a OrderedDict, a subclass"),
    (dict[str, int], defaultdict(int), "", "dict[str, int]", "is a defaultdict, a subclass"),
    (OrderedDict[str, int], {"a": 1}, "", "OrderedDict[str, int]", "is of type dict"),
    (OrderedDict[str, int], OrderedDict(a=None), "a", "int", "is of type NoneType"),
    (OrderedDict[int, int], OrderedDict({7: None}), "[7]", "int", "is of type NoneType"),
    (OrderedDict[int, int], OrderedDict({True: 1}), "[key True]", "int", "is a bool, a subclass"),
    (OrderedDict[float, int], OrderedDict([(math.nan, 1), (float("nan"), 2)]), "", "OrderedDict[float, int]", "alike"),
    (defaultdict[str, int], {"a": 1}, "", "defaultdict[str, int]", "is of type dict"),
    (defaultdict[str, int], defaultdict[str, object](int, {"a": "1"}), "a", "int", "is of type str"),
    (defaultdict[int, int], defaultdict[int, object](int, {1: "1"}), "[1]", "int", "is of type str"),
]
"""Types, values that are not of them, and the path, the declared type and the reason of the refusal."""


@pytest.mark.parametrize(("form", "value", "path", "name", "why"), REFUSED, ids=map(str, range(len(REFUSED))))
def test_a_value_of_another_class_is_refused(form: object, value: object, path: str, name: str, why: str) -> None:
    """No container stands for another one, a subclass neither, and every part is checked."""

    with pytest.raises(NotEncodable) as caught:
        codec_of(form).encode(value)

    assert (caught.value.path, caught.value.type) == (path, name)
    assert why in caught.value.why


DAMAGED: list[tuple[object, bytes, str, str]] = [
    (deque[int], b"{}", "", "expected deque[int], found an object"),
    (deque[int], b'{"maxlen":1}', "", "found an object"),
    (deque[int], b'{"maxlen":1,"items":[],"x":1}', "", "found an object"),
    (deque[int], b'{"maxlen":null,"items":[]}', "maxlen", "expected the greatest length"),
    (deque[int], b'{"maxlen":true,"items":[]}', "maxlen", "expected the greatest length"),
    (deque[int], b'{"maxlen":-1,"items":[]}', "maxlen", "expected the greatest length"),
    (deque[int], b'{"maxlen":%d,"items":[]}' % (sys.maxsize + 1), "maxlen", "expected the greatest length"),
    (deque[int], b'{"maxlen":1,"items":[1,2]}', "", "has 2 items; a deque of 1 would lose some"),
    (deque[int], b'{"maxlen":1,"items":{}}', "", "expected the items of deque[int], found an object"),
    (deque[int], b'{"maxlen":1,"items":["a"]}', "[0]", "expected int, found a text"),
    (deque[int], b'[1,"a"]', "[1]", "expected int, found a text"),
    (deque[int], b"null", "", "found null"),
    (deque[int], b'{"maxlen":1,"maxlen":2,"items":[]}', "", 'the key "maxlen" stands twice'),
    (Counter[str], b"[]", "", "expected Counter[str], found an array"),
    (Counter[str], b'{"a":1.0}', "a", "expected int"),
    (Counter[int], b'{"a":1}', '[key "a"]', "expected an integer as key"),
    (Counter[Decimal], b'{"1":1,"1.0":1}', "", "two keys are equal"),
    (OrderedDict[str, int], b"{}", "", "expected OrderedDict[str, int], found an object"),
    (OrderedDict[str, int], b"[1]", "[0]", "expected a key and its value"),
    (OrderedDict[str, int], b'[["a"]]', "[0]", "expected a key and its value"),
    (OrderedDict[str, int], b'[["a",1,2]]', "[0]", "expected a key and its value"),
    (OrderedDict[str, int], b'[["a",1],{"b":2}]', "[1]", "expected a key and its value"),
    (OrderedDict[str, int], b'[["a",1],["a",2]]', "", "two keys are equal"),
    (OrderedDict[str, int], b'[["a",null]]', "a", "expected int, found null"),
    (OrderedDict[str, int], b"[[1,1]]", '[key "1"]', "expected str, found an integer"),
    (OrderedDict[int, int], b"[[7,null]]", "[7]", "expected int, found null"),
    (OrderedDict[Decimal, int], b'[["sNaN",1]]', '[key "sNaN"]', "can be no key"),
    (OrderedDict[str, int], b'[[{"a":1,"a":1},1]]', '[key "{\\"key\\":\\"a\\"}"]', 'the key "a" stands twice'),
    (defaultdict[str, int], b'{"a":1}', "", "expected defaultdict[str, int], found an object"),
    (defaultdict[str, int], b"{}", "", "found an object"),
    (defaultdict[str, int], b'{"factory":"int"}', "", "found an object"),
    (defaultdict[str, int], b'{"factory":"int","items":{},"x":1}', "", "found an object"),
    (defaultdict[str, int], b'{"factory":1,"items":{}}', "default_factory", "found an integer"),
    (defaultdict[str, int], b'{"factory":["int"],"items":{}}', "default_factory", "found an array"),
    (defaultdict[str, int], b'{"factory":"int","items":[]}', "", "found an array"),
    (defaultdict[str, int], b'{"factory":"int","items":{"a":"1"}}', "a", "expected int, found a text"),
]
"""Types, bytes that are no values of them, and where and why each is refused."""


@pytest.mark.parametrize(("form", "data", "path", "why"), DAMAGED, ids=map(str, range(len(DAMAGED))))
def test_bytes_of_another_form_are_refused(form: object, data: bytes, path: str, why: str) -> None:
    """The forms of containers are strict as well: nothing is cut, filled in or overlooked."""

    with pytest.raises(NotDecodable) as caught:
        codec_of(form).decode(data)

    assert caught.value.path == path
    assert why in caught.value.why


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (deque[int], list[int]),
        (deque[int], deque[str]),
        (Counter[str], dict[str, int]),
        (Counter[str], Counter[int]),
        (OrderedDict[str, int], dict[str, int]),
        (OrderedDict[str, int], OrderedDict[str, float]),
        (OrderedDict[str, int], list[tuple[str, int]]),
        (defaultdict[str, int], dict[str, int]),
        (defaultdict[str, int], defaultdict[bytes, int]),
        (defaultdict[str, int], defaultdict[str, float]),
    ],
    ids=named,
)
def test_every_container_has_its_own_schema(one: object, other: object) -> None:
    """What is written in another form, or comes back as something else, has another schema."""

    assert codec_of(one).schema != codec_of(other).schema


def test_no_container_is_an_element_or_a_key() -> None:
    """Containers that can change have no hash; that shows when the codec is made."""

    for form in (deque[int], Counter[str], OrderedDict[str, int], defaultdict[str, int]):
        for whole in (GenericAlias(set, (form,)), GenericAlias(dict, (form, int)), GenericAlias(Counter, (form,))):
            with pytest.raises(UnsupportedType, match="has no hash, so it can be no element of a set and no key"):
                codec_of(whole)
