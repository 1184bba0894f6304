"""A payment server: a process of its own, with a database of its own.

`python -m effectgraph.cli.demo.provider --db FILE` prints its port on stdout and serves until its stdin ends.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import threading
from contextlib import suppress
from enum import Enum
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingTCPServer
from typing import Final

import attrs
import msgspec

KEY_HEADER: Final = "Idempotency-Key"
STALL_HEADER: Final = "Demo-Stall"
STALL_AFTER_COMMIT: Final = "after-commit"
BODY_BYTES: Final = 64 * 1024
"""The longest request that is read: an order is small."""

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS entries (
    kind TEXT NOT NULL, number INTEGER NOT NULL, key TEXT,
    amount INTEGER NOT NULL, card TEXT NOT NULL, order_id TEXT NOT NULL,
    PRIMARY KEY (kind, number), UNIQUE (kind, key)
) STRICT;
CREATE TABLE IF NOT EXISTS requests (kind TEXT NOT NULL, number INTEGER NOT NULL, key TEXT) STRICT;
"""

_LIST: Final = """
SELECT number, amount, card, order_id, key,
       (SELECT count(*) FROM requests WHERE requests.kind = entries.kind AND requests.number = entries.number)
FROM entries WHERE kind = ? ORDER BY number
"""


class Kind(Enum):
    """What can be booked: the value is the path."""

    CHARGES = "charges"
    POINTS = "points"

    @property
    def prefix(self) -> str:
        """How the names of its entries begin."""
        return "ch" if self is Kind.CHARGES else "pt"


_PATHS: Final = " and ".join(f"/{kind.value}" for kind in Kind)


@attrs.frozen(kw_only=True)
class Asked:
    """The body of a request. `order` is the client's own remark."""

    amount: int
    card: str
    order: str = ""


@attrs.frozen(kw_only=True)
class Entry:
    """One thing that the server did, and how many requests asked for it."""

    id: str
    number: int
    amount: int
    card: str
    order: str
    key: str | None
    requests: int


class Book:
    """Everything that the server did, in its database. Safe for many threads; each request is durable on return."""

    def __init__(self, path: Path) -> None:
        self._turn = threading.Lock()
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.executescript(_SCHEMA)

    def enter(self, kind: Kind, asked: Asked, key: str | None) -> Entry | None:
        """Do what was asked, or find what was done for the same key. None if that was another request."""
        with self._turn:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                number = self._number(kind, asked, key)
                if number is not None:
                    self._connection.execute("INSERT INTO requests VALUES (?, ?, ?)", (kind.value, number, key))
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")
        return next((entry for entry in self.entries(kind) if entry.number == number), None)

    def entries(self, kind: Kind) -> list[Entry]:
        """What was done, oldest first."""
        with self._turn:
            rows = self._connection.execute(_LIST, (kind.value,)).fetchall()
        return [
            Entry(
                id=f"{kind.prefix}_{number}",
                number=number,
                amount=amount,
                card=card,
                order=order,
                key=key,
                requests=requests,
            )
            for number, amount, card, order, key, requests in rows
        ]

    def close(self) -> None:
        """Close the database."""
        with self._turn:
            self._connection.close()

    def _number(self, kind: Kind, asked: Asked, key: str | None) -> int | None:
        wanted = (asked.amount, asked.card, asked.order)
        if key is not None:
            known = self._connection.execute(
                "SELECT number, amount, card, order_id FROM entries WHERE kind = ? AND key = ?", (kind.value, key)
            ).fetchone()
            if known is not None:
                return int(known[0]) if known[1:] == wanted else None
        (last,) = self._connection.execute("SELECT count(*) FROM entries WHERE kind = ?", (kind.value,)).fetchone()
        number = int(last) + 1
        self._connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", (kind.value, number, key, *wanted))
        return number


class Handler(BaseHTTPRequestHandler):
    """Answers one connection. A client that is gone is no error here."""

    book: Book

    def handle(self) -> None:
        with suppress(ConnectionError):
            super().handle()

    def do_GET(self) -> None:
        """List what was done: `{"charges": [...]}`."""
        kind = self._kind()
        if kind is None:
            self._refuse(HTTPStatus.NOT_FOUND, f"no {self.path} here; there are {_PATHS}")
        else:
            self._answer(HTTPStatus.OK, {kind.value: self.book.entries(kind)})

    def do_POST(self) -> None:
        """Do what the body asks; with a key that is known, answer with what was done for it."""
        kind = self._kind()
        asked = self._asked()
        if kind is None:
            self._refuse(HTTPStatus.NOT_FOUND, f"no {self.path} here; there are {_PATHS}")
        elif asked is None:
            self._refuse(HTTPStatus.BAD_REQUEST, "the body has to be JSON with an amount (number) and a card (text)")
        else:
            entry = self.book.enter(kind, asked, self.headers[KEY_HEADER])
            if entry is None:
                self._refuse(HTTPStatus.UNPROCESSABLE_ENTITY, "this key was used for another request")
            elif self.headers[STALL_HEADER] == STALL_AFTER_COMMIT:
                self._stall(entry)
            else:
                self._answer(HTTPStatus.CREATED, entry)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing of single requests: the book has them."""

    def _kind(self) -> Kind | None:
        return next((kind for kind in Kind if self.path == f"/{kind.value}"), None)

    def _asked(self) -> Asked | None:
        length = self.headers["Content-Length"] or ""
        if not length.isdecimal() or int(length) > BODY_BYTES:
            return None
        try:
            return msgspec.json.decode(self.rfile.read(int(length)), type=Asked)
        except msgspec.MsgspecError:
            return None

    def _stall(self, entry: Entry) -> None:
        say(f"stalled {entry.id}")
        # It returns when the client has closed its side, or was killed.
        self.rfile.read(1)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self._answer(status, {"error": why})

    def _answer(self, status: HTTPStatus, value: object) -> None:
        body = msgspec.json.encode(value)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingTCPServer):
    """Serves one book on a port of this machine that was free. An open request does not keep the process alive."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, book: Book) -> None:
        # Not the HTTPServer of the standard library: it looks its own name up, which can wait for a name server.
        super().__init__(("127.0.0.1", 0), type("BookHandler", (Handler,), {"book": book}))

    @property
    def port(self) -> int:
        return int(self.socket.getsockname()[1])


def say(line: str) -> None:
    """Print one line at once, whole, for whoever started this process."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Serve until stdin ends, as it does when the process that started this one is gone."""
    parser = argparse.ArgumentParser(description="A payment server for demos and tests; serves until its stdin ends.")
    parser.add_argument("--db", type=Path, required=True, help="the SQLite file that it keeps its book in")
    path: Path = parser.parse_args().db
    book = Book(path)
    with Server(book) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        say(str(server.port))
        sys.stdin.buffer.read()
        server.shutdown()
    book.close()


if __name__ == "__main__":
    main()
