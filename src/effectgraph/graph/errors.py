"""What is wrong with a graph, its state, or an update of it, and the way out."""

from __future__ import annotations

import attrs

from effectgraph.errors import GraphError


class DefinitionError(GraphError):
    """Anything that is wrong in the code that defines a graph."""


class StateError(GraphError):
    """Anything that is wrong with a value of a thread's state."""


@attrs.define(slots=False, eq=False)
class GraphInvalid(DefinitionError, ValueError):
    """The graph cannot run. `problems` are all that were found, each with its way out."""

    graph: str
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return f"graph {self.graph}: cannot run:" + "".join(f"\n  - {problem}" for problem in self.problems)


@attrs.define(slots=False, eq=False)
class GraphClosed(DefinitionError, RuntimeError):
    """The graph has been checked, so it can no longer be changed. Nothing was changed."""

    graph: str
    change: str

    def __str__(self) -> str:
        return (
            f"graph {self.graph}: was checked already and runs as it was then, so {self.change} comes too late; "
            "define everything first, or make a new Graph"
        )


@attrs.define(slots=False, eq=False)
class StateInvalid(DefinitionError, TypeError):
    """The class cannot be a state. `problems` are all that were found, each with its way out."""

    state: str
    problems: tuple[str, ...]

    def __str__(self) -> str:
        return f"state {self.state}: cannot be stored:" + "".join(f"\n  - {problem}" for problem in self.problems)


@attrs.define(slots=False, eq=False)
class UpdateInvalid(StateError, TypeError):
    """These fields make no update: an unknown one, one without a name, one named twice."""

    state: str
    why: str

    def __str__(self) -> str:
        return f"update of {self.state}: {self.why}"


@attrs.define(slots=False, eq=False)
class UpdateRefused(StateError, ValueError):
    """The update does not fit the state. Nothing was changed. `by` says whose it is; `field` is None for the whole."""

    by: str
    field: str | None
    why: str

    def __str__(self) -> str:
        where = "" if self.field is None else f" field {self.field}:"
        return f"{self.by}:{where} {self.why}; nothing was changed"


@attrs.define(slots=False, eq=False)
class NotAState(StateError, ValueError):
    """The state class does not take these values as they are."""

    state: str
    why: str

    def __str__(self) -> str:
        return (
            f"{self.state} refuses these values ({self.why}); a state takes each value of its fields' types, unchanged"
        )


@attrs.define(slots=False, eq=False)
class InputMissing(StateError, ValueError):
    """The input of a new thread leaves out fields that are marked `given()`. Nothing was changed."""

    by: str
    fields: tuple[str, ...]

    def __str__(self) -> str:
        named = ", ".join(f"{field}=..." for field in self.fields)
        return f"{self.by}: the input has to bring {', '.join(self.fields)}; start the thread with change({named})"


@attrs.define(slots=False, eq=False)
class StateChanged(StateError, ValueError):
    """What is stored does not fit the state class of today. Nothing was changed, nothing is guessed in its place."""

    thread: str
    field: str | None
    why: str

    def __str__(self) -> str:
        where = "its state" if self.field is None else f"field {self.field}"
        return (
            f"thread {self.thread}: {where} {self.why}; run it with the state class that wrote it, "
            "or delete the thread and start it again"
        )


@attrs.define(slots=False, eq=False)
class WrongRoute(DefinitionError, ValueError):
    """A router returned what is no key of its branch. `keys` are the ones it has."""

    graph: str
    node: str
    router: str
    got: str
    keys: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"graph {self.graph}, node {self.node}: router {self.router} returned {self.got}, which leads nowhere; "
            f"its branch has {', '.join(self.keys)}"
        )


class RunError(GraphError):
    """Anything that stops a run or a call of a node, other than the node's own errors."""


@attrs.define(slots=False, eq=False)
class CallOutOfOrder(RunError, RuntimeError):
    """A call was made where program order does not decide its key. Nothing was run."""

    task: str
    tool: str
    branch: str

    def __str__(self) -> str:
        where = f"branch {self.branch}" if self.branch else "the node's own context"
        return (
            f"task {self.task}, call of {self.tool}: {where} belongs to another asyncio task or thread, so no stable "
            'key can be given; nothing was run; make the call through ctx.at("a name for this helper")'
        )


@attrs.define(slots=False, eq=False)
class CallNotAwaited(RunError, RuntimeError):
    """A node made calls and ended without awaiting them. They did not run; the task commits nothing."""

    thread: str
    task: str
    calls: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"thread {self.thread}, task {self.task}: made and never awaited: {', '.join(self.calls)}; they did not "
            "run, and the task commits nothing; write `await ctx.call(...)`"
        )


@attrs.define(slots=False, eq=False)
class ContextClosed(RunError, RuntimeError):
    """A context was used after its node had ended. Nothing was run."""

    thread: str
    task: str

    def __str__(self) -> str:
        return (
            f"thread {self.thread}, task {self.task}: its node has ended, so its context is closed; nothing was run; "
            "await everything a node starts before it returns"
        )


@attrs.define(slots=False, eq=False)
class ThreadNotReady(RunError, RuntimeError):
    """The thread is not in a status in which this can be done. Nothing was changed."""

    thread: str
    status: str
    asked: str
    way_out: str

    def __str__(self) -> str:
        return f"thread {self.thread}: is {self.status}, so it cannot {self.asked}; {self.way_out}"


@attrs.define(slots=False, eq=False)
class GraphChanged(RunError, ValueError):
    """The thread was begun by another definition than this program's, and its tasks do not fit. Nothing was changed."""

    thread: str
    graph: str
    why: str

    def __str__(self) -> str:
        return (
            f"thread {self.thread}: {self.why}; graph {self.graph} of this program cannot go on with it; run it with "
            "the definition that began it, or bring back what is missing"
        )


@attrs.define(slots=False, eq=False)
class RuntimeClosed(RunError, RuntimeError):
    """The runtime is not open."""

    graph: str

    def __str__(self) -> str:
        return f"runtime of graph {self.graph}: not open; use it inside `async with Runtime(...) as runtime:`"
