"""Forms of containers, unions and aliases, made of other forms."""

from __future__ import annotations

import sys
import typing
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from types import GenericAlias, NoneType
from typing import Annotated, Final, NewType, TypeAlias, cast

import attrs
import hypothesis.strategies as st
from hypothesis.strategies import SearchStrategy
from typing_extensions import TypeAliasType

from alike import look
from codec_form import ANY_KEY, BAD_KEY, Bad, Form, field_step, has_hash
from codec_leaves import INT, NONE, STR
from effectgraph.effects.codec.forms import name_of

Pair: TypeAlias = tuple[object, object]

MOST: Final = 3
"""Elements of a drawn container: more would show nothing new."""


def list_of(item: Form) -> Form:
    """Lists."""
    values = st.lists(item.values, max_size=MOST)
    return _row(list, (item.type,), values, lambda: _bad_row(lambda values: values, item), item)


def row_of(item: Form) -> Form:
    """Tuples of any length."""
    values = st.lists(item.values, max_size=MOST).map(tuple)
    return _row(tuple, (item.type, ...), values, lambda: _bad_row(tuple, item), item)


def deque_of(item: Form) -> Form:
    """Deques, with a bound and without."""
    bounds = st.sampled_from([None, 0, 1, MOST + 1, sys.maxsize])
    values = st.builds(deque[object], st.lists(item.values, max_size=MOST), bounds)
    made = _row(deque, (item.type,), values, lambda: _bad_row(lambda values: deque(values, MOST + 1), item), item)
    return attrs.evolve(made, nests=False, is_key=False)


def _row(
    cls: type[object],
    inside: tuple[object, ...],
    values: SearchStrategy[object],
    bad: Callable[[], SearchStrategy[Bad]],
    item: Form,
) -> Form:
    is_key = cls is tuple and item.is_key
    return Form(GenericAlias(cls, inside), frozenset({cls}), values, bad, is_key, item.nests, item.exact)


def _bad_row(cls: Callable[[list[object]], object], item: Form) -> SearchStrategy[Bad]:
    def make(before: list[object], bad: Bad, after: list[object]) -> Bad:
        return bad.under(rf"\[{len(before)}\]", cls([*before, bad.value, *after]))

    some = st.lists(item.values, max_size=MOST - 1)
    return st.builds(make, some, item.wrong, some)


def tuple_of(items: list[Form]) -> Form:
    """Tuples of exactly these types."""
    whole = [item.values for item in items]

    def bad() -> SearchStrategy[Bad]:
        found: list[SearchStrategy[Bad]] = [st.tuples(*whole, NONE.values).map(Bad)]
        if items:
            found.append(st.tuples(*whole[1:]).map(Bad))
        for index, item in enumerate(items):
            parts = st.tuples(*whole[:index], item.wrong, *whole[index + 1 :])
            found.append(st.builds(_bad_at, parts, st.just(index)))
        return st.one_of(found)

    return Form(
        GenericAlias(tuple, tuple(item.type for item in items)),
        frozenset({tuple}),
        st.tuples(*whole),
        bad,
        is_key=all(item.is_key for item in items),
        nests=all(item.nests for item in items),
        exact=all(item.exact for item in items),
    )


def _bad_at(parts: tuple[object, ...], index: int) -> Bad:
    bad = parts[index]
    assert isinstance(bad, Bad)
    return bad.under(rf"\[{index}\]", (*parts[:index], bad.value, *parts[index + 1 :]))


def set_of(item: Form) -> Form:
    """Sets."""
    return _set(set, set[object], item)


def frozenset_of(item: Form) -> Form:
    """Frozensets."""
    return attrs.evolve(_set(frozenset, frozenset[object], item), is_key=item.is_key)


def _set(cls: type[object], make: Callable[[list[object]], object], item: Form) -> Form:
    # Two nans would be written alike, which is refused.
    values = st.lists(item.values.filter(has_hash), max_size=MOST, unique_by=lambda value: repr(look(value)))

    def bad() -> SearchStrategy[Bad]:
        # The wrong one comes first, so it is what stays of two equal ones.
        some = st.lists(item.values.filter(has_hash), max_size=MOST - 1)
        return st.builds(lambda bad, others: bad.under(r"\[\]", make([bad.value, *others])), item.wrong_keys, some)

    form = GenericAlias(cls, (item.type,))
    return Form(form, frozenset({cls}), values.map(make), bad, nests=item.nests, exact=False)


def _entries(key: Form, item: Form) -> SearchStrategy[list[Pair]]:
    entry = st.tuples(key.values.filter(has_hash), item.values)
    return st.lists(entry, max_size=MOST, unique_by=lambda pair: repr(look(pair[0])))


