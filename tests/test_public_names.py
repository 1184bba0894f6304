"""The names that the package offers, and what each of them owes."""

from __future__ import annotations

import ast
import importlib
import inspect

import attrs
from typing_extensions import TypeIs

import effectgraph
from effectgraph.errors import GraphError
from package_source import PACKAGE, Module, modules

PUBLIC = [
    "AppliedKeys",
    "BlockingContext",
    "Codec",
    "CodecError",
    "Context",
    "CurrentEffect",
    "END",
    "EffectError",
    "EffectGuard",
    "EffectKey",
    "EffectNotRecorded",
    "EffectReplayRefused",
    "EffectUnknown",
    "FileTarget",
    "Graph",
    "GraphError",
    "GraphInvalid",
    "Node",
    "NotApplied",
    "OutcomeUnreadable",
    "Refusal",
    "Run",
    "Runtime",
    "SqliteTarget",
    "Status",
    "Store",
    "StoreError",
    "TargetFenced",
    "TargetMoved",
    "TaskFailure",
    "Tool",
    "ToolHints",
    "Update",
    "Verifiable",
    "add",
    "append",
    "codec_for",
    "current_effect",
    "given",
    "merge",
    "open_store",
    "tool",
    "union",
    "updates",
]
"""Everything that `effectgraph` offers. A name that comes or goes changes the public surface: CHANGELOG.md says so."""


def defined_at(module: Module, name: str) -> tuple[Module, str]:
    """The module that defines a name which another module imports, and the name it has there."""
    for wanted in module.imports():
        if wanted.name == name and wanted.module in modules():
            return defined_at(modules()[wanted.module], name)
    return module, name


def has_docstring(module: Module, name: str) -> bool:
    """Whether a name's definition carries a docstring: a class or function in it, a constant or type right below it."""
    body = module.tree.body
    for statement, following in zip(body, [*body[1:], None], strict=True):
        match statement:
            case ast.ClassDef(name=defined) | ast.FunctionDef(name=defined) | ast.AsyncFunctionDef(name=defined):
                found = defined == name and ast.get_docstring(statement) is not None
            case ast.Assign(targets=[ast.Name(id=defined)]) | ast.AnnAssign(target=ast.Name(id=defined)):
                found = defined == name and isinstance(following, ast.Expr)
            case _:
                found = False
        if found:
            return True
    return False


def is_public_error(value: object, module: str) -> TypeIs[type[BaseException]]:
    """Whether a value is an exception class that this module defines for others; the root and its kinds aside.

    A kind of errors (`StoreError`) has no fields: it is there to be caught, and nothing raises it.
    """
    return (
        inspect.isclass(value)
        and issubclass(value, BaseException)
        and not (issubclass(value, GraphError) and not attrs.has(value))
        and value.__module__ == module
        and not value.__name__.startswith("_")
    )


def public_errors() -> list[type[BaseException]]:
    """Every public exception class that a module of the package defines."""
    names = [name for name in modules() if not name.endswith("__main__")]
    return [
        value
        for name in names
        for value in vars(importlib.import_module(name)).values()
        if is_public_error(value, name)
    ]


def test_the_names_are_those_written_here() -> None:
    """The package offers the names of the list above, no more and no fewer."""

    assert PUBLIC == sorted(effectgraph.__all__)


def test_every_name_is_there() -> None:
    """Each name that the package offers can be had from it."""

    assert [] == [name for name in effectgraph.__all__ if not hasattr(effectgraph, name)]


def test_every_name_has_a_docstring() -> None:
    """Each name that the package offers is explained where it is defined."""

    root = modules()[PACKAGE]

    assert [] == [name for name in effectgraph.__all__ if not has_docstring(*defined_at(root, name))]


def test_every_error_is_a_graph_error() -> None:
    """Each public exception of the package derives from `GraphError`, so that one `except` catches what is ours."""

    errors = public_errors()

    assert errors
    assert [] == [error.__qualname__ for error in errors if not issubclass(error, GraphError)]


def test_every_error_is_a_builtin_error_too() -> None:
    """Each public exception of the package is also a builtin error of a nearer kind than `Exception`."""

    too_wide = {Exception, BaseException, object}
    plain = [
        error.__qualname__
        for error in public_errors()
        if not any(base.__module__ == "builtins" and base not in too_wide for base in error.__mro__)
    ]

    assert [] == plain
