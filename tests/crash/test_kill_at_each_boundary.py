"""Workers killed at every boundary of every entry point, and recovered: each effect is counted at its target."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

import pytest

from crash_runs import kill_worker, recover_now, retried
from crash_shop import Boundary, EffectKind, Place
from effectgraph import Status
from effectgraph.stores.records import ThreadStatus

REPEATS: Final = 5
SETTLED: Final = [
    (kind, boundary)
    for kind in EffectKind
    for boundary in Boundary
    if kind is not EffectKind.UNCHECKED or boundary not in (Boundary.AFTER_INTENT, Boundary.AFTER_TARGET)
]
REFUSED: Final = [(Boundary.AFTER_INTENT, 0), (Boundary.AFTER_TARGET, 1)]


@pytest.mark.parametrize(("kind", "boundary"), SETTLED)
def test_E03_E04_the_effect_is_counted_once(
    kind: EffectKind, boundary: Boundary, tmp_path: Path, provider: str
) -> None:
    """Wherever the worker is killed, recovery ends the order, and its target was changed exactly once."""
    for repeat in range(REPEATS):
        place = Place(tmp_path / str(repeat), provider)
        place.prepare()
        kill_worker(place, kind, boundary)

        found = recover_now(place, kind)

        assert found.taken_over == (0 if boundary is Boundary.AFTER_COMMIT else 1)
        assert (found.status, found.failure, found.unresolved) == (ThreadStatus.DONE, "", 0)
        assert len(found.state.answers) == 1
        assert place.counted(kind) == 1


@pytest.mark.parametrize(("boundary", "count"), REFUSED)
def test_E03_E04_what_nobody_can_tell_is_refused(boundary: Boundary, count: int, tmp_path: Path, provider: str) -> None:
    """An unchecked effect in doubt is never run again: not by recovery, not by a retry. It is listed as unresolved."""
    for repeat in range(REPEATS):
        place = Place(tmp_path / str(repeat), provider)
        place.prepare()
        kill_worker(place, EffectKind.UNCHECKED, boundary)

        found = recover_now(place, EffectKind.UNCHECKED)
        again = asyncio.run(retried(place, EffectKind.UNCHECKED))

        assert (found.taken_over, found.status, found.unresolved) == (1, ThreadStatus.FAILED, 1)
        assert "outcome_unknown" in found.failure
        assert "order / 1.act / 1.charge" in found.failure
        assert again.status is Status.FAILED
        assert "outcome_unknown" in again.failures[0].text
        assert place.counted(EffectKind.UNCHECKED) == count
