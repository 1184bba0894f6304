"""The changes of a task that has committed while its step has not closed, as bytes."""

from __future__ import annotations

import msgspec

from effectgraph.stores.records import Piece


def encode_update(pieces: tuple[Piece, ...]) -> bytes:
    """The pieces that a task's update came to, as JSON."""
    return msgspec.json.encode(pieces)


def decode_update(update: bytes | None) -> tuple[Piece, ...]:
    """The pieces again. Raises `msgspec.ValidationError` for bytes that `encode_update` did not write."""
    return () if update is None else msgspec.json.decode(update, type=tuple[Piece, ...])
