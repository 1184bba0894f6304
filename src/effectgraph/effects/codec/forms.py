"""Type forms: what is looked through, and what each is called."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Final, Literal, NewType, Union, cast, get_args, get_origin

from typing_extensions import TypeAliasType, TypeIs

from effectgraph.effects.codec.limits import MAX_DEPTH
from effectgraph.effects.codec.variables import bare, bound_by, filled, names_in

# Until Python 3.14 there are two classes of them.
_ALIASES: Final = cast(
    "tuple[type[TypeAliasType], ...]", (TypeAliasType, getattr(typing, "TypeAliasType", TypeAliasType))
)


def look_through(form: object) -> object:
    """The type that a `NewType` or an alias stands for, or that `Final` marks; `NoneType` for None.

    Any other form comes back as it is, and so does one that nothing can be found behind.
    """
    met: list[object] = []
    while is_opened(form):
        if form in met or len(met) > MAX_DEPTH:
            return met[0]
        met.append(form)
        try:
            form = opened(form)
        except Exception:
            return form
    return types.NoneType if form is None else form


def is_opened(form: object) -> bool:
    """Whether a form is looked through: a `NewType`, an alias, `Final[...]`."""
    return isinstance(form, NewType) or get_origin(form) is Final or alias_of(form) is not None


def opened(form: object) -> object:
    """What stands right behind a form that is looked through. Raises whatever looking up its names raises."""
    if isinstance(form, NewType):
        return bare(form.__supertype__, names_in(form.__module__))
    alias = alias_of(form)
    if alias is None:
        return bare(arguments_of(form)[0])
    parameters: tuple[object, ...] = alias.__type_params__
    own = {alias.__name__: alias, **{str(getattr(each, "__name__", "")): each for each in parameters}}
    scope = {**names_in(alias.__module__ or ""), **own}
    return filled(bare(alias.__value__, scope), bound_by(parameters, arguments_of(form), scope))


def alias_of(form: object) -> TypeAliasType | None:
    """The alias that a form names, with or without something in brackets; None for any other form."""
    for alias in (form, get_origin(form)):
        if isinstance(alias, _ALIASES):
            return alias
    return None


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
    """What people call a form. Equal forms have equal names, so the members of a union are sorted.

    What is looked through has the name of what is behind it, except where that leads back to it, as in `list[Tree]`.
    """
    if is_opened(form):
        return _name_behind(form)
    if form is None or form is types.NoneType:
        return "None"
    if is_union(form):
        return " | ".join(sorted(name_of(member) for member in arguments_of(form)))
    if get_origin(form) is Literal:
        return f"Literal[{', '.join(sorted(map(_literal, arguments_of(form))))}]"
    cls = class_of(form)
    if cls is None:
        return str(form).removeprefix("typing.").removeprefix("typing_extensions.")
    return _generic(cls).__name__ + _brackets(form)


def full_name_of(form: object) -> str:
    """A form's name with the module of its class, for two that people call the same."""
    cls = class_of(form)
    if cls is None:
        return name_of(form)
    return f"{cls.__module__}.{_generic(cls).__qualname__}[{name_of(form)}]"


def _generic(cls: type[object]) -> type[object]:
    """The generic class of a class that pydantic has made of it and of what is in its brackets; else the class."""
    origin: object = _pydantic_brackets(cls).get("origin")
    return origin if is_class(origin) else cls


def _pydantic_brackets(cls: object) -> Mapping[str, object]:
    # The class has a name as well, but that changes with the version of pydantic.
    found: Mapping[str, object] | None = vars(cls).get("__pydantic_generic_metadata__") if is_class(cls) else None
    return found or {}


def _name_behind(form: object) -> str:
    named = _named(form)
    own = str(form) if named is None else named.__name__ + _brackets(form)
    try:
        behind = opened(form)
        return own if _leads_to(behind, named) else name_of(behind)
    except Exception:
        # Whoever needs what is behind it says why that cannot be found.
        return own


def _leads_to(form: object, named: object) -> bool:
    """Whether a `NewType` or an alias stands anywhere in a form, or behind what stands in it."""
    met: list[object] = []
    waiting = [form]
    while waiting:
        each = waiting.pop()
        waiting.extend(arguments_of(each))
        if is_opened(each) and _named(each) not in met:
            met.append(_named(each))
            waiting.append(opened(each))
    return named is not None and named in met


def _named(form: object) -> NewType | TypeAliasType | None:
    return form if isinstance(form, NewType) else alias_of(form)


def _brackets(form: object) -> str:
    inside = arguments_of(form) or cast("tuple[object, ...]", _pydantic_brackets(form).get("args", ()))
    if not inside and not is_given(form):
        return ""
    return f"[{', '.join('...' if part is ... else name_of(part) for part in inside) or '()'}]"


def _literal(value: object) -> str:
    return f"{type(value).__name__}.{value.name}" if isinstance(value, Enum) else repr(value)
