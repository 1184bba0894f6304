"""Remarks: what came too late to be evidence."""

from __future__ import annotations

import attrs

from effectgraph.stores.limits import REMARKS
from effectgraph.stores.protocol import Store
from effectgraph.stores.records import Claim, How, Remark, Ruling
from effectgraph.stores.testing.expect import equal
from effectgraph.stores.testing.place import Checks, on_store
from effectgraph.stores.testing.samples import (
    THREAD,
    begun,
    commit,
    created,
    decision,
    key,
    outcome,
    outside,
    settled,
)
from effectgraph.stores.testing.seen import everything, found


def remark(claim: Claim, text: str = "late", *, value: bytes | None = b"1", call: str = "charge") -> Remark:
    """What a run that lost its claim came to say."""
    return Remark(
        key=key(call, claim.thread),
        incarnation=claim.incarnation,
        owner=claim.owner,
        token=claim.token,
        attempt=1,
        outcome=outcome(value, How.RUN),
        text=text,
        at_us=80,
    )


class RemarkChecks(Checks):
    """Remarks: what came too late to be evidence."""

    @on_store
    def test_a_remark_is_kept(self, store: Store) -> None:
        """Remarks on an effect are kept whole, in the order of coming, and read by its key and incarnation."""
        claim = created(store).claim
        made = [remark(claim, "first"), remark(claim, "second", value=None), remark(claim, "third", value=b"\x00")]
        for each in made:
            store.remark(each).wait()
        other = remark(outside(store, THREAD), "outside a runtime")
        store.remark(other).wait()

        equal(tuple(made), store.remarks(key(), claim.incarnation).wait(), "the remarks on the effect")
        equal((other,), store.remarks(key(), 0).wait(), "the remarks on the effect outside a runtime")
        equal((), store.remarks(key("other"), claim.incarnation).wait(), "the remarks on another effect")

    @on_store
    def test_a_remark_changes_nothing_else(self, store: Store) -> None:
        """A remark needs no claim and changes no evidence: that of a lost claim is kept beside its successor's work."""
        old = created(store).claim
        begun(store, old)
        store.take(THREAD, "stuck", at_us=1).wait()
        new = store.claim(THREAD).wait().claim
        before = everything(store)

        store.remark(remark(old)).wait()

        equal((remark(old),), store.remarks(key(), old.incarnation).wait(), "the remarks")
        after = everything(store)
        equal(attrs.evolve(before, remarks=after.remarks), after, "what can be read beside the remarks")
        store.commit(new, commit(1)).wait()

    @on_store
    def test_the_first_remarks_are_kept(self, store: Store) -> None:
        """At most `REMARKS` remarks of one effect are kept, the first ones; more are no error."""
        claim = created(store).claim
        for number in range(REMARKS + 2):
            store.remark(remark(claim, f"remark {number}")).wait()
        store.remark(remark(claim, "of another effect", call="other")).wait()

        equal(
            [f"remark {number}" for number in range(REMARKS)],
            [each.text for each in store.remarks(key(), claim.incarnation).wait()],
            "the remarks that are kept",
        )
        equal(1, len(store.remarks(key("other"), claim.incarnation).wait()), "the remarks on another effect")

    @on_store
    def test_remarks_go_with_their_thread(self, store: Store) -> None:
        """Remarks stay when their task ends, and go with their thread; those of others stay."""
        claim, other = created(store).claim, outside(store, THREAD)
        begun(store, claim)
        store.remark(remark(claim)).wait()
        store.remark(remark(other)).wait()
        store.commit(claim, commit(1)).wait()
        store.release(claim).wait()
        equal((remark(claim),), store.remarks(key(), claim.incarnation).wait(), "the remarks after the commit")

        store.delete(THREAD, drop_unresolved=True).wait()

        equal((), store.remarks(key(), claim.incarnation).wait(), "the remarks after the deletion")
        equal((remark(other),), store.remarks(key(), 0).wait(), "the remarks outside a runtime")

    @on_store
    def test_remarks_go_with_a_drop(self, store: Store) -> None:
        """Outside a runtime remarks go with the evidence that is dropped; those of other effects stay."""
        claim = outside(store, THREAD)
        settled(store, claim)
        store.remark(remark(claim)).wait()
        store.remark(remark(claim, call="other")).wait()

        store.drop(claim, key()).wait()

        equal((), store.remarks(key(), 0).wait(), "the remarks on the dropped effect")
        equal(1, len(store.remarks(key("other"), 0).wait()), "the remarks on another effect")

    @on_store
    def test_remarks_outlive_a_decision(self, store: Store) -> None:
        """A decision leaves the remarks on its effect: they say what the run came to that it had overtaken."""
        claim = created(store).claim
        begun(store, claim)
        store.trouble(claim, key(), "late", seen=1).wait()
        store.decide(decision(found(store, key(), claim.incarnation), Ruling.ABANDON)).wait()
        store.remark(remark(claim)).wait()

        equal((remark(claim),), store.remarks(key(), claim.incarnation).wait(), "the remarks")
