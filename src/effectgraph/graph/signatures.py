"""What the annotations of a node or a router say, held against the graph it is in."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterator
from enum import Enum, Flag
from typing import Any, Final, Literal, TypeAlias, TypeVar

import attrs

from effectgraph.effects.codec.forms import is_union, name_of
from effectgraph.graph.context import BlockingContext, Context
from effectgraph.graph.declared import is_class
from effectgraph.graph.isolation import unwrapped
from effectgraph.graph.state import Update

Key: TypeAlias = "tuple[type[object], object]"

BY_POSITION: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

UNKNOWN: Final = object()
"""An annotation that is missing, or that cannot be evaluated here: it proves nothing."""


@attrs.frozen
class Expected:
    """What a graph hands to its nodes and routers."""

    state: type[object]
    deps: object


def node_problems(fn: Callable[..., object], is_async: bool, expected: Expected) -> Iterator[str]:
    """What does not fit in a node's function, as far as its annotations tell."""
    if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
        yield "yields; a node returns one Update, or nothing"
        return
    parameters = _positional(fn, 2)
    if parameters is None:
        yield "does not take (state, ctx); give it these two parameters"
        return
    yield from _state_problems(fn, parameters[0], expected.state)
    yield from _context_problems(fn, parameters[1], is_async, expected.deps)
    yield from _return_problems(_return_form(fn), expected.state)


def router_problems(fn: Callable[..., object], expected: Expected) -> Iterator[str]:
    """What does not fit in a router, as far as its annotations tell."""
    if inspect.iscoroutinefunction(fn) or inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
        yield "is not a plain function; a router only looks at the state and returns a key"
        return
    parameters = _positional(fn, 1)
    if parameters is None:
        yield "does not take (state); give it this one parameter"
        return
    yield from _state_problems(fn, parameters[0], expected.state)


def keys_of(fn: Callable[..., object]) -> frozenset[Key] | None:
    """All keys that a router can return, if its annotation lists them (Literal, bool, an Enum, None); else None."""
    return _listed(_return_form(fn))


def key_of(value: object) -> Key:
    """A key together with its type: True and 1 are equal, and two keys."""
    return type(value), value


def _state_problems(fn: Callable[..., object], parameter: inspect.Parameter, state: type[object]) -> Iterator[str]:
    form = _evaluated(fn, parameter.annotation)
    if not _takes(form, state):
        yield f"takes {name_of(form)} as its state, but the graph's is {state.__name__}; take {state.__name__}"


def _context_problems(
    fn: Callable[..., object], parameter: inspect.Parameter, is_async: bool, deps: object
) -> Iterator[str]:
    form = _evaluated(fn, parameter.annotation)
    origin = typing.get_origin(form) or form
    if origin is Context and not is_async:
        yield "is a plain function but takes a Context; make it `async def`, or take a BlockingContext"
    elif origin is BlockingContext and is_async:
        yield "is async but takes a BlockingContext; take a Context, or make it a plain `def`"
    elif origin in (Context, BlockingContext):
        wanted = typing.get_args(form)
        given = type(None) if deps is None else deps
        if wanted and wanted[0] not in (given, Any) and not isinstance(wanted[0], TypeVar):
            yield f"takes {name_of(form)}, but the graph's deps are {name_of(deps)}; take what the graph hands out"
    elif not _takes(form, Context if is_async else BlockingContext):
        yield f"takes {name_of(form)} as its context; take a {'Context' if is_async else 'BlockingContext'}"


def _return_problems(form: object, state: type[object]) -> Iterator[str]:
    for part in _members(form):
        origin = typing.get_origin(part) or part
        if origin is Update:
            of = typing.get_args(part)
            wrong = bool(of) and is_class(of[0]) and of[0] is not state
        else:
            wrong = is_class(origin) and origin is not type(None)
        if wrong:
            yield f"returns {name_of(part)}; return an Update[{state.__name__}], or nothing"


def _positional(fn: Callable[..., object], count: int) -> list[inspect.Parameter] | None:
    """The parameters that `count` values without names go to, or None if the function does not take that many."""
    try:
        signature = inspect.signature(fn)
        signature.bind(*[None] * count)
    except (TypeError, ValueError):
        return None
    parameters = list(signature.parameters.values())
    taken = [parameter for parameter in parameters if parameter.kind in BY_POSITION]
    rest = [parameter for parameter in parameters if parameter.kind is inspect.Parameter.VAR_POSITIONAL]
    return (taken + rest * count)[:count]


def _return_form(fn: Callable[..., object]) -> object:
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):
        return UNKNOWN
    return _evaluated(fn, signature.return_annotation)


def _evaluated(fn: Callable[..., object], annotation: object) -> object:
    if annotation is inspect.Signature.empty:
        return UNKNOWN
    holder = types.SimpleNamespace(__annotations__={"form": annotation})
    names: dict[str, Any] = getattr(inspect.unwrap(fn), "__globals__", {})
    try:
        return unwrapped(typing.get_type_hints(holder, names)["form"])
    except Exception:
        # A name that only type checkers import, or that is local to a function: they have checked it, we cannot.
        return UNKNOWN


def _takes(form: object, cls: type[object]) -> bool:
    if not is_class(form) or getattr(form, "_is_protocol", False):
        return True
    return issubclass(cls, form)


def _members(form: object) -> tuple[object, ...]:
    return typing.get_args(form) if is_union(form) else (form,)


def _listed(form: object) -> frozenset[Key] | None:
    form = unwrapped(form)
    if typing.get_origin(form) is Literal:
        return frozenset(key_of(value) for value in typing.get_args(form))
    if form is bool:
        return frozenset(key_of(value) for value in (True, False))
    if form is type(None):
        return frozenset([key_of(None)])
    if is_class(form) and issubclass(form, Enum) and not issubclass(form, Flag):
        return frozenset(key_of(member) for member in form)
    if is_union(form):
        parts = [_listed(part) for part in typing.get_args(form)]
        known = [part for part in parts if part is not None]
        return frozenset[Key]().union(*known) if len(known) == len(parts) else None
    return None
