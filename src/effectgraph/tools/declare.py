"""The declarations that make a tool of a function, one for each way to settle a replay."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Concatenate, Final, ParamSpec, TypeVar, cast, final, get_args, get_origin, overload

import attrs

from effectgraph.effects.call import run_callable
from effectgraph.effects.codec import Codec
from effectgraph.effects.current import current_effect
from effectgraph.effects.guard import About, EffectGuard
from effectgraph.effects.limits import OUTCOME_BYTES
from effectgraph.effects.targets.applied import AppliedKeys
from effectgraph.effects.verifiable import Verifiable
from effectgraph.outside import Runner
from effectgraph.stores.keys import EffectKey
from effectgraph.tools.arguments import Arguments, Parameters, codec_of, read_signature
from effectgraph.tools.errors import ToolInvalid
from effectgraph.tools.hints import ReplaySupport, ToolHints
from effectgraph.tools.tool import Perform, Tool

P = ParamSpec("P")
A = TypeVar("A")
C = TypeVar("C")


@final
@attrs.frozen
class Declare:
    """Makes a tool of a plain or async function."""

    make: Callable[[Callable[..., object]], object]

    @overload
    def __call__(self, fn: Callable[P, Awaitable[A]], /) -> Tool[P, A]: ...
    @overload
    def __call__(self, fn: Callable[P, A], /) -> Tool[P, A]: ...
    def __call__(self, fn: Callable[..., object], /) -> object:
        """Make the tool. Raises `ToolInvalid`."""
        return self.make(fn)


@attrs.frozen
class _Shown:
    """What operators see of a tool's calls."""

    tool: str
    max_outcome_bytes: int
    redact: frozenset[str]

    def of(self, arguments: Arguments) -> About:
        return About(tool=self.tool, request=arguments.shown(self.redact), max_outcome_bytes=self.max_outcome_bytes)


