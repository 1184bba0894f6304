"""Bytes that another version of their type wrote: brought up to date by a function, or refused by name."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import cast

import attrs
import pytest
from typing_extensions import TypeForm

from effectgraph.effects.codec import (
    Codec,
    Json,
    Migrate,
    Migration,
    NotDecodable,
    OtherSchema,
    codec_for,
)
from effectgraph.effects.codec.limits import MAX_BYTES, MAX_DEPTH, MAX_JSON_DEPTH
from stable_ids import named

V1, V2, V3 = "1" * 16, "2" * 16, "3" * 16


@attrs.frozen
class Order:
    """What an order is today."""

    item: str
    cents: int


@attrs.frozen
class Tree:
    """A class that refers to itself."""

    branches: tuple[Tree, ...] = ()


ORDER = codec_for(Order)


def cents(old: Json) -> Json:
    """From whole euros, changing what it was given."""
    assert isinstance(old, dict)
    euros = old.pop("euros")
    assert isinstance(euros, int)
    old["cents"] = euros * 100
    return old


def paired(old: Json) -> Json:
    """From a list of item and euros."""
    assert isinstance(old, list)
    return {"item": old[0], "euros": old[1]}


def to_today(codec: Codec[Order] | Codec[object], by: Migrate) -> Mapping[str, Migration]:
    """One migration from `V1` to what a codec reads."""
    return {V1: Migration(to=codec.schema, by=by)}


def giving(value: object) -> Migrate:
    """A migration that returns this, whatever it gets."""
    return lambda _: cast("Json", value)


def refused(data: bytes, by: Migrate, form: object = Order) -> NotDecodable:
    """The error in which decoding bytes of `V1` ends."""
    codec = codec_for(cast("TypeForm[object]", form))
    with pytest.raises(NotDecodable) as caught:
        codec.migrating(to_today(codec, by)).decode(data, schema=V1)
    return caught.value


def test_the_codecs_own_schema_is_decoded() -> None:
    """Bytes of the codec's own schema need no migration, whether the schema is named or not."""

    data = ORDER.encode(Order("book", 5))

    assert Order("book", 5) == ORDER.decode(data)
    assert Order("book", 5) == ORDER.decode(data, schema=None)
    assert Order("book", 5) == ORDER.decode(data, schema=ORDER.schema)


def test_K07_bytes_of_a_renamed_class_are_an_error_that_names_the_type() -> None:
    """After a rename, bytes of the old class are refused by type and schemas, with the way out: no dict, no None."""

    renamed: type[object] = attrs.make_class(
        "Purchase", {"item": attrs.field(type=str), "cents": attrs.field(type=int)}
    )
    codec = codec_for(renamed)
    data = ORDER.encode(Order("book", 5))

    with pytest.raises(OtherSchema) as caught:
        codec.decode(data, schema=ORDER.schema)

    error = caught.value
    assert (error.type, error.written_by, error.reads, error.path) == ("Purchase", ORDER.schema, codec.schema, "")
    assert str(error) == (
        f"the value cannot be decoded: schema '{ORDER.schema}' wrote it, and that of Purchase is '{codec.schema}'; "
        "bring back the type that wrote it, or hand in a migration: "
        f"codec.migrating({{'{ORDER.schema}': Migration(to='{codec.schema}', by=...)}})"
    )


class Colour(enum.Enum):
    """An enum."""

    RED = 1


Paint = enum.Enum("Paint", {"RED": 1})


@pytest.mark.parametrize(
    ("old", "new", "value"),
    [
        (Order, attrs.make_class("Order", {"item": attrs.field(type=str)}), Order("a", 1)),
        (Colour, Paint, Colour.RED),
        (Decimal, str, Decimal("1.50")),
        (tuple[int, ...], list[int], (1, 2)),
        (int, float, 1),
    ],
    ids=named,
)
def test_K07_what_another_type_wrote_is_never_taken_for_a_value(old: object, new: object, value: object) -> None:
    """Bytes that another type wrote are refused though they would fit, as nobody knows that they mean the same."""

    wrote, reads = (codec_for(cast("TypeForm[object]", form)) for form in (old, new))

    with pytest.raises(OtherSchema):
        reads.decode(wrote.encode(value), schema=wrote.schema)


