"""A worker that is stopped, passed over by `take`, and goes on: it changes nothing anywhere."""

from __future__ import annotations

import signal
import sqlite3
from pathlib import Path

import pytest

from crash_runs import recover_now, stopped_worker
from crash_shop import Boundary, EffectKind, Place
from effectgraph.stores.records import ThreadStatus

FENCED = 7
FENCING = [EffectKind.VERIFIABLE, EffectKind.APPLIED_KEYS]


def contents(place: Place) -> list[object]:
    """All that the store and the targets hold, as rows and bytes."""
    found: list[object] = [place.file.read_bytes() if place.file.exists() else None]
    for path in (place.store, place.database):
        connection = sqlite3.connect(path)
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in sorted(set(tables) - {"owners", "store"}):
            rows = connection.execute(f'SELECT * FROM "{table}"').fetchall()
            found.append((table, sorted(rows, key=repr)))
        connection.close()
    return found


@pytest.mark.parametrize("boundary", [Boundary.BEFORE_INTENT, Boundary.AFTER_INTENT, Boundary.AFTER_TARGET])
@pytest.mark.parametrize("kind", FENCING)
def test_E20_a_worker_that_wakes_after_a_take_changes_nothing(
    kind: EffectKind, boundary: Boundary, tmp_path: Path, provider: str
) -> None:
    """The store refuses its token, and so does the target: it ends by saying that its claim is lost."""
    place = Place(tmp_path / "order", provider)
    place.prepare()
    with stopped_worker(place, kind, boundary) as worker:
        not_taken = recover_now(place, kind)
        found = recover_now(place, kind, take=True)
        before = contents(place)

        worker.send_signal(signal.SIGCONT)
        output, _ = worker.communicate(timeout=60)

    assert not_taken.taken_over == 0
    assert (found.taken_over, found.status, found.failure) == (1, ThreadStatus.DONE, "")
    assert worker.returncode == FENCED, output
    assert "is no longer current" in output
    assert contents(place) == before
    assert place.counted(kind) == 1


def test_E20_an_unchecked_effect_is_not_recorded_by_a_worker_that_wakes(tmp_path: Path, provider: str) -> None:
    """Its charge went out before it was stopped: the successor refuses, and the old worker's outcome is refused too."""
    place = Place(tmp_path / "order", provider)
    place.prepare()
    with stopped_worker(place, EffectKind.UNCHECKED, Boundary.AFTER_TARGET) as worker:
        found = recover_now(place, EffectKind.UNCHECKED, take=True)
        before = contents(place)

        worker.send_signal(signal.SIGCONT)
        output, _ = worker.communicate(timeout=60)

    assert (found.status, found.unresolved) == (ThreadStatus.FAILED, 1)
    assert worker.returncode == FENCED, output
    assert contents(place) == before
    assert place.counted(EffectKind.UNCHECKED) == 1


def test_an_unchecked_effect_of_a_worker_that_wakes_cannot_be_held_back_limit(tmp_path: Path, provider: str) -> None:
    """A known limit: stopped between its intent and its request, a worker that wakes still sends it. Once, never
    twice.
    """
    place = Place(tmp_path / "order", provider)
    place.prepare()
    with stopped_worker(place, EffectKind.UNCHECKED, Boundary.AFTER_INTENT) as worker:
        found = recover_now(place, EffectKind.UNCHECKED, take=True)
        counted_before = place.counted(EffectKind.UNCHECKED)

        worker.send_signal(signal.SIGCONT)
        worker.communicate(timeout=60)

    assert (found.status, found.unresolved, counted_before) == (ThreadStatus.FAILED, 1, 0)
    assert worker.returncode == FENCED
    assert place.counted(EffectKind.UNCHECKED) == 1
