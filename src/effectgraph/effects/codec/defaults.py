"""Defaultdicts, written as the name of their factory and their entries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from types import NoneType
from typing import Final, TypeAlias, cast

from effectgraph.effects.codec.forms import (
    arguments_of,
    class_of,
    full_name_of,
    is_class,
    is_given,
    is_union,
    look_through,
    name_of,
)
from effectgraph.effects.codec.keys import key_of
from effectgraph.effects.codec.mappings import entries_of
from effectgraph.effects.codec.shapes import OBJECT, Json, Misfit, Shape, Shapes, shown, unexpected

Factories: TypeAlias = dict[str, object]
"""The factories that a type shows, by the names that stand for them in the bytes."""

_FACTORY: Final = "factory"
_ITEMS: Final = "items"
_STEP: Final = ".default_factory"
_BUILTINS: Final = (int, str, float, bool, list, dict, set, tuple, frozenset)


def defaultdict_shape(form: object, shapes: Shapes) -> Shape:
    """A defaultdict is `{"factory": "list", "items": {...}}`, with a null for no factory.

    A factory is known by name: one of `int`, `str`, `float`, `bool`, `list`, `dict`, `set`, `tuple`, `frozenset`, or
    a class that the type of the values is or, as a union, has. A name in the bytes is looked up among these alone.
    """
    key_form, part = arguments_of(form)
    key, item = key_of(key_form, shapes), shapes.of(part, "[]")
    name = f"defaultdict[{key.shape.name}, {item.name}]"
    entries = entries_of(name, defaultdict, key, item)
    write_entries, read_entries = entries.write, entries.read
    factories = _factories(part)

    def write(value: defaultdict[object, object]) -> Json:
        items = write_entries(value)
        try:
            return {_FACTORY: _name_of_factory(name, value.default_factory, factories), _ITEMS: items}
        except Misfit as misfit:
            misfit.at(_STEP)
            raise

    def read(raw: Json, _: object) -> defaultdict[object, object]:
        if type(raw) is not dict or raw.keys() != {_FACTORY, _ITEMS}:
            raise unexpected(name, raw)
        items = read_entries(raw[_ITEMS], None)
        try:
            return defaultdict(_factory(name, raw[_FACTORY], factories), items)
        except Misfit as misfit:
            misfit.at(_STEP)
            raise

    outline: Json = {"defaultdict": [key.shape.outline, item.outline]}
    return Shape(name, frozenset({defaultdict}), OBJECT, outline, write, read)


def _factories(part: object) -> Factories:
    named: Factories = {cls.__name__: cls for cls in _BUILTINS}
    for form in _members(look_through(part)):
        for each in (class_of(form), form if is_given(form) else None):
            if each not in (None, NoneType) and each not in named.values():
                named.setdefault(full_name_of(each) if name_of(each) in named else name_of(each), each)
    return named


def _members(form: object) -> Iterator[object]:
    if is_union(form):
        for each in arguments_of(form):
            yield from _members(look_through(each))
    else:
        yield form


def _name_of_factory(name: str, factory: object, factories: Factories) -> Json:
    if factory is None:
        return None
    for each, known in factories.items():
        # Of a class only itself will do; an alias such as `list[int]` is another object wherever it is written.
        if factory is known or (not is_class(known) and type(factory) is type(known) and factory == known):
            return each
    what = getattr(factory, "__qualname__", None) or type(factory).__name__
    raise Misfit(name, f"the factory {what} has no name here; use None or one of {', '.join(factories)}")


def _factory(name: str, raw: Json, factories: Factories) -> Callable[[], object] | None:
    if raw is None:
        return None
    if type(raw) is not str:
        raise unexpected(name, raw)
    if raw not in factories:
        raise Misfit(name, f"there is no factory {shown(raw)}; there are {', '.join(factories)}")
    return cast("Callable[[], object]", factories[raw])
