"""Results of tools that an older version of their type wrote."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, cast

import attrs
import pytest

from effectgraph import EffectGuard, EffectKey, OutcomeUnreadable, codec_for, open_store, tool
from effectgraph.effects.codec import Json, Migrating, Migration
from effectgraph.outside import Threads
from effectgraph.tools import Tool, ToolInvalid

KEY = EffectKey("t", "1.act", "1.tool")


@attrs.frozen
class Receipt:
    """A result, before the deployment."""

    euros: int


@attrs.frozen
class Paid:
    """A result, after it."""

    cents: int


WAS, IS = codec_for(Receipt).schema, codec_for(Paid).schema


def cents(old: Json) -> Json:
    """Cents, from euros."""
    assert isinstance(old, dict)
    euros = old["euros"]
    assert isinstance(euros, int)
    return {"cents": 100 * euros}


def before() -> Tool[[int], Receipt]:
    """The tool as it was."""

    @tool.unchecked()
    def pay(amount: int) -> Receipt:
        return Receipt(amount)

    return pay


def after() -> Tool[[int], Paid]:
    """The tool as it is, with what reads its older results."""

    @tool.unchecked()
    def pay(amount: int) -> Annotated[Paid, Migrating({WAS: Migration(to=IS, by=cents)})]:
        raise AssertionError

    return pay


def unprepared() -> Tool[[int], Paid]:
    """The tool as it is, without."""

    @tool.unchecked()
    def pay(amount: int) -> Paid:
        raise AssertionError

    return pay


def called(path: Path, declared: object) -> object:
    """Make the call with this version of the tool, in a process that starts anew."""
    paid = cast("Tool[[int], object]", declared)

    async def run() -> object:
        async with open_store(path / "s.db") as store:
            with Threads() as threads:
                return await paid.prepare(3).run(EffectGuard(store, runner=threads), KEY, threads)

    return asyncio.run(run())


def test_an_older_result_is_migrated_where_the_annotation_says_how(tmp_path: Path) -> None:
    """A replay with today's tool gives today's result for what the older one recorded, and does not call it."""

    called(tmp_path, before())

    assert Paid(300) == called(tmp_path, after())


def test_an_older_result_without_a_migration_is_refused(tmp_path: Path) -> None:
    """Without a migration the result is refused, naming the schema that wrote it, and the tool is not called."""

    called(tmp_path, before())

    with pytest.raises(OutcomeUnreadable, match=f"written by schema {WAS} and cannot be read by schema {IS}"):
        called(tmp_path, unprepared())


def test_a_migration_that_leads_elsewhere_is_told_with_the_tool() -> None:
    """Migrations are checked when the tool is declared."""

    def pay(amount: int) -> Annotated[Paid, Migrating({WAS: Migration(to="1" * 16, by=cents)})]:
        raise AssertionError

    with pytest.raises(ToolInvalid, match=r"tool pay: result: Paid cannot be migrated"):
        tool.unchecked()(pay)
