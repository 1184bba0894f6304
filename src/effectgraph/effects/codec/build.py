"""The making of a codec's shapes, and the converter that holds their hooks."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Hashable, Sequence

import attrs
from cattrs import Converter

from effectgraph.effects.codec.errors import UnsupportedType
from effectgraph.effects.codec.forms import is_class, look_through, name_of
from effectgraph.effects.codec.limits import MAX_DEPTH
from effectgraph.effects.codec.shapes import OBJECT, Definition, Json, Misfit, Shape, Shapes
from effectgraph.effects.codec.wire import write_sorted


@attrs.frozen
class Rule:
    """Which types it is for, and how their shape is made."""

    applies: Callable[[object], bool]
    make: Callable[[object, Shapes], Shape]


class _Nesting(threading.local):
    """How deep the value at hand is nested, as far as classes that refer back to themselves can tell."""

    level = 0


@attrs.define
class _Underway:
    """A class whose inside is being made."""

    shape: Shape
    level: int
    made: Definition | None = None


class Build:
    """Makes the shapes of one codec. Every shape's hooks are registered on one converter, for exactly its type."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._converter = Converter()
        self._nesting = _Nesting()
        self._steps: list[str] = []
        self._known: dict[object, Shape] = {}
        self._underway: dict[object, _Underway] = {}
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
        number = len(self._definitions)
        self._definitions.append(None)
        place = _Underway(self._late(form, values, number), len(self._steps))
        self._underway[form] = place
        place.made = make()
        del self._underway[form]
        self._definitions[number] = place.made.outline
        return attrs.evolve(place.shape, write=place.made.write, read=place.made.read)

    def refers_back(self, form: object) -> bool:
        """Whether the shape of a type, made before, leads back to a class that is still being made."""
        return not self._back[look_through(form)].isdisjoint(self._underway)

    def _shape(self, form: Hashable) -> Shape:
        if form in self._underway:
            return self._again(form)
        if form in self._known:
            self._open[-1] |= self._back[form] & self._underway.keys()
            return self._known[form]
        rule = next(rule for rule in self._rules if rule.applies(form))
        shape = self._known[form] = rule.make(form, self)
        self._register(form, shape)
        return shape

    def _register(self, form: object, shape: Shape) -> None:
        if is_class(form) and not attrs.has(form):
            # The converter looks along a class's bases before it asks any predicate, so a `str` that is an enum would
            # get the hook of `str`.
            self._converter.register_unstructure_hook(form, shape.write)
            self._converter.register_structure_hook(form, shape.read)
        else:
            self._converter.register_unstructure_hook_func(lambda other: other == form, shape.write)
            self._converter.register_structure_hook_func(lambda other: other == form, shape.read)

    def _late(self, form: object, values: frozenset[type[object]], number: int) -> Shape:
        def not_yet(*_: object) -> Json:
            raise AssertionError(f"the inside of {name_of(form)} is used before it is made")

        return Shape(name_of(form), values, OBJECT, {"class": number}, not_yet, not_yet)

    def _again(self, form: object) -> Shape:
        """The shape of a class inside itself. Its hooks count levels, so that no value outgrows the stack."""
        place = self._underway[form]
        self._open[-1].add(form)
        nesting, levels = self._nesting, len(self._steps) - place.level

        def write(value: object) -> Json:
            made = place.made
            assert made is not None
            nesting.level += levels
            try:
                if nesting.level > MAX_DEPTH:
                    raise Misfit(place.shape.name, f"is nested more than {MAX_DEPTH} levels deep")
                return made.write(value)
            finally:
                nesting.level -= levels

        def read(raw: Json, _: object) -> object:
            made = place.made
            assert made is not None
            nesting.level += levels
            try:
                if nesting.level > MAX_DEPTH:
                    raise Misfit(place.shape.name, f"is nested more than {MAX_DEPTH} levels deep")
                return made.read(raw, None)
            finally:
                nesting.level -= levels

        return attrs.evolve(place.shape, write=write, read=read)
