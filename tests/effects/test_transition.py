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
    Standing,
    aftermath,
    decide,
    judge,
)
from effectgraph.stores.records import Kind, Landing, Plan

PLAIN = [(kind, False) for kind in Kind]
REPEATS = [*PLAIN, (Kind.UNCHECKED, True)]


@pytest.mark.parametrize(("kind", "idempotent"), REPEATS)
def test_without_evidence_the_effect_starts(kind: Kind, idempotent: bool) -> None:
    """Nothing known: intent, effect, outcome."""

    assert decide(kind, Found.NOTHING, Standing.NOBODY, idempotent=idempotent) is Next.START


@pytest.mark.parametrize(("kind", "idempotent"), REPEATS)
def test_an_outcome_is_replayed(kind: Kind, idempotent: bool) -> None:
    """An outcome is decoded and returned; nothing else runs."""

    assert decide(kind, Found.OUTCOME, Standing.NOBODY, idempotent=idempotent) is Next.REPLAY


@pytest.mark.parametrize(("kind", "idempotent"), REPEATS)
def test_an_omitted_outcome_is_refused(kind: Kind, idempotent: bool) -> None:
    """What was over the cap is never run again."""

    assert decide(kind, Found.OMITTED, Standing.NOBODY, idempotent=idempotent) is Next.REFUSE_OMITTED


@pytest.mark.parametrize("found", list(Found))
@pytest.mark.parametrize(("kind", "idempotent"), REPEATS)
def test_a_call_that_runs_here_is_shared(kind: Kind, idempotent: bool, found: Found) -> None:
    """In one process, calls of one key share one run, whatever is stored so far."""

    assert decide(kind, found, Standing.HERE, idempotent=idempotent) is Next.SHARE


@pytest.mark.parametrize(("kind", "idempotent"), REPEATS)
def test_an_intent_of_a_live_owner_is_in_progress(kind: Kind, idempotent: bool) -> None:
    """Whoever is alive and at work is not disturbed, even if a repeat were harmless."""

    assert decide(kind, Found.INTENT, Standing.ELSEWHERE, idempotent=idempotent) is Next.REFUSE_IN_PROGRESS


@pytest.mark.parametrize(
    ("kind", "idempotent", "expected"),
    [
        (Kind.VERIFIABLE, False, Next.PROBE),
        (Kind.APPLIED_KEYS, False, Next.RUN_AGAIN),
        (Kind.UNCHECKED, False, Next.REFUSE_UNKNOWN),
        (Kind.UNCHECKED, True, Next.RUN_AGAIN),
    ],
)
def test_an_intent_that_nobody_works_on_is_settled_by_its_kind(kind: Kind, idempotent: bool, expected: Next) -> None:
    """The target settles it if it can; otherwise it is refused."""

    assert decide(kind, Found.INTENT, Standing.NOBODY, idempotent=idempotent) is expected


@pytest.mark.parametrize("kind", [Kind.VERIFIABLE, Kind.APPLIED_KEYS])
@pytest.mark.parametrize(("found", "standing"), list(itertools.product(Found, Standing)))
def test_only_an_unchecked_effect_can_be_idempotent(kind: Kind, found: Found, standing: Standing) -> None:
    """The other kinds settle a replay better than by repeating it."""

    with pytest.raises(IllegalTransition):
        decide(kind, found, standing, idempotent=True)


@pytest.mark.parametrize("found", [Found.NOTHING, Found.OUTCOME, Found.OMITTED])
@pytest.mark.parametrize("kind", list(Kind))
def test_nobody_elsewhere_works_on_what_has_no_open_intent(kind: Kind, found: Found) -> None:
    """Asking who is at work makes sense for an intent alone."""

    with pytest.raises(IllegalTransition):
        decide(kind, found, Standing.ELSEWHERE)


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
