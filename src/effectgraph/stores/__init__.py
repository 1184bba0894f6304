"""Stores: bytes and transactions; threads, claims, tokens, evidence, state by field."""

from __future__ import annotations

from effectgraph.stores.errors import (
    ClaimHeld,
    ClaimLost,
    EarlierWriteFailed,
    EvidenceChanged,
    QueueFull,
    StoreBusy,
    StoreClosed,
    StoreError,
    StoreUnusable,
    TaskClosed,
    ThreadExists,
    ThreadUnknown,
    UnresolvedStands,
)
from effectgraph.stores.keys import EffectKey
from effectgraph.stores.open import open_store
from effectgraph.stores.protocol import Store
from effectgraph.stores.receipt import Receipt
from effectgraph.stores.sqlite.store import SqliteStore

__all__ = [
    "ClaimHeld",
    "ClaimLost",
    "EarlierWriteFailed",
    "EffectKey",
    "EvidenceChanged",
    "QueueFull",
    "Receipt",
    "SqliteStore",
    "Store",
    "StoreBusy",
    "StoreClosed",
    "StoreError",
    "StoreUnusable",
    "TaskClosed",
    "ThreadExists",
    "ThreadUnknown",
    "UnresolvedStands",
    "open_store",
]
