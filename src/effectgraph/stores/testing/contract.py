"""The whole contract of a store, as one class of checks and as one function."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager

import attrs

from effectgraph.stores.testing.answers import AnswerChecks
from effectgraph.stores.testing.claims import ClaimChecks
from effectgraph.stores.testing.closed_tasks import ClosedTaskChecks
from effectgraph.stores.testing.closings import ClosingChecks
from effectgraph.stores.testing.decisions import DecisionChecks
from effectgraph.stores.testing.durability import DurabilityChecks
from effectgraph.stores.testing.endings import EndingChecks
from effectgraph.stores.testing.exactness import ExactnessChecks
from effectgraph.stores.testing.fences import FenceChecks
from effectgraph.stores.testing.forks import ForkChecks
from effectgraph.stores.testing.gone_owners import GoneOwnerChecks
from effectgraph.stores.testing.intents import IntentChecks
from effectgraph.stores.testing.lanes import LaneChecks
from effectgraph.stores.testing.listings import PendingChecks, RunnableChecks
from effectgraph.stores.testing.outcomes import OutcomeChecks
from effectgraph.stores.testing.owners import LivingOwnerChecks
from effectgraph.stores.testing.place import DEADLINE_S, Place
from effectgraph.stores.testing.pruning import PruneChecks
from effectgraph.stores.testing.questions import AskingChecks
from effectgraph.stores.testing.races import RaceChecks
from effectgraph.stores.testing.receipts import ReceiptChecks
from effectgraph.stores.testing.remarks import RemarkChecks
from effectgraph.stores.testing.rulings import RulingChecks
from effectgraph.stores.testing.states import AtomicChecks, StateChecks
from effectgraph.stores.testing.steps import StepChecks
from effectgraph.stores.testing.threads import ThreadChecks
from effectgraph.stores.testing.unresolved import UnresolvedChecks

PREFIX = "test_"


class StoreContract(
    ThreadChecks,
    ClaimChecks,
    FenceChecks,
    LaneChecks,
    StepChecks,
    ClosedTaskChecks,
    StateChecks,
    AtomicChecks,
    ExactnessChecks,
    IntentChecks,
    OutcomeChecks,
    EndingChecks,
    RemarkChecks,
    RulingChecks,
    DecisionChecks,
    AskingChecks,
    AnswerChecks,
    ForkChecks,
    PruneChecks,
    RunnableChecks,
    UnresolvedChecks,
    PendingChecks,
    ReceiptChecks,
    ClosingChecks,
    LivingOwnerChecks,
    GoneOwnerChecks,
    RaceChecks,
    DurabilityChecks,
):
    """Every promise of a store: each method is a check, its docstring the promise, its failure a `PromiseBroken`.

    Subclass it under a name that pytest collects, and override `place`. Nothing else is needed, no fixtures neither.
    """


@attrs.frozen(kw_only=True)
class Broken:
    """A promise that a store does not keep: the check that found it, the promise in words, and what came."""

    check: str
    promise: str
    error: Exception

    def __str__(self) -> str:
        return f"{self.promise}\n    {self.check}: {type(self.error).__name__}: {self.error}"


class _At(StoreContract):
    """The contract at a place that is handed in."""

    def __init__(self, place: Callable[[], AbstractContextManager[Place]], patience_s: float) -> None:
        self._place = place
        self.patience_s = patience_s

    def place(self) -> AbstractContextManager[Place]:
        return self._place()


def check_store(
    place: Callable[[], AbstractContextManager[Place]],
    *,
    only: Callable[[str], bool] | None = None,
    patience_s: float = DEADLINE_S,
) -> tuple[Broken, ...]:
    """Run every check of `StoreContract`, without a test tool; the promises that are broken, none if all is well.

    `place` makes a new, empty place for each check, and cleans up behind it. `only` picks checks by their names.
    `patience_s` is how long to wait for what a store is to do by itself, within a second, however busy the machine is.
    Blocks: call it from a plain thread. A store that never answers is waited for for ever.
    """
    broken: list[Broken] = []
    for name in check_names() if only is None else filter(only, check_names()):
        check = getattr(_At(place, patience_s), name)
        try:
            check()
        except Exception as error:
            broken.append(Broken(check=name, promise=inspect.getdoc(check) or name, error=error))
    return tuple(broken)


def check_names() -> tuple[str, ...]:
    """The names of all checks, in the order of their subjects."""
    names = [name for part in StoreContract.__mro__ for name in vars(part) if name.startswith(PREFIX)]
    return tuple(dict.fromkeys(names))
