"""What every store promises."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Protocol

from effectgraph.stores.keys import EffectKey
from effectgraph.stores.limits import LISTED
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import (
    Answer,
    Asked,
    Begun,
    Claim,
    Claimed,
    Closing,
    Commit,
    Decided,
    Decision,
    Evidence,
    Failure,
    Fork,
    HistoryEntry,
    Intent,
    NewRun,
    NewThread,
    Outcome,
    OwnerId,
    Piece,
    Question,
    QuestionId,
    Remark,
    Sync,
    Task,
    ThreadView,
)


class Store(Protocol):
    """Few, whole operations, each atomic. Bytes in, bytes out: a store knows nothing of codecs, graphs or tools.

    Writes are made in the order of the calls. Each write of a claim carries the claim's token and changes nothing
    if it is not the current one (`ClaimLost`). A failed write of a claim fails every write of it that is queued
    behind it (`EarlierWriteFailed`). Synced means: on disk before the receipt is there; every other write is on disk
    with the next synced one, at the latest a second later, and at close. Every operation can raise `StoreBusy`,
    `StoreClosed` and `StoreUnusable`; what was acknowledged is never lost by that.
    """

    @property
    def namespace(self) -> str:
        """The name of this store in all keys that leave it. Made with the store, or given."""
        ...

    @property
    def owner(self) -> OwnerId:
        """This open store of this process, as claims and intents name it."""
        ...

    @property
    def syncs_all(self) -> bool:
        """Whether every write is synced before it is acknowledged: a run then waits for each of its writes."""
        ...

    @property
    def at_work(self) -> MutableMapping[tuple[EffectKey, int], object]:
        """The effects (key, token) that this owner is running now. Lives in memory, dies with the process; the
        guard's.
        """
        ...

    @property
    def unwritten(self) -> MutableMapping[tuple[EffectKey, int], object]:
        """What this owner knows of effects (key, incarnation) and failed to write down. Lives in memory, dies with the
        process; the guard's.
        """
        ...

    def create(self, thread: NewThread, /) -> Receipt[Claimed]:
        """Make a thread with its first run and claim it. Synced. Raises `ThreadExists`."""
        ...

    def claim(self, thread: str, /) -> Receipt[Claimed]:
        """Claim a thread that nobody runs: unclaimed, its owner gone, or its run in this process over. Synced.

        Gives a higher token than any before. Raises `ThreadUnknown`, and `ClaimHeld` if its owner is alive.
        """
        ...

    def take(self, thread: str, reason: str, *, at_us: int) -> Receipt[int]:
        """Fence whoever runs the thread, alive or not, by a new token, which is returned; nobody holds it then.
        Synced.
        """
        ...

    def renew(self, claim: Claim, /) -> Receipt[None]:
        """Say that the run goes on, where an owner's life is seen by that. Changes nothing else. Raises `ClaimLost`."""
        ...

    def release(self, claim: Claim, /) -> Receipt[None]:
        """Give a claim back. Synced, and with it everything the claim wrote."""
        ...

    def start(self, claim: Claim, run: NewRun, /) -> Receipt[None]:
        """Begin another run of a thread that is done."""
        ...

    def attempt(self, claim: Claim, task: str, /) -> Receipt[Task]:
        """Count one more attempt of a task, and open it again if it had failed. Synced: attempts outlive a crash."""
        ...

    def commit(self, claim: Claim, commit: Commit, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        """End a task, and its step if the commit closes it: sum up its effects in history and remove its evidence,
        all in one.

        An effect of it that is still unresolved stays listed, marked `ended`. Its questions go into history; one that
        has no answer can get none any more. A task whose step stays open is kept as committed, with its update. Raises
        `ClaimLost`, `TaskClosed`.
        """
        ...

    def close(self, claim: Claim, closing: Closing, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        """End a step whose tasks have all committed: write the merged changes, remove its tasks, schedule what follows.

        Raises `ClaimLost`, and `TaskClosed` naming a task of the step that has not committed.
        """
        ...

    def fail(self, claim: Claim, task: str, failure: Failure, /) -> Receipt[None]:
        """Record why a task failed; its evidence stays. The thread is failed until an `attempt` or a `close`.

        A committed task stays committed: it is what follows it that failed.
        """
        ...

    def ask(self, claim: Claim, task: str, questions: tuple[Question, ...], /) -> Receipt[tuple[Asked, ...]]:
        """Write down what an open task waits for, all in one, and return it as it stands. Synced.

        A question that is there already stays as it was, with its answer. The task waits while a question of it has
        no answer, and the thread when none of its tasks is open. Raises `ClaimLost`, `TaskClosed`, and `QuestionClosed`
        for an id that another task or thread has.
        """
        ...

    def answer(self, question: QuestionId, answer: Answer, /) -> Receipt[Asked]:
        """Answer a question, from anywhere: no claim is needed, nor disturbed. The first answer stands. Synced.

        A task whose last question it was is open again, and its thread running. Raises `QuestionUnknown`, and
        `QuestionClosed` if it was answered before or its task has ended.
        """
        ...

    def begin(self, claim: Claim, key: EffectKey, intent: Intent, *, seen: int | None) -> Receipt[Begun]:
        """Write an intent. Synced.

        `seen` is the version of the evidence that the caller saw, None for no evidence. If the store has another,
        nothing changes and what it has is returned (`mine` False). Otherwise the intent is the caller's: owner and
        token are his, attempt and version grow by one, as version does with every later change, and a grant is used
        up. A key that was withdrawn or dropped begins with a greater version than any it had. Raises `ClaimLost`,
        `TaskClosed`, and `EvidenceChanged` if `seen` names a version and there is nothing.
        """
        ...

    def settle(self, claim: Claim, key: EffectKey, outcome: Outcome, *, seen: int, sync: Sync) -> Receipt[Outcome]:
        """Record an outcome; the first one wins, so evidence that has one is returned as it stands.

        Raises `ClaimLost`, `TaskClosed`, and `EvidenceChanged` if the intent is not at version `seen`.
        """
        ...

    def withdraw(self, claim: Claim, key: EffectKey, *, seen: int) -> Receipt[None]:
        """Remove an intent whose effect is known not to have happened. Synced. Raises as `settle` does."""
        ...

    def trouble(self, claim: Claim, key: EffectKey, text: str, *, seen: int) -> Receipt[None]:
        """Note that an attempt ended without knowing: nobody is at work on it now. Raises as `settle` does."""
        ...

    def uncertain(self, claim: Claim, key: EffectKey, *, seen: int) -> Receipt[None]:
        """Note that the recipient knows nothing of an effect: it is neither asked nor run again. Synced.

        It stays unresolved until a person decides. Raises as `settle` does.
        """
        ...

    def drop(self, claim: Claim, key: EffectKey, /) -> Receipt[None]:
        """Remove the evidence of an effect outside a runtime. Synced. Nothing there is no error.

        Raises `UnresolvedStands` for an intent without outcome that no person has given up on.
        """
        ...

    def remark(self, remark: Remark, /) -> Receipt[None]:
        """Keep what came too late to be evidence, whoever holds the claim. At most `REMARKS` of one effect are kept,
        the first ones.
        """
        ...

    def remarks(self, key: EffectKey, incarnation: int, /) -> Receipt[tuple[Remark, ...]]:
        """What came too late of one effect, in the order of coming. Goes with the thread, or with `drop`."""
        ...

    def decide(self, decision: Decision, /) -> Receipt[Evidence]:
        """Rule on an effect without outcome: the decision and what it changes, in one. Synced. The evidence as it is
        then.

        COMPLETE records the outcome, RETRY grants one attempt, WITHDRAW takes an unused grant back, ABANDON gives the
        effect up. Evidence whose task has ended takes COMPLETE and ABANDON, and goes with them. The same decision again
        changes nothing. Raises `EvidenceChanged` if it is not at the version that the decision names, `EffectAtWork`
        while its owner is alive and at work on it, `DecisionConflict` for an id that stands for another decision, and
        `DecisionRefused` for a ruling that does not fit: there is an outcome; RETRY of what is uncertain or granted;
        WITHDRAW without a grant; COMPLETE without an outcome, or another ruling with one.
        """
        ...

    def decisions(self, *, limit: int = LISTED, after: int = 0) -> Receipt[tuple[Decided, ...]]:
        """Decisions in the order in which they were made, of greater number than `after`. They outlive their effects
        and threads.
        """
        ...

    def evidence(self, key: EffectKey, incarnation: int, /) -> Receipt[Evidence | None]:
        """What is known of one effect."""
        ...

    def read(self, thread: str, /) -> Receipt[ThreadView]:
        """A thread as it stands. Raises `ThreadUnknown`."""
        ...

    def state(self, thread: str, step: int, /) -> Receipt[tuple[Piece, ...]]:
        """The pieces of a thread's state after a step, in the order to put them together.

        Raises `ThreadUnknown`, and `StepUnknown` for a step before `kept_from` or after the last one.
        """
        ...

    def history(self, thread: str, /) -> Receipt[tuple[HistoryEntry, ...]]:
        """The committed tasks of a thread, oldest first. Raises `ThreadUnknown`."""
        ...

    def runnable(self, graph: str, /, *, limit: int = LISTED, after: str = "") -> Receipt[tuple[str, ...]]:
        """Ids, in order and greater than `after`, of a graph's running threads that nobody runs: no claim, or its
        owner is gone.
        """
        ...

    def unresolved(self, *, limit: int = LISTED, after: EffectKey | None = None) -> Receipt[tuple[Evidence, ...]]:
        """Intents without outcome that nobody is at work on, in the order of their keys, beginning behind `after`.

        One that a person gave up on is not listed; a granted one is, until its grant is used.
        """
        ...

    def pending(self, *, limit: int = LISTED, after: QuestionId | None = None) -> Receipt[tuple[Asked, ...]]:
        """Questions without an answer, of tasks that have not ended, in the order of their ids, beginning behind
        `after`.
        """
        ...

    def due(self, until_us: int, /, *, limit: int = LISTED) -> Receipt[tuple[Asked, ...]]:
        """Pending questions that expire at `until_us` or before, the earliest first."""
        ...

    def alive(self, owner: OwnerId, /) -> Receipt[bool]:
        """Whether an owner's process still holds its store open."""
        ...

    def fork(self, fork: Fork, /) -> Receipt[None]:
        """Make a thread of another one's state after a step. Nobody holds it; its incarnation is new. Synced.

        The state is copied, nothing else: no history, evidence or questions. The other thread stays as it is, whoever
        runs it. Raises `ThreadUnknown` (also for another incarnation), `ThreadExists`, `StepUnknown`.
        """
        ...

    def prune(self, thread: str, /, *, before: int, drop_unresolved: bool = False) -> Receipt[None]:
        """Forget what only states before step `before` need: their pieces, their history. Synced.

        That state and all later ones can be read and forked as before, and what is to run is not touched, nor whoever
        runs it. Raises `ThreadUnknown`, `StepUnknown`, and `UnresolvedStands` while a task that is to be forgotten has
        left an effect unresolved, unless told to drop those.
        """
        ...

    def delete(self, thread: str, /, *, drop_unresolved: bool = False) -> Receipt[None]:
        """Remove a thread with everything of it. Synced. A new thread of that id has a new incarnation, and higher
        tokens.

        Raises `ThreadUnknown`, `ClaimHeld` while it runs, `UnresolvedStands` unless told to drop those.
        """
        ...

    def check(self) -> Receipt[tuple[str, ...]]:
        """What does not fit together in what is stored, in plain words; nothing if all is well. Reads everything."""
        ...

    def flush(self) -> Receipt[None]:
        """Wait until everything written before is on disk."""
        ...

    async def aclose(self) -> None:
        """Write what waits, sync it, let go of the owner's lock. Claims that are still held become claimable."""
        ...
