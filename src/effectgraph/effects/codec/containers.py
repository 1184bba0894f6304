"""Lists, deques, tuples and sets, written as arrays."""

from __future__ import annotations

import sys
import typing
from collections import deque
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Final, get_origin

import typing_extensions

from effectgraph.effects.codec.forms import arguments_of, class_of, is_given
from effectgraph.effects.codec.shapes import (
    ARRAY,
    OBJECT,
    Hashing,
    Json,
    Misfit,
    Read,
    Shape,
    Shapes,
    Write,
    has_hash,
    is_not,
    step_to,
    unexpected,
)
from effectgraph.effects.codec.wire import write_sorted

_UNPACK: Final = (typing.Unpack, typing_extensions.Unpack)
_MAXLEN: Final = "maxlen"
_ITEMS: Final = "items"


def has_origin(*origins: type[object]) -> Callable[[object], bool]:
    """A predicate: whether a form is one of these classes with something in brackets."""
    return lambda form: is_given(form) and class_of(form) in origins


def list_shape(form: object, shapes: Shapes) -> Shape:
    """A list is an array."""
    (part,) = arguments_of(form)
    item = shapes.of(part, "[]")
    return _row_shape(f"list[{item.name}]", list, item)


def deque_shape(form: object, shapes: Shapes) -> Shape:
    """A deque is an array, or with a bound `{"maxlen": 3, "items": [...]}`."""
    (part,) = arguments_of(form)
    item = shapes.of(part, "[]")
    name = f"deque[{item.name}]"
    write_items, read_items = _writer(item.write), _reader(item.read)

    def write(value: deque[object]) -> Json:
        if type(value) is not deque:
            raise is_not(name, value)
        written: Json = write_items(value)
        return written if value.maxlen is None else {_MAXLEN: value.maxlen, _ITEMS: written}

    def read(raw: Json, _: object) -> deque[object]:
        if type(raw) is list:
            return deque(read_items(raw))
        if type(raw) is not dict or raw.keys() != {_MAXLEN, _ITEMS}:
            raise unexpected(name, raw)
        maxlen, items = raw[_MAXLEN], raw[_ITEMS]
        if type(maxlen) is not int or not 0 <= maxlen <= sys.maxsize:
            misfit = Misfit(name, "expected the greatest length of a deque")
            misfit.at(step_to(_MAXLEN))
            raise misfit
        if type(items) is not list:
            raise unexpected(f"the items of {name}", items)
        if len(items) > maxlen:
            raise Misfit(name, f"has {len(items)} items; a deque of {maxlen} would lose some")
        return deque(read_items(items), maxlen)

    return Shape(name, frozenset({deque}), ARRAY | OBJECT, {"deque": item.outline}, write, read)


def tuple_shape(form: object, shapes: Shapes) -> Shape:
    """A tuple is an array: of any length with `...`, else of exactly the types that are written down."""
    parts = arguments_of(form)
    if any(get_origin(part) in _UNPACK for part in parts):
        raise shapes.refuse(
            form, "a part of it stands for several items; write tuple[X, ...], or every item's own type"
        )
    if len(parts) == 2 and parts[1] is ...:
        item = shapes.of(parts[0], "[]")
        return _row_shape(f"tuple[{item.name}, ...]", tuple, item)
    items = [shapes.of(part, f"[{index}]") for index, part in enumerate(parts)]
    name = f"tuple[{', '.join(item.name for item in items) or '()'}]"
    size = len(items)
    write_items = [(f"[{index}]", item.write) for index, item in enumerate(items)]
    read_items = [(f"[{index}]", item.read) for index, item in enumerate(items)]

    def write(value: tuple[object, ...]) -> Json:
        if type(value) is not tuple:
            raise is_not(name, value)
        if len(value) != size:
            raise Misfit(name, f"has {len(value)} items, not {size}")
        written: list[Json] = []
        for (step, write_item), each in zip(write_items, value, strict=True):
            try:
                written.append(write_item(each))
            except Misfit as misfit:
                misfit.at(step)
                raise
        return written

    def read(raw: Json, _: object) -> tuple[object, ...]:
        if type(raw) is not list:
            raise unexpected(name, raw)
        if len(raw) != size:
            raise Misfit(name, f"expected {size} items, found {len(raw)}")
        values: list[object] = []
        for (step, read_item), each in zip(read_items, raw, strict=True):
            try:
                values.append(read_item(each, None))
            except Misfit as misfit:
                misfit.at(step)
                raise
        return tuple(values)

    hashing = min([Hashing.BY_VALUE, *(item.hashing for item in items)])
    return Shape(name, frozenset({tuple}), ARRAY, {"tuple": [item.outline for item in items]}, write, read, hashing)


