"""State that an older version of its fields' types wrote: migrated where the field says how, else refused."""

from __future__ import annotations

from typing import Annotated

import attrs
import pytest

from effectgraph.effects.codec import Json, Migrating, Migration, codec_for
from effectgraph.graph.errors import StateChanged, StateInvalid
from effectgraph.graph.reducers import append
from effectgraph.graph.state import updates
from effectgraph.graph.state_type import state_type_of
from effectgraph.graph.stored_state import restored
from effectgraph.stores.records import Piece


@attrs.frozen
class Line:
    """A line of an order, before the deployment."""

    euros: int


@attrs.frozen
class Item:
    """A line of an order, after it."""

    cents: int


WAS = codec_for(tuple[Line, ...]).schema
IS = codec_for(tuple[Item, ...]).schema


def cents(old: Json) -> Json:
    """Lines with cents, from lines with euros."""
    assert isinstance(old, list)
    items: list[Json] = []
    for line in old:
        assert isinstance(line, dict)
        euros = line["euros"]
        assert isinstance(euros, int)
        items.append({"cents": 100 * euros})
    return items


@attrs.frozen(kw_only=True)
class Before:
    """The state that was stored."""

    lines: Annotated[tuple[Line, ...], append] = (Line(1),)
    total: int = 0


@attrs.frozen(kw_only=True)
class After:
    """The state of today."""

    lines: Annotated[tuple[Item, ...], append, Migrating({WAS: Migration(to=IS, by=cents)})] = ()
    total: int = 0


@attrs.frozen(kw_only=True)
class Unprepared:
    """The state of today, by somebody who did not think of yesterday's."""

    lines: Annotated[tuple[Item, ...], append] = ()
    total: int = 0


@attrs.frozen(kw_only=True)
class Astray:
    """A migration that leads elsewhere."""

    lines: Annotated[tuple[Item, ...], Migrating({WAS: Migration(to="1" * 16, by=cents)}), append] = ()


def stored() -> list[Piece]:
    """What a store was given of a state, one appended piece among it."""
    before = state_type_of(Before)
    begun = before.begin(updates(Before)(total=4), by="input")
    return [*begun.pieces, *before.merge(begun.state, updates(Before)(lines=(Line(2), Line(3))), by="node n").pieces]


def test_every_piece_of_a_field_is_migrated() -> None:
    """A field that names a migration is read from what the older type stored: whole, and each appended piece."""

    pieces = stored()
    after = state_type_of(After)
    newer = after.merge(After(), updates(After)(lines=(Item(7),)), by="node n").pieces

    assert After(lines=(Item(100), Item(200), Item(300)), total=4) == restored(after, pieces, thread="t").state
    assert (Item(300), Item(7)) == restored(after, (*pieces, *newer), thread="t").state.lines[2:]


def test_a_field_without_a_migration_is_refused_with_the_way_out() -> None:
    """Without a migration the field is named, with both schemas and how to give it one."""

    with pytest.raises(StateChanged) as caught:
        restored(state_type_of(Unprepared), stored(), thread="t-9")

    assert str(caught.value) == (
        f"thread t-9: field lines was stored as another type (schema {WAS}, Unprepared has {IS}) that no migration "
        f"reads; give the field one, Annotated[..., Migrating({{'{WAS}': Migration(to='{IS}', by=...)}})]; "
        "run it with the state class that wrote it, or delete the thread and start it again"
    )


def test_a_migration_that_leads_elsewhere_is_told_with_the_state_class() -> None:
    """Migrations are checked when the state class is read, before any thread is."""

    with pytest.raises(StateInvalid, match=f"field lines: .* it leads to {'1' * 16}, which is not the codec's own"):
        state_type_of(Astray)
