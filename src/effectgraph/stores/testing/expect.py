"""Comparing what a store did with what it promises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar, cast

import attrs

from effectgraph.errors import GraphError
from effectgraph.stores.receipt import Receipt

E = TypeVar("E", bound=Exception)
T = TypeVar("T")

SHOWN: Final = 600
"""Letters of a value that a message shows: a record fits, a megabyte of state does not."""


@attrs.define(slots=False, eq=False)
class PromiseBroken(GraphError, AssertionError):
    """A store did not do what every store promises: what was looked at, what was to be expected, what came."""

    what: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.what}: {self.expected} was expected, {self.found} came; see the promise of this check"


def equal(expected: object, found: object, what: str) -> None:
    """Raise `PromiseBroken` unless both are equal, at the first place where they differ; `what` names the thing."""
    if expected != found:
        where, one, other = difference(expected, found)
        raise PromiseBroken(f"{what}, in it {where}" if where else what, shown(one), shown(other))


def difference(expected: object, found: object) -> tuple[str, object, object]:
    """The first place at which two values differ that are not equal, and what is there in each."""
    ours, theirs = _parts(expected), _parts(found)
    if type(expected) is type(found) and ours.keys() == theirs.keys():
        for name, part in ours.items():
            if part != theirs[name]:
                inside, one, other = difference(part, theirs[name])
                return name + inside, one, other
    return "", expected, found


def _parts(value: object) -> dict[str, object]:
    match value:
        case dict():
            return {f"[{name!r}]": part for name, part in cast("dict[object, object]", value).items()}
        case list() | tuple():
            return {f"[{place}]": part for place, part in enumerate(cast("Sequence[object]", value))}
        case _ if attrs.has(type(value)):
            fields = attrs.asdict(cast("attrs.AttrsInstance", value), recurse=False)
            return {f".{name}": part for name, part in fields.items()}
        case _:
            return {}


def true(holds: bool, what: str) -> None:
    """Raise `PromiseBroken` unless it holds; `what` says in words what should."""
    if not holds:
        raise PromiseBroken(what, "this", "the contrary")


def there(found: T | None, what: str) -> T:
    """What was found. Raises `PromiseBroken` if it is None."""
    if found is None:
        raise PromiseBroken(what, "a record", "None")
    return found


def refused(kind: type[E], ask: Callable[[], Receipt[object]], what: str) -> E:
    """The error of this kind with which an operation fails, at its call or by its receipt.

    Raises `PromiseBroken` if it does not fail, or with another error.
    """
    try:
        came = ask().wait()
    except kind as error:
        return error
    except Exception as error:
        raise PromiseBroken(what, kind.__name__, f"{type(error).__name__} ({error})") from error
    raise PromiseBroken(what, kind.__name__, f"the result {shown(came)}")


def failed(kind: type[E], receipt: Receipt[object], what: str) -> E:
    """The error of this kind with which a queued operation fails. Raises `PromiseBroken` as `refused` does."""
    return refused(kind, lambda: receipt, what)


def shown(value: object) -> str:
    """A value as a message shows it: its middle is left out if it is long."""
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2]} ... {text[-SHOWN // 2 :]}"
