"""Bytes that nobody wrote: cut, changed, nested, and JSON with something else in one place of it."""

from __future__ import annotations

import json
from typing import Final, cast

import attrs
import hypothesis.strategies as st
from hypothesis.strategies import SearchStrategy

from codec_leaves import GREATEST

DEEP: Final = 100_000

NUMBERS: Final = [
    *(b"0", b"-0", b"1", b"-1", b"1.0", b"-0.0", b"1E5", b"1e-400", b"1e400", b"-1e400", b"0.1", b"1e22", b"1e16"),
    *(b"18446744073709551616", b"1" * 5000, b"-%d" % GREATEST, b"%d0" % GREATEST, b"1." + b"1" * 5000, b"1e5000"),
    *(
        b"01",
        b"+1",
        b".5",
        b"1.",
        b"0x1",
        b"1_0",
        b"--1",
        b"-",
        b"NaN",
        b"Infinity",
        b"-Infinity",
        b"nan",
        b"1e",
        b"1f",
    ),
]
STRINGS: Final = [
    *(
        b'""',
        b'"a"',
        b'"A"',
        b'"5"',
        b'"null"',
        b'"nan"',
        b'"1/3"',
        b'"1/0"',
        b'"1E+3"',
        b'"sNaN"',
        b'"NaN"',
        b'"YQ=="',
    ),
    *(b'"2026-03-07"', b'"2026-03-07T09:00:00"', b'"2026-03-07T09:00:00[UTC]"', b'"09:00:00+01:00"', b'"P1DT1S"'),
    *(b'"2026-03-07T09:00:00[fold=1][name=x]"', b'"24:00:00"', b'"../x"', b'"a//b"', b'"READ|RED"', b'"|"', b'"list"'),
    *(
        b'"\\ud800"',
        b'"\\udc00\\ud800"',
        b'"\\ud83d\\ude00"',
        b'"\\u0000"',
        b'"\\u0041"',
        b'"\\x41"',
        b'"\\u00zz"',
        b'"\\',
    ),
    *(
        b'"\xed\xa0\x80"',
        b'"\xff"',
        b'"\xc0\x80"',
        b'"\xf4\x90\x80\x80"',
        b'"\xc3"',
        b'"\x00"',
        b'"\n"',
        b'"\x7f"',
        b"'a'",
    ),
    *(
        b'"12345678-1234-5678-1234-567812345678"',
        b'"%s"' % (b"9" * 5000),
        b'"1%s"' % (b"0" * 5000),
        b'"[1,2]"',
        b'"{}"',
    ),
]
STRUCTURES: Final = [
    *(b"null", b"true", b"false", b"None", b"True", b"undefined", b"", b" ", b"\t\r\n", b"\x0b", b"\x00", b"\xa0"),
    *(b"[]", b"[[]]", b"[[],[]]", b"[1,2]", b"[2,1]", b'["a",1]', b"[1,1]", b"[null]", b"{}", b'{"a":1}', b'{"":null}'),
    *(
        b'{"float":"nan"}',
        b'{"float":"inf"}',
        b'{"float":"NAN"}',
        b'{"a":1,"a":1}',
        b'{"a":1,"\\u0061":2}',
        b'{"x":{}}',
    ),
    *(b'{"maxlen":1,"items":[]}', b'{"maxlen":-1,"items":[]}', b'{"factory":"int","items":{}}', b'{"factory":"eval"}'),
    *(
        b"[1,]",
        b"[,1]",
        b"[1 2]",
        b'{"a":1,}',
        b"{a:1}",
        b"{1:1}",
        b'{"a" 1}',
        b'{"a":}',
        b"/**/1",
        b"1//",
        b"#1",
        b"1;",
    ),
    *(b"[" * DEEP, b'{"a":' * DEEP, b'[{"a":' * DEEP, b"[" * DEEP + b"]" * DEEP, b"[" * 200 + b"]" * 200),
    *(b"]", b"}", b"[", b"{", b",", b":", b'"', b"\\", b"\xef\xbb\xbf1", b"\xff\xfe1\x00", b"\xfe\xff\x001", b"\xfe"),
]
FRAGMENTS: Final = st.one_of(
    st.sampled_from(NUMBERS), st.sampled_from(STRINGS), st.sampled_from(STRUCTURES), st.binary(max_size=4)
)
"""Bytes to stand where others should."""

HOLE: Final = "\x00hole\x00"
_HOLE: Final = json.dumps(HOLE).encode()


@attrs.frozen
class Place:
    """A place in a JSON document: the keys and indexes that lead there."""

    steps: tuple[str | int, ...] = ()


