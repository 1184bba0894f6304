"""What type checkers say to good uses of the public surface, and to mistakes."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final, TypedDict, cast

import pytest

import package_source
from effectgraph import Graph

HERE: Final = Path(__file__).parent
GOOD: Final = HERE / "good.py"
MISTAKES: Final = HERE / "must_fail" / "mistakes.py"

NOT_BUILT_YET: Final = ("B13", "B16", "B21")
"""Fan-out and questions: the mistakes that need them come with them."""


class Place(TypedDict):
    """Where pyright saw something. Lines count from 0."""

    line: int


class Range(TypedDict):
    """From where to where."""

    start: Place


class Diagnostic(TypedDict):
    """One thing that pyright said."""

    file: str
    severity: str
    message: str
    range: Range


class Report(TypedDict):
    """What pyright prints."""

    generalDiagnostics: list[Diagnostic]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Both files beside each other in a folder without any other configuration."""
    shutil.copy(GOOD, tmp_path)
    shutil.copy(MISTAKES, tmp_path)
    return tmp_path


def marked() -> dict[str, str]:
    """The marked lines, as file:line, each with its mistake's number."""
    lines = enumerate(MISTAKES.read_text().splitlines(), 1)
    found = ((number, re.search(r"# (B\d\d) ", line)) for number, line in lines)
    return {f"{MISTAKES.name}:{number}": match[1] for number, match in found if match}


def source_root() -> list[str]:
    """Where the package lies, unless that is where a type checker looks anyhow."""
    root = package_source.folder().parent
    return [] if root.name == "site-packages" else [str(root)]


def mypy_errors(folder: Path) -> set[str]:
    """The lines at which mypy --strict finds an error, as file:line."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary"]
    environment = {**os.environ, "MYPYPATH": os.pathsep.join(source_root())}
    done = subprocess.run(
        [*command, GOOD.name, MISTAKES.name], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return {match[1] for match in re.finditer(r"(?m)^(.+?:\d+): error: ", done.stdout)}


def pyright_errors(folder: Path) -> set[str]:
    """The lines at which strict pyright finds an error, as file:line."""
    configuration = {"typeCheckingMode": "strict", "enableTypeIgnoreComments": False, "extraPaths": source_root()}
    (folder / "pyrightconfig.json").write_text(json.dumps(configuration))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "--project", "."]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    report = cast("Report", json.loads(done.stdout))
    return {
        f"{Path(said['file']).name}:{said['range']['start']['line'] + 1}"
        for said in report["generalDiagnostics"]
        if said["severity"] == "error"
    }


def test_B01_to_B28_every_mistake_is_listed() -> None:
    """Each mistake whose surface is built has its line, and no two share a number."""
    numbers = [f"B{number:02}" for number in range(1, 29)]

    assert sorted(marked().values()) == [number for number in numbers if number not in NOT_BUILT_YET]


def test_B01_to_B28_mypy_finds_every_mistake_and_no_other(folder: Path) -> None:
    """With --strict, mypy refuses each marked line, and accepts all others and all good uses."""

    assert mypy_errors(folder) == set(marked())


def test_B01_to_B28_pyright_finds_every_mistake_and_no_other(folder: Path) -> None:
    """Strict pyright refuses each marked line, and accepts all others and all good uses."""

    assert pyright_errors(folder) == set(marked())


def test_the_good_uses_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """What type checkers accept is also accepted when it runs: the graphs pass their check."""
    spec = importlib.util.spec_from_file_location("good_uses", GOOD)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)

    spec.loader.exec_module(module)

    named = vars(module).values()
    graphs = [cast("Graph[object, object]", value) for value in named if isinstance(value, Graph)]
    assert [graph.check().name for graph in graphs] == ["order", "bare"]
