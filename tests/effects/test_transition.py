"""The guard's table, cell by cell."""

from __future__ import annotations

import itertools

import pytest

from effectgraph.effects.transition import (
    Aftermath,
    Ended,
    Found,
    IllegalTransition,
    Next,
    Probed,
    Recalled,
    Standing,
    Verdict,
    after_reconcile,
    aftermath,
    decide,
    judge,
)
from effectgraph.stores.records import Kind, Landing, Plan

KINDS: dict[str, tuple[Kind, bool, bool]] = {
    "verifiable": (Kind.VERIFIABLE, False, False),
    "applied keys": (Kind.APPLIED_KEYS, False, False),
    "unchecked": (Kind.UNCHECKED, False, False),
    "idempotent": (Kind.UNCHECKED, True, False),
    "reconciled": (Kind.UNCHECKED, False, True),
    "idempotent and reconciled": (Kind.UNCHECKED, True, True),
}
"""A kind with its options: whether a repeat is harmless, whether the recipient can be asked."""

SAME: dict[Found, Next] = {
    Found.NOTHING: Next.START,
    Found.OUTCOME: Next.REPLAY,
    Found.OMITTED: Next.REFUSE_OMITTED,
    Found.UNCERTAIN: Next.REFUSE_UNCERTAIN,
}
"""What does not hang on the kind, as long as nobody is at work."""

TABLE: dict[Found, dict[str, Next]] = {
    Found.INTENT: {
        "verifiable": Next.PROBE,
        "applied keys": Next.RUN_AGAIN,
        "unchecked": Next.REFUSE_UNKNOWN,
        "idempotent": Next.RUN_AGAIN,
        "reconciled": Next.RECONCILE,
        "idempotent and reconciled": Next.RECONCILE,
    },
    Found.GRANTED: {
        "verifiable": Next.PLAN_AGAIN,
        "applied keys": Next.RUN_AGAIN,
        "unchecked": Next.RUN_AGAIN,
        "idempotent": Next.RUN_AGAIN,
        "reconciled": Next.RUN_AGAIN,
        "idempotent and reconciled": Next.RUN_AGAIN,
    },
    **{found: dict.fromkeys(KINDS, step) for found, step in SAME.items()},
}
"""What a call does, by what it finds and by its kind, when nobody is at work on the effect."""


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("found", list(Found))
def test_nobody_at_work(found: Found, kind: str) -> None:
    """Each cell of the table."""
    name, idempotent, reconcile = KINDS[kind]

    assert decide(name, found, Standing.NOBODY, idempotent=idempotent, reconcile=reconcile) is TABLE[found][kind]


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("found", list(Found))
def test_a_call_that_runs_here_is_shared(found: Found, kind: str) -> None:
    """In one process, calls of one key share one run, whatever is stored so far, and whatever a person granted."""
    name, idempotent, reconcile = KINDS[kind]

    assert decide(name, found, Standing.HERE, idempotent=idempotent, reconcile=reconcile) is Next.SHARE


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("found", list(Found))
def test_another_owner_at_work(found: Found, kind: str) -> None:
    """Whoever is alive and at work is not disturbed; and nobody is at work on anything but an intent."""
    name, idempotent, reconcile = KINDS[kind]

    if found is Found.INTENT:
        step = decide(name, found, Standing.ELSEWHERE, idempotent=idempotent, reconcile=reconcile)
        assert step is Next.REFUSE_IN_PROGRESS
    else:
        with pytest.raises(IllegalTransition):
            decide(name, found, Standing.ELSEWHERE, idempotent=idempotent, reconcile=reconcile)


@pytest.mark.parametrize("kind", [Kind.VERIFIABLE, Kind.APPLIED_KEYS])
@pytest.mark.parametrize(("found", "standing"), list(itertools.product(Found, Standing)))
@pytest.mark.parametrize(("idempotent", "reconcile"), [(True, False), (False, True), (True, True)])
def test_only_an_unchecked_effect_has_options(
    kind: Kind, found: Found, standing: Standing, idempotent: bool, reconcile: bool
) -> None:
    """The other kinds settle a replay better than by repeating it, or by asking."""

    with pytest.raises(IllegalTransition):
        decide(kind, found, standing, idempotent=idempotent, reconcile=reconcile)


