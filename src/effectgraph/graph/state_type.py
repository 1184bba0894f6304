"""A state class as the runtime sees it: its fields, their codecs and reducers, and how an update is merged."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import attrs

from effectgraph.effects.codec import Codec, CodecError, codec_for
from effectgraph.graph.declared import DeclaredField, declared_fields, is_declared, is_frozen, type_of
from effectgraph.graph.errors import InputMissing, NotAState, StateInvalid, UpdateRefused
from effectgraph.graph.isolation import copier, unwrapped
from effectgraph.graph.reducers import Reducer, reducer_of
from effectgraph.graph.state import GIVEN, Change, Update
from effectgraph.stores.records import Piece

if TYPE_CHECKING:
    from typing_extensions import TypeForm

S = TypeVar("S")


@attrs.frozen(kw_only=True)
class StateField:
    """One field: what stores it and what merges it. `copy` is None if tasks can share its values."""

    name: str
    codec: Codec[object]
    given: bool
    reducer: Reducer | None
    copy: Callable[[object], object] | None

    def encode(self, value: object, *, by: str) -> bytes:
        """A value as it is stored. Raises `UpdateRefused`."""
        try:
            return self.codec.encode(value)
        except CodecError as error:
            raise UpdateRefused(by, self.name, str(error)) from error

    def own(self, value: object, data: bytes) -> object:
        """A value that whoever brought it can no longer change; `data` is the same value encoded."""
        return value if self.copy is None else self.codec.decode(data)

    def piece(self, data: bytes, *, appended: bool = False) -> Piece:
        """What the store keeps of an encoded value."""
        return Piece(field=self.name, value=data, schema=self.codec.schema, appended=appended)

    def merge(self, old: object, change: Change, *, by: str) -> tuple[object, Piece] | None:
        """The new value and what to store of it, or None if it is the old one. Raises `UpdateRefused`."""
        data = self.encode(change.value, by=by)
        new = self.own(change.value, data)
        if self.reducer is not None and not change.replace:
            joined = self._joined(self.reducer, old, new, by)
            if self.reducer.grows:
                return (joined, self.piece(data, appended=True)) if new else None
            data = self.encode(joined, by=by)
            new = self.own(joined, data)
        # 1 == 1.0 == True, and dicts are equal in any order; the bytes tell them apart.
        if new is old or (new == old and data == self.encode(old, by=by)):
            return None
        return new, self.piece(data)

    def same(self, one: object, other: object) -> bool:
        """Whether two values would be stored alike. A value that cannot be stored is like no other."""
        try:
            return self.codec.encode(one) == self.codec.encode(other)
        except CodecError:
            return False

    def _joined(self, reducer: Reducer, old: object, new: object, by: str) -> object:
        mine = old if self.copy is None or reducer.grows else self.copy(old)
        try:
            return reducer.merge(mine, new)
        except Exception as error:
            why = f"reducer {reducer.name} raised {type(error).__name__}: {error}"
            raise UpdateRefused(by, self.name, why) from error


@attrs.frozen
class Merged(Generic[S]):
    """A new state, and what to store of it: the fields that changed, and of an appended one only what is new."""

    state: S
    pieces: tuple[Piece, ...]


@attrs.frozen
class StateType(Generic[S]):
    """A state class that can be stored, made by `state_type_of`. `shared` says that no task can change a state."""

    cls: type[S]
    fields: Mapping[str, StateField]
    shared: bool

    def begin(self, update: object, *, by: str) -> Merged[S]:
        """The state of a new thread: defaults, then the input as an update. Its pieces are the whole state.

        Defaults are stored as well, so that a thread keeps those it started with, whatever the code says later.
        `by` names the input in errors. Raises `InputMissing` and `UpdateRefused`.
        """
        changes = self._changes(update, by)
        missing = tuple(name for name, field in self.fields.items() if field.given and name not in changes)
        if missing:
            raise InputMissing(by, missing)
        brought = {name: changes[name].value for name, field in self.fields.items() if field.given}
        base = self._made(brought, by)
        self.pieces(base, by=f"{by}, with defaults")
        rest = {name: change for name, change in changes.items() if name not in brought}
        state = self._merge(self.isolated(base), rest, by).state
        return Merged(state, self.pieces(state, by=by))

    def merge(self, state: S, update: object, *, by: str) -> Merged[S]:
        """The state after an update: what a node returned, an `Update` of this class or None for no change.

        Each value is checked by its field's codec: exact types, nothing is converted. A field whose new value encodes
        as its old one did not change and has no piece. `state` itself stays as it is, and the new one shares nothing
        that can change with the update. `by` names the node in errors. Raises `UpdateRefused`.
        """
        return self._merge(state, self._changes(update, by), by)

    def isolated(self, state: S) -> S:
        """A state whose reader may do to it what he likes: `state` itself if nothing in it can change, else a copy."""
        if self.shared:
            return state
        copied = copy.copy(state)
        for field in self.fields.values():
            if field.copy is not None:
                # Not through the constructor: the values are equal, and a frozen class would refuse to be set.
                object.__setattr__(copied, field.name, field.copy(getattr(state, field.name)))
        return copied

    def pieces(self, state: S, *, by: str) -> tuple[Piece, ...]:
        """A whole state as it is stored. Raises `UpdateRefused` for a value that is not of its field's type."""
        return tuple(field.piece(field.encode(getattr(state, name), by=by)) for name, field in self.fields.items())

    def make(self, values: Mapping[str, object]) -> S:
        """A state of these values, and of defaults for the rest. Raises `NotAState` if the class refuses them."""
        try:
            state = self.cls(**values)
        except Exception as error:
            raise NotAState(self.cls.__name__, f"{type(error).__name__}: {error}") from error
        for name, value in values.items():
            kept = getattr(state, name)
            if kept is not value and not self.fields[name].same(kept, value):
                raise NotAState(self.cls.__name__, f"its constructor changes field {name}")
        return state

    def _made(self, values: Mapping[str, object], by: str) -> S:
        try:
            return self.make(values)
        except NotAState as error:
            raise UpdateRefused(by, None, str(error)) from error

    def _changes(self, update: object, by: str) -> Mapping[str, Change]:
        if update is None:
            return {}
        if not isinstance(update, Update):
            kind = type(update).__name__
            raise UpdateRefused(
                by, None, f"a value of type {kind} is no update; make one with updates({self.cls.__name__})"
            )
        made = cast("Update[object]", update)
        if made.state is not self.cls:
            raise UpdateRefused(by, None, f"an update of {made.state.__name__}, but the state is {self.cls.__name__}")
        return made.changes

    def _merge(self, state: S, changes: Mapping[str, Change], by: str) -> Merged[S]:
        values = {name: getattr(state, name) for name in self.fields}
        pieces: list[Piece] = []
        for name, field in self.fields.items():
            merged = field.merge(values[name], changes[name], by=by) if name in changes else None
            if merged is not None:
                values[name], piece = merged
                pieces.append(piece)
        if not pieces:
            return Merged(state, ())
        return Merged(self._made(values, by), tuple(pieces))


