"""A state put together from what the store kept of it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Generic, TypeVar, cast

import attrs

from effectgraph.effects.codec import CodecError, OtherSchema
from effectgraph.graph.errors import NotAState, StateChanged, UpdateRefused
from effectgraph.graph.state_type import Merged, StateType
from effectgraph.stores.records import Piece

S = TypeVar("S")


@attrs.frozen
class Restored(Generic[S]):
    """A state, and the pieces of the fields that the thread has had no value of: they have their defaults.

    Write them with the thread's next change, through `pieces_to_write`: until then another default would give another
    state.
    """

    state: S
    fresh: tuple[Piece, ...]


def restored(state_type: StateType[S], pieces: Iterable[Piece], /, *, thread: str) -> Restored[S]:
    """A thread's state from its pieces, in the order in which they were written.

    Raises `StateChanged` for a field that the class no longer has, one that another type wrote and no migration reads,
    one that cannot be read, and one marked `given()` that is not there.
    """
    parts: dict[str, list[object]] = {}
    for piece in pieces:
        value = _decoded(state_type, piece, thread)
        if not piece.appended:
            parts[piece.field] = [value]
        elif piece.field in parts:
            parts[piece.field].append(value)
        else:
            raise StateChanged(thread, piece.field, "has what was appended to it, but not what it held before")
    for name, field in state_type.fields.items():
        if field.given and name not in parts:
            raise StateChanged(thread, name, "is marked given(), but the thread was started without it")
    try:
        state = state_type.make({name: _joined(values) for name, values in parts.items()})
        fresh = tuple(
            field.piece(field.encode(getattr(state, name), by=f"thread {thread}, defaults"))
            for name, field in state_type.fields.items()
            if name not in parts
        )
    except (NotAState, UpdateRefused) as error:
        raise StateChanged(thread, None, f"cannot be made again: {error}") from error
    # A default may be an object that all states of the class have in common.
    return Restored(state_type.isolated(state) if fresh else state, fresh)


def pieces_to_write(state_type: StateType[S], fresh: tuple[Piece, ...], merged: Merged[S], /) -> tuple[Piece, ...]:
    """What to store of an update when some fields were `fresh` before it: one piece a field, those as a whole."""
    if not fresh:
        return merged.pieces
    names = {piece.field for piece in fresh}
    whole = tuple(piece for piece in state_type.pieces(merged.state, by="state") if piece.field in names)
    return (*whole, *(piece for piece in merged.pieces if piece.field not in names))


def _decoded(state_type: StateType[S], piece: Piece, thread: str) -> object:
    field = state_type.fields.get(piece.field)
    if field is None:
        raise StateChanged(thread, piece.field, f"is stored, but {state_type.cls.__name__} no longer has it")
    try:
        return field.codec.decode(piece.value, schema=piece.schema)
    except OtherSchema as error:
        way_out = f"Annotated[..., Migrating({{{error.written_by!r}: Migration(to={error.reads!r}, by=...)}})]"
        why = (
            f"was stored as another type (schema {error.written_by}, {state_type.cls.__name__} has {error.reads}) that "
            f"no migration reads; give the field one, {way_out}"
        )
        raise StateChanged(thread, piece.field, why) from error
    except CodecError as error:
        raise StateChanged(thread, piece.field, f"cannot be read: {error}") from error


def _joined(values: list[object]) -> object:
    if len(values) == 1:
        return values[0]
    rows = chain.from_iterable(cast("list[list[object] | tuple[object, ...]]", values))
    return tuple(rows) if isinstance(values[0], tuple) else list(rows)
