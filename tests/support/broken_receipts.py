"""Broken stores: receipts, syncs, what a power cut takes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import ClassVar, Generic, TypeVar

import attrs

from broken import BrokenStore, breaks
from effectgraph.stores.errors import StoreClosed
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import (
    Answer,
    Asked,
    Begun,
    Claim,
    Claimed,
    Closing,
    Commit,
    Decision,
    Evidence,
    Fork,
    Intent,
    OwnerId,
    Question,
    QuestionId,
    Sync,
    Task,
    ThreadView,
)
from model_data import ModelData

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Wrapped(Generic[T_co]):
    """A receipt that does as another one does."""

    def __init__(self, receipt: Receipt[T_co]) -> None:
        self.receipt = receipt

    def __await__(self) -> Generator[object, None, T_co]:
        return self.receipt.__await__()

    def wait(self) -> T_co:
        """The result."""
        return self.receipt.wait()

    def done(self) -> bool:
        """Whether it is there."""
        return self.receipt.done()

    def when_synced(self, then: Callable[[], None], /) -> None:
        """Call `then` once the write is on disk."""
        self.receipt.when_synced(then)


class OtherReceipts(BrokenStore):
    """A store whose writes have other receipts than they should."""

    def _write(
        self, run: Callable[[], T], sync: Sync, *, claim: Claim | None = None, ends_lane: bool = False
    ) -> Receipt[T]:
        return self.wrap(super()._write(run, sync, claim=claim, ends_lane=ends_lane))

    def wrap(self, receipt: Receipt[T]) -> Receipt[T]:
        """The receipt that is given out."""
        return receipt


class Once(Wrapped[T_co]):
    """A receipt whose result is given once."""

    used = False

    def wait(self) -> T_co:
        if self.used:
            raise RuntimeError("its result was given to somebody else")
        self.used = True
        return super().wait()

    def __await__(self) -> Generator[object, None, T_co]:
        yield from ()
        return self.wait()


@breaks("a_receipt_is_awaited_by_many", "every_waiter_gets_the_error")
class ResultsOnce(OtherReceipts):
    """A result is given to the first who asks."""

    def wrap(self, receipt: Receipt[T]) -> Receipt[T]:
        return Once(receipt)


class OfOneLoop(Wrapped[T_co]):
    """A receipt that belongs to the first event loop in which it is awaited."""

    loop: asyncio.AbstractEventLoop | None = None

    def wait(self) -> T_co:
        if self.loop is not None:
            raise RuntimeError("it belongs to an event loop")
        return super().wait()

    def __await__(self) -> Generator[object, None, T_co]:
        self.loop = self.loop or asyncio.get_running_loop()
        if self.loop is not asyncio.get_running_loop():
            raise RuntimeError("it belongs to another event loop")
        return super().__await__()


@breaks("a_receipt_is_awaited_by_many", "a_closed_loop_disturbs_nobody", "every_waiter_gets_the_error")
class ReceiptsOfLoops(OtherReceipts):
    """A receipt that is awaited in an event loop is of no use outside of it."""

    def wrap(self, receipt: Receipt[T]) -> Receipt[T]:
        return OfOneLoop(receipt)


class Cancelled(Wrapped[T_co]):
    """A receipt whose waiters are cancelled together."""

    cancelled = False

    def __await__(self) -> Generator[object, None, T_co]:
        try:
            yield from asyncio.sleep(0).__await__()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        if self.cancelled:
            raise asyncio.CancelledError
        return self.wait()


@breaks("a_cancelled_waiter_cancels_nothing")
class CancelsTogether(OtherReceipts):
    """When one who waits is cancelled, all are."""

    def wrap(self, receipt: Receipt[T]) -> Receipt[T]:
        return Cancelled(receipt)


class Lazy(Generic[T_co]):
    """The receipt of a write that is made when somebody waits for it."""

    def __init__(self, write: Callable[[], Receipt[T_co]]) -> None:
        self._write = write
        self._made: list[Receipt[T_co]] = []

    def __await__(self) -> Generator[object, None, T_co]:
        return self._receipt().__await__()

    def wait(self) -> T_co:
        """The result."""
        return self._receipt().wait()

    def done(self) -> bool:
        """Whether somebody has waited for it."""
        return bool(self._made)

    def when_synced(self, then: Callable[[], None], /) -> None:
        """Call `then` once the write is on disk."""
        self._receipt().when_synced(then)

    def _receipt(self) -> Receipt[T_co]:
        if not self._made:
            self._made.append(self._write())
        return self._made[0]


@breaks(
    "a_write_that_nobody_waits_for_is_made",
    "what_was_queued_is_acknowledged",
    "what_was_queued_is_written",
    "a_store_is_closed_in_an_event_loop",
)
class LazyWrites(BrokenStore):
    """A commit is written when somebody waits for it."""

    def commit(self, claim: Claim, commit: Commit, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        write = super().commit
        return Lazy(lambda: write(claim, commit, sync=sync)) if sync is Sync.LATER else write(claim, commit, sync=sync)


@breaks("what_is_acknowledged_is_read")
class StaleReadings(BrokenStore):
    """Every second reading of a thread is as the one before it."""

    def __init__(self, data: ModelData | None = None) -> None:
        super().__init__(data)
        self._last: dict[str, Receipt[ThreadView]] = {}

    def read(self, thread: str, /) -> Receipt[ThreadView]:
        last = self._last.pop(thread, None)
        if last is None:
            last = self._last[thread] = super().read(thread)
        return last


@breaks("readings_have_receipts_too", "a_claim_brings_everything")
class ReadingsGoMissing(BrokenStore):
    """A first intent is not read."""

    def evidence(self, key: EffectKey, incarnation: int, /) -> Receipt[Evidence | None]:
        receipt = super().evidence(key, incarnation)
        found = receipt.wait()
        return receipt if found is None or found.outcome is not None else self._read(lambda: None)

    def alive(self, owner: OwnerId, /) -> Receipt[bool]:
        return self._read(self._unknown)

    def _unknown(self) -> bool:
        raise StoreClosed("model", "it is not asked")


class NeverTold(Wrapped[T_co]):
    """A receipt that tells nobody of syncs."""

    def when_synced(self, then: Callable[[], None], /) -> None:
        pass


@breaks("an_unsynced_write_is_synced_by_itself", "a_close_syncs_what_was_written", "a_synced_write_is_called_synced")
class SyncsInSilence(OtherReceipts):
    """Nobody is told of a sync."""

    def wrap(self, receipt: Receipt[T]) -> Receipt[T]:
        return NeverTold(receipt)


class Late(Wrapped[T_co]):
    """A receipt that tells of the sync after its own."""

    def __init__(self, receipt: Receipt[T_co], data: ModelData) -> None:
        super().__init__(receipt)
        self._data = data

    def when_synced(self, then: Callable[[], None], /) -> None:
        with self._data.lock:
            self._data.when_synced(self._data.syncs + 1, then)


@breaks("a_synced_write_is_called_synced", "every_sync_covers_what_was_before", "a_failed_write_is_never_called_synced")
class ToldOfTheNextSync(OtherReceipts):
    """Who asks is told of the next sync, whatever became of the write."""

    def wrap(self, receipt: Receipt[T]) -> Receipt[T]:
        return Late(receipt, self.data)


class AtOnce(Wrapped[T_co]):
    """A receipt that calls whoever asks at once."""

    def when_synced(self, then: Callable[[], None], /) -> None:
        then()


@breaks("what_is_called_synced_survives", "a_failed_write_is_never_called_synced")
class ToldTooEarly(OtherReceipts):
    """A write is called synced as soon as it is made, or has failed."""

    def wrap(self, receipt: Receipt[T]) -> Receipt[T]:
        return AtOnce(receipt)


class Unsynced(BrokenStore):
    """A store that can leave a sync out."""

    _leaves_out = False

    def _is_synced(self, sync: Sync) -> bool:
        return not self._leaves_out and super()._is_synced(sync)

    @contextmanager
    def without_sync(self) -> Generator[None]:
        """What is done inside is not synced."""
        with self.data.lock:
            self._leaves_out = True
            try:
                yield
            finally:
                self._leaves_out = False


@breaks("every_sync_covers_what_was_before", "what_is_not_synced_is_on_disk_with_the_next_that_is")
class FlushSyncsNothing(Unsynced):
    """A flush does not sync."""

    def flush(self) -> Receipt[None]:
        with self.without_sync():
            return super().flush()


@breaks("a_synced_write_that_changes_nothing_syncs_all_the_same")
class OnlyChangesSync(Unsynced):
    """An intent that is not written syncs nothing."""

    def begin(self, claim: Claim, key: EffectKey, intent: Intent, *, seen: int | None) -> Receipt[Begun]:
        found = self._find(key, claim.incarnation)
        if found is None or found.outcome is None:
            return super().begin(claim, key, intent, seen=seen)
        with self.without_sync():
            return super().begin(claim, key, intent, seen=seen)


@breaks("a_synced_claim_survives")
class ClaimUnsynced(Unsynced):
    """A claim is not synced."""

    def claim(self, thread: str, /) -> Receipt[Claimed]:
        with self.without_sync():
            return super().claim(thread)


@breaks("a_synced_claim_survives")
class TakeUnsynced(Unsynced):
    """A take is not synced."""

    def take(self, thread: str, reason: str, *, at_us: int) -> Receipt[int]:
        with self.without_sync():
            return super().take(thread, reason, at_us=at_us)


@breaks("a_synced_claim_survives", "every_sync_covers_what_was_before")
class ReleaseUnsynced(Unsynced):
    """A release is not synced."""

    def release(self, claim: Claim, /) -> Receipt[None]:
        with self.without_sync():
            return super().release(claim)


@breaks("a_synced_claim_survives", "what_is_not_synced_is_on_disk_with_the_next_that_is")
class AttemptUnsynced(Unsynced):
    """An attempt is not synced."""

    def attempt(self, claim: Claim, task: str, /) -> Receipt[Task]:
        with self.without_sync():
            return super().attempt(claim, task)


@breaks("a_synced_step_survives", "every_sync_covers_what_was_before")
class CommitNeverSyncs(Unsynced):
    """A commit is not synced, whatever is asked for."""

    def commit(self, claim: Claim, commit: Commit, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        return super().commit(claim, commit, sync=Sync.LATER)


@breaks("a_synced_step_survives")
class CloseNeverSyncs(Unsynced):
    """The end of a step is not synced, whatever is asked for."""

    def close(self, claim: Claim, closing: Closing, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        return super().close(claim, closing, sync=Sync.LATER)


@breaks("a_synced_question_survives", "every_sync_covers_what_was_before")
class AskUnsynced(Unsynced):
    """Questions are not synced."""

    def ask(self, claim: Claim, task: str, questions: tuple[Question, ...], /) -> Receipt[tuple[Asked, ...]]:
        with self.without_sync():
            return super().ask(claim, task, questions)


@breaks("a_synced_question_survives")
class AnswerUnsynced(Unsynced):
    """An answer is not synced."""

    def answer(self, question: QuestionId, answer: Answer, /) -> Receipt[Asked]:
        with self.without_sync():
            return super().answer(question, answer)


@breaks("a_synced_effect_survives", "a_synced_write_that_changes_nothing_syncs_all_the_same")
class BeginUnsynced(Unsynced):
    """An intent is not synced."""

    def begin(self, claim: Claim, key: EffectKey, intent: Intent, *, seen: int | None) -> Receipt[Begun]:
        with self.without_sync():
            return super().begin(claim, key, intent, seen=seen)


@breaks("a_synced_effect_survives")
class ReplacedUnsynced(Unsynced):
    """An intent over another is not synced."""

    def begin(self, claim: Claim, key: EffectKey, intent: Intent, *, seen: int | None) -> Receipt[Begun]:
        if seen is None:
            return super().begin(claim, key, intent, seen=seen)
        with self.without_sync():
            return super().begin(claim, key, intent, seen=seen)


@breaks("a_synced_effect_survives")
class WithdrawalUnsynced(Unsynced):
    """A withdrawal is not synced."""

    def withdraw(self, claim: Claim, key: EffectKey, *, seen: int) -> Receipt[None]:
        with self.without_sync():
            return super().withdraw(claim, key, seen=seen)


@breaks("a_synced_effect_survives")
class DoubtUnsynced(Unsynced):
    """What is uncertain is not synced."""

    def uncertain(self, claim: Claim, key: EffectKey, *, seen: int) -> Receipt[None]:
        with self.without_sync():
            return super().uncertain(claim, key, seen=seen)


@breaks("a_synced_effect_survives")
class DropUnsynced(Unsynced):
    """A drop is not synced."""

    def drop(self, claim: Claim, key: EffectKey, /) -> Receipt[None]:
        with self.without_sync():
            return super().drop(claim, key)


@breaks("a_synced_ruling_survives")
class DecisionUnsynced(Unsynced):
    """A decision is not synced."""

    def decide(self, decision: Decision, /) -> Receipt[Evidence]:
        with self.without_sync():
            return super().decide(decision)


@breaks("a_synced_ruling_survives")
class ForkUnsynced(Unsynced):
    """A fork is not synced."""

    def fork(self, fork: Fork, /) -> Receipt[None]:
        with self.without_sync():
            return super().fork(fork)


@breaks("a_synced_ruling_survives")
class PruneUnsynced(Unsynced):
    """A prune is not synced."""

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        with self.without_sync():
            return super().prune(thread, before=before, drop_unresolved=drop_unresolved)


@breaks("a_synced_ruling_survives")
class DeletionUnsynced(Unsynced):
    """A deletion is not synced."""

    def delete(self, thread: str, /, *, drop_unresolved: bool = False) -> Receipt[None]:
        with self.without_sync():
            return super().delete(thread, drop_unresolved=drop_unresolved)


class LosesTheMiddle(ModelData):
    """Data of which a power cut takes one write from among others."""

    def power_cut(self) -> None:
        rows = self.rows
        super().power_cut()
        self.rows = rows
        for name, thread in rows.threads.items():
            rows.threads[name] = attrs.evolve(thread, history=thread.history[:1] + thread.history[2:])


@breaks("what_is_lost_is_lost_from_the_end")
class SyncsOutOfOrder(BrokenStore):
    """What is written later can be on disk before what was written earlier."""

    data_kind: ClassVar[type[ModelData]] = LosesTheMiddle
