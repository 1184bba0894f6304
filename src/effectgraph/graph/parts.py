"""The parts of a graph as a program writes them down: nothing is checked here."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Final, Generic, TypeAlias, TypeVar, cast, final

import attrs

from effectgraph.graph.errors import GraphClosed

S = TypeVar("S")
Item = TypeVar("Item")
K = TypeVar("K", bound=Hashable)


@final
class End:
    """Where a run of a thread is over. There is one: `END`."""

    def __repr__(self) -> str:
        return "END"


END: Final = End()
"""The target of an edge, or of a branch's key, after which a run is done."""


class Source(Generic[S]):
    """Any node of a graph over S."""


@final
@attrs.frozen(eq=False, kw_only=True)
class Node(Source[S], Generic[S, Item]):
    """A node of a graph over S, made by `graph.node()`. Item is what it takes beside the state, None for a plain node.

    `fn` is the function itself, for tests that call it without a runtime. `attempts` are counted over crashes.
    `is_async` says that it is a coroutine function; any other runs in a worker thread.
    """

    graph: str
    name: str
    fn: Callable[..., object]
    attempts: int
    is_async: bool


Targets: TypeAlias = "tuple[tuple[Hashable, Node[S, None] | End], ...]"
"""The keys of a branch and what each leads to, as they were told."""


@attrs.frozen(eq=False)
class Choice(Generic[S]):
    """A branch as it was told: each call of `to` adds its targets, and a good one has been told once."""

    source: Source[S]
    router: Callable[[S], Hashable]
    told: list[Targets[S]] = attrs.Factory(list["Targets[S]"])


@attrs.define(eq=False)
class Draft(Generic[S]):
    """All that a graph was told, right or wrong, in the order it was told. `closed` once it has been checked."""

    name: str
    version: int
    state: type[S]
    deps: object
    nodes: list[Node[S, None]] = attrs.Factory(list["Node[S, None]"])
    starts: list[Node[S, None]] = attrs.Factory(list["Node[S, None]"])
    edges: list[tuple[Source[S], Node[S, None] | End]] = attrs.Factory(list["tuple[Source[S], Node[S, None] | End]"])
    choices: list[Choice[S]] = attrs.Factory(list[Choice[S]])
    closed: bool = False

    def change(self, what: str, /) -> None:
        """Raise `GraphClosed` if it is too late for a change."""
        if self.closed:
            raise GraphClosed(self.name, what)

    def has(self, node: object, /) -> bool:
        """Whether a node is one of this graph's own."""
        return any(node is mine for mine in self.nodes)


@final
class Branch(Generic[S, K]):
    """A branch that still has to be told where its keys lead."""

    def __init__(self, draft: Draft[S], choice: Choice[S]) -> None:
        self._draft = draft
        self._choice = choice

    def to(self, targets: Mapping[K, Node[S, None] | End]) -> None:
        """Name the node, or `END`, that each key of the router leads to. Raises `GraphClosed` after the check."""
        self._draft.change("a branch")
        self._choice.told.append(tuple(targets.items()))


def called(fn: object, /) -> str:
    """The name of a function, as problems and errors show it."""
    name: object = getattr(fn, "__name__", None)
    return name if isinstance(name, str) else f"<{type(fn).__name__}>"


def graph_of(part: object, /) -> str | None:
    """The name of the graph that a node was made by, None for anything else."""
    return cast("Node[object, object]", part).graph if isinstance(part, Node) else None


def shown(part: object, /) -> str:
    """A part of a graph, or what was given in the place of one, in a few words."""
    if isinstance(part, Node):
        return f"node {part.name}"
    return "END" if isinstance(part, End) else f"{part!r} (no node)"
