"""What a codec knows of one type, and the error that its hooks raise."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Hashable
from typing import Any, Final, Protocol, TypeAlias

import attrs

from effectgraph.effects.codec.errors import UnsupportedType
from effectgraph.effects.codec.limits import MAX_SHOWN
from effectgraph.errors import GraphError

Json: TypeAlias = "None | bool | int | float | str | list[Json] | dict[str, Json]"
"""A value that the JSON writer takes as it is."""

Write: TypeAlias = Callable[[Any], Json]
"""A hook that unstructures: checks that a value is exactly of its type, and gives its JSON form."""

Read: TypeAlias = Callable[[Json, object], Any]
"""A hook that structures: checks a JSON form and gives the value. The second argument is not used."""

NULL, BOOL, INT, TEXT, ARRAY, OBJECT = (
    frozenset[type[object]]({kind}) for kind in (type(None), bool, int, str, list, dict)
)
"""JSON forms, named by the classes that the JSON reader gives for them."""

_RAWS: Final[dict[type[object], str]] = {
    type(None): "null",
    bool: "true or false",
    int: "an integer",
    float: "a number with a fraction",
    str: "a text",
    list: "an array",
    dict: "an object",
}


class Hashing(enum.IntEnum):
    """Whether values of a type have a hash. That of a whole is the least of its parts'."""

    NEVER = 0
    """They have none."""
    OWN = 1
    """The class decides: values that are written alike need not be equal, nor equal ones written alike."""
    BY_VALUE = 2
    """Equal values have one hash and one JSON form, apart from what looks different, such as 1 and 1.0."""


def has_hash(cls: type[object]) -> bool:
    """Whether a class gives its values a hash at all."""
    return issubclass(cls, Hashable)


@attrs.frozen
class Shape:
    """How values of one type look, and the hooks that write and read them.

    `values` are the exact classes of its values, `raws` those of their JSON forms. `outline` describes the JSON form;
    the schema's fingerprint is taken of it.
    """

    name: str
    values: frozenset[type[object]]
    raws: frozenset[type[object]]
    outline: Json
    write: Write
    read: Read
    hashing: Hashing = Hashing.NEVER


@attrs.frozen
class Definition:
    """The inside of a class that others may refer back to. `hashing` is that of a class whose values have a hash."""

    outline: Json
    write: Write
    read: Read
    hashing: Hashing = Hashing.OWN


class Shapes(Protocol):
    """Makes the shapes of the types inside a type."""

    def of(self, form: object, step: str, /) -> Shape:
        """The shape of a type that is one step further inside. Raises `UnsupportedType`."""
        ...

    def define(self, form: object, values: frozenset[type[object]], make: Callable[[], Definition], /) -> Shape:
        """The shape of a class whose values are JSON objects, and whose inside may refer back to it."""
        ...

    def refers_back(self, form: object, /) -> bool:
        """Whether the shape of a type, made before, leads back to a class that is still being made."""
        ...

    def refuse(self, form: object, why: str, step: str = "", /) -> UnsupportedType:
        """The error for a type at the present place, or one step further inside. `form` may be a name of it."""
        ...


class Misfit(GraphError, ValueError):
    """A value or its JSON form is not of the declared type. Each hook on the way out adds its step to the path."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(name, why)
        self.name = name
        self.why = why
        self._steps: list[str] = []

    def at(self, step: str) -> None:
        """Say where it was found, seen from one level further out."""
        self._steps.append(step)

    @property
    def path(self) -> str:
        """The way from the whole to what is wrong, such as `items[1].x`; empty for the whole."""
        return "".join(reversed(self._steps)).removeprefix(".")


@attrs.frozen
class Repeated:
    """Stands for a JSON object in which a key stands twice: no hook takes it."""

    key: str


def is_not(name: str, value: object) -> Misfit:
    """The misfit of a value of another class than the declared one."""
    kind = type(value)
    if any(base.__name__ == name.partition("[")[0] for base in kind.__mro__[1:]):
        return Misfit(name, f"is a {kind.__name__}, a subclass; declare that, or both of them")
    return Misfit(name, f"is of type {kind.__name__}")


def unexpected(name: str, raw: object) -> Misfit:
    """The misfit of a JSON form of another kind than the declared type has."""
    if isinstance(raw, Repeated):
        return Misfit(name, f"the key {shown(raw.key)} stands twice in one object")
    return Misfit(name, f"expected {name}, found {_RAWS[type(raw)]}")


def shown(text: object) -> str:
    """A text from outside as an error shows it: quoted, and cut where it is long."""
    whole = str(text)
    cut = whole if len(whole) <= MAX_SHOWN else whole[:MAX_SHOWN] + "..."
    return json.dumps(cut)


def step_to(key: str) -> str:
    """The step from an object to what stands under a key: `.x`, or `["..."]` for a key that is no plain name."""
    return f".{key}" if key.isidentifier() and len(key) <= MAX_SHOWN else f"[{shown(key)}]"


def step_to_json(text: str) -> str:
    """The step from an object to what stands under a key that is JSON itself: `[7]`, `[[1,"b"]]`."""
    return f"[{text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + '...'}]"


def step_to_key(key: object) -> str:
    """The step from a dict to a key that is wrong itself."""
    try:
        text = shown(key) if isinstance(key, str) else str(key)[:MAX_SHOWN]
    except Exception:
        # A value of any class may stand there: a number longer than Python shows, an object that fails to.
        text = f"of type {type(key).__name__}"
    return f"[key {text}]"
