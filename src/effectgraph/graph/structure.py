"""A checked graph: what runs, and in which order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Mapping
from enum import Enum
from typing import Final, Generic, TypeAlias, TypeVar, cast

import attrs

from effectgraph.graph.errors import WrongRoute
from effectgraph.graph.parts import Draft, End, Node, Source, called
from effectgraph.graph.signatures import Key, key_of
from effectgraph.graph.state_type import StateField, StateType
from effectgraph.stores.records import GraphStamp

S = TypeVar("S")

KEY_TYPES: Final = (str, bytes, bool, int, type(None), Enum)
"""What a branch key may be: each looks the same in every process, so it can be part of a fingerprint."""


def is_key(value: object, /) -> bool:
    """Whether a value can be a branch key. A tuple can if its members can."""
    if isinstance(value, tuple):
        return all(is_key(part) for part in cast("tuple[object, ...]", value))
    return isinstance(value, KEY_TYPES)


def key_text(value: object, /) -> str:
    """A branch key as people read it, the same in every process."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, tuple):
        return f"({', '.join(key_text(part) for part in cast('tuple[object, ...]', value))})"
    return repr(value)


@attrs.frozen
class Routes(Generic[S]):
    """A branch: which key the router picks, and where each key leads."""

    router: Callable[[S], Hashable]
    targets: Mapping[Key, Node[S, None] | End]


Way: TypeAlias = "Node[S, None] | End | Routes[S]"


@attrs.frozen(eq=False, kw_only=True)
class Structure(Generic[S]):
    """A graph that has been checked; nothing in it can change. `ways` says what leads out of each node.

    `stamp` is what a thread keeps of it. The fingerprint covers nodes, ways with their keys, and the fields of the
    state: type, reducer, whether given. It leaves out code, attempts, and the order in which things were written down.
    """

    stamp: GraphStamp
    state: StateType[S]
    start: Node[S, None]
    nodes: Mapping[str, Node[S, None]]
    ways: Mapping[str, Way[S]]

    @property
    def name(self) -> str:
        """The graph's name."""
        return self.stamp.name

    @property
    def version(self) -> int:
        """The graph's version."""
        return self.stamp.version

    def next_after(self, node: Node[S, None], state: S, /) -> Node[S, None] | End:
        """What follows a node in this state. A router gets a state of its own, and may be asked again.

        Raises `WrongRoute` for a key without a target, and whatever the router raises.
        """
        way = self.ways[node.name]
        if not isinstance(way, Routes):
            return way
        got: object = way.router(self.state.isolated(state))
        try:
            target = way.targets.get(key_of(got))
        except TypeError:
            # What cannot be hashed is no key either.
            target = None
        if target is None:
            keys = tuple(key_text(value) for _, value in way.targets)
            raise WrongRoute(self.name, node.name, called(way.router), repr(got), keys)
        return target


def structure_of(draft: Draft[S], state: StateType[S], /) -> Structure[S]:
    """What runs, of a graph in which no problem was found."""
    told: list[tuple[Source[S], Way[S]]] = list(draft.edges)
    for choice in draft.choices:
        targets = {key_of(key): target for key, target in choice.told[0]}
        told.append((choice.source, Routes(choice.router, targets)))
    ways = {source.name: way for source, way in told if isinstance(source, Node)}
    nodes = {node.name: node for node in draft.nodes}
    start = draft.starts[0]
    form = {
        "start": start.name,
        "ways": {name: _way_form(way) for name, way in ways.items()},
        "state": {name: _field_form(field) for name, field in state.fields.items()},
    }
    text = json.dumps(form, sort_keys=True, separators=(",", ":"))
    stamp = GraphStamp(name=draft.name, version=draft.version, fingerprint=hashlib.sha256(text.encode()).hexdigest())
    return Structure(stamp=stamp, state=state, start=start, nodes=nodes, ways=ways)


def _way_form(way: Way[S]) -> object:
    if isinstance(way, Routes):
        return {key_text(value): _way_form(target) for (_, value), target in way.targets.items()}
    return None if isinstance(way, End) else way.name


def _field_form(field: StateField) -> object:
    return [field.codec.schema, field.given, None if field.reducer is None else field.reducer.name]
