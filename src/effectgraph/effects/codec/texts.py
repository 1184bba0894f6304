"""Types whose values are written as texts: Decimal, Fraction, UUID, paths."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Final, TypeVar
from uuid import UUID

from effectgraph.effects.codec.forms import is_class
from effectgraph.effects.codec.limits import MAX_INT_DIGITS
from effectgraph.effects.codec.plain import write_str
from effectgraph.effects.codec.shapes import TEXT, Hashing, Json, Misfit, Shape, Shapes, is_not, shown, unexpected

T = TypeVar("T")

# Of the texts that a Fraction can be made of, "1e999999999" would take all memory.
_FRACTION: Final = re.compile(rf"-?[0-9]{{1,{MAX_INT_DIGITS}}}(?:/[0-9]{{1,{MAX_INT_DIGITS}}})?")
_TOO_LARGE: Final = 10**MAX_INT_DIGITS
_PATHS: Final = frozenset[object]({Path, PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath})


def text_shape(name: str, cls: type[T], render: Callable[[T], str], parse: Callable[[str], T]) -> Shape:
    """The shape of a class whose values are texts. Only the text that `render` gives for a value is read as it."""

    def write(value: T) -> Json:
        if type(value) is not cls:
            raise is_not(name, value)
        return render(value)

    def read(raw: Json, _: object) -> T:
        if type(raw) is not str:
            raise unexpected(name, raw)
        try:
            value = parse(raw)
            if render(value) == raw:
                return value
        except (ValueError, ArithmeticError, LookupError, OSError, Misfit):
            pass
        raise Misfit(name, f"expected {name}, found the text {shown(raw)}")

    return Shape(name, frozenset({cls}), TEXT, name, write, read, Hashing.BY_VALUE)


def decimal_shape() -> Shape:
    """A Decimal is its text, trailing zeros and all."""
    return text_shape("Decimal", Decimal, str, Decimal)


def fraction_shape() -> Shape:
    """A Fraction is its text in lowest terms: `1/3`, or `2`."""
    return text_shape("Fraction", Fraction, _render_fraction, _parse_fraction)


def uuid_shape() -> Shape:
    """A UUID is its text in hex and hyphens."""
    return text_shape("UUID", UUID, str, UUID)


def is_path(form: object) -> bool:
    """Whether a form is one of the classes of pathlib."""
    return form in _PATHS


def path_shape(form: object, shapes: Shapes) -> Shape:
    """A path is its text. `Path` and `PurePath` stand for the class that this system makes of them."""
    assert is_class(form)
    assert issubclass(form, PurePath)
    try:
        cls = type(form())
    except NotImplementedError:
        raise shapes.refuse(form, "this system has no such paths; declare Path or a pure path") from None

    def render(value: PurePath) -> str:
        text = str(value)
        write_str(text)
        # Python 3.11 writes the path of a file `c:x` as the path of a file `x` on drive C.
        if windows and cls(text).drive != value.drive:
            raise Misfit(form.__name__, "looks like a path on a drive, and is none")
        return text

    windows = issubclass(cls, PureWindowsPath)
    return text_shape(form.__name__, cls, render, cls)


def _render_fraction(value: Fraction) -> str:
    if max(abs(value.numerator), value.denominator) >= _TOO_LARGE:
        raise Misfit("Fraction", f"has more than {MAX_INT_DIGITS} digits above or below")
    return str(value)


def _parse_fraction(text: str) -> Fraction:
    if _FRACTION.fullmatch(text) is None:
        raise ValueError(text)
    return Fraction(text)
