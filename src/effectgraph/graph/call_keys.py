"""The keys of a task's calls: in program order, so that every re-run of the task finds its own effects."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from effectgraph.graph.errors import CallOutOfOrder


class CallKeys:
    """Gives out the call keys of one branch of a task: a count and the tool's name, under the branch's prefix.

    Program order is what one flow of control does one after another. So a branch belongs to the first asyncio task or
    thread that calls in it (`who` tells which), and refuses all others.
    """

    def __init__(self, task: str, who: Callable[[], Hashable], prefix: str = "") -> None:
        self._task = task
        self._who = who
        self._prefix = prefix
        self._bound: Hashable = None
        self._count = 0
        self._branches: dict[str, CallKeys] = {}
        self._named: set[str] = set()

    def bind(self) -> None:
        """Make the branch that of the present asyncio task or thread."""
        self._bound = self._who()

    def next(self, tool: str) -> str:
        """The key of the next call. Raises `CallOutOfOrder` for another task or thread than the branch's own."""
        self._check_order(tool)
        self._count += 1
        return f"{self._prefix}{self._count}.{tool}"

    def named(self, name: str) -> str:
        """The key of a call that the program names itself. Raises `ValueError` for a name that was used before."""
        if name in self._named:
            raise ValueError(f"task {self._task}: the call {name!r} was made already; give each call a name of its own")
        self._named.add(name)
        return f"{self._prefix}={_escaped(name)}"

    def at(self, key: str) -> CallKeys:
        """The branch of this name: the same one each time it is asked for."""
        if not key:
            raise ValueError(f"task {self._task}: at() needs a name that is not empty")
        branch = CallKeys(self._task, self._who, f"{self._prefix}{_escaped(key)}/")
        return self._branches.setdefault(key, branch)

    def _check_order(self, tool: str) -> None:
        me = self._who()
        if self._bound is None:
            self._bound = me
        elif self._bound != me:
            raise CallOutOfOrder(self._task, tool, self._prefix.rstrip("/"))


def _escaped(name: str) -> str:
    return name.replace("%", "%25").replace("/", "%2F")
