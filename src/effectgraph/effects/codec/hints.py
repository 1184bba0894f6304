"""What the fields of a class are declared as, with names looked up and type variables filled in."""

from __future__ import annotations

import inspect
from typing import Self

import attrs
from typing_extensions import is_typeddict

from effectgraph.effects.codec.forms import arguments_of, class_of
from effectgraph.effects.codec.variables import Bound, Scope, bare, bound_by, filled, names_in, parameters_of


class Hints:
    """The declared types of one class's fields, for a form of it with or without something in brackets.

    Making it raises `TypeError` for a class whose type variables cannot be filled in, and whatever looking up one of
    their defaults raises.
    """

    def __init__(self, form: object) -> None:
        cls = class_of(form)
        assert cls is not None
        self._cls = cls
        self._form = form
        self._bound: dict[type[object], Bound] = {}
        self._bind(cls, arguments_of(form))

    def annotation(self, name: str, fallback: object = attrs.NOTHING) -> object:
        """What the class says of a field's type, perhaps as text. `fallback` is for a field without an annotation."""
        return inspect.get_annotations(self._owner(name)).get(name, fallback)

    def resolved(self, name: str, annotation: object, *, extras: bool = False) -> object:
        """The type that a field's annotation means. Raises whatever looking up its names raises."""
        owner = self._owner(name)
        return filled(bare(annotation, _scope(owner), extras=extras), self._bound.get(owner, {}))

    def _owner(self, name: str) -> type[object]:
        """The class whose annotation counts: the nearest base that has it. Typed dicts copy those of their bases."""
        if is_typeddict(self._cls):
            return next((cls for cls in reversed(self._bound) if name in inspect.get_annotations(cls)), self._cls)
        return next((cls for cls in self._cls.__mro__ if name in inspect.get_annotations(cls)), self._cls)

    def _bind(self, cls: type[object], arguments: tuple[object, ...]) -> None:
        bound = bound_by(parameters_of(cls), arguments, _scope(cls))
        self._bound.setdefault(cls, {**bound, Self: self._form})
        bases: tuple[object, ...] = vars(cls).get("__orig_bases__", cls.__bases__)
        for base in bases:
            base_cls = class_of(base)
            if base_cls is not None:
                self._bind(base_cls, tuple(filled(each, bound) for each in arguments_of(base)))


def _scope(owner: type[object]) -> Scope:
    """The names that an annotation in a class can mean: its type parameters', its module's, its own."""
    parameters = {each.__name__: each for each in getattr(owner, "__type_params__", ())}
    own = {owner.__name__: owner}
    # The names of a function around the class cannot be seen, except that the class knows its own.
    near = own if "<locals>" in owner.__qualname__ else {}
    return {**vars(owner), **own, **names_in(owner.__module__), **near, **parameters}
