"""What a call does to the store and to the world, one step each."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Final, Generic, NoReturn, TypeVar

import attrs

from effectgraph.effects.call import Call, run_callable
from effectgraph.effects.codec import CodecError
from effectgraph.effects.current import current_effect, running
from effectgraph.effects.errors import (
    EffectError,
    EffectNotRecorded,
    EffectReplayRefused,
    EffectUnknown,
    NotApplied,
    Refusal,
    TargetFenced,
    TargetMoved,
)
from effectgraph.effects.ledger import Ledger
from effectgraph.effects.transition import Aftermath, Ended, Recalled, aftermath
from effectgraph.outside import Clock, Runner, micros
from effectgraph.stores.errors import ClaimLost, EvidenceChanged, StoreError
from effectgraph.stores.records import Evidence, How, Intent, Kind, Outcome, Plan, Sync

A = TypeVar("A")
B = TypeVar("B")

LOOK: Final = "look at the recipient's own records: only a person can say whether it happened"
"""The way out where nothing but a person can tell."""


@attrs.frozen
class Settled:
    """How a call ended well: the outcome's bytes, which every caller decodes for himself.

    `when_synced` takes a function to call, in any thread, once the outcome is on disk.
    """

    value: bytes
    schema: str
    when_synced: Callable[[Callable[[], None]], None]


class EvidenceMoved(EffectError, RuntimeError):
    """Another process changed the evidence first: the call looks again. Never leaves the guard."""


class Attempt(Generic[A]):
    """One run of one call, from the evidence it found to a settled outcome or a refusal."""

    def __init__(
        self, call: Call[A], ledger: Ledger, clock: Clock, runner: Runner, *, abandoned: Callable[[], bool]
    ) -> None:
        self.call = call
        self.token = ledger.token
        self._ledger = ledger
        self._clock = clock
        self._runner = runner
        self._abandoned = abandoned

    async def ask(self, fn: Callable[..., B | Awaitable[B]]) -> B:
        """Call a plan, a probe or a forget with the token. A fenced target refuses the call."""
        try:
            return await run_callable(self._runner, fn, self.token)
        except TargetFenced as error:
            raise self._stale(error) from error

    async def write_intent(self, *, plan: Plan | None, seen: Evidence | None) -> Evidence:
        """Write the intent, synced on return. A caller that has gone by now leaves nothing.

        Raises `EvidenceMoved` if another process was first.
        """
        if self._abandoned():
            raise asyncio.CancelledError
        call = self.call
        self._check_size(plan)
        intent = Intent(
            kind=call.kind,
            tool=call.tool,
            fingerprint=call.fingerprint,
            request=call.request,
            schema=call.codec.schema,
            at_us=micros(self._clock.now()),
            plan=plan,
        )
        try:
            begun = await self._ledger.begin(call.key, intent, seen=seen)
        except ClaimLost as error:
            raise self._stale(error) from error
        except EvidenceChanged as error:
            # It was withdrawn or released meanwhile: there is nothing now.
            raise EvidenceMoved from error
        if not begun.mine:
            raise EvidenceMoved
        return begun.evidence

    async def perform(self, evidence: Evidence, fn: Callable[..., B | Awaitable[B]], *args: object) -> B:
        """Run the effect. What it raises decides what becomes of the intent.

        Raises `TargetMoved` when the target must be probed once more; all else as the guard documents.
        """
        try:
            return await run_callable(self._runner, fn, *args)
        except NotApplied as error:
            await self._ended(Ended.NOT_APPLIED, evidence, error)
        except TargetMoved as error:
            moved = self.call.kind is Kind.VERIFIABLE
            await self._ended(Ended.MOVED if moved else Ended.RAISED, evidence, error)
        except TargetFenced as error:
            await self._ended(Ended.FENCED, evidence, error)
        except asyncio.CancelledError:
            await self._ledger.trouble(evidence, "it was cancelled while it ran")
            raise
        except Exception as error:
            await self._ended(Ended.RAISED, evidence, error)

    async def record(self, evidence: Evidence, value: A, *, how: How = How.RUN) -> Settled:
        """Encode and record what the effect returned, or what the recipient has of it."""
        try:
            encoded = self.call.codec.encode(value)
        except CodecError as error:
            await self._ledger.trouble(evidence, f"outcome: {error}")
            raise EffectNotRecorded(self.call.key, str(error), value) from error
        if evidence.attempt > 1 and self.call.kind is Kind.APPLIED_KEYS:
            how = How.TARGET
        return await self.record_encoded(evidence, encoded, how)

    async def record_encoded(self, evidence: Evidence, encoded: bytes, how: How) -> Settled:
        """Record an outcome: synced before return if nobody else remembers it, else with the next synced write.

        What an intent presumed was written by the schema of the intent, which may be older than today's.
        """
        kept = None if len(encoded) > self.call.max_outcome_bytes else encoded
        outcome = Outcome(value=kept, schema=evidence.intent.schema, how=how, at_us=micros(self._clock.now()))
        sync = Sync.LATER if self.call.outcome_lost_is_harmless else Sync.NOW
        if sync is Sync.LATER and not self._ledger.waits_for_all:
            return Settled(encoded, outcome.schema, self._ledger.settle(evidence, outcome, sync).when_synced)
        try:
            stands, receipt = await self._ledger.settled(evidence, outcome, sync)
        except ClaimLost as error:
            raise self._stale(error) from error
        except EvidenceChanged as error:
            if how in (How.PROBE, How.RECONCILE):
                # Nothing ran in this call, so it can simply look again.
                raise EvidenceMoved from error
            raise EffectNotRecorded(self.call.key, str(error), self.call.decode(encoded, outcome.schema)) from error
        except StoreError as error:
            raise EffectNotRecorded(self.call.key, str(error), self.call.decode(encoded, outcome.schema)) from error
        if stands.value is None:
            return Settled(encoded, outcome.schema, receipt.when_synced)
        return Settled(stands.value, stands.schema, receipt.when_synced)

    async def recall(self, fn: Callable[[], A | None | Awaitable[A | None]]) -> tuple[Recalled, A | None, str]:
        """Ask the recipient for its own record of the effect, within the call's time limit.

        When that has passed, an async `fn` is cancelled and a plain one finds `current_effect().told_to_stop`; neither
        is waited for. What it found, and why it failed if it did.
        """
        stop = threading.Event()
        with running(attrs.evolve(current_effect(), stop=stop)):
            asking = asyncio.ensure_future(run_callable(self._runner, fn))
        limit = asyncio.ensure_future(self._clock.sleep(self.call.reconcile_s))
        try:
            await asyncio.wait((asking, limit), return_when=asyncio.FIRST_COMPLETED)
        finally:
            limit.cancel()
            if not asking.done():
                stop.set()
                asking.cancel()
                asking.add_done_callback(_ignore)
        if not asking.done() or asking.cancelled():
            return Recalled.FAILED, None, f"the recipient did not answer in {self.call.reconcile_s:g} s"
        error = asking.exception()
        if isinstance(error, Exception):
            return Recalled.FAILED, None, f"asking the recipient raised {type(error).__name__}: {error}"
        found = asking.result()
        return (Recalled.NOTHING if found is None else Recalled.FOUND), found, ""

    async def give_up(self, evidence: Evidence) -> None:
        """Mark the intent as uncertain: neither asked nor run again. Synced on return.

        Raises `EvidenceMoved` if another process was first.
        """
        try:
            await self._ledger.give_up(evidence)
        except ClaimLost as error:
            raise self._stale(error) from error
        except EvidenceChanged as error:
            raise EvidenceMoved from error

    def refusal(self, code: Refusal, known: str, way_out: str) -> EffectReplayRefused:
        """The answer that the effect was not run, or not run again."""
        return EffectReplayRefused(self.call.key, code, known, way_out)

    async def _ended(self, ended: Ended, evidence: Evidence, error: Exception) -> NoReturn:
        match aftermath(self.call.kind, ended, first=evidence.attempt == 1):
            case Aftermath.WITHDRAW:
                await self._withdraw(evidence)
                if ended is Ended.MOVED:
                    raise self.refusal(Refusal.CONFLICT, str(error), "look at the target, then retry") from error
                way_out = "nothing happened; retry when the cause is gone"
                raise self.refusal(Refusal.NOT_APPLIED, str(error), way_out) from error
            case Aftermath.PROBE_ONCE:
                raise error
            case Aftermath.STAND_REFUSED if isinstance(error, TargetFenced):
                raise self._stale(error) from error
            case Aftermath.STAND_REFUSED:
                await self._ledger.trouble(evidence, str(error))
                known = f"this attempt did nothing ({error}), but an earlier one may have"
                raise self.refusal(Refusal.NOT_APPLIED, known, "retry when the cause is gone") from error
            case Aftermath.STAND_UNKNOWN:
                cause = f"{type(error).__name__}: {error}"
                await self._ledger.trouble(evidence, cause)
                raise EffectUnknown(self.call.key, cause) from error

    async def _withdraw(self, evidence: Evidence) -> None:
        try:
            await self._ledger.withdraw(evidence)
        except ClaimLost as error:
            raise self._stale(error) from error

    def _stale(self, error: ClaimLost | TargetFenced) -> EffectReplayRefused:
        return self.refusal(Refusal.STALE_TOKEN, error.fact, "stop this run, its successor goes on")

    def _check_size(self, plan: Plan | None) -> None:
        landings = () if plan is None else (plan.landing, *plan.earlier)
        size_bytes = len(self.call.request) + sum(len(landing.presumed) for landing in landings)
        limit = self.call.max_outcome_bytes
        if size_bytes > limit:
            known = f"what must be written first has {size_bytes} bytes, the cap is {limit}"
            raise self.refusal(Refusal.INTENT_TOO_LARGE, known, "hand in less, or raise max_outcome_bytes")


def _ignore(asking: asyncio.Future[B]) -> None:
    # It was told to stop; what it still says proves nothing.
    if not asking.cancelled():
        asking.exception()
