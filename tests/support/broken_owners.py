"""Broken stores: several owners, closing, and what happens at the same moment."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import attrs

from broken import BrokenStore, breaks, failed
from effectgraph.stores.errors import ClaimHeld
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import (
    Asked,
    Claim,
    Evidence,
    OwnerId,
    QuestionId,
    Remark,
    Sync,
    ThreadView,
)
from model_data import DoneReceipt, ModelData, Thread

T = TypeVar("T")

MOMENT_S = 0.0005
"""Seconds between a look and what follows from it, in a store that has no lock: others come in between."""


@breaks("a_closed_store_refuses")
class OpenForEver(BrokenStore):
    """A closed store can be used."""

    def _check_open(self) -> None:
        pass


@breaks("a_closed_store_refuses")
class ReadsForEver(BrokenStore):
    """A closed store can be read."""

    def _read(self, run: Callable[[], T]) -> Receipt[T]:
        with self.data.lock:
            closed, self._closed = self._closed, False
            try:
                return super()._read(run)
            finally:
                self._closed = closed


@breaks("a_close_syncs_what_was_written", "a_store_is_closed_in_an_event_loop", "closing_one_disturbs_no_other")
class CloseForgets(BrokenStore):
    """Closing loses what was not synced."""

    async def aclose(self) -> None:
        self.data.power_cut()
        self.kill()


@breaks("closing_one_disturbs_no_other")
class CloseEndsAll(BrokenStore):
    """With one owner all are gone."""

    async def aclose(self) -> None:
        await super().aclose()
        self.data.alive.clear()


@breaks("a_closed_owner_is_gone_at_once", "a_thread_of_a_gone_owner_can_be_deleted")
class ClosedIsAlive(BrokenStore):
    """An owner whose store was closed is alive."""

    async def aclose(self) -> None:
        await super().aclose()
        self.data.alive.add(self.owner)


@breaks("L07_a_killed_owner_is_gone_at_once")
class KilledIsAlive(BrokenStore):
    """An owner that died without closing is alive until somebody clears up."""

    def kill(self) -> None:
        closes = self._closed
        super().kill()
        if not closes:
            self.data.alive.add(self.owner)

    async def aclose(self) -> None:
        await super().aclose()
        self.data.alive.discard(self.owner)


@breaks("a_thread_of_a_gone_owner_can_be_deleted")
class DeletesReleasedOnly(BrokenStore):
    """A thread whose owner is gone has to be claimed before it can be deleted."""

    def delete(self, thread: str, /, *, drop_unresolved: bool = False) -> Receipt[None]:
        found = self.rows.threads.get(thread)
        if found is not None and found.owner is not None:
            return self._write(lambda: self._refuse(found), Sync.NOW)
        return super().delete(thread, drop_unresolved=drop_unresolved)

    def _refuse(self, thread: Thread) -> None:
        raise ClaimHeld(thread.id, thread.owner or "", thread.token)


@breaks("what_one_writes_the_other_reads", "everything_is_there_when_it_is_opened_again", "what_was_queued_is_written")
class Alone(BrokenStore):
    """Each open store has data of its own."""

    def __init__(self, data: ModelData | None = None) -> None:
        super().__init__(ModelData())


@breaks("everything_is_there_when_it_is_opened_again")
class RemarksInMemory(BrokenStore):
    """Remarks are kept in memory alone."""

    def __init__(self, data: ModelData | None = None) -> None:
        super().__init__(data)
        self._own: dict[tuple[EffectKey, int], tuple[Remark, ...]] = {}

    def remark(self, remark: Remark, /) -> Receipt[None]:
        return self._write(lambda: self._keep(remark), Sync.LATER)

    def remarks(self, key: EffectKey, incarnation: int, /) -> Receipt[tuple[Remark, ...]]:
        return self._read(lambda: self._own.get((key, incarnation), ()))

    def _keep(self, remark: Remark) -> None:
        place = (remark.key, remark.incarnation)
        self._own[place] = (*self._own.get(place, ()), remark)


@breaks("counts_go_on_when_it_is_opened_again")
class CountsInMemory(BrokenStore):
    """Each open store counts from the threads that are left."""

    def __init__(self, data: ModelData | None = None) -> None:
        super().__init__(data)
        self.rows.incarnation = max((each.incarnation for each in self.rows.threads.values()), default=0)


@breaks("owners_have_one_store_and_their_own_names")
class NamespaceOfTheOwner(BrokenStore):
    """Each open store has a namespace of its own."""

    @property
    def namespace(self) -> str:
        return self.owner


@breaks("owners_have_one_store_and_their_own_names")
class OneOwner(BrokenStore):
    """All who open the data are one owner."""

    @property
    def owner(self) -> OwnerId:
        return OwnerId("everybody")


@breaks("a_living_owner_can_be_passed_over")
class TakesFromTheDeadOnly(BrokenStore):
    """`take` refuses while another owner is alive."""

    def take(self, thread: str, reason: str, *, at_us: int) -> Receipt[int]:
        found = self.rows.threads.get(thread)
        if found is not None and found.owner not in (None, self.owner) and found.owner in self.data.alive:
            return self._write(lambda: self._held(found), Sync.NOW)
        return super().take(thread, reason, at_us=at_us)

    def _held(self, thread: Thread) -> int:
        raise ClaimHeld(thread.id, thread.owner or "", thread.token)


@breaks("an_answer_stays_when_its_asker_is_gone")
class QuestionsDieWithTheirAsker(BrokenStore):
    """A question can be answered while its asker is alive."""

    def _question(self, question: QuestionId) -> Asked | None:
        found = super()._question(question)
        if found is None or self._thread(found.thread).owner in self.data.alive:
            return found
        return None


class NoLock(BrokenStore):
    """Between a look and a write others come in."""

    def _write(
        self, run: Callable[[], T], sync: Sync, *, claim: Claim | None = None, ends_lane: bool = False
    ) -> Receipt[T]:
        try:
            return DoneReceipt(self.data, 0, (run(),), None)
        except Exception as error:
            return DoneReceipt(self.data, 0, (), error)

    def _read(self, run: Callable[[], T]) -> Receipt[T]:
        return DoneReceipt(self.data, 0, (run(),), None)


@breaks(
    "a_claim_has_one_winner",
    "tokens_are_given_once",
    "an_answer_has_one_winner",
    "a_decision_has_one_winner",
    "one_decision_rules_on_one_effect",
    "EL16_an_intent_has_one_winner",
    "a_takeover_has_one_winner_at_a_time",
    "an_outcome_has_one_winner",
    "S01_no_increment_is_lost",
)
class LooksThenWrites(NoLock):
    """What was looked at can have changed when it is written over."""

    def _new_token(self) -> int:
        token = self.rows.token
        time.sleep(MOMENT_S)
        self.rows.token = token + 1
        return token + 1

    def _find(self, key: EffectKey, incarnation: int) -> Evidence | None:
        found = super()._find(key, incarnation)
        time.sleep(MOMENT_S)
        return found

    def _check_unanswered(self, asked: Asked) -> None:
        super()._check_unanswered(asked)
        time.sleep(MOMENT_S)

    def _is_left(self, evidence: Evidence) -> bool:
        time.sleep(MOMENT_S)
        return super()._is_left(evidence)


@breaks("S04_one_store_serves_many_threads")
class OneThreadAtATime(BrokenStore):
    """Threads that use one store at once get each other's results."""

    def __init__(self, data: ModelData | None = None) -> None:
        super().__init__(data)
        self._newest: list[int] = []

    def _new_token(self) -> int:
        self._newest.append(super()._new_token())
        return self._newest[len(self._newest) // 2]


@breaks("a_reading_sees_one_moment")
class TornReadings(BrokenStore):
    """A reading looks twice."""

    def read(self, thread: str, /) -> Receipt[ThreadView]:
        first = super().read(thread)
        if failed(first):
            return first
        time.sleep(MOMENT_S)
        later = super().read(thread).wait()
        return self._read(lambda: attrs.evolve(first.wait(), pieces=later.pieces))
