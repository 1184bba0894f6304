"""Dates, times and durations, written as texts."""

from __future__ import annotations

import datetime as dt
import re
from typing import Final, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from effectgraph.effects.codec.plain import write_str
from effectgraph.effects.codec.shapes import Misfit, Shape, shown
from effectgraph.effects.codec.texts import text_shape

Clocked = TypeVar("Clocked", dt.datetime, dt.time)

_FOLD: Final = "[fold=1]"
_NAME: Final = "[name="
_DURATION: Final = re.compile(r"(?P<sign>-?)P(?P<days>[0-9]{1,9})DT(?P<seconds>[0-9]{1,5})(?:\.(?P<micros>[0-9]{6}))?S")


def date_shape() -> Shape:
    """A date is its ISO text."""
    return text_shape("date", dt.date, dt.date.isoformat, dt.date.fromisoformat)


def datetime_shape() -> Shape:
    """A datetime is its ISO text, and its zone: `2026-03-07T09:00:00[America/New_York]`.

    A fixed offset stands in the ISO text, with `[name=...]` behind it if it has a name. `[fold=1]` marks the second of
    two equal wall times. A zone's offset is not written: the wall time is what was meant, whatever the law says later.
    """
    return text_shape("datetime", dt.datetime, _render, lambda text: _parse(text, dt.datetime))


def time_shape() -> Shape:
    """A time is its ISO text, and its zone as in a datetime."""
    return text_shape("time", dt.time, _render, lambda text: _parse(text, dt.time))


def timedelta_shape() -> Shape:
    """A timedelta is an ISO duration of days and seconds: `P1DT3600.000005S`, with a sign before it if negative."""
    return text_shape("timedelta", dt.timedelta, _render_duration, _parse_duration)


def _render(value: dt.datetime | dt.time) -> str:
    zone = value.tzinfo
    fold = _FOLD if value.fold else ""
    if zone is None:
        return value.isoformat() + fold
    if type(zone) is dt.timezone:
        return value.isoformat() + fold + _zone_name(zone)
    name = type(value).__name__
    if type(zone) is not ZoneInfo or not zone.key:
        raise Misfit(name, f"has a zone of type {type(zone).__name__} without a key; use zoneinfo or a fixed offset")
    try:
        ZoneInfo(zone.key)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Misfit(name, f"has the zone {shown(zone.key)}, which this system cannot find") from None
    return f"{value.replace(tzinfo=None).isoformat()}{fold}[{zone.key}]"


def _parse(text: str, cls: type[Clocked]) -> Clocked:
    iso, bracket, rest = text.partition("[")
    value = cls.fromisoformat(iso)
    if value.tzinfo is dt.UTC and not iso.endswith("+00:00"):
        # `fromisoformat` takes an offset of less than a second for UTC.
        micros = int(f"{iso[-16]}{iso[-6:]}")
        value = value.replace(tzinfo=dt.timezone(dt.timedelta(microseconds=micros)))
    rest = bracket + rest
    if rest.startswith(_FOLD):
        value = value.replace(fold=1)
        rest = rest.removeprefix(_FOLD)
    if not rest:
        return value
    offset = value.utcoffset()
    if offset is None:
        return value.replace(tzinfo=ZoneInfo(rest[1:-1]))
    return value.replace(tzinfo=dt.timezone(offset, rest.removeprefix(_NAME)[:-1]))


def _zone_name(zone: dt.timezone) -> str:
    name = zone.tzname(None)
    if name == dt.timezone(zone.utcoffset(None)).tzname(None):
        return ""
    write_str(name)
    return f"{_NAME}{name}]"


def _render_duration(value: dt.timedelta) -> str:
    size = abs(value)
    micros = f".{size.microseconds:06}" if size.microseconds else ""
    return f"{'-' if size != value else ''}P{size.days}DT{size.seconds}{micros}S"


def _parse_duration(text: str) -> dt.timedelta:
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError(text)
    size = dt.timedelta(int(found["days"]), int(found["seconds"]), int(found["micros"] or 0))
    return -size if found["sign"] else size
