"""Which values can be shared between tasks, and how the others are copied."""

from __future__ import annotations

import copy
import datetime as dt
import types
import typing
import uuid
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path, PosixPath, PurePath, PurePosixPath, PureWindowsPath
from typing import Annotated, Final, Literal, NewType, Union

import typing_extensions

from effectgraph.effects.codec import Codec
from effectgraph.graph.declared import declared_fields, is_class, is_declared, is_frozen, resolved

IMMUTABLE: Final = frozenset(
    (
        *(type(None), bool, int, float, complex, str, bytes, Decimal, Fraction, uuid.UUID),
        *(dt.datetime, dt.date, dt.time, dt.timedelta),
        *(PurePath, PurePosixPath, PureWindowsPath, Path, PosixPath),
    )
)


def copier(form: object, codec: Codec[object], /) -> Callable[[object], object] | None:
    """What copies a value of this type so that the two share nothing that can change; None if it can be shared itself.

    The answer comes from the type alone, so it holds for every value that the codec lets through.
    """
    if is_immutable(form):
        return None
    form = unwrapped(form)
    if typing.get_origin(form) in (list, dict, set) and all(is_immutable(part) for part in typing.get_args(form)):
        return copy.copy
    return lambda value: codec.decode(codec.encode(value))


def is_immutable(form: object, /) -> bool:
    """Whether no value of this type can change. A type that is not known here counts as one that can."""
    return _is_immutable(form, frozenset())


def unwrapped(form: object, /) -> object:
    """The type under `Annotated`, a `NewType` and a `type` alias."""
    while True:
        if typing.get_origin(form) is Annotated:
            form = typing.get_args(form)[0]
        elif isinstance(form, NewType):
            form = form.__supertype__
        elif isinstance(form, typing_extensions.TypeAliasType):
            form = form.__value__
        else:
            return form


def _is_immutable(form: object, within: frozenset[type[object]]) -> bool:
    form = unwrapped(form)
    if form is None:
        return True
    origin = typing.get_origin(form)
    if origin is Literal:
        return True
    if origin in (tuple, frozenset, Union, types.UnionType):
        return all(part is Ellipsis or _is_immutable(part, within) for part in typing.get_args(form))
    if not is_class(form):
        return False
    if form in IMMUTABLE or issubclass(form, Enum) or form in within:
        return True
    return _is_immutable_class(form, within | {form})


def _is_immutable_class(cls: type[object], within: frozenset[type[object]]) -> bool:
    if is_declared(cls):
        try:
            return is_frozen(cls) and all(_is_immutable(resolved(cls, field), within) for field in declared_fields(cls))
        except Exception:
            # An annotation that cannot be evaluated here tells nothing; the codec says whether it can carry the type.
            return False
    return False
