"""What was given up on: final for every run."""

from __future__ import annotations

import pytest

from effectgraph.stores import Store
from effectgraph.stores.records import Decision, How, Ruling
from store_records import begun, created, intent, key


@pytest.mark.parametrize("by", [How.RECONCILE, How.DECISION])
def test_no_run_begins_anew_what_was_given_up_on(store: Store, by: How) -> None:
    """Whoever saw it so gets it back as it stands; only an outcome or a person's word ends it."""
    claim = created(store).claim
    name = begun(store, claim)
    if by is How.RECONCILE:
        store.uncertain(claim, name, seen=1).wait()
    else:
        store.trouble(claim, name, "timed out", seen=1).wait()
        ruling = Decision(
            id="d1",
            key=key(),
            incarnation=claim.incarnation,
            seen=2,
            ruling=Ruling.ABANDON,
            by="ann",
            reason="seen",
            at_us=1,
        )
        store.decide(ruling).wait()
    given_up = store.evidence(name, claim.incarnation).wait()
    assert given_up is not None

    answer = store.begin(claim, name, intent(), seen=given_up.version).wait()

    assert (answer.mine, answer.evidence) == (False, given_up)
    assert given_up.uncertain is by
