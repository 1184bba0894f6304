"""A guard on a store alone, and targets in memory, for the tests of the guard."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from effectgraph import (
    EffectGuard,
    EffectKey,
    EffectReplayRefused,
    Refusal,
    TargetMoved,
    Verifiable,
    codec_for,
    current_effect,
    open_store,
)
from effectgraph.stores import SqliteStore

KEY = EffectKey("orders", "o-1", "charge")


TEXT = codec_for(str)


A = TypeVar("A")


def with_guard(path: Path, scenario: Callable[[EffectGuard, SqliteStore], Awaitable[A]]) -> A:
    """Run a scenario with a guard over a store that is opened anew."""

    async def run() -> A:
        async with open_store(path / "s.db") as store:
            return await scenario(EffectGuard(store), store)

    return asyncio.run(run())


class Recipient:
    """Counts what it is asked to do, and fails as often as it is told."""

    def __init__(self, *failures: Exception) -> None:
        self.count = 0
        self.keys: list[str] = []
        self._failures = list(failures)

    async def charge(self) -> str:
        self.count += 1
        self.keys.append(current_effect().idempotency_key)
        if self._failures:
            raise self._failures.pop(0)
        return f"ch_{self.count}"


class Document:
    """A target in memory that compares and sets, and answers with its content as digest."""

    def __init__(self, content: str = "a") -> None:
        self.content = content
        self.writes = 0
        self.trouble: list[Exception] = []

    def probe(self, token: int) -> str:
        return self.content

    def plan(self, token: int) -> Verifiable[str]:
        before = self.content
        return Verifiable(before=before, after=before + "x", presumed=f"to {before}x", effect=self.setting(before))

    def setting(self, before: str) -> Callable[[int], None]:
        def effect(token: int) -> None:
            if self.content != before:
                raise TargetMoved("document", before, self.content)
            self.content = before + "x"
            self.writes += 1
            if self.trouble:
                raise self.trouble.pop(0)

        return effect


async def charge(guard: EffectGuard, recipient: Recipient, *, fingerprint: str = "f", idempotent: bool = False) -> str:
    """Let the recipient charge, once."""
    return await guard.unchecked(KEY, TEXT, fingerprint=fingerprint, effect=recipient.charge, idempotent=idempotent)


async def write(guard: EffectGuard, document: Document) -> str:
    """Append to the document, once."""
    return await guard.verifiable(KEY, TEXT, fingerprint="f", plan=document.plan, probe=document.probe)


async def refusal_of(call: Awaitable[A]) -> Refusal:
    """The code with which a call is refused."""
    with pytest.raises(EffectReplayRefused) as caught:
        await call
    return caught.value.code
