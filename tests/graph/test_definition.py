"""Graphs that are right: what their check gives, what follows a node, what their fingerprint tells apart."""

from __future__ import annotations

import enum
import pickle
from collections.abc import Callable, Hashable
from typing import Annotated, Any, cast

import attrs
import pytest

from effectgraph.graph.context import BlockingContext, Context
from effectgraph.graph.definition import Graph
from effectgraph.graph.errors import GraphClosed, GraphInvalid, WrongRoute
from effectgraph.graph.parts import END, Node
from effectgraph.graph.state import Update, given, updates


@attrs.frozen(kw_only=True)
class Order:
    """A state with something in it that can change."""

    id: str = given()
    total: int = 0
    rows: list[int] = attrs.Factory(list[int])


class Size(enum.Enum):
    """Keys."""

    SMALL = 1
    LARGE = 2


change = updates(Order)


async def pay(state: Order, ctx: Context) -> Update[Order]:
    """The first node."""
    return change(total=state.total + 1)


def ship(state: Order, ctx: BlockingContext) -> None:
    """The last node."""


def pack(state: Order, ctx: BlockingContext) -> None:
    """A node too many."""


def again(state: Order) -> bool:
    """Whether to pay once more."""
    return state.total < 3


def shop(
    by: Callable[[Order], Hashable] = again, keys: tuple[Hashable, Hashable] = (True, False)
) -> Graph[Order, None]:
    """Pay until `by` says that it is enough, then ship."""
    graph = Graph("shop", version=1, state=Order)
    first = graph.node(attempts=4)(pay)
    last = graph.node()(ship)
    graph.start(first)
    graph.branch(first, by).to({keys[0]: first, keys[1]: last})
    graph.edge(last, END)
    return graph


def test_a_node_is_what_its_function_says() -> None:
    """A node has its function's name and kind, and the attempts that were asked for."""

    nodes = shop().check().nodes

    assert [(node.name, node.is_async, node.attempts, node.fn) for node in nodes.values()] == [
        ("pay", True, 4, pay),
        ("ship", False, 1, ship),
    ]


def test_a_checked_graph_says_what_follows() -> None:
    """A branch asks its router, an edge is fixed, and the end is `END`."""

    structure = shop().check()
    first, last = structure.nodes["pay"], structure.nodes["ship"]

    assert structure.start is first
    assert structure.next_after(first, Order(id="o", total=1)) is first
    assert structure.next_after(first, Order(id="o", total=3)) is last
    assert structure.next_after(last, Order(id="o")) is END


def test_G14_a_loop_goes_round_as_often_as_its_router_says() -> None:
    """A loop of two nodes that is left by a branch ends, and not one round sooner."""

    graph = Graph("loop", version=1, state=Order)
    a, b = graph.node()(pay), graph.node()(ship)
    graph.start(a)
    graph.edge(a, b)
    graph.branch(b, again).to({True: a, False: END})
    structure = graph.check()

    state, visited = Order(id="o"), list[str]()
    at: Any = structure.start
    while at is not END:
        visited.append(at.name)
        if at is a:
            state = attrs.evolve(state, total=state.total + 1)
        at = structure.next_after(at, state)

    assert visited == ["pay", "ship"] * 3


def test_a_key_that_no_target_has_is_named() -> None:
    """A router that returns something else than its keys stops the run by name: no target is guessed."""

    def lost(state: Order) -> str:
        return "nowhere"

    structure = shop(lost, ("more", "enough")).check()

    with pytest.raises(WrongRoute) as caught:
        structure.next_after(structure.start, Order(id="o"))

    assert str(caught.value) == (
        "graph shop, node pay: router lost returned 'nowhere', which leads nowhere; its branch has 'more', 'enough'"
    )


@pytest.mark.parametrize("got", [1, 0, None, "True", [], 1.0])
def test_a_key_has_a_type(got: Any) -> None:
    """1 is equal to True for Python, and is not the key True."""

    def by(state: Order) -> Hashable:
        return cast("Hashable", got)

    structure = shop(by).check()

    with pytest.raises(WrongRoute):
        structure.next_after(structure.start, Order(id="o"))


def test_a_router_cannot_damage_the_state() -> None:
    """A router gets a state of its own, so what it does to it stays with it."""

    def greedy(state: Order) -> bool:
        state.rows.append(1)
        return True

    structure = shop(greedy).check()
    state = Order(id="o", rows=[7])

    structure.next_after(structure.start, state)

    assert state.rows == [7]


def test_G01_what_a_router_raises_comes_out_and_it_can_be_asked_again() -> None:
    """A router's failure changes nothing: the next call asks it anew."""

    asked: list[int] = []

    def flaky(state: Order) -> bool:
        asked.append(1)
        if len(asked) == 1:
            raise ConnectionError("first time")
        return False

    structure = shop(flaky).check()

    with pytest.raises(ConnectionError, match="first time"):
        structure.next_after(structure.start, Order(id="o"))
    assert structure.next_after(structure.start, Order(id="o")) is structure.nodes["ship"]


def test_enum_members_are_keys() -> None:
    """A router may return the members of an Enum, and they lead where the mapping says."""

    def size(state: Order) -> Size:
        return Size.LARGE if state.total > 10 else Size.SMALL

    structure = shop(size, (Size.LARGE, Size.SMALL)).check()

    assert structure.next_after(structure.start, Order(id="o", total=11)) is structure.start
    assert structure.next_after(structure.start, Order(id="o")) is structure.nodes["ship"]


