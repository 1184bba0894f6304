"""Every broken store, by its name."""

from __future__ import annotations

import broken_claims
import broken_decisions
import broken_endings
import broken_evidence
import broken_fences
import broken_forks
import broken_listings
import broken_owners
import broken_questions
import broken_receipts
import broken_states
import broken_steps
from broken import BROKEN, Broken

PARTS = (
    broken_claims,
    broken_decisions,
    broken_endings,
    broken_evidence,
    broken_fences,
    broken_forks,
    broken_listings,
    broken_owners,
    broken_questions,
    broken_receipts,
    broken_states,
    broken_steps,
)
"""Where they are defined."""


def by_name() -> dict[str, Broken]:
    """Every broken store."""
    return {str(each): each for each in BROKEN}
