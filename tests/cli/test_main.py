"""The command line's frame: help, version, calls that it cannot work with."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from click.testing import CliRunner

from effectgraph.cli import main


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_names_the_commands(arguments: list[str]) -> None:
    """Called with nothing, or asked for help, it prints what it can do, and that is no error."""

    result = CliRunner().invoke(main, arguments)

    assert 0 == result.exit_code
    assert "Usage: " in result.stdout
    assert "demo" in result.stdout


def test_the_version_is_that_of_the_package() -> None:
    """`--version` prints the version that was installed."""

    result = CliRunner().invoke(main, ["--version"])

    assert 0 == result.exit_code
    assert f"effectgraph {version('effectgraph')}\n" == result.stdout


@pytest.mark.parametrize("arguments", [["nope"], ["--nope"], ["demo", "--nope"], ["demo", "extra"]])
def test_a_call_that_it_does_not_know_exits_2(arguments: list[str]) -> None:
    """A mistake in the call says so on stderr, without a traceback."""

    result = CliRunner().invoke(main, arguments)

    assert 2 == result.exit_code
    assert "" == result.stdout
    assert "Error: " in result.stderr
    assert "Traceback" not in result.stderr