@pytest.mark.parametrize("schema", ["", "x", "\ud800\n" * 100, V1.upper(), f"{ORDER.schema} "], ids=ascii)
def test_a_schema_that_is_none_is_another_one(schema: str) -> None:
    """Whatever is kept beside the bytes, it is the codec's own schema or an error that can be shown and stored."""

    with pytest.raises(OtherSchema) as caught:
        ORDER.decode(ORDER.encode(Order("book", 5)), schema=schema)

    assert caught.value.written_by == schema
    assert len(str(caught.value).encode()) < 1_000


def test_bytes_of_another_schema_are_not_looked_into() -> None:
    """Without a migration the error is about the schema, also for bytes that are no JSON."""

    with pytest.raises(OtherSchema):
        ORDER.decode(b"{", schema=V1)


def test_a_migration_brings_a_value_up_to_date() -> None:
    """A migration gets the JSON form as it was stored; what it gives is decoded as today's."""

    codec = ORDER.migrating(to_today(ORDER, cents))

    assert Order("book", 300) == codec.decode(b'{"item": "book", "euros": 3}', schema=V1)
    assert Order("book", 3) == codec.decode(b'{"item": "book", "cents": 3}')
    assert ORDER.schema == codec.schema
    assert ORDER.encode(Order("a", 1)) == codec.encode(Order("a", 1))
    with pytest.raises(OtherSchema):
        codec.decode(b'{"item": "book", "euros": 3}', schema=V2)


@pytest.mark.parametrize(
    "data", [b"null", b"true", b"1", b"1.5", b'"a"', b'{"b":[1,{"a":"x"}],"a":{}}', b"-" + b"9" * 4300], ids=named
)
def test_a_migration_gets_plain_json(data: bytes) -> None:
    """What a migration gets are plain dicts, lists, texts, numbers, true, false and null, in the stored order."""

    codec = codec_for(cast("TypeForm[object]", list[int]))
    got: list[Json] = []

    def by(old: Json) -> Json:
        got.append(old)
        return []

    codec.migrating(to_today(codec, by)).decode(data, schema=V1)

    assert data == codec_bytes(got[0])


def codec_bytes(raw: Json) -> bytes:
    """A JSON form as bytes, its parts checked to be of the plain types alone."""
    if isinstance(raw, dict):
        assert type(raw) is dict
        return b"{" + b",".join(codec_bytes(key) + b":" + codec_bytes(each) for key, each in raw.items()) + b"}"
    if isinstance(raw, list):
        assert type(raw) is list
        return b"[" + b",".join(map(codec_bytes, raw)) + b"]"
    if isinstance(raw, bool) or raw is None:
        return {True: b"true", False: b"false", None: b"null"}[raw]
    assert type(raw) in (int, float, str)
    return f'"{raw}"'.encode() if isinstance(raw, str) else str(raw).encode()


def test_nothing_is_registered_for_the_type() -> None:
    """Migrations belong to the codec that they were handed to: another codec of the type knows nothing of them."""

    ORDER.migrating(to_today(ORDER, cents))

    with pytest.raises(OtherSchema):
        codec_for(Order).decode(b'{"item": "book", "euros": 3}', schema=V1)


def test_a_codec_has_the_migrations_that_it_was_made_with() -> None:
    """What is done to the mapping afterwards changes nothing, and a codec made anew has none of the earlier ones."""

    given = dict(to_today(ORDER, cents))
    codec = ORDER.migrating(given)
    given.clear()

    assert Order("book", 300) == codec.decode(b'{"item": "book", "euros": 3}', schema=V1)
    with pytest.raises(OtherSchema):
        codec.migrating({}).decode(b'{"item": "book", "euros": 3}', schema=V1)


def test_a_migration_can_lead_to_another_one() -> None:
    """A type that changes again needs one more migration; the older ones stay as they are."""

    codec = ORDER.migrating({V1: Migration(to=V2, by=paired), V2: Migration(to=ORDER.schema, by=cents)})
    longer = ORDER.migrating(
        {
            V3: Migration(to=V1, by=lambda old: [old, 7]),
            V1: Migration(to=V2, by=paired),
            V2: Migration(to=ORDER.schema, by=cents),
        }
    )

    assert Order("book", 300) == codec.decode(b'["book", 3]', schema=V1)
    assert Order("book", 300) == codec.decode(b'{"item": "book", "euros": 3}', schema=V2)
    assert Order("book", 700) == longer.decode(b'"book"', schema=V3)


