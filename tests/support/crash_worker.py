"""A worker that runs one order and ends itself, by a signal, at one boundary of its effect."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from crash_shop import Boundary, EffectKind, Place, order_graph

from effectgraph import Runtime, updates
from effectgraph.stores import Claim, EffectKey, SqliteStore
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.records import Begun, Commit, Evidence, Intent, Outcome, Sync
from effectgraph.stores.sqlite.connect import Opening

T = TypeVar("T")
