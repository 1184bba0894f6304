"""Names in type forms looked up, and type variables filled in."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from itertools import chain, repeat, zip_longest
from operator import is_
from types import UnionType
from typing import Any, Self, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from typing_extensions import NoDefault

Scope: TypeAlias = Mapping[str, object]
"""What names mean in one place."""

Bound: TypeAlias = Mapping[object, object]
"""What stands in the place of type variables, and of `Self`."""


def bare(form: object, scope: Scope | None = None, *, extras: bool = False) -> object:
    """A type form with its names looked up in `scope`, and without `Annotated` unless `extras` are asked for.

    Raises whatever looking up a name raises.
    """
    holder = type("Holder", (), {"__annotations__": {"form": form}})
    # Names go in as locals: a typed dict's annotations bring globals of their own, and where the two are one, `typing`
    # keeps what a quoted name in `List["A"]` meant and gives it to every class that says the same.
    hints: dict[str, object] = get_type_hints(holder, {}, dict(scope or {}), include_extras=extras)
    return hints["form"]


def names_in(module: str) -> dict[str, object]:
    """What names mean at the top of a module; nothing for a module that is not loaded."""
    return dict(vars(sys.modules[module])) if module in sys.modules else {}


def parameters_of(generic: object) -> tuple[object, ...]:
    """The type variables of a generic class or alias, in the order in which they are filled in."""
    found: object = getattr(generic, "__parameters__", ())
    return cast("tuple[object, ...]", found) if isinstance(found, tuple) else ()


def bound_by(parameters: tuple[object, ...], arguments: tuple[object, ...], scope: Scope) -> dict[object, object]:
    """The types that stand for type variables: what is in the brackets, then the variables' own defaults.

    Raises `TypeError` for a variable that stands for several types, and whatever looking up a default raises.
    """
    for each in parameters:
        if not isinstance(each, TypeVar):
            raise TypeError(f"{each} stands for several types at once, of which a codec knows nothing")
    bound: dict[object, object] = {}
    for parameter, argument in zip_longest(parameters, arguments, fillvalue=NoDefault):
        default: object = getattr(parameter, "__default__", NoDefault)
        # Python puts a default in the brackets as it was written, other variables and all.
        if default is not NoDefault and argument in (NoDefault, default):
            bound[parameter] = filled(bare(default, scope), bound)
        elif argument is not NoDefault:
            bound[parameter] = argument
    return bound


def filled(form: object, bound: Bound) -> object:
    """A form in which what is bound stands in the place of type variables and of `Self`."""
    if isinstance(form, TypeVar) or form is Self:
        return bound.get(form, form)
    origin: Any = get_origin(form)
    arguments: tuple[object, ...] = get_args(form)
    if not arguments:
        return form
    inside = _arguments_filled(origin, arguments, bound)
    if all(map(is_, inside, arguments)):
        return form
    generic = Union if origin is UnionType else origin
    made: object = generic[inside[0] if len(inside) == 1 else inside]
    return made


def _arguments_filled(origin: object, arguments: tuple[object, ...], bound: Bound) -> tuple[object, ...]:
    """What stands in the brackets of a generic type, filled in.

    Python puts a variable's default there as it was written: the variables in it are those of `origin`.
    """
    parameters = parameters_of(origin)
    own: dict[object, object] = {}
    inside: list[object] = []
    for argument, parameter in zip(arguments, chain(parameters, repeat(None)), strict=False):
        default: object = getattr(parameter, "__default__", NoDefault)
        made = filled(argument, own if default is not NoDefault and argument == default else bound)
        own[parameter] = made
        inside.append(made)
    return tuple(inside)
