"""Dicts, written as objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

from effectgraph.effects.codec.containers import refuse_unhashable
from effectgraph.effects.codec.forms import arguments_of
from effectgraph.effects.codec.shapes import (
    BOOL,
    INT,
    OBJECT,
    TEXT,
    Json,
    Misfit,
    Read,
    Shape,
    Shapes,
    Write,
    is_not,
    shown,
    step_to,
    step_to_key,
    unexpected,
)

WriteKey: TypeAlias = Callable[[Any], str]
ReadKey: TypeAlias = Callable[[str], object]

_KEY: Final = "[key]"


def dict_shape(form: object, shapes: Shapes) -> Shape:
    """A dict is an object in the dict's own order. A key is an int, a bool, or of a type that is written as a text."""
    key_form, part = arguments_of(form)
    key = shapes.of(key_form, _KEY)
    item = shapes.of(part, "[]")
    name = f"dict[{key.name}, {item.name}]"
    write_key, read_key = _key_hooks(key, key_form, shapes)
    write_item, read_item = item.write, item.read

    def write(value: dict[object, object]) -> Json:
        if type(value) is not dict:
            raise is_not(name, value)
        written: dict[str, Json] = {}
        for each_key, each in value.items():
            text = None
            try:
                text = write_key(each_key)
                written[text] = write_item(each)
            except Misfit as misfit:
                misfit.at(step_to_key(each_key) if text is None else step_to(each_key))
                raise
        if len(written) != len(value):
            raise Misfit(name, "has two keys that are written alike")
        return written

    def read(raw: Json, _: object) -> dict[object, object]:
        if type(raw) is not dict:
            raise unexpected(name, raw)
        values: dict[object, object] = {}
        for text, each in raw.items():
            each_key = None
            try:
                each_key = read_key(text)
                values[each_key] = read_item(each, None)
            except Misfit as misfit:
                misfit.at(step_to_key(text) if each_key is None else step_to(text))
                raise
        if len(values) != len(raw):
            raise Misfit(name, "two keys are equal")
        return values

    outline: Json = {"dict": [key.outline, item.outline]}
    return Shape(name, frozenset({dict}), OBJECT, outline, write, read)


def _key_hooks(key: Shape, form: object, shapes: Shapes) -> tuple[WriteKey, ReadKey]:
    refuse_unhashable(key, form, _KEY, shapes)
    if key.raws == TEXT:
        return _text_key_hooks(key)
    if key.raws == INT:
        return _int_key_hooks(key.write, key.read)
    if key.raws == BOOL:
        return _bool_key_hooks(key.write, key.read)
    raise shapes.refuse(form, "it is not written as a text, an integer or a bool, so it can be no key", _KEY)


def _text_key_hooks(key: Shape) -> tuple[WriteKey, ReadKey]:
    read_text = key.read

    def read(text: str) -> object:
        value = read_text(text, None)
        try:
            hash(value)
        except TypeError as error:
            raise Misfit(key.name, f"it can be no key: {error}") from None
        return value

    return cast("WriteKey", key.write), read


def _int_key_hooks(write: Write, read: Read) -> tuple[WriteKey, ReadKey]:
    def write_int(value: object) -> str:
        return str(write(value))

    def read_int(text: str) -> object:
        try:
            number = int(text)
        except ValueError:
            number = None
        if number is None or str(number) != text:
            raise Misfit("int", f"expected an integer as key, found {shown(text)}")
        return read(number, None)

    return write_int, read_int


def _bool_key_hooks(write: Write, read: Read) -> tuple[WriteKey, ReadKey]:
    def write_bool(value: object) -> str:
        return "true" if write(value) else "false"

    def read_bool(text: str) -> object:
        if text not in ("true", "false"):
            raise Misfit("bool", f'expected "true" or "false" as key, found {shown(text)}')
        return read(text == "true", None)

    return write_bool, read_bool
