"""What a call does next, by the evidence it finds: the table of the guard, as pure functions."""

from __future__ import annotations

from enum import Enum
from typing import Final

import attrs

from effectgraph.errors import GraphError
from effectgraph.stores.records import Kind, Landing, Plan


class Found(Enum):
    """What the store has of an effect."""

    NOTHING = "nothing"
    INTENT = "intent"
    OUTCOME = "outcome"
    OMITTED = "omitted"


class Standing(Enum):
    """Who is at work on an effect."""

    NOBODY = "nobody"
    HERE = "here"
    """A call of this process."""
    ELSEWHERE = "elsewhere"
    """Another owner, alive. Asked only outside a runtime: a claim decides it otherwise."""


class Next(Enum):
    """What a call does next."""

    START = "start"
    """Write an intent (after the plan, after forgetting a stale key), run the effect, write the outcome."""
    REPLAY = "replay"
    """Decode the outcome and return it; nothing else runs."""
    SHARE = "share"
    """Wait for the call that runs here, and get a copy of its outcome."""
    PROBE = "probe"
    """Ask the target's digest, and go on by `judge`."""
    RUN_AGAIN = "run_again"
    """Take the intent over and run the effect again: the target, or the recipient, answers a key it knows."""
    REFUSE_IN_PROGRESS = "refuse_in_progress"
    REFUSE_UNKNOWN = "refuse_unknown"
    REFUSE_OMITTED = "refuse_omitted"


class Probed(Enum):
    """What a target's digest says about an intent."""

    AS_BEFORE = "as_before"
    LANDED = "landed"
    CONFLICT = "conflict"


class Ended(Enum):
    """How an attempt at an effect ended without a value."""

    NOT_APPLIED = "not_applied"
    """The effect says that it did not happen."""
    MOVED = "moved"
    """The target's compare-and-set found other content and changed nothing."""
    FENCED = "fenced"
    """The target has seen a newer token and changed nothing."""
    RAISED = "raised"
    """Anything else: not known."""


class Aftermath(Enum):
    """What becomes of the intent of an attempt that ended without a value."""

    WITHDRAW = "withdraw"
    """Nothing happened, now or earlier: the intent goes, and the next call starts afresh."""
    PROBE_ONCE = "probe_once"
    """An earlier attempt may have landed: the target is asked once more."""
    STAND_REFUSED = "stand_refused"
    """Nothing happened in this attempt; the intent stays for what an earlier one may have done."""
    STAND_UNKNOWN = "stand_unknown"
    """It is not known whether it happened: the intent stays."""


@attrs.define(slots=False, eq=False)
class IllegalTransition(GraphError, RuntimeError):
    """The guard or a store has a bug: this cannot be found."""

    what: str

    def __str__(self) -> str:
        return f"guard: {self.what} cannot be; nothing was done; please report it with the evidence of the effect"


_SETTLED: Final = {Found.OUTCOME: Next.REPLAY, Found.OMITTED: Next.REFUSE_OMITTED}


def decide(kind: Kind, found: Found, standing: Standing, *, idempotent: bool = False) -> Next:
    """What a call of `kind` does, given what the store has, who is at work on it, and whether the recipient ignores
    repeats.

    Total over every combination: what cannot be raises `IllegalTransition`.
    """
    if idempotent and kind is not Kind.UNCHECKED:
        raise IllegalTransition(f"an idempotent {kind.value} effect")
    if standing is Standing.HERE:
        return Next.SHARE
    if standing is Standing.ELSEWHERE and found is not Found.INTENT:
        raise IllegalTransition(f"another owner at work on {found.value}")
    if found in _SETTLED:
        return _SETTLED[found]
    if found is Found.NOTHING:
        return Next.START
    if standing is Standing.ELSEWHERE:
        return Next.REFUSE_IN_PROGRESS
    if kind is Kind.VERIFIABLE:
        return Next.PROBE
    if kind is Kind.APPLIED_KEYS or idempotent:
        return Next.RUN_AGAIN
    return Next.REFUSE_UNKNOWN


def judge(digest: str, plan: Plan) -> tuple[Probed, Landing | None]:
    """What a probed digest says about a plan and those it replaced.

    `before` is compared first: a plan that writes what is there runs again, which changes nothing.
    """
    if digest == plan.before:
        return Probed.AS_BEFORE, None
    for landing in (plan.landing, *reversed(plan.earlier)):
        if digest == landing.after:
            return Probed.LANDED, landing
    return Probed.CONFLICT, None


def aftermath(kind: Kind, ended: Ended, *, first: bool) -> Aftermath:
    """What becomes of the intent; `first`: this attempt wrote it, so that nothing can have happened earlier."""
    if ended is Ended.MOVED and kind is not Kind.VERIFIABLE:
        raise IllegalTransition(f"a compare-and-set of a {kind.value} effect")
    if ended is Ended.RAISED:
        return Aftermath.STAND_UNKNOWN
    if ended is Ended.FENCED:
        return Aftermath.STAND_REFUSED
    if first:
        return Aftermath.WITHDRAW
    return Aftermath.PROBE_ONCE if ended is Ended.MOVED else Aftermath.STAND_REFUSED
