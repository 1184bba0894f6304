"""Bytes that nobody wrote: each is refused with one error, or read as what it says, for every form."""

from __future__ import annotations

import contextlib
import json
import re
import tracemalloc
from typing import Final, cast

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from typing_extensions import TypeAliasType, TypeForm

from codec_form import ANY_KEY
from codec_forms import Case, cases
from codec_honest import refused
from codec_hostile import HOLE, Place, filled, hostile, places, put
from effectgraph.effects.codec import Codec, NotDecodable, codec_for
from effectgraph.effects.codec.limits import MAX_BYTES
from searched import examples


@settings(max_examples=examples(150))
@given(case=cases(), data=st.data())
def test_damaged_bytes_are_refused_or_read_as_they_stand(case: Case, data: st.DataObject) -> None:
    """Bytes that were cut, changed, nested, filled with anything: `NotDecodable`, or an honest value."""

    damaged = data.draw(st.lists(hostile(case.codec.encode(case.values[0])), min_size=1, max_size=4))

    for each in damaged:
        refused(case.codec, each, exact=case.form.exact)


@settings(max_examples=examples(80))
@given(case=cases())
def test_bytes_that_were_cut_are_refused(case: Case) -> None:
    """No beginning of what was written is read as something else, unless it is a shorter number."""

    whole = case.codec.encode(case.values[0])
    cuts = range(len(whole)) if len(whole) < 100 else range(0, len(whole), len(whole) // 50)
    is_number = not whole.startswith((b"[", b"{", b'"'))

    for cut in cuts:
        assert refused(case.codec, whole[:cut]) or is_number
        refused(case.codec, whole[cut + 1 :])


@settings(max_examples=examples(80))
@given(case=cases(), data=st.data())
def test_what_is_wrong_is_found_by_its_path(case: Case, data: st.DataObject) -> None:
    """An object with a key twice is refused wherever it stands, by the path to it, and what can be said says so."""

    tree: object = json.loads(case.codec.encode(case.values[0]))
    place = data.draw(st.sampled_from(places(tree)))

    with pytest.raises(NotDecodable) as caught:
        case.codec.decode(filled(put(tree, place, HOLE), b'{"\\u0001":1,"\\u0001":1}'))

    if case.form.nests and (not place.steps or place.steps[-1] != "float"):
        path = caught.value.path
        dotted = path if path.startswith(("[", ".")) or not path else f".{path}"
        assert re.fullmatch(pattern(place), dotted, re.DOTALL), (place, path)
        assert 'the key "\\u0001" stands twice in one object' == caught.value.why


def pattern(place: Place) -> str:
    """The pattern of the path to a place."""
    return "".join(rf"\[{step}\]" if isinstance(step, int) else ANY_KEY for step in place.steps)


Json = TypeAliasType("Json", "None | bool | int | float | str | list[Json] | dict[str, Json]")

FORMS: Final[list[object]] = [int, str, Json, list[list[list[int]]], list[dict[str, int]], dict[tuple[int, ...], int]]
SIZE: Final = 64 * 1024
MOST_TIMES: Final = 64
"""Bytes of memory for one of JSON: a list takes 56 and its place in another one 8, and of its JSON there are three."""


def of_size(head: bytes, unit: bytes, tail: bytes) -> bytes:
    """Bytes of about this size, made of one unit."""
    return head + unit * ((SIZE - len(head) - len(tail)) // len(unit)) + tail


LARGE: Final[list[bytes]] = [
    *(
        of_size(b"[[]", b"," + unit, b"]")
        for unit in (b"[]", b"{}", b"[[]]", b'{"a":1}', b'{"a":1,"a":1}', b"1.5", b" 1")
    ),
    *(of_size(b"[1", b"," + unit, b"]") for unit in (b'"ab"', b"9" * 4300, b"-" + b"9" * 4300, b"9" * 4301)),
    *(of_size(b'"', unit, b'"') for unit in (b"a", b"\\u0061", "\U0001f600".encode(), b"\xc3\xa9")),
    *(of_size(b"", unit, b"") for unit in (b"[", b'{"a":', b" ", b"\x00", b"-", b"9", b'"')),
    b"{" + b",".join(b'"%x":1' % number for number in range(SIZE // 12)) + b"}",
    b"{" + b",".join(b'"[%d]":1' % number for number in range(SIZE // 12)) + b"}",
]
"""Bytes that take much memory for their size, or ask for it."""


def peak_of(codec: Codec[object], data: bytes) -> int:
    """The most memory that decoding took at one time, in bytes."""
    tracemalloc.start()
    try:
        with contextlib.suppress(NotDecodable):
            codec.decode(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("form", FORMS, ids=map(str, range(len(FORMS))))
def test_memory_is_a_bounded_multiple_of_the_bytes(form: object) -> None:
    """Whatever the bytes are, reading takes no more than Python's own objects for the shortest JSON that makes them."""

    codec = codec_for(cast("TypeForm[object]", form))

    assert {} == {data[:20]: peak for data in LARGE if (peak := peak_of(codec, data)) > MOST_TIMES * SIZE}


def test_bytes_beyond_the_limit_are_not_read() -> None:
    """Bytes that are too many are refused before anything is made of them; as many as are allowed are looked at."""

    codec = codec_for(cast("TypeForm[object]", int))
    most = b'"' + b"a" * (MAX_BYTES - 2) + b'"'

    assert peak_of(codec, most) < 4 * MAX_BYTES
    assert peak_of(codec, most + b" ") < 100_000
