"""Bytes that a search found to be read as a value that could not be written again, or worse."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from decimal import Decimal
from typing import Final, cast

import attrs
import pytest
from typing_extensions import TypeForm

from codec_classes import Alone
from codec_honest import refused
from effectgraph.effects.codec import NotDecodable, codec_for


@attrs.define(eq=False)
class Lonely:
    """Objects that are equal to nothing but themselves, though their JSON may differ and still mean the same."""

    numbers: frozenset[int]
    size: int = 0


ALIKE: Final[list[tuple[object, bytes]]] = [
    (set[Alone], b'[{"x":1},{"x":1}]'),
    (set[Lonely], b'[{"numbers":[1,2]},{"numbers":[2,1]}]'),
    (frozenset[Lonely], b'[{"numbers":[]},{"numbers":[],"size":0}]'),
    (set[Decimal], b'["NaN","NaN"]'),
    (set[frozenset[Decimal]], b'[["1","NaN"],["NaN","1"]]'),
    (frozenset[tuple[frozenset[Decimal], int]], b'[[["1","NaN"],5],[["NaN","1"],5]]'),
    (dict[frozenset[Decimal], int], b'{"[\\"1\\",\\"NaN\\"]":1,"[\\"NaN\\",\\"1\\"]":2}'),
    (Counter[frozenset[Decimal]], b'{"[\\"1\\",\\"NaN\\"]":1,"[\\"NaN\\",\\"1\\"]":1}'),
    (
        defaultdict[tuple[frozenset[Decimal]], int],
        b'{"factory":null,"items":{"[[\\"1\\",\\"NaN\\"]]":1,"[[\\"NaN\\",\\"1\\"]]":1}}',
    ),
    (OrderedDict[Decimal, int], b'[["NaN",1],["NaN",2]]'),
    (OrderedDict[frozenset[Decimal], int], b'[[["1","NaN"],1],[["NaN","1"],2]]'),
]
"""Forms, and bytes with two elements or keys that are not equal, as they are no numbers, but would be written alike."""


@pytest.mark.parametrize(("form", "data"), ALIKE, ids=map(str, range(len(ALIKE))))
def test_two_that_would_be_written_alike_are_refused(form: object, data: bytes) -> None:
    """What cannot be written cannot be read either, though Python takes it for two different elements or keys."""

    with pytest.raises(NotDecodable, match="written alike"):
        codec_for(cast("TypeForm[object]", form)).decode(data)


def test_one_of_them_alone_is_read() -> None:
    """Nothing is wrong with an element or key of that kind itself, however its own elements are ordered."""

    for form, data in (
        (set[Lonely], b'[{"numbers":[2,1]},{"numbers":[1]}]'),
        (set[frozenset[Decimal]], b'[["1","NaN"],["NaN","2"]]'),
        (dict[frozenset[Decimal], int], b'{"[\\"NaN\\",\\"1\\"]":2,"[]":1}'),
        (OrderedDict[frozenset[Decimal], int], b'[[["NaN","1"],2],[[],1]]'),
    ):
        assert not refused(codec_for(cast("TypeForm[object]", form)), data)
