"""Type variables filled in, where the classes are as type checkers like them."""

from __future__ import annotations

import dataclasses
from typing import Generic, NamedTuple, NotRequired, Required, TypedDict, TypeVar, cast

import attrs
import pytest
import typing_extensions
from typing_extensions import ReadOnly, TypeForm

from alike import look
from effectgraph.effects.codec import Codec, NotDecodable, NotEncodable, codec_for

T = TypeVar("T")
K = TypeVar("K")


def codec_of(form: object) -> Codec[object]:
    """The codec of a type that is in a table."""
    return codec_for(cast("TypeForm[object]", form))


@attrs.frozen
class Box(Generic[T]):
    """A generic class."""

    inside: T


@attrs.frozen
class Either(Generic[T]):
    """A variable inside a union, and in a class inside one."""

    x: int | list[T]
    y: dict[str, int | Box[T]] = attrs.field(factory=dict[str, "int | Box[T]"])


class Link(NamedTuple):
    """A NamedTuple that refers to itself."""

    value: int
    rest: Link | None = None


class Labelled(NamedTuple, Generic[T]):
    """A generic NamedTuple."""

    label: str
    values: tuple[T, ...] = ()


class Held(TypedDict, Generic[T]):
    """A generic typed dict with keys of every kind."""

    must: Required[T]
    may: NotRequired[list[T]]
    fixed: ReadOnly[T]
    both: NotRequired[ReadOnly[dict[str, T]]]


class HeldMore(Held[T], Generic[T, K], total=False):
    """More keys on top, absent ones allowed."""

    more: K


class HeldInts(HeldMore[int, str]):
    """No longer generic."""

    last: bool


class Closed(typing_extensions.TypedDict, closed=True):
    """A typed dict that takes no other keys, and says so."""

    a: NotRequired[int]


@dataclasses.dataclass(frozen=True)
class Outer(Generic[T, K]):
    """A generic class made of others."""

    first: Box[T]
    second: Box[Box[dict[str, K]]]
    third: Labelled[T] | None


@dataclasses.dataclass(frozen=True)
class Swapped(Outer[K, T], Generic[T, K]):
    """Its variables are those of its base the other way round."""

    own: tuple[T, K]


VALUES: list[tuple[object, object]] = [
    (Link, Link(1, Link(2))),
    (Either[str], Either(["a"], {"b": Box("c"), "d": 1})),
    (Either[bool], Either[bool](1)),
    (Held[int], {"must": 1, "fixed": 2}),
    (Held[str], {"must": "a", "may": ["b"], "fixed": "c", "both": {"d": "e"}}),
    (HeldInts, {"must": 1, "fixed": 2, "last": True, "more": "a", "may": [3]}),
    (HeldMore[bytes, None], {"must": b"a", "fixed": b"b", "more": None}),
    (Labelled[int], Labelled("a", (1,))),
    (Outer[int, str], Outer(Box(1), Box(Box({"a": "b"})), Labelled("c", (2,)))),
    (Swapped[int, str], Swapped[int, str](Box("a"), Box(Box({"b": 1})), None, (2, "c"))),
    (Box[list[Box[int]]], Box([Box(1), Box(2)])),
    (Box[Box[Box[None]]], Box(Box(Box(None)))),
]
"""Types, and a value of each."""


@pytest.mark.parametrize(("form", "value"), VALUES, ids=map(str, range(len(VALUES))))
def test_K09_variables_are_filled_in(form: object, value: object) -> None:
    """A value of a generic class comes back with parts of the types that stand for its variables."""

    codec = codec_of(form)

    assert look(codec.decode(codec.encode(value))) == look(value)


WRONG: list[tuple[object, object, str, str]] = [
    (Held[int], {"must": 1, "fixed": "a"}, "fixed", "int"),
    (HeldInts, {"must": 1, "fixed": 2, "last": True, "more": 3}, "more", "str"),
    (Swapped[int, str], Outer(Box("a"), Box(Box({"b": 1})), None), "", "Swapped[int, str]"),
    (Swapped[int, str], Swapped(Box(1), Box(Box({"b": 1})), None, (2, 3)), "first.inside", "str"),
    (Swapped[int, str], Swapped(Box("a"), Box(Box({"b": "c"})), None, ("d", "e")), "second.inside.inside.b", "int"),
    (Box[list[Box[int]]], Box([Box("a")]), "inside[0].inside", "int"),
    (Labelled[int], Labelled("a", ("b",)), "values[0]", "int"),
]
"""Types, values with a part of another type, and where and as what each is refused."""


@pytest.mark.parametrize(("form", "value", "path", "name"), WRONG, ids=map(str, range(len(WRONG))))
def test_K09_what_is_filled_in_is_checked(form: object, value: object, path: str, name: str) -> None:
    """A part that is not of the type that stands for the variable is refused."""

    with pytest.raises(NotEncodable) as caught:
        codec_of(form).encode(value)

    assert (caught.value.path, caught.value.type) == (path, name)


def test_K18_a_closed_typed_dict_is_like_any_other() -> None:
    """No codec takes a key that is not written down, whether the typed dict says so or not."""

    codec = codec_for(Closed)

    assert codec.decode(b"{}") == {}
    assert codec.decode(b'{"a":1}') == {"a": 1}
    with pytest.raises(NotDecodable, match="b cannot be decoded: is no field of Closed"):
        codec.decode(b'{"b":1}')


@pytest.mark.parametrize(
    ("form", "data", "path"),
    [
        (Held[int], b'{"must":1}', "fixed"),
        (Held[int], b'{"fixed":1}', "must"),
        (HeldInts, b'{"must":1,"fixed":1}', "last"),
        (HeldMore[int, str], b'{"must":1}', "fixed"),
    ],
    ids=map(str, range(4)),
)
def test_K18_qualified_keys_are_required_or_not(form: object, data: bytes, path: str) -> None:
    """`Required`, `NotRequired` and `ReadOnly` count where annotations are postponed, alone and one in the other."""

    with pytest.raises(NotDecodable, match="is missing") as caught:
        codec_of(form).decode(data)

    assert caught.value.path == path
