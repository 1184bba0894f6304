"""The demo's payment server: what it counts, which keys it honours, and when it ends."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from typing import Final

import attrs
import httpx
import msgspec
import pytest

from effectgraph.cli.demo.provider import KEY_HEADER, STALL_AFTER_COMMIT, STALL_HEADER, Entry

DEADLINE_S = 30.0
BODY: Final = b'{"amount": 4200, "card": "card-of-ada", "order": "order-1"}'
OTHER_BODY: Final = b'{"amount": 4300, "card": "card-of-ada", "order": "order-1"}'


@attrs.frozen
class Server:
    """A payment server in a process of its own."""

    process: subprocess.Popen[str]
    client: httpx.Client

    def line(self) -> str:
        """The next line that it prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def post(self, path: str = "/charges", body: bytes = BODY, key: str | None = None) -> httpx.Response:
        """Ask for something to be booked."""
        return self.client.post(path, content=body, headers={} if key is None else {KEY_HEADER: key})

    def entries(self, kind: str = "charges") -> list[Entry]:
        """What it lists."""
        answer = self.client.get(f"/{kind}")
        assert 200 == answer.status_code
        return msgspec.json.decode(answer.content, type=dict[str, list[Entry]])[kind]


@contextmanager
def serving(book: Path) -> Generator[Server, None, None]:
    """A payment server for the time of a `with` block; killed at its end."""
    command = [sys.executable, "-m", "effectgraph.cli.demo.provider", "--db", str(book)]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            port = int(process.stdout.readline())
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=DEADLINE_S, trust_env=False) as client:
                yield Server(process, client)
        finally:
            process.kill()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server with an empty book."""
    with serving(tmp_path / "provider.db") as running:
        yield running


def test_without_a_key_every_request_is_a_charge(server: Server) -> None:
    """Two equal requests without a key are two charges."""

    answers = [server.post() for _ in range(2)]

    assert [201, 201] == [answer.status_code for answer in answers]
    assert [("ch_1", 1), ("ch_2", 1)] == [(entry.id, entry.requests) for entry in server.entries()]


def test_requests_with_one_key_are_one_charge(server: Server) -> None:
    """A request with a known key gets the same answer, and is counted as one more request for one charge."""

    first, again, other = (msgspec.json.decode(server.post(key=key).content, type=Entry) for key in ("a", "a", "b"))

    assert first.id == again.id
    assert [("ch_1", "a", 2), ("ch_2", "b", 1)] == [(entry.id, entry.key, entry.requests) for entry in server.entries()]
    assert "ch_2" == other.id


def test_one_key_at_once_is_one_charge(server: Server) -> None:
    """Of many requests with one key that come at the same time, one is the charge."""

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(server.post, key="a") for _ in range(16)]
        answers = [each.result() for each in asked]

    assert {201} == {answer.status_code for answer in answers}
    assert [("ch_1", 16)] == [(entry.id, entry.requests) for entry in server.entries()]


def test_a_key_is_for_one_request(server: Server) -> None:
    """A known key with another body is refused, and counted nowhere."""

    server.post(key="a")

    assert 422 == server.post(body=OTHER_BODY, key="a").status_code
    assert [("ch_1", 1)] == [(entry.id, entry.requests) for entry in server.entries()]


def test_charges_and_points_are_apart(server: Server) -> None:
    """Charges and points have lists, numbers and keys of their own."""

    server.post("/charges", key="a")
    server.post("/points", OTHER_BODY, key="a")

    assert ["ch_1"] == [entry.id for entry in server.entries("charges")]
    assert ["pt_1"] == [entry.id for entry in server.entries("points")]


@pytest.mark.parametrize(
    "body", [b"", b"no", b"{}", b'{"amount": "4", "card": "c"}', b'{"amount": 4, "card": "' + b"c" * 100_000 + b'"}']
)
def test_a_bad_body_is_turned_down(server: Server, body: bytes) -> None:
    """A body that is no request, or too long, books nothing, and the server goes on."""

    assert 400 == server.post(body=body).status_code
    assert [] == server.entries()


def test_an_unknown_path_is_turned_down(server: Server) -> None:
    """Only charges and points can be listed and booked."""

    assert [404, 404] == [server.client.get("/").status_code, server.post("/refunds").status_code]


def test_a_stalled_request_is_committed_and_never_answered(server: Server) -> None:
    """Told to stall, the server commits, says so, and keeps the client waiting; others are served meanwhile."""

    headers = {STALL_HEADER: STALL_AFTER_COMMIT}
    with httpx.Client(base_url=server.client.base_url, trust_env=False) as client, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.post, "/charges", content=BODY, headers=headers, timeout=DEADLINE_S)
        assert "stalled ch_1\n" == server.line()
        assert [("ch_1", 1)] == [(entry.id, entry.requests) for entry in server.entries()]
        assert not waiting.done()
        server.process.kill()
        assert isinstance(waiting.exception(DEADLINE_S), httpx.HTTPError)


def test_its_book_outlives_it(tmp_path: Path) -> None:
    """Killed and started again on its file, it has its charges and knows its keys."""

    with serving(tmp_path / "provider.db") as first:
        first.post(key="a")
    with serving(tmp_path / "provider.db") as second:
        second.post(key="a")

        assert [("ch_1", "a", 2)] == [(entry.id, entry.key, entry.requests) for entry in second.entries()]


def test_it_ends_with_whoever_started_it(server: Server) -> None:
    """When its stdin ends it ends, also while a request waits for its answer."""

    assert server.process.stdin is not None
    headers = {STALL_HEADER: STALL_AFTER_COMMIT}
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(server.client.post, "/charges", content=BODY, headers=headers)
        assert "stalled ch_1\n" == server.line()
        server.process.stdin.close()

        assert 0 == server.process.wait(DEADLINE_S)
        assert isinstance(waiting.exception(DEADLINE_S), httpx.HTTPError)
