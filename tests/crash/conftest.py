"""A payment provider in its own process, with its own store, for the tests that kill workers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The provider's address."""
    book = tmp_path_factory.mktemp("provider") / "provider.db"
    command = [sys.executable, "-m", "effectgraph.cli.demo.provider", "--db", str(book)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        port = int(server.stdout.readline())
        yield f"http://127.0.0.1:{port}"
        server.stdin.close()
        server.wait(timeout=30)
