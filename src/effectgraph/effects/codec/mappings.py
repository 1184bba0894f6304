"""Dicts and Counters, written as objects."""

from __future__ import annotations

from collections import Counter
from typing import Final

import attrs

from effectgraph.effects.codec.forms import arguments_of
from effectgraph.effects.codec.keys import Key, key_of
from effectgraph.effects.codec.shapes import (
    OBJECT,
    Json,
    Misfit,
    Read,
    Shape,
    Shapes,
    Write,
    is_not,
    step_to_key,
    unexpected,
)

_NO_KEY: Final = object()


@attrs.frozen
class Entries:
    """The hooks of a dict's keys and values. `read` gives a plain dict, whatever the class of the whole."""

    write: Write
    read: Read


def dict_shape(form: object, shapes: Shapes) -> Shape:
    """A dict is an object in the dict's own order."""
    key_form, part = arguments_of(form)
    key, item = key_of(key_form, shapes), shapes.of(part, "[]")
    name = f"dict[{key.shape.name}, {item.name}]"
    entries = entries_of(name, dict, key, item)
    outline: Json = {"dict": [key.shape.outline, item.outline]}
    return Shape(name, frozenset({dict}), OBJECT, outline, entries.write, entries.read)


def counter_shape(form: object, shapes: Shapes) -> Shape:
    """A Counter is an object of its counts, those of zero and below too."""
    (key_form,) = arguments_of(form)
    key, count = key_of(key_form, shapes), shapes.of(int, "[]")
    name = f"Counter[{key.shape.name}]"
    entries = entries_of(name, Counter, key, count)
    read_entries = entries.read

    def read(raw: Json, _: object) -> Counter[object]:
        return Counter(read_entries(raw, None))

    return Shape(name, frozenset({Counter}), OBJECT, {"Counter": key.shape.outline}, entries.write, read)


def entries_of(name: str, cls: type[object], key: Key, item: Shape) -> Entries:
    """The entries of a class of dicts. Only values of exactly this class are written."""
    write_key, read_key, step = key.write, key.read, key.step
    write_item, read_item = item.write, item.read

    def write(value: dict[object, object]) -> Json:
        if type(value) is not cls:
            raise is_not(name, value)
        written: dict[str, Json] = {}
        for each_key, each in value.items():
            text = None
            try:
                text = write_key(each_key)
                written[text] = write_item(each)
            except Misfit as misfit:
                misfit.at(step_to_key(each_key) if text is None else step(text))
                raise
        if len(written) != len(value):
            raise Misfit(name, "has two keys that are written alike")
        return written

    def read(raw: Json, _: object) -> dict[object, object]:
        if type(raw) is not dict:
            raise unexpected(name, raw)
        values: dict[object, object] = {}
        for text, each in raw.items():
            each_key = _NO_KEY
            try:
                each_key = read_key(text)
                values[each_key] = read_item(each, None)
            except Misfit as misfit:
                misfit.at(step_to_key(text) if each_key is _NO_KEY else step(text))
                raise
        if len(values) != len(raw):
            raise Misfit(name, "two keys are equal")
        return values

    return Entries(write, read)
