"""Forms of classes: attrs classes, dataclasses, NamedTuples and typed dicts, made for the occasion or generic."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Final, Generic, NamedTuple, NotRequired, TypedDict, TypeVar, cast

import attrs
import hypothesis.strategies as st
from hypothesis.strategies import SearchStrategy

from codec_containers import dict_of, optional, row_of
from codec_form import Bad, Form, field_step
from codec_leaves import INT, NAMES, STR

K = TypeVar("K")
T = TypeVar("T")

Fields = Mapping[str, object]
"""The values of an object's fields by name; one that is left out has its default."""

Make = Callable[[Fields], object]


@attrs.frozen(eq=False)
class Part:
    """A field of a class. `outside` the constructor it is set afterwards; `may_lack` it where its default does."""

    name: str
    form: Form
    may_lack: bool = False
    outside: bool = False


@attrs.frozen
class Box(Generic[T]):
    """A generic attrs class."""

    inside: T
    more: tuple[T, ...] = ()
    maybe: T | None = None


@dataclasses.dataclass(slots=True)
class Couple(Generic[K, T]):
    """A generic dataclass."""

    first: K
    second: dict[str, T] = dataclasses.field(default_factory=dict[str, T])


class Labelled(NamedTuple, Generic[T]):
    """A generic NamedTuple with a default."""

    value: T
    label: str | None = None


class Held(TypedDict, Generic[T]):
    """A generic typed dict with a key that may be absent."""

    held: T
    more: NotRequired[tuple[T, ...]]


@attrs.frozen
class IntBox(Box[int]):
    """A subclass that is generic no more."""

    label: str = "x"


@attrs.define(eq=False)
class Alone:
    """Objects that are equal to nothing but themselves."""

    x: int


def class_form(form: object, cls: type[object], parts: Sequence[Part], make: Make, *, is_key: bool = False) -> Form:
    """A class with these fields. `make` puts an object together."""
    needed = {part.name: part.form.values for part in parts if not part.may_lack}
    values = st.fixed_dictionaries(needed, optional={part.name: part.form.values for part in parts if part.may_lack})

    def bad() -> SearchStrategy[Bad]:
        found = [st.builds(_with_wrong, st.just(part), st.just(make), values, part.form.wrong) for part in parts]
        if cls is not dict:
            sub = types.new_class(f"{cls.__name__}Sub", (cls,))
            found.append(values.map(lambda fields: Bad(_as(sub, make(fields)))))
        return st.one_of(found)

    exact = not any(part.may_lack for part in parts) and all(part.form.exact for part in parts)
    nests = all(part.form.nests for part in parts)
    return Form(form, frozenset({cls}), values.map(make), bad, is_key=is_key, nests=nests, exact=exact)


def _with_wrong(part: Part, make: Make, fields: Fields, bad: Bad) -> Bad:
    return bad.under(field_step(part.name), make({**fields, part.name: bad.value}))


def _as(sub: type[object], value: object) -> object:
    """A value of a subclass with the same content."""
    if isinstance(value, tuple):
        return cast("Callable[..., object]", sub)(*cast("tuple[object, ...]", value))
    made = object.__new__(sub)
    for name in fields_of(type(value)):
        object.__setattr__(made, name, getattr(value, name))
    return made


