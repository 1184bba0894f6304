"""One function and how its replay is settled."""

from __future__ import annotations

from typing import Generic, ParamSpec, Protocol, TypeVar, final

import attrs

from effectgraph.effects.guard import EffectGuard
from effectgraph.outside import Runner
from effectgraph.stores.keys import EffectKey
from effectgraph.tools.arguments import Arguments, Parameters
from effectgraph.tools.hints import ReplaySupport, ToolHints

P = ParamSpec("P")
A_co = TypeVar("A_co", covariant=True)


class Perform(Protocol[A_co]):
    """How a tool performs a call whose arguments are fixed: through the guard, or at once if it has no effect."""

    async def __call__(self, arguments: Arguments, guard: EffectGuard, key: EffectKey, runner: Runner, /) -> A_co: ...


@attrs.frozen
class Prepared(Generic[A_co]):
    """A call of a tool whose arguments are checked and fixed."""

    tool: str
    arguments: Arguments
    perform: Perform[A_co]

    async def run(self, guard: EffectGuard, key: EffectKey, runner: Runner) -> A_co:
        """Perform the call under this key; a tool that only reads runs in the event loop or through `runner`."""
        return await self.perform(self.arguments, guard, key, runner)


@final
@attrs.frozen(kw_only=True, eq=False)
class Tool(Generic[P, A_co]):
    """A typed function and its declaration; made by `tool`. Call it in a node by `ctx.call(tool, ...)`."""

    name: str
    description: str
    version: int
    support: ReplaySupport
    hints: ToolHints
    parameters: Parameters
    perform: Perform[A_co]

    def prepare(self, *args: P.args, **kwargs: P.kwargs) -> Prepared[A_co]:
        """Check and copy the arguments of a call. Raises `BadArguments`; nothing is run."""
        return Prepared(self.name, self.parameters.bind(args, kwargs), self.perform)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Refuse: an effect that does not go through the guard could be repeated. Raises `TypeError`."""
        raise TypeError(f"tool {self.name}: call it by ctx.call({self.name}, ...), which keeps it from being repeated")
