"""Graphs that are wrong: each mistake is told, with its place and its way out, all at once."""

from __future__ import annotations

import functools
from typing import Any

import attrs
import pytest

from effectgraph.graph.context import BlockingContext, Context
from effectgraph.graph.definition import Graph
from effectgraph.graph.errors import GraphInvalid
from effectgraph.graph.parts import END, Node
from effectgraph.graph.state import Update


@attrs.frozen(kw_only=True)
class Order:
    """The state."""

    id: str = ""
    total: int = 0


@attrs.frozen
class Deps:
    """What the runtime hands out."""

    key: str


async def pay(s: Order, ctx: Context[Deps]) -> None:
    """An async node."""


def ship(s: Order, ctx: BlockingContext[Deps]) -> Update[Order] | None:
    """A plain node that may return an update."""
    return None


def pack(s: Order, ctx: BlockingContext[Deps]) -> None:
    """A plain node."""


def on_bool(s: Order) -> bool:
    """Two keys."""
    return True


class Shop:
    """A graph under test, and three nodes of it."""

    def __init__(self) -> None:
        self.graph = Graph("shop", version=1, state=Order, deps=Deps)
        self.pay = self.graph.node()(pay)
        self.ship = self.graph.node()(ship)
        self.loose: Any = self.graph

    def problems(self) -> tuple[str, ...]:
        return problems_of(self.graph)


def problems_of(graph: Graph[Any, Any]) -> tuple[str, ...]:
    """All that the check tells."""
    try:
        graph.check()
    except GraphInvalid as error:
        return error.problems
    return ()


@pytest.fixture
def shop() -> Shop:
    """Two nodes, nothing else."""
    return Shop()


@pytest.fixture
def sound() -> Shop:
    """A graph without a mistake: pay, ship, end."""
    shop = Shop()
    shop.graph.start(shop.pay)
    shop.graph.edge(shop.pay, shop.ship)
    shop.graph.edge(shop.ship, END)
    return shop


def test_a_sound_graph_has_no_problems(sound: Shop) -> None:
    """The graph that the other tests spoil is right as it is."""

    assert sound.problems() == ()


def test_everything_wrong_is_told_at_once(shop: Shop) -> None:
    """One check names each mistake, and the error reads as a list."""

    shop.graph.edge(shop.ship, END)
    shop.loose.node(attempts=0)(pack)

    with pytest.raises(GraphInvalid) as caught:
        shop.graph.check()

    assert str(caught.value) == (
        "graph shop: cannot run:\n"
        "  - node pack: attempts=0; at least one attempt is needed\n"
        "  - no start; name the first node with graph.start(node)\n"
        "  - node pay: no way out; add graph.edge(pay, END), or a branch\n"
        "  - node pack: no way out; add graph.edge(pack, END), or a branch"
    )


def test_two_starts(sound: Shop) -> None:
    """A run begins at one node."""

    sound.graph.start(sound.ship)

    assert sound.problems() == ("2 starts, node pay and node ship; keep one",)


def test_the_end_is_no_start_and_nothing_follows_it(sound: Shop) -> None:
    """END can only be a target."""

    sound.loose.edge(END, sound.ship)

    assert sound.problems() == ("edge from END to node ship: nothing follows END; name a node",)
    assert problems_of(start_at(END))[0] == "start with END: nothing follows END; name a node"


def start_at(part: Any) -> Graph[Order, Deps]:
    """A graph that starts at this."""
    graph = Graph("shop", version=1, state=Order, deps=Deps)
    graph.start(part)
    return graph


def test_U2_a_second_way_out(sound: Shop) -> None:
    """Two edges out of a node would be a fan-out; which one is meant is not guessed."""

    sound.graph.edge(sound.pay, sound.pay)

    assert sound.problems() == ("node pay: 2 edges or branches lead out of it; keep one, or ask a branch to choose",)


def test_U2_an_edge_beside_a_branch(sound: Shop) -> None:
    """A branch is a way out as well."""

    sound.graph.branch(sound.ship, on_bool).to({True: sound.pay, False: END})

    assert sound.problems() == ("node ship: 2 edges or branches lead out of it; keep one, or ask a branch to choose",)


def test_U2_a_loop_that_cannot_be_left(shop: Shop) -> None:
    """A thread that could never be done is refused; each node of the loop is named."""

    shop.graph.start(shop.pay)
    shop.graph.edge(shop.pay, shop.ship)
    shop.graph.edge(shop.ship, shop.pay)

    assert shop.problems() == (
        "node pay: no way from it leads to END; let a branch leave the loop",
        "node ship: no way from it leads to END; let a branch leave the loop",
    )


