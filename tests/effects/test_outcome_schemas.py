"""Outcomes that another version of their type wrote: read by a migration, or refused; the effect never runs again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import attrs
import pytest

from effectgraph import EffectGuard, EffectUnknown, OutcomeUnreadable, Verifiable, open_store
from effectgraph.effects.codec import Codec, Json, Migration, codec_for
from effectgraph.stores import SqliteStore
from effectgraph.stores.records import How
from guarded import KEY, Document, with_guard


@attrs.frozen
class Receipt:
    """What the effect gave before the deployment."""

    euros: int


OLD = codec_for(Receipt)


@attrs.frozen
class Paid:
    """What it gives after it: written in one form with a class of the same fields, `Receipt` of today."""

    cents: int


def cents(old: Json) -> Json:
    """From whole euros."""
    assert isinstance(old, dict)
    euros = old["euros"]
    assert isinstance(euros, int)
    return {"cents": euros * 100}


NEW = codec_for(Paid)
MIGRATING = NEW.migrating({OLD.schema: Migration(to=NEW.schema, by=cents)})


async def pay(guard: EffectGuard, codec: Codec[Paid], ran: list[str]) -> Paid:
    """Make the call as the program of today does."""

    async def effect() -> Paid:
        ran.append("today")
        return Paid(1)

    return await guard.unchecked(KEY, codec, fingerprint="f", effect=effect)


async def pay_before(guard: EffectGuard) -> Receipt:
    """Make the call as the program did before the deployment."""

    async def effect() -> Receipt:
        return Receipt(3)

    return await guard.unchecked(KEY, OLD, fingerprint="f", effect=effect)


def test_an_outcome_of_an_older_type_is_migrated(tmp_path: Path) -> None:
    """A replay of what an older version recorded gives the value of today, and does not run the effect."""

    ran: list[str] = []

    with_guard(tmp_path, lambda guard, _: pay_before(guard))

    assert Paid(300) == with_guard(tmp_path, lambda guard, _: pay(guard, MIGRATING, ran))
    assert Paid(300) == with_guard(tmp_path, lambda guard, _: pay(guard, MIGRATING, ran))
    assert [] == ran


def test_an_outcome_without_a_migration_is_refused(tmp_path: Path) -> None:
    """Both schemas and the way out are told; the effect is not run, and the outcome stays as it was recorded."""

    ran: list[str] = []

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[str, object]:
        with pytest.raises(OutcomeUnreadable) as caught:
            await pay(guard, NEW, ran)
        evidence = await store.evidence(KEY, 0)
        assert evidence is not None
        assert evidence.outcome is not None
        return str(caught.value), (evidence.outcome.value, evidence.outcome.schema)

    with_guard(tmp_path, lambda guard, _: pay_before(guard))
    text, outcome = with_guard(tmp_path, scenario)

    assert text == (
        f"effect {KEY}: its outcome was written by schema {OLD.schema} and cannot be read by schema {NEW.schema} "
        "(there is no migration); it is not run again; bring back the type that wrote it, or give its codec a migration"
    )
    assert outcome == (b'{"euros":3}', OLD.schema)
    assert [] == ran


def test_an_outcome_that_would_fit_is_refused_without_a_migration(tmp_path: Path) -> None:
    """Bytes that today's type could read are refused as well: that they mean the same is for a migration to say."""

    same = codec_for(attrs.make_class("Bill", {"euros": attrs.field(type=int)}))

    async def scenario(guard: EffectGuard, _: SqliteStore) -> object:
        async def effect() -> object:
            raise AssertionError

        return await guard.unchecked(KEY, same, fingerprint="f", effect=effect)

    with_guard(tmp_path, lambda guard, _: pay_before(guard))

    with pytest.raises(OutcomeUnreadable, match="there is no migration"):
        with_guard(tmp_path, scenario)


def test_a_migration_that_fails_is_told(tmp_path: Path) -> None:
    """A migration that does not fit is an error of the outcome, with its reason; the effect is not run."""

    ran: list[str] = []
    broken = NEW.migrating({OLD.schema: Migration(to=NEW.schema, by=lambda old: old)})

    with_guard(tmp_path, lambda guard, _: pay_before(guard))

    with pytest.raises(OutcomeUnreadable, match=f"as the migration from schema {OLD.schema} gave it"):
        with_guard(tmp_path, lambda guard, _: pay(guard, broken, ran))
    assert [] == ran


def test_the_memory_of_a_claim_migrates_too(tmp_path: Path) -> None:
    """One guard that is called with the older type and then with today's answers as two would."""

    ran: list[str] = []

    async def scenario(guard: EffectGuard, _: SqliteStore) -> tuple[Receipt, Paid]:
        return await pay_before(guard), await pay(guard, MIGRATING, ran)

    assert (Receipt(3), Paid(300)) == with_guard(tmp_path, scenario)
    assert [] == ran


