"""Graphs that are wrong: each mistake is told, with its place and its way out, all at once."""

from __future__ import annotations

import enum
import functools
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Any, Literal, Protocol

import attrs
import pytest

from effectgraph.graph.context import BlockingContext, Context
from effectgraph.graph.definition import Graph
from effectgraph.graph.errors import GraphInvalid
from effectgraph.graph.parts import END, Node
from effectgraph.graph.state import Update, updates

if TYPE_CHECKING:
    from effectgraph.graph.context import Context as ForCheckersOnly


@attrs.frozen(kw_only=True)
class Order:
    """The state."""

    id: str = ""
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


class Size(enum.Enum):
    """Keys."""

    SMALL = 1
    LARGE = 2


change = updates(Order)


async def pay(s: Order, ctx: Context[Deps]) -> None:
    """An async node."""


def ship(s: Order, ctx: BlockingContext[Deps]) -> Update[Order] | None:
    """A plain node that may return an update."""
    return None


def pack(s: Order, ctx: BlockingContext[Deps]) -> None:
    """A plain node."""


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
            "branch of node pay by on_bool: key True, target node pack: node pack is one of graph other; define it with this "
            "graph's node() as well"
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


def branch_problems(router: Any, *keys: Any) -> tuple[str, ...]:
    """What the check says about a branch with this router and these keys."""
    shop = Shop()
    loose: Any = shop.graph
    shop.graph.start(shop.pay)
    loose.branch(shop.pay, router).to(dict.fromkeys(keys, shop.ship))
    shop.graph.edge(shop.ship, END)
    return shop.problems()


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
        (on_text, ("anything",)),
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


def test_a_branch_that_leads_nowhere(shop: Shop) -> None:
    """A branch without `.to` is half a sentence; what it might lead to is not blamed."""

    shop.graph.start(shop.pay)
    shop.graph.branch(shop.pay, on_bool)
    shop.graph.edge(shop.ship, END)

    assert shop.problems() == ("branch of node pay by on_bool: leads nowhere; say where with .to({key: node})",)


def test_a_branch_that_is_told_twice(shop: Shop) -> None:
    """The second mapping would change the first in silence."""

    shop.graph.start(shop.pay)
    branch = shop.graph.branch(shop.pay, on_bool)
    branch.to({True: shop.ship, False: END})
    branch.to({True: END, False: END})
    shop.graph.edge(shop.ship, END)

    assert shop.problems() == ("branch of node pay by on_bool: .to() was called 2 times; name all keys in one",)


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


def node_problems(fn: Any, deps: Any = Deps) -> list[str]:
    """What the check says about this function as a node."""
    graph: Any = (
        Graph("shop", version=1, state=Order) if deps is None else Graph("shop", version=1, state=Order, deps=deps)
    )
    node = graph.node()(fn)
    graph.start(node)
    graph.edge(node, END)
    return [problem.removeprefix(f"node {node.name}: ") for problem in problems_of(graph)]


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


def hidden(s: Order, ctx: ForCheckersOnly[Deps]) -> None:
    """An annotation that is not there at run time."""


bare.__annotations__.clear()


@functools.wraps(pay)
def wrapped(*args: Any) -> Any:
    """A plain function around an async one."""
    return pay(*args)


@pytest.mark.parametrize("fn", [pay, ship, with_default, with_args, bare, structural, hidden])
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


def test_deps_that_nobody_hands_out() -> None:
    """A node that wants deps needs a graph that has them, of the same type."""

    assert node_problems(without_deps, deps=None) == []
    assert node_problems(pay, deps=None) == [
        "takes Context[Deps], but the graph's deps are None; take what the graph hands out"
    ]
