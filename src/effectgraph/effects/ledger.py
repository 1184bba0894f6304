"""The evidence of one claim, as its run knows it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import attrs

from effectgraph.effects.errors import TooManyEffects
from effectgraph.effects.limits import TASK_EFFECTS
from effectgraph.stores.errors import StoreError
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import OUTSIDE, Begun, Claim, Evidence, Intent, Outcome, Sync


class Ledger:
    """Reads and writes the evidence of effects under one claim.

    Under a claim all evidence is in memory from the start and is never read back: nobody else can write it. Outside
    a runtime (`claim` None) every look goes to the store, since other processes may be at work on the same key.
    """

    def __init__(self, store: Store, claim: Claim | None, evidence: Iterable[Evidence] = ()) -> None:
        self._store = store
        self._claim = claim
        self._tasks: dict[str, dict[str, Evidence]] = {}
        for known in evidence:
            self._remember(known)

    @property
    def token(self) -> int:
        return OUTSIDE if self._claim is None else self._claim.token

    @property
    def waits_for_all(self) -> bool:
        """Whether every outcome is waited for: outside a runtime others look for it; or the store syncs all."""
        return self._claim is None or self._store.syncs_all

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
        """The evidence as it stands."""
        if self._claim is None:
            return await self._store.evidence(key, 0)
        return self.known(key)

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
        """Record an outcome. Under a claim it counts at once; the write is in the queue, in order."""
        receipt = self._store.settle(
            self.claim_for(evidence.key), evidence.key, outcome, seen=evidence.version, sync=sync
        )
        self._remember(attrs.evolve(evidence, outcome=outcome, trouble=None, version=evidence.version + 1))
        return receipt

    async def withdraw(self, evidence: Evidence) -> None:
        """Remove an intent; synced on return."""
        await self._store.withdraw(self.claim_for(evidence.key), evidence.key, seen=evidence.version)
        self._tasks.get(evidence.key.task, {}).pop(evidence.key.call, None)

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

    def _remember(self, evidence: Evidence) -> None:
        if self._claim is not None:
            self._tasks.setdefault(evidence.key.task, {})[evidence.key.call] = evidence
