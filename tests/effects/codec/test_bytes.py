"""Decoding is strict, bounded, and has one error for whatever the bytes are."""

from __future__ import annotations

import datetime as dt
import enum
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath
from types import GenericAlias
from typing import Literal, NamedTuple, NotRequired, TypedDict, TypeVar, cast
from uuid import UUID

import attrs
import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given, settings
from typing_extensions import TypeForm

from alike import look
from effectgraph.effects.codec import Codec, NotDecodable, NotEncodable, UnsupportedType, codec_for
from effectgraph.effects.codec.limits import MAX_BYTES, MAX_DEPTH

A = TypeVar("A")


class Colour(enum.Enum):
    """Two members."""

    RED = 1
    GREEN = 2


class Span(NamedTuple):
    """A tuple with names."""

    start: int
    end: int = 0


class Extra(TypedDict):
    """A typed dict."""

    must: float
    may: NotRequired[list[str]]


@attrs.frozen
class Part:
    """One member of a union, and of itself."""

    name: str
    parts: tuple[Part, ...] = ()


@attrs.frozen(kw_only=True)
class Everything:
    """A field of every kind."""

    nothing: None
    yes: bool
    number: int
    measure: float
    text: str
    raw: bytes
    price: Decimal
    id: UUID
    day: dt.date
    moment: dt.datetime
    clock: dt.time
    wait: dt.timedelta
    path: PurePosixPath
    colour: Colour
    mode: Literal["a", 1, False]
    span: Span
    extra: Extra
    numbers: list[int]
    pair: tuple[int, str]
    many: tuple[float, ...]
    texts: frozenset[str]
    sets: set[int]
    by_name: dict[str, int]
    by_number: dict[int, bool]
    by_flag: dict[bool, Colour]
    either: int | str | None
    tagged: Part | Span | None
    share: Fraction
    queue: deque[int]
    counts: Counter[str]
    ordered: OrderedDict[float, str]
    grouped: defaultdict[str, list[int]]
    by_either: dict[int | str | None, int]
    by_pair: dict[tuple[Colour, int | str], int]


ZONES = st.one_of(
    st.none(),
    st.just(dt.UTC),
    st.timezones(),
    st.builds(dt.timezone, st.timedeltas(dt.timedelta(hours=-23), dt.timedelta(hours=23))),
)
FLOATS = st.one_of(st.floats(), st.integers())
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SPANS = st.builds(Span, st.integers(), st.integers())
PARTS = st.recursive(
    st.builds(Part, TEXTS), lambda inner: st.builds(Part, TEXTS, st.lists(inner, max_size=2).map(tuple)), max_leaves=4
)
VALUES = st.builds(
    Everything,
    nothing=st.none(),
    yes=st.booleans(),
    number=st.integers(),
    measure=FLOATS,
    text=TEXTS,
    raw=st.binary(max_size=8),
    price=st.decimals(),
    id=st.uuids(),
    day=st.dates(),
    moment=st.datetimes(timezones=ZONES),
    clock=st.times(timezones=ZONES),
    wait=st.timedeltas(),
    path=TEXTS.filter(lambda text: "\0" not in text).map(PurePosixPath),
    colour=st.sampled_from(Colour),
    mode=st.sampled_from(["a", 1, False]),
    span=SPANS,
    extra=st.fixed_dictionaries({"must": FLOATS}, optional={"may": st.lists(TEXTS, max_size=2)}),
    numbers=st.lists(st.integers(), max_size=3),
    pair=st.tuples(st.integers(), TEXTS),
    many=st.lists(FLOATS, max_size=3).map(tuple),
    texts=st.frozensets(TEXTS, max_size=3),
    sets=st.sets(st.integers(), max_size=3),
    by_name=st.dictionaries(TEXTS, st.integers(), max_size=3),
    by_number=st.dictionaries(st.integers(), st.booleans(), max_size=3),
    by_flag=st.dictionaries(st.booleans(), st.sampled_from(Colour), max_size=2),
    either=st.one_of(st.integers(), TEXTS, st.none()),
    tagged=st.one_of(PARTS, SPANS, st.none()),
    share=st.fractions(),
    queue=st.builds(deque[int], st.lists(st.integers(), max_size=3), st.one_of(st.none(), st.integers(0, 4))),
    counts=st.dictionaries(TEXTS, st.integers(), max_size=3).map(Counter[str]),
    ordered=st.dictionaries(st.floats(allow_nan=False), TEXTS, max_size=3).map(OrderedDict[float, str]),
    grouped=st.builds(
        defaultdict[str, list[int]],
        st.sampled_from([list, list[int], None]),
        st.dictionaries(TEXTS, st.lists(st.integers(), max_size=2), max_size=2),
    ),
    by_either=st.dictionaries(st.one_of(st.integers(), TEXTS, st.none()), st.integers(), max_size=3),
    by_pair=st.dictionaries(
        st.tuples(st.sampled_from(Colour), st.one_of(st.integers(), TEXTS)), st.integers(), max_size=3
    ),
)

