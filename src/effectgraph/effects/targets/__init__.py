"""Targets that can settle a replay: a file that is verified, a SQLite database that keeps applied keys."""

from effectgraph.effects.targets.applied import AppliedKeys
from effectgraph.effects.targets.digests import ABSENT, digest_of
from effectgraph.effects.targets.errors import FileMoved, TargetBusy, TargetUnusable, TransactionTaken
from effectgraph.effects.targets.file import FileTarget, PlannedWrite
from effectgraph.effects.targets.locks import LockFolder
from effectgraph.effects.targets.sqlite import SqliteTarget

__all__ = [
    "ABSENT",
    "AppliedKeys",
    "FileMoved",
    "FileTarget",
    "LockFolder",
    "PlannedWrite",
    "SqliteTarget",
    "TargetBusy",
    "TargetUnusable",
    "TransactionTaken",
    "digest_of",
]
