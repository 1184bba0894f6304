"""How a field's old value and an update's value become its new one."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, Final

import attrs

from effectgraph.effects.codec.forms import class_of, is_union
from effectgraph.graph.declared import is_class
from effectgraph.graph.isolation import unwrapped


@attrs.frozen(kw_only=True)
class Reducer:
    """Makes a field's new value: `merge(old, new)`. To name one, write `Annotated[tuple[str, ...], append]`.

    `fits` tells whether it can join two values of a type, `joins` says which types those are. `grows` means that the
    new value is the old one with the update's behind it, so that only what was appended has to be stored.
    """

    name: str
    merge: Callable[[object, object], object]
    fits: Callable[[object], bool]
    joins: str
    grows: bool = False


def reducer_of(form: object, tell: Callable[[str], None], /) -> Reducer | None:
    """The reducer that a field's type names: one of the four, by itself or as text, or a function `(old, new)`.

    None if it names none, and if what it names cannot be used: `tell` has then been called with the reason.
    """
    if typing.get_origin(form) is not Annotated:
        return None
    base, *named = typing.get_args(form)
    found = [reducer for reducer in (_read(name, tell) for name in named) if reducer is not None]
    if len(found) > 1:
        tell(f"names the reducers {' and '.join(reducer.name for reducer in found)}; keep one")
        return None
    if not found:
        return None
    if not found[0].fits(base):
        tell(f"reducer {found[0].name} joins {found[0].joins}; name another one, or change the field's type")
        return None
    return found[0]


def _read(named: object, tell: Callable[[str], None]) -> Reducer | None:
    if isinstance(named, Reducer):
        return named
    if isinstance(named, str):
        if named not in BY_NAME:
            tell(f"no reducer {named!r}; name {', '.join(BY_NAME)}, or give a function (old, new)")
        return BY_NAME.get(named)
    if isinstance(named, type) or not callable(named):
        return None
    return _function(named, tell)


def _function(named: Callable[..., object], tell: Callable[[str], None]) -> Reducer | None:
    name: str = getattr(named, "__name__", type(named).__name__)
    if inspect.iscoroutinefunction(named):
        tell(f"reducer {name} is async; it has to be a plain function of (old, new)")
        return None
    try:
        inspect.signature(named).bind(None, None)
    except TypeError:
        tell(f"reducer {name} does not take (old, new); give it these two parameters")
        return None
    return Reducer(name=name, merge=named, fits=lambda _: True, joins="whatever it was written for")


def _is_sequence(form: object) -> bool:
    form = unwrapped(form)
    parts = typing.get_args(form)
    if typing.get_origin(form) is tuple:
        return len(parts) == 2 and parts[1] is Ellipsis
    return typing.get_origin(form) is list


def _is_addable(form: object) -> bool:
    form = unwrapped(form)
    if is_union(form):
        return all(_is_addable(part) for part in typing.get_args(form))
    # The sum of two bools is no bool, and that of two enum members is no member.
    if is_class(form) and issubclass(form, (bool, Enum)):
        return False
    return hasattr(class_of(form), "__add__")


def _is_dict(form: object) -> bool:
    return typing.get_origin(unwrapped(form)) is dict


def _is_set(form: object) -> bool:
    return typing.get_origin(unwrapped(form)) in (set, frozenset)


def _plus(old: Any, new: Any) -> object:
    return old + new


def _both(old: Any, new: Any) -> object:
    return old | new


append: Final = Reducer(
    name="append", merge=_plus, fits=_is_sequence, joins="list[...] and tuple[..., ...]", grows=True
)
"""The old list or tuple with the update's behind it. Stored by what was appended, so that its cost does not grow."""

add: Final = Reducer(name="add", merge=_plus, fits=_is_addable, joins="numbers and other types that have a +")
"""The sum of both."""

merge: Final = Reducer(name="merge", merge=_both, fits=_is_dict, joins="dict[..., ...]")
"""The old dict with the update's items in it; where both have a key, the update's value counts."""

union: Final = Reducer(name="union", merge=_both, fits=_is_set, joins="set[...] and frozenset[...]")
"""The members of both sets."""

BY_NAME: Final = {reducer.name: reducer for reducer in (append, add, merge, union)}
"""The reducers that a field may name as text: `Annotated[int, "add"]`."""
