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
    GRANTED = "granted"
    """An intent, and a person's grant of one more attempt that is not used."""
    UNCERTAIN = "uncertain"
    """An intent that was given up on: the recipient knows nothing of it, or a person ruled so."""
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
    PLAN_AGAIN = "plan_again"
    """Take the intent over with a new plan and run that, whatever the target's digest is: a person granted it."""
    RUN_AGAIN = "run_again"
    """Take the intent over and run the effect again: the target, or the recipient, answers a key it knows."""
    RECONCILE = "reconcile"
    """Ask the recipient for its own record of the effect, and go on by `after_reconcile`."""
    REFUSE_IN_PROGRESS = "refuse_in_progress"
    REFUSE_UNKNOWN = "refuse_unknown"
    REFUSE_UNCERTAIN = "refuse_uncertain"
    REFUSE_OMITTED = "refuse_omitted"


class Probed(Enum):
    """What a target's digest says about an intent."""

    AS_BEFORE = "as_before"
    LANDED = "landed"
    CONFLICT = "conflict"


class Recalled(Enum):
    """What a recipient answered when it was asked for its record of an effect."""

    FOUND = "found"
    NOTHING = "nothing"
    FAILED = "failed"
    """It raised, or did not answer in time: that proves nothing."""


class Verdict(Enum):
    """What follows from a recipient's answer."""

    RECORD = "record"
    """What it has is the outcome."""
    RUN_AGAIN = "run_again"
    GIVE_UP = "give_up"
    """Write down that it is uncertain, and never ask or run it again."""
    REFUSE_UNKNOWN = "refuse_unknown"
    """The intent stays as it is; the next call asks again."""


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


_WHATEVER_THE_KIND: Final = {
    Found.NOTHING: Next.START,
    Found.UNCERTAIN: Next.REFUSE_UNCERTAIN,
    Found.OUTCOME: Next.REPLAY,
    Found.OMITTED: Next.REFUSE_OMITTED,
}


def decide(kind: Kind, found: Found, standing: Standing, *, idempotent: bool = False, reconcile: bool = False) -> Next:
    """What a call of `kind` does, given what the store has, who is at work on it, whether the recipient ignores
    repeats, and whether it can be asked for its own record.

    Total over every combination: what cannot be raises `IllegalTransition`.
    """
    if (idempotent or reconcile) and kind is not Kind.UNCHECKED:
        raise IllegalTransition(f"an idempotent or reconciled {kind.value} effect")
    if standing is Standing.HERE:
        return Next.SHARE
    if standing is Standing.ELSEWHERE:
        if found is not Found.INTENT:
            raise IllegalTransition(f"another owner at work on {found.value}")
        return Next.REFUSE_IN_PROGRESS
    if found in _WHATEVER_THE_KIND:
        return _WHATEVER_THE_KIND[found]
    if found is Found.GRANTED:
        return Next.PLAN_AGAIN if kind is Kind.VERIFIABLE else Next.RUN_AGAIN
    return _unsettled(kind, idempotent=idempotent, reconcile=reconcile)


def _unsettled(kind: Kind, *, idempotent: bool, reconcile: bool) -> Next:
    """What a call does on an intent without outcome that nobody is at work on."""
    if kind is Kind.VERIFIABLE:
        return Next.PROBE
    if kind is Kind.APPLIED_KEYS:
        return Next.RUN_AGAIN
    if reconcile:
        return Next.RECONCILE
    return Next.RUN_AGAIN if idempotent else Next.REFUSE_UNKNOWN


def after_reconcile(recalled: Recalled, *, idempotent: bool) -> Verdict:
    """What follows from the recipient's answer; only an idempotent effect may run again when it knows nothing."""
    if recalled is Recalled.FOUND:
        return Verdict.RECORD
    if recalled is Recalled.FAILED:
        return Verdict.REFUSE_UNKNOWN
    return Verdict.RUN_AGAIN if idempotent else Verdict.GIVE_UP


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
