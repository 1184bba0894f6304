"""Type forms of every kind, one inside the other, with values of them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias, cast

import attrs
import hypothesis.strategies as st
from hypothesis.strategies import SearchStrategy
from typing_extensions import TypeForm

import codec_classes as classes
import codec_containers as containers
from codec_form import Bad, Form
from codec_leaves import LEAVES, enum_form, literal_form
from codec_recursive import ALIASES, RECURSIVE, chain_of, recursive_form
from effectgraph.effects.codec import Codec, codec_for

DEPTH: Final = 2
"""Levels of forms around the innermost ones."""

ROWS: Final = (containers.list_of, containers.row_of, containers.deque_of)
GENERIC: Final = (classes.Box, classes.Labelled, classes.Held)


@attrs.frozen
class Case:
    """A form, and some values of it."""

    form: Form
    values: list[object]

    @property
    def codec(self) -> Codec[object]:
        """The codec of the form."""
        return codec_of(self.form)


def codec_of(form: Form) -> Codec[object]:
    """The codec of a form."""
    return codec_for(cast("TypeForm[object]", form.type))


@attrs.frozen
class Inside:
    """Draws the forms inside another one. `level` is how many levels they may have themselves."""

    draw: st.DrawFn
    numbers: Iterator[int]
    level: int

    def form(self) -> Form:
        """Any form."""
        deeper = self.deeper()
        if deeper is None:
            return self._innermost([*LEAVES, classes.INT_BOX, classes.ALONE, *RECURSIVE, *ALIASES])
        return self.draw(st.sampled_from(KINDS))(deeper)

    def key(self) -> Form:
        """A form whose values can be keys."""
        deeper = self.deeper()
        if deeper is None:
            return self._innermost([*LEAVES, classes.INT_BOX])
        return self.draw(st.sampled_from(KEY_KINDS))(deeper)

    def forms(self, least: int, most: int) -> list[Form]:
        """Several forms."""
        return [self.form() for _ in range(self.draw(st.integers(least, most)))]

    def keys(self, least: int, most: int) -> list[Form]:
        """Several forms whose values can be keys."""
        return [self.key() for _ in range(self.draw(st.integers(least, most)))]

    def name(self, prefix: str = "N") -> str:
        """A name that no other class of the whole form has."""
        return f"{prefix}{next(self.numbers)}"

    def source(self, *, keys: bool = False) -> classes.Source:
        """Where the fields of a class come from."""
        return classes.Source(self.draw, self.key if keys else self.form, self.name)

    def deeper(self) -> Inside | None:
        """One level further in, if there is to be one."""
        level = self.draw(st.integers(0, self.level))
        return attrs.evolve(self, level=level - 1) if level else None

    def _innermost(self, ready: list[Form]) -> Form:
        match self.draw(st.integers(0, 9)):
            case 0:
                return enum_form(self.draw, self.name("E"))
            case 1:
                return literal_form(self.draw)
            case _:
                return self.draw(st.sampled_from(ready))


Kind: TypeAlias = Callable[[Inside], Form]


def _twins(inside: Inside) -> Form:
    """A union of members of one class, which differ in what they hold."""
    make = inside.draw(st.sampled_from([*ROWS, containers.optional, _box]))
    return containers.union_of(map(make, inside.forms(2, 3)))


def _box(form: Form) -> Form:
    return classes.generic_form(classes.Box, form)


def _wrapped(form: Form, inside: Inside) -> Form:
    return containers.wrapped(inside.draw(st.sampled_from(containers.WRAPPERS)), form, inside.name())


KINDS: Final[list[Kind]] = [
    lambda inside: inside.draw(st.sampled_from(ROWS))(inside.form()),
    lambda inside: containers.tuple_of(inside.forms(0, 3)),
    lambda inside: containers.set_of(inside.draw(st.sampled_from([inside.key(), classes.ALONE]))),
    lambda inside: containers.frozenset_of(inside.key()),
    lambda inside: containers.dict_of(inside.key(), inside.form()),
    lambda inside: containers.defaultdict_of(inside.key(), inside.form()),
    lambda inside: containers.counter_of(inside.key()),
    lambda inside: containers.ordered_of(inside.key(), inside.form()),
    lambda inside: containers.union_of(inside.forms(2, 4)),
    lambda inside: containers.optional(inside.form()),
    _twins,
    lambda inside: _wrapped(inside.form(), inside),
    lambda inside: classes.attrs_form(inside.source()),
    lambda inside: classes.dataclass_form(inside.source()),
    lambda inside: classes.named_tuple_form(inside.source()),
    lambda inside: classes.typed_dict_form(inside.source()),
    lambda inside: classes.generic_form(inside.draw(st.sampled_from(GENERIC)), inside.form()),
    lambda inside: classes.couple_form(inside.form(), inside.form()),
    lambda inside: recursive_form(inside.source()),
    lambda inside: chain_of(inside.form()),
]
"""Kinds of forms that hold others."""

KEY_KINDS: Final[list[Kind]] = [
    lambda inside: containers.row_of(inside.key()),
    lambda inside: containers.tuple_of(inside.keys(0, 3)),
    lambda inside: containers.frozenset_of(inside.key()),
    lambda inside: containers.union_of(inside.keys(2, 4)),
    lambda inside: _wrapped(inside.key(), inside),
    lambda inside: _box(inside.key()),
    lambda inside: classes.attrs_form(inside.source(keys=True), frozen=True),
    lambda inside: classes.dataclass_form(inside.source(keys=True), frozen=True),
    lambda inside: classes.named_tuple_form(inside.source(keys=True)),
]
"""Kinds of forms whose values can be keys."""


@st.composite
def forms(draw: st.DrawFn) -> Form:
    """Any form."""
    return Inside(draw, itertools.count(), DEPTH).form()


ANY: Final[SearchStrategy[Form]] = forms()
"""Any form."""


@st.composite
def forms_of_sets(draw: st.DrawFn) -> Form:
    """A set of anything that can stand in one."""
    return containers.frozenset_of(Inside(draw, itertools.count(), DEPTH).key())


@st.composite
def cases(draw: st.DrawFn, forms: SearchStrategy[Form] = ANY, least: int = 1, most: int = 2) -> Case:
    """A form and some values of it."""
    form = draw(forms)
    return Case(form, draw(st.lists(form.values, min_size=least, max_size=most)))


@st.composite
def mistakes(draw: st.DrawFn) -> tuple[Form, list[Bad]]:
    """A form, and values that are wrong in exactly one place."""
    form = draw(ANY)
    return form, draw(st.lists(form.wrong, min_size=1, max_size=3))
