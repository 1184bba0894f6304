"""Unions: told apart by their JSON forms where these differ, else by the name of the member."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from types import NoneType

import attrs

from effectgraph.effects.codec.forms import arguments_of, full_name_of, is_union, look_through, name_of
from effectgraph.effects.codec.limits import MAX_DEPTH
from effectgraph.effects.codec.shapes import (
    NULL,
    OBJECT,
    Hashing,
    Json,
    Misfit,
    Read,
    Shape,
    Shapes,
    Write,
    is_not,
    shown,
    unexpected,
)


@attrs.frozen
class _Member:
    tag: str
    form: object
    shape: Shape


def union_shape(form: object, shapes: Shapes) -> Shape:
    """A union's value is that of its member. Where two members share a JSON form, it is `{"member": ...}` instead.

    None is always null. An int beside a float adds nothing: a float's place takes ints as they are.
    """
    name = name_of(form)
    members = [_Member(tag, each, shapes.of(each, "")) for tag, each in _tagged(form, shapes)]
    pairs = combinations([member.shape.raws for member in members], 2)
    tagged = any(not one.isdisjoint(other) for one, other in pairs)
    writers = {cls: _writer(name, candidates, tagged) for cls, candidates in _by_class(members, form, shapes)}
    outline: dict[str, Json] = {member.tag: member.shape.outline for member in members}
    some = frozenset[type[object]]().union(*(member.shape.values for member in members))
    raws = frozenset[type[object]]().union(*(member.shape.raws for member in members))
    hashing = min([Hashing.BY_VALUE, *(member.shape.hashing for member in members)])

    def write(value: object) -> Json:
        write_member = writers.get(type(value))
        if write_member is None:
            raise is_not(name, value)
        return write_member(value)

    if tagged:
        read = _tag_reader(name, members)
        return Shape(name, some, OBJECT | (raws & NULL), {"tagged": outline}, write, read, hashing)
    return Shape(name, some, raws, {"union": outline}, write, _form_reader(name, members), hashing)


def _tagged(form: object, shapes: Shapes) -> list[tuple[str, object]]:
    """The members of a union by their names, sorted: equal unions may list them in any order."""
    forms = list(dict.fromkeys(_flat(form, (), shapes)))
    if float in forms and int in forms:
        forms.remove(int)
    count = Counter(name_of(each) for each in forms)
    tags = {(name_of(each) if count[name_of(each)] == 1 else full_name_of(each)): each for each in forms}
    if len(tags) != len(forms):
        raise shapes.refuse(form, "two of its members have the same name; rename one")
    return sorted(tags.items(), key=lambda item: item[0])


def _flat(form: object, outer: tuple[object, ...], shapes: Shapes) -> Iterator[object]:
    if len(outer) > MAX_DEPTH:
        raise shapes.refuse(outer[0], "it is a member of itself, and nothing is left beside that")
    for each in map(look_through, arguments_of(form)):
        if is_union(each):
            yield from _flat(each, (*outer, form), shapes)
        else:
            yield each


def _by_class(members: Sequence[_Member], form: object, shapes: Shapes) -> Iterator[tuple[type[object], list[_Member]]]:
    """The members that a value of each class may belong to."""
    for cls in frozenset[type[object]]().union(*(member.shape.values for member in members)):
        candidates = [member for member in members if cls in member.shape.values]
        candidates.sort(key=lambda member: member.form is not NoneType)
        # Each candidate is tried, so two that lead back here would double the work at every level of a value.
        if sum(shapes.refers_back(member.form) for member in candidates) > 1:
            tags = ", ".join(member.tag for member in candidates)
            raise shapes.refuse(form, f"its members {tags} are all of class {cls.__name__} and refer back; wrap them")
        yield cls, candidates


def _writer(name: str, candidates: Sequence[_Member], tagged: bool) -> Write:
    writers = [_member_writer(member, tagged) for member in candidates]
    if len(writers) == 1:
        return writers[0]

    def write(value: object) -> Json:
        failures: list[str] = []
        for member, write_member in zip(candidates, writers, strict=True):
            try:
                return write_member(value)
            except Misfit as misfit:
                failures.append(f"as {member.tag}, {misfit.path or 'it'} {misfit.why}")
        raise Misfit(name, f"fits no member: {'; '.join(failures)}")

    return write


def _member_writer(member: _Member, tagged: bool) -> Write:
    tag, write = member.tag, member.shape.write
    if not tagged or member.form is NoneType:
        return write
    return lambda value: {tag: write(value)}


def _form_reader(name: str, members: Sequence[_Member]) -> Read:
    readers = {raw: member.shape.read for member in members for raw in member.shape.raws}

    def read(raw: Json, _: object) -> object:
        read_member = readers.get(type(raw))
        if read_member is None:
            raise unexpected(name, raw)
        return read_member(raw, None)

    return read


def _tag_reader(name: str, members: Sequence[_Member]) -> Read:
    nullable = any(member.form is NoneType for member in members)
    readers = {member.tag: member.shape.read for member in members if member.form is not NoneType}

    def read(raw: Json, _: object) -> object:
        if raw is None and nullable:
            return None
        if type(raw) is not dict or len(raw) != 1:
            raise unexpected(name, raw)
        ((tag, inner),) = raw.items()
        read_member = readers.get(tag)
        if read_member is None:
            raise Misfit(name, f"the union has no member {shown(tag)}; it has {', '.join(sorted(readers))}")
        return read_member(inner, None)

    return read
