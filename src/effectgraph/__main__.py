"""`python -m effectgraph`: the command line."""

from __future__ import annotations

from effectgraph.cli import main

if __name__ == "__main__":
    main()
