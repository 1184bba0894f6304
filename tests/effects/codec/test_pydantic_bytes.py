"""Bytes of pydantic models: what is read of them, and what validators have to say."""

from __future__ import annotations

from typing import Self, cast

import pydantic
import pytest
from pydantic import BaseModel, ConfigDict, Field, PositiveInt, RootModel, field_validator, model_validator
from typing_extensions import TypeForm

from alike import look
from effectgraph.effects.codec import Codec, NotDecodable, NotEncodable, codec_for
from pydantic_samples import Count, Frozen, Item, Limits, Names, Order, Point, Tree


def codec_of(form: object) -> Codec[object]:
    """The codec of a type that is known only at run time."""
    return codec_for(cast("TypeForm[object]", form))


UNSET = "expected the sorted names of stored fields, each of them once"

DAMAGED: list[tuple[object, bytes, str, str]] = [
    (Item, b'{"name":5}', "name", "expected str, found an integer"),
    (Item, b'{"name":"a","price":1.5}', "price", "expected Decimal, found a number with a fraction"),
    (Item, b'{"name":null}', "name", "expected str, found null"),
    (Item, b"{}", "name", "is missing, and Item has no default for it"),
    (Item, b'{"name":"a","more":1}', "more", "is no field of Item"),
    (Item, b'{"name":"a","name":"b"}', "", 'the key "name" stands twice in one object'),
    (Item, b"[]", "", "expected Item, found an array"),
    (Item, b"null", "", "expected Item, found null"),
    (Order, b'{"orderNumber":1}', "number", "is missing, and Order has no default for it"),
    (Order, b'{"number":1,"lines":[]}', "lines", "is no field of Order"),
    (Item, b'{"name":"a","_unset":[]}', "_unset", UNSET),
    (Item, b'{"name":"a","_unset":["name","name"]}', "_unset", UNSET),
    (Item, b'{"name":"a","_unset":["price"]}', "_unset", UNSET),
    (Item, b'{"name":"a","price":"1","_unset":["price","name"]}', "_unset", UNSET),
    (Item, b'{"name":"a","_unset":"name"}', "_unset", UNSET),
    (Item, b'{"name":"a","_unset":["name",[]]}', "_unset", UNSET),
    (Item, b'{"name":"a","_unset":["name",1]}', "_unset", UNSET),
    (Item, b'{"name":"a","_unset":null}', "_unset", UNSET),
    (Item, b'{"_unset":["name"]}', "name", "is missing, and Item has no default for it"),
    (Names, b'["a"]', "", "expected Names, found an array"),
    (Names, b"{}", "root", "is missing, and Names has no default for it"),
    (dict[str, list[Order]], b'{"a":[{"number":1,"items":[{"name":1}]}]}', "a[0].items[0].name", "expected str"),
    (Point, b'{"y":[]}', "x", "is missing, and Point has no default for it"),
    (set[Frozen], b'[{"a":1,"b":"x"},{"a":1,"b":"x","_unset":["b"]}]', "", "two elements are equal"),
]


@pytest.mark.parametrize(("form", "data", "path", "why"), DAMAGED, ids=map(str, range(len(DAMAGED))))
def test_K19_bytes_that_are_no_model_are_refused(form: object, data: bytes, path: str, why: str) -> None:
    """Nothing is converted, nothing unknown is let through, and no alias stands for a field."""

    with pytest.raises(NotDecodable) as caught:
        codec_of(form).decode(data)

    assert caught.value.path == path
    assert why in caught.value.why


def test_K19_a_missing_field_takes_its_default() -> None:
    """A field that is not in the bytes takes its default, made anew and of the other fields, and is not set."""

    class Sized(BaseModel):
        size: int
        sizes: list[int] = Field(default_factory=lambda known: [known["size"]])

    one, two = (codec_for(Sized).decode(b'{"size":4}') for _ in range(2))

    assert (one, one.model_fields_set) == (Sized(size=4), {"size"})
    assert [4] == one.sizes
    assert one.sizes is not two.sizes
    assert (Count(3), set[str]()) == (codec_for(Count).decode(b"{}"), codec_for(Count).decode(b"{}").model_fields_set)


class Early(BaseModel):
    """A model that pydantic could not look at when it was defined, and of which there is no object yet."""

    late: list[Late]


class Late(BaseModel):
    """What it waits for."""

    x: int


def test_K17_a_model_that_waits_for_another_is_complete_when_its_codec_is_made() -> None:
    """A class that is defined later is looked up when the codec is made, not when the first object is."""

    assert not Early.__pydantic_complete__

    assert [1] == [late.x for late in codec_for(Early).decode(b'{"late":[{"x":1}]}').late]


