"""The package as its tests look at it: its modules, read and parsed without being imported."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import attrs

PACKAGE = "effectgraph"


@attrs.frozen(kw_only=True)
class Import:
    """One imported thing: the module that it comes from, its name there, and the line that asks for it."""

    module: str
    name: str | None
    line: int


@attrs.frozen(kw_only=True)
class Module:
    """One module of the package: its dotted name, whether it is a package itself, and its text."""

    name: str
    is_package: bool
    text: str

    @property
    def tree(self) -> ast.Module:
        """The parsed text."""
        return ast.parse(self.text, self.name)

    def imports(self) -> Iterator[Import]:
        """Everything that this module imports, wherever in it: for types only and inside functions as well."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Import(module=alias.name, name=None, line=node.lineno)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    yield Import(module=self._origin(node), name=alias.name, line=node.lineno)

    def _origin(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        kept = len(parts) - node.level + (1 if self.is_package else 0)
        return ".".join([*parts[:kept], *([node.module] if node.module else [])])


def folder() -> Path:
    """Where the package lies: in the checkout, or where it was installed."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"{PACKAGE} is not installed: `make suite` installs it first")
    return Path(spec.origin).parent


@functools.cache
def modules() -> dict[str, Module]:
    """Every module of the package, by its dotted name."""
    root = folder()
    found: dict[str, Module] = {}
    for path in sorted(root.rglob("*.py")):
        parts = (PACKAGE, *path.relative_to(root).with_suffix("").parts)
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        found[name] = Module(name=name, is_package=is_package, text=path.read_text())
    return found
