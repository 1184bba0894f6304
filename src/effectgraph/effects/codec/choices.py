"""Types with a fixed set of values: enums, by the names of their members, and literals."""

from __future__ import annotations

import enum
from typing import Final, Literal, get_origin

from effectgraph.effects.codec.forms import arguments_of, is_class, name_of
from effectgraph.effects.codec.plain import PLAIN
from effectgraph.effects.codec.shapes import (
    TEXT,
    Hashing,
    Json,
    Misfit,
    Shape,
    Shapes,
    has_hash,
    is_not,
    shown,
    unexpected,
)

_JOIN: Final = "|"


def is_enum(form: object) -> bool:
    """Whether a form is an enum of any kind."""
    return is_class(form) and issubclass(form, enum.Enum)


def enum_shape(form: object, shapes: Shapes) -> Shape:
    """A member is its name, so its value may change. A flag is the names of its members, joined by `|`."""
    assert is_class(form)
    assert issubclass(form, enum.Enum)
    members = dict(form.__members__)
    if not members:
        raise shapes.refuse(form, "it has no members; declare an enum that has")
    if issubclass(form, enum.Flag):
        return _flag_shape(form, shapes)
    # By identity: a member may be equal to another one, or to a plain value, and need not be hashable.
    names = {id(member): name for name, member in reversed(members.items())}
    name = form.__name__

    def write(value: enum.Enum) -> Json:
        if type(value) is not form:
            raise is_not(name, value)
        return names[id(value)]

    def read(raw: Json, _: object) -> enum.Enum:
        if type(raw) is not str:
            raise unexpected(name, raw)
        member = members.get(raw)
        if member is None:
            raise Misfit(name, f"{name} has no member {shown(raw)}")
        return member

    return Shape(name, frozenset({form}), TEXT, _outline(form), write, read, _hashing(form))


def _flag_shape(form: type[enum.Flag], shapes: Shapes) -> Shape:
    name = form.__name__
    members = dict(form.__members__)
    if any(_JOIN in each for each in members):
        raise shapes.refuse(form, f"names of its members hold {_JOIN!r}, which joins them; name them otherwise")
    values: list[object] = [member.value for member in members.values()]
    if not all(isinstance(value, int) for value in values):
        raise shapes.refuse(form, "it is a flag whose values are no integers, so they do not add up; make it an Enum")
    names = {member.value: each for each, member in reversed(members.items())}
    # Ascending, so a bit that has a name of its own comes before any member that has it with others.
    by_bits = sorted(names.items())

    def write(value: enum.Flag) -> Json:
        if type(value) is not form:
            raise is_not(name, value)
        whole = rest = value.value
        if whole in names:
            return names[whole]
        parts: list[str] = []
        for bits, each in by_bits:
            if bits & rest and not bits & ~whole:
                parts.append(each)
                rest &= ~bits
        if rest:
            raise Misfit(name, "has bits that no member names")
        return _JOIN.join(parts)

    def read(raw: Json, _: object) -> enum.Flag:
        if type(raw) is not str:
            raise unexpected(name, raw)
        value = form(0)
        for each in raw.split(_JOIN) if raw else ():
            if each not in members:
                raise Misfit(name, f"{name} has no member {shown(each)}")
            value |= members[each]
        return value

    return Shape(name, frozenset({form}), TEXT, _outline(form), write, read, _hashing(form))


def _hashing(form: type[enum.Enum]) -> Hashing:
    # Members are compared by what they are of; a class that compares by fields and can change takes their hash away.
    return Hashing.BY_VALUE if has_hash(form) else Hashing.NEVER


def _outline(form: type[enum.Enum]) -> Json:
    return {"enum": form.__name__, "members": [*sorted(form.__members__)]}


def is_literal(form: object) -> bool:
    """Whether a form is a `Literal`."""
    return get_origin(form) is Literal


def literal_shape(form: object, shapes: Shapes) -> Shape:
    """A literal's value is what it is in its own type; it has to be one of those written down."""
    name = name_of(form)
    kinds: set[type[object]] = set()
    raws: dict[tuple[type[object], object], Json] = {}
    hashing = Hashing.BY_VALUE
    values: dict[tuple[type[object], Json], object] = {}
    outline: list[Json] = []
    for value in arguments_of(form):
        kind = type(value)
        shape = enum_shape(kind, shapes) if is_enum(kind) else PLAIN[kind]
        raw = shape.write(value)
        if (type(raw), raw) in values:
            raise shapes.refuse(form, f"two of its values are written as {raw!r}; use an enum or a union")
        kinds.add(kind)
        hashing = min(hashing, shape.hashing)
        raws[kind, value] = raw
        values[type(raw), raw] = value
        outline.append({shape.name: raw})

    def write(value: object) -> Json:
        if type(value) not in kinds:
            raise is_not(name, value)
        if (type(value), value) not in raws:
            raise Misfit(name, "is none of these values")
        return raws[type(value), value]

    def read(raw: Json, _: object) -> object:
        if type(raw) is list or type(raw) is dict or (type(raw), raw) not in values:
            raise unexpected(name, raw)
        return values[type(raw), raw]

    outline.sort(key=repr)
    forms = frozenset(kind for kind, _ in values)
    return Shape(name, frozenset(kinds), forms, {"literal": outline}, write, read, hashing)
