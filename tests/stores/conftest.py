"""The stores that a contract test runs on."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from effectgraph.stores import SqliteStore, Store
from store_processes import can_mount, can_trace

collect_ignore_glob = [
    *([] if can_trace() else ["test_with_strace*.py"]),
    *([] if can_mount() else ["test_with_mount*.py"]),
]


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of each kind, closed afterwards."""
    path = tmp_path / "store.db" if request.param == "file" else ":memory:"
    with SqliteStore(path) as opened:
        yield opened


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that any user can look into."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        yield folder
        for each in (folder, *folder.rglob("*")):
            if each.is_dir():
                each.chmod(0o755)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test that opens a store more than once has its file."""
    return tmp_path / "store.db"
