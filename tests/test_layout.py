"""Where things lie: the links at the top of the repository, and the mark of a typed package."""

from __future__ import annotations

from pathlib import Path

import pytest

import package_source

ROOT = Path(__file__).parent.parent
FOLDERS = ("graph", "effects", "stores", "tools")


@pytest.mark.source_tree
@pytest.mark.parametrize("name", FOLDERS)
def test_the_folders_at_the_top_are_relative_links(name: str) -> None:
    """Each of the four names at the top is a relative link to the package's folder of that name."""

    link = ROOT / name

    assert Path("src", "effectgraph", name) == link.readlink()
    assert (link / "__init__.py").samefile(ROOT / "src" / "effectgraph" / name / "__init__.py")


@pytest.mark.source_tree
def test_the_tested_package_is_the_one_beside_the_tests() -> None:
    """In a checkout, the tests run against its own source."""

    assert ROOT / "src" / "effectgraph" == package_source.folder()


@pytest.mark.parametrize("name", FOLDERS)
def test_the_package_has_its_four_folders(name: str) -> None:
    """Wherever the package is installed, each of its four folders is there, as a package."""

    assert (package_source.folder() / name / "__init__.py").is_file()


def test_the_package_is_marked_as_typed() -> None:
    """Type checkers take the package's annotations: `py.typed` lies in it."""

    assert (package_source.folder() / "py.typed").is_file()