HOSTILE = st.sampled_from(
    [
        b"null",
        b"-0",
        b"1e400",
        b"1.5",
        b'"\\ud800"',
        b'"\\udcff\\u0000"',
        b"[",
        b"]",
        b"{",
        b"}",
        b",",
        b":",
        b'"',
        b"\xff",
    ]
)
JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from(["", "RED", "a", "nan", "float", "Part", "2026-03-07T09:00:00[UTC]", "P1DT1S", "1E+3", "../x"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["a", "1", "true", "float", "name"]), inner)
    ),
    max_leaves=6,
)
CODEC = codec_for(Everything)


def refused(codec: Codec[A], data: bytes) -> bool:
    """Whether bytes are refused as they should be; what is not refused has to come back the same once encoded."""
    try:
        value = codec.decode(data)
    except NotDecodable:
        return True
    assert look(codec.decode(codec.encode(value))) == look(value)
    return False


@settings(max_examples=200)
@given(value=VALUES)
def test_any_value_comes_back_as_it_was(value: Everything) -> None:
    """Whatever the fields hold, the object comes back equal, of the same types and the same look."""

    data = CODEC.encode(value)

    assert look(CODEC.decode(data)) == look(value)
    assert CODEC.canonical(CODEC.decode(CODEC.canonical(value))) == CODEC.canonical(value)


@settings(max_examples=200)
@given(value=VALUES, data=st.data())
def test_damaged_bytes_are_refused_or_read_as_they_stand(value: Everything, data: st.DataObject) -> None:
    """Bytes that were cut, changed or added to give `NotDecodable` or an honest value, and no other error."""

    whole = CODEC.encode(value)
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(start + 8, len(whole))))
    patch = data.draw(st.one_of(st.just(b""), st.binary(max_size=4), HOSTILE))

    assert refused(CODEC, whole[:start]) or start == len(whole)
    refused(CODEC, whole[:start] + patch + whole[end:])


@settings(max_examples=200)
@given(value=VALUES, field=st.sampled_from([each.name for each in attrs.fields(Everything)]), wrong=JSON)
def test_a_field_of_another_form_is_refused_or_read_as_it_stands(value: Everything, field: str, wrong: object) -> None:
    """Any JSON in the place of a field gives `NotDecodable` with a path into that field, or an honest value."""

    tree = msgspec.json.decode(CODEC.encode(value), type=dict[str, object])
    tree[field] = wrong

    path = field
    try:
        CODEC.decode(msgspec.json.encode(tree))
    except NotDecodable as error:
        path = error.path

    assert path == field or path.startswith((f"{field}.", f"{field}["))


@settings(max_examples=300)
@given(data=st.one_of(st.binary(max_size=32), JSON.map(msgspec.json.encode)))
def test_any_bytes_are_refused_or_read_as_they_stand(data: bytes) -> None:
    """Bytes from anywhere give `NotDecodable` or an honest value."""

    for form in FORMS:
        refused(codec_for(cast("TypeForm[object]", form)), data)


FORMS: list[object] = [
    *(str | int, dict[int, float], dict[bool, list[int]], set[Decimal], frozenset[tuple[int, ...]], bytes, UUID),
    *(Decimal, dt.date, dt.datetime, dt.time, dt.timedelta, PurePosixPath, Colour, Literal["a", 1], Span, Extra),
    *(Part, Part | Span | None, str | bytes, tuple[float, str], dict[Decimal, int], Fraction, deque[int]),
    *(Counter[str], OrderedDict[float, int], defaultdict[str, int], dict[int | str | None, int], dict[float, int]),
    *(dict[tuple[int, ...], int], OrderedDict[tuple[Colour, int | str], list[int]]),
]
"""Types that damaged bytes may be taken for."""


