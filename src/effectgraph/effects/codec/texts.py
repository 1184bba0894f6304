"""Types whose values are written as texts: Decimal, UUID, paths."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path, PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Final, TypeVar
from uuid import UUID

from effectgraph.effects.codec.forms import is_class
from effectgraph.effects.codec.plain import write_str
from effectgraph.effects.codec.shapes import TEXT, Json, Misfit, Shape, Shapes, is_not, shown, unexpected

T = TypeVar("T")

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

    return Shape(name, frozenset({cls}), TEXT, name, write, read)


def decimal_shape() -> Shape:
    """A Decimal is its text, trailing zeros and all."""
    return text_shape("Decimal", Decimal, str, Decimal)


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
        return text

    return text_shape(form.__name__, cls, render, cls)
