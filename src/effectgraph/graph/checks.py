"""Everything that can be wrong with a graph, found before it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Final, TypeVar

from effectgraph.graph.parts import END, Choice, Draft, called, graph_of, shown
from effectgraph.graph.signatures import Expected, key_of, keys_of, node_problems, router_problems
from effectgraph.graph.structure import is_key, key_text
from effectgraph.stores.keys import check_key_part

S = TypeVar("S")

BROKEN: Final = object()
"""A way out that leads to nothing of this graph. It is told where it is written, and not again by what it cuts off."""


def problems_of(draft: Draft[S], /) -> Iterator[str]:
    """All that is wrong with a graph, apart from its state class; each with its way out."""
    yield from _stamp_problems(draft)
    yield from _node_problems(draft)
    yield from _start_problems(draft)
    for source, target in draft.edges:
        what = f"edge from {shown(source)} to {shown(target)}"
        yield from _source_problems(draft, what, source)
        yield from _part_problems(draft, what, target)
    for choice in draft.choices:
        yield from _choice_problems(draft, choice)
    yield from _way_problems(draft)


def _stamp_problems(draft: Draft[S]) -> Iterator[str]:
    try:
        check_key_part("its name", draft.name)
    except (TypeError, ValueError) as error:
        yield str(error)
    if type(draft.version) is not int or draft.version < 1:
        yield f"its version is {draft.version!r}; give it a whole number from 1 on"


def _node_problems(draft: Draft[S]) -> Iterator[str]:
    expected = Expected(draft.state, draft.deps)
    seen: set[str] = set()
    for node in draft.nodes:
        if node.name in seen:
            yield f"node {node.name}: there are two of this name; rename one"
        seen.add(node.name)
        if not node.name.isidentifier():
            yield f"node {node.name}: has no name of its own; define it with `def`"
        if type(node.attempts) is not int or node.attempts < 1:
            yield f"node {node.name}: attempts={node.attempts!r}; at least one attempt is needed"
        for problem in node_problems(node.fn, node.is_async, expected):
            yield f"node {node.name}: {problem}"


def _start_problems(draft: Draft[S]) -> Iterator[str]:
    if not draft.starts:
        yield "no start; name the first node with graph.start(node)"
    if len(draft.starts) > 1:
        yield f"{len(draft.starts)} starts, {' and '.join(shown(start) for start in draft.starts)}; keep one"
    for start in draft.starts:
        yield from _source_problems(draft, f"start with {shown(start)}", start)


def _source_problems(draft: Draft[S], what: str, source: object) -> Iterator[str]:
    if source is END:
        yield f"{what}: nothing follows END; name a node"
    else:
        yield from _part_problems(draft, what, source)


def _part_problems(draft: Draft[S], what: str, part: object) -> Iterator[str]:
    if part is END or draft.has(part):
        return
    graph = graph_of(part)
    if graph is not None:
        yield f"{what}: {shown(part)} is one of graph {graph}; define it with this graph's node() as well"
    else:
        yield f"{what}: give a node that graph.node() made, or END"


def _choice_problems(draft: Draft[S], choice: Choice[S]) -> Iterator[str]:
    router = called(choice.router)
    what = f"branch of {shown(choice.source)} by {router}"
    yield from _source_problems(draft, what, choice.source)
    for problem in router_problems(choice.router, Expected(draft.state, draft.deps)):
        yield f"router {router}: {problem}"
    if not any(choice.told):
        yield f"{what}: leads nowhere; say where with .to({{key: node}})"
    if len(choice.told) > 1:
        yield f"{what}: .to() was called {len(choice.told)} times; name all keys in one"
    for key, target in chain.from_iterable(choice.told):
        if not is_key(key):
            yield f"{what}: {key!r} is no key; use text, a number, a bool, None, an enum member, or a tuple of these"
        yield from _part_problems(draft, f"{what}: key {key_text(key)}, target {shown(target)}", target)
    if len(choice.told) == 1:
        yield from _coverage_problems(what, choice)


def _coverage_problems(what: str, choice: Choice[S]) -> Iterator[str]:
    returned = keys_of(choice.router)
    if returned is None:
        return
    named = {key_of(key) for key, _ in choice.told[0]}
    for text in sorted(key_text(key) for _, key in returned - named):
        yield f"{what}: no target for {text}; add it to .to(...)"
    for text in sorted(key_text(key) for _, key in named - returned):
        yield f"{what}: the router never returns {text}; leave it out, or mend the router's annotation"


def _way_problems(draft: Draft[S]) -> Iterator[str]:
    ways = _ways(draft)
    for node in draft.nodes:
        told = ways[node]
        if not told:
            yield f"node {node.name}: no way out; add graph.edge({node.name}, END), or a branch"
        elif len(told) > 1:
            yield f"node {node.name}: {len(told)} edges or branches lead out of it; keep one, or ask a branch to choose"
    exits: dict[object, list[object]] = {
        node: [target for targets in told for target in targets] for node, told in ways.items()
    }
    reached = _closure([start for start in draft.starts if draft.has(start)], exits)
    if reached and all(choice.told for choice in draft.choices):
        for node in draft.nodes:
            if node not in reached:
                yield f"node {node.name}: nothing leads to it; add an edge to it, or leave it out"
    back = _backwards(exits)
    ending = _closure([node for node, to in exits.items() if not to or END in to or BROKEN in to], back)
    for node in draft.nodes:
        if node not in ending:
            yield f"node {node.name}: no way from it leads to END; let a branch leave the loop"


def _ways(draft: Draft[S]) -> dict[object, list[list[object]]]:
    """For each node, the edges and branches that leave it, each with all that it leads to."""
    ways: dict[object, list[list[object]]] = {node: [] for node in draft.nodes}
    told: list[tuple[object, list[object]]] = [(source, [target]) for source, target in draft.edges]
    told.extend((choice.source, [to for _, to in chain.from_iterable(choice.told)]) for choice in draft.choices)
    for source, targets in told:
        for node in draft.nodes:
            if node is source:
                sound = [target if target is END or draft.has(target) else BROKEN for target in targets]
                ways[node].append(sound)
    return ways


def _closure(first: Iterable[object], leads: Mapping[object, list[object]]) -> set[object]:
    """All that can be reached, `first` included."""
    found: set[object] = set()
    open_ = list(first)
    while open_:
        part = open_.pop()
        if part not in found:
            found.add(part)
            open_ += leads.get(part, ())
    return found


def _backwards(exits: Mapping[object, list[object]]) -> dict[object, list[object]]:
    back: dict[object, list[object]] = {}
    for source, targets in exits.items():
        for target in targets:
            back.setdefault(target, []).append(source)
    return back
