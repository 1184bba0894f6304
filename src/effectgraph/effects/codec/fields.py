"""The fields of a class that is a record: an attrs class, a dataclass or a NamedTuple."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, cast

import attrs

from effectgraph.effects.codec.forms import class_of
from effectgraph.effects.codec.hints import Hints
from effectgraph.effects.codec.shapes import Shapes, step_to

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_WITH_CONTENT: Final = (int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset)
_ANY_NUMBER: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_WITHOUT_NAME: Final = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY)


@attrs.frozen
class Field:
    """One field. `argument` is the parameter of the constructor that takes it; None if none does.

    `fallback` is the type that it was made with where it has no annotation.
    """

    name: str
    argument: str | None
    has_default: bool
    fallback: object


def is_record(form: object) -> bool:
    """Whether a form is a record. A plain subclass of one is none: it may have state that no field holds."""
    cls = class_of(form)
    return cls is not None and (
        "__attrs_attrs__" in vars(cls) or "__dataclass_fields__" in vars(cls) or is_named_tuple(cls)
    )


def is_named_tuple(cls: type[object]) -> bool:
    """Whether a class is a NamedTuple itself."""
    return "_fields" in vars(cls) and issubclass(cls, tuple)


def fields_of(form: object, shapes: Shapes) -> tuple[Field, ...]:
    """The fields of a record, in their order. Raises `UnsupportedType` if its constructor does not fit them."""
    cls = class_of(form)
    assert cls is not None
    if is_named_tuple(cls):
        return tuple(_named_tuple_fields(cls))
    content = next((base for base in cls.__mro__ if base in _WITH_CONTENT), None)
    if content is not None:
        raise shapes.refuse(form, f"it is a {content.__name__} as well, and only its fields would come back")
    fields = tuple(_attrs_fields(cls) if "__attrs_attrs__" in vars(cls) else _dataclass_fields(cls))
    _check_constructor(cls, form, fields, shapes)
    return fields


def hints_of(form: object, shapes: Shapes) -> Hints:
    """What the fields of a class are declared as. Raises `UnsupportedType` if its type variables cannot be filled."""
    try:
        return Hints(form)
    except Exception as error:
        raise shapes.refuse(form, f"its type variables cannot be filled in ({error})") from error


def declared_form(hints: Hints, name: str, fallback: object, shapes: Shapes, *, extras: bool = False) -> object:
    """The declared type of a field. Raises `UnsupportedType` if it has none, or one that cannot be looked up."""
    annotation = hints.annotation(name, fallback)
    if annotation is attrs.NOTHING:
        raise shapes.refuse("a field without a type", "give it one", step_to(name))
    try:
        return hints.resolved(name, annotation, extras=extras)
    except Exception as error:
        why = f"it cannot be looked up ({error}); name a type that the module of the class can see"
        raise shapes.refuse(str(annotation), why, step_to(name)) from error


def _named_tuple_fields(cls: type[object]) -> Iterator[Field]:
    names: tuple[str, ...] = vars(cls)["_fields"]
    defaults: dict[str, object] = vars(cls)["_field_defaults"]
    for name in names:
        yield Field(name, name, name in defaults, attrs.NOTHING)


def _attrs_fields(cls: type[object]) -> Iterator[Field]:
    for field in attrs.fields(cast("type[attrs.AttrsInstance]", cls)):
        argument = field.alias if field.init else None
        yield Field(field.name, argument, field.default is not attrs.NOTHING, field.type or attrs.NOTHING)


def _dataclass_fields(cls: type[object]) -> Iterator[Field]:
    if not dataclasses.is_dataclass(cls):
        return
    # Where pydantic makes the class, its own description of a field stands in the place of the default.
    described: dict[str, FieldInfo] = vars(cls).get("__pydantic_fields__", {})
    for field in dataclasses.fields(cls):
        has_default = not (field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING)
        if field.name in described:
            has_default = not described[field.name].is_required()
        yield Field(field.name, field.name if field.init else None, has_default, field.type)


def _check_constructor(cls: type[object], form: object, fields: tuple[Field, ...], shapes: Shapes) -> None:
    parameters = inspect.signature(cls).parameters.values()
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters):
        taken = {field.argument for field in fields}
    else:
        taken = {each.name for each in parameters if each.kind not in _WITHOUT_NAME}
    arguments = {field.argument for field in fields if field.argument is not None}
    lost = sorted(arguments - taken)
    if lost:
        raise shapes.refuse(form, f"its constructor does not take field {lost[0]} by name")
    needed = sorted(each.name for each in parameters if each.default is each.empty and each.kind not in _ANY_NUMBER)
    foreign = [name for name in needed if name not in arguments]
    if foreign:
        raise shapes.refuse(form, f"its constructor needs {foreign[0]}, which is no field; make it one")
