"""A worker that runs one order, and is ended or stopped by a signal at one boundary of its effect."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from crash_shop import Boundary, EffectKind, Place, order_graph
from effectgraph import EffectKey, Runtime
from effectgraph.stores import ClaimLost, Receipt, SqliteStore
from effectgraph.stores.records import Begun, Claim, Commit, Intent, Outcome, Sync

FENCED = 7
"""The exit code of a worker that found its claim lost when it went on."""


class SignallingStore(SqliteStore):
    """A real store whose process gets a signal at one boundary, once."""

    def __init__(self, path: Path, boundary: Boundary, signal_number: int) -> None:
        super().__init__(path)
        self._boundary = boundary
        self._signal = signal_number

    def reach(self, boundary: Boundary) -> None:
        """Send the signal to this process if the boundary is the one."""
        if boundary is self._boundary:
            os.kill(os.getpid(), self._signal)

    def begin(self, claim: Claim, key: EffectKey, intent: Intent, *, seen: int | None) -> Receipt[Begun]:
        self.reach(Boundary.BEFORE_INTENT)
        receipt = super().begin(claim, key, intent, seen=seen)
        receipt.wait()
        self.reach(Boundary.AFTER_INTENT)
        return receipt

    def settle(self, claim: Claim, key: EffectKey, outcome: Outcome, *, seen: int, sync: Sync) -> Receipt[Outcome]:
        receipt = super().settle(claim, key, outcome, seen=seen, sync=sync)
        receipt.wait()
        self.reach(Boundary.AFTER_OUTCOME)
        return receipt

    def commit(self, claim: Claim, commit: Commit, /, *, sync: Sync = Sync.LATER) -> Receipt[None]:
        receipt = super().commit(claim, commit, sync=sync)
        receipt.wait()
        self.reach(Boundary.AFTER_COMMIT)
        return receipt


async def run_order(place: Place, kind: EffectKind, store: SignallingStore) -> None:
    """Run the order to its end, if the signal lets it."""
    graph = order_graph(place, kind, lambda: store.reach(Boundary.AFTER_TARGET))
    async with store, Runtime(graph, store) as runtime:
        run = await runtime.run("order")
        print(run.status.value, *(failure.text for failure in run.failures), flush=True)


def main() -> None:
    """Take folder, provider, kind, boundary and signal from the command line."""
    folder, provider, kind, boundary, signal_name = sys.argv[1:]
    place = Place(Path(folder), provider)
    store = SignallingStore(place.store, Boundary(boundary), signal.Signals[signal_name])
    try:
        asyncio.run(run_order(place, EffectKind(kind), store))
    except ClaimLost as error:
        print(error, flush=True)
        sys.exit(FENCED)


if __name__ == "__main__":
    main()
