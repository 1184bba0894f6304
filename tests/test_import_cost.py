"""What `import effectgraph` brings in: counted, not timed."""

from __future__ import annotations

from pathlib import Path

import msgspec

from fresh_python import output_of

LATER = frozenset({"click", "h11", "httpcore", "httpx", "rich", "sqlite_utils"})
"""What only the command line, schema changes and requests need: imported by whoever uses it, when it does."""

OTHER_MODULES = 300
"""Modules of others that may be loaded with the package: asyncio, cattrs, msgspec, filelock and sqlite3 take 240."""


def loaded(tmp_path: Path, statement: str) -> list[str]:
    """The names of all modules that a new interpreter holds after one statement."""
    printed = output_of(f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))", tmp_path)
    return msgspec.json.decode(printed, type=list[str])


def test_what_is_not_needed_is_not_imported(tmp_path: Path) -> None:
    """Importing the package imports no library that only the command line, schema changes or requests use."""

    roots = {name.partition(".")[0] for name in loaded(tmp_path, "import effectgraph")}

    assert set() == roots & LATER


def test_few_modules_are_imported(tmp_path: Path) -> None:
    """Importing the package loads a bounded number of modules that are not its own."""

    others = [name for name in loaded(tmp_path, "import effectgraph") if name.partition(".")[0] != "effectgraph"]

    assert len(others) <= OTHER_MODULES, others


def test_nothing_is_started(tmp_path: Path) -> None:
    """Importing the package starts no thread, sets up no logging and changes no signal handler."""

    printed = output_of(
        "import logging, signal, threading\n"
        "before = [signal.getsignal(number) for number in signal.valid_signals()]\n"
        "import effectgraph\n"
        "after = [signal.getsignal(number) for number in signal.valid_signals()]\n"
        "print(threading.active_count(), logging.getLogger().handlers, before == after)",
        tmp_path,
    )

    assert "1 [] True\n" == printed
