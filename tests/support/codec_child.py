"""Prints the bytes and schemas of a fixed series of forms and values, the same in every process."""

from __future__ import annotations

import hashlib
from typing import Final

import hypothesis.strategies as st
from hypothesis import HealthCheck, Phase, given, settings

from codec_forms import Case, cases, forms_of_sets
from reordered import reordered

EXAMPLES: Final = 80


@settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(case=st.one_of(cases(), cases(forms_of_sets())))
def show(case: Case) -> None:
    """Print one line for each value: its form, the schema, the length and digest of its bytes, canonical and not."""
    codec = case.codec
    for value in case.values:
        data, canonical = codec.encode(value), codec.canonical(reordered(value, lambda each: each[::-1]))
        digests = [hashlib.sha256(each).hexdigest()[:16] for each in (data, canonical)]
        print(case.form.type, codec.schema, len(data), len(canonical), *digests)


if __name__ == "__main__":
    show()
