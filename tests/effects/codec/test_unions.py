"""Unions: which member a value is, in the bytes and afterwards."""

from __future__ import annotations

import datetime as dt
import enum
from typing import Annotated, Generic, Literal, NewType, TypedDict, TypeVar, cast

import attrs
import pytest
from typing_extensions import TypeForm

from alike import look
from effectgraph.effects.codec import Codec, NotDecodable, NotEncodable, UnsupportedType, codec_for

T = TypeVar("T")
UserId = NewType("UserId", str)


def codec_of(form: object) -> Codec[object]:
    """The codec of a type that is in a table."""
    return codec_for(cast("TypeForm[object]", form))


@attrs.frozen
class A:
    """Has the fields of `B`, in other places."""

    z: int
    x: int | None = None


@attrs.frozen
class B:
    """Its required field is the name of nothing in `A`."""

    c: int
    a: int | None = None


@attrs.frozen
class Base:
    """A base class."""

    x: int


@attrs.frozen
class Sub(Base):
    """One field more."""

    y: int = 0


@attrs.frozen
class Box(Generic[T]):
    """A generic class."""

    inside: T


class Colour(enum.Enum):
    """Written as texts, as `str` is."""

    RED = 1


class Shape(TypedDict):
    """Written as an object, as `dict` is."""

    sides: int


@attrs.frozen
class Leaf:
    """An end of a tree."""

    value: int | str


@attrs.frozen
class Fork:
    """A tree whose parts are told apart by their names."""

    left: Leaf | Fork
    right: Leaf | Fork | None = None


@pytest.mark.parametrize(
    ("form", "value", "data"),
    [
        (int | str | None, 1, b"1"),
        (int | str | None, "None", b'"None"'),
        (int | str | None, None, b"null"),
        (int | bool, True, b"true"),
        (int | bool, 1, b"1"),
        (int | float, 1, b"1"),
        (int | float, 1.0, b"1.0"),
        (str | float, float("nan"), b'{"float":"nan"}'),
        (list[int] | dict[str, int] | str, {"list[int]": 1}, b'{"list[int]":1}'),
        (A | int, A(1), b'{"z":1,"x":null}'),
        (A | B, A(1), b'{"A":{"z":1,"x":null}}'),
        (A | B | None, None, b"null"),
        (Colour | str, Colour.RED, b'{"Colour":"RED"}'),
        (Colour | str, "RED", b'{"str":"RED"}'),
        (dt.date | dt.datetime, dt.date(2026, 3, 7), b'{"date":"2026-03-07"}'),
        (list[int] | list[str], [1], b'{"list[int]":[1]}'),
        (list[int] | list[str], ["a"], b'{"list[str]":["a"]}'),
        (list[int] | list[str], [], b'{"list[int]":[]}'),
        (list[int] | tuple[int, ...], (1,), b'{"tuple[int, ...]":[1]}'),
        (Box[int] | Box[str], Box("a"), b'{"Box[str]":{"inside":"a"}}'),
        (Shape | dict[str, str], {"sides": 3}, b'{"Shape":{"sides":3}}'),
        (Shape | dict[str, str], {"sides": "3"}, b'{"dict[str, str]":{"sides":"3"}}'),
        (Literal["auto"] | int, "auto", b'"auto"'),
        (Literal["auto", 1] | int, 2, b'{"int":2}'),
        (Literal[None] | int | None, None, b"null"),
        (float | dict[str, str], {"float": "nan"}, b'{"dict[str, str]":{"float":"nan"}}'),
        (float | dict[str, str], float("inf"), b'{"float":{"float":"inf"}}'),
        (UserId | None, UserId("u"), b'"u"'),
        (
            Fork,
            Fork(Leaf(1), Fork(Leaf("a"))),
            b'{"left":{"Leaf":{"value":1}},"right":{"Fork":{"left":{"Leaf":{"value":"a"}},"right":null}}}',
        ),
    ],
)
def test_a_member_is_told_by_its_form_or_by_its_name(form: object, value: object, data: bytes) -> None:
    """Members with different JSON forms stand for themselves; where two share one, each has its name before it."""

    codec = codec_of(form)

    assert codec.encode(value) == data
    assert look(codec.decode(data)) == look(value)


def test_K07_a_renamed_member_is_named() -> None:
    """Bytes of a class that has been renamed since are an error that names it; no dict, no None."""

    stored = codec_for(A | B).encode(B(1))

    with pytest.raises(
        NotDecodable, match=r'^the value cannot be decoded: the union has no member "B"; it has A, Base$'
    ):
        codec_for(A | Base | None).decode(stored)


