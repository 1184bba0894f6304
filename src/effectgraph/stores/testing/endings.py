"""What becomes of evidence when its task ends."""

from __future__ import annotations

from effectgraph.stores.protocol import Store
from effectgraph.stores.records import Commit, EffectSummary, How, Kind, Ruling, Sync
from effectgraph.stores.testing.expect import equal, true
from effectgraph.stores.testing.place import Checks, all_fits, on_store
from effectgraph.stores.testing.samples import (
    TASK,
    THREAD,
    begun,
    closing,
    commit,
    created,
    decision,
    intent,
    key,
    outcome,
    settled,
    task_commit,
    two_tasks,
)
from effectgraph.stores.testing.seen import found


def summary(call: str, *, how: How | None = How.RUN, attempt: int = 1) -> EffectSummary:
    """What history keeps of an effect of the first task."""
    return EffectSummary(
        task=TASK,
        call=call,
        tool="charge",
        kind=Kind.UNCHECKED,
        how=how,
        attempt=attempt,
        begun_us=10,
        settled_us=None if how is None else 20,
    )


class EndingChecks(Checks):
    """What becomes of evidence when its task ends."""

    @on_store
    def test_a_commit_removes_the_evidence_of_its_task(self, store: Store) -> None:
        """The commit takes the outcomes of its task, with its step or without; those of other tasks stay."""
        claim = two_tasks(store)
        settled(store, claim, key("charge"))
        settled(store, claim, key("other"))
        other = settled(store, claim, key("charge", task="1.pack"))

        store.commit(claim, task_commit(1, "pay")).wait()

        for call in ("charge", "other"):
            equal(None, store.evidence(key(call), claim.incarnation).wait(), "an outcome of the committed task")
        found(store, other, claim.incarnation)
        true(store.begin(claim, key("new", task="1.pack"), intent(), seen=None).wait().mine, "the other task goes on")
        store.settle(claim, key("new", task="1.pack"), outcome(), seen=1, sync=Sync.LATER).wait()

        last = commit(1)
        store.commit(
            claim, Commit(task="1.pack", step=1, node="pack", fields=(), at_us=30, closing=last.closing)
        ).wait()
        for call in ("charge", "new"):
            equal(
                None, store.evidence(key(call, task="1.pack"), claim.incarnation).wait(), "an outcome of the last task"
            )

    @on_store
    def test_history_sums_effects_up(self, store: Store) -> None:
        """History says of each effect of a task: tool, kind, how it was settled, attempts, times; in order of calls."""
        claim = created(store).claim
        store.begin(claim, key("c"), intent(Kind.APPLIED_KEYS), seen=None).wait()
        store.settle(claim, key("c"), outcome(how=How.TARGET), seen=1, sync=Sync.LATER).wait()
        begun(store, claim, key("a"))
        store.begin(claim, key("a"), intent(), seen=1).wait()
        store.settle(claim, key("a"), outcome(None, How.RECONCILE), seen=2, sync=Sync.LATER).wait()
        begun(store, claim, key("b"))

        store.commit(claim, commit(1)).wait()

        (entry,) = store.history(THREAD).wait()
        applied = EffectSummary(
            task=TASK,
            call="c",
            tool="charge",
            kind=Kind.APPLIED_KEYS,
            how=How.TARGET,
            attempt=1,
            begun_us=10,
            settled_us=20,
        )
        expected = (summary("a", how=How.RECONCILE, attempt=2), summary("b", how=None), applied)
        equal(expected, tuple(sorted(entry.effects, key=lambda each: each.call)), "the effects in history")

    @on_store
    def test_what_is_unresolved_stays_listed(self, store: Store) -> None:
        """An intent without outcome outlives its task's commit: marked `ended`, with all that is known of it."""
        claim = created(store).claim
        for name in (begun(store, claim), begun(store, claim, key("trouble")), begun(store, claim, key("uncertain"))):
            found(store, name, claim.incarnation)
        store.trouble(claim, key("trouble"), "timed out", seen=1).wait()
        store.uncertain(claim, key("uncertain"), seen=1).wait()
        settled(store, claim, key("settled"))
        calls = ("charge", "trouble", "uncertain")
        before = [found(store, key(call), claim.incarnation) for call in calls]

        store.commit(claim, commit(1)).wait()

        left = [found(store, key(call), claim.incarnation) for call in calls]
        equal([True] * 3, [each.ended for each in left], "whether they are marked as ended")
        true(
            all(after.version > each.version for after, each in zip(left, before, strict=True)),
            "their end is a change, and their versions are greater",
        )
        equal(
            [(each.intent, each.token, each.attempt, each.trouble, each.uncertain) for each in before],
            [(each.intent, each.token, each.attempt, each.trouble, each.uncertain) for each in left],
            "what is known of them",
        )
        equal(tuple(left), store.unresolved().wait(), "what is unresolved")
        equal(None, store.evidence(key("settled"), claim.incarnation).wait(), "the outcome of the task")

    @on_store
    def test_what_has_ended_is_no_evidence_for_a_run(self, store: Store) -> None:
        """What outlived its task does not come with a later claim: no run looks at it again."""
        claim = created(store).claim
        begun(store, claim)
        store.commit(claim, commit(1)).wait()
        store.release(claim).wait()

        equal((), store.claim(THREAD).wait().evidence, "the evidence that comes with the next claim")

    @on_store
    def test_what_has_ended_outlives_its_step_and_run(self, store: Store) -> None:
        """What outlived its task stays listed when its step closes, and when the thread is done."""
        claim = two_tasks(store)
        begun(store, claim)
        store.commit(claim, task_commit(1, "pay")).wait()
        left = found(store, key(), claim.incarnation)

        store.commit(claim, task_commit(1, "pack")).wait()
        store.close(claim, closing(1, done=True)).wait()
        store.release(claim).wait()

        equal((left,), store.unresolved().wait(), "what is unresolved")

    @on_store
    def test_what_was_given_up_on_goes_with_its_task(self, store: Store) -> None:
        """An effect that a person gave up on is removed with its task, and history says that it was his decision."""
        claim = created(store).claim
        begun(store, claim)
        store.trouble(claim, key(), "timed out", seen=1).wait()
        store.decide(decision(found(store, key(), claim.incarnation), Ruling.ABANDON)).wait()

        store.commit(claim, commit(1)).wait()

        equal(None, store.evidence(key(), claim.incarnation).wait(), "the evidence of the committed task")
        (entry,) = store.history(THREAD).wait()
        equal([(How.DECISION, None)], [(each.how, each.settled_us) for each in entry.effects], "what history says")

    @on_store
    def test_what_a_person_completed_is_an_outcome(self, store: Store) -> None:
        """An outcome that came by a decision is one like any other: it goes with its task, and history names it."""
        claim = created(store).claim
        begun(store, claim)
        store.trouble(claim, key(), "timed out", seen=1).wait()
        store.decide(decision(found(store, key(), claim.incarnation), Ruling.COMPLETE)).wait()

        store.commit(claim, commit(1)).wait()

        equal(None, store.evidence(key(), claim.incarnation).wait(), "the evidence of the committed task")
        (entry,) = store.history(THREAD).wait()
        equal([(How.DECISION, 20)], [(each.how, each.settled_us) for each in entry.effects], "what history says")

    @on_store
    def test_an_unused_grant_ends_with_its_task(self, store: Store) -> None:
        """A grant that no attempt has used is over when its task ends: what is left is for people, and is in order."""
        claim = created(store).claim
        begun(store, claim)
        store.trouble(claim, key(), "timed out", seen=1).wait()
        store.decide(decision(found(store, key(), claim.incarnation), Ruling.RETRY)).wait()

        store.commit(claim, commit(1)).wait()

        left = found(store, key(), claim.incarnation)
        equal((True, False, "timed out"), (left.ended, left.granted, left.trouble), "ended, granted and trouble")
        equal((left,), store.unresolved().wait(), "what is unresolved")
        all_fits(store)
