"""The demo's check of itself: it finds every wrong count, and says nothing when all is well."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Final

import attrs
import pytest
from rich.console import Console

from effectgraph.cli.demo.effect import Effect
from effectgraph.cli.demo.job import Fenced, Told
from effectgraph.cli.demo.observed import Act, Charge, Counts, Mishap, Observed, OrderSeen
from effectgraph.cli.demo.place import STOCK
from effectgraph.cli.demo.report import Report
from effectgraph.cli.demo.story import ACTS
from effectgraph.cli.demo.verdict import SETTLED, expected_counts, verdict

NOTHING = Counts(reserve=0, charge=0, reward=0, receipt=0, charge_requests=0, reward_requests=0)
DONE = Told(status="done", recovered=1)
REFUSED = Told(
    recovered=1,
    unsettled=("charge",),
    status="failed",
    failure="effect order-3 / 2.charge / 1.charge: refused, outcome_unknown: nobody knows; look",
    unresolved=("charge",),
)


def as_promised(act: Act) -> OrderSeen:
    """An order of which everything is as it should be."""
    counts = expected_counts(act)
    match act:
        case Act(mishap=Mishap.NONE):
            return OrderSeen(act=act, told=Told(status="done"), counts=counts)
        case Act(mishap=Mishap.STOPPED):
            woken = Told(raised="ClaimLost: ...", fenced=Fenced(token=11, newest=13))
            return OrderSeen(act=act, told=DONE, counts=counts, counts_then=NOTHING, woken=woken)
        case Act(effect=Effect.CHARGE):
            then = attrs.evolve(NOTHING, charge=1)
            return OrderSeen(act=act, told=REFUSED, counts=counts, exit_code=-9, counts_then=then, retried=REFUSED)
        case Act(effect=Effect() as effect):
            told = attrs.evolve(DONE, unsettled=(effect.value,), settled=(SETTLED[effect],))
            then = Counts(reserve=1, charge=1, reward=1, receipt=1, charge_requests=1, reward_requests=1)
            return OrderSeen(act=act, told=told, counts=counts, exit_code=-9, counts_then=then)
        case _:
            raise AssertionError(act)


GOOD = Observed(
    orders=tuple(as_promised(act) for act in ACTS),
    pieces_left=STOCK - len(ACTS),
    charges=tuple(Charge(id=f"ch_{act.order}", order=act.order, amount=4200, card="card") for act in ACTS),
)


def with_order(number: int, change: Callable[[OrderSeen], OrderSeen]) -> Observed:
    """What was seen, with one order changed; the first order is number 1."""
    orders = list(GOOD.orders)
    orders[number - 1] = change(orders[number - 1])
    return attrs.evolve(GOOD, orders=tuple(orders))


def told(seen: OrderSeen, change: Callable[[Told], Told]) -> OrderSeen:
    """An order whose last worker told something else."""
    return attrs.evolve(seen, told=change(seen.told))


NOT_KILLED: Final[dict[str, Callable[[OrderSeen], OrderSeen]]] = {
    "not killed": lambda seen: attrs.evolve(seen, exit_code=0),
    "before the change": lambda seen: attrs.evolve(seen, counts_then=NOTHING),
    "no intent": lambda seen: told(seen, lambda it: attrs.evolve(it, unsettled=())),
    "not recovered": lambda seen: told(seen, lambda it: attrs.evolve(it, recovered=0)),
    "still running": lambda seen: told(seen, lambda it: attrs.evolve(it, status="running")),
}

NOT_REFUSED: Final[dict[str, Callable[[OrderSeen], OrderSeen]]] = {
    "failed for another reason": lambda seen: told(seen, lambda it: attrs.evolve(it, failure="httpx.ReadTimeout")),
    "not listed": lambda seen: told(seen, lambda it: attrs.evolve(it, unresolved=())),
    "retry not refused": lambda seen: attrs.evolve(seen, retried=attrs.evolve(REFUSED, failure=None)),
    "not listed after the retry": lambda seen: attrs.evolve(seen, retried=attrs.evolve(REFUSED, unresolved=())),
}

NOT_FENCED: Final[dict[str, Callable[[OrderSeen], OrderSeen]]] = {
    "recovered while alive": lambda seen: told(seen, lambda it: attrs.evolve(it, recovered_before=1)),
    "not taken over": lambda seen: told(seen, lambda it: attrs.evolve(it, recovered=0)),
    "stopped too late": lambda seen: attrs.evolve(seen, counts_then=attrs.evolve(NOTHING, receipt=1)),
    "never woke": lambda seen: attrs.evolve(seen, woken=None),
    "not refused": lambda seen: attrs.evolve(seen, woken=Told(status="done")),
    "fenced by no newer token": lambda seen: attrs.evolve(seen, woken=Told(fenced=Fenced(token=11, newest=11))),
}


def ran_anew(told: Told) -> Told:
    """A worker that ran the effect although its target could have answered."""
    return attrs.evolve(told, settled=tuple(attrs.evolve(each, how="run", attempt=1) for each in told.settled))


def test_what_is_promised_has_no_problems() -> None:
    """A demo in which everything is as promised has an empty verdict."""

    assert () == verdict(GOOD)


@pytest.mark.parametrize("number", range(1, len(ACTS) + 1))
@pytest.mark.parametrize("off_by", [-1, 1])
@pytest.mark.parametrize("field", [field.name for field in attrs.fields(Counts)])
def test_every_wrong_count_of_every_order_is_found(number: int, field: str, off_by: int) -> None:
    """One more or one less of anything that a target counted for an order is one problem, which names the order."""

    def change(seen: OrderSeen) -> OrderSeen:
        value: int = getattr(seen.counts, field)
        return attrs.evolve(seen, counts=attrs.evolve(seen.counts, **{field: value + off_by}))

    problems = verdict(with_order(number, change))

    assert 1 == len(problems)
    assert problems[0].startswith(
        f"order-{number}: {field.removesuffix('_requests')} was" if "_" in field else f"order-{number}: {field} counted"
    )


@pytest.mark.parametrize("wrong", [attrs.evolve(GOOD, pieces_left=STOCK), attrs.evolve(GOOD, charges=GOOD.charges[1:])])
def test_a_wrong_sum_is_found(wrong: Observed) -> None:
    """A stock or a list of charges that does not fit the number of orders is a problem."""

    assert 1 == len(verdict(wrong))


@pytest.mark.parametrize("number", [2, 3, 4, 5])
@pytest.mark.parametrize("wrong", sorted(NOT_KILLED))
def test_a_kill_that_proves_nothing_is_found(number: int, wrong: str) -> None:
    """A worker that was not killed, or not between change and outcome, or not recovered, is a problem."""

    assert 1 == len(verdict(with_order(number, NOT_KILLED[wrong])))


@pytest.mark.parametrize("number", [2, 4, 5])
def test_another_way_to_settle_is_found(number: int) -> None:
    """An effect that recovery ran anew, where its target should have answered, is a problem."""

    ran = with_order(number, lambda seen: told(seen, ran_anew))

    assert 1 == len(verdict(ran))


@pytest.mark.parametrize("wrong", sorted(NOT_REFUSED))
def test_a_charge_that_is_not_refused_is_found(wrong: str) -> None:
    """The charge that nobody can check has to be refused and listed, by recovery and by a retry."""

    assert 1 == len(verdict(with_order(3, NOT_REFUSED[wrong])))


@pytest.mark.parametrize("wrong", sorted(NOT_FENCED))
def test_a_stopped_worker_that_is_not_fenced_is_found(wrong: str) -> None:
    """A stopped worker keeps its order until it is taken, and is refused by the file when it wakes."""

    assert 1 == len(verdict(with_order(6, NOT_FENCED[wrong])))


def test_what_is_wrong_is_shown_where_it_happened_and_at_the_end() -> None:
    """A wrong count stands under its order, in the table's last column, and in the list that ends the report."""

    wrong = with_order(3, lambda seen: attrs.evolve(seen, counts=attrs.evolve(seen.counts, charge=2)))
    console = Console(file=StringIO(), width=80, force_terminal=False, highlight=False, legacy_windows=False)
    report = Report(console)

    report.show(wrong.orders[2])
    report.close(wrong, verdict(wrong), 1.0)

    assert isinstance(console.file, StringIO)
    shown = console.file.getvalue()
    assert 2 == shown.count("order-3: charge counted 2, expected 1")
    assert "WRONG, after 1 s:" in shown
    assert "exactly once" not in shown
