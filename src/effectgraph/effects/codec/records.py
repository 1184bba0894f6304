"""Attrs classes, dataclasses and NamedTuples, written as objects of their fields."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from operator import attrgetter, is_
from typing import TypeAlias

import attrs

from effectgraph.effects.codec.fields import Field, declared_form, fields_of, hints_of, is_named_tuple
from effectgraph.effects.codec.forms import class_of, name_of
from effectgraph.effects.codec.shapes import (
    Definition,
    Hashing,
    Json,
    Misfit,
    Read,
    Shape,
    Shapes,
    Write,
    is_not,
    step_to,
    unexpected,
)

Make: TypeAlias = Callable[[dict[str, object]], object]
"""Makes an object of the values of its fields."""


@attrs.frozen
class Part:
    """A field of a record, and the shape of its values."""

    field: Field
    shape: Shape


def record_shape(form: object, shapes: Shapes) -> Shape:
    """An object is its fields by name, those outside the constructor too. A missing one that has a default takes it.

    The constructor is called, so validators run; then every stored field is set to what was stored, whatever converters
    and the like made of it. A subclass is refused: its own fields would be lost.
    """
    cls = class_of(form)
    assert cls is not None
    name = name_of(form)

    def make() -> Definition:
        hints = hints_of(form, shapes)
        fields = fields_of(form, shapes)
        inside: dict[str, Shape] = {}
        # Classes are numbered as they are met, so that is by name: the order of fields is nothing to the schema.
        for field in sorted(fields, key=lambda field: field.name):
            declared = declared_form(hints, field.name, field.fallback, shapes)
            inside[field.name] = shapes.of(declared, step_to(field.name))
        parts = [Part(field, inside[field.name]) for field in fields]
        outline: Json = {"name": name, "fields": {part.field.name: part.shape.outline for part in parts}}
        maker = _named_tuple_maker(cls) if is_named_tuple(cls) else _maker(cls, parts)
        # Without a hash of its own a class has that of the object's place in memory, which does not come back.
        by_value = cls.__hash__ is not object.__hash__
        hashing = min([Hashing.BY_VALUE, *(part.shape.hashing for part in parts)]) if by_value else Hashing.OWN
        return Definition(
            outline, _writer(name, cls, parts), fields_reader(name, parts, maker), max(hashing, Hashing.OWN)
        )

    return shapes.define(form, frozenset({cls}), make)


def _writer(name: str, cls: type[object], parts: list[Part]) -> Write:
    fields: list[tuple[str, Write]] = [(part.field.name, part.shape.write) for part in parts]

    def write(value: object) -> Json:
        if type(value) is not cls:
            raise is_not(name, value)
        written: dict[str, Json] = {}
        for field, write_field in fields:
            try:
                written[field] = write_field(getattr(value, field))
            except Misfit as misfit:
                misfit.at(step_to(field))
                raise
            except AttributeError:
                raise Misfit(name, f"its field {field} was never set") from None
        return written

    return write


def fields_reader(name: str, parts: list[Part], make: Make) -> Read:
    """The hook that reads an object of fields, and has `make` called with their values."""
    fields = [(part.field.name, part.shape.read, part.field.has_default) for part in parts]
    known = {part.field.name for part in parts}

    def read(raw: Json, _: object) -> object:
        if type(raw) is not dict:
            raise unexpected(name, raw)
        stored: dict[str, object] = {}
        for field, read_field, has_default in fields:
            if field in raw:
                try:
                    stored[field] = read_field(raw[field], None)
                except Misfit as misfit:
                    misfit.at(step_to(field))
                    raise
            elif not has_default:
                raise missing(name, field)
        if len(stored) != len(raw):
            raise unknown(name, raw, known)
        return make(stored)

    return read


def missing(name: str, field: str) -> Misfit:
    """The misfit of an object in which a field that has no default is not there."""
    misfit = Misfit(name, f"is missing, and {name} has no default for it")
    misfit.at(step_to(field))
    return misfit


def unknown(name: str, keys: Iterable[str], known: Container[str]) -> Misfit:
    """The misfit of an object that has a key which is no field."""
    misfit = Misfit(name, f"is no field of {name}")
    misfit.at(step_to(next(key for key in keys if key not in known)))
    return misfit


def _maker(cls: type[object], parts: list[Part]) -> Make:
    name = cls.__name__
    names = [part.field.name for part in parts]
    arguments = [(part.field.name, part.field.argument) for part in parts if part.field.argument is not None]
    as_named = all(part.field.name == part.field.argument for part in parts)
    construct: Callable[..., object] = cls
    set_field = object.__setattr__
    get_fields: Callable[[object], Iterable[object]] | None = None
    if len(arguments) == len(names) > 1:
        get_fields = attrgetter(*names)

    def make(stored: dict[str, object]) -> object:
        taken = stored if as_named else {argument: stored[field] for field, argument in arguments if field in stored}
        try:
            value = construct(**taken)
        except Exception as error:
            raise Misfit(name, f"{name} refuses its fields: {type(error).__name__}: {error}") from error
        if type(value) is not cls:
            raise Misfit(name, f"the constructor of {name} made a {type(value).__name__}")
        if len(stored) == len(names) and get_fields and all(map(is_, get_fields(value), stored.values())):
            return value
        for field, each in stored.items():
            set_field(value, field, each)
        return value

    return make


def _named_tuple_maker(cls: type[object]) -> Make:
    construct: Callable[..., object] = cls
    return lambda stored: construct(**stored)