def test_a_node_that_nothing_leads_to(sound: Shop) -> None:
    """A node that can never run is a mistake, not a reserve."""

    sound.graph.edge(sound.graph.node()(pack), END)

    assert sound.problems() == ("node pack: nothing leads to it; add an edge to it, or leave it out",)


def test_a_dead_end_is_told_where_it_is(shop: Shop) -> None:
    """What leads to a dead end is right, and not blamed."""

    shop.graph.start(shop.pay)
    shop.graph.edge(shop.pay, shop.ship)

    assert shop.problems() == ("node ship: no way out; add graph.edge(ship, END), or a branch",)


def test_U3_a_node_of_another_graph(shop: Shop) -> None:
    """A node belongs to the graph that made it, even where both are over one state."""

    other = Graph("other", version=1, state=Order, deps=Deps)
    alien = other.node()(pack)
    shop.graph.start(shop.pay)
    shop.graph.edge(shop.pay, shop.ship)
    shop.graph.edge(shop.ship, alien)
    shop.graph.edge(alien, END)

    assert shop.problems() == (
        "edge from node ship to node pack: node pack is one of graph other; define it with this graph's node() as well",
        "edge from node pack to END: node pack is one of graph other; define it with this graph's node() as well",
    )


def test_U3_a_branch_to_another_graph(shop: Shop) -> None:
    """Targets of a branch are looked at as those of an edge are."""

    other = Graph("other", version=1, state=Order, deps=Deps)
    shop.graph.start(shop.pay)
    shop.graph.branch(shop.pay, on_bool).to({True: other.node()(pack), False: shop.ship})
    shop.graph.edge(shop.ship, END)

    assert shop.problems() == (
        (
            "branch of node pay by on_bool: key True, target node pack: node pack is one of graph other; "
            "define it with this graph's node() as well"
        ),
    )


def test_B12_what_is_no_node(sound: Shop) -> None:
    """A node's name, or its bare function, is no node."""

    sound.loose.edge("ship", sound.pay)
    sound.loose.edge(sound.ship, None)

    assert sound.problems()[:2] == (
        "edge from 'ship' (no node) to node pay: give a node that graph.node() made, or END",
        "edge from node ship to None (no node): give a node that graph.node() made, or END",
    )


def test_one_name_twice(sound: Shop) -> None:
    """Tasks are found by their node's name, so a name is used once."""

    twin: Node[Order, None] = sound.graph.node()(pay)
    sound.graph.edge(twin, END)

    assert sound.problems()[0] == "node pay: there are two of this name; rename one"


def nameless(s: Any, ctx: Any) -> None:
    """Renamed below to what a lambda is called."""


nameless.__name__ = "<lambda>"


@pytest.mark.parametrize("fn", [nameless, functools.partial(ship)])
def test_a_node_without_a_name(sound: Shop, fn: Any) -> None:
    """A lambda or a partial has no name that a later version could be recognised by."""

    sound.loose.edge(sound.loose.node()(fn), END)

    assert any("has no name of its own; define it with `def`" in problem for problem in sound.problems())


@pytest.mark.parametrize("attempts", [0, -1, True, 1.5, None])
def test_attempts_are_a_whole_number(sound: Shop, attempts: Any) -> None:
    """A node is tried at least once."""

    node = sound.loose.node(attempts=attempts)(pack)
    sound.graph.edge(node, END)

    assert sound.problems()[0] == f"node pack: attempts={attempts!r}; at least one attempt is needed"


@pytest.mark.parametrize(
    ("name", "version", "problem"),
    [
        ("", 1, "its name: empty; give it a name"),
        (3, 1, "its name: text is needed, not int"),
        ("a\nb", 1, "its name: 'a\\nb' has the control character '\\n'; leave it out"),
        ("shop", 0, "its version is 0; give it a whole number from 1 on"),
        ("shop", True, "its version is True; give it a whole number from 1 on"),
        ("shop", "1", "its version is '1'; give it a whole number from 1 on"),
    ],
)
def test_name_and_version(name: Any, version: Any, problem: str) -> None:
    """A thread keeps both, and people read them."""

    assert problem in problems_of(Graph(name, version=version, state=Order))


def test_a_state_that_cannot_be_stored() -> None:
    """The state's problems are told with the graph's."""

    @attrs.frozen(kw_only=True)
    class Wrong:
        a: Any = None
        b: int = attrs.field()

    told = problems_of(Graph("shop", version=1, state=Wrong))

    assert [problem.split(":")[0] for problem in told] == ["no start; name the first node with graph.start(node)"] + [
        "state Wrong"
    ] * 2
