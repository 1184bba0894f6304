"""The store's errors: each holds what it knows, says it with the way out, and comes back whole from pickle."""

from __future__ import annotations

import pickle

import attrs
import pytest

from effectgraph.errors import GraphError
from effectgraph.stores import StoreError, errors

EACH = sorted(
    (kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, StoreError)),
    key=lambda kind: kind.__name__,
)

SAMPLES: dict[str, object] = {
    "str": "some text",
    "int": 7,
    "float": 1.5,
    "int | None": None,
    "tuple[str, ...]": ("one", "two"),
}


def samples(kind: type) -> list[object]:
    """Something for each field of a kind of error."""
    return [SAMPLES[str(field.type)] for field in attrs.fields(kind)] if attrs.has(kind) else ["some text"]


@pytest.mark.parametrize("kind", EACH, ids=[kind.__name__ for kind in EACH])
def test_an_error_comes_back_whole_from_pickle(kind: type[StoreError]) -> None:
    """What one process raises another can read: the kind, the fields and the text."""

    error = kind(*samples(kind))

    back = pickle.loads(pickle.dumps(error))

    assert (type(back), back.args, str(back), vars(back)) == (kind, error.args, str(error), vars(error))
    assert isinstance(back, GraphError)