def test_K11_a_member_is_never_guessed_from_its_fields() -> None:
    """A value comes back as the class it was, though the fields of the other would do as well."""

    codec = codec_for(A | B)

    assert codec.decode(codec.encode(B(c=1))) == B(c=1)
    assert codec.decode(codec.encode(A(z=1))) == A(z=1)
    with pytest.raises(NotDecodable, match=r"expected A \| B, found an object"):
        codec.decode(b'{"c":1,"a":null}')


def test_K12_a_subclass_comes_back_whole() -> None:
    """Of a base class and its subclass in one union, each value comes back as what it was."""

    codec = codec_for(Base | Sub)

    assert look(codec.decode(codec.encode(Sub(1, 2)))) == look(Sub(1, 2))
    assert look(codec.decode(codec.encode(Base(1)))) == look(Base(1))


def test_equal_unions_have_one_form() -> None:
    """Python takes a union for equal in any order, so its bytes and its schema do not depend on the order."""

    # What is annotated with something that has no hash is not kept, so each of these codecs is made anew.
    one, other = codec_of(Annotated[list[A] | list[B], []]), codec_of(Annotated[list[B] | list[A], []])

    assert one is not other
    assert one.schema == other.schema
    assert one.encode([]) == other.encode([])
    assert codec_for(A | B) is codec_for(B | A)


def test_a_literal_has_one_name_in_any_order() -> None:
    """Python takes a literal for equal in any order, so its name in the bytes does not depend on the order."""

    codec = codec_of(Literal["d", "c"] | str)

    assert codec.encode("c") == b"{\"Literal['c', 'd']\":\"c\"}"


def other_a() -> type[object]:
    """Another class of the name `A`."""

    @attrs.frozen
    class A:
        q: int

    return A


def test_namesakes_are_told_apart_by_their_modules() -> None:
    """Two members of one name get their full names in the bytes."""

    other = other_a()
    codec = codec_of(A | other)
    made = codec.decode(codec.encode(A(1)))

    assert made == A(1)
    assert codec.encode(A(1)).startswith(f'{{"{__name__}.A'.encode())


def test_members_that_cannot_be_told_apart_are_refused() -> None:
    """Two classes with the same full name cannot be told apart by it."""

    with pytest.raises(UnsupportedType, match="two of its members have the same name"):
        codec_of(other_a() | other_a())


@attrs.frozen
class Twin:
    """Its two members are both tuples, and both lead back to it."""

    inside: tuple[Twin, ...] | tuple[Twin, Twin]


@attrs.frozen
class Cell:
    """Leads back to the class that has it."""

    owner: Owner | None


@attrs.frozen
class Owner:
    """Leads back by way of a class that was met before the union."""

    first: Cell
    others: tuple[Cell, ...] | tuple[Cell, Cell]


def test_members_that_lead_back_elsewhere_are_told_apart() -> None:
    """A union whose members lead back to themselves, and not to the union, is tried once and takes no time."""

    codec = codec_of(list[Fork | Leaf] | list[Leaf])

    assert codec.decode(codec.encode([Fork(Leaf(1))])) == [Fork(Leaf(1))]


@pytest.mark.parametrize(("form", "path"), [(Twin, "inside"), (Owner, "others"), (Cell, "owner.others")])
def test_a_union_that_would_be_searched_is_refused(form: object, path: str) -> None:
    """Members that only a search through the whole value could tell apart would double the time with each level."""

    with pytest.raises(UnsupportedType, match="are all of class tuple and refer back") as caught:
        codec_of(form)

    assert caught.value.path == path


@pytest.mark.parametrize(
    ("form", "value", "why"),
    [
        (int | str, 1.5, "is of type float"),
        (int | None, True, "is of type bool"),
        (A | B, Base(1), "is of type Base"),
        (list[int] | list[str], [1, "a"], r"fits no member: as list\[int\], \[1\] is of type str; as list\[str\]"),
        (Base | int, Sub(1), "is of type Sub"),
    ],
)
def test_a_value_of_no_member_is_refused(form: object, value: object, why: str) -> None:
    """A value that is not exactly of one of the members is refused, also if it is of a subclass of one."""

    with pytest.raises(NotEncodable, match=why):
        codec_of(form).encode(value)


@pytest.mark.parametrize(
    ("form", "data"),
    [
        (int | str, b"1.0"),
        (int | str, b"null"),
        (A | B, b'{"A":{"z":1},"B":{"c":1}}'),
        (A | B, b"{}"),
        (A | B, b"null"),
        (A | B | None, b'{"None":null}'),
        (Colour | str, b'"RED"'),
    ],
)
def test_bytes_of_no_member_are_refused(form: object, data: bytes) -> None:
    """Bytes are of exactly one member, in exactly its form."""

    with pytest.raises(NotDecodable):
        codec_of(form).decode(data)