def test_a_migration_changes_only_what_it_was_given() -> None:
    """Each migration gets a copy of its own: what one keeps is not what the next one changes, nor what is decoded."""

    defaults: dict[str, Json] = {"item": "none", "euros": 1}
    codec = ORDER.migrating({V1: Migration(to=V2, by=lambda _: defaults), V2: Migration(to=ORDER.schema, by=cents)})
    numbers = codec_for(list[int])
    kept: list[Json] = []

    def keep(old: Json) -> Json:
        kept.append(old)
        return old

    value = numbers.migrating({V1: Migration(to=numbers.schema, by=keep)}).decode(b"[1]", schema=V1)
    assert isinstance(kept[0], list)
    kept[0].append(2)

    assert Order("none", 100) == codec.decode(b"null", schema=V1) == codec.decode(b"null", schema=V1)
    assert {"item": "none", "euros": 1} == defaults
    assert [1] == value


@pytest.mark.parametrize(
    ("given", "path", "why"),
    [
        ([{"item": "a", "cents": "5"}], "[0].cents", "expected int, found a text"),
        ([{"item": "a", "cents": True}], "[0].cents", "expected int, found true or false"),
        ([{"item": "a"}], "[0].cents", "is missing, and Order has no default for it"),
        ([{"item": "a", "cents": 1, "x": 1}], "[0].x", "is no field of Order"),
        (None, "", "expected list[Order], found null"),
    ],
    ids=map(str, range(5)),
)
def test_what_a_migration_gives_is_decoded_strictly(given: Json, path: str, why: str) -> None:
    """What a migration gives and does not fit is refused with its path, naming the schema whose migration gave it."""

    error = refused(b"[]", giving(given), list[Order])

    assert (error.path, error.why) == (path, f"{why}, as the migration from schema {V1} gave it")


def test_the_last_migration_on_the_way_is_named() -> None:
    """Of several migrations the error names the one whose result does not fit, or which failed."""

    def fails(_: Json) -> Json:
        raise LookupError("no rate")

    last = ORDER.migrating({V1: Migration(to=V2, by=paired), V2: Migration(to=ORDER.schema, by=giving(1))})
    second = ORDER.migrating({V1: Migration(to=V2, by=paired), V2: Migration(to=ORDER.schema, by=fails)})

    with pytest.raises(NotDecodable, match=f"expected Order, found an integer, as the migration from schema {V2} gave"):
        last.decode(b'["a", 1]', schema=V1)
    with pytest.raises(NotDecodable, match=f"the migration from schema {V2} raised LookupError: no rate$"):
        second.decode(b'["a", 1]', schema=V1)


class Text(str):
    """A text that is not quite one."""

    __slots__ = ()


class Many(list[object]):
    """A list that is not quite one."""


async def later() -> None:
    """What an async migration would give."""


@pytest.mark.parametrize(
    ("given", "path", "why"),
    [
        (object(), "", "is of type object"),
        ((1, 2), "", "is of type tuple"),
        ({"a": {1, 2}}, "a", "is of type set"),
        ([1, b"x"], "[1]", "is of type bytes"),
        ([Decimal(1)], "[0]", "is of type Decimal"),
        (Order("a", 1), "", "is of type Order"),
        (Colour.RED, "", "is of type Colour"),
        (Text("a"), "", "is of type Text"),
        (Many(), "", "is of type Many"),
        ({"a": [{1: 2}]}, "a[0][key 1]", "a key of type int is no text"),
        ({Text("a"): 2}, '[key "a"]', "a key of type Text is no text"),
        ({"a": float("nan")}, "a", 'nan is no number of JSON; a float may be {"float": "nan"} instead'),
        ([-float("inf")], "[0]", '-inf is no number of JSON; a float may be {"float": "-inf"} instead'),
        ("\ud800", "", "has a lone surrogate at index 0, which is no character"),
        ({"\ud800": 1}, r'["\ud800"]', "has a lone surrogate at index 0, which is no character"),
        ([10**4300], "[0]", "has more than 4300 digits"),
    ],
    ids=map(str, range(16)),
)
def test_what_is_no_json_form_is_refused(given: object, path: str, why: str) -> None:
    """A migration that gives something else than plain JSON is refused with the path in it; nothing is converted."""

    error = refused(b"1", giving(given))

    assert (error.path, error.why) == (path, f"the migration from schema {V1} gave what is no JSON form: {why}")


