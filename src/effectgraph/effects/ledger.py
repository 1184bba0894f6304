"""The evidence of one claim, as its run knows it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import attrs

from effectgraph.effects.errors import TooManyEffects
from effectgraph.effects.limits import TASK_EFFECTS
from effectgraph.stores.errors import ClaimLost, EvidenceChanged, StoreError
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import OUTSIDE, Begun, Claim, Evidence, How, Intent, Outcome, Remark, Sync


@attrs.frozen
class Unwritten:
    """What became of an intent at version `seen`, and could not be written: its outcome; None if it was withdrawn."""

    seen: int
    outcome: Outcome | None


@attrs.frozen
class _Queued:
    """An outcome whose write nobody has waited for."""

    evidence: Evidence
    outcome: Outcome
    receipt: Receipt[Outcome]


class Ledger:
    """Reads and writes the evidence of effects under one claim.

    Under a claim all evidence is in memory from the start and is never read back: nobody else can write it. Outside
    a runtime (`claim` None) every look goes to the store, since other processes may be at work on the same key.

    An outcome or a withdrawal that the store failed to take is kept in the store object's memory, where the next call
    of this process finds it, under whichever claim: what this process knows is not asked of anybody else.
    """

    def __init__(self, store: Store, claim: Claim | None, evidence: Iterable[Evidence] = ()) -> None:
        self._store = store
        self._claim = claim
        self._tasks: dict[str, dict[str, Evidence]] = {}
        self._queued: dict[str, dict[str, _Queued]] = {}
        self._over = False
        for known in evidence:
            self._remember(known)

    @property
    def token(self) -> int:
        return OUTSIDE if self._claim is None else self._claim.token

    @property
    def waits_for_all(self) -> bool:
        """Whether every outcome is waited for: outside a runtime others look for it; or the store syncs all; or the
        run is over, so that nobody waits for what is queued any more.
        """
        return self._claim is None or self._store.syncs_all or self._over

    @property
    def incarnation(self) -> int:
        return 0 if self._claim is None else self._claim.incarnation

    def claim_for(self, key: EffectKey) -> Claim:
        """The claim that writes evidence of this key. Raises `ValueError` for a key of another thread."""
        if self._claim is None:
            return Claim(thread=key.scope, incarnation=0, token=OUTSIDE, owner=self._store.owner)
        if key.scope != self._claim.thread:
            raise ValueError(
                f"effect {key}: this guard belongs to thread {self._claim.thread}; take its keys from the context"
            )
        return self._claim

    def known(self, key: EffectKey) -> Evidence | None:
        """The evidence in memory; None outside a runtime."""
        return self._tasks.get(key.task, {}).get(key.call)

    async def find(self, key: EffectKey) -> Evidence | None:
        """The evidence as it stands, once what this process knows of it and could not write has been written.

        Raises `StoreError` if it still cannot.
        """
        if self._store.unwritten and (key, self.incarnation) in self._store.unwritten:
            await self._write_the_unwritten(key)
        return await self._look(key)

    async def begin(self, key: EffectKey, intent: Intent, *, seen: Evidence | None) -> Begun:
        """Write an intent over the evidence that the caller saw; synced on return.

        Raises `TooManyEffects` for one more than a task may have.
        """
        if self._claim is not None and seen is None and len(self._tasks.get(key.task, ())) >= TASK_EFFECTS:
            raise TooManyEffects(key, TASK_EFFECTS)
        version = None if seen is None else seen.version
        begun = await self._store.begin(self.claim_for(key), key, intent, seen=version)
        self._remember(begun.evidence)
        return begun

    def settle(self, evidence: Evidence, outcome: Outcome, sync: Sync) -> Receipt[Outcome]:
        """Record an outcome that is in the queue on return, in order. Under a claim it counts at once."""
        receipt = self._settle(evidence, outcome, sync)
        if self._claim is not None:
            self._remember(attrs.evolve(evidence, outcome=outcome, trouble=None, version=evidence.version + 1))
            self._queued.setdefault(evidence.key.task, {})[evidence.key.call] = _Queued(evidence, outcome, receipt)
        return receipt

    async def settled(self, evidence: Evidence, outcome: Outcome, sync: Sync) -> tuple[Outcome, Receipt[Outcome]]:
        """Record an outcome, written on return: the one that stands, and the receipt of the write.

        Raises `ClaimLost` and `EvidenceChanged`, having kept the outcome as a remark; another `StoreError` having kept
        it in memory.
        """
        receipt = self._settle(evidence, outcome, sync)
        try:
            stands = await receipt
        except (ClaimLost, EvidenceChanged) as error:
            await self._remark(evidence, outcome, str(error))
            raise
        except StoreError:
            self._keep(evidence, outcome)
            raise
        if stands != outcome:
            await self._remark(evidence, outcome, f"an outcome by {stands.how.value} was there before")
        self._remember(attrs.evolve(evidence, outcome=stands, trouble=None, version=evidence.version + 1))
        return stands, receipt

    async def withdraw(self, evidence: Evidence) -> None:
        """Remove an intent; synced on return. A `StoreError` leaves it in memory that it did not happen."""
        try:
            await self._store.withdraw(self.claim_for(evidence.key), evidence.key, seen=evidence.version)
        except (ClaimLost, EvidenceChanged):
            raise
        except StoreError:
            self._keep(evidence, None)
            raise
        self._forget(evidence.key)

    async def give_up(self, evidence: Evidence) -> None:
        """Mark an intent as uncertain; synced on return."""
        await self._store.uncertain(self.claim_for(evidence.key), evidence.key, seen=evidence.version)
        self._remember(attrs.evolve(evidence, uncertain=How.RECONCILE, version=evidence.version + 1))

    async def trouble(self, evidence: Evidence, text: str) -> None:
        """Note that nobody is at work on the intent any more, and why it has no outcome.

        Outside a runtime it has been written on return, so that the next look finds it; under a claim it is in the
        queue. Should it be lost, or fail, the intent says the same as after a crash.
        """
        receipt = self._store.trouble(self.claim_for(evidence.key), evidence.key, text, seen=evidence.version)
        self._remember(attrs.evolve(evidence, trouble=text, version=evidence.version + 1))
        if self._claim is None:
            with suppress(StoreError):
                await receipt

    async def drop(self, key: EffectKey) -> None:
        """Remove the evidence of a key outside a runtime; synced on return."""
        await self._store.drop(self.claim_for(key), key)

    def end_task(self, task: str) -> None:
        """Let go of what is in memory of a task whose commit was written."""
        self._tasks.pop(task, None)
        self._queued.pop(task, None)

    async def end_claim(self) -> None:
        """The claim was given back, or lost: see to the outcomes whose queued writes failed.

        Under a lost claim they become remarks. Else they stay in memory, for the next call of this process.
        """
        self._over = True
        for calls in self._queued.values():
            for queued in calls.values():
                try:
                    await queued.receipt
                except (ClaimLost, EvidenceChanged) as error:
                    await self._remark(queued.evidence, queued.outcome, str(error))
                except StoreError:
                    self._keep(queued.evidence, queued.outcome)
        self._queued.clear()

    async def _look(self, key: EffectKey) -> Evidence | None:
        return await self._store.evidence(key, 0) if self._claim is None else self.known(key)

    async def _write_the_unwritten(self, key: EffectKey) -> None:
        place = (key, self.incarnation)
        # The write that seemed to fail may have been made: what is read now must be on disk before it counts.
        await self._store.flush()
        evidence = await self._look(key)
        unwritten = self._store.unwritten.get(place)
        if not isinstance(unwritten, Unwritten):
            return
        if evidence is not None and evidence.outcome is None and evidence.version == unwritten.seen:
            if unwritten.outcome is None:
                await self.withdraw(evidence)
            else:
                await self.settled(evidence, unwritten.outcome, Sync.NOW)
        elif evidence is not None and evidence.outcome != unwritten.outcome and unwritten.outcome is not None:
            await self._remark(evidence, unwritten.outcome, "others went on while it could not be written")
        self._store.unwritten.pop(place, None)

    def _settle(self, evidence: Evidence, outcome: Outcome, sync: Sync) -> Receipt[Outcome]:
        claim = self.claim_for(evidence.key)
        return self._store.settle(claim, evidence.key, outcome, seen=evidence.version, sync=sync)

    async def _remark(self, evidence: Evidence, outcome: Outcome, text: str) -> None:
        remark = Remark(
            key=evidence.key,
            incarnation=evidence.incarnation,
            owner=evidence.owner,
            token=evidence.token,
            attempt=evidence.attempt,
            outcome=outcome,
            text=text,
            at_us=outcome.at_us,
        )
        # It is for people: a store that cannot keep it is not what the caller has to hear of.
        with suppress(StoreError):
            await self._store.remark(remark)

    def _keep(self, evidence: Evidence, outcome: Outcome | None) -> None:
        self._store.unwritten[evidence.key, evidence.incarnation] = Unwritten(evidence.version, outcome)

    def _remember(self, evidence: Evidence) -> None:
        if self._claim is not None:
            self._tasks.setdefault(evidence.key.task, {})[evidence.key.call] = evidence

    def _forget(self, key: EffectKey) -> None:
        self._tasks.get(key.task, {}).pop(key.call, None)
