"""Migrations as they are handed in: each leads to the codec's schema, or is refused before any bytes are met."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Annotated, cast

import attrs
import pytest
from typing_extensions import TypeForm

from effectgraph.effects.codec import (
    BadMigration,
    CodecError,
    Json,
    Migrating,
    Migration,
    OtherSchema,
    codec_for,
)

V1, V2, V3 = "1" * 16, "2" * 16, "3" * 16


@attrs.frozen
class Order:
    """What an order is today."""

    item: str
    cents: int


ORDER = codec_for(Order)


def cents(old: Json) -> Json:
    """From whole euros."""
    assert isinstance(old, dict)
    euros = old["euros"]
    assert isinstance(euros, int)
    return {"item": old["item"], "cents": euros * 100}


def bad(steps: Mapping[str, Migration]) -> BadMigration:
    """Why migrations are refused when they are handed in."""
    with pytest.raises(BadMigration) as caught:
        ORDER.migrating(steps)
    return caught.value


@pytest.mark.parametrize("schema", ["", "1", "1" * 15, "1" * 17, "g" * 16, "Order", "1" * 15 + "A", "\u0661" * 16])
def test_a_migration_is_from_a_schema_to_a_schema(schema: str) -> None:
    """What is not 16 hex digits names no schema, on either side; it is refused when it is handed in."""

    taken = bad({schema: Migration(to=ORDER.schema, by=cents)})
    given = bad({V1: Migration(to=schema, by=cents)})

    assert (taken.type, taken.schema) == ("Order", schema)
    assert (given.type, given.schema) == ("Order", V1)
    assert "is no schema; one is 16 hex digits" in taken.why
    assert "is no schema; one is 16 hex digits" in given.why


def step(to: str) -> Migration:
    """A step to a schema."""
    return Migration(to=to, by=cents)


@pytest.mark.parametrize(
    ("steps", "schema", "why"),
    [
        ({ORDER.schema: step(V1), V1: step(ORDER.schema)}, ORDER.schema, "it is the codec's own"),
        ({V1: step(V1)}, V1, "it leads in a circle"),
        ({V1: step(V2), V2: step(V1)}, V1, "it leads in a circle"),
        ({V1: step(ORDER.schema), V2: step(V3), V3: step(V2)}, V2, "it leads in a circle"),
        ({V1: step(V2), V2: step(V3), V3: step(V2)}, V1, "it leads in a circle"),
        ({V1: step(V2)}, V1, f"it leads to {V2}, which is not the codec's own, {ORDER.schema}, and has no migration"),
        ({V2: step(ORDER.schema), V1: step(V3)}, V1, f"it leads to {V3}, which is not the codec's own"),
    ],
    ids=map(str, range(7)),
)
def test_every_migration_leads_to_the_codecs_schema(steps: Mapping[str, Migration], schema: str, why: str) -> None:
    """A migration of today's schema, in a circle or to nowhere is refused when it is handed in."""

    error = bad(steps)

    assert error.schema == schema
    assert why in error.why


def test_a_type_that_changes_again_asks_for_one_more_migration() -> None:
    """Migrations to yesterday's type do not fit today's: the one that is missing is told before any bytes are met."""

    yesterday = {V1: step(ORDER.schema)}
    changed: type[object] = attrs.make_class("Order", {"item": attrs.field(type=str), "cents": attrs.field(type=float)})
    today = codec_for(changed)

    with pytest.raises(BadMigration) as caught:
        today.migrating(yesterday)

    assert str(caught.value) == (
        f"Order cannot be migrated from schema '{V1}': it leads to {ORDER.schema}, which is not the codec's own, "
        f"{today.schema}, and has no migration; add that"
    )


def test_migrations_can_stand_in_the_annotation_of_a_type() -> None:
    """A codec of an annotated type has the migrations that stand there, whatever stands beside them."""

    form = Annotated[Order, "a note", Migrating({V1: step(ORDER.schema)})]
    codec = codec_for(cast("TypeForm[Order]", form))

    assert Order("book", 300) == codec.decode(b'{"item": "book", "euros": 3}', schema=V1)
    assert ORDER.schema == codec.schema
    with pytest.raises(OtherSchema):
        codec_for(cast("TypeForm[Order]", Annotated[Order, "a note"])).decode(b"{}", schema=V1)


def test_migrations_in_an_annotation_are_checked_with_it() -> None:
    """A codec whose annotated migrations do not fit is not made."""

    form = Annotated[Order, Migrating({V1: step(V2)})]

    with pytest.raises(BadMigration):
        codec_for(cast("TypeForm[Order]", form))


@pytest.mark.parametrize(
    "error",
    [OtherSchema("", "why", "Order", V1, V2), BadMigration("Order", V1, "why")],
    ids=lambda error: type(error).__name__,
)
def test_errors_come_back_whole_from_pickle(error: CodecError) -> None:
    """An error about schemas keeps its fields and its text in another process."""

    back = pickle.loads(pickle.dumps(error))

    assert type(back) is type(error)
    assert vars(back) == vars(error)
    assert str(back) == str(error)
    assert isinstance(error, ValueError)
