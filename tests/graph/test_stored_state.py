"""A state from its pieces: as it was, or an error that names what does not fit."""

from __future__ import annotations

from typing import Annotated, Any

import attrs
import pytest

from effectgraph.graph.errors import StateChanged
from effectgraph.graph.reducers import append
from effectgraph.graph.state import given, updates
from effectgraph.graph.state_type import StateType, state_type_of
from effectgraph.graph.stored_state import pieces_to_write, restored
from effectgraph.stores.records import Piece
from stable_ids import named


@attrs.frozen(kw_only=True)
class Order:
    """The state that is stored."""

    id: str = given()
    total: int = 0
    notes: Annotated[tuple[str, ...], append] = ("made",)
    rows: Annotated[list[dict[str, int]], append] = attrs.Factory(list[dict[str, int]])


@attrs.frozen(kw_only=True)
class Bare:
    """A state that has fields added later."""

    id: str = given()


@attrs.frozen(kw_only=True)
class Wider:
    """The state of `Bare`, later."""

    id: str = given()
    notes: Annotated[tuple[str, ...], append] = ("later",)
    rows: list[str] = attrs.Factory(list[str])


@attrs.frozen(kw_only=True)
class Narrow:
    """The state of `Order` without its id."""

    total: int = 0


@attrs.frozen(kw_only=True)
class OtherType:
    """A state with an id of another type."""

    id: int = given()


@attrs.frozen(kw_only=True)
class OtherDefault:
    """The state of `Order` with other defaults."""

    id: str = given()
    total: int = 7
    notes: Annotated[tuple[str, ...], append] = ("other",)
    rows: Annotated[list[dict[str, int]], append] = attrs.Factory(list[dict[str, int]])


def positive(instance: object, attribute: object, value: int) -> None:
    """A validator that came later."""
    if value < 1:
        raise ValueError("too small")


@attrs.frozen(kw_only=True)
class Stricter:
    """A state that refuses what was stored."""

    total: int = attrs.field(default=1, validator=positive)


orders = state_type_of(Order)
change = updates(Order)


def kept(*steps: object) -> tuple[Order, list[Piece]]:
    """A live state and all pieces that a store has been given of it."""
    begun = orders.begin(change(id="o-1"), by="thread t, input")
    state, pieces = begun.state, list(begun.pieces)
    for step in steps:
        merged = orders.merge(state, step, by="node n")
        state = merged.state
        pieces += merged.pieces
    return state, pieces


def test_G07_the_live_state_equals_the_rebuilt_one() -> None:
    """Appends, replaces and plain values in any order give the same state from the store as in memory."""

    live, pieces = kept(
        change(total=1, notes=("a",)),
        change(notes=("b", "c"), rows=[{"x": 1}]),
        change.replace(notes=("only",)),
        change(notes=("d",), rows=[{"y": 2}, {}]),
        change(notes=()),
    )

    assert restored(orders, pieces, thread="t").state == live
    assert live == Order(id="o-1", total=1, notes=("only", "d"), rows=[{"x": 1}, {"y": 2}, {}])


def test_a_default_of_today_does_not_change_an_older_thread() -> None:
    """A thread keeps the defaults it began with, also behind what was appended to them."""

    _, pieces = kept(change(notes=("a",)))

    again = restored(state_type_of(OtherDefault), pieces, thread="t")

    assert again.state == OtherDefault(id="o-1", total=0, notes=("made", "a"), rows=[])
    assert again.fresh == ()


def test_a_new_field_has_its_default_and_is_to_be_written() -> None:
    """A field that the thread never had gets its default; it is fixed by writing it with the next commit."""

    wider = state_type_of(Wider)
    pieces = state_type_of(Bare).begin(updates(Bare)(id="o-1"), by="thread t, input").pieces

    again = restored(wider, pieces, thread="t")

    assert again.state == Wider(id="o-1", notes=("later",), rows=[])
    assert [(piece.field, piece.appended) for piece in again.fresh] == [("notes", False), ("rows", False)]
    assert restored(wider, (*pieces, *again.fresh), thread="t").fresh == ()