async def write(guard: EffectGuard, codec: Codec[Paid], document: Document) -> Paid:
    """Write to the document as the program of today does."""

    def plan(token: int) -> Verifiable[Paid]:
        planned = document.plan(token)
        return Verifiable(before=planned.before, after=planned.after, presumed=Paid(7), effect=planned.effect)

    return await guard.verifiable(KEY, codec, fingerprint="f", plan=plan, probe=document.probe)


async def write_before(guard: EffectGuard, document: Document, after: str, *, lands: bool) -> None:
    """Write to the document as the program did before the deployment, and fail before or after that."""

    def effect(token: int) -> None:
        if lands:
            document.content = after
        raise OSError("broken")

    def plan(token: int) -> Verifiable[Receipt]:
        return Verifiable(before=document.content, after=after, presumed=Receipt(3), effect=effect)

    with pytest.raises(EffectUnknown):
        await guard.verifiable(KEY, OLD, fingerprint="f", plan=plan, probe=document.probe)


def in_turns(
    path: Path, before: Callable[[EffectGuard], Awaitable[None]], after: Callable[[EffectGuard], Awaitable[Paid]]
) -> tuple[Paid | OutcomeUnreadable, tuple[How, bytes | None, str] | None]:
    """A deployment between two calls: what the second one gives, and the outcome that then is recorded."""

    async def run() -> tuple[Paid | OutcomeUnreadable, tuple[How, bytes | None, str] | None]:
        async with open_store(path / "s.db") as store:
            await before(EffectGuard(store))
        async with open_store(path / "s.db") as store:
            try:
                value: Paid | OutcomeUnreadable = await after(EffectGuard(store))
            except OutcomeUnreadable as error:
                value = error
            evidence = await store.evidence(KEY, 0)
            assert evidence is not None
            outcome = evidence.outcome
            return value, None if outcome is None else (outcome.how, outcome.value, outcome.schema)

    return asyncio.run(run())


def test_what_an_older_intent_presumed_keeps_its_schema(tmp_path: Path) -> None:
    """A change that an older version made is found landed: its presumed outcome is recorded as what it is."""

    document = Document()

    value, outcome = in_turns(
        tmp_path,
        lambda guard: write_before(guard, document, "b", lands=True),
        lambda guard: write(guard, MIGRATING, document),
    )

    assert Paid(300) == value
    assert (How.PROBE, b'{"euros":3}', OLD.schema) == outcome
    assert 0 == document.writes


def test_what_an_older_intent_presumed_is_not_guessed(tmp_path: Path) -> None:
    """Without a migration the change that landed is recorded, and its outcome refused; nothing runs again."""

    document = Document()

    value, outcome = in_turns(
        tmp_path,
        lambda guard: write_before(guard, document, "b", lands=True),
        lambda guard: write(guard, NEW, document),
    )

    assert isinstance(value, OutcomeUnreadable)
    assert (value.written_by, value.reads) == (OLD.schema, NEW.schema)
    assert (How.PROBE, b'{"euros":3}', OLD.schema) == outcome
    assert ("b", 0) == (document.content, document.writes)


def test_an_older_landing_counts_after_a_new_plan(tmp_path: Path) -> None:
    """Planned again, an older intent is kept by what it presumed, of today's schema: should it land, that is told."""

    document = Document()

    async def after(guard: EffectGuard) -> Paid:
        def effect(token: int) -> None:
            document.content = "b"
            raise OSError("the older write arrived first")

        def plan(token: int) -> Verifiable[Paid]:
            return Verifiable(before="a", after="c", presumed=Paid(7), effect=effect)

        with pytest.raises(EffectUnknown):
            await guard.verifiable(KEY, MIGRATING, fingerprint="f", plan=plan, probe=document.probe)
        return await write(guard, NEW, document)

    value, outcome = in_turns(tmp_path, lambda guard: write_before(guard, document, "b", lands=False), after)

    assert Paid(300) == value
    assert (How.PROBE, b'{"cents":300}', NEW.schema) == outcome


def test_an_older_landing_that_cannot_be_read_stops_a_new_plan(tmp_path: Path) -> None:
    """Without a migration nothing is planned over an older intent whose change may still land; it stands."""

    document = Document()

    value, outcome = in_turns(
        tmp_path,
        lambda guard: write_before(guard, document, "b", lands=False),
        lambda guard: write(guard, NEW, document),
    )

    assert isinstance(value, OutcomeUnreadable)
    assert outcome is None
    assert ("a", 0) == (document.content, document.writes)


def test_an_older_plan_of_the_same_change_needs_no_migration(tmp_path: Path) -> None:
    """A plan that leads to the same content takes the older one's place, with what it presumes itself."""

    document = Document()

    value, outcome = in_turns(
        tmp_path,
        lambda guard: write_before(guard, document, "ax", lands=False),
        lambda guard: write(guard, NEW, document),
    )

    assert Paid(7) == value
    assert (How.RUN, b'{"cents":7}', NEW.schema) == outcome
    assert ("ax", 1) == (document.content, document.writes)
