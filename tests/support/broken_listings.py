"""Broken stores: listings of threads and effects."""

from __future__ import annotations

import attrs

from broken import BrokenStore, breaks
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.limits import LISTED
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import Asked, Evidence, QuestionId, ThreadStatus
from model_data import Thread
from model_records import is_unresolved, order_of


class Ids(BrokenStore):
    """A store that lists ids of threads in another way."""

    def runnable(self, graph: str, /, *, limit: int = LISTED, after: str = "") -> Receipt[tuple[str, ...]]:
        receipt = super().runnable(graph, limit=10_000)
        return self._read(lambda: self.page(receipt.wait(), limit, after))

    def page(self, ids: tuple[str, ...], limit: int, after: str) -> tuple[str, ...]:
        """A page of these ids."""
        return tuple(each for each in ids if each > after)[:limit]


class Effects(BrokenStore):
    """A store that lists what is unresolved in another way."""

    def unresolved(self, *, limit: int = LISTED, after: EffectKey | None = None) -> Receipt[tuple[Evidence, ...]]:
        receipt = super().unresolved(limit=10_000)
        return self._read(lambda: self.page(receipt.wait(), limit, after))

    def page(self, listed: tuple[Evidence, ...], limit: int, after: EffectKey | None) -> tuple[Evidence, ...]:
        """A page of these effects."""
        behind = ("", "", "") if after is None else order_of(after)
        return tuple(each for each in listed if order_of(each.key) > behind)[:limit]


@breaks("runnable_is_running_and_held_by_nobody", "a_living_owner_keeps_its_thread")
class HeldIsRunnable(BrokenStore):
    """Threads that somebody runs are listed."""

    def runnable(self, graph: str, /, *, limit: int = LISTED, after: str = "") -> Receipt[tuple[str, ...]]:
        return self._read(
            lambda: tuple(sorted(each.id for each in self.rows.threads.values() if self._is_of(each, graph, after)))[
                :limit
            ]
        )

    def _is_of(self, thread: Thread, graph: str, after: str) -> bool:
        return thread.status is ThreadStatus.RUNNING and thread.graph.name == graph and thread.id > after


@breaks("what_is_claimed_again_is_not_runnable")
class RunnableOnce(BrokenStore):
    """A thread that was listed once is not listed again."""

    def runnable(self, graph: str, /, *, limit: int = LISTED, after: str = "") -> Receipt[tuple[str, ...]]:
        receipt = super().runnable(graph, limit=limit, after=after)
        for name in receipt.wait():
            self.alter(name, lambda thread: attrs.evolve(thread, graph=attrs.evolve(thread.graph, name="listed")))
        return receipt


@breaks("runnable_is_of_one_graph")
class RunnableOfAllGraphs(BrokenStore):
    """Threads of every graph are listed."""

    def runnable(self, graph: str, /, *, limit: int = LISTED, after: str = "") -> Receipt[tuple[str, ...]]:
        graphs = sorted({each.graph.name for each in self.rows.threads.values()})
        found = [super(RunnableOfAllGraphs, self).runnable(each, limit=limit, after=after) for each in graphs]
        return self._read(lambda: tuple(sorted(name for each in found for name in each.wait()))[:limit])


@breaks("runnable_comes_in_order_by_page", "runnable_pages_over_all_owners")
class RunnableBackwards(Ids):
    """Ids come in the wrong order."""

    def page(self, ids: tuple[str, ...], limit: int, after: str) -> tuple[str, ...]:
        return tuple(each for each in ids[::-1] if not after or each < after)[:limit]


@breaks("runnable_comes_in_order_by_page")
class RunnableFoldsCase(Ids):
    """Ids come in the order of a dictionary, not of code points."""

    def page(self, ids: tuple[str, ...], limit: int, after: str) -> tuple[str, ...]:
        order = sorted(ids, key=lambda each: (each.casefold(), each))
        place = (after.casefold(), after)
        return tuple(each for each in order if (each.casefold(), each) > place)[:limit]


@breaks("runnable_comes_in_order_by_page")
class RunnableByUtf16(Ids):
    """Ids come in the order of their UTF-16."""

    def page(self, ids: tuple[str, ...], limit: int, after: str) -> tuple[str, ...]:
        order = sorted(ids, key=lambda each: each.encode("utf-16-be"))
        return tuple(each for each in order if each.encode("utf-16-be") > after.encode("utf-16-be"))[:limit]


@breaks("runnable_comes_in_order_by_page", "runnable_pages_over_all_owners")
class RunnableLosesOne(Ids):
    """The first id behind a page is lost."""

    def page(self, ids: tuple[str, ...], limit: int, after: str) -> tuple[str, ...]:
        found = [each for each in ids if each > after]
        return tuple(found[1 if after else 0 :][:limit])


@breaks("runnable_comes_in_order_by_page")
class RunnableRepeats(Ids):
    """The last id of a page comes again."""

    def page(self, ids: tuple[str, ...], limit: int, after: str) -> tuple[str, ...]:
        found = tuple(each for each in ids if each >= after)[: limit + 1 if after else limit]
        return () if found == (after,) else found


@breaks("runnable_comes_in_order_by_page", "EL17_a_limit_is_a_number_of_rows")
class RunnableWithoutLimit(Ids):
    """Ids are listed all at once."""

    def page(self, ids: tuple[str, ...], limit: int, after: str) -> tuple[str, ...]:
        return tuple(each for each in ids if each > after)