@pytest.mark.parametrize(
    "update",
    [
        updates(Wider)(notes=("a",)),
        updates(Wider).replace(notes=("only",)),
        updates(Wider)(id="o-2"),
        None,
    ],
    ids=named,
)
def test_a_new_field_is_written_whole_with_the_next_change(update: object) -> None:
    """Whatever the change does to a new field, the store gets one piece of it, and the state is the same again."""
    wider = state_type_of(Wider)
    pieces = state_type_of(Bare).begin(updates(Bare)(id="o-1"), by="thread t, input").pieces
    found = restored(wider, pieces, thread="t")
    merged = wider.merge(found.state, update, by="node n")

    written = pieces_to_write(wider, found.fresh, merged)

    again = restored(state_type_of(Wider), (*pieces, *written), thread="t")
    assert (again.state, again.fresh) == (merged.state, ())
    assert [piece.field for piece in written if piece.field != "id"] == ["notes", "rows"]


def test_without_a_new_field_an_update_is_written_as_it_is() -> None:
    """An appended field still stores only what was appended."""
    merged = orders.merge(Order(id="o-1"), change(notes=("a",)), by="node n")

    assert pieces_to_write(orders, (), merged) == merged.pieces


def refused(state_type: StateType[Any], pieces: list[Piece]) -> StateChanged:
    """The error that these pieces end in."""
    with pytest.raises(StateChanged) as caught:
        restored(state_type, pieces, thread="t-9")
    return caught.value


def test_G15_a_field_that_is_gone_is_an_error() -> None:
    """Stored values are never dropped in silence; the error names thread, field and the way out."""

    _, pieces = kept()

    error = refused(state_type_of(Narrow), pieces)

    assert (error.thread, error.field) == ("t-9", "id")
    assert str(error) == (
        "thread t-9: field id is stored, but Narrow no longer has it; run it with the state class that wrote it, "
        "or delete the thread and start it again"
    )


def test_G15_a_field_of_another_type_is_an_error() -> None:
    """Bytes are read only by the type that wrote them."""

    _, pieces = kept()

    error = refused(state_type_of(OtherType), [piece for piece in pieces if piece.field == "id"])

    assert (error.thread, error.field) == ("t-9", "id")
    assert error.why.startswith("was stored as another type (schema ")


def test_G15_a_new_field_that_the_input_must_bring_is_an_error() -> None:
    """A given field has no default to fall back on."""

    _, pieces = kept()

    error = refused(orders, [piece for piece in pieces if piece.field != "id"])

    assert (error.field, error.why) == ("id", "is marked given(), but the thread was started without it")


def test_bytes_that_cannot_be_read_are_an_error() -> None:
    """Damaged bytes name the field, whatever they decode to."""

    _, pieces = kept()
    broken = [attrs.evolve(piece, value=b"{") if piece.field == "total" else piece for piece in pieces]

    error = refused(orders, broken)

    assert error.field == "total"
    assert error.why.startswith("cannot be read: ")


def test_an_append_without_what_it_was_appended_to_is_an_error() -> None:
    """The missing part is not guessed, not even as the default."""

    _, pieces = kept(change(notes=("a",)))

    error = refused(orders, [piece for piece in pieces if piece.field != "notes" or piece.appended])

    assert (error.field, error.why) == ("notes", "has what was appended to it, but not what it held before")


def test_a_class_that_refuses_the_stored_values_is_an_error() -> None:
    """A validator that came later may refuse an older state; nothing is changed by that."""

    _, pieces = kept()

    error = refused(state_type_of(Stricter), [piece for piece in pieces if piece.field == "total"])

    assert error.field is None
    assert "Stricter refuses these values (ValueError: too small)" in str(error)


def test_a_default_of_the_class_is_not_shared_with_a_restored_thread() -> None:
    """A list that all objects of a class have as their default stays out of reach."""

    shared: list[str] = []

    @attrs.define
    class Shared:
        id: str = ""
        rows: list[str] = shared

    restored(state_type_of(Shared), (), thread="t").state.rows.append("x")

    assert shared == []


def test_many_appends_are_read_in_one_go() -> None:
    """Thousands of appended pieces make one tuple: the work grows with what is stored, not with its square."""

    live, pieces = kept(*(change(notes=(str(number),)) for number in range(2_000)))

    assert restored(orders, pieces, thread="t").state == live