class Declarations:
    """`tool`: what makes tools of functions. Bare, `@tool` is `@tool.unchecked()`, the most cautious one.

    Each declaration refuses what cannot work when it is made (`ToolInvalid`): a parameter or result without a type,
    or of a type that cannot be stored faithfully. Common options: `version`, a number to raise when the same
    arguments come to mean something else; `redact`, the parameters that no store or log may see; `max_outcome_bytes`,
    the tool's own cap.
    """

    @overload
    def __call__(self, fn: Callable[P, Awaitable[A]], /) -> Tool[P, A]: ...
    @overload
    def __call__(self, fn: Callable[P, A], /) -> Tool[P, A]: ...
    def __call__(self, fn: Callable[..., object], /) -> object:
        """An unchecked tool that may be harmful to repeat."""
        return self.unchecked()(fn)

    def read_only(self, *, version: int = 1, open_world: bool = True) -> Declare:
        """A tool without effect. It is not guarded: a replay simply calls it again."""
        hints = ToolHints(read_only=True, idempotent=True, destructive=False, open_world=open_world)

        def declare(fn: Callable[..., object], /) -> object:
            parameters, returns = read_signature(fn, fn.__name__)
            codec_of(returns, fn.__name__, "result")

            async def perform(arguments: Arguments, guard: EffectGuard, key: EffectKey, runner: Runner, /) -> object:
                return await run_callable(runner, _bound(fn, arguments))

            return _tool(fn, version, ReplaySupport.READ_ONLY, hints, parameters, perform)

        return Declare(declare)

    def unchecked(
        self,
        *,
        idempotent: bool = False,
        destructive: bool = True,
        open_world: bool = True,
        costly: bool = False,
        version: int = 1,
        max_outcome_bytes: int = OUTCOME_BYTES,
        redact: frozenset[str] = frozenset(),
    ) -> Declare:
        """A tool whose effect nobody can look up afterwards: mail, payment, shell command, model call.

        `idempotent` says that repeating a call with the same idempotency key (`current_effect().idempotency_key`)
        changes nothing more, so a replay may run it again; `costly` that each run is paid for, so that its outcome is
        synced at once.
        """
        hints = ToolHints(idempotent=idempotent, destructive=destructive, open_world=open_world)

        def declare(fn: Callable[..., object], /) -> object:
            name = fn.__name__
            parameters, returns = read_signature(fn, name)
            codec = codec_of(returns, name, "result")
            shown = _Shown(name, max_outcome_bytes, _known(redact, parameters))

            async def perform(arguments: Arguments, guard: EffectGuard, key: EffectKey, runner: Runner, /) -> object:
                return await guard.unchecked(
                    key,
                    codec,
                    fingerprint=arguments.fingerprint(name, version),
                    effect=_bound(fn, arguments),
                    idempotent=idempotent,
                    costly=costly,
                    about=shown.of(arguments),
                )

            return _tool(fn, version, ReplaySupport.UNCHECKED, hints, parameters, perform)

        return Declare(declare)

    def applied_keys(
        self,
        *,
        target: Callable[[], AppliedKeys[C]],
        version: int = 1,
        max_outcome_bytes: int = OUTCOME_BYTES,
        redact: frozenset[str] = frozenset(),
    ) -> Callable[[Callable[Concatenate[C, P], A]], Tool[P, A]]:
        """A tool that works in the transaction of a target that keeps applied keys.

        `target` gives the target; the function's first argument is its open transaction, the others are the tool's. The
        function is plain: it runs in a worker thread, and must neither commit nor roll back.
        """
        hints = ToolHints(idempotent=True)

        def declare(fn: Callable[Concatenate[C, P], A], /) -> Tool[P, A]:
            name = fn.__name__
            if inspect.iscoroutinefunction(fn):
                raise ToolInvalid(name, "it works in a transaction, so it is a plain function, not an async one")
            parameters, returns = read_signature(fn, name, skip=1)
            codec = cast("Codec[A]", codec_of(returns, name, "result"))
            shown = _Shown(name, max_outcome_bytes, _known(redact, parameters))

            async def perform(arguments: Arguments, guard: EffectGuard, key: EffectKey, runner: Runner, /) -> A:
                def effect(token: int) -> A:
                    encoded = target().apply(current_effect(), lambda tx: codec.encode(_bound(fn, arguments, tx)()))
                    return codec.decode(encoded)

                return await guard.applied_keys(
                    key,
                    codec,
                    fingerprint=arguments.fingerprint(name, version),
                    effect=effect,
                    forget=lambda token: target().forget(current_effect()),
                    about=shown.of(arguments),
                )

            without_transaction = cast("Callable[P, A]", fn)
            return _tool(without_transaction, version, ReplaySupport.APPLIED_KEYS, hints, parameters, perform)

        return declare

    def verifiable(
        self,
        *,
        probe: Callable[P, str],
        version: int = 1,
        max_outcome_bytes: int = OUTCOME_BYTES,
        redact: frozenset[str] = frozenset(),
    ) -> Callable[[Callable[P, Verifiable[A]]], Tool[P, A]]:
        """A tool whose target can tell whether it landed: the function is the plan, `probe` takes the same arguments.

        Both are plain functions and run in a worker thread; the token for the target's fence is
        `current_effect().token`.
        """
        hints = ToolHints(idempotent=True)

        def declare(fn: Callable[P, Verifiable[A]], /) -> Tool[P, A]:
            name = fn.__name__
            parameters, returns = read_signature(fn, name)
            if get_origin(returns) is not Verifiable:
                raise ToolInvalid(name, f"it is verifiable, so it returns Verifiable[...], not {returns}")
            codec = cast("Codec[A]", codec_of(get_args(returns)[0], name, "result"))
            shown = _Shown(name, max_outcome_bytes, _known(redact, parameters))

            async def perform(arguments: Arguments, guard: EffectGuard, key: EffectKey, runner: Runner, /) -> A:
                return await guard.verifiable(
                    key,
                    codec,
                    fingerprint=arguments.fingerprint(name, version),
                    plan=lambda token: _bound(fn, arguments)(),
                    probe=lambda token: _bound(probe, arguments)(),
                    about=shown.of(arguments),
                )

            return _tool(fn, version, ReplaySupport.VERIFIABLE, hints, parameters, perform)

        return declare


tool: Final = Declarations()
"""Makes a tool of a function: `@tool.verifiable(...)`, `.applied_keys(...)`, `.unchecked(...)` or `.read_only()`."""


def _bound(fn: Callable[..., A], arguments: Arguments, *first: object) -> Callable[[], A]:
    """The function with its arguments, each a copy of its own; `first` go before them."""
    args, kwargs = arguments.fresh()
    return partial(fn, *first, *args, **kwargs)


def _known(redact: frozenset[str], parameters: Parameters) -> frozenset[str]:
    unknown = redact - parameters.codecs.keys()
    if unknown:
        raise ToolInvalid(parameters.tool, f"redact names {', '.join(sorted(unknown))}, which it does not take")
    return redact


def _tool(
    fn: Callable[P, object],
    version: int,
    support: ReplaySupport,
    hints: ToolHints,
    parameters: Parameters,
    perform: Perform[A],
) -> Tool[P, A]:
    if version < 1:
        raise ToolInvalid(parameters.tool, f"version {version}; versions begin at 1")
    made: Tool[P, A] = Tool(
        name=parameters.tool,
        description=inspect.getdoc(fn) or "",
        version=version,
        support=support,
        hints=hints,
        parameters=parameters,
        perform=perform,
    )
    return made