def places(tree: object, steps: tuple[str | int, ...] = ()) -> list[Place]:
    """Every place in a document, the whole first."""
    found = [Place(steps)]
    if isinstance(tree, dict):
        for key, each in cast("dict[str, object]", tree).items():
            found += places(each, (*steps, key))
    elif isinstance(tree, list):
        for index, each in enumerate(cast("list[object]", tree)):
            found += places(each, (*steps, index))
    return found


def at(tree: object, place: Place) -> object:
    """What stands in a place."""
    for step in place.steps:
        tree = cast("dict[str | int, object]", tree)[step]
    return tree


def put(tree: object, place: Place, inner: object) -> object:
    """A document with something else in one place."""
    if not place.steps:
        return inner
    step, rest = place.steps[0], Place(place.steps[1:])
    if isinstance(tree, dict):
        pairs = cast("dict[str | int, object]", tree)
        return {**pairs, step: put(pairs[step], rest, inner)}
    row = [*cast("list[object]", tree)]
    row[cast("int", step)] = put(row[cast("int", step)], rest, inner)
    return row


def filled(tree: object, fragment: bytes) -> bytes:
    """The bytes of a document with this fragment in its holes."""
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode().replace(_HOLE, fragment)


@st.composite
def _replaced(draw: st.DrawFn, tree: object) -> bytes:
    """Something else in one place."""
    return filled(put(tree, draw(st.sampled_from(places(tree))), HOLE), draw(FRAGMENTS))


@st.composite
def _moved(draw: st.DrawFn, tree: object) -> bytes:
    """What stands in one place also stands in another."""
    one, other = (draw(st.sampled_from(places(tree))) for _ in range(2))
    return filled(put(tree, one, at(tree, other)), b"")


@st.composite
def _changed_object(draw: st.DrawFn, tree: object) -> bytes:
    """An object or array with something more, less, twice, or under another key."""
    inside = [place for place in places(tree) if isinstance(at(tree, place), dict | list)]
    place = draw(st.sampled_from(inside or [Place()]))
    found = at(tree, place)
    if not isinstance(found, dict):
        row = [*cast("list[object]", found)] if isinstance(found, list) else []
        index = draw(st.integers(0, len(row)))
        row[index : index + draw(st.integers(0, 1))] = draw(st.sampled_from([[], [HOLE], row[index - 1 : index]]))
        return filled(put(tree, place, row), draw(FRAGMENTS))
    pairs = [*cast("dict[str, object]", found).items()]
    index = draw(st.integers(0, max(len(pairs) - 1, 0)))
    key = pairs[index][0] if pairs else "a"
    match draw(st.integers(0, 4)):
        case 0:
            return filled(put(tree, place, {**dict(pairs), HOLE: None}), json.dumps(key).encode())
        case 1:
            return filled(put(tree, place, dict([*pairs[:index], (HOLE, 1), *pairs[index:]])), draw(FRAGMENTS))
        case 2:
            return filled(put(tree, place, dict([*pairs[:index], *pairs[index + 1 :]])), b"")
        case 3:
            renamed = [(HOLE if each == key else each, value) for each, value in pairs]
            return filled(put(tree, place, dict(renamed)), draw(FRAGMENTS))
        case _:
            return filled(put(tree, place, dict(reversed(pairs))), b"")


@st.composite
def _spliced(draw: st.DrawFn, data: bytes) -> bytes:
    """A piece of the bytes replaced, left out, or there twice."""
    start = draw(st.integers(0, len(data)))
    end = draw(st.integers(start, min(start + draw(st.sampled_from([0, 1, 8, 100])), len(data))))
    piece = draw(st.one_of(FRAGMENTS, st.just(data[start:end] * 2), st.just(b"")))
    return data[:start] + piece + data[end:]


@st.composite
def _flipped(draw: st.DrawFn, data: bytes) -> bytes:
    """Some bits the other way round."""
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        changed[draw(st.integers(0, len(data) - 1))] ^= 1 << draw(st.integers(0, 7))
    return bytes(changed)


def _in_other_words(data: bytes) -> SearchStrategy[bytes]:
    """The same text in another encoding, with marks, blanks and more around it, or twice."""
    text = data.decode()
    others = [text.encode("utf-16"), text.encode("utf-16-be"), text.encode("utf-32"), b"\xef\xbb\xbf" + data]
    around = [b" \n" + data + b"\t ", data + data, data + b",", data + b"\x00", b"[" + data + b"]", b"{" + data + b"}"]
    return st.sampled_from([*others, *around, b'{"a":' + data + b"}", json.dumps(text).encode(), b"[" * DEEP + data])


def hostile(data: bytes) -> SearchStrategy[bytes]:
    """Bytes that something was done to."""
    tree: object = json.loads(data)
    return st.one_of(
        _replaced(tree),
        _changed_object(tree),
        _moved(tree),
        _spliced(data),
        _flipped(data),
        _in_other_words(data),
    )