def fields_of(cls: type[object]) -> list[str]:
    """The names of the fields of an attrs class or a dataclass."""
    if attrs.has(cls):
        return [field.name for field in attrs.fields(cls)]
    return [field.name for field in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else []


def maker(cls: object, parts: Sequence[Part]) -> Make:
    """Makes objects of a class with a constructor that takes the fields by name, without an underscore before it."""
    construct = cast("Callable[..., object]", cls)
    is_attrs = isinstance(cls, type) and attrs.has(cls)
    arguments = {part.name: part.name.lstrip("_") if is_attrs else part.name for part in parts if not part.outside}

    def make(fields: Fields) -> object:
        made = construct(**{argument: fields[name] for name, argument in arguments.items() if name in fields})
        for part in parts:
            if part.outside and part.name in fields:
                object.__setattr__(made, part.name, fields[part.name])
        return made

    return make


def generic_form(generic: object, inside: Form) -> Form:
    """One of the generic classes above, of this form."""
    form = cast("Mapping[object, object]", generic)[inside.type]
    more, key = row_of(inside), inside.is_key
    if generic is Box:
        parts = [
            Part("inside", inside),
            Part("more", more, may_lack=True),
            Part("maybe", optional(inside), may_lack=True),
        ]
        return class_form(form, Box, parts, maker(Box, parts), is_key=key)
    if generic is Labelled:
        parts = [Part("value", inside), Part("label", optional(STR), may_lack=True)]
        return class_form(form, Labelled, parts, maker(Labelled, parts), is_key=key)
    parts = [Part("held", inside), Part("more", more, may_lack=True)]
    return class_form(form, dict, parts, dict[str, object])


def couple_form(first: Form, second: Form) -> Form:
    """The generic dataclass above, of these forms."""
    form = cast("Mapping[object, object]", Couple)[first.type, second.type]
    parts = [Part("first", first), Part("second", dict_of(STR, second), may_lack=True)]
    return class_form(form, Couple, parts, maker(Couple, parts))


_INT_BOX: Final = [
    *(Part("inside", INT), Part("more", row_of(INT), may_lack=True), Part("maybe", optional(INT), may_lack=True)),
    Part("label", STR, may_lack=True),
]
INT_BOX: Final = class_form(IntBox, IntBox, _INT_BOX, maker(IntBox, _INT_BOX), is_key=True)
ALONE: Final = class_form(Alone, Alone, [Part("x", INT)], maker(Alone, [Part("x", INT)]))


@attrs.frozen
class Source:
    """Where the forms inside a class come from."""

    draw: st.DrawFn
    form: Callable[[], Form]
    name: Callable[[str], str]

    def flag(self) -> bool:
        """True or false."""
        return self.draw(st.booleans())

    def parts(self, *, outside: bool = False, defaults: bool = False, names: Sequence[str] = NAMES) -> list[Part]:
        """Fields of a class to be made, those without a default first."""
        found = self.draw(st.lists(st.sampled_from(names), max_size=MOST_FIELDS, unique=True))
        parts = [
            Part(name, self.form(), may_lack=defaults and self.flag(), outside=outside and self.flag())
            for name in found
        ]
        return sorted(parts, key=attrgetter("may_lack"))


MOST_FIELDS: Final = 3
"""Fields of a drawn class."""


def attrs_form(source: Source, *, frozen: bool = False) -> Form:
    """An attrs class, frozen or not, slotted or not, with fields of every kind."""
    parts = source.parts(outside=True, defaults=True)
    if source.flag():
        parts = [Part("_own", INT), *parts]
    fields: dict[str, object] = {}
    for part in parts:
        default = attrs.Factory(_always(source.draw(part.form.values))) if part.may_lack else attrs.NOTHING
        fields[part.name] = attrs.field(
            init=not part.outside, default=default, type=cast("type[object]", part.form.type)
        )
    frozen = frozen or source.flag()
    cls = attrs.make_class(source.name("A"), fields, frozen=frozen, slots=source.flag(), kw_only=source.flag())
    is_key = frozen and all(part.form.is_key for part in parts)
    return class_form(cls, cls, parts, maker(cls, parts), is_key=is_key)


def dataclass_form(source: Source, *, frozen: bool = False) -> Form:
    """A dataclass, frozen or not, slotted or not, with fields of every kind."""
    parts = source.parts(outside=True, defaults=True)
    fields: list[tuple[str, object, object]] = []
    for part in parts:
        options: dict[str, object] = {"init": not part.outside}
        if part.may_lack:
            options["default_factory"] = _always(source.draw(part.form.values))
        fields.append((part.name, part.form.type, cast("Callable[..., object]", dataclasses.field)(**options)))
    frozen = frozen or source.flag()
    make = cast("Callable[..., type[object]]", dataclasses.make_dataclass)
    cls = make(source.name("D"), fields, frozen=frozen, slots=source.flag(), kw_only=source.flag())
    is_key = frozen and all(part.form.is_key for part in parts)
    return class_form(cls, cls, parts, maker(cls, parts), is_key=is_key)


def named_tuple_form(source: Source) -> Form:
    """A NamedTuple."""
    parts = source.parts()
    make = cast("Callable[..., type[object]]", NamedTuple)
    cls = make(source.name("T"), [(part.name, part.form.type) for part in parts])
    return class_form(cls, cls, parts, maker(cls, parts), is_key=all(part.form.is_key for part in parts))


def typed_dict_form(source: Source) -> Form:
    """A typed dict with keys that may be absent, in any order, and with any texts as keys."""
    parts = source.parts(defaults=True, names=[*NAMES, "a b", "", "1", "\x00", "None"])
    total = source.flag()
    keys: dict[str, object] = {}
    for part in parts:
        kind = "NotRequired" if part.may_lack else "Required"
        keys[part.name] = part.form.type if part.may_lack is not total else typing.__dict__[kind][part.form.type]
    form: object = cast("Callable[..., object]", TypedDict)(source.name("K"), keys, total=total)
    made = class_form(form, dict, parts, dict[str, object])

    def bad() -> SearchStrategy[Bad]:
        whole = cast("SearchStrategy[dict[str, object]]", made.values)
        found = [made.bad(), whole.map(lambda fields: Bad({**fields, "more": 1}, field_step("more")))]
        for part in parts:
            if not part.may_lack:
                found.append(st.builds(_without, whole, st.just(part.name)))
        return st.one_of(found)

    # A key that is missing has no default here: it is missing again.
    return attrs.evolve(made, exact=all(part.form.exact for part in parts), bad=bad)


def _without(fields: dict[str, object], name: str) -> Bad:
    return Bad({key: value for key, value in fields.items() if key != name}, field_step(name))


def _always(value: object) -> Callable[[], object]:
    return lambda: value
