"""The command line: `effectgraph`."""

from effectgraph.cli.main import main

__all__ = ["main"]
