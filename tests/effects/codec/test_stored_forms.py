"""Bytes and schemas that released versions wrote: what later ones still write, and read."""

from __future__ import annotations

import datetime as dt
import enum
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from typing import Generic, Literal, NamedTuple, NotRequired, TypedDict, TypeVar, cast
from uuid import UUID

import attrs
import pytest
from typing_extensions import TypeForm

from alike import look
from effectgraph.effects.codec import codec_for

T = TypeVar("T")


class Colour(enum.Enum):
    """Two members."""

    RED = 1
    GREEN = 2


class Right(enum.Flag):
    """Members that add up."""

    READ = 1
    WRITE = 2


class Span(NamedTuple):
    """A tuple with names."""

    start: int
    end: int | None = None


class Movie(TypedDict):
    """A key that may be absent."""

    title: str
    year: NotRequired[int]


@attrs.frozen
class Item:
    """A frozen class."""

    name: str
    price: Decimal = Decimal(0)


@dataclass
class Point:
    """A dataclass."""

    x: float
    y: float = 0.0


@attrs.frozen
class Box(Generic[T]):
    """A generic class."""

    inside: T
    more: tuple[T, ...] = ()


@attrs.frozen
class Tree:
    """A class that refers to itself."""

    name: str
    branches: list[Tree] = attrs.field(factory=list["Tree"])
    parent: Tree | None = None


@attrs.frozen
class Ping:
    """A class that refers to one defined later."""

    pong: Pong | None


@attrs.frozen
class Pong:
    """A class that refers back."""

    ping: Ping


