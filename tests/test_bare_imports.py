"""The four folder names at the top of the repository are no import names."""

from __future__ import annotations

from pathlib import Path

import pytest

from fresh_python import output_of
from package_source import modules

BARE = ("graph", "effects", "stores", "tools")

IMPORT_ALL = f"""
import importlib, json, sys
for name in {sorted(name for name in modules() if not name.endswith("__main__"))!r}:
    importlib.import_module(name)
"""
"""Imports every module of the package but `__main__`, which runs the command line."""


def test_none_of_the_names_is_imported(tmp_path: Path) -> None:
    """Importing all of the package brings in no module named graph, effects, stores or tools."""

    printed = output_of(IMPORT_ALL + f"print(sorted(set({BARE!r}) & set(sys.modules)))", tmp_path)

    assert "[]\n" == printed


def test_the_users_own_files_of_these_names_are_left_alone(tmp_path: Path) -> None:
    """A program with files of these four names imports the package whole, and none of them is run."""

    for name in BARE:
        (tmp_path / f"{name}.py").write_text("raise SystemExit(f'{__name__} was imported')\n")

    assert "done\n" == output_of(IMPORT_ALL + "print('done')", tmp_path)


@pytest.mark.parametrize("name", BARE)
def test_the_users_own_module_keeps_its_name(tmp_path: Path, name: str) -> None:
    """A program's own graph.py is what `import graph` gives, with all of the package imported before it."""

    (tmp_path / f"{name}.py").write_text("owner = 'the user'\n")

    assert "the user\n" == output_of(IMPORT_ALL + f"import {name}\nprint({name}.owner)", tmp_path)
