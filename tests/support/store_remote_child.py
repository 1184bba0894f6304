"""A process that does with its stores what it is told, one line at a time: `python store_remote_child.py`."""

from __future__ import annotations

import base64
import pickle
import sys
from collections.abc import Callable, Sequence

import attrs

from effectgraph.stores import Receipt, SqliteStore


@attrs.frozen
class Order:
    """What to do with which of its stores; `waits` False leaves the receipt alone."""

    store: int
    operation: str
    arguments: tuple[object, ...] = ()
    named: dict[str, object] = attrs.Factory(dict[str, object])
    waits: bool = True


@attrs.frozen
class Came:
    """What came of it: a result, or an error."""

    result: object = None
    error: Exception | None = None


def to_line(message: object) -> str:
    """A message as a line of text."""
    return base64.b64encode(pickle.dumps(message)).decode()


def from_line(line: str) -> object:
    """The message of a line."""
    message: object = pickle.loads(base64.b64decode(line))
    return message


class Remote:
    """The stores of this process."""

    def __init__(self) -> None:
        self._stores: list[SqliteStore] = []

    def do(self, order: Order) -> object:
        """Do one thing; the result, if it has one."""
        if order.operation == "open":
            self._stores.append(SqliteStore(str(order.arguments[0])))
            return self._stores[-1].owner
        if order.operation == "close all":
            while self._stores:
                self._stores.pop().__exit__(None, None, None)
            return None
        store = self._stores[order.store]
        if order.operation == "reopen":
            path = store.path
            store.__exit__(None, None, None)
            self._stores[order.store] = SqliteStore(path)
            return self._stores[order.store].owner
        operation: Callable[..., Receipt[object]] = getattr(store, order.operation)
        receipt = operation(*order.arguments, **order.named)
        return receipt.wait() if order.waits else None


def main() -> None:
    """Follow orders until there are no more."""
    remote = Remote()
    for line in sys.stdin:
        orders = from_line(line)
        assert isinstance(orders, Sequence)
        answers: list[Came] = []
        for order in orders:
            try:
                answers.append(Came(result=remote.do(order)))
            except Exception as error:
                answers.append(Came(error=error))
        print(to_line(answers), flush=True)


if __name__ == "__main__":
    # What is pickled here has to have the module's name for the parent, too.
    import store_remote_child

    store_remote_child.main()
