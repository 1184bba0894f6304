"""What bounds a value, its bytes and its type: depth, size, digits."""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from types import GenericAlias
from typing import NamedTuple, cast

import attrs
import msgspec
import pytest
from typing_extensions import TypeForm

from effectgraph.effects.codec import NotDecodable, NotEncodable, UnsupportedType, codec_for
from effectgraph.effects.codec.limits import MAX_BYTES, MAX_DEPTH


class Colour(enum.Enum):
    """A member."""

    RED = 1


class Span(NamedTuple):
    """A tuple with names."""

    start: int


@attrs.frozen
class Part:
    """A class that refers to itself."""

    name: str
    parts: tuple[Part, ...] = ()


def nested(levels: int) -> Part:
    """A part with so many levels of parts in it."""
    part = Part("end")
    for _ in range(levels):
        part = Part("in", (part,))
    return part


def test_a_value_may_be_as_deep_as_the_limit() -> None:
    """A value of as many levels as are allowed, two for each part in a tuple in a part, comes back."""

    deepest = nested(MAX_DEPTH // 2)
    codec = codec_for(Part)

    assert codec.decode(codec.encode(deepest)) == deepest


def test_a_value_that_is_too_deep_is_refused() -> None:
    """One level more is an error that says so, both ways; the codec works as before afterwards."""

    codec = codec_for(Part)
    deep = nested(MAX_DEPTH // 2 + 1)
    data = b'{"name":"in","parts":[' * (MAX_DEPTH // 2 + 1) + b'{"name":"end"}' + b"]}" * (MAX_DEPTH // 2 + 1)

    with pytest.raises(NotEncodable, match="is nested more than 100 levels deep"):
        codec.encode(deep)
    with pytest.raises(NotDecodable, match="is nested more than 100 levels deep"):
        codec.decode(data)
    assert codec.decode(codec.encode(nested(2))) == nested(2)


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"name":"a","parts":['])
@pytest.mark.parametrize("form", [Part, list[int], dict[str, int], int])
def test_bytes_of_any_depth_are_refused(form: object, opening: bytes) -> None:
    """A hundred thousand open brackets give the error of any other bytes, however often they come."""

    codec = codec_for(cast("TypeForm[object]", form))
    for _ in range(3):
        with pytest.raises(NotDecodable):
            codec.decode(opening * 100_000)


def test_a_type_that_is_too_deep_is_refused() -> None:
    """A type of more levels than a value may have is refused when its codec is made."""

    form: object = int
    for _ in range(MAX_DEPTH + 1):
        form = GenericAlias(list, (form,))

    with pytest.raises(UnsupportedType, match="is nested more than 100 levels deep"):
        codec_for(cast("TypeForm[object]", form))


def at_the_end_of_the_stack(act: Callable[[], object]) -> object:
    """Call with next to no stack left."""
    try:
        return at_the_end_of_the_stack(act)
    except RecursionError:
        return act()


def test_a_stack_that_is_nearly_full_gives_the_same_errors() -> None:
    """Where the stack ends before the limit does, that is an error of the codec as well, and nothing else."""

    codec = codec_for(Part)
    part = nested(MAX_DEPTH // 2)
    data = codec.encode(part)
    seen: list[type[BaseException]] = []

    def act(call: Callable[[], object]) -> None:
        try:
            at_the_end_of_the_stack(call)
        except (NotEncodable, NotDecodable, RecursionError) as error:
            seen.append(type(error))

    act(lambda: codec.encode(part))
    act(lambda: codec.decode(data))

    assert seen == [NotEncodable, NotDecodable]
    assert codec.decode(data) == part


def test_bytes_beyond_the_limit_are_refused() -> None:
    """A value that takes too many bytes is not encoded, and too many bytes are not even looked at."""

    codec = codec_for(bytes)

    with pytest.raises(NotEncodable, match="takes 67108866 bytes; 67108864 are allowed"):
        codec.encode(bytes(MAX_BYTES // 4 * 3))
    with pytest.raises(NotDecodable, match="is 67108865 bytes long; 67108864 are allowed"):
        codec.decode(bytes(MAX_BYTES + 1))


def test_errors_are_short() -> None:
    """An error shows only the beginning of what came from outside."""

    long = "x" * 100_000
    errors: list[str] = []
    for form, data in [
        (Span, {"start": 1, long: 1}),
        (Decimal, long),
        (Part | Span, {long: 1}),
        (Colour, long),
        (dict[int, int], {long: 1}),
    ]:
        with pytest.raises(NotDecodable) as caught:
            codec_for(cast("TypeForm[object]", form)).decode(msgspec.json.encode(data))
        errors.append(str(caught.value))

    assert max(map(len, errors)) < 250


@pytest.mark.parametrize(
    ("allowed", "number", "why"),
    [(0, 10**4300, "has more than 4300 digits"), (640, 10**640, "JSON cannot hold it: Exceeds the limit")],
    ids=["lifted", "lowered"],
)
def test_an_integer_is_bounded_whatever_python_allows(allowed: int, number: int, why: str) -> None:
    """A program that changes Python's own limit on digits cannot write what could not be read, and gets our error."""

    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(allowed)
    try:
        with pytest.raises(NotEncodable, match=why):
            codec_for(int).encode(number)
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize(
    ("form", "data"),
    [
        (int, b"1" * 4301),
        (int, b"-" + b"1" * 4301),
        (list[int], b"[-" + b"1" * 4300 + b"," + b"1" * 4301 + b"]"),
        (list[int], b"[-" + b"1" * 4301 + b",-" + b"1" * 4300 + b"]"),
        (dict[int, int], b'{"' + b"1" * 4301 + b'":1}'),
        (dict[int, int], b'{"-' + b"1" * 4301 + b'":1}'),
        (dict[int | str, int], b'{"' + b"1" * 4301 + b'":1}'),
        (Fraction, b'"' + b"1" * 4301 + b'"'),
        (Fraction, b'"1/' + b"1" * 4301 + b'"'),
        (Fraction, b'"' + b"1" * 20_000_000 + b'"'),
        (Fraction, b'"1/' + b"1" * 20_000_000 + b'"'),
        (dict[int, int], b'{"' + b"1" * 20_000_000 + b'":1}'),
    ],
    ids=map(str, range(12)),
)
def test_digits_are_bounded_whatever_python_allows(form: object, data: bytes) -> None:
    """Where a program has lifted Python's own limit, no more digits are read than are written, and none are tried."""

    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        with pytest.raises(NotDecodable):
            codec_for(cast("TypeForm[object]", form)).decode(data)
    finally:
        sys.set_int_max_str_digits(before)
