"""Types that JSON has, or nearly: None, bool, int, float, str, bytes."""

from __future__ import annotations

import binascii
from math import inf, isfinite, nan
from types import NoneType
from typing import Final

from effectgraph.effects.codec.limits import MAX_INT_DIGITS
from effectgraph.effects.codec.shapes import (
    BOOL,
    INT,
    NULL,
    OBJECT,
    TEXT,
    Hashing,
    Json,
    Misfit,
    Shape,
    is_not,
    shown,
    unexpected,
)

BY_VALUE: Final = Hashing.BY_VALUE

_TOO_LARGE: Final = 10**MAX_INT_DIGITS
_TOO_SMALL: Final = -_TOO_LARGE
_FLOAT_KEY: Final = "float"
_FLOATS: Final = {"nan": nan, "inf": inf, "-inf": -inf}


def write_none(value: object) -> Json:
    """None is null."""
    if value is not None:
        raise is_not("None", value)
    return None


def read_none(raw: Json, _: object) -> None:
    """Null is None."""
    if raw is not None:
        raise unexpected("None", raw)


def write_bool(value: bool) -> Json:
    """A bool is true or false."""
    if type(value) is not bool:
        raise is_not("bool", value)
    return value


def read_bool(raw: Json, _: object) -> bool:
    """True or false, and not 1 or 0."""
    if type(raw) is not bool:
        raise unexpected("bool", raw)
    return raw


def write_int(value: int) -> Json:
    """An integer is a number without a fraction, all its digits kept."""
    if type(value) is not int:
        raise is_not("int", value)
    if not _TOO_SMALL < value < _TOO_LARGE:
        raise Misfit("int", f"has more than {MAX_INT_DIGITS} digits")
    return value


def read_int(raw: Json, _: object) -> int:
    """A number without a fraction: 1, and not 1.0 or true."""
    if type(raw) is not int:
        raise unexpected("int", raw)
    return raw


def write_float(value: float) -> Json:
    """A float is a number with a fraction or exponent; an integer in its place stays one.

    JSON has no nan and no infinities: they are objects, `{"float": "nan"}`.
    """
    if type(value) is float:
        return value if isfinite(value) else {_FLOAT_KEY: str(value)}
    if type(value) is not int:
        raise is_not("float", value)
    return write_int(value)


def read_float(raw: Json, _: object) -> float:
    """Any number, as what it was written."""
    if type(raw) is float or type(raw) is int:
        return raw
    text = raw.get(_FLOAT_KEY) if type(raw) is dict and len(raw) == 1 else None
    if type(text) is not str or text not in _FLOATS:
        raise unexpected("float", raw)
    return _FLOATS[text]


def write_str(value: str) -> Json:
    """A text is itself. Half of a surrogate pair is no character and has no UTF-8."""
    if type(value) is not str:
        raise is_not("str", value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise Misfit("str", f"has a lone surrogate at index {error.start}, which is no character") from None
    return value


def read_str(raw: Json, _: object) -> str:
    """A text."""
    if type(raw) is not str:
        raise unexpected("str", raw)
    return raw


def write_bytes(value: bytes) -> Json:
    """Bytes are a text in base64."""
    if type(value) is not bytes:
        raise is_not("bytes", value)
    return binascii.b2a_base64(value, newline=False).decode()


def read_bytes(raw: Json, _: object) -> bytes:
    """Bytes from the one base64 text that stands for them."""
    if type(raw) is not str:
        raise unexpected("bytes", raw)
    try:
        value = binascii.a2b_base64(raw, strict_mode=True)
    except ValueError as error:
        raise Misfit("bytes", f"expected base64, found the text {shown(raw)} ({error})") from None
    if write_bytes(value) != raw:
        raise Misfit("bytes", f"expected base64, found the text {shown(raw)} (bits are left over)")
    return value


PLAIN: Final[dict[object, Shape]] = {
    NoneType: Shape("None", NULL, NULL, "None", write_none, read_none, BY_VALUE),
    bool: Shape("bool", BOOL, BOOL, "bool", write_bool, read_bool, BY_VALUE),
    int: Shape("int", INT, INT, "int", write_int, read_int, BY_VALUE),
    float: Shape("float", frozenset({float, int}), OBJECT | {float, int}, "float", write_float, read_float, BY_VALUE),
    str: Shape("str", TEXT, TEXT, "str", write_str, read_str, BY_VALUE),
    bytes: Shape("bytes", frozenset({bytes}), TEXT, "bytes", write_bytes, read_bytes, BY_VALUE),
}
"""The shapes of the types above."""
