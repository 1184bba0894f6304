"""One more attempt, granted by a person; and an effect that a person gave up on."""

from __future__ import annotations

from pathlib import Path

import pytest

from effectgraph import EffectGuard, EffectUnknown, Refusal
from effectgraph.stores import SqliteStore
from effectgraph.stores.records import Decision, Ruling
from guarded import KEY, Document, Recipient, charge, refusal_of, with_guard, write


async def rule(store: SqliteStore, ruling: Ruling, name: str = "d1") -> None:
    """Decide on the effect, whatever its version is now."""
    evidence = await store.evidence(KEY, 0)
    assert evidence is not None
    await store.decide(
        Decision(
            id=name,
            key=KEY,
            incarnation=0,
            seen=evidence.version,
            ruling=ruling,
            by="ann",
            reason="looked at it",
            at_us=1,
        )
    )


def test_EL9_a_grant_is_one_attempt(tmp_path: Path) -> None:
    """The granted attempt runs; when it breaks off as well, the next call is refused again."""
    recipient = Recipient(ConnectionResetError("first"), ConnectionResetError("second"))

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[Refusal, int]:
        with pytest.raises(EffectUnknown):
            await charge(guard, recipient)
        await rule(store, Ruling.RETRY)
        with pytest.raises(EffectUnknown, match="second"):
            await charge(guard, recipient)
        code = await refusal_of(charge(guard, recipient))
        evidence = await store.evidence(KEY, 0)
        assert evidence is not None
        return code, evidence.attempt

    assert with_guard(tmp_path, scenario) == (Refusal.OUTCOME_UNKNOWN, 2)
    assert recipient.count == 2
    assert len(set(recipient.keys)) == 1


def test_a_grant_on_a_conflict_plans_on_what_the_target_holds(tmp_path: Path) -> None:
    """The probe would refuse; a person looked, and the new plan starts from the content of now."""
    document = Document()
    document.trouble.append(ConnectionResetError("after the write"))

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[Refusal, str]:
        with pytest.raises(EffectUnknown):
            await write(guard, document)
        document.content = "strange"
        code = await refusal_of(write(guard, document))
        await rule(store, Ruling.RETRY)
        return code, await write(guard, document)

    assert with_guard(tmp_path, scenario) == (Refusal.CONFLICT, "to strangex")
    assert document.content == "strangex"


def test_what_a_person_gave_up_on_is_never_run(tmp_path: Path) -> None:
    """Nor is it listed any more; a release lets it go."""
    recipient = Recipient(ConnectionResetError("no answer"))

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[Refusal, int, str]:
        with pytest.raises(EffectUnknown):
            await charge(guard, recipient, idempotent=True)
        await rule(store, Ruling.ABANDON)
        code = await refusal_of(charge(guard, recipient, idempotent=True))
        listed = len(await store.unresolved())
        await guard.release(KEY)
        return code, listed, await charge(guard, recipient)

    assert with_guard(tmp_path, scenario) == (Refusal.UNCERTAIN, 0, "ch_2")


def test_a_granted_effect_of_another_request_is_refused(tmp_path: Path) -> None:
    """A grant is for the request that was seen."""
    recipient = Recipient(ConnectionResetError("no answer"))

    async def scenario(guard: EffectGuard, store: SqliteStore) -> tuple[Refusal, bool]:
        with pytest.raises(EffectUnknown):
            await charge(guard, recipient)
        await rule(store, Ruling.RETRY)
        code = await refusal_of(charge(guard, recipient, fingerprint="g"))
        evidence = await store.evidence(KEY, 0)
        assert evidence is not None
        return code, evidence.granted

    assert with_guard(tmp_path, scenario) == (Refusal.MISMATCH, True)
