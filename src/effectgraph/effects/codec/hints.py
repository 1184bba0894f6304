"""What the fields of a class are declared as, with names looked up and type variables filled in."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from typing import Any, TypeVar, get_origin

import attrs
from typing_extensions import is_typeddict

from effectgraph.effects.codec.forms import arguments_of, bare, class_of, is_class

_Bound = Mapping[object, object]


class Hints:
    """The declared types of one class's fields, for a form of it with or without something in brackets."""

    def __init__(self, form: object) -> None:
        cls = class_of(form)
        assert cls is not None
        self._cls = cls
        self._bound: dict[type[object], _Bound] = {}
        self._bind(cls, arguments_of(form))

    def annotation(self, name: str, fallback: object = attrs.NOTHING) -> object:
        """What the class says of a field's type, perhaps as text. `fallback` is for a field without an annotation."""
        return inspect.get_annotations(self._owner(name)).get(name, fallback)

    def resolved(self, name: str, annotation: object, *, extras: bool = False) -> object:
        """The type that a field's annotation means. Raises whatever looking up its names raises."""
        owner = self._owner(name)
        return _filled(bare(annotation, _scope(owner), extras=extras), self._bound.get(owner, {}))

    def _owner(self, name: str) -> type[object]:
        """The class whose annotation counts: the nearest base that has it. Typed dicts copy those of their bases."""
        if is_typeddict(self._cls):
            return next((cls for cls in reversed(self._bound) if name in inspect.get_annotations(cls)), self._cls)
        return next((cls for cls in self._cls.__mro__ if name in inspect.get_annotations(cls)), self._cls)

    def _bind(self, cls: type[object], arguments: tuple[object, ...]) -> None:
        parameters: tuple[object, ...] = getattr(cls, "__parameters__", ())
        bound = dict(zip(parameters, arguments, strict=False))
        self._bound.setdefault(cls, bound)
        bases: tuple[object, ...] = vars(cls).get("__orig_bases__", cls.__bases__)
        for base in bases:
            base_cls = class_of(base)
            if base_cls is not None:
                self._bind(base_cls, tuple(_filled(each, bound) for each in arguments_of(base)))


def _scope(owner: type[object]) -> Mapping[str, object]:
    """The names that an annotation in a class can mean: its type parameters', its module's, its own."""
    module = vars(sys.modules[owner.__module__]) if owner.__module__ in sys.modules else {}
    parameters = {each.__name__: each for each in getattr(owner, "__type_params__", ())}
    own = {owner.__name__: owner}
    # The names of a function around the class cannot be seen, except that the class knows its own.
    near = own if "<locals>" in owner.__qualname__ else {}
    return {**vars(owner), **own, **module, **near, **parameters}


def _filled(form: object, bound: _Bound) -> object:
    """A form with the type variables that are bound replaced."""
    if isinstance(form, TypeVar):
        return bound.get(form, form)
    parameters: tuple[object, ...] = () if is_class(form) else getattr(form, "__parameters__", ())
    if not parameters or not get_origin(form):
        return form
    generic: Any = form
    return generic[tuple(bound.get(each, each) for each in parameters)]