def test_a_checked_graph_is_closed() -> None:
    """What runs cannot be changed behind its back; the error names what came too late."""

    graph = shop()
    node = graph.check().start

    for what, late in (
        ("node pack", lambda: graph.node()(pack)),
        ("a start", lambda: graph.start(node)),
        ("an edge", lambda: graph.edge(node, END)),
        ("a branch", lambda: graph.branch(node, again)),
    ):
        with pytest.raises(GraphClosed, match=f"graph shop: was checked already .* so {what} comes too late"):
            late()
    assert graph.check() is graph.check()


def test_a_branch_cannot_be_told_after_the_check() -> None:
    """A second `to` of a branch that was kept is too late as well."""

    graph = shop()
    node = next(iter(graph.check().nodes.values()))
    fresh = Graph("other", version=1, state=Order)
    first = fresh.node()(pay)
    fresh.start(first)
    branch = fresh.branch(first, again)
    branch.to({True: first, False: END})
    fresh.check()

    with pytest.raises(GraphClosed):
        branch.to({True: first, False: END})
    assert node.name == "pay"


def test_a_graph_that_failed_its_check_can_be_mended() -> None:
    """A graph closes when it is right, not before."""

    graph = Graph("shop", version=1, state=Order)
    node = graph.node()(pay)
    graph.start(node)

    with pytest.raises(GraphInvalid):
        graph.check()
    graph.edge(node, END)

    assert graph.check().nodes == {"pay": node}


def test_the_stamp_names_the_definition() -> None:
    """A thread keeps the graph's name, its version and the fingerprint of its structure."""

    stamp = shop().check().stamp

    assert (stamp.name, stamp.version, len(stamp.fingerprint)) == ("shop", 1, 64)


@attrs.frozen(kw_only=True)
class Wider(Order):
    """The state with one more field."""

    more: int = 0


@attrs.frozen(kw_only=True)
class Summing:
    """The state with a reducer."""

    id: str = given()
    total: Annotated[int, "add"] = 0
    rows: list[int] = attrs.Factory(list[int])


@attrs.frozen(kw_only=True)
class Given:
    """The state with one more given field."""

    id: str = given()
    total: int = given()
    rows: list[int] = attrs.Factory(list[int])


@attrs.frozen(kw_only=True)
class Exact:
    """The state with another type."""

    id: str = given()
    total: float = 0.0
    rows: list[int] = attrs.Factory(list[int])


@attrs.frozen(kw_only=True)
class Backwards:
    """The state in another order."""

    rows: list[int] = attrs.Factory(list[int])
    total: int = 0
    id: str = given()


def fingerprint(graph: Graph[Any, Any]) -> str:
    """The fingerprint of a graph."""
    return graph.check().stamp.fingerprint


def variant(kind: str) -> Graph[Any, Any]:
    """The shop with one thing changed."""

    states: dict[str, Any] = {
        "wider state": Wider,
        "reducer": Summing,
        "given": Given,
        "type": Exact,
        "order": Backwards,
    }
    graph: Graph[Any, Any] = Graph("shop", version=1, state=states.get(kind, Order))
    make: Any = graph.node(attempts=1 if kind == "attempts" else 4)

    def first(state: Any, ctx: BlockingContext) -> None: ...

    def last(state: Any, ctx: BlockingContext) -> None: ...

    first.__name__, last.__name__ = "pay", "send" if kind == "renamed node" else "ship"
    if kind == "order":
        after, start = make(last), make(first)
    else:
        start, after = make(first), make(last)
    graph.start(start)
    keys = (1, 0) if kind == "keys" else (True, False)
    branch: Any = graph.branch(start, lambda state: True)
    branch.to({keys[0]: END if kind == "target" else start, keys[1]: after})
    graph.edge(after, END)
    return graph


@pytest.mark.parametrize("kind", ["attempts", "order"])
def test_the_fingerprint_leaves_out_what_is_no_structure(kind: str) -> None:
    """Attempts, code, and the order in which nodes are written down may change under a stored thread."""

    assert fingerprint(variant(kind)) == fingerprint(variant("")) == fingerprint(shop())


@pytest.mark.parametrize("kind", ["renamed node", "wider state", "reducer", "given", "type", "keys", "target"])
def test_G15_the_fingerprint_tells_structures_apart(kind: str) -> None:
    """A renamed node, another way, another field or another way to merge it make another structure."""

    assert fingerprint(variant(kind)) != fingerprint(variant(""))


def ring(first: str) -> Graph[Order, None]:
    """Two nodes in a ring that each may leave, begun at one of them."""
    graph = Graph("ring", version=1, state=Order)
    nodes = {fn.__name__: graph.node()(fn) for fn in (ship, pack)}
    graph.start(nodes[first])
    graph.branch(nodes["ship"], again).to({True: nodes["pack"], False: END})
    graph.branch(nodes["pack"], again).to({True: nodes["ship"], False: END})
    return graph


def test_G15_the_fingerprint_tells_starts_apart() -> None:
    """The same ways from another first node are another structure."""

    assert fingerprint(ring("ship")) != fingerprint(ring("pack"))


def test_the_errors_come_back_from_pickle() -> None:
    """Errors cross processes whole."""

    for error in (
        GraphInvalid("shop", ("no start", "no end")),
        GraphClosed("shop", "an edge"),
        WrongRoute("shop", "pay", "by", "'x'", ("'a'",)),
    ):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_node_can_be_called_without_a_runtime() -> None:
    """The function stays at hand for a test of its own."""

    node: Node[Order, None] = shop().check().nodes["ship"]

    assert node.fn(Order(id="o"), None) is None
