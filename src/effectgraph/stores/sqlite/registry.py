"""The owners that have opened a store file, for people who look into it."""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from typing import Final

from effectgraph.stores.owners import Owner

COME: Final = "INSERT INTO owners (id, pid, host, started_us) VALUES (?, ?, ?, ?)"
GONE: Final = """
DELETE FROM owners WHERE id = ? AND NOT EXISTS (SELECT 1 FROM threads WHERE status = 'running' AND owner = owners.id)
"""


def register(connection: sqlite3.Connection, own: Owner) -> None:
    """Write down a new owner, and forget those that are gone and hold no running thread."""
    for owner in own.clear_up():
        connection.execute(GONE, (owner,))
    connection.execute(COME, (own.id, os.getpid(), socket.gethostname(), time.time_ns() // 1000))
