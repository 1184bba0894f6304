"""Which types a codec carries, and who makes their shapes."""

from __future__ import annotations

import datetime as dt
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Final
from uuid import UUID

from effectgraph.effects.codec.build import Rule
from effectgraph.effects.codec.choices import enum_shape, is_enum, is_literal, literal_shape
from effectgraph.effects.codec.containers import deque_shape, has_origin, list_shape, set_shape, tuple_shape
from effectgraph.effects.codec.defaults import defaultdict_shape
from effectgraph.effects.codec.fields import is_record
from effectgraph.effects.codec.forms import is_union
from effectgraph.effects.codec.mappings import counter_shape, dict_shape
from effectgraph.effects.codec.model_refusals import is_of_pydantic, no_pydantic_shape
from effectgraph.effects.codec.models import (
    is_model,
    is_pydantic_dataclass,
    model_shape,
    pydantic_dataclass_shape,
)
from effectgraph.effects.codec.ordered import ordered_dict_shape
from effectgraph.effects.codec.plain import PLAIN
from effectgraph.effects.codec.records import record_shape
from effectgraph.effects.codec.refusals import no_shape
from effectgraph.effects.codec.shapes import ARRAY, OBJECT, Shape, Shapes
from effectgraph.effects.codec.texts import decimal_shape, fraction_shape, is_path, path_shape, uuid_shape
from effectgraph.effects.codec.times import date_shape, datetime_shape, time_shape, timedelta_shape
from effectgraph.effects.codec.typed_dicts import is_typed_dict, typed_dict_shape
from effectgraph.effects.codec.unions import union_shape

_TEXTS: Final[dict[object, Callable[[], Shape]]] = {
    Decimal: decimal_shape,
    Fraction: fraction_shape,
    UUID: uuid_shape,
    dt.date: date_shape,
    dt.datetime: datetime_shape,
    dt.time: time_shape,
    dt.timedelta: timedelta_shape,
}


def _plain_shape(form: object, _: Shapes) -> Shape:
    return PLAIN[form]


def _text_shape(form: object, _: Shapes) -> Shape:
    return _TEXTS[form]()


RULES: Final = (
    Rule(lambda form: form in PLAIN, _plain_shape),
    Rule(lambda form: form in _TEXTS, _text_shape),
    Rule(is_enum, enum_shape),
    Rule(is_literal, literal_shape),
    Rule(is_path, path_shape),
    Rule(has_origin(list), list_shape, ARRAY),
    Rule(has_origin(deque), deque_shape, ARRAY | OBJECT),
    Rule(has_origin(tuple), tuple_shape, ARRAY),
    Rule(has_origin(set, frozenset), set_shape, ARRAY),
    Rule(has_origin(dict), dict_shape, OBJECT),
    Rule(has_origin(defaultdict), defaultdict_shape, OBJECT),
    Rule(has_origin(Counter), counter_shape),
    Rule(has_origin(OrderedDict), ordered_dict_shape, ARRAY),
    Rule(is_typed_dict, typed_dict_shape),
    Rule(is_model, model_shape),
    Rule(is_pydantic_dataclass, pydantic_dataclass_shape),
    Rule(is_record, record_shape),
    Rule(is_union, union_shape),
    Rule(is_of_pydantic, no_pydantic_shape),
    Rule(lambda _: True, no_shape),
)
"""For each type the first rule that applies; the last one refuses what no other has taken."""
