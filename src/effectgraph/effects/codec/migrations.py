"""Values that another version of their type wrote, brought up to date by functions that the program hands in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from math import isfinite
from types import NoneType
from typing import Annotated, Final, TypeAlias, cast, get_args, get_origin

import attrs

from effectgraph.effects.codec.errors import BadMigration
from effectgraph.effects.codec.limits import MAX_BYTES, MAX_JSON_DEPTH
from effectgraph.effects.codec.plain import write_bool, write_int, write_none, write_str
from effectgraph.effects.codec.shapes import (
    Json,
    Misfit,
    Read,
    Repeated,
    Write,
    is_not,
    shown,
    step_to,
    step_to_key,
    unexpected,
)

Migrate: TypeAlias = Callable[[Json], Json]
"""Takes the JSON form that an older schema wrote, and gives that of a newer one."""

_SCHEMA: Final = re.compile(r"[0-9a-f]{16}")


@attrs.frozen(kw_only=True)
class Migration:
    """A step from one schema to the next: what `by` returns is a JSON form as schema `to` would have written it.

    `to` is the codec's own schema, or an older one that has a migration of its own. It is written down and does not
    stand for "today's": once the type has changed again, a step that no longer leads anywhere is refused when it is
    handed in, before it passes the form of yesterday off as today's.
    """

    to: str
    by: Migrate


Migrations: TypeAlias = Mapping[str, Migration]
"""By the schema that they take."""


@attrs.frozen(eq=False)
class Migrating:
    """Migrations in the `Annotated` of a type, for codecs that the program does not make itself.

    `lines: Annotated[tuple[Line, ...], append, Migrating({"0123456789abcdef": Migration(to=..., by=...)})]` in a state
    class, or the result of a tool. They count for the type as a whole; anywhere inside another type they are nothing.
    """

    migrations: Migrations


def annotated_with(form: object) -> Migrations:
    """The migrations that stand in the `Annotated` of a type; none for any other form."""
    if get_origin(form) is not Annotated:
        return {}
    found: dict[str, Migration] = {}
    for each in get_args(form)[1:]:
        if isinstance(each, Migrating):
            found.update(each.migrations)
    return found


def checked(migrations: Migrations, name: str, schema: str) -> Migrations:
    """A copy of migrations, each of which leads to a codec's schema in the end. Raises `BadMigration`."""
    steps = dict(migrations)
    for old, step in steps.items():
        for each in (old, step.to):
            if _SCHEMA.fullmatch(each) is None:
                why = f"{shown(each)} is no schema; one is 16 hex digits, as errors and the store's rows show it"
                raise BadMigration(name, old, why)
        if old == schema:
            raise BadMigration(name, old, "it is the codec's own; name the one that wrote the older bytes")
        if step.to != schema and step.to not in steps:
            why = f"it leads to {step.to}, which is not the codec's own, {schema}, and has no migration; add that"
            raise BadMigration(name, old, why)
    for old in steps:
        if steps[[*islice(_way(steps, old), len(steps))][-1]].to != schema:
            raise BadMigration(name, old, f"it leads in a circle and never to {schema}, the codec's own")
    return steps


def _way(migrations: Migrations, schema: str) -> Iterator[str]:
    """The schemas whose migrations are called, one after the other."""
    while schema in migrations:
        yield schema
        schema = migrations[schema].to


def read_migrated(raw: Json, schema: str, migrations: Migrations, read: Read) -> object:
    """The value of today for a JSON form that `schema` wrote.

    Raises `Misfit` for a migration that fails, naming its schema, and for a form that `read` does not take.
    """
    # The first migration gets a copy as well: what was read may hold what is no JSON form, a key that stands twice.
    raw = _Copier().copy(raw, 0)
    way = [*_way(migrations, schema)]
    for old in way:
        raw = _given(migrations[old].by, raw, old)
    try:
        value: object = read(raw, None)
    except Misfit as misfit:
        misfit.why += f", as the migration from schema {way[-1]} gave it"
        raise
    return value


def _given(by: Migrate, raw: Json, old: str) -> Json:
    try:
        given = by(raw)
    except Exception as error:
        raise Misfit("JSON", f"the migration from schema {old} raised {type(error).__name__}: {error}") from error
    try:
        return _Copier().copy(given, 0)
    except Misfit as misfit:
        misfit.why = f"the migration from schema {old} gave what is no JSON form: {misfit.why}"
        raise


def _write_number(value: float) -> Json:
    if not isfinite(value):
        raise Misfit("JSON", f'{value} is no number of JSON; a float may be {{"float": "{value}"}} instead')
    return value


_SCALARS: Final[dict[type[object], Write]] = {
    NoneType: write_none,
    bool: write_bool,
    int: write_int,
    float: _write_number,
    str: write_str,
}


class _Copier:
    """Copies a JSON form and finds what is none, so that what one migration keeps is not what the next one changes."""

    def __init__(self) -> None:
        self._size = 0

    def copy(self, value: object, depth: int) -> Json:
        """A copy that shares nothing which can change. Raises `Misfit`, with the path."""
        if depth > MAX_JSON_DEPTH:
            raise Misfit("JSON", f"is nested more than {MAX_JSON_DEPTH} levels deep")
        kind = type(value)
        # Each value takes a sign and a comma at least, so that endless ones end.
        self._take(2)
        if kind is list:
            copied: list[Json] = []
            for each in cast("list[object]", value):
                try:
                    copied.append(self.copy(each, depth + 1))
                except Misfit as misfit:
                    misfit.at(f"[{len(copied)}]")
                    raise
            return copied
        if kind is dict:
            items: dict[str, Json] = {}
            for key, each in cast("dict[object, object]", value).items():
                try:
                    items[self._key(key)] = self.copy(each, depth + 1)
                except Misfit as misfit:
                    misfit.at(step_to(key) if type(key) is str else step_to_key(key))
                    raise
            return items
        if isinstance(value, Repeated):
            raise unexpected("JSON", value)
        if kind not in _SCALARS:
            raise is_not("JSON", value)
        if isinstance(value, str):
            self._take(len(value))
        return _SCALARS[kind](value)

    def _key(self, key: object) -> str:
        if type(key) is not str:
            raise Misfit("JSON", f"a key of type {type(key).__name__} is no text")
        write_str(key)
        self._take(len(key))
        return key

    def _take(self, size: int) -> None:
        self._size += size
        if self._size > MAX_BYTES:
            raise Misfit("JSON", f"takes more than {MAX_BYTES} bytes")
