"""What a program writes about its state: which fields the input must bring, and typed partial updates."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, Generic, ParamSpec, TypeVar, final

import attrs

from effectgraph.graph.declared import declared_fields, is_declared
from effectgraph.graph.errors import UpdateInvalid

S = TypeVar("S")
P = ParamSpec("P")


@final
class Mark(Enum):
    """What stands in a field until the input has brought its value."""

    GIVEN = "given"

    def __repr__(self) -> str:
        return "given()"


GIVEN: Final = Mark.GIVEN


def given() -> Any:
    """Mark a field that the input of a new thread must bring.

    Write `id: str = given()` in the state class. For a type checker it is a default of the field's type, so that an
    update may leave the field out.
    """
    return GIVEN


@attrs.frozen
class Change:
    """A new value for one field: handed to the field's reducer, or put in its place if `replace`."""

    value: object
    replace: bool


@final
@attrs.frozen(repr=False)
class Update(Generic[S]):
    """Some fields of S, made by `updates(S)`. `a | b` joins two; one field in both raises `UpdateInvalid`.

    The values are looked at when the update is merged into a state, not before.
    """

    state: type[S]
    changes: Mapping[str, Change]

    def __or__(self, other: Update[S]) -> Update[S]:
        if other.state is not self.state:
            raise UpdateInvalid(self.state.__name__, f"cannot be joined with one of {other.state.__name__}")
        twice = [name for name in self.changes if name in other.changes]
        if twice:
            raise UpdateInvalid(self.state.__name__, f"{', '.join(twice)} in both sides of `|`; name a field once")
        return Update(self.state, {**self.changes, **other.changes})

    def __repr__(self) -> str:
        fields = (f"{name}{' replaced' if change.replace else ''}" for name, change in self.changes.items())
        return f"<Update of {self.state.__name__}: {', '.join(fields) or 'nothing'}>"


@final
@attrs.frozen
class Updates(Generic[P, S]):
    """Makes updates of S. It takes the constructor's arguments, by name only, and any of them may be left out."""

    state: type[S]
    fields: tuple[str, ...]

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> Update[S]:
        """An update that hands each value to its field's reducer; a field without one takes the value.

        Raises `UpdateInvalid` for an unknown field, and for a value without a name.
        """
        return self._update(args, kwargs, replace=False)

    def replace(self, /, *args: P.args, **kwargs: P.kwargs) -> Update[S]:
        """An update that puts each value in the place of the old one, past the reducer. Raises as a call does."""
        return self._update(args, kwargs, replace=True)

    def _update(self, args: tuple[object, ...], values: Mapping[str, object], *, replace: bool) -> Update[S]:
        if args:
            raise UpdateInvalid(self.state.__name__, f"{len(args)} values without a name; write field=value")
        unknown = [name for name in values if name not in self.fields]
        if unknown:
            raise UpdateInvalid(self.state.__name__, "; ".join(self._unknown(name) for name in unknown))
        return Update(self.state, {name: Change(value, replace) for name, value in values.items()})

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name, self.fields, n=1)
        hint = f"did you mean {near[0]}?" if near else f"the fields are {', '.join(self.fields)}"
        return f"no field {name}; {hint}"


def updates(state: Callable[P, S], /) -> Updates[P, S]:
    """Make the maker of typed updates of a state class.

    After `change = updates(Order)` write `change(total=3)`, `change.replace(notes=())`, and join two with `|`.
    Raises `UpdateInvalid` if `state` is neither an attrs class nor a dataclass.
    """
    if not isinstance(state, type):
        raise UpdateInvalid(repr(state), "not a class; give the state class itself")
    if not is_declared(state):
        raise UpdateInvalid(
            state.__name__, "not an attrs class or dataclass; decorate it with @attrs.frozen(kw_only=True)"
        )
    return Updates(state, tuple(field.name for field in declared_fields(state)))
