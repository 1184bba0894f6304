"""Telling apart what Python calls equal: 1 and 1.0, 0.0 and -0.0, Decimal("1.0") and Decimal("1.00")."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections import deque
from typing import cast

import attrs
import pydantic


def look(value: object) -> object:
    """Everything that a value is, all the way down: its type, its content, its order where it has one."""
    kind = type(value)
    if isinstance(value, dict):
        pairs = cast("dict[object, object]", value)
        factory: object = getattr(pairs, "default_factory", None)
        return kind, factory, [(look(key), look(each)) for key, each in pairs.items()]
    if isinstance(value, deque):
        return kind, value.maxlen, [look(each) for each in cast("deque[object]", value)]
    if isinstance(value, list | tuple):
        return kind, [look(each) for each in cast("list[object]", value)]
    if isinstance(value, set | frozenset):
        return kind, sorted((look(each) for each in cast("set[object]", value)), key=repr)
    if isinstance(value, dt.datetime | dt.time):
        zone = value.tzinfo
        # A fixed offset shows its name in its repr even if it is the one that it would have without.
        named = (zone.utcoffset(None), zone.tzname(None)) if isinstance(zone, dt.timezone) else repr(zone)
        return kind, value.isoformat(), value.fold, type(zone), named
    if isinstance(value, pydantic.BaseModel):
        fields = {name: look(each) for name, each in vars(value).items()}
        return kind, sorted(value.model_fields_set), fields
    if attrs.has(kind):
        names = [field.name for field in attrs.fields(kind)]
    elif dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
    else:
        return kind, repr(value)
    return kind, {name: look(getattr(value, name)) for name in names}
