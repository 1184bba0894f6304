"""The graph that a program writes down."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Hashable
from typing import TYPE_CHECKING, Generic, Protocol, cast, overload

from typing_extensions import TypeVar

from effectgraph.graph.checks import problems_of
from effectgraph.graph.errors import GraphInvalid, StateInvalid
from effectgraph.graph.parts import Branch, Choice, Draft, End, Node, Source, called
from effectgraph.graph.state import Update
from effectgraph.graph.state_type import StateType, state_type_of
from effectgraph.graph.structure import Structure, structure_of

if TYPE_CHECKING:
    from effectgraph.graph.context import BlockingContext, Context

S = TypeVar("S")
S0 = TypeVar("S0")
D = TypeVar("D", default=None)
K = TypeVar("K", bound=Hashable)


class NodeMaker(Protocol[S, D]):
    """Makes a node of a function: `async def` with a `Context`, or plain with a `BlockingContext`."""

    @overload
    def __call__(self, fn: Callable[[S, Context[D]], Awaitable[Update[S] | None]], /) -> Node[S, None]: ...
    @overload
    def __call__(self, fn: Callable[[S, BlockingContext[D]], Update[S] | None], /) -> Node[S, None]: ...


class Graph(Generic[S, D]):
    """A program as nodes and the ways between them, over one state class.

    Write it down in any order: nothing is checked until `check`, which tells everything that is wrong at once and which
    the runtime calls. From then on the graph is closed: each method below raises `GraphClosed`.
    """

    @overload
    def __init__(self: Graph[S0, None], name: str, *, version: int, state: type[S0]) -> None: ...
    @overload
    def __init__(self, name: str, *, version: int, state: type[S], deps: type[D]) -> None: ...
    def __init__(self, name: str, *, version: int, state: type[object], deps: object = None) -> None:
        """Begin a graph. `version` counts from 1 on; `deps` is the type of what the runtime hands to the nodes."""
        self._draft = Draft(name, version, cast("type[S]", state), deps)
        self._structure: Structure[S] | None = None

    @property
    def name(self) -> str:
        """The graph's name."""
        return self._draft.name

    def node(self, *, attempts: int = 1) -> NodeMaker[S, D]:
        """Make a node of the function below: `@graph.node(attempts=4)`.

        `attempts` says how often its task is tried at most, over crashes and restarts. The function names the node.
        """

        def make(fn: Callable[..., object], /) -> Node[S, None]:
            self._draft.change(f"node {called(fn)}")
            is_async = inspect.iscoroutinefunction(fn)
            node: Node[S, None] = Node(graph=self.name, name=called(fn), fn=fn, attempts=attempts, is_async=is_async)
            self._draft.nodes.append(node)
            return node

        return make

    def start(self, node: Node[S, None], /) -> None:
        """Name the node with which a run of a thread begins."""
        self._draft.change("a start")
        self._draft.starts.append(node)

    def edge(self, source: Source[S], target: Node[S, None] | End, /) -> None:
        """Let `target` follow `source`."""
        self._draft.change("an edge")
        self._draft.edges.append((source, target))

    def branch(self, source: Source[S], by: Callable[[S], K], /) -> Branch[S, K]:
        """Let `by` choose what follows `source`; say with `.to({key: node})` where its keys lead.

        `by` is a pure function of the merged state, and may be asked again. If its annotation lists its keys (Literal,
        bool, an Enum), the targets have to name them all.
        """
        self._draft.change("a branch")
        choice = Choice(source, by)
        self._draft.choices.append(choice)
        return Branch(self._draft, choice)

    def check(self) -> Structure[S]:
        """Close the graph and return what runs. Raises `GraphInvalid` with all that is wrong; it stays open then."""
        if self._structure is None:
            problems = list(problems_of(self._draft))
            state_type: StateType[S] | None = None
            try:
                state_type = state_type_of(self._draft.state)
            except StateInvalid as error:
                problems += (f"state {error.state}: {problem}" for problem in error.problems)
            if problems or state_type is None:
                raise GraphInvalid(self.name, tuple(problems))
            self._structure = structure_of(self._draft, state_type)
            self._draft.closed = True
        return self._structure
