"""What of pydantic has no codec, and why; and what stays the same over its versions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Generic, TypeVar, cast

import pydantic
import pydantic.dataclasses
import pydantic.v1
import pytest
from pydantic import (
    Base64Bytes,
    BaseModel,
    ByteSize,
    ConfigDict,
    Field,
    HttpUrl,
    NaiveDatetime,
    PrivateAttr,
    RootModel,
    SecretBytes,
    SecretStr,
)
from typing_extensions import TypeForm

from effectgraph.effects.codec import UnsupportedType, codec_for

if TYPE_CHECKING:
    from builtins import int as Nowhere

T = TypeVar("T")


class Open(BaseModel):
    """A model that takes anything."""

    model_config = ConfigDict(extra="allow")


class OpenSub(Open):
    """A model that has this from its base."""

    x: int


class Private(BaseModel):
    """A model that has what no field holds."""

    x: int = 0
    _seen: int = PrivateAttr(default=0)


class PrivateSub(Private):
    """A model that has this from its base."""


class Login(BaseModel):
    """A model with what must not be written down."""

    passwords: list[SecretStr | None]


class Anything(BaseModel):
    """A model that says nothing of its field."""

    x: object


class Box(BaseModel, Generic[T]):
    """A generic model."""

    content: T


class Parsed(BaseModel):
    """A model that takes a text and keeps what it says."""

    told: pydantic.Json[int]


class Encoded(BaseModel):
    """A model that takes a text, deep inside, and keeps what it stands for."""

    parts: dict[str, list[Base64Bytes]]


class Link(BaseModel):
    """A model with a class of pydantic's."""

    at: HttpUrl | None


class MyUrl(HttpUrl):
    """A class that is derived from one of pydantic's."""


class Aliased(BaseModel):
    """A constructor of its own, which cannot be given a field by its name."""

    x: int = Field(alias="X")

    def __init__(self, **told: int) -> None:
        super().__init__(**told)


class Narrow(BaseModel):
    """A constructor of its own that leaves a field out."""

    x: int = 0

    def __init__(self) -> None:
        super().__init__()


class Scaled(BaseModel):
    """A constructor of its own that needs more than the fields."""

    x: int = 0

    def __init__(self, scale: int, **told: int) -> None:
        super().__init__(x=scale * told["x"])


class OldOne(pydantic.v1.BaseModel):
    """A model of pydantic 1."""

    x: int


@pydantic.dataclasses.dataclass(config=ConfigDict(extra="allow"))
class OpenData:
    """A dataclass that takes anything."""

    x: int


@pydantic.dataclasses.dataclass
class AliasedData:
    """A dataclass whose constructor has another name for a field."""

    x: int = Field(alias="X")


@pydantic.dataclasses.dataclass
class ParsedData:
    """A dataclass that takes a text and keeps what it says."""

    x: pydantic.Json[int]


class Unseen(BaseModel):
    """A model of which pydantic needs to know what is not there, though its fields do not."""

    x: int

    @pydantic.field_serializer("x")
    def _shown(self, x: int) -> Nowhere:
        return x


class Plain(Box[int]):
    """A model to derive from."""


def lost() -> object:
    """A model that refers to what nobody can find."""

    class Outer(BaseModel):
        fine: int
        inner: list[Inner]

    class Inner(BaseModel):
        x: int

    assert Inner is not None
    return Outer


create_model = cast("Callable[..., object]", pydantic.create_model)


EXTRA = "it takes fields that are not written down (extra='allow'); give them a dict of their own"
SECRET = "it hides a secret, and whatever is stored can be read; store a name by which to look the secret up"
OWN = "it checks or converts what it gets; declare what its values are, such as str, and use a validator"
TWICE = "pydantic decodes what it gets for it, and would once more when it comes back; decode it before"

REFUSED: dict[str, tuple[object, str, str, str]] = {
    "extra": (Open, "", "Open", EXTRA),
    "inherited extra": (list[OpenSub], "[]", "OpenSub", EXTRA),
    "private": (
        Private,
        "",
        "Private",
        "it has private attributes (_seen), which would be lost; make them fields",
    ),
    "inherited private": (dict[str, PrivateSub], "[]", "PrivateSub", "it has private attributes (_seen)"),
    "secret": (Login, "passwords[]", "SecretStr", SECRET),
    "secret bytes": (SecretBytes, "", "SecretBytes", SECRET),
    "secret of": (pydantic.Secret[int], "", "Secret[int]", SECRET),
    "anything": (Anything, "x", "object", "it can be anything"),
    "not filled in": (Box, "content", "~T", "a type variable that nothing fills in"),
    "root not filled in": (RootModel, "root", "~RootModelRootType", "a type variable that nothing fills in"),
    "the base of all": (BaseModel, "", "BaseModel", "its values are of other classes"),
    "json": (Parsed, "told", "Json", TWICE),
    "base64": (list[Encoded], "[].parts", "EncodedBytes", TWICE),
    "url": (Link, "at", "HttpUrl", OWN),
    "derived": (MyUrl, "", "MyUrl", OWN),
    "size": (Annotated[ByteSize, "a note"], "", "ByteSize", OWN),
    "naive": (tuple[NaiveDatetime, ...], "[]", "NaiveDatetime", OWN),
    "alias": (Aliased, "", "Aliased", "its __init__ does not take field x by name; leave it out, or the alias"),
    "narrow": (Narrow, "", "Narrow", "its __init__ does not take field x by name"),
    "scaled": (Scaled, "", "Scaled", "its __init__ needs scale, which is no field; make it one"),
    "pydantic 1": (list[OldOne], "[]", "OldOne", "it is a model of pydantic 1; make it one of pydantic 2"),
    "extra of a dataclass": (OpenData, "", "OpenData", EXTRA),
    "alias of a dataclass": (AliasedData, "", "AliasedData", "its constructor does not take field x by name"),
    "json of a dataclass": (ParsedData, "x", "Json", TWICE),
    "lost": (lost(), "inner", "ForwardRef('list[Inner]')", "it cannot be looked up (name 'Inner' is not defined)"),
    "lost elsewhere": (list[Unseen], "[]", "Unseen", "pydantic cannot look up a type in it"),
    "lost of a base": (
        create_model("Half", __base__=lost(), x=(int, 1)),
        "inner",
        "ForwardRef('list[Inner]')",
        "it can",
    ),
    "lost inside": (create_model("Half", x=(lost(), 1)), "x.inner", "ForwardRef('list[Inner]')", "it cannot be looked"),
}


