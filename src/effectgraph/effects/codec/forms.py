"""Type forms: what is looked through, and what each is called."""

from __future__ import annotations

import types
from collections.abc import Mapping
from enum import Enum
from typing import Final, Literal, NewType, Union, get_args, get_origin, get_type_hints

from typing_extensions import TypeIs


def bare(form: object, scope: Mapping[str, object] | None = None, *, extras: bool = False) -> object:
    """A type form with its names looked up in `scope`, and without `Annotated` unless `extras` are asked for.

    Raises whatever looking up a name raises.
    """
    holder = type("Holder", (), {"__annotations__": {"form": form}})
    # Names go in as locals: a typed dict's annotations bring globals of their own, and where the two are one, `typing`
    # keeps what a quoted name in `List["A"]` meant and gives it to every class that says the same.
    hints: dict[str, object] = get_type_hints(holder, {}, dict(scope or {}), include_extras=extras)
    return hints["form"]


def look_through(form: object) -> object:
    """The type that a `NewType` is made of, or that `Final` marks, and `NoneType` for None; any other form as it is."""
    while isinstance(form, NewType) or get_origin(form) is Final:
        form = bare(form.__supertype__ if isinstance(form, NewType) else arguments_of(form)[0])
    return types.NoneType if form is None else form


def is_class(form: object) -> TypeIs[type[object]]:
    """Whether a form is a plain class, with nothing in brackets."""
    return isinstance(form, type)


def class_of(form: object) -> type[object] | None:
    """The class of a form, with or without something in brackets; None if it is none."""
    origin: object = get_origin(form)
    if is_class(origin):
        return origin
    return form if is_class(form) else None


def arguments_of(form: object) -> tuple[object, ...]:
    """What stands in the brackets of a form."""
    return get_args(form)


def is_given(form: object) -> bool:
    """Whether a form has brackets at all: `tuple[()]` has, a bare `tuple` has not."""
    return not is_class(form) and hasattr(form, "__args__")


def is_union(form: object) -> bool:
    """Whether a form is a union, in either spelling."""
    return get_origin(form) in (Union, types.UnionType)


def name_of(form: object) -> str:
    """What people call a form. Equal forms have equal names, so the members of a union are sorted."""
    form = look_through(form)
    if form is types.NoneType:
        return "None"
    if is_union(form):
        return " | ".join(sorted(name_of(member) for member in arguments_of(form)))
    if get_origin(form) is Literal:
        return f"Literal[{', '.join(sorted(map(_literal, arguments_of(form))))}]"
    cls = class_of(form)
    if cls is None:
        return str(form).removeprefix("typing.")
    inside = ", ".join("..." if part is ... else name_of(part) for part in arguments_of(form))
    return f"{cls.__name__}[{inside or '()'}]" if is_given(form) else cls.__name__


def full_name_of(form: object) -> str:
    """A form's name with the module of its class, for two that people call the same."""
    cls = class_of(form)
    return name_of(form) if cls is None else f"{cls.__module__}.{cls.__qualname__}[{name_of(form)}]"


def _literal(value: object) -> str:
    return f"{type(value).__name__}.{value.name}" if isinstance(value, Enum) else repr(value)
