"""How an open store ends: closed, or forgotten."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from effectgraph.stores.owners import Owner
from effectgraph.stores.sqlite.inherited import Use
from effectgraph.stores.sqlite.reader import Reader
from effectgraph.stores.sqlite.receipts import Desk
from effectgraph.stores.sqlite.writer import Writer


def ending(reader: Reader | None, owner: Owner, use: Use | None) -> Callable[[], None]:
    """What a writer does last: its owner dies, and nobody has the file open any more."""

    def end() -> None:
        owner.let_go()
        if reader is not None:
            reader.join()
        if use is not None:
            use.end()

    return end


def forget(desk: Desk, reader: Reader | None, writer: Writer) -> None:
    """End the threads of a store that nobody has closed, and that Python has freed."""
    if desk.is_inherited:
        return
    if reader is not None:
        reader.stop()
    writer.stop()
    warnings.warn(f"store {desk.store} was forgotten without being closed", ResourceWarning, stacklevel=1)
