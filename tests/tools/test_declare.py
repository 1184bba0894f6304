"""Declarations of tools: what is refused when it is declared, and what a call fixes."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import cast

import msgspec
import pytest

from effectgraph import (
    EffectGuard,
    EffectKey,
    EffectReplayRefused,
    FileTarget,
    Refusal,
    SqliteTarget,
    Tool,
    Verifiable,
    current_effect,
    open_store,
    tool,
)
from effectgraph.outside import Threads
from effectgraph.tools import BadArguments, Prepared, ReplaySupport, ToolInvalid

KEY = EffectKey("t", "1.act", "1.tool")
Untyped = Callable[..., object]


@tool.unchecked(redact=frozenset({"card"}), version=3)
async def charge(amount: int, card: str, *, tags: list[str] | None = None) -> str:
    """Charge a card."""
    if tags is not None:
        tags.append("seen")
    return f"{amount} from {card}"


def call(path: Path, prepared: Prepared[str]) -> str:
    """Run a prepared call through a guard over a store of its own."""

    async def run() -> str:
        async with open_store(path / "s.db") as store:
            with Threads() as threads:
                return await prepared.run(EffectGuard(store, runner=threads), KEY, threads)

    return asyncio.run(run())


def test_a_declaration_is_data_on_the_tool() -> None:
    """Name and description come from the function, support and hints from the declaration."""

    assert (charge.name, charge.description, charge.version) == ("charge", "Charge a card.", 3)
    assert charge.support is ReplaySupport.UNCHECKED
    assert (charge.hints.read_only, charge.hints.idempotent, charge.hints.destructive) == (False, False, True)


def test_a_bare_tool_is_the_most_cautious_one() -> None:
    """`@tool` alone: unchecked, and harmful to repeat."""

    @tool
    def bare() -> None: ...

    assert bare.support is ReplaySupport.UNCHECKED
    assert not bare.hints.idempotent


def test_a_function_without_types_is_refused() -> None:
    """What a tool takes and returns must be known when it is declared."""
    names: dict[str, Untyped] = {}
    exec("def no_result(a: int): ...\ndef no_parameter(a) -> int: ...", names)

    with pytest.raises(ToolInvalid, match="no return annotation"):
        tool.unchecked()(names["no_result"])
    with pytest.raises(ToolInvalid, match="parameter a has no annotation"):
        tool.read_only()(names["no_parameter"])


def test_a_type_that_cannot_be_stored_is_refused() -> None:
    """By name and parameter, when it is declared."""

    def takes_anything(what: object) -> None: ...
    def takes_many(*what: int) -> None: ...

    with pytest.raises(ToolInvalid, match="parameter what"):
        tool.unchecked()(takes_anything)
    with pytest.raises(ToolInvalid, match="any number"):
        tool.unchecked()(takes_many)


def test_redact_names_parameters_of_the_tool() -> None:
    """A typing mistake would let a secret through."""

    def pay(card: str) -> None: ...

    with pytest.raises(ToolInvalid, match="crad"):
        tool.unchecked(redact=frozenset({"crad"}))(pay)


def test_an_applied_keys_tool_is_a_plain_function(tmp_path: Path) -> None:
    """A transaction is not held over an await."""

    async def sell(tx: sqlite3.Connection, item: str) -> str:
        return item

    with pytest.raises(ToolInvalid, match="plain function"):
        tool.applied_keys(target=lambda: SqliteTarget(tmp_path / "b.db"))(sell)


def test_a_verifiable_tool_returns_a_plan() -> None:
    """Not the value itself."""

    def probe(path: str, /) -> str:
        return path

    def write(path: str, /) -> str:
        return path

    with pytest.raises(ToolInvalid, match="returns Verifiable"):
        tool.verifiable(probe=probe)(cast("Callable[[str], Verifiable[str]]", write))


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        ((1,), {}, "missing a required argument: 'card'"),
        ((1, "c"), {"kard": "x"}, "unexpected keyword argument 'kard'"),
        (("1", "c"), {}, "argument amount"),
        ((True, "c"), {}, "argument amount"),
        ((1, "c"), {"tags": [1]}, "argument tags"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_runs(
    args: tuple[object, ...], kwargs: dict[str, object], said: str
) -> None:
    """The error names the parameter; nothing is converted."""
    prepare = cast("Callable[..., object]", charge.prepare)

    with pytest.raises(BadArguments, match=said):
        prepare(*args, **kwargs)


def test_EL4_equal_requests_have_equal_fingerprints() -> None:
    """By position or by name, and whatever the order of a dict."""

    @tool.unchecked()
    def note(pairs: dict[str, int], text: str = "") -> None: ...

    prints = {
        note.prepare({"a": 1, "b": 2}).arguments.fingerprint("note", 1),
        note.prepare(pairs={"b": 2, "a": 1}, text="").arguments.fingerprint("note", 1),
    }
    others = {
        note.prepare({"a": 1}).arguments.fingerprint("note", 1),
        note.prepare({"a": 1, "b": 2}).arguments.fingerprint("note", 2),
        note.prepare({"a": 1, "b": 2}).arguments.fingerprint("other", 1),
    }
    assert len(prints) == 1
    assert len(prints | others) == 4


def test_EL2_the_request_is_fixed_when_the_call_is_made(tmp_path: Path) -> None:
    """What caller and tool do to their objects afterwards reaches neither the other nor the store."""
    tags = ["a"]
    prepared = charge.prepare(5, "tok_1", tags=tags)
    tags.append("b")

    first = call(tmp_path, prepared)
    second = call(tmp_path, charge.prepare(5, "tok_1", tags=["a"]))

    assert first == second == "5 from tok_1"
    assert tags == ["a", "b"]


def test_what_is_redacted_is_not_in_the_store(tmp_path: Path) -> None:
    """It still counts for the fingerprint."""

    async def scenario() -> tuple[bytes, bool]:
        async with open_store(tmp_path / "s.db") as store:
            with Threads() as threads:
                guard = EffectGuard(store, runner=threads)
                await charge.prepare(5, "tok_secret").run(guard, KEY, threads)
                evidence = await store.evidence(KEY, 0)
                assert evidence is not None
                with pytest.raises(EffectReplayRefused) as caught:
                    await charge.prepare(5, "tok_other").run(guard, KEY, threads)
                return evidence.intent.request, caught.value.code is Refusal.MISMATCH

    request, mismatched = asyncio.run(scenario())
    assert msgspec.json.decode(request) == {"amount": 5, "card": "<redacted>", "tags": None}
    assert mismatched
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"tok_other" not in stored


def test_a_tool_called_by_itself_refuses() -> None:
    """An effect that does not go through the guard could be repeated."""

    with pytest.raises(TypeError, match=r"ctx\.call"):
        charge(1, "tok")


def test_a_file_and_a_database_through_their_tools(tmp_path: Path) -> None:
    """Each call is applied once; a replay answers with what was recorded."""
    file = FileTarget(tmp_path / "notes.txt")
    connection = sqlite3.connect(tmp_path / "books.db")
    connection.execute("CREATE TABLE sales (item TEXT)")
    connection.close()
    books = SqliteTarget(tmp_path / "books.db")

    def digest(line: str) -> str:
        return file.probe(current_effect())

    @tool.verifiable(probe=digest)
    def append_line(line: str) -> Verifiable[int]:
        planned = file.plan(current_effect(), lambda old: (old or b"") + line.encode())
        return Verifiable(before=planned.before, after=planned.after, presumed=len(line), effect=planned.effect)

    @tool.applied_keys(target=lambda: books)
    def sell(tx: sqlite3.Connection, item: str) -> int:
        return tx.execute("INSERT INTO sales VALUES (?)", (item,)).lastrowid or 0

    async def scenario() -> list[int]:
        async with open_store(tmp_path / "s.db") as store:
            with Threads() as threads:
                guard = EffectGuard(store, runner=threads)
                answers: list[int] = []
                for prepared, key in (
                    (append_line.prepare("one\n"), EffectKey("t", "1", "a")),
                    (append_line.prepare("one\n"), EffectKey("t", "1", "a")),
                    (sell.prepare("tea"), EffectKey("t", "1", "s")),
                    (sell.prepare("tea"), EffectKey("t", "1", "s")),
                ):
                    answers.append(await prepared.run(guard, key, threads))
                await guard.release(EffectKey("t", "1", "s"))
                return answers

    assert asyncio.run(scenario()) == [4, 4, 1, 1]
    assert (tmp_path / "notes.txt").read_text() == "one\n"
    books.close()
    connection = sqlite3.connect(tmp_path / "books.db")
    assert connection.execute("SELECT item FROM sales").fetchall() == [("tea",)]
    assert connection.execute("SELECT count(*) FROM effectgraph_applied").fetchall() == [(0,)]
    connection.close()


def test_a_tool_that_reads_leaves_nothing(tmp_path: Path) -> None:
    """It is not guarded: it simply runs each time."""
    ran: list[str] = []

    @tool.read_only()
    def look(path: str) -> str:
        ran.append(path)
        return path.upper()

    async def scenario() -> object:
        async with open_store(tmp_path / "s.db") as store:
            with Threads() as threads:
                guard = EffectGuard(store, runner=threads)
                for _ in range(2):
                    assert await look.prepare("a").run(guard, KEY, threads) == "A"
                return await store.evidence(KEY, 0)

    assert asyncio.run(scenario()) is None
    assert ran == ["a", "a"]
    assert isinstance(look, Tool)