def state_type_of(cls: type[S], /) -> StateType[S]:
    """Read a state class. Raises `StateInvalid` with all that is wrong with it."""
    if not is_declared(cls):
        name = getattr(cls, "__name__", repr(cls))
        raise StateInvalid(
            name, ("it is not an attrs class or dataclass; decorate it with @attrs.frozen(kw_only=True)",)
        )
    problems = list(_constructor_problems(cls))
    fields: dict[str, StateField] = {}
    for declared in declared_fields(cls):

        def tell(problem: str, name: str = declared.name) -> None:
            problems.append(f"field {name}: {problem}")

        field = _read_field(cls, declared, tell)
        if field is not None:
            fields[declared.name] = field
    if problems:
        raise StateInvalid(cls.__name__, tuple(problems))
    return StateType(cls, fields, is_frozen(cls) and all(field.copy is None for field in fields.values()))


def _constructor_problems(cls: type[object]) -> Iterator[str]:
    taken = set(inspect.signature(cls).parameters)
    named = {field.name for field in declared_fields(cls)}
    for name in sorted(named - taken):
        yield f"field {name}: the constructor does not take it by this name; a state is made anew from all its fields"
    for name in sorted(taken - named):
        yield f"constructor parameter {name}: is no field, so it would be lost; make it one, or leave it out"


def _read_field(cls: type[object], declared: DeclaredField, tell: Callable[[str], None]) -> StateField | None:
    if declared.converted:
        tell("has a converter, but a state holds what was stored, unchanged; convert in the node")
    if declared.default is None:
        tell("no default; give it one, or mark it with `= given()`")
    try:
        form = type_of(cls, declared.name)
    except Exception as error:
        tell(f"its type cannot be looked up ({error}); annotate it with a type that the class's module can see")
        return None
    reducer = reducer_of(form, tell)
    base = unwrapped(form)
    try:
        codec = codec_for(cast("TypeForm[object]", form))
    except CodecError as error:
        tell(str(error))
        return None
    given = declared.default is not None and declared.default.value is GIVEN
    if declared.default is not None and not declared.default.computed and not given:
        try:
            codec.encode(declared.default.value)
        except CodecError as error:
            tell(f"its default is not of its type: {error}")
    return StateField(name=declared.name, codec=codec, given=given, reducer=reducer, copy=copier(base, codec))
