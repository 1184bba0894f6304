"""Which values can be shared between tasks, and how the others are copied."""

from __future__ import annotations

import copy
import datetime as dt
import typing
import uuid
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path, PosixPath, PurePath, PurePosixPath, PureWindowsPath
from typing import Annotated, Final, Literal, NewType

import typing_extensions

from effectgraph.effects.codec import Codec
from effectgraph.effects.codec.fields import is_named_tuple
from effectgraph.effects.codec.forms import class_of, is_union
from effectgraph.graph.declared import declared_fields, is_declared, is_frozen, type_of

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


def _is_immutable(form: object, within: frozenset[object]) -> bool:
    form = unwrapped(form)
    if form is None:
        return True
    if typing.get_origin(form) is Literal:
        return True
    if is_union(form) or typing.get_origin(form) in (tuple, frozenset):
        return all(part is Ellipsis or _is_immutable(part, within) for part in typing.get_args(form))
    cls = class_of(form)
    if cls is None:
        return False
    return cls in IMMUTABLE or issubclass(cls, Enum) or form in within or _is_immutable_record(form, cls, within)


def _is_immutable_record(form: object, cls: type[object], within: frozenset[object]) -> bool:
    if is_named_tuple(cls):
        names: tuple[str, ...] = vars(cls)["_fields"]
    elif is_declared(cls) and is_frozen(cls):
        names = tuple(field.name for field in declared_fields(cls))
    else:
        return False
    try:
        return all(_is_immutable(type_of(form, name), within | {form}) for name in names)
    except Exception:
        # A type that cannot be looked up tells nothing; whether the codec can carry it is told elsewhere.
        return False
