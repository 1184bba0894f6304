"""The guard's answers: what was not done and why, and what is not known."""

from __future__ import annotations

from enum import Enum

import attrs

from effectgraph.errors import GraphError
from effectgraph.stores.keys import EffectKey


class Refusal(Enum):
    """Why an effect was not run, or not run again."""

    CONFLICT = "conflict"
    """The target is neither as the plan found it nor as it would have left it."""
    OUTCOME_UNKNOWN = "outcome_unknown"
    """An earlier attempt may have happened, and nothing can tell."""
    UNCERTAIN = "uncertain"
    """It was given up on: the recipient has no record of it, or a person ruled so. Only a person can complete it."""
    OUTCOME_OMITTED = "outcome_omitted"
    """It happened, but its outcome was over the cap and was not kept."""
    MISMATCH = "mismatch"
    """The key is in use for another request."""
    IN_PROGRESS = "in_progress"
    """Somebody who is alive is at work on it."""
    INTENT_TOO_LARGE = "intent_too_large"
    """What must be written first is over the cap."""
    STALE_TOKEN = "stale_token"
    """A newer claim has taken over."""
    NOT_APPLIED = "not_applied"
    """The effect itself says that it did not happen."""


class EffectError(GraphError):
    """Anything the guard answers instead of a value."""


@attrs.define(slots=False, eq=False)
class EffectReplayRefused(EffectError, RuntimeError):
    """The effect was not run, or not run again. A person or a model should see it; the way out is in the text."""

    key: EffectKey
    code: Refusal
    known: str
    way_out: str

    def __str__(self) -> str:
        return f"effect {self.key}: refused, {self.code.value}: {self.known}; {self.way_out}"


@attrs.define(slots=False, eq=False)
class EffectUnknown(EffectError, RuntimeError):
    """The effect raised, and it is not known whether it happened. Its intent stands, so it is not run again on a
    guess.
    """

    key: EffectKey
    cause: str

    def __str__(self) -> str:
        return (
            f"effect {self.key}: raised {self.cause}; whether it happened is not known, so its intent stands; retry or "
            "recover settles it from the target if the target can tell, and refuses it otherwise"
        )


@attrs.define(slots=False, eq=False)
class EffectNotRecorded(EffectError, RuntimeError):
    """The effect happened, but its outcome could not be recorded; `outcome` is what it returned. Its intent stands."""

    key: EffectKey
    cause: str
    outcome: object

    def __str__(self) -> str:
        return (
            f"effect {self.key}: happened, but its outcome was not recorded ({self.cause}); its intent stands; keep "
            "the outcome that this error carries, mend the cause, then retry or recover"
        )


@attrs.define(slots=False, eq=False)
class OutcomeUnreadable(EffectError, ValueError):
    """A recorded outcome cannot be decoded by the codec of today. The effect is not run again."""

    key: EffectKey
    written_by: str
    reads: str
    why: str

    def __str__(self) -> str:
        return (
            f"effect {self.key}: its outcome was written by schema {self.written_by} and cannot be read by schema "
            f"{self.reads} ({self.why}); it is not run again; bring back the type that wrote it, or give its codec a "
            "migration"
        )


@attrs.define(slots=False, eq=False)
class TooManyEffects(EffectError, RuntimeError):
    """A task has made as many effects as are kept for one. Nothing was run."""

    key: EffectKey
    limit: int

    def __str__(self) -> str:
        return f"effect {self.key}: its task has {self.limit} effects already, the most that are kept; split the task"


@attrs.define(slots=False, eq=False)
class NotApplied(EffectError, RuntimeError):
    """Raise it in an effect that knows it did not happen: a connection refused, a request turned down."""

    reason: str

    def __str__(self) -> str:
        return f"not applied: {self.reason}"


@attrs.define(slots=False, eq=False)
class TargetMoved(EffectError, RuntimeError):
    """A target's compare-and-set found other content than it was told to replace. Nothing was changed."""

    target: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"target {self.target}: expected {self.expected}, found {self.found}; nothing was changed"


@attrs.define(slots=False, eq=False)
class TargetFenced(EffectError, RuntimeError):
    """A target has seen a newer token of this scope than the one it was given. Nothing was changed."""

    target: str
    scope: str
    token: int
    newest: int

    @property
    def fact(self) -> str:
        """What is so, without the way out."""
        return (
            f"target {self.target}: token {self.token} of {self.scope} is older than {self.newest}, which it has seen; "
            "nothing was changed"
        )

    def __str__(self) -> str:
        return f"{self.fact}; stop this run, its successor goes on"


@attrs.define(slots=False, eq=False)
class OutsideEffect(EffectError, RuntimeError):
    """`current_effect()` was asked where no effect runs."""

    def __str__(self) -> str:
        return "no effect runs here: call current_effect() in an effect, a plan, a probe or a forget that a guard calls"
