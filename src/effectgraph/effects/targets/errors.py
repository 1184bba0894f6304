"""The targets' own errors: what is in the way, and how to get past it."""

from __future__ import annotations

import attrs

from effectgraph.effects.errors import EffectError, TargetMoved


@attrs.define(slots=False, eq=False)
class TargetUnusable(EffectError, RuntimeError):
    """The target cannot be read, locked or written as it is. Nothing was changed."""

    target: str
    why: str
    way_out: str

    def __str__(self) -> str:
        return f"target {self.target}: {self.why}; nothing was changed; {self.way_out}"


@attrs.define(slots=False, eq=False)
class TargetBusy(EffectError, RuntimeError):
    """Others kept the target's lock for longer than this call waits. Nothing was changed."""

    target: str
    waited_s: float

    def __str__(self) -> str:
        return (
            f"target {self.target}: others held its lock for {self.waited_s:g} s; nothing was changed; try again, and "
            "look for a process that is stopped or works on it for long"
        )


@attrs.define(slots=False, eq=False)
class FileMoved(TargetMoved):
    """A file has other content than the plan was made for. `leftovers` are temporary files that were kept beside it.

    A leftover was written by us and holds what neither the plan that wrote it found nor what it would have left, so
    it may be the only copy of something.
    """

    leftovers: tuple[str, ...]

    def __str__(self) -> str:
        text = super().__str__()
        if not self.leftovers:
            return text
        return f"{text}; kept beside it, since their content is not ours: {', '.join(self.leftovers)}"


@attrs.define(slots=False, eq=False)
class TransactionTaken(EffectError, RuntimeError):
    """The effect's own code ended, or tried to end, the transaction that the target lends to it."""

    target: str
    how: str
    known: str

    def __str__(self) -> str:
        return (
            f"target {self.target}: the effect's code {self.how}; {self.known}; leave BEGIN, COMMIT and ROLLBACK, and "
            "`with connection`, to the target; SAVEPOINT is free to use"
        )
