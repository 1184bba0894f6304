"""The floors: who may import whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pytest

from package_source import PACKAGE, Import, Module, modules

FLOORS = {"errors": 0, "outside": 0, "stores": 1, "effects": 2, "tools": 3, "graph": 4}
"""How high each part lies. The ground is 0; a part may import itself, the ground, and what lies lower."""

FRONT_DOOR = frozenset({"", "__main__", "cli", "testing"})
"""The parts on top: they may import everything below, and nothing below may import them."""

SEALED = {"cli": frozenset({"__main__"})}
"""Parts of the front door that others may not import either, and who alone still may."""


def part_of(module: str) -> str:
    """The part of the package that a module belongs to; its own `__init__` is the part with the empty name."""
    return module.partition(".")[2].partition(".")[0]


def is_private(name: str) -> bool:
    """Whether a name is meant for its own folder only."""
    return name.startswith("_") and not name.endswith("__")


def target_of(wanted: Import, known: Iterable[str]) -> tuple[str, list[str]]:
    """The module that an import reaches, and the names on the way that belong to whoever owns them."""
    submodule = f"{wanted.module}.{wanted.name}"
    module = submodule if wanted.name is not None and submodule in known else wanted.module
    return module, [*module.split("."), *([] if wanted.name is None else [wanted.name])]


def may_import(part: str, other: str) -> bool:
    """Whether modules of one part may import modules of another."""
    if part == other:
        return True
    if other in SEALED:
        return part in SEALED[other]
    if part in FRONT_DOOR:
        return True
    if other in FRONT_DOOR or FLOORS[part] == 0:
        return False
    return FLOORS[other] < FLOORS[part]


def complaints(package: Mapping[str, Module]) -> Iterator[str]:
    """Every import of the package that breaks a rule of the floors, and every part that has no floor."""
    for module in package.values():
        part = part_of(module.name)
        if part not in FLOORS and part not in FRONT_DOOR:
            yield f"{module.name} has no floor"
            continue
        for wanted in module.imports():
            if wanted.module.partition(".")[0] != PACKAGE:
                continue
            target, names = target_of(wanted, package)
            other = part_of(target)
            if other not in FLOORS and other not in FRONT_DOOR:
                yield f"{module.name}:{wanted.line} imports {target}, which has no floor"
            elif not may_import(part, other):
                yield f"{module.name}:{wanted.line} imports {target}"
            elif part != other and any(is_private(name) for name in names):
                yield f"{module.name}:{wanted.line} imports a private name of {target}"


def package_with(name: str, text: str) -> dict[str, Module]:
    """A made-up package of the usual parts, in which one module has this text."""
    names = [PACKAGE, *(f"{PACKAGE}.{part}" for part in [*FLOORS, "cli", "testing"])]
    made = {each: Module(name=each, is_package=True, text="") for each in names}
    made[name] = Module(name=name, is_package=name in made, text=text)
    return made


def test_every_module_imports_only_what_lies_lower() -> None:
    """Lower floors know nothing of higher ones, and no folder uses a private name of another."""

    assert [] == list(complaints(modules()))


def test_the_package_has_all_floors() -> None:
    """The floors that the rule speaks of are the folders that are there."""

    parts = {part_of(name) for name in modules()}

    assert set(FLOORS) == parts - FRONT_DOOR


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("effectgraph.errors", "import effectgraph.stores"),
        ("effectgraph.errors", "import effectgraph.outside"),
        ("effectgraph.stores", "from effectgraph import effects"),
        ("effectgraph.stores.sqlite", "from ..effects import guard"),
        ("effectgraph.effects.guard", "def late():\n    import effectgraph.tools"),
        ("effectgraph.effects", "if TYPE_CHECKING:\n    from effectgraph.graph import Graph"),
        ("effectgraph.tools", "from effectgraph import Graph"),
        ("effectgraph.graph", "from effectgraph.testing import ManualClock"),
        ("effectgraph", "from effectgraph.cli import main"),
        ("effectgraph.testing", "import effectgraph.cli"),
        ("effectgraph.graph", "from effectgraph.stores import _rows"),
        ("effectgraph.cli", "from effectgraph.stores._rows import read"),
        ("effectgraph.graph", "from effectgraph.adapters import langchain"),
        ("effectgraph.adapters", ""),
    ],
)
def test_what_breaks_a_rule_is_found(module: str, text: str) -> None:
    """An import that reaches up, into private names or into a part without a floor is reported, once."""

    found = list(complaints(package_with(module, text)))

    assert 1 == len(found)
    assert found[0].startswith(module)


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("effectgraph.graph", "from effectgraph.stores import Store\nfrom effectgraph import effects, tools, errors"),
        ("effectgraph.stores._rows", "from effectgraph.stores import _sql\nfrom . import limits"),
        ("effectgraph", "from effectgraph.graph import Graph\nimport attrs"),
        ("effectgraph.__main__", "from effectgraph.cli import main"),
        ("effectgraph.cli", "from effectgraph import Graph, __version__\nfrom effectgraph.testing import ManualClock"),
    ],
)
def test_what_keeps_the_rules_is_let_through(module: str, text: str) -> None:
    """The front door may use all of the package, a folder all of itself and the public names below it."""

    assert [] == list(complaints(package_with(module, text)))
