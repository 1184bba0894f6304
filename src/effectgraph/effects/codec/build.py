"""The making of a codec's shapes, and the converter that holds their hooks."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Hashable, Sequence

import attrs
from cattrs import Converter

from effectgraph.effects.codec.errors import UnsupportedType
from effectgraph.effects.codec.forms import class_of, is_class, look_through, name_of
from effectgraph.effects.codec.limits import MAX_DEPTH
from effectgraph.effects.codec.shapes import OBJECT, Definition, Hashing, Json, Misfit, Shape, Shapes, has_hash
from effectgraph.effects.codec.wire import write_sorted


@attrs.frozen
class Rule:
    """Which types it is for, and how their shape is made.

    `raws` are the JSON forms of a container's values, known before anything in it is: it may be made of itself.
    """

    applies: Callable[[object], bool]
    make: Callable[[object, Shapes], Shape]
    raws: frozenset[type[object]] = frozenset()


class _Nesting(threading.local):
    """How deep the value at hand is nested, as far as types that refer back to themselves can tell."""

    level = 0


@attrs.define(eq=False)
class _Underway:
    """A type whose inside is being made. `number` is that of its definition, once something refers back to it.

    Only a class is one wherever it stands. Any other type is made anew in each class that it leads to.
    """

    form: object
    values: frozenset[type[object]]
    raws: frozenset[type[object]]
    level: int
    is_class: bool = False
    number: int | None = None
    made: Shape | Definition | None = None


class Build:
    """Makes the shapes of one codec. Every shape's hooks are registered on one converter, for exactly its type."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._converter = Converter()
        self._nesting = _Nesting()
        self._steps: list[str] = []
        self._known: dict[object, Shape] = {}
        self._underway: list[_Underway] = []
        self._back: dict[object, frozenset[object]] = {}
        self._open: list[set[object]] = [set()]
        self._definitions: list[Json] = []

    def converter(self) -> Converter:
        """The converter that holds the hooks of every type which the codec has met."""
        return self._converter

    def schema(self, shape: Shape) -> str:
        """The fingerprint of a shape and of all classes in it: 16 hex digits of a SHA-256."""
        return hashlib.sha256(write_sorted([shape.outline, self._definitions])).hexdigest()[:16]

    def refuse(self, form: object, why: str, step: str = "") -> UnsupportedType:
        """The error for a type at the present place, or one step further inside. `form` may be a name of it."""
        path = "".join([*self._steps, step]).removeprefix(".")
        return UnsupportedType(path, form if isinstance(form, str) else name_of(form), why)

    def of(self, form: object, step: str) -> Shape:
        """The shape of a type that is one step further inside. Raises `UnsupportedType`."""
        form = look_through(form)
        if step:
            self._steps.append(step)
        if len(self._steps) > MAX_DEPTH:
            raise UnsupportedType("", "this type", f"it is nested more than {MAX_DEPTH} levels deep")
        if not isinstance(form, Hashable):
            raise self.refuse(form, "it is no type")
        self._open.append(set())
        shape = self._shape(form)
        self._back[form] = frozenset(self._open.pop())
        self._open[-1] |= self._back[form]
        if step:
            self._steps.pop()
        return shape

    def define(self, form: object, values: frozenset[type[object]], make: Callable[[], Definition]) -> Shape:
        """The shape of a class whose values are JSON objects, and whose inside may refer back to it."""
        place = self._underway[-1]
        place.values, place.raws, place.is_class = values, OBJECT, True
        number = self._numbered(place)
        place.made = made = make()
        self._definitions[number] = made.outline
        hashing = _hashing(values, made.hashing)
        return Shape(name_of(form), values, OBJECT, {"class": number}, made.write, made.read, hashing)

    def refers_back(self, form: object) -> bool:
        """Whether the shape of a type, made before, leads back to a class that is still being made."""
        return not self._back[look_through(form)].isdisjoint(self._forms_underway())

    def _shape(self, form: Hashable) -> Shape:
        if place := self._place_of(form):
            return self._again(place)
        if form in self._known:
            self._open[-1] |= self._back[form] & self._forms_underway()
            return self._known[form]
        rule = next(rule for rule in self._rules if rule.applies(form))
        values = frozenset({cls}) if rule.raws and (cls := class_of(form)) else frozenset[type[object]]()
        self._underway.append(_Underway(form, values, rule.raws, len(self._steps)))
        shape = rule.make(form, self)
        place = self._underway.pop()
        if place.number is not None and not place.is_class:
            place.made = shape
            self._definitions[place.number] = shape.outline
            shape = attrs.evolve(shape, outline={"class": place.number})
        self._known[form] = shape
        self._register(form, shape)
        return shape

    def _forms_underway(self) -> set[object]:
        return {place.form for place in self._underway}

    def _place_of(self, form: object) -> _Underway | None:
        """Where a type is being made, if it is and what stands between may refer back to it."""
        within = True
        for place in reversed(self._underway):
            if place.form == form and (within or place.is_class):
                return place
            within = within and not place.is_class
        return None

    def _numbered(self, place: _Underway) -> int:
        if place.number is None:
            place.number = len(self._definitions)
            self._definitions.append(None)
        return place.number

    def _register(self, form: object, shape: Shape) -> None:
        if is_class(form) and not attrs.has(form):
            # The converter looks along a class's bases before it asks any predicate, so a `str` that is an enum would
            # get the hook of `str`.
            self._converter.register_unstructure_hook(form, shape.write)
            self._converter.register_structure_hook(form, shape.read)
        else:
            self._converter.register_unstructure_hook_func(lambda other: other == form, shape.write)
            self._converter.register_structure_hook_func(lambda other: other == form, shape.read)

    def _again(self, place: _Underway) -> Shape:
        """The shape of a type inside itself. Its hooks count levels, so that no value outgrows the stack."""
        number, name = self._numbered(place), name_of(place.form)
        self._open[-1].add(place.form)
        nesting, levels = self._nesting, len(self._steps) - place.level

        def write(value: object) -> Json:
            made = place.made
            assert made is not None
            nesting.level += levels
            try:
                if nesting.level > MAX_DEPTH:
                    raise Misfit(name, f"is nested more than {MAX_DEPTH} levels deep")
                return made.write(value)
            finally:
                nesting.level -= levels

        def read(raw: Json, _: object) -> object:
            made = place.made
            assert made is not None
            nesting.level += levels
            try:
                if nesting.level > MAX_DEPTH:
                    raise Misfit(name, f"is nested more than {MAX_DEPTH} levels deep")
                return made.read(raw, None)
            finally:
                nesting.level -= levels

        return Shape(
            name, place.values, place.raws, {"class": number}, write, read, _hashing(place.values, Hashing.OWN)
        )


def _hashing(values: frozenset[type[object]], most: Hashing) -> Hashing:
    return most if all(has_hash(cls) for cls in values) else Hashing.NEVER