def _bad_entries(key: Form, item: Form, make: Callable[[Iterable[Pair]], object]) -> SearchStrategy[Bad]:
    """Dicts with one wrong key or one wrong value, which comes first."""

    def with_key(bad: Bad, value: object, others: list[Pair]) -> Bad:
        return bad.under(BAD_KEY, make(_first_of_equals([(bad.value, value), *others])))

    def with_value(bad: Bad, right: object, others: list[Pair]) -> Bad:
        whole = make(_first_of_equals([(right, bad.value), *others]))
        if key.type is str and isinstance(right, str):
            return bad.under(field_step(right), whole)
        return bad.under(rf"\[{right}\]" if key.type is int and abs(cast("int", right)) < 10**50 else ANY_KEY, whole)

    return st.one_of(
        st.builds(with_key, key.wrong_keys, item.values, _entries(key, item)),
        st.builds(with_value, item.wrong, key.values.filter(has_hash), _entries(key, item)),
    )


def _first_of_equals(pairs: Iterable[Pair]) -> list[Pair]:
    found: dict[object, Pair] = {}
    for key, value in pairs:
        found.setdefault(key, (key, value))
    return [*found.values()]


def dict_of(key: Form, item: Form) -> Form:
    """Dicts."""
    return attrs.evolve(_mapping(dict, dict[object, object], key, item), nests=item.nests)


def ordered_of(key: Form, item: Form) -> Form:
    """OrderedDicts."""
    return _mapping(OrderedDict, OrderedDict[object, object], key, item)


def counter_of(key: Form) -> Form:
    """Counters."""

    def make(pairs: Iterable[Pair]) -> object:
        return Counter[object](cast("dict[object, int]", dict(pairs)))

    return attrs.evolve(_mapping(Counter, make, key, INT), type=GenericAlias(Counter, (key.type,)), nests=True)


def _mapping(cls: type[object], make: Callable[[Iterable[Pair]], object], key: Form, item: Form) -> Form:
    form = GenericAlias(cls, (key.type, item.type))
    values = _entries(key, item).map(make)
    exact = key.exact and item.exact
    return Form(form, frozenset({cls}), values, lambda: _bad_entries(key, item, make), nests=False, exact=exact)


def defaultdict_of(key: Form, item: Form) -> Form:
    """Defaultdicts, with factories of several kinds and without."""
    factories: list[object] = [None, int, str, list, dict, set, tuple, frozenset]
    if isinstance(item.type, type | GenericAlias) and item.type is not NoneType:
        factories.append(item.type)

    def make(pairs: Iterable[Pair], factory: object = None) -> object:
        return defaultdict[object, object](cast("Callable[[], object]", factory), dict(pairs))

    def bad() -> SearchStrategy[Bad]:
        lost: list[object] = [len, lambda: 0, GenericAlias(tuple, (INT.type, STR.type, INT.type))]
        made = st.builds(make, _entries(key, item), st.sampled_from(lost))
        return st.one_of(_bad_entries(key, item, make), made.map(lambda made: Bad(made, r"\.default_factory")))

    values = st.builds(make, _entries(key, item), st.sampled_from(factories))
    return attrs.evolve(_mapping(defaultdict, make, key, item), values=values, bad=bad)


def union_of(members: Iterable[Form]) -> Form:
    """Unions. A value that is wrong inside counts only where its class is that of one member alone."""
    # By name: a union of list[int] and of a list of a NewType of int is refused, as both are called the same.
    distinct = list({name_of(member.type): member for member in members}.values())
    if len(distinct) == 1:
        return distinct[0]

    def bad() -> SearchStrategy[Bad]:
        found: list[SearchStrategy[Bad]] = []
        for member in distinct:
            others = frozenset[object]().union(*(other.classes for other in distinct if other is not member))
            if others.isdisjoint(member.classes):
                found.append(member.bad())
        return st.one_of(found)

    form: object = typing.__dict__["Union"][tuple(member.type for member in distinct)]
    return Form(
        form,
        frozenset[type[object]]().union(*(member.classes for member in distinct)),
        st.one_of([member.values for member in distinct]),
        bad,
        is_key=all(member.is_key for member in distinct),
        nests=False,
        exact=all(member.exact for member in distinct),
    )


def optional(item: Form) -> Form:
    """A form, or None."""
    return union_of([item, NONE])


WRAPPERS: Final = ("NewType", "TypeAliasType", "Annotated")
"""What is looked through."""


def wrapped(kind: str, item: Form, name: str) -> Form:
    """A form under another name, or with a note."""
    match kind:
        case "NewType":
            made = cast("Callable[[str, object], object]", NewType)(name, item.type)
        case "TypeAliasType":
            made = cast("Callable[[str, object], object]", TypeAliasType)(name, item.type)
        case _:
            made = cast("typing.Mapping[object, object]", Annotated)[item.type, "a note"]
    return attrs.evolve(item, type=made)
