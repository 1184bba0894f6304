"""A fixed list of forms, with some values of each: the same in every process."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from hypothesis import HealthCheck, Phase, given, settings

from codec_classes import ALONE, INT_BOX, Box, Held, Labelled, couple_form, generic_form
from codec_containers import (
    counter_of,
    defaultdict_of,
    deque_of,
    dict_of,
    frozenset_of,
    list_of,
    optional,
    ordered_of,
    row_of,
    set_of,
    tuple_of,
    union_of,
)
from codec_form import Form
from codec_leaves import BOOL, FLOAT, INT, LEAVES, NONE, STR
from codec_recursive import ALIASES, RECURSIVE, chain_of

_TEXTS: Final = [leaf for leaf in LEAVES if leaf not in (NONE, BOOL, INT, FLOAT)]
_DECIMAL: Final = next(leaf for leaf in LEAVES if leaf.annotation is Decimal)
_MIXED: Final = union_of([INT, STR, NONE, BOOL])
_TAGGED: Final = union_of([*_TEXTS[:6], NONE])
_KEY: Final = tuple_of([_MIXED, frozenset_of(union_of([FLOAT, *_TEXTS[10:12]])), *_TEXTS[-2:]])

FIXED: Final[list[Form]] = [
    *LEAVES,
    *RECURSIVE,
    *ALIASES,
    *(INT_BOX, ALONE, set_of(ALONE), set_of(frozenset_of(_DECIMAL)), set_of(_TAGGED), frozenset_of(_KEY)),
    *(dict_of(leaf, list_of(leaf)) for leaf in LEAVES),
    *(dict_of(_KEY, INT), dict_of(_MIXED, _TAGGED), dict_of(frozenset_of(_DECIMAL), INT), dict_of(INT_BOX, NONE)),
    *(counter_of(STR), counter_of(_KEY), counter_of(INT), ordered_of(_KEY, STR), ordered_of(FLOAT, INT)),
    *(defaultdict_of(STR, list_of(INT)), defaultdict_of(_MIXED, set_of(INT)), defaultdict_of(INT, INT_BOX)),
    *(deque_of(INT), deque_of(deque_of(FLOAT)), list_of(list_of(optional(INT))), row_of(tuple_of([INT, STR, BOOL]))),
    *(tuple_of([]), tuple_of([FLOAT, optional(FLOAT)]), union_of([list_of(INT), list_of(STR), row_of(INT), NONE])),
    union_of([*RECURSIVE[:4], INT_BOX, NONE]),
    union_of([generic_form(Box, INT), generic_form(Box, STR), generic_form(Labelled, STR)]),
    *(generic_form(generic, item) for generic in (Box, Labelled, Held) for item in (FLOAT, _TAGGED, RECURSIVE[0])),
    *(couple_form(_MIXED, _TAGGED), couple_form(ALIASES[0], RECURSIVE[4]), chain_of(_KEY), chain_of(ALIASES[2])),
]
"""Forms of every kind."""


def some_values(form: Form, count: int) -> list[object]:
    """At most so many values of a form."""
    found: list[object] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
    @given(value=form.values)
    def collect(value: object) -> None:
        found.append(value)

    collect()
    return found
