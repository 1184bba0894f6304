"""Graphs: typed state, nodes and the ways between them, and the runtime that steps a thread."""

from effectgraph.graph.context import BlockingContext, Context
from effectgraph.graph.definition import Graph, NodeMaker
from effectgraph.graph.errors import (
    CallNotAwaited,
    CallOutOfOrder,
    ContextClosed,
    DefinitionError,
    GraphChanged,
    GraphClosed,
    GraphInvalid,
    InputMissing,
    RunError,
    RuntimeClosed,
    StateChanged,
    StateError,
    StateInvalid,
    ThreadNotReady,
    UpdateInvalid,
    UpdateRefused,
    WrongRoute,
)
from effectgraph.graph.parts import END, Branch, End, Node, Source
from effectgraph.graph.reducers import add, append, merge, union
from effectgraph.graph.run import Run, Status, TaskFailure
from effectgraph.graph.runtime import Runtime
from effectgraph.graph.state import Update, Updates, given, updates

__all__ = [
    "END",
    "BlockingContext",
    "Branch",
    "CallNotAwaited",
    "CallOutOfOrder",
    "Context",
    "ContextClosed",
    "DefinitionError",
    "End",
    "Graph",
    "GraphChanged",
    "GraphClosed",
    "GraphInvalid",
    "InputMissing",
    "Node",
    "NodeMaker",
    "Run",
    "RunError",
    "Runtime",
    "RuntimeClosed",
    "Source",
    "StateChanged",
    "StateError",
    "StateInvalid",
    "Status",
    "TaskFailure",
    "ThreadNotReady",
    "Update",
    "UpdateInvalid",
    "UpdateRefused",
    "Updates",
    "WrongRoute",
    "add",
    "append",
    "given",
    "merge",
    "union",
    "updates",
]
