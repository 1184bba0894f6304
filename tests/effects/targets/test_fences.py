"""The newest token of each scope, kept beside a target's lock."""

from __future__ import annotations

from pathlib import Path

import pytest

from effectgraph.effects.errors import TargetFenced
from effectgraph.effects.targets.errors import TargetUnusable
from effectgraph.effects.targets.fences import Fence


@pytest.fixture
def fence(tmp_path: Path) -> Fence:
    """The fence of a target that has seen token 5 of one scope."""
    fence = Fence("/target", str(tmp_path / "stem"))
    fence.admit("scope", 5)
    return fence


def token_file(folder: Path) -> Path:
    """The only token file."""
    (path,) = folder.glob("*.token")
    return path


def test_an_older_token_is_refused(fence: Fence) -> None:
    """What has seen token 5 refuses token 4, naming both, and goes on refusing it."""

    for _ in range(2):
        with pytest.raises(TargetFenced) as refused:
            fence.admit("scope", 4)

        error = refused.value
        assert (error.target, error.scope, error.token, error.newest) == ("/target", "scope", 4, 5)


def test_the_same_and_newer_tokens_pass(fence: Fence) -> None:
    """A token passes as often as it comes, and the newest one is kept by whoever looks next."""

    fence.admit("scope", 5)
    fence.admit("scope", 10)

    with pytest.raises(TargetFenced):
        Fence(fence.target, fence.stem).admit("scope", 9)


def test_scopes_do_not_know_each_other(fence: Fence) -> None:
    """Tokens of two scopes are never compared."""

    fence.admit("other", 1)
    fence.admit("scope", 5)


def test_token_zero_is_neither_checked_nor_recorded(tmp_path: Path) -> None:
    """Outside a runtime there is nothing to compare."""

    fence = Fence("/target", str(tmp_path / "stem"))
    fence.admit("scope", 0)

    assert list(tmp_path.iterdir()) == []


def test_a_person_can_read_the_file(fence: Fence, tmp_path: Path) -> None:
    """The file says which token, scope and target it is about."""

    assert token_file(tmp_path).read_text() == "5\nscope\n/target\n"


@pytest.mark.parametrize("content", [b"", b"\0" * 22])
def test_what_a_power_cut_leaves_counts_as_nothing_seen(fence: Fence, tmp_path: Path, content: bytes) -> None:
    """A file that a power cut emptied or zeroed fences nobody: no process from before it is left."""

    token_file(tmp_path).write_bytes(content)

    fence.admit("scope", 1)


@pytest.mark.parametrize("content", [b"garbage", b"-3\n", b"9" * 5000, b"\n5"])
def test_a_file_that_is_not_ours_is_an_error(fence: Fence, tmp_path: Path, content: bytes) -> None:
    """What cannot be read as a token is not taken for none."""

    token_file(tmp_path).write_bytes(content)

    with pytest.raises(TargetUnusable, match="is not ours"):
        fence.admit("scope", 7)


def test_a_token_that_cannot_be_kept_is_an_error(tmp_path: Path) -> None:
    """Nothing passes that could not be recorded."""

    with pytest.raises(TargetUnusable, match="its newest token cannot be kept"):
        Fence("/target", str(tmp_path / "gone" / "stem")).admit("scope", 1)


def test_a_killed_write_of_a_token_is_written_over(fence: Fence, tmp_path: Path) -> None:
    """What a writer left that was killed while it recorded a token is in nobody's way."""

    fresh = Path(f"{token_file(tmp_path)}.new")
    fresh.write_bytes(b"99999")

    fence.admit("scope", 6)

    assert not fresh.exists()
    assert token_file(tmp_path).read_text().startswith("6\n")
