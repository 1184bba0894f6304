"""Fields of attrs classes and dataclasses, whatever their constructors do with them."""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import KW_ONLY, InitVar
from typing import Annotated, ClassVar, Final, Literal, NewType, cast

import attrs
import pytest
from typing_extensions import TypeForm

from alike import look
from effectgraph.effects.codec import Codec, NotDecodable, NotEncodable, UnsupportedType, codec_for

Metres = NewType("Metres", float)


def codec_of(form: object) -> Codec[object]:
    """The codec of a type that is in a table."""
    return codec_for(cast("TypeForm[object]", form))


def doubled(number: int) -> int:
    """A converter that would change what was stored, each time."""
    return number * 2


def listed(setter: Setter) -> list[int]:
    """A default that is worked out of another field."""
    return [setter.x]


@dataclasses.dataclass
class Kinds:
    """A dataclass with what is no field, and what is one outside the constructor."""

    a: int
    count: ClassVar[int] = 5
    _: KW_ONLY
    b: Annotated[Metres, "a note"] = Metres(0.0)
    factor: InitVar[int] = 3
    outside: int = dataclasses.field(init=False)
    hidden: str = dataclasses.field(default="x", repr=False, compare=False)
    never: Literal["a", "b"] = dataclasses.field(default="a", init=False)

    def __post_init__(self, factor: int) -> None:
        self.outside = self.a * factor


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """Frozen, slotted, keyword-only, with a cached value of its own making."""

    x: int
    y: str | None = None


@dataclasses.dataclass
class SubKinds(Kinds):
    """A subclass with one more field."""

    c: bool = False


@dataclasses.dataclass(frozen=True)
class Cached:
    """A value is kept beside the fields once it was asked for."""

    x: int

    @functools.cached_property
    def square(self) -> int:
        """Its square."""
        return self.x**2


@attrs.define(on_setattr=attrs.setters.convert)
class Setter:
    """What is set is converted each time."""

    x: int = attrs.field(converter=doubled)
    _private: int = attrs.field(default=0, alias="private")
    named: int = attrs.field(default=2, alias="other")
    frozen: int = attrs.field(default=3, on_setattr=attrs.setters.frozen)
    checked: int = attrs.field(default=4, validator=[attrs.validators.instance_of(int), attrs.validators.le(10)])
    made: list[int] = attrs.field(init=False, default=attrs.Factory(listed, takes_self=True))
    kept: ClassVar[int] = 6


@attrs.frozen(kw_only=True, slots=False)
class Base:
    """A base of several."""

    a: int
    b: Final[int] = 1


@attrs.frozen(kw_only=True)
class Middle(Base):
    """One field more."""

    c: str = "c"


@attrs.frozen(kw_only=True)
class Sub(Middle):
    """One field more."""

    d: tuple[Base, ...] = ()


def setter() -> Setter:
    """An object whose fields are all unlike what its constructor makes."""
    made = Setter(1, private=5, other=7)
    object.__setattr__(made, "x", 3)
    object.__setattr__(made, "frozen", 8)
    made.made.append(4)
    return made


def kinds() -> Kinds:
    """An object whose fields are all unlike what its constructor makes."""
    made = Kinds(2, b=Metres(-0.0), factor=4)
    made.hidden, made.never, made.outside = "z", "b", 9
    return made


def cached() -> Cached:
    """An object that has kept a value beside its fields."""
    made = Cached(3)
    assert made.square == 9
    return made


VALUES: list[tuple[object, object, bytes | None]] = [
    (Kinds, kinds(), b'{"a":2,"b":-0.0,"outside":9,"hidden":"z","never":"b"}'),
    (SubKinds, SubKinds(1, c=True), b'{"a":1,"b":0.0,"outside":3,"hidden":"x","never":"a","c":true}'),
    (Frozen, Frozen(x=1), b'{"x":1,"y":null}'),
    (Cached, cached(), b'{"x":3}'),
    (
        Setter,
        setter(),
        b'{"x":3,"_private":5,"named":7,"frozen":8,"checked":4,"made":[2,4]}',
    ),
    (Sub, Sub(a=1, b=2, c="x", d=(Base(a=3),)), b'{"a":1,"b":2,"c":"x","d":[{"a":3,"b":1}]}'),
    (Base | Middle | Sub, Middle(a=1), b'{"Middle":{"a":1,"b":1,"c":"c"}}'),
]
"""Types, an object of each, and its bytes."""