def nested(levels: int) -> list[object]:
    """Lists in lists."""
    value: list[object] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def endless() -> list[object]:
    """A list that holds itself."""
    value: list[object] = []
    value.append(value)
    return value


def doubled() -> object:
    """A value of few objects that would be 64 MiB and more as bytes."""
    value: object = "x" * 1024
    for _ in range(30):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: nested(MAX_JSON_DEPTH + 2), f"is nested more than {MAX_JSON_DEPTH} levels deep"),
        (lambda: nested(100_000), f"is nested more than {MAX_JSON_DEPTH} levels deep"),
        (endless, f"is nested more than {MAX_JSON_DEPTH} levels deep"),
        (lambda: "x" * MAX_BYTES, f"takes more than {MAX_BYTES} bytes"),
        (lambda: {"x" * MAX_BYTES: 1}, f"takes more than {MAX_BYTES} bytes"),
        (doubled, f"takes more than {MAX_BYTES} bytes"),
    ],
    ids=["one level too deep", "very deep", "endless", "a long text", "a long key", "many times the same"],
)
def test_bounds_hold_behind_a_migration(make: Callable[[], object], why: str) -> None:
    """What a migration gives is bounded in depth and size, whatever it is made of."""

    error = refused(b"1", giving(make()))

    assert error.why == f"the migration from schema {V1} gave what is no JSON form: {why}"


def test_bounds_hold_before_a_migration() -> None:
    """Bytes nested too deeply, or too many, are refused before a migration sees them."""

    asked: list[Json] = []

    def ask(old: Json) -> Json:
        asked.append(old)
        return old

    for data in (b"[" * 700 + b"]" * 700, b"[" * 100_000, b" " * (MAX_BYTES + 1)):
        refused(data, ask)
    assert [] == asked


def test_a_value_as_deep_as_any_can_be_migrated() -> None:
    """The bounds leave room for every value that a codec writes."""

    tree = Tree()
    for _ in range(MAX_DEPTH // 2 - 1):
        tree = Tree((tree,))
    codec = codec_for(Tree)

    assert tree == codec.migrating({V1: Migration(to=codec.schema, by=lambda old: old)}).decode(
        codec.encode(tree), schema=V1
    )


def test_a_migration_is_not_asked_about_bytes_that_are_no_json() -> None:
    """Bytes that cannot be read, and objects in which a key stands twice, are refused before a migration sees them."""

    asked: list[Json] = []

    def ask(old: Json) -> Json:
        asked.append(old)
        return old

    refused(b"{", ask)
    refused(b"\xff", ask)
    twice = refused(b'[1, {"b": {"a": 1, "a": 2}}]', ask)

    assert [] == asked
    assert (twice.path, twice.why) == ("[1].b", 'the key "a" stands twice in one object')


def test_a_migration_that_raises_is_named() -> None:
    """What a migration raises is the codec's own error, naming the schema, with the cause kept."""

    error = refused(b'{"item": "book"}', cents)

    assert (error.path, error.why) == ("", f"the migration from schema {V1} raised KeyError: 'euros'")
    assert isinstance(error.__cause__, KeyError)


def test_a_migration_that_recurses_without_end_is_an_error() -> None:
    """A migration that runs out of stack is an error like any other that it raises."""

    def forever(old: Json) -> Json:
        return forever(old)

    assert f"the migration from schema {V1} raised RecursionError" in refused(b"1", forever).why


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_is_no_error_comes_through(stop: type[BaseException]) -> None:
    """An interrupt is not made an error of the bytes."""

    def stopped(_: Json) -> Json:
        raise stop

    with pytest.raises(stop):
        ORDER.migrating(to_today(ORDER, stopped)).decode(b"1", schema=V1)
