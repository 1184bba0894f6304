"""Bytes: JSON written and read, exactly and within bounds."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Final, NoReturn

import msgspec

from effectgraph.effects.codec.limits import MAX_BYTES, MAX_INT_DIGITS
from effectgraph.effects.codec.shapes import Json, Misfit, Repeated

_WRITER: Final = msgspec.json.Encoder()
_SORTING_WRITER: Final = msgspec.json.Encoder(order="deterministic")
_READER: Final = msgspec.json.Decoder()
_LONGEST_NEGATIVE: Final = re.compile(rb"-[0-9]{%d}(?![0-9])" % MAX_INT_DIGITS)


def write(raw: Json) -> bytes:
    """JSON in UTF-8, objects in the order of their dicts. Raises `ValueError` for what JSON cannot hold."""
    return _WRITER.encode(raw)


def write_sorted(raw: Json) -> bytes:
    """JSON in UTF-8, the keys of each object sorted: the same bytes for dicts that are equal."""
    return _SORTING_WRITER.encode(raw)


def read(data: bytes) -> Json:
    """What JSON says. An object in which a key stands twice comes back as `Repeated`, which no hook takes.

    Raises `Misfit` for bytes that are too many or no JSON.
    """
    if len(data) > MAX_BYTES:
        raise Misfit("JSON", f"is {len(data)} bytes long; {MAX_BYTES} are allowed")
    try:
        raw: Json = _READER.decode(data)
        # The reader keeps the last of two equal keys and says nothing. What it read of bytes that we wrote is written
        # as the same bytes again; any others are read a second time by a reader that shows every key.
        return raw if _WRITER.encode(raw) == data else _with_repeated(data)
    except msgspec.ValidationError as error:
        # The reader counts the sign of an integer as one of the digits that it takes.
        if _LONGEST_NEGATIVE.search(data) is None:
            raise _unreadable(error) from None
    except ValueError as error:
        raise _unreadable(error) from None
    try:
        raw = _with_repeated(data)
        # What the other reader takes beyond JSON, such as half of a surrogate pair, cannot be written.
        _WRITER.encode(raw)
    except ValueError as error:
        raise _unreadable(error) from None
    return raw


def _unreadable(error: Exception) -> Misfit:
    return Misfit("JSON", f"is no JSON that can be read: {error}")


def _with_repeated(data: bytes) -> Json:
    raw: Json = json.loads(
        data.decode(),
        object_pairs_hook=_object,
        parse_int=_integer,
        parse_float=_float,
        parse_constant=_constant,
    )
    return raw


def _object(pairs: list[tuple[str, object]]) -> object:
    plain: dict[str, object] = {}
    for key, value in pairs:
        if key in plain:
            return Repeated(key)
        plain[key] = value
    return plain


def _integer(text: str) -> int:
    if len(text.removeprefix("-")) > MAX_INT_DIGITS:
        raise ValueError(f"an integer has more than {MAX_INT_DIGITS} digits")
    return int(text)


def _float(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError("a number is out of range")
    return number


def _constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")
