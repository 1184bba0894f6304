"""Stores: bytes and transactions; threads, claims, tokens, evidence, state by field."""

from __future__ import annotations

from effectgraph.stores.errors import (
    ClaimHeld,
    ClaimLost,
    DecisionConflict,
    DecisionRefused,
    EarlierWriteFailed,
    EffectAtWork,
    EvidenceChanged,
    QuestionClosed,
    QuestionUnknown,
    QueueFull,
    StepUnknown,
    StoreBusy,
    StoreClosed,
    StoreError,
    StoreReadOnly,
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
    "DecisionConflict",
    "DecisionRefused",
    "EarlierWriteFailed",
    "EffectAtWork",
    "EffectKey",
    "EvidenceChanged",
    "QuestionClosed",
    "QuestionUnknown",
    "QueueFull",
    "Receipt",
    "SqliteStore",
    "StepUnknown",
    "Store",
    "StoreBusy",
    "StoreClosed",
    "StoreError",
    "StoreReadOnly",
    "StoreUnusable",
    "TaskClosed",
    "ThreadExists",
    "ThreadUnknown",
    "UnresolvedStands",
    "open_store",
]