@pytest.mark.parametrize(
    ("recalled", "idempotent", "expected"),
    [
        (Recalled.FOUND, False, Verdict.RECORD),
        (Recalled.FOUND, True, Verdict.RECORD),
        (Recalled.NOTHING, False, Verdict.GIVE_UP),
        (Recalled.NOTHING, True, Verdict.RUN_AGAIN),
        (Recalled.FAILED, False, Verdict.REFUSE_UNKNOWN),
        (Recalled.FAILED, True, Verdict.REFUSE_UNKNOWN),
    ],
)
def test_what_a_recipient_answers(recalled: Recalled, idempotent: bool, expected: Verdict) -> None:
    """Its record is the outcome; no record is final unless a repeat is harmless; no answer proves nothing."""

    assert after_reconcile(recalled, idempotent=idempotent) is expected


PLAN = Plan(before="a", landing=Landing("c", b"2"), earlier=(Landing("b", b"1"), Landing("d", b"0")))


@pytest.mark.parametrize(
    ("digest", "expected"),
    [
        ("a", (Probed.AS_BEFORE, None)),
        ("c", (Probed.LANDED, Landing("c", b"2"))),
        ("b", (Probed.LANDED, Landing("b", b"1"))),
        ("d", (Probed.LANDED, Landing("d", b"0"))),
        ("x", (Probed.CONFLICT, None)),
    ],
)
def test_a_digest_is_judged_by_every_plan_of_the_key(digest: str, expected: tuple[Probed, Landing | None]) -> None:
    """The plans that were replaced still count, each with its own presumed value."""

    assert judge(digest, PLAN) == expected


def test_before_is_compared_first() -> None:
    """A plan that writes what is there already runs again, which changes nothing."""

    assert judge("a", Plan(before="a", landing=Landing("a", b"1"))) == (Probed.AS_BEFORE, None)


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("first", [True, False])
def test_an_unknown_end_leaves_the_intent(kind: Kind, first: bool) -> None:
    """Any exception but the ones that know better says nothing about what happened."""

    assert aftermath(kind, Ended.RAISED, first=first) is Aftermath.STAND_UNKNOWN


@pytest.mark.parametrize("kind", list(Kind))
def test_not_applied_withdraws_only_the_first_intent(kind: Kind) -> None:
    """On a replay it speaks of this attempt alone."""

    assert aftermath(kind, Ended.NOT_APPLIED, first=True) is Aftermath.WITHDRAW
    assert aftermath(kind, Ended.NOT_APPLIED, first=False) is Aftermath.STAND_REFUSED


def test_a_refused_compare_and_set_withdraws_or_probes() -> None:
    """In the first run nothing can have happened; on a replay an earlier attempt may have landed."""

    assert aftermath(Kind.VERIFIABLE, Ended.MOVED, first=True) is Aftermath.WITHDRAW
    assert aftermath(Kind.VERIFIABLE, Ended.MOVED, first=False) is Aftermath.PROBE_ONCE


@pytest.mark.parametrize("kind", [Kind.APPLIED_KEYS, Kind.UNCHECKED])
@pytest.mark.parametrize("first", [True, False])
def test_only_a_verifiable_target_compares_and_sets(kind: Kind, first: bool) -> None:
    """The guard counts a stray `TargetMoved` of another kind as an unknown end."""

    with pytest.raises(IllegalTransition):
        aftermath(kind, Ended.MOVED, first=first)


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("first", [True, False])
def test_a_fenced_target_leaves_the_intent_to_the_successor(kind: Kind, first: bool) -> None:
    """Whoever holds the newer token settles it."""

    assert aftermath(kind, Ended.FENCED, first=first) is Aftermath.STAND_REFUSED
