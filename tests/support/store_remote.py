"""Child processes that follow orders, from their parent's side."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import cast

from effectgraph.stores.records import OwnerId
from store_remote_child import Came, Order, from_line, to_line

CHILD = Path(__file__).with_name("store_remote_child.py")


class RemoteProcess:
    """One child process, started anew after it was killed."""

    def __init__(self) -> None:
        self._process = _started()
        self._spare = _started()

    def tell(self, *orders: Order) -> list[Came]:
        """Give orders and wait for what came of them."""
        self.send(*orders)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the child process has ended"
        return cast("list[Came]", from_line(line))

    def open(self, path: Path) -> OwnerId:
        """Open one more store; its owner."""
        (came,) = self.tell(Order(0, "open", (str(path),)))
        if came.error is not None:
            raise came.error
        return OwnerId(str(came.result))

    def send(self, *orders: Order) -> None:
        """Give orders, and do not wait."""
        assert self._process.stdin is not None
        self._process.stdin.write(to_line(orders) + "\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        """End it as a power cut would have it; another takes its place."""
        _end(self._process)
        self._process, self._spare = self._spare, _started()

    def stop(self) -> None:
        """Let it stand still."""
        os.kill(self._process.pid, signal.SIGSTOP)

    def wake(self) -> None:
        """Let it go on."""
        os.kill(self._process.pid, signal.SIGCONT)

    def end(self) -> None:
        """End it for good."""
        _end(self._process)
        _end(self._spare)


def _started() -> subprocess.Popen[str]:
    path = os.pathsep.join(filter(None, (str(CHILD.parent), os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(
        [sys.executable, str(CHILD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()
