"""Keys of dicts, written as texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

import attrs

from effectgraph.effects.codec import wire
from effectgraph.effects.codec.containers import refuse_unhashable
from effectgraph.effects.codec.limits import MAX_INT_DIGITS
from effectgraph.effects.codec.shapes import (
    INT,
    TEXT,
    Hashing,
    Misfit,
    Read,
    Shape,
    Shapes,
    Write,
    shown,
    step_to,
    step_to_json,
)

WriteKey: TypeAlias = Callable[[Any], str]
ReadKey: TypeAlias = Callable[[str], object]
StepTo: TypeAlias = Callable[[str], str]

_NO_KEY: Final = (
    "a key is a text, a number, a date, an enum and the like, or a tuple, frozenset or frozen class of these that does "
    "not refer to itself"
)

KEY: Final = "[key]"
"""The step to the keys of a type."""


@attrs.frozen
class Key:
    """The shape of keys, the hooks that write and read their texts, and the step to what stands under such a text."""

    shape: Shape
    write: WriteKey
    read: ReadKey
    step: StepTo


def key_shape(form: object, shapes: Shapes) -> Shape:
    """The shape of a type whose values can be keys: they have a hash, and equal ones have one JSON form."""
    shape = shapes.of(form, KEY)
    refuse_unhashable(shape, form, KEY, shapes)
    if shape.hashing is not Hashing.BY_VALUE:
        raise shapes.refuse(form, _NO_KEY, KEY)
    return shape


def key_of(form: object, shapes: Shapes) -> Key:
    """Keys as texts. One whose JSON form is a text is that text; of any other it is the JSON: `7`, `[1,"b"]`."""
    shape = key_shape(form, shapes)
    if shape.raws == TEXT:
        return Key(shape, cast("WriteKey", shape.write), _text_reader(shape), step_to)
    if shape.raws == INT:
        return Key(shape, _int_writer(shape.write), _int_reader(shape.read), step_to_json)
    return Key(shape, _json_writer(shape.write), _json_reader(shape), step_to_json)


def hashed(name: str, key: object) -> object:
    """A key that was read, if it has a hash: some have none though their class has, such as a signalling NaN."""
    try:
        hash(key)
    except TypeError as error:
        raise _unhashable(name, error) from None
    return key


def _text_reader(shape: Shape) -> ReadKey:
    name, read = shape.name, shape.read

    def read_text(text: str) -> object:
        key = read(text, None)
        try:
            hash(key)
        except TypeError as error:
            raise _unhashable(name, error) from None
        return key

    return read_text


def _int_writer(write: Write) -> WriteKey:
    return lambda value: str(write(value))


def _int_reader(read: Read) -> ReadKey:
    def read_int(text: str) -> object:
        try:
            number = int(text) if len(text.removeprefix("-")) <= MAX_INT_DIGITS else None
        except ValueError:
            number = None
        if number is None or str(number) != text:
            raise Misfit("int", f"expected an integer as key, found {shown(text)}")
        return read(number, None)

    return read_int


def _json_writer(write: Write) -> WriteKey:
    # The keys of objects in it are sorted, so that it is one text in canonical bytes and in others.
    return lambda value: wire.write_sorted(write(value)).decode()


def _json_reader(shape: Shape) -> ReadKey:
    name, read = shape.name, shape.read

    def read_json(text: str) -> object:
        data = text.encode()
        try:
            raw = wire.read(data)
        except (Misfit, RecursionError):
            raise Misfit(name, f"expected the JSON of {name} as key, found {shown(text)}") from None
        if wire.write_sorted(raw) != data:
            raise Misfit(name, f"expected the JSON of {name} as key, as it is written here, found {shown(text)}")
        return hashed(name, read(raw, None))

    return read_json


def _unhashable(name: str, error: TypeError) -> Misfit:
    return Misfit(name, f"it can be no key: {error}")