@breaks("runnable_pages_over_all_owners")
class RunnableByOwners(Ids):
    """Ids come in order for each owner that held them, one owner after the other."""

    def page(self, ids: tuple[str, ...], limit: int, after: str) -> tuple[str, ...]:
        order = sorted(ids, key=lambda each: (self._thread(each).owner or "", each))
        return tuple(each for each in order if each > after)[:limit]


@breaks("a_listing_has_a_bound")
class ListsWithoutBound(BrokenStore):
    """A listing that is not told a limit has all rows."""

    def runnable(self, graph: str, /, *, limit: int = 100_000, after: str = "") -> Receipt[tuple[str, ...]]:
        return super().runnable(graph, limit=limit, after=after)


@breaks("EL17_a_limit_is_a_number_of_rows")
class AnyLimit(BrokenStore):
    """A listing of no rows is empty."""

    def pending(self, *, limit: int = LISTED, after: QuestionId | None = None) -> Receipt[tuple[Asked, ...]]:
        return self._read(tuple[Asked, ...]) if limit < 1 else super().pending(limit=limit, after=after)


@breaks("unresolved_is_what_nobody_is_at_work_on", "trouble_is_over_with_the_next_attempt")
class AtWorkIsUnresolved(BrokenStore):
    """Every intent without outcome is listed."""

    def _is_left(self, evidence: Evidence) -> bool:
        return True


@breaks("unresolved_is_what_nobody_is_at_work_on", "trouble_is_over_with_the_next_attempt")
class TroubleIsAtWork(BrokenStore):
    """What has trouble is listed only once its owner is gone or fenced."""

    def _is_left(self, evidence: Evidence) -> bool:
        return super()._is_left(attrs.evolve(evidence, trouble=None))


@breaks("unresolved_is_what_nobody_is_at_work_on", "what_is_uncertain_is_marked")
class UncertainIsResolved(BrokenStore):
    """What is uncertain is not listed."""

    def _is_left(self, evidence: Evidence) -> bool:
        return evidence.uncertain is None and super()._is_left(evidence)


@breaks("unresolved_is_what_nobody_is_at_work_on", "EL17_a_listing_changes_nothing")
class OutcomesAreListed(BrokenStore):
    """What has an outcome is listed, once nobody is at work on it."""

    def unresolved(self, *, limit: int = LISTED, after: EffectKey | None = None) -> Receipt[tuple[Evidence, ...]]:
        behind = ("", "", "") if after is None else order_of(after)
        found = sorted(
            (each for each in self.rows.effects.values() if each.outcome is not None or is_unresolved(each)),
            key=lambda each: order_of(each.key),
        )
        return self._read(
            lambda: tuple(each for each in found if self._is_left(each) and order_of(each.key) > behind)[:limit]
        )


@breaks("EL17_a_listing_changes_nothing")
class ListingMarks(BrokenStore):
    """What was listed is marked as troubled."""

    def unresolved(self, *, limit: int = LISTED, after: EffectKey | None = None) -> Receipt[tuple[Evidence, ...]]:
        receipt = super().unresolved(limit=limit, after=after)
        for each in receipt.wait():
            self.alter_effect(each.key, each.incarnation, lambda effect: attrs.evolve(effect, trouble="listed"))
        return receipt


@breaks("unresolved_comes_in_order_by_page", "what_is_unresolved_stays_listed")
class UnresolvedBackwards(Effects):
    """Effects come in the wrong order."""

    def page(self, listed: tuple[Evidence, ...], limit: int, after: EffectKey | None) -> tuple[Evidence, ...]:
        before = None if after is None else order_of(after)
        return tuple(each for each in listed[::-1] if before is None or order_of(each.key) < before)[:limit]


@breaks("unresolved_comes_in_order_by_page")
class UnresolvedBehindScope(Effects):
    """A page begins behind the scope of a key."""

    def page(self, listed: tuple[Evidence, ...], limit: int, after: EffectKey | None) -> tuple[Evidence, ...]:
        return tuple(each for each in listed if after is None or each.key.scope > after.scope)[:limit]


@breaks("unresolved_comes_in_order_by_page", "a_listing_has_a_bound", "EL17_a_limit_is_a_number_of_rows")
class UnresolvedWithoutLimit(Effects):
    """Effects are listed all at once."""

    def page(self, listed: tuple[Evidence, ...], limit: int, after: EffectKey | None) -> tuple[Evidence, ...]:
        return super().page(listed, 10_000, after)


@breaks("a_key_of_two_incarnations_is_listed_twice")
class UnresolvedCutsKeys(Effects):
    """A page ends within a key that two incarnations have, and the next one begins behind it."""


@breaks("pages_pass_over_what_is_not_listed")
class UnresolvedByRows(BrokenStore):
    """A page is cut before what is not listed is left out."""

    def unresolved(self, *, limit: int = LISTED, after: EffectKey | None = None) -> Receipt[tuple[Evidence, ...]]:
        behind = ("", "", "") if after is None else order_of(after)
        rows = sorted(
            (each for each in self.rows.effects.values() if order_of(each.key) > behind),
            key=lambda each: order_of(each.key),
        )[:limit]
        return self._read(lambda: tuple(each for each in rows if is_unresolved(each) and self._is_left(each)))
