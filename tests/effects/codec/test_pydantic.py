"""pydantic models: every field as strictly as anywhere, and back as the same model."""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Generic, Literal, TypeVar, cast

import attrs
import pydantic
import pydantic.dataclasses
import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, PrivateAttr, RootModel, SecretStr, field_validator
from typing_extensions import TypeForm

from alike import look
from effectgraph.effects.codec import NotDecodable, NotEncodable, UnsupportedType, codec_for
from stable_ids import named

T = TypeVar("T")


class Color(enum.Enum):
    """A member is kept by its name."""

    RED = "r"


class Item(BaseModel):
    """A plain model."""

    name: str
    price: Decimal = Decimal("1.50")
    color: Color = Color.RED


class Order(BaseModel):
    """One with models in it, constraints and aliases."""

    model_config = ConfigDict(frozen=True, populate_by_name=False)

    number: Annotated[int, Field(gt=0)] = Field(alias="orderNumber")
    items: list[Item] = Field(default_factory=list[Item], validation_alias=AliasChoices("lines", "rows"))
    at: dt.datetime | None = None


class Tree(BaseModel):
    """One that refers to itself."""

    name: str
    children: list[Tree] = []


class Box(BaseModel, Generic[T]):
    """A generic one."""

    content: T


class Names(RootModel[list[str]]):
    """One without a field of its own."""


@attrs.frozen
class Shelf:
    """An attrs class with models in it."""

    boxes: dict[str, Box[Item]]
    either: Item | Tree | None = None


@pydantic.dataclasses.dataclass
class Point:
    """A dataclass of pydantic's."""

    x: int
    y: int = 0


VALUES: dict[str, tuple[object, object]] = {
    "plain": (Item, Item(name="book", price=Decimal("19.90"))),
    "defaults": (Item, Item(name="book")),
    "aliases": (Order, Order.model_validate({"orderNumber": 3, "lines": [Item(name="a")]})),
    "self": (Tree, Tree(name="a", children=[Tree(name="b", children=[Tree(name="c")])])),
    "generic": (Box[int], Box[int](content=5)),
    "generic of a model": (Box[Item], Box[Item](content=Item(name="a"))),
    "nested generic": (Box[Box[int]], Box[Box[int]](content=Box[int](content=1))),
    "root": (Names, Names(["a", "b"])),
    "dataclass": (Point, Point(1, 2)),
    "in attrs": (Shelf, Shelf({"a": Box[Item](content=Item(name="b"))}, Tree(name="c"))),
    "union": (list[Item | Tree | int], [Item(name="a"), Tree(name="a"), 1]),
}


@pytest.mark.parametrize(("form", "value"), list(VALUES.values()), ids=list(VALUES))
def test_a_model_comes_back_equal(form: object, value: object) -> None:
    """Of the same class all the way down, by its fields' names, with the fields that were set."""
    codec = codec_for(cast("TypeForm[object]", form))

    back = codec.decode(codec.encode(value))

    assert back == value
    assert type(back) is type(value)
    assert look(back) == look(value)
    if isinstance(back, BaseModel) and isinstance(value, BaseModel):
        assert back.model_fields_set == value.model_fields_set
    assert codec.encode(back) == codec.encode(value)


def test_the_bytes_are_the_fields_by_name() -> None:
    """An operator can read them; what was left to its default is marked."""

    assert codec_for(Order).encode(Order(orderNumber=3)) == b'{"number":3,"items":[],"at":null,"_unset":["items","at"]}'
    assert codec_for(Point).encode(Point(1)) == b'{"x":1,"y":0}'


class Sub(Item):
    """A model with more fields than its base."""

    more: int = 0


WRONG: dict[str, Callable[[], object]] = {
    "subclass": lambda: Sub(name="a"),
    "lax": lambda: Item.model_construct(name=5),
    "none": lambda: Item.model_construct(name=None),
    "not set": lambda: Item.model_construct(price=Decimal(1)),
    "dict": lambda: {"name": "a"},
    "nested subclass": lambda: Item.model_construct(name="a", price=True),
}


