"""Which types a codec carries, and who makes their shapes."""

from __future__ import annotations

import dataclasses
import datetime as dt
import typing
from collections.abc import Callable
from decimal import Decimal
from typing import Final, ForwardRef, TypeVar
from uuid import UUID

import attrs

from effectgraph.effects.codec.build import Rule
from effectgraph.effects.codec.choices import enum_shape, is_enum, is_literal, literal_shape
from effectgraph.effects.codec.containers import has_origin, list_shape, set_shape, tuple_shape
from effectgraph.effects.codec.fields import is_record
from effectgraph.effects.codec.forms import is_class, is_union
from effectgraph.effects.codec.mappings import dict_shape
from effectgraph.effects.codec.plain import PLAIN
from effectgraph.effects.codec.records import record_shape
from effectgraph.effects.codec.shapes import Shape, Shapes
from effectgraph.effects.codec.texts import decimal_shape, is_path, path_shape, uuid_shape
from effectgraph.effects.codec.times import date_shape, datetime_shape, time_shape, timedelta_shape
from effectgraph.effects.codec.typed_dicts import is_typed_dict, typed_dict_shape
from effectgraph.effects.codec.unions import union_shape

_TEXTS: Final[dict[object, Callable[[], Shape]]] = {
    Decimal: decimal_shape,
    UUID: uuid_shape,
    dt.date: date_shape,
    dt.datetime: datetime_shape,
    dt.time: time_shape,
    dt.timedelta: timedelta_shape,
}
_BARE: Final = frozenset[object]({list, tuple, set, frozenset, dict})


def _plain_shape(form: object, _: Shapes) -> Shape:
    return PLAIN[form]


def _text_shape(form: object, _: Shapes) -> Shape:
    return _TEXTS[form]()


def _no_shape(form: object, shapes: Shapes) -> Shape:
    raise shapes.refuse(form, _why_not(form))


def _why_not(form: object) -> str:
    if form is typing.Any or form is object:
        return "it can be anything, and bytes cannot tell what; declare what it is"
    if isinstance(form, TypeVar):
        return "a type variable that nothing fills in; write what stands in its place, as in Box[int]"
    if isinstance(form, str | ForwardRef):
        return "a name that is not looked up here; give the type itself"
    if form in _BARE or typing.get_origin(form) in _BARE:
        return "it does not say what is in it; write it with brackets, as in list[int]"
    if is_class(form) and (attrs.has(form) or dataclasses.is_dataclass(form) or hasattr(form, "_fields")):
        return "it is a plain subclass of a record and may have state that no field holds; decorate it as well"
    return "a codec has no faithful form for it; use types that have one, such as attrs classes, list and dict"


RULES: Final = (
    Rule(lambda form: form in PLAIN, _plain_shape),
    Rule(lambda form: form in _TEXTS, _text_shape),
    Rule(is_enum, enum_shape),
    Rule(is_literal, literal_shape),
    Rule(is_path, path_shape),
    Rule(has_origin(list), list_shape),
    Rule(has_origin(tuple), tuple_shape),
    Rule(has_origin(set, frozenset), set_shape),
    Rule(has_origin(dict), dict_shape),
    Rule(is_typed_dict, typed_dict_shape),
    Rule(is_record, record_shape),
    Rule(is_union, union_shape),
    Rule(lambda _: True, _no_shape),
)
"""For each type the first rule that applies; the last one refuses what no other has taken."""
