"""Effects: the guard that performs each one once, and the evidence protocol under it."""

from effectgraph.effects.current import CurrentEffect, current_effect
from effectgraph.effects.errors import (
    EffectError,
    EffectNotRecorded,
    EffectReplayRefused,
    EffectUnknown,
    NotApplied,
    OutcomeUnreadable,
    OutsideEffect,
    Refusal,
    TargetFenced,
    TargetMoved,
    TooManyEffects,
)
from effectgraph.effects.guard import About, EffectGuard
from effectgraph.effects.transition import IllegalTransition
from effectgraph.effects.verifiable import Verifiable

__all__ = [
    "About",
    "CurrentEffect",
    "EffectError",
    "EffectGuard",
    "EffectNotRecorded",
    "EffectReplayRefused",
    "EffectUnknown",
    "IllegalTransition",
    "NotApplied",
    "OutcomeUnreadable",
    "OutsideEffect",
    "Refusal",
    "TargetFenced",
    "TargetMoved",
    "TooManyEffects",
    "Verifiable",
    "current_effect",
]