STORED: list[tuple[object, object, bytes, str]] = [
    (None, None, b"null", "305d98bdc322f661"),
    (bool, True, b"true", "82ca1e23b646fc34"),
    (int, 2**70, b"1180591620717411303424", "0e315d16c89273ef"),
    (float, 1.5, b"1.5", "49b51fd499613b96"),
    (float, float("-inf"), b'{"float":"-inf"}', "49b51fd499613b96"),
    (float, -0.0, b"-0.0", "49b51fd499613b96"),
    (str, "caf\u00e9 \n", b'"caf\xc3\xa9 \\n"', "f1bfd7059f03186d"),
    (bytes, b"\x00\xff", b'"AP8="', "f7ebda00d220c509"),
    (Decimal, Decimal("19.90"), b'"19.90"', "f48be5f79577124c"),
    (UUID, UUID(int=7), b'"00000000-0000-0000-0000-000000000007"', "966a89d806c51286"),
    (dt.date, dt.date(2026, 3, 7), b'"2026-03-07"', "b912848cd259a964"),
    (dt.datetime, dt.datetime(2026, 3, 7, 9, 30, tzinfo=dt.UTC), b'"2026-03-07T09:30:00+00:00"', "1da23d91bdcbd87c"),
    (dt.time, dt.time(9, 30), b'"09:30:00"', "6bec2bf18b005078"),
    (dt.timedelta, dt.timedelta(1, 2, 3), b'"P1DT2.000003S"', "a4030e084ccc0ba0"),
    (PurePosixPath, PurePosixPath("a/b"), b'"a/b"', "0df48e0819331e1c"),
    (Colour, Colour.GREEN, b'"GREEN"', "1118fa0708fe3ba7"),
    (Right, Right.READ | Right.WRITE, b'"READ|WRITE"', "b37e2dd5337e13b9"),
    (Literal["a", 1, None], 1, b"1", "dc6f1782d9c03bff"),
    (list[int], [1, 2], b"[1,2]", "9188105c0edf9416"),
    (tuple[int, ...], (1, 2), b"[1,2]", "e0fd2825bcbed287"),
    (tuple[int, str], (1, "a"), b'[1,"a"]', "0d60f796f7e44574"),
    (tuple[()], (), b"[]", "f3ab50fb0373aa4f"),
    (set[str], {"b", "a"}, b'["a","b"]', "be7036ca7ec43b6f"),
    (frozenset[int], frozenset({2, 1}), b"[1,2]", "71577efc03d7677f"),
    (dict[str, int], {"b": 1, "a": 2}, b'{"b":1,"a":2}', "d04827b186668534"),
    (dict[int, str], {2: "a", 1: "b"}, b'{"2":"a","1":"b"}', "c59049239874ea75"),
    (dict[bool, str], {True: "a", False: "b"}, b'{"true":"a","false":"b"}', "ef5185c2616752ab"),
    (dict[Colour, list[int]], {Colour.RED: [1]}, b'{"RED":[1]}', "ad4633d60eea32a4"),
    (dict[dt.date, None], {dt.date(2026, 3, 7): None}, b'{"2026-03-07":null}', "045efcc60d1e44c7"),
    (int | None, None, b"null", "5022709bafa4153c"),
    (int | str | None, "1", b'"1"', "21c8ecffc44a6c92"),
    (Colour | str, Colour.RED, b'{"Colour":"RED"}', "d931ead58204f235"),
    (list[int] | list[str] | None, ["a"], b'{"list[str]":["a"]}', "ef1a3a2d4bb186c6"),
    (Item | Point | None, Point(1.5), b'{"Point":{"x":1.5,"y":0.0}}', "2a1947f05dd2b041"),
    (Box[int] | Box[str], Box("a"), b'{"Box[str]":{"inside":"a","more":[]}}', "a7d7b65297ac2b1b"),
    (Span, Span(1), b'{"start":1,"end":null}', "b4308abf0f61fbe2"),
    (Movie, {"title": "a"}, b'{"title":"a"}', "a89d209b1fd978dc"),
    (Item, Item("a", Decimal("1.50")), b'{"name":"a","price":"1.50"}', "95869c4c462194c2"),
    (Point, Point(1, 2.5), b'{"x":1,"y":2.5}', "814166945f20e4fb"),
    (
        Box[Item],
        Box(Item("a"), (Item("b"),)),
        b'{"inside":{"name":"a","price":"0"},"more":[{"name":"b","price":"0"}]}',
        "55f8674135d85d82",
    ),
    (
        Tree,
        Tree("a", [Tree("b")], Tree("c")),
        b'{"name":"a","branches":[{"name":"b","branches":[],"parent":null}],"parent":{"name":"c","branches":[],"parent":null}}',
        "246c6928d24f0e2e",
    ),
    (list[Tree], [Tree("a")], b'[{"name":"a","branches":[],"parent":null}]', "07cc090fe457b756"),
    (
        dict[str, list[Ping]],
        {"a": [Ping(Pong(Ping(None)))]},
        b'{"a":[{"pong":{"ping":{"pong":null}}}]}',
        "b781615bae47543d",
    ),
    (Pong | Ping, Pong(Ping(None)), b'{"Pong":{"ping":{"pong":null}}}', "1c9f443ac0eeb890"),
    (
        tuple[Tree, ...] | list[Pong | Ping],
        [Ping(None)],
        b'{"list[Ping | Pong]":[{"Ping":{"pong":null}}]}',
        "ace799ff71a423ee",
    ),
    (
        dict[str, dict[int, set[Colour]]],
        {"x": {1: {Colour.RED, Colour.GREEN}}},
        b'{"x":{"1":["GREEN","RED"]}}',
        "063ce0a2378125f9",
    ),
    (Fraction, Fraction(-1, 3), b'"-1/3"', "af59703f63d1bdb0"),
    (int, 1 - 10**4300, b"-" + b"9" * 4300, "0e315d16c89273ef"),
    (deque[int], deque([1, 2]), b"[1,2]", "b64df68c2ced2bbb"),
    (deque[int], deque([1, 2], 3), b'{"maxlen":3,"items":[1,2]}', "b64df68c2ced2bbb"),
    (Counter[str], Counter("bba"), b'{"b":2,"a":1}', "c46b414372e8fab4"),
    (OrderedDict[str, int], OrderedDict(b=1, a=2), b'[["b",1],["a",2]]', "c4696111baf82629"),
    (
        defaultdict[str, list[int]],
        defaultdict(list, {"a": [1]}),
        b'{"factory":"list","items":{"a":[1]}}',
        "ff5be1fd10eabf5f",
    ),
    (dict[int | str | None, int], {1: 1, "1": 2, None: 3}, b'{"1":1,"\\"1\\"":2,"null":3}', "736e602dd8559d4e"),
    (dict[tuple[int, str], bool], {(1, "b"): True}, b'{"[1,\\"b\\"]":true}', "4de710acf70c5fec"),
    (dict[float, int], {1.5: 1, float("nan"): 2}, b'{"1.5":1,"{\\"float\\":\\"nan\\"}":2}', "f8275dbf96dc002d"),
    (
        dict[Span | Colour, int],
        {Span(1): 1, Colour.RED: 2},
        b'{"{\\"end\\":null,\\"start\\":1}":1,"\\"RED\\"":2}',
        "cad2e48a142efdc8",
    ),
]
"""Types, a value of each, the bytes that were written of it, and the schema that was kept beside them."""


@pytest.mark.parametrize(("form", "value", "data", "schema"), STORED, ids=map(str, range(len(STORED))))
def test_what_was_stored_is_read_and_written_as_before(form: object, value: object, data: bytes, schema: str) -> None:
    """Bytes and schema of a released version are what a later one writes, on every Python, and what it reads."""

    codec = codec_for(cast("TypeForm[object]", form))

    assert codec.encode(value) == data
    assert look(codec.decode(data)) == look(value)
    assert codec.schema == schema
