"""Forms that refer to themselves: classes of each kind, aliases, pydantic models."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from typing import Final, Generic, NamedTuple, NotRequired, TypedDict, TypeVar, cast

import attrs
import hypothesis.strategies as st
import pydantic
from hypothesis.strategies import SearchStrategy
from typing_extensions import TypeAliasType

from codec_classes import Source
from codec_containers import MOST
from codec_form import Bad, Form
from codec_leaves import FLOATS, INTS, TEXTS

T = TypeVar("T")

Grow = Callable[[SearchStrategy[object]], SearchStrategy[object]]
GrowBad = Callable[[SearchStrategy[Bad]], SearchStrategy[Bad]]


@attrs.frozen
class Tree:
    """Refers to itself in a list and as an option."""

    value: int
    branches: list[Tree] = attrs.field(factory=list["Tree"])
    parent: Tree | None = None


@dataclasses.dataclass
class Chain(Generic[T]):
    """A generic one."""

    value: T
    rest: Chain[T] | None = None


class Link(NamedTuple):
    """A NamedTuple that refers to itself in a dict."""

    value: int
    links: dict[str, Link]


class Nested(TypedDict):
    """A typed dict that refers to itself."""

    value: int
    inner: NotRequired[tuple[Nested, ...]]


@attrs.frozen
class Ping:
    """Refers to one that is defined later."""

    pong: Pong | Ping | None = None
    value: int = 0


@attrs.frozen
class Pong:
    """Refers back, in sets as well."""

    ping: Ping
    all: frozenset[Ping] = frozenset()


class Crate(pydantic.BaseModel):
    """A model of itself, with an alias and defaults."""

    value: int
    size: float = pydantic.Field(default=1.5, alias="theSize")
    inner: list[Crate] = []


Json = TypeAliasType("Json", "None | bool | int | str | list[Json] | dict[str, Json]")
Nest = TypeAliasType("Nest", "int | tuple[Nest, ...]")
Rows = TypeAliasType("Rows", "OrderedDict[str, Rows] | deque[Rows] | defaultdict[int, Rows] | int")


def make_crate(value: object, **fields: object) -> object:
    """A crate that pydantic has not looked at."""
    return Crate.model_construct(**cast("dict[str, int]", {"value": value, **fields}))


def _form(form: object, cls: type[object], leaf: Callable[[object], object], grow: Grow, grow_bad: GrowBad) -> Form:
    bad = st.sampled_from([True, 1.0, "1", None]).map(lambda value: Bad(leaf(value), r"\.value"))
    return Form(
        form,
        frozenset({cls}),
        st.recursive(INTS.map(leaf), grow, max_leaves=3),
        lambda: st.recursive(bad, grow_bad, max_leaves=2),
        nests=False,
        exact=False,
    )


def _some(inner: SearchStrategy[object]) -> SearchStrategy[list[object]]:
    return st.lists(inner, max_size=2)


def _tree(value: object, branches: object = (), parent: object = None) -> object:
    return Tree(cast("int", value), [*cast("list[Tree]", branches)], cast("Tree | None", parent))


def _chain(value: object, rest: object = None) -> object:
    return Chain(value, cast("Chain[object] | None", rest))


def _link(value: object, links: object = ()) -> object:
    return Link(cast("int", value), dict(cast("dict[str, Link]", links)))


def _ping(value: object, pong: object = None) -> object:
    return Ping(cast("Pong", pong), cast("int", value))


def _pong(ping: object, pings: object = ()) -> object:
    return Pong(cast("Ping", ping), frozenset(cast("list[Ping]", pings)))


RECURSIVE: Final = [
    _form(
        Tree,
        Tree,
        _tree,
        lambda inner: st.builds(_tree, INTS, _some(inner), st.one_of(st.none(), inner)),
        lambda bad: st.one_of(
            bad.map(lambda bad: bad.under(r"\.branches\[1\]", _tree(1, [_tree(2), bad.value, _tree(3)]))),
            bad.map(lambda bad: bad.under(r"\.parent", _tree(1, [_tree(2)], bad.value))),
        ),
    ),
    _form(
        cast("Mapping[object, object]", Chain)[int],
        Chain,
        _chain,
        lambda inner: st.builds(_chain, INTS, inner),
        lambda bad: bad.map(lambda bad: bad.under(r"\.rest", _chain(1, bad.value))),
    ),
    _form(
        Link,
        Link,
        _link,
        lambda inner: st.builds(_link, INTS, st.dictionaries(TEXTS, inner, max_size=2)),
        lambda bad: bad.map(lambda bad: bad.under(r"\.links\.x", _link(1, {"a": _link(2), "x": bad.value}))),
    ),
    _form(
        Nested,
        dict,
        lambda value: {"value": value},
        lambda inner: st.fixed_dictionaries({"value": INTS, "inner": _some(inner).map(tuple)}),
        lambda bad: bad.map(lambda bad: bad.under(r"\.inner\[0\]", {"inner": (bad.value,), "value": 1})),
    ),
    _form(
        Ping,
        Ping,
        _ping,
        lambda inner: st.one_of(
            st.builds(_ping, INTS, st.builds(_pong, inner, _some(inner))), st.builds(_ping, INTS, inner)
        ),
        lambda bad: st.one_of(
            bad.map(lambda bad: bad.under(r"\.pong", _ping(1, bad.value))),
            bad.map(lambda bad: bad.under(r"\.pong\.ping", _ping(1, _pong(bad.value)))),
            bad.map(lambda bad: bad.under(r"\.pong\.all\[\]", _ping(1, _pong(_ping(1), [bad.value])))),
        ),
    ),
    _form(
        Crate,
        Crate,
        make_crate,
        lambda inner: st.builds(make_crate, INTS, size=FLOATS, inner=_some(inner)),
        lambda bad: bad.map(lambda bad: bad.under(r"\.inner\[0\]", make_crate(1, inner=[bad.value]))),
    ),
]
"""Classes that refer to themselves."""

JSON_VALUES: Final = st.recursive(
    st.one_of(st.none(), st.booleans(), INTS, TEXTS),
    lambda inner: st.one_of(_some(inner), st.dictionaries(TEXTS, inner, max_size=2)),
    max_leaves=4,
)
ROWS: Final = st.recursive(
    INTS,
    lambda inner: st.one_of(
        st.dictionaries(TEXTS, inner, max_size=2).map(OrderedDict[str, object]),
        st.builds(deque[object], _some(inner), st.one_of(st.none(), st.integers(0, MOST))),
        st.dictionaries(INTS, inner, max_size=2).map(lambda pairs: defaultdict[int, object](list, pairs)),
    ),
    max_leaves=4,
)

ALIASES: Final = [
    Form(
        Json,
        frozenset({type(None), bool, int, str, list, dict}),
        JSON_VALUES,
        lambda: st.recursive(
            st.sampled_from([1.0, b"1", (1,), {1}]).map(Bad),
            lambda bad: st.one_of(
                bad.map(lambda bad: bad.under(r"\[1\]", ["1", bad.value])),
                bad.map(lambda bad: bad.under(r"\.a", {"b": None, "a": bad.value})),
            ),
            max_leaves=3,
        ),
    ),
    Form(
        Nest,
        frozenset({int, tuple}),
        st.recursive(INTS, lambda inner: _some(inner).map(tuple), max_leaves=4),
        lambda: st.recursive(
            st.sampled_from([True, 1.0, [1]]).map(lambda value: Bad((1, value), r"\[1\]")),
            lambda bad: bad.map(lambda bad: bad.under(r"\[0\]", (bad.value, 1))),
        ),
    ),
    Form(Rows, frozenset({OrderedDict, deque, defaultdict, int}), ROWS, nests=False),
]
"""Aliases that refer to themselves."""


def recursive_form(source: Source) -> Form:
    """A class that is made for the occasion, refers to itself by its name, and holds something else as well."""
    item, name = source.form(), source.name("R")
    fields: dict[str, object] = {
        "item": attrs.field(type=cast("type[object]", item.type)),
        "more": attrs.field(type=cast("type[object]", f"dict[str, {name}] | None"), default=None),
    }
    made = attrs.make_class(name, fields)
    cls = cast("Callable[..., object]", made)
    leaf = st.builds(cls, item.values)
    values = st.one_of(leaf, st.builds(cls, item.values, st.dictionaries(TEXTS, leaf, max_size=2)))

    def bad() -> SearchStrategy[Bad]:
        first = item.wrong.map(lambda bad: bad.under(r"\.item", cls(bad.value)))
        deeper = st.builds(lambda bad, value: bad.under(r"\.more\.x", cls(value, {"x": bad.value})), first, item.values)
        return st.one_of(first, deeper)

    return Form(cls, frozenset({made}), values, bad, nests=False, exact=False)


def chain_of(item: Form) -> Form:
    """A generic class that refers to itself, of this form."""
    leaf = st.builds(_chain, item.values)
    values = st.one_of(leaf, st.builds(_chain, item.values, leaf))

    def bad() -> SearchStrategy[Bad]:
        wrong = item.wrong.map(lambda bad: bad.under(r"\.value", _chain(bad.value)))
        return st.builds(lambda bad, value: bad.under(r"\.rest", _chain(value, bad.value)), wrong, item.values)

    form = cast("Mapping[object, object]", Chain)[item.type]
    return Form(form, frozenset({Chain}), values, bad, nests=False, exact=False)