@pytest.mark.parametrize(
    ("form", "data", "path", "why"),
    [
        (int, b"", "", "no JSON"),
        (int, b"1 1", "", "no JSON"),
        (int, b"NaN", "", "no JSON"),
        (int, b"\xef\xbb\xbf1", "", "no JSON"),
        (int, b"01", "", "no JSON"),
        (int, b"1" * 4301, "", "no JSON"),
        (float, b"1e400", "", "no JSON"),
        (float, b"-1e400", "", "no JSON"),
        (str, b'"\xff"', "", "no JSON"),
        (str, b'"\\ud800"', "", "no JSON"),
        (str, b'"\\udc00x"', "", "no JSON"),
        (int, b"1.0", "", "expected int, found a number with a fraction"),
        (int, b"true", "", "expected int, found true or false"),
        (int, b'"5"', "", "expected int, found a text"),
        (bool, b"1", "", "expected bool, found an integer"),
        (None, b"false", "", "expected None, found true or false"),
        (float, b'"1"', "", "expected float, found a text"),
        (float, b'{"float":"NaN"}', "", "expected float, found an object"),
        (float, b'{"float":1}', "", "expected float"),
        (float, b'{"float":"nan","x":1}', "", "expected float"),
        (bytes, b'"QQ"', "", "expected base64"),
        (bytes, b'"QR=="', "", "bits are left over"),
        (bytes, b'"Q Q="', "", "expected base64"),
        (Decimal, b'"1_0"', "", 'expected Decimal, found the text "1_0"'),
        (Decimal, b'" 1"', "", "expected Decimal"),
        (Decimal, b'"1e1"', "", "expected Decimal"),
        (Decimal, b"1.0", "", "expected Decimal, found a number"),
        (Fraction, b'"2/6"', "", "expected Fraction, found the text"),
        (Fraction, b'"1/1"', "", "expected Fraction"),
        (Fraction, b'"0.5"', "", "expected Fraction"),
        (Fraction, b'"1/0"', "", "expected Fraction"),
        (Fraction, b'"-0"', "", "expected Fraction"),
        (Fraction, b'" 1/3"', "", "expected Fraction"),
        (Fraction, b'"1_0/3"', "", "expected Fraction"),
        (Fraction, b'"1/-3"', "", "expected Fraction"),
        (Fraction, b'"1e999999999"', "", "expected Fraction"),
        (Fraction, b'"%s"' % (b"1" * 4301), "", "expected Fraction"),
        (Fraction, b"1", "", "expected Fraction, found an integer"),
        (int, b"-" + b"1" * 4301, "", "no JSON"),
        (list[int], b"[-" + b"1" * 4300 + b",1e400]", "", "no JSON"),
        (list[int], b"[-" + b"1" * 4300 + b",NaN]", "", "no JSON"),
        (list[int], b"[-" + b"1" * 4300 + b",-Infinity]", "", "no JSON"),
        (list[int], b"[-" + b"1" * 4300 + b"," + b"1" * 4301 + b"]", "", "no JSON"),
        (list[int], b"[-" + b"1" * 4300 + b",]", "", "no JSON"),
        (list[int], b"[-" + b"1" * 4300 + b",01]", "", "no JSON"),
        (list[int | str], b"[-" + b"1" * 4300 + b',"\\ud800"]', "", "no JSON"),
        (list[int | str], b"[-" + b"1" * 4300 + b',"\xff"]', "", "no JSON"),
        (list[int | str], b"[-" + b"1" * 4300 + b',"\n"]', "", "no JSON"),
        (list[int | str], b'["-' + b"1" * 4300 + b'",1e400]', "", "no JSON"),
        (dict[str, int], b'{"a":-' + b"1" * 4300 + b',"a":1}', "", 'the key "a" stands twice'),
        (dict[str, int], b'{"\\ud800":-' + b"1" * 4300 + b"}", "", "no JSON"),
        (list[int], b"[-" + b"1" * 4300 + b"," + b"[" * 100_000, "", "nested too deeply"),
        (UUID, b'"{12345678123456781234567812345678}"', "", "expected UUID"),
        (dt.date, b'"20260307"', "", "expected date"),
        (dt.datetime, b'"2026-03-07"', "", "expected datetime"),
        (dt.datetime, b'"2026-03-07T09:00:00Z"', "", "expected datetime"),
        (dt.datetime, b'"2026-03-07T09:00:00[Nowhere/Nowhere]"', "", "expected datetime"),
        (dt.datetime, b'"2026-03-07T09:00:00[../UTC]"', "", "expected datetime"),
        (dt.datetime, b'"2026-03-07T09:00:00[America]"', "", "expected datetime"),
        (dt.datetime, b'"2026-03-07T09:00:00[\\u0000]"', "", "expected datetime"),
        (dt.datetime, b'"2026-03-07T09:00:00[]"', "", "expected datetime"),
        (dt.datetime, b'"2026-03-07T09:00:00+01:00[UTC]"', "", "expected datetime"),
        (dt.time, b'"25:00:00"', "", "expected time"),
        (dt.timedelta, b'"P1DT86400S"', "", "expected timedelta"),
        (dt.timedelta, b'"-P999999999DT1S"', "", "expected timedelta"),
        (PurePosixPath, b'"a//b"', "", "expected PurePosixPath"),
        (Colour, b'"BLUE"', "", 'Colour has no member "BLUE"'),
        (Colour, b"1", "", "expected Colour, found an integer"),
        (Literal["a", 1], b"true", "", "expected Literal"),
        (Literal["a", 1], b"[]", "", "found an array"),
        (list[int], b'{"0":1}', "", "found an object"),
        (list[int], b"[1,null]", "[1]", "found null"),
        (tuple[int, str], b"[1]", "", "expected 2 items, found 1"),
        (set[int], b"[1,1]", "", "two elements are equal"),
        (set[Decimal], b'["1","1.0"]', "", "two elements are equal"),
        (set[Decimal], b'["sNaN"]', "", "cannot stand in a set"),
        (dict[int, int], b'{"01":1}', '[key "01"]', "expected an integer as key"),
        (dict[int, int], b'{"1.0":1}', '[key "1.0"]', "expected an integer as key"),
        (dict[bool, int], b'{"True":1}', '[key "True"]', "expected the JSON of bool as key"),
        (dict[Decimal, int], b'{"1":1,"1.0":2}', "", "two keys are equal"),
        (dict[Decimal, int], b'{"sNaN":1}', '[key "sNaN"]', "can be no key"),
        (dict[str, int], b'{"a":1,"a":2}', "", 'the key "a" stands twice'),
        (dict[str, int], b'{"a":1, "\\u0061":1}', "", 'the key "a" stands twice'),
        (list[Span], b'[{"start":1},{"start":1,"end":2,"start":1}]', "[1]", 'the key "start" stands twice'),
        (Part | Span, b'{"Part":{"name":"a","name":"a"}}', "", 'the key "name" stands twice'),
        (Extra, b'{"must":1,"must":1}', "", 'the key "must" stands twice'),
        (list[int | dict[str, int]], b'[{"a":1,"a":1}]', "[0]", 'the key "a" stands twice'),
        (Span, b'{"end":1}', "start", "is missing"),
        (Span, b'{"start":1,"x":1}', "x", "is no field of Span"),
        (dict[str, dict[str, int]], b'{"a b":{"c":null}}', '["a b"].c', "expected int, found null"),
    ],
)
def test_bytes_of_another_form_are_refused(form: object, data: bytes, path: str, why: str) -> None:
    """Nothing is converted, skipped or overlooked: each is an error that says where and what."""

    with pytest.raises(NotDecodable) as caught:
        codec_for(cast("TypeForm[object]", form)).decode(data)

    assert caught.value.path == path
    assert why in caught.value.why


def test_json_written_by_hand_is_read() -> None:
    """Spaces, escapes and another order of keys change nothing."""

    assert codec_for(Span).decode(b' { "end" : 2, "\\u0073tart" : 1 } ') == Span(1, 2)


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