def set_shape(form: object, shapes: Shapes) -> Shape:
    """A set or frozenset is an array, sorted by the bytes of its elements: the same under every hash seed."""
    (part,) = arguments_of(form)
    item = shapes.of(part, "[]")
    refuse_unhashable(item, part, "[]", shapes)
    cls: type[set[object]] | type[frozenset[object]] = set
    if class_of(form) is frozenset:
        cls = frozenset
    name = f"{cls.__name__}[{item.name}]"
    write_item, read_items = item.write, _reader(item.read)

    def write(value: set[object] | frozenset[object]) -> Json:
        if type(value) is not cls:
            raise is_not(name, value)
        written: dict[bytes, Json] = {}
        try:
            for each in value:
                raw = write_item(each)
                written[write_sorted(raw)] = raw
        except Misfit as misfit:
            misfit.at("[]")
            raise
        if len(written) != len(value):
            raise Misfit(name, "has two elements that are written alike")
        return [written[key] for key in sorted(written)]

    def read(raw: Json, _: object) -> set[object] | frozenset[object]:
        if type(raw) is not list:
            raise unexpected(name, raw)
        try:
            value = cls(read_items(raw))
        except TypeError as error:
            raise Misfit(name, f"an element cannot stand in a set: {error}") from None
        if len(value) != len(raw):
            raise Misfit(name, "two elements are equal")
        return value

    hashing = item.hashing if cls is frozenset else Hashing.NEVER
    return Shape(name, frozenset({cls}), ARRAY, {cls.__name__: item.outline}, write, read, hashing)


def refuse_unhashable(item: Shape, form: object, step: str, shapes: Shapes) -> None:
    """Refuse a type whose values can be no element of a set and no key."""
    if item.hashing is Hashing.NEVER:
        culprit = next((cls.__name__ for cls in item.values if not has_hash(cls)), "something in it")
        raise shapes.refuse(form, f"{culprit} has no hash, so it can be no element of a set and no key", step)


def _row_shape(name: str, cls: type[list[object]] | type[tuple[object, ...]], item: Shape) -> Shape:
    write_items, read_items = _writer(item.write), _reader(item.read)

    def write(value: list[object] | tuple[object, ...]) -> Json:
        if type(value) is not cls:
            raise is_not(name, value)
        return write_items(value)

    def read(raw: Json, _: object) -> list[object] | tuple[object, ...]:
        if type(raw) is not list:
            raise unexpected(name, raw)
        values = read_items(raw)
        return values if cls is list else tuple(values)

    outline: Json = {cls.__name__: item.outline} if cls is list else {cls.__name__: [item.outline, "..."]}
    hashing = item.hashing if cls is tuple else Hashing.NEVER
    return Shape(name, frozenset({cls}), ARRAY, outline, write, read, hashing)


def _writer(write: Write) -> Callable[[Iterable[object]], list[Json]]:
    def write_all(values: Iterable[object]) -> list[Json]:
        written: list[Json] = []
        try:
            written.extend(map(write, values))
        except Misfit as misfit:
            misfit.at(f"[{len(written)}]")
            raise
        return written

    return write_all


def _reader(read: Read) -> Callable[[list[Json]], list[object]]:
    def read_all(raws: list[Json]) -> list[object]:
        values: list[object] = []
        try:
            values.extend(map(read, raws, repeat(None)))
        except Misfit as misfit:
            misfit.at(f"[{len(values)}]")
            raise
        return values

    return read_all
