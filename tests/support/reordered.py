"""Copies of values in which the order of dicts and sets is another one."""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import TypeAlias, cast

import attrs
import pydantic

from alike import look

Arrange: TypeAlias = Callable[[list[object]], list[object]]
"""Puts the elements of a set, or the pairs of a dict, in an order."""


def reordered(value: object, arrange: Arrange) -> object:
    """A copy, of the same types all the way down, with dicts and sets made in another order.

    An OrderedDict keeps its order: it is part of the value.
    """
    if isinstance(value, dict):
        return _dict(cast("dict[object, object]", value), arrange)
    if isinstance(value, set | frozenset):
        # Room for more elements than there are: the order of a set depends on that too.
        made = {object() for _ in range(100)}
        room = frozenset(made)
        made.update(arrange([reordered(each, arrange) for each in cast("set[object]", value)]))
        made -= room
        return made if isinstance(value, set) else frozenset(made)
    if isinstance(value, deque):
        items = cast("deque[object]", value)
        return deque((reordered(each, arrange) for each in items), items.maxlen)
    if isinstance(value, list | tuple):
        row = [reordered(each, arrange) for each in cast("list[object]", value)]
        kind = cast("Callable[..., object]", type(value))
        return kind(*row) if hasattr(value, "_fields") else kind(row)
    return _object(value, arrange)


def _dict(value: dict[object, object], arrange: Arrange) -> object:
    pairs: list[object] = [(reordered(key, arrange), reordered(each, arrange)) for key, each in value.items()]
    arranged = cast("list[tuple[object, object]]", pairs if isinstance(value, OrderedDict) else arrange(pairs))
    if isinstance(value, defaultdict):
        return defaultdict(value.default_factory, arranged)
    if isinstance(value, Counter):
        return Counter(cast("dict[object, int]", dict(arranged)))
    return OrderedDict(arranged) if isinstance(value, OrderedDict) else dict(arranged)


def _object(value: object, arrange: Arrange) -> object:
    if isinstance(value, type):
        return value
    if isinstance(value, pydantic.BaseModel):
        model = value.model_copy()
        vars(model).update({name: reordered(each, arrange) for name, each in vars(value).items()})
        return model
    if attrs.has(type(value)):
        names = [field.name for field in attrs.fields(type(value))]
    elif dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
    else:
        return value
    made = copy.copy(value)
    for name in names:
        object.__setattr__(made, name, reordered(getattr(value, name), arrange))
    return made


def look_without_order(value: object) -> object:
    """What `look` gives, whatever the order of dicts: two that differ in nothing else are equal."""
    return look(reordered(value, lambda each: sorted(each, key=lambda each: repr(look(each)))))