class Checked(BaseModel):
    """A model with validators of each kind, none of which leaves things as they are."""

    model_config = ConfigDict(frozen=True, validate_assignment=True, revalidate_instances="always")

    text: str
    tags: list[str] = []

    @field_validator("text")
    @classmethod
    def _louder(cls, text: str) -> str:
        if text == "bad":
            raise ValueError("bad text")
        return text.upper()

    @model_validator(mode="before")
    @classmethod
    def _tidied(cls, told: dict[str, object]) -> dict[str, object]:
        told["text"] = str(told["text"]).strip()
        if told.get("tags") == ["none"]:
            del told["tags"]
        return told

    @model_validator(mode="after")
    def _tagged(self) -> Self:
        if "never" in self.tags:
            raise ValueError("never is no tag")
        vars(self).update(tags=[*self.tags, "checked"])
        return self


def test_validators_run_and_do_not_change_what_was_stored() -> None:
    """Whatever a model's validators make of its fields, what comes back is what was stored."""

    codec = codec_for(list[Checked])
    made = Checked(text=" a ", tags=["x"])
    values = [made, Checked(text="b"), Checked.model_construct(text=" b ", tags=["none"])]

    assert ("A", ["x", "checked"]) == (made.text, made.tags)
    assert look(values) == look(codec.decode(codec.encode(values)))


@pytest.mark.parametrize(
    ("form", "data", "path", "why"),
    [
        (Checked, b'{"text":"bad"}', "text", "Checked refuses it: Value error, bad text"),
        (Checked, b'{"text":"a","tags":["never"]}', "", "Checked refuses it: Value error, never is no tag"),
        (list[Limits], b'[{"few":0}]', "[0].few", "Limits refuses it: Input should be greater than 0"),
        (Limits, b'{"short":"abcd"}', "short", "Limits refuses it: String should have at most 3 characters"),
        (Limits, b'{"each":[1,10]}', "each", "Limits refuses it: Input should be less than 10"),
        (Order, b'{"number":0}', "number", "Order refuses it: Input should be greater than 0"),
        (RootModel[PositiveInt], b'{"root":0}', "root", "refuses it: Input should be greater than 0"),
    ],
    ids=map(str, range(7)),
)
def test_what_a_validator_refuses_cannot_be_decoded(form: object, data: bytes, path: str, why: str) -> None:
    """A value that its model refuses is an error of the bytes, with the path to the field and the model's reason."""

    with pytest.raises(NotDecodable) as caught:
        codec_of(form).decode(data)

    assert caught.value.path == path
    assert why in caught.value.why
    assert isinstance(caught.value.__cause__, pydantic.ValidationError)


class Failing(BaseModel):
    """A model whose validator has a fault of its own."""

    x: int

    @field_validator("x")
    @classmethod
    def _fails(cls, x: int) -> int:
        if x:
            raise LookupError("no table")
        return x


class Changeling(BaseModel):
    """A model whose validator makes something else."""

    x: int

    @model_validator(mode="after")
    def _other(self) -> Self:
        return cast("Self", Item(name="a"))


@pytest.mark.parametrize(
    ("form", "why"),
    [
        (Failing, "Failing refuses its fields: LookupError: no table"),
        (Changeling, "a validator of Changeling made a Item"),
    ],
    ids=["raises", "makes something else"],
)
def test_a_validator_that_does_something_else_is_an_error_of_the_bytes(form: object, why: str) -> None:
    """Whatever a validator raises or makes, decoding ends in the codec's own error."""

    with pytest.raises(NotDecodable) as caught:
        codec_of(form).decode(b'{"x":1}')

    assert caught.value.why == why


def test_a_value_as_deep_as_others_is_carried_and_a_deeper_one_refused() -> None:
    """Models that refer to themselves count levels as any class does: an error, never a RecursionError."""

    def tree(levels: int) -> Tree:
        value = Tree()
        for _ in range(levels - 1):
            value = Tree(twin=value)
        return value

    codec = codec_for(Tree)
    data = codec.encode(tree(90))

    assert codec.decode(data) == tree(90)
    with pytest.raises(NotEncodable, match="is nested more than 100 levels deep"):
        codec.encode(tree(120))
    with pytest.raises(NotDecodable, match="is nested more than 100 levels deep"):
        codec.decode(b'{"twin":' * 120 + b"null" + b"}" * 120)
