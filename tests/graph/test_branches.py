"""Branches that are wrong: keys left out or made up, routers that are none."""

from __future__ import annotations

import enum
from typing import Any, Literal, Protocol

import attrs
import pytest
from typing_extensions import TypeAliasType

from effectgraph.graph.context import BlockingContext
from effectgraph.graph.definition import Graph
from effectgraph.graph.errors import GraphInvalid
from effectgraph.graph.parts import END, Node


@attrs.frozen(kw_only=True)
class Order:
    """The state."""

    total: int = 0


@attrs.frozen
class Other:
    """Another state."""

    x: int = 0


class HasTotal(Protocol):
    """A part of the state."""

    @property
    def total(self) -> int: ...


class Size(enum.Enum):
    """Keys."""

    SMALL = 1
    LARGE = 2


class Marks(enum.Flag):
    """Keys that can be mixed."""

    BOLD = 1
    WIDE = 2


Way = TypeAliasType("Way", Literal["ship", "stop"])


def pay(s: Order, ctx: BlockingContext) -> None:
    """The first node."""


def ship(s: Order, ctx: BlockingContext) -> None:
    """The last node."""


def shop() -> tuple[Graph[Order, None], Node[Order, None], Node[Order, None]]:
    """A graph with a start and two nodes, and no ways between them."""
    graph = Graph("shop", version=1, state=Order)
    first, last = graph.node()(pay), graph.node()(ship)
    graph.start(first)
    return graph, first, last


def problems_of(graph: Graph[Order, None]) -> tuple[str, ...]:
    """All that the check tells."""
    try:
        graph.check()
    except GraphInvalid as error:
        return error.problems
    return ()


def branch_problems(router: Any, *keys: Any) -> tuple[str, ...]:
    """What the check says about a branch with this router and these keys."""
    graph, first, last = shop()
    loose: Any = graph
    loose.branch(first, router).to(dict.fromkeys(keys, last))
    graph.edge(last, END)
    return problems_of(graph)


def on_literal(s: Order) -> Literal["ship", "stop", "hold"]:
    """Three keys."""
    return "ship"


def on_bool(s: Order) -> bool:
    """Two keys."""
    return True


def on_enum(s: Order) -> Size:
    """Two members."""
    return Size.SMALL


def on_optional(s: Order) -> Literal["a"] | None:
    """A key or None."""
    return None


def on_alias(s: Order) -> Way:
    """A named list of keys."""
    return "ship"


def on_mixed(s: Order) -> Literal["a"] | int:
    """A key, or any number."""
    return "a"


def on_flag(s: Order) -> Marks:
    """Any mixture."""
    return Marks.BOLD


def on_text(s: Order) -> str:
    """Any text."""
    return "ship"


@pytest.mark.parametrize(
    ("router", "keys"),
    [
        (on_literal, ("ship", "stop", "hold")),
        (on_bool, (True, False)),
        (on_enum, (Size.SMALL, Size.LARGE)),
        (on_optional, ("a", None)),
        (on_alias, ("ship", "stop")),
        (on_text, ("anything",)),
        (on_mixed, ("anything",)),
        (on_flag, (Marks.BOLD, Marks.BOLD | Marks.WIDE)),
        (on_text, (("a", 1), b"x", None)),
    ],
)
def test_U1_all_keys_are_named(router: Any, keys: tuple[Any, ...]) -> None:
    """A router whose annotation lists its keys needs a target for each, one whose does not may have any."""

    assert branch_problems(router, *keys) == ()


@pytest.mark.parametrize(
    ("router", "keys", "missing"),
    [
        (on_literal, ("ship",), ["'hold'", "'stop'"]),
        (on_bool, (True,), ["False"]),
        (on_bool, (1, False), ["True"]),
        (on_enum, (Size.SMALL,), ["Size.LARGE"]),
        (on_optional, ("a",), ["None"]),
        (on_alias, ("ship",), ["'stop'"]),
    ],
)
def test_U1_a_key_that_was_left_out(router: Any, keys: tuple[Any, ...], missing: list[str]) -> None:
    """No key of a router may lead nowhere."""

    told = [problem for problem in branch_problems(router, *keys) if "no target for" in problem]

    what = f"branch of node pay by {router.__name__}: no target for "
    assert told == [f"{what}{key}; add it to .to(...)" for key in missing]


def test_B14_a_key_that_is_never_returned() -> None:
    """A misspelt key is told from both sides."""

    assert branch_problems(on_literal, "ship", "stp", "hold") == (
        "branch of node pay by on_literal: no target for 'stop'; add it to .to(...)",
        (
            "branch of node pay by on_literal: the router never returns 'stp'; leave it out, or mend the router's "
            "annotation"
        ),
    )


def test_a_key_that_has_no_lasting_form() -> None:
    """Keys are part of the fingerprint, so they look the same in every process."""

    told = branch_problems(on_text, 1.5)

    assert told == (
        (
            "branch of node pay by on_text: 1.5 is no key; use text, a number, a bool, None, an enum member, "
            "or a tuple of these"
        ),
    )


def test_a_branch_that_leads_nowhere() -> None:
    """A branch without `.to` is half a sentence; what it might lead to is not blamed."""
    graph, first, last = shop()
    graph.branch(first, on_bool)
    graph.edge(last, END)

    assert problems_of(graph) == ("branch of node pay by on_bool: leads nowhere; say where with .to({key: node})",)


def test_a_branch_without_keys() -> None:
    """A mapping without keys leads nowhere as well."""

    assert branch_problems(on_text)[0] == (
        "branch of node pay by on_text: leads nowhere; say where with .to({key: node})"
    )


def test_a_branch_that_is_told_twice() -> None:
    """The second mapping would change the first in silence."""
    graph, first, last = shop()
    branch = graph.branch(first, on_bool)
    branch.to({True: last, False: END})
    branch.to({True: END, False: END})
    graph.edge(last, END)

    assert problems_of(graph) == ("branch of node pay by on_bool: .to() was called 2 times; name all keys in one",)


async def slow(s: Order) -> bool:
    """To be awaited."""
    return True


def of_other(s: Other) -> bool:
    """Of another state."""
    return True


def of_two(s: Order, t: Order) -> bool:
    """Of two states."""
    return True


def of_less(s: HasTotal) -> bool:
    """Of anything with a total."""
    return True


@pytest.mark.parametrize(
    ("router", "problem"),
    [
        (slow, "router slow: is not a plain function; a router only looks at the state and returns a key"),
        (of_other, "router of_other: takes Other as its state, but the graph's is Order; take Order"),
        (of_two, "router of_two: does not take (state); give it this one parameter"),
        ("ship", "router <str>: does not take (state); give it this one parameter"),
        (of_less, None),
    ],
)
def test_B15_a_router_is_a_plain_function_of_the_state(router: Any, problem: str | None) -> None:
    """A router of another state, or one that would have to be awaited, is refused."""

    told = [told for told in branch_problems(router, True, False) if told.startswith("router")]

    assert told == ([] if problem is None else [problem])
