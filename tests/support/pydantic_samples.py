"""Models and dataclasses of pydantic, each with something of its own."""

from __future__ import annotations

import datetime as dt
import enum
import functools
from decimal import Decimal
from typing import Annotated, Generic, Literal, Self, TypeVar

import attrs
import pydantic.dataclasses
from pydantic import (
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    PositiveInt,
    RootModel,
    StringConstraints,
    computed_field,
)
from typing_extensions import TypeVar as DefaultTypeVar

T = TypeVar("T")
U = DefaultTypeVar("U", default=int)


class Color(enum.Enum):
    """A member is kept by its name."""

    RED = "r"


class Item(BaseModel):
    """A plain model."""

    name: str
    price: Decimal = Decimal("1.50")
    color: Color = Color.RED


class Order(BaseModel):
    """A frozen model with models in it, constraints and aliases."""

    model_config = ConfigDict(frozen=True, validate_by_name=False)

    number: Annotated[int, Field(gt=0)] = Field(alias="orderNumber")
    items: list[Item] = Field(default_factory=list[Item], validation_alias=AliasChoices("lines", "rows"))
    at: dt.datetime | None = None


class Tree(BaseModel):
    """A model that refers to itself in every way, and to one that is defined later."""

    name: str = "leaf"
    children: list[Tree] = []
    twin: Self | None = None
    later: Later | None = None


class Later(BaseModel):
    """A model that refers back."""

    trees: dict[str, Tree]


class Box(BaseModel, Generic[T]):
    """A generic model."""

    content: T
    more: tuple[T, ...] = ()


class Filled(BaseModel, Generic[U]):
    """A generic model whose variable has a default."""

    content: U


class Swapped(BaseModel):
    """A model whose aliases are its fields' names, the other way round."""

    a: int = Field(alias="b")
    b: str = Field(alias="a")


class IntBox(Box[int]):
    """A model that fills in a generic one."""

    size: int = 1


class Names(RootModel[list[str]]):
    """A model that is one value."""


class Count(RootModel[int]):
    """A model that is one value, with a default."""

    root: int = 3


class Frozen(BaseModel, frozen=True):
    """A model that can be a key."""

    a: int
    b: str = "x"


class Deprecated(BaseModel):
    """A model with a field that warns whoever reads it."""

    old: int = Field(default=1, deprecated="use something else")


class Worked(BaseModel):
    """A model that works something out of its fields."""

    side: int

    def _area(self) -> int:
        return self.side**2

    area = computed_field(property(_area))

    @functools.cached_property
    def volume(self) -> int:
        """The side, cubed; kept in the object once it is known."""
        return self.side**3


class Deferred(BaseModel):
    """A model that pydantic has not looked at when its codec is made."""

    model_config = ConfigDict(defer_build=True)

    item: Item


class Built(BaseModel):
    """A model with a constructor of its own that takes its fields."""

    a: int
    b: int = 2

    def __init__(self, a: int, **rest: int) -> None:
        super().__init__(a=a, **rest)


class Limits(BaseModel):
    """A model with constraints in every place."""

    few: PositiveInt = 1
    short: Annotated[str, StringConstraints(max_length=3)] = ""
    each: list[Annotated[int, Field(lt=10)]] = []


class Cat(BaseModel):
    """A pet."""

    kind: Literal["cat"] = "cat"


class Dog(BaseModel):
    """Another one."""

    kind: Literal["dog"] = "dog"


class Owner(BaseModel):
    """A model whose field is told apart by a field of its own."""

    pet: Annotated[Cat | Dog, Field(discriminator="kind")]


@attrs.frozen
class Shelf:
    """An attrs class with models in it."""

    boxes: dict[str, Box[Item]]
    either: Item | Tree | None = None


@pydantic.dataclasses.dataclass
class Point:
    """A dataclass of pydantic's."""

    x: int = Field(description="across")
    y: list[int] = Field(default_factory=list[int])
    item: Item | None = None


@pydantic.dataclasses.dataclass(frozen=True)
class Pair(Generic[T]):
    """A generic one."""

    one: T
    two: T


class Mixed(BaseModel):
    """A model with records of other kinds."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    shelf: Shelf
    point: Point


def local() -> tuple[object, object]:
    """A model of a function, which refers to itself and to another one there."""

    class Inner(BaseModel):
        a: int

    class Node(BaseModel):
        inner: Inner
        nodes: list[Node] = []

    return Node, Node(inner=Inner(a=1), nodes=[Node(inner=Inner(a=2))])
