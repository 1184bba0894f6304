"""OrderedDicts, written as arrays of pairs: two are equal only in the same order, so no sorting may touch them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from effectgraph.effects.codec import wire
from effectgraph.effects.codec.forms import arguments_of
from effectgraph.effects.codec.keys import hashed, key_shape
from effectgraph.effects.codec.shapes import (
    ARRAY,
    Json,
    Misfit,
    Shape,
    Shapes,
    is_not,
    step_to,
    step_to_json,
    step_to_key,
    unexpected,
)

_NO_KEY: Final = object()


def ordered_dict_shape(form: object, shapes: Shapes) -> Shape:
    """An OrderedDict is an array of keys and values, two by two: `[["b",1],["a",2]]`."""
    key_form, part = arguments_of(form)
    key = key_shape(key_form, shapes)
    item = shapes.of(part, "[]")
    name = f"OrderedDict[{key.name}, {item.name}]"
    write_key, read_key, write_item, read_item = key.write, key.read, item.write, item.read

    def write(value: OrderedDict[object, object]) -> Json:
        if type(value) is not OrderedDict:
            raise is_not(name, value)
        written: dict[bytes, Json] = {}
        for each_key, each in value.items():
            text = None
            try:
                raw_key = write_key(each_key)
                text = wire.write_sorted(raw_key)
                written[text] = [raw_key, write_item(each)]
            except Misfit as misfit:
                misfit.at(step_to_key(each_key) if text is None else _step_to(text))
                raise
        if len(written) != len(value):
            raise Misfit(name, "has two keys that are written alike")
        return [*written.values()]

    def read(raw: Json, _: object) -> OrderedDict[object, object]:
        if type(raw) is not list:
            raise unexpected(name, raw)
        values: OrderedDict[object, object] = OrderedDict()
        for index, pair in enumerate(raw):
            if type(pair) is not list or len(pair) != 2:
                misfit = Misfit(name, "expected a key and its value")
                misfit.at(f"[{index}]")
                raise misfit
            each_key = _NO_KEY
            try:
                each_key = hashed(key.name, read_key(pair[0], None))
                values[each_key] = read_item(pair[1], None)
            except Misfit as misfit:
                text = wire.write_sorted(pair[0])
                misfit.at(_step_to_key(text) if each_key is _NO_KEY else _step_to(text))
                raise
        if len(values) != len(raw):
            raise Misfit(name, "two keys are equal")
        return values

    return Shape(name, frozenset({OrderedDict}), ARRAY, {"OrderedDict": [key.outline, item.outline]}, write, read)


def _step_to(text: bytes) -> str:
    raw_key = wire.read(text)
    return step_to(raw_key) if type(raw_key) is str else step_to_json(text.decode())


def _step_to_key(text: bytes) -> str:
    raw_key = wire.read(text)
    return step_to_key(raw_key if type(raw_key) is str else text.decode())
