"""Typed dicts, written as objects in the dict's own order."""

from __future__ import annotations

from typing import Never, NotRequired, Required, get_origin

import attrs
from typing_extensions import NoExtraItems, ReadOnly, is_typeddict

from effectgraph.effects.codec.fields import declared_form, hints_of
from effectgraph.effects.codec.forms import arguments_of, class_of, name_of
from effectgraph.effects.codec.records import missing, unknown
from effectgraph.effects.codec.shapes import (
    Definition,
    Json,
    Misfit,
    Shape,
    Shapes,
    is_not,
    step_to,
    unexpected,
)
from effectgraph.effects.codec.variables import bare


def is_typed_dict(form: object) -> bool:
    """Whether a form is a typed dict."""
    cls = class_of(form)
    return cls is not None and is_typeddict(cls)


def typed_dict_shape(form: object, shapes: Shapes) -> Shape:
    """A typed dict is its keys; those that are not required may be absent, and are absent again afterwards."""
    name = name_of(form)

    def make() -> Definition:
        cls = class_of(form)
        hints = hints_of(form, shapes)
        if getattr(cls, "__extra_items__", NoExtraItems) not in (NoExtraItems, None, Never):
            raise shapes.refuse(
                form, "it takes keys that are not written down (extra_items); give them a dict of their own"
            )
        names: dict[str, object] = getattr(cls, "__annotations__", {})
        required: set[str] = set()
        parts: dict[str, Shape] = {}
        for key in sorted(names):
            declared = declared_form(hints, key, attrs.NOTHING, shapes, extras=True)
            must, inner = _unqualified(declared, key in getattr(cls, "__required_keys__", ()))
            parts[key] = shapes.of(bare(inner), step_to(key))
            if must:
                required.add(key)
        return _definition(name, parts, required)

    return shapes.define(form, frozenset({dict}), make)


def _unqualified(form: object, required: bool) -> tuple[bool, object]:
    """Whether a key is required, and its type. The class itself cannot tell where annotations are postponed."""
    while (qualifier := get_origin(form)) in (Required, NotRequired, ReadOnly):
        if qualifier is not ReadOnly:
            required = qualifier is Required
        (form,) = arguments_of(form)
    return required, form


def _definition(name: str, parts: dict[str, Shape], required: set[str]) -> Definition:
    writers = {key: part.write for key, part in parts.items()}
    readers = {key: part.read for key, part in parts.items()}

    def write(value: dict[str, object]) -> Json:
        if type(value) is not dict:
            raise is_not(name, value)
        check(value)
        written: dict[str, Json] = {}
        for key, each in value.items():
            if type(key) is not str:
                raise Misfit(name, f"has a key of type {type(key).__name__}")
            try:
                written[key] = writers[key](each)
            except Misfit as misfit:
                misfit.at(step_to(key))
                raise
        return written

    def read(raw: Json, _: object) -> dict[str, object]:
        if type(raw) is not dict:
            raise unexpected(name, raw)
        check(raw)
        values: dict[str, object] = {}
        for key, each in raw.items():
            try:
                values[key] = readers[key](each, None)
            except Misfit as misfit:
                misfit.at(step_to(key))
                raise
        return values

    def check(keys: dict[str, object] | dict[str, Json]) -> None:
        if not keys.keys() <= parts.keys():
            raise unknown(name, keys, parts)
        if not required <= keys.keys():
            raise missing(name, min(required - keys.keys()))

    fields: dict[str, Json] = {key: [part.outline, key in required] for key, part in parts.items()}
    return Definition({"name": name, "keys": fields}, write, read)
