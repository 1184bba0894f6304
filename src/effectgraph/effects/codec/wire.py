"""Bytes: JSON written and read, exactly and within bounds."""

from __future__ import annotations

import json
from typing import Final

import msgspec

from effectgraph.effects.codec.limits import MAX_BYTES
from effectgraph.effects.codec.shapes import Json, Misfit, Repeated

_WRITER: Final = msgspec.json.Encoder()
_SORTING_WRITER: Final = msgspec.json.Encoder(order="deterministic")
_READER: Final = msgspec.json.Decoder()


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
        return raw if _WRITER.encode(raw) == data else _with_repeated(data, raw)
    except ValueError as error:
        raise Misfit("JSON", f"is no JSON that can be read: {error}") from None


def _with_repeated(data: bytes, raw: Json) -> Json:
    repeated = False

    def made(pairs: list[tuple[str, object]]) -> object:
        nonlocal repeated
        plain: dict[str, object] = {}
        for key, value in pairs:
            if key in plain:
                repeated = True
                return Repeated(key)
            plain[key] = value
        return plain

    seen: Json = json.loads(data.decode(), object_pairs_hook=made)
    return seen if repeated else raw