@pytest.mark.parametrize("make", list(WRONG.values()), ids=list(WRONG))
def test_a_value_that_is_not_exactly_of_the_model_is_refused(make: Callable[[], object]) -> None:
    """Where pydantic would convert, or was told not to look."""

    with pytest.raises(NotEncodable):
        codec_for(Item).encode(cast("Item", make()))


@pytest.mark.parametrize(
    "data",
    [
        b'{"name": 5}',
        b"{}",
        b'{"name": "a", "price": 1.5}',
        b'{"name": "a", "more": 1}',
        b'{"name": "a", "_unset": []}',
        b'{"name": "a", "_unset": ["name", "name"]}',
        b'{"name": "a", "_unset": ["price"]}',
        b'{"name": "a", "_unset": "name"}',
        b'{"name": "a", "_unset": [1]}',
        b'{"name": "a", "name": "b"}',
        b"[]",
        b"null",
    ],
    ids=named,
)
def test_bytes_that_are_no_model_are_refused(data: bytes) -> None:
    """Nothing is converted, nothing unknown is let through."""

    with pytest.raises(NotDecodable):
        codec_for(Item).decode(data)


def test_a_missing_field_takes_its_default() -> None:
    """And counts as not set."""

    item = codec_for(Item).decode(b'{"name": "a"}')

    assert item == Item(name="a")
    assert item.model_fields_set == {"name"}


def test_the_path_leads_into_models() -> None:
    """As it does anywhere."""

    with pytest.raises(NotDecodable) as caught:
        codec_for(dict[str, list[Order]]).decode(b'{"a": [{"number": 1, "items": [{"name": 1}]}]}')

    assert caught.value.path == "a[0].items[0].name"


def test_validators_run_and_cannot_change_what_was_stored() -> None:
    """What they refuse is refused; what they would make of a value is not what was stored."""

    class Strict(BaseModel):
        text: str

        @field_validator("text")
        @classmethod
        def check(cls, text: str) -> str:
            if text == "bad":
                raise ValueError("bad text")
            return text.upper()

    codec = codec_for(Strict)

    assert codec.decode(b'{"text": "good"}').text == "good"
    with pytest.raises(NotDecodable, match="bad text"):
        codec.decode(b'{"text": "bad"}')


class Open(BaseModel):
    """Takes anything."""

    model_config = ConfigDict(extra="allow")


class Private(BaseModel):
    """Has what no field holds."""

    x: int = 0
    _seen: int = PrivateAttr(default=0)


class Secret(BaseModel):
    """Has what must not be written down."""

    password: SecretStr


class Anything(BaseModel):
    """Says nothing of its field."""

    x: object


@pytest.mark.parametrize(
    ("form", "path"),
    [(Open, ""), (Private, ""), (Secret, "password"), (Anything, "x"), (Box, "content"), (list[Secret], "[].password")],
    ids=named,
)
def test_a_model_that_would_not_come_back_is_refused(form: object, path: str) -> None:
    """When the codec is made, with the path."""

    with pytest.raises(UnsupportedType) as caught:
        codec_for(cast("TypeForm[object]", form))

    assert caught.value.path == path


def test_a_class_of_the_same_fields_has_another_schema() -> None:
    """And a field more changes it, the order of fields does not."""

    one = pydantic.create_model("One", a=(int, ...), b=(str, ...))
    other = pydantic.create_model("One", b=(str, ...), a=(int, ...))
    more = pydantic.create_model("One", a=(int, ...), b=(str, ...), c=(int, 0))
    renamed = pydantic.create_model("Two", a=(int, ...), b=(str, ...))

    schemas = [codec_for(form).schema for form in (one, other, more, renamed)]

    assert schemas[0] == schemas[1]
    assert len(set(schemas)) == 3


def test_tagged_models_are_told_apart_by_their_names() -> None:
    """Not by a field that happens to tell them apart, nor by guessing."""

    class Cat(BaseModel):
        kind: Literal["pet"] = "pet"

    class Dog(BaseModel):
        kind: Literal["pet"] = "pet"

    codec = codec_for(Cat | Dog)

    assert type(codec.decode(codec.encode(Dog()))) is Dog
    assert codec.encode(Dog()) == b'{"Dog":{"kind":"pet","_unset":["kind"]}}'