@pytest.mark.parametrize(("form", "path", "name", "why"), list(REFUSED.values()), ids=list(REFUSED))
def test_what_would_not_come_back_is_refused(form: object, path: str, name: str, why: str) -> None:
    """What a codec of pydantic's classes would lose or show is refused when it is made, by path, name and reason."""

    with pytest.raises(UnsupportedType) as caught:
        codec_for(cast("TypeForm[object]", form))

    assert (caught.value.path, caught.value.type) == (path, name)
    assert why in caught.value.why


def test_K17_a_model_of_a_function_is_carried_or_its_field_is_named() -> None:
    """A model that names what its function defines later is refused, naming the field and the name."""

    with pytest.raises(UnsupportedType, match=r"at inner: it cannot be looked up \(name 'Inner' is not defined\)"):
        codec_for(cast("TypeForm[object]", lost()))


def model(name: str, **fields: object) -> object:
    """A model of this name with these fields, all of them required."""
    return create_model(name, **{field: (form, ...) for field, form in fields.items()})


def test_the_order_of_fields_has_no_part_in_the_schema() -> None:
    """Models that differ in the order of fields alone have one schema, also where these are classes."""

    inner, other = model("Inner", x=int), model("Other", x=str)
    one, two = (model("One", **fields) for fields in ({"a": inner, "b": other}, {"b": other, "a": inner}))

    assert codec_for(cast("TypeForm[object]", one)).schema == codec_for(cast("TypeForm[object]", two)).schema


def test_the_schema_is_that_of_the_fields() -> None:
    """Another field, type or name is another schema; another order, default, alias or constraint is not."""

    known = codec_for(cast("TypeForm[object]", model("One", a=int, b=str))).schema

    def same(form: object) -> bool:
        return codec_for(cast("TypeForm[object]", form)).schema == known

    assert same(model("One", b=str, a=int))
    assert same(create_model("One", a=(Annotated[int, Field(gt=0, alias="A")], 1), b=(str, "x")))
    assert not same(model("One", a=int, b=str, c=int))
    assert not same(model("One", a=int))
    assert not same(model("One", a=int, c=str))
    assert not same(model("One", a=int, b=bytes))
    assert not same(model("Two", a=int, b=str))


STORED: list[tuple[object, str]] = [
    (Box[int], "393b25eaf93facb5"),
    (Box[list[int] | None], "e1b3e52b5c6bf6ea"),
    (Box[Box[int | str]], "26a8a8b5e2908384"),
    (Box[int] | Box[str], "9e545a1c762f5132"),
    (Plain, "d76f0b2d9722c70f"),
    (RootModel[list[int]], "dcbb6e38fa10f5c4"),
]
"""Types, and the schemas that were kept beside their bytes."""


@pytest.mark.parametrize(("form", "schema"), STORED, ids=map(str, range(len(STORED))))
def test_schemas_of_generic_models_stay(form: object, schema: str) -> None:
    """A generic model's schema is that of what its form says, whatever a version of pydantic calls the class."""

    assert codec_for(cast("TypeForm[object]", form)).schema == schema


def test_the_name_of_a_generic_model_is_its_own() -> None:
    """In tags and errors stands what the program writes, in every version of pydantic."""

    codec = codec_for(cast("TypeForm[object]", Box[Box[int | None]] | Box[str]))

    assert b'{"Box[Box[None | int]]":{"content":{"content":1}}}' == codec.encode(
        Box[Box[int | None]](content=Box[int | None](content=1))
    )


def test_two_generic_models_of_one_name_are_told_apart_by_where_they_are() -> None:
    """Where two members have one name, the tag has the module and the class as the program writes it before it."""

    class Shop:
        class Box(BaseModel, Generic[T]):
            content: T

    form = Box[int] | Shop.Box[int]
    where = f"{__name__}.{Box.__qualname__}[Box[int]]"

    assert f'{{"{where}":{{"content":1}}}}'.encode() == codec_for(cast("TypeForm[object]", form)).encode(
        Box[int](content=1)
    )
