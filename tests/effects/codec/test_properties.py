"""What holds for every form and every value: nothing is lost, nothing is let through, equal values have equal bytes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from random import Random
from typing import Annotated, Final, cast

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from typing_extensions import TypeForm

import codec_child
from alike import look
from codec_form import Bad, Form
from codec_forms import Case, cases, codec_of, mistakes
from effectgraph.effects.codec import NotEncodable, codec_for
from reordered import look_without_order, reordered
from searched import examples

UNEQUAL: Final = re.compile("nan|Alone", re.IGNORECASE)
"""What a look shows of a value that is not equal to its copy: a nan, or an object that is compared by identity."""


@settings(max_examples=examples(200))
@given(case=cases())
def test_every_value_comes_back_as_it_was(case: Case) -> None:
    """What is decoded is equal, of the same types and of the same look all the way down, and has the same bytes."""

    codec = case.codec
    for value in case.values:
        data = codec.encode(value)
        back = codec.decode(data)

        assert look(back) == look(value)
        assert UNEQUAL.search(repr(look(value))) or back == value
        assert codec.encode(value) == data == codec.encode(back)


@settings(max_examples=examples(120))
@given(case=cases(), random=st.randoms(use_true_random=False))
def test_equal_values_have_equal_canonical_bytes(case: Case, random: Random) -> None:
    """Dicts and sets that were made in another order, and values that were decoded, are written alike."""

    codec = case.codec
    for value in case.values:
        other = reordered(value, lambda each: random.sample(each, len(each)))
        canonical = codec.canonical(value)

        assert canonical == codec.canonical(other)
        assert canonical == codec.canonical(codec.decode(codec.encode(other)))
        assert look_without_order(codec.decode(canonical)) == look_without_order(value)
        assert codec.canonical(codec.decode(canonical)) == canonical


@settings(max_examples=examples(120))
@given(case=cases(least=2, most=4))
def test_values_that_differ_have_other_canonical_bytes(case: Case) -> None:
    """Canonical bytes are equal for values that look alike but for the order of dicts, and for no others."""

    codec = case.codec
    looks = {codec.canonical(value): repr(look_without_order(value)) for value in case.values}

    assert len(looks) == len({repr(look_without_order(value)) for value in case.values})
    assert all(looks[codec.canonical(value)] == repr(look_without_order(value)) for value in case.values)


@settings(max_examples=examples(200))
@given(mistake=mistakes())
def test_one_wrong_leaf_is_refused(mistake: tuple[Form, list[Bad]]) -> None:
    """A value with one thing in it that is not exactly of its type is refused, by the path to that thing."""

    form, values = mistake
    codec = codec_of(form)
    for bad in values:
        for encode in (codec.encode, codec.canonical):
            with pytest.raises(NotEncodable) as caught:
                encode(bad.value)

            path = caught.value.path
            dotted = path if path.startswith(("[", ".")) or not path else f".{path}"
            assert re.fullmatch(bad.path, dotted, re.DOTALL), (bad.path, path)


@settings(max_examples=examples(60))
@given(case=cases())
def test_a_codec_that_is_made_again_is_the_same(case: Case) -> None:
    """A type has one schema, whenever its codec is made, and the codecs read each other's bytes."""

    # What stands in the brackets has no hash, so this codec is not the one that was kept.
    again = codec_for(cast("TypeForm[object]", cast("dict[object, object]", Annotated)[case.form.annotation, []]))

    assert again is not case.codec
    assert again.schema == case.codec.schema
    for value in case.values:
        assert again.encode(value) == case.codec.encode(value)
        assert look(again.decode(case.codec.encode(value))) == look(value)


def test_bytes_are_the_same_in_every_process() -> None:
    """Processes with other hash seeds write the same bytes and give the same schemas, for forms of every kind."""

    children = [
        subprocess.Popen(
            [sys.executable, "-W", "error", codec_child.__file__],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in ("0", "1", "4294967295")
    ]
    outputs = [child.communicate(timeout=100) for child in children]

    assert ["", "", ""] == [errors for _, errors in outputs]
    assert codec_child.EXAMPLES <= len(outputs[0][0].splitlines())
    assert outputs[0] == outputs[1] == outputs[2]
