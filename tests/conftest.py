"""What holds for every test: a lock folder of its own, and no deadline where the clock is not the subject."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

settings.register_profile("effectgraph", deadline=None, print_blob=True)
# For a long search by hand: `pytest --hypothesis-profile=deep FILE`.
settings.register_profile("deep", deadline=None, print_blob=True, max_examples=1_000_000)
settings.load_profile("effectgraph")


@pytest.fixture(scope="session", autouse=True)
def own_lock_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Lock files of targets lie in a temporary folder, in child processes as well, not in the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EFFECTGRAPH_LOCK_DIR", str(tmp_path_factory.mktemp("locks")))
        patch.delenv("EFFECTGRAPH_STORE", raising=False)
        yield
