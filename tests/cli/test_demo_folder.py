"""The folder that the demo is told to keep its files in."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from effectgraph.cli import main
from effectgraph.cli.demo.errors import FolderUnfit
from effectgraph.cli.demo.place import make_place


def stderr_of(*arguments: str) -> str:
    """What a bad call of the demo says on stderr; it must exit with 2 and print nothing else."""
    result = CliRunner().invoke(main, ["demo", *arguments])
    assert (2, "") == (result.exit_code, result.stdout)
    return result.stderr


def test_a_folder_with_files_is_refused(tmp_path: Path) -> None:
    """A folder that is not empty is left as it is, and one line says what to do."""

    (tmp_path / "mine.txt").write_text("mine")

    said = stderr_of("--dir", str(tmp_path))

    assert f"effectgraph demo: folder {tmp_path}: it is not empty; name an empty one with --dir, or one" in said
    assert 1 == said.count("\n")
    assert ["mine.txt"] == os.listdir(tmp_path)


@pytest.mark.parametrize("below", ["", "folder"])
def test_a_file_in_its_place_is_refused(tmp_path: Path, below: str) -> None:
    """A path that is a file, or leads through one, is refused in one line."""

    file = tmp_path / "file"
    file.touch()

    said = stderr_of("--dir", str(file / below))

    assert "there is a file in its place; name another one with --dir\n" in said
    assert 1 == said.count("\n")


def test_a_folder_that_cannot_be_made_is_refused() -> None:
    """Where nobody can write, not even root, one line says so."""

    said = stderr_of("--dir", "/dev/fd/nothing/here")

    assert "it cannot be used" in said
    assert "name one with --dir that you can write" in said
    assert 1 == said.count("\n")


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    """A name whose bytes are not UTF-8 cannot be shown or handed on, so it is refused in one line."""

    said = stderr_of("--dir", os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))

    assert "its name is not UTF-8" in said
    assert 1 == said.count("\n")
    assert [] == os.listdir(tmp_path)


def test_no_temporary_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no temporary folder can be made, the way out is --dir."""

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))

    with pytest.raises(FolderUnfit, match=r"no temporary folder .*; use --dir PATH$"):
        make_place(None)


@pytest.mark.parametrize("below", ["", "new/one"])
def test_an_empty_folder_is_filled(tmp_path: Path, below: str) -> None:
    """An empty folder, or one that is not there yet, gets the shop's stock."""

    place = make_place(tmp_path / below)

    assert (tmp_path / below).resolve() == place.folder
    assert place.shop.exists()
