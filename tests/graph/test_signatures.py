"""Node functions: what their annotations must say, as far as they say anything."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import attrs
import pytest

from effectgraph.graph.context import BlockingContext, Context
from effectgraph.graph.definition import Graph
from effectgraph.graph.errors import GraphInvalid
from effectgraph.graph.parts import END
from effectgraph.graph.state import Update, updates

if TYPE_CHECKING:
    from effectgraph.graph.context import Context as ForCheckersOnly


D = TypeVar("D")


@attrs.frozen(kw_only=True)
class Order:
    """The state."""

    total: int = 0


@attrs.frozen
class Other:
    """Another state."""

    x: int = 0


@attrs.frozen
class Deps:
    """What the runtime hands out."""

    key: str


class HasTotal(Protocol):
    """A part of the state."""

    @property
    def total(self) -> int: ...


async def pay(s: Order, ctx: Context[Deps]) -> None:
    """An async node."""


def ship(s: Order, ctx: BlockingContext[Deps]) -> Update[Order] | None:
    """A plain node that may return an update."""
    return None


def node_problems(fn: Any, deps: Any = Deps) -> list[str]:
    """What the check says about this function as a node."""
    graph: Any = (
        Graph("shop", version=1, state=Order) if deps is None else Graph("shop", version=1, state=Order, deps=deps)
    )
    node = graph.node()(fn)
    graph.start(node)
    graph.edge(node, END)
    try:
        graph.check()
    except GraphInvalid as error:
        return [problem.removeprefix(f"node {node.name}: ") for problem in error.problems]
    return []


async def b05(s: Other, ctx: Context[Deps]) -> None:
    """Another state."""


async def b06(s: Order, ctx: Context[Deps]) -> Update[Other]:
    """An update of another state."""
    return updates(Other)(x=1)


async def b07(s: Order, ctx: Context[Deps]) -> Order:
    """The state itself."""
    return s


def b08(s: Order, ctx: BlockingContext[Deps]) -> dict[str, int]:
    """A dict."""
    return {}


def b09(s: Order, ctx: Context[Deps]) -> None:
    """Plain, with the context of async nodes."""


async def b10(s: Order, ctx: BlockingContext[Deps]) -> None:
    """Async, with the context of plain nodes."""


async def b11(s: Order, ctx: Context[int]) -> None:
    """Other deps."""


async def without_deps(s: Order, ctx: Context) -> None:
    """No deps."""


def one_parameter(s: Order) -> None:
    """No context."""


def three_parameters(s: Order, item: int, ctx: BlockingContext[Deps]) -> None:
    """An item too many."""


def not_a_context(s: Order, ctx: int) -> None:
    """A number as context."""


def generating(s: Order, ctx: BlockingContext[Deps]) -> Iterator[int]:
    """A generator."""
    yield 1


async def streaming(s: Order, ctx: Context[Deps]) -> AsyncIterator[int]:
    """An async generator."""
    yield 1


def with_default(s: Order, ctx: BlockingContext[Deps], tries: int = 3) -> None:
    """A parameter of its own."""


def with_args(*args: Any) -> None:
    """Any arguments."""


def bare(s: Any, ctx: Any) -> None:
    """No annotations."""


def structural(s: HasTotal, ctx: object) -> None:
    """Anything with a total."""


def generic(s: Order, ctx: BlockingContext[D]) -> None:
    """Any deps."""


def hidden(s: Order, ctx: ForCheckersOnly[Deps]) -> None:
    """An annotation that is not there at run time."""


bare.__annotations__.clear()


@functools.wraps(pay)
def wrapped(*args: Any) -> Any:
    """A plain function around an async one."""
    return pay(*args)


@pytest.mark.parametrize("fn", [pay, ship, with_default, with_args, bare, structural, hidden, generic])
def test_a_signature_that_fits(fn: Any) -> None:
    """Annotations that are missing, wider, or for type checkers only prove no mistake."""

    assert node_problems(fn) == []


@pytest.mark.parametrize(
    ("fn", "problem"),
    [
        (b05, "takes Other as its state, but the graph's is Order; take Order"),
        (b06, "returns Update[Other]; return an Update[Order], or nothing"),
        (b07, "returns Order; return an Update[Order], or nothing"),
        (b08, "returns dict[str, int]; return an Update[Order], or nothing"),
        (b09, "is a plain function but takes a Context; make it `async def`, or take a BlockingContext"),
        (b10, "is async but takes a BlockingContext; take a Context, or make it a plain `def`"),
        (b11, "takes Context[int], but the graph's deps are Deps; take what the graph hands out"),
        (one_parameter, "does not take (state, ctx); give it these two parameters"),
        (three_parameters, "does not take (state, ctx); give it these two parameters"),
        (not_a_context, "takes int as its context; take a BlockingContext"),
        (generating, "yields; a node returns one Update, or nothing"),
        (streaming, "yields; a node returns one Update, or nothing"),
        (wrapped, "is a plain function but takes a Context; make it `async def`, or take a BlockingContext"),
    ],
)
def test_a_signature_that_does_not_fit(fn: Any, problem: str) -> None:
    """What type checkers refuse is refused as well where nobody ran one."""

    assert node_problems(fn) == [problem]


def test_a_function_behind_a_decorator_is_read_where_it_was_written() -> None:
    """A wrapper has no module of its own; the names in the annotations are those of the function inside."""

    assert node_problems(functools.lru_cache(b09)) == [
        "is a plain function but takes a Context; make it `async def`, or take a BlockingContext"
    ]


def test_deps_that_nobody_hands_out() -> None:
    """A node that wants deps needs a graph that has them, of the same type."""

    assert node_problems(without_deps, deps=None) == []
    assert node_problems(pay, deps=None) == [
        "takes Context[Deps], but the graph's deps are None; take what the graph hands out"
    ]