@pytest.mark.parametrize(("form", "value", "data"), VALUES, ids=map(str, range(len(VALUES))))
def test_every_field_comes_back_as_it_was(form: object, value: object, data: bytes) -> None:
    """What was stored is what comes back, whatever converters, defaults and setters would make of it."""

    codec = codec_of(form)

    assert codec.encode(value) == data
    assert look(codec.decode(data)) == look(value)
    assert codec.decode(data) == value


def test_K19_defaults_of_every_kind_are_used() -> None:
    """A field that is missing takes its default, its factory's product, or what the constructor works out."""

    kinds = codec_for(Kinds).decode(b'{"a":2,"outside":1}')
    setter = codec_for(Setter).decode(b'{"x":3}')

    assert (kinds.b, kinds.outside, kinds.hidden, kinds.never) == (0.0, 1, "x", "a")
    assert (setter.named, setter.frozen, setter.made) == (2, 3, [6])
    with pytest.raises(NotDecodable, match="outside cannot be decoded: is missing, and Kinds has no default for it"):
        codec_for(Kinds).decode(b'{"a":2}')
    with pytest.raises(NotDecodable, match="count cannot be decoded: is no field of Kinds"):
        codec_for(Kinds).decode(b'{"a":2,"outside":1,"count":5}')
    with pytest.raises(NotDecodable, match="factor cannot be decoded: is no field of Kinds"):
        codec_for(Kinds).decode(b'{"a":2,"outside":1,"factor":5}')
    with pytest.raises(NotDecodable, match="other cannot be decoded: is no field of Setter"):
        codec_for(Setter).decode(b'{"x":3,"other":5}')


def test_a_validator_that_refuses_is_an_error_of_the_bytes() -> None:
    """Validators run, though converters have no say: what they refuse cannot be decoded."""

    with pytest.raises(NotDecodable, match="Setter refuses its fields: ValueError"):
        codec_for(Setter).decode(b'{"x":3,"checked":11}')


@dataclasses.dataclass
class NeedsMore:
    """A constructor that needs what is no field."""

    x: int
    scale: InitVar[int]


class Inherits(Base):
    """A plain subclass of an attrs class."""


class Plain:
    """A class without fields that anything knows of."""

    def __init__(self, x: int) -> None:
        self.x = x


@attrs.frozen
class Parts:
    """Fields that no codec carries."""

    fine: int
    plain: Plain


@pytest.mark.parametrize(
    ("form", "path", "name", "why"),
    [
        (NeedsMore, "", "NeedsMore", "its constructor needs scale, which is no field; make it one"),
        (list[Inherits], "[]", "Inherits", "it is a plain subclass of a record"),
        (Parts, "plain", "Plain", "a codec has no faithful form for it"),
        (Sub | Plain, "", "Plain", "a codec has no faithful form for it"),
    ],
    ids=map(str, range(4)),
)
def test_a_class_that_would_not_come_back_is_refused(form: object, path: str, name: str, why: str) -> None:
    """A class with state that no field holds is refused when the codec is made, by name and path."""

    with pytest.raises(UnsupportedType) as caught:
        codec_of(form)

    assert (caught.value.path, caught.value.type) == (path, name)
    assert why in caught.value.why


@pytest.mark.parametrize(
    ("form", "value", "path", "why"),
    [
        (Base, Middle(a=1), "", "is a Middle, a subclass; declare that, or both of them"),
        (Sub, Sub(a=1, d=(Middle(a=2),)), "d[0]", "is a Middle, a subclass"),
        (Middle, Base(a=1), "", "is of type Base"),
        (Base | Sub, Middle(a=1), "", "is of type Middle"),
        (Kinds, SubKinds(1), "", "is a SubKinds, a subclass"),
    ],
    ids=map(str, range(5)),
)
def test_K12_a_subclass_is_not_its_base(form: object, value: object, path: str, why: str) -> None:
    """An object of a subclass, or of a base, in the place of a class is refused, as its fields would be lost."""

    with pytest.raises(NotEncodable) as caught:
        codec_of(form).encode(value)

    assert caught.value.path == path
    assert why in caught.value.why
