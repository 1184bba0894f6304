"""The fields of an attrs class or dataclass, read in one way for both."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, cast

import attrs
from typing_extensions import TypeIs

from effectgraph.effects.codec.hints import Hints


@attrs.frozen
class Default:
    """A field's default: its value, or, if `computed`, what makes the value anew for each object."""

    value: object
    computed: bool = False


@attrs.frozen
class DeclaredField:
    """A field as its class declares it; `default` is None if there is none."""

    name: str
    default: Default | None
    converted: bool = False


def is_class(form: object, /) -> TypeIs[type[object]]:
    """Whether a type form is a plain class. `Any` is one for Python, and tells nothing."""
    return isinstance(form, type) and form is not Any


def is_declared(cls: object, /) -> bool:
    """Whether a class is itself an attrs class or a dataclass; a plain subclass of one may have fields nobody sees."""
    return is_class(cls) and ("__attrs_attrs__" in vars(cls) or "__dataclass_fields__" in vars(cls))


def is_frozen(cls: type[object], /) -> bool:
    """Whether the objects of a declared class refuse to have a field set."""
    if "__attrs_attrs__" in vars(cls):
        return attrs.inspect(cls).is_frozen
    return bool(vars(cls)["__dataclass_params__"].frozen)


def declared_fields(cls: type[object], /) -> tuple[DeclaredField, ...]:
    """The fields of a declared class, in their order."""
    if "__attrs_attrs__" in vars(cls):
        return tuple(_attrs_fields(cls))
    return tuple(_dataclass_fields(cls))


def type_of(form: object, field: str, /) -> object:
    """The type of a field with its `Annotated`, names looked up and type variables filled in as in `form`.

    Raises `TypeError` if it has none, and whatever looking up its names raises.
    """
    hints = Hints(form)
    annotation = hints.annotation(field)
    if annotation is attrs.NOTHING:
        raise TypeError("it has none")
    return hints.resolved(field, annotation, extras=True)


def _attrs_fields(cls: type[object]) -> Iterator[DeclaredField]:
    factory = cast("type[object]", attrs.Factory)
    for field in attrs.fields(cast("type[attrs.AttrsInstance]", cls)):
        default = None if field.default is attrs.NOTHING else Default(field.default, isinstance(field.default, factory))
        yield DeclaredField(field.name, default, field.converter is not None)


def _dataclass_fields(cls: type[object]) -> Iterator[DeclaredField]:
    if not dataclasses.is_dataclass(cls):
        return
    for field in dataclasses.fields(cls):
        default: Default | None = None
        if field.default is not dataclasses.MISSING:
            default = Default(field.default)
        elif field.default_factory is not dataclasses.MISSING:
            default = Default(field.default_factory, computed=True)
        yield DeclaredField(field.name, default)
