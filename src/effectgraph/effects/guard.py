"""The effect guard: the only way to perform an effect."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, Protocol, TypeVar

import attrs

from effectgraph.effects.applied_keys import AppliedKeysProcedure
from effectgraph.effects.attempt import LOOK, Attempt, EvidenceMoved, Settled
from effectgraph.effects.call import Call, Repeat, run_callable
from effectgraph.effects.codec import Codec
from effectgraph.effects.current import CurrentEffect, running
from effectgraph.effects.errors import EffectReplayRefused, EffectUnknown, Refusal
from effectgraph.effects.flight import Flight
from effectgraph.effects.forgetter import Forget, Forgetter
from effectgraph.effects.ledger import Ledger
from effectgraph.effects.limits import (
    DRAIN_S,
    FORGET_BATCH,
    OUTCOME_BYTES,
    RECONCILE_S,
    ROUNDS,
    check_time_limit,
)
from effectgraph.effects.transition import Found, IllegalTransition, Next, Standing, decide
from effectgraph.effects.unchecked import UncheckedProcedure
from effectgraph.effects.verifiable import Verifiable, VerifiableProcedure
from effectgraph.outside import Clock, Runner, SystemClock, Threads
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.protocol import Store
from effectgraph.stores.records import OUTSIDE, Claimed, Evidence, How, Kind

A = TypeVar("A")


_WAIT: Final = "wait for it, then call again"
_OTHER_KEY: Final = "give another request another key"


class Procedure(Protocol[A]):
    """What an entry point does when there is no evidence; on an intent without outcome; and on one that a person
    granted one more attempt.
    """

    async def start(self, attempt: Attempt[A]) -> Settled: ...

    async def again(self, attempt: Attempt[A], evidence: Evidence) -> Settled: ...

    async def granted(self, attempt: Attempt[A], evidence: Evidence) -> Settled: ...


@attrs.frozen(kw_only=True)
class About:
    """What an operator sees of an effect: its name, its request (already redacted), and its cap in bytes if it has
    its own.
    """

    tool: str = ""
    request: bytes = b""
    max_outcome_bytes: int | None = None


_UNNAMED: Final = About()


class EffectGuard:
    """Performs effects so that a crash, a retry or a stale worker never repeats one, and never guesses.

    Every entry point takes the effect's key, the codec of its outcome, and the fingerprint of its request. The same key
    with another fingerprint is refused. Callables may be plain (they run in worker threads) or async. What comes back
    is always the decoded copy of what was recorded. Raises `EffectReplayRefused` (not run, or not run again: its `code`
    says why), `EffectUnknown` (it raised; whether it happened is not known), `EffectNotRecorded` (it happened, the
    store failed), `OutcomeUnreadable`, and whatever a plan or a target's forget raises before anything has happened.

    The intent is on disk before the effect starts. The outcome is on disk before the call returns if nobody else
    remembers it; else with the store's next synced write.

    A runtime makes one for each claim. On its own, `EffectGuard(store)` works with token 0: bring scope and key, and
    call `release(key)` once the work that could repeat is done.

    The intent before and the outcome after are those of write-ahead logging; the token is the fencing token of
    Kleppmann's "How to do distributed locking" (2016).
    """

    def __init__(
        self,
        store: Store,
        *,
        claimed: Claimed | None = None,
        clock: Clock | None = None,
        runner: Runner | None = None,
        max_outcome_bytes: int = OUTCOME_BYTES,
    ) -> None:
        claim, evidence = (None, ()) if claimed is None else (claimed.claim, claimed.evidence)
        self._store = store
        self._ledger = Ledger(store, claim, evidence)
        self._clock = clock or SystemClock()
        self._runner = runner or Threads()
        self._max_outcome_bytes = max_outcome_bytes
        self._flights: set[Flight] = set()
        self._forgetter = Forgetter(self._runner)
        self._forgets: dict[EffectKey, Forget] = {}

    @property
    def token(self) -> int:
        """The token of the claim; 0 outside a runtime."""
        return self._ledger.token

    async def verifiable(
        self,
        key: EffectKey,
        codec: Codec[A],
        *,
        fingerprint: str,
        plan: Callable[[int], Verifiable[A] | Awaitable[Verifiable[A]]],
        probe: Callable[[int], str | Awaitable[str]],
        timeout_s: float | None = None,
        about: About = _UNNAMED,
    ) -> A:
        """An effect on a target that can compare and set, and be asked for its digest: a file, a row with a version.

        `plan(token)` reads the target once, checks what must hold, and may raise to refuse: nothing is left then.
        `probe(token)` answers the target's present digest, having made durable what it answers.
        """
        call = self._call(Kind.VERIFIABLE, key, codec, fingerprint, about)
        return await self._run(call, VerifiableProcedure(plan, probe), timeout_s)

    async def applied_keys(
        self,
        key: EffectKey,
        codec: Codec[A],
        *,
        fingerprint: str,
        effect: Callable[[int], A | Awaitable[A]],
        forget: Callable[[int], None | Awaitable[None]],
        timeout_s: float | None = None,
        about: About = _UNNAMED,
    ) -> A:
        """An effect on a target whose own transaction stores the key and the outcome.

        `effect(token)` applies once, and answers a known key with its recorded outcome; `forget(token)` removes the
        key. Both refuse an older token than the target has seen. A key is forgotten there only once the outcome is on
        disk.
        """
        call = self._call(Kind.APPLIED_KEYS, key, codec, fingerprint, about)
        note = Forget(self._current(call), forget)
        if self.token == OUTSIDE:
            self._forgets[key] = note
        known = self._ledger.known(key)
        value = await self._run(call, AppliedKeysProcedure(effect, forget), timeout_s, note)
        if known is not None and known.outcome is not None and known.token != self.token:
            self._forgetter.due(note)
        return value

    async def unchecked(
        self,
        key: EffectKey,
        codec: Codec[A],
        *,
        fingerprint: str,
        effect: Callable[[], A | Awaitable[A]],
        idempotent: bool = False,
        reconcile: Callable[[], A | None | Awaitable[A | None]] | None = None,
        reconcile_timeout_s: float = RECONCILE_S,
        costly: bool = False,
        timeout_s: float | None = None,
        about: About = _UNNAMED,
    ) -> A:
        """An effect that no target can undo or compare: a mail, a payment, a shell command, a model call.

        An attempt whose outcome is unknown is refused for ever after, unless it is `idempotent`: then it runs again,
        with the same `current_effect().idempotency_key`. `reconcile` asks the recipient for its own record first (by
        that key, say): what it returns is the outcome; None says that there is no record, which is final (refused
        `uncertain`) unless the effect is idempotent; if it raises, or has not answered in `reconcile_timeout_s`
        seconds, the next call asks again. `costly` says that each run is paid for, so the outcome is synced at once.
        """
        check_time_limit("reconcile_timeout_s", reconcile_timeout_s)
        harmless = Repeat.COSTLY if costly else Repeat.IDEMPOTENT
        repeat = harmless if idempotent else Repeat.HARMFUL
        call = self._call(Kind.UNCHECKED, key, codec, fingerprint, about, repeat)
        if reconcile is not None:
            call = attrs.evolve(call, reconciles=True, reconcile_s=reconcile_timeout_s)
        return await self._run(call, UncheckedProcedure(effect, reconcile), timeout_s)

    async def release(self, key: EffectKey) -> None:
        """Outside a runtime: the work that could repeat this effect is done, so its evidence may go. On disk on return.

        Raises `UnresolvedStands` while its outcome is unknown, `RuntimeError` inside a runtime, where the task's
        commit does this, and `ValueError` for an applied-keys effect that this guard has not called: its target keeps
        the key then.
        """
        if self.token != OUTSIDE:
            raise RuntimeError(
                f"effect {key}: inside a runtime its task's commit releases it; do not call release there"
            )
        evidence = await self._ledger.find(key)
        if evidence is None:
            return
        if evidence.intent.kind is Kind.APPLIED_KEYS and evidence.outcome is not None:
            note = self._forgets.get(key)
            if note is None:
                raise ValueError(
                    f"effect {key}: its target still keeps the key; make the call once more with this guard, "
                    "then release it"
                )
            await self._store.flush()
            with running(note.effect):
                await run_callable(self._runner, note.fn, OUTSIDE)
        await self._ledger.drop(key)
        self._forgets.pop(key, None)

    async def drain(self, timeout_s: float = DRAIN_S) -> bool:
        """Wait at most `timeout_s` seconds for effects that still run; whether all have ended."""
        return all([await flight.ended(timeout_s) for flight in tuple(self._flights)])

    async def forget_due(self) -> None:
        """Forget at their targets all keys whose outcomes are on disk."""
        await self._forgetter.drain()

    async def end_claim(self) -> None:
        """The run is over, its claim given back or lost: keep what it knows and could not write down."""
        await self._ledger.end_claim()

    def end_task(self, task: str) -> None:
        """A task's commit was written: let go of its evidence in memory."""
        self._ledger.end_task(task)

    def _call(
        self,
        kind: Kind,
        key: EffectKey,
        codec: Codec[A],
        fingerprint: str,
        about: About,
        repeat: Repeat = Repeat.HARMFUL,
    ) -> Call[A]:
        return Call(
            kind=kind,
            key=key,
            codec=codec,
            fingerprint=fingerprint,
            tool=about.tool,
            request=about.request,
            repeat=repeat,
            max_outcome_bytes=self._max_outcome_bytes if about.max_outcome_bytes is None else about.max_outcome_bytes,
        )

    def _current(self, call: Call[A]) -> CurrentEffect:
        return CurrentEffect(
            key=call.key,
            namespace=self._store.namespace,
            incarnation=self._ledger.incarnation,
            token=self.token,
            fingerprint=call.fingerprint,
        )

    async def _run(
        self, call: Call[A], procedure: Procedure[A], timeout_s: float | None, forget: Forget | None = None
    ) -> A:
        self._ledger.claim_for(call.key)
        if timeout_s is not None:
            check_time_limit("timeout_s", timeout_s)
        known = self._ledger.known(call.key)
        if known is not None and known.outcome is not None and known.outcome.value is not None:
            _check_same_request(call, known)
            return call.decode(known.outcome.value, known.outcome.schema)
        flight = self._flight(call, procedure, forget)
        settled = await (flight.wait() if timeout_s is None else self._in_time(call, flight, timeout_s))
        return call.decode(settled.value, settled.schema)

    async def _in_time(self, call: Call[A], flight: Flight, timeout_s: float) -> Settled:
        """Wait for a flight at most so long. It goes on in any case, and counts as running until it has ended."""
        try:
            return await flight.wait(self._clock.sleep(timeout_s))
        except TimeoutError as error:
            if flight.has_landed:
                raise
            cause = f"TimeoutError: it has not returned in {timeout_s:g} s, still runs, and is not disturbed"
            raise EffectUnknown(call.key, cause) from error

    def _flight(self, call: Call[A], procedure: Procedure[A], forget: Forget | None) -> Flight:
        place = (call.key, self.token)
        mine = Flight(call.fingerprint)
        flight = self._store.at_work.setdefault(place, mine)
        if not isinstance(flight, Flight):
            raise IllegalTransition(f"something else than a flight at work on {call.key}")
        if flight is mine:
            self._flights.add(mine)
            mine.start(self._fly(call, procedure, mine, forget), partial(self._landed, place, mine))
        elif flight.fingerprint != call.fingerprint:
            raise _refusal(call, Refusal.MISMATCH, "the same key is running now for another request", _OTHER_KEY)
        elif flight.loop is not mine.loop:
            raise _refusal(call, Refusal.IN_PROGRESS, "another event loop of this process runs it", _WAIT)
        return flight

    def _landed(self, place: tuple[EffectKey, int], flight: Flight) -> None:
        self._flights.discard(flight)
        self._store.at_work.pop(place, None)
        self._forgetter.work_on(FORGET_BATCH)

    async def _fly(self, call: Call[A], procedure: Procedure[A], flight: Flight, forget: Forget | None) -> Settled:
        attempt = Attempt(call, self._ledger, self._clock, self._runner, abandoned=flight.abandoned)
        for _ in range(ROUNDS):
            evidence = await self._ledger.find(call.key)
            try:
                with running(self._current(call)):
                    settled = await self._act(attempt, procedure, evidence)
            except EvidenceMoved:
                continue
            if forget is not None and self.token != OUTSIDE:
                settled.when_synced(partial(self._forgetter.due, forget))
            return settled
        raise _refusal(call, Refusal.IN_PROGRESS, f"others changed its evidence {ROUNDS} times in a row", _WAIT)

    async def _act(self, attempt: Attempt[A], procedure: Procedure[A], evidence: Evidence | None) -> Settled:
        call = attempt.call
        if evidence is None:
            return await procedure.start(attempt)
        _check_same_request(call, evidence)
        outcome = evidence.outcome
        found = _found(evidence)
        standing = await self._standing(evidence) if found is Found.INTENT else Standing.NOBODY
        match decide(call.kind, found, standing, idempotent=call.idempotent, reconcile=call.reconciles):
            case Next.REPLAY if outcome is not None and outcome.value is not None:
                return Settled(outcome.value, outcome.schema, _at_once)
            case Next.PROBE:
                return await procedure.again(attempt, evidence)
            case Next.RUN_AGAIN if found is Found.INTENT:
                return await procedure.again(attempt, evidence)
            case Next.PLAN_AGAIN | Next.RUN_AGAIN:
                return await procedure.granted(attempt, evidence)
            case Next.RECONCILE if isinstance(procedure, UncheckedProcedure):
                return await procedure.reconcile(attempt, evidence)
            case Next.REFUSE_IN_PROGRESS:
                raise _refusal(call, Refusal.IN_PROGRESS, f"owner {evidence.owner} is alive and at work on it", _WAIT)
            case Next.REFUSE_OMITTED:
                raise _refusal(
                    call, Refusal.OUTCOME_OMITTED, "it happened, but its outcome was over the cap and not kept", LOOK
                )
            case Next.REFUSE_UNCERTAIN:
                by = "a person gave up on it"
                if evidence.uncertain is How.RECONCILE:
                    by = "the recipient has no record of it"
                raise _refusal(call, Refusal.UNCERTAIN, by, LOOK)
            case Next.REFUSE_UNKNOWN:
                last = evidence.trouble or "its owner died before it could say"
                known = f"attempt {evidence.attempt} may have happened, and nothing can tell ({last})"
                raise _refusal(call, Refusal.OUTCOME_UNKNOWN, known, LOOK)
            case Next.START | Next.SHARE | Next.REPLAY | Next.RECONCILE as impossible:
                raise IllegalTransition(f"{impossible.value} on {found.value} of {call.key}")

    async def _standing(self, evidence: Evidence) -> Standing:
        if self.token != OUTSIDE or evidence.trouble is not None or evidence.owner == self._store.owner:
            return Standing.NOBODY
        return Standing.ELSEWHERE if await self._store.alive(evidence.owner) else Standing.NOBODY


def _at_once(then: Callable[[], None]) -> None:
    then()


def _found(evidence: Evidence) -> Found:
    if evidence.outcome is None:
        if evidence.uncertain is not None:
            return Found.UNCERTAIN
        return Found.GRANTED if evidence.granted else Found.INTENT
    return Found.OMITTED if evidence.outcome.value is None else Found.OUTCOME


def _refusal(call: Call[A], code: Refusal, known: str, way_out: str) -> EffectReplayRefused:
    return EffectReplayRefused(call.key, code, known, way_out)


def _check_same_request(call: Call[A], evidence: Evidence) -> None:
    intent = evidence.intent
    if intent.kind is not call.kind:
        raise _refusal(call, Refusal.MISMATCH, f"the key is in use for a {intent.kind.value} effect", _OTHER_KEY)
    if intent.fingerprint != call.fingerprint:
        known = f"the key is in use for request {intent.fingerprint[:12]} of {intent.tool or 'an unnamed effect'}"
        raise _refusal(call, Refusal.MISMATCH, known, _OTHER_KEY)
