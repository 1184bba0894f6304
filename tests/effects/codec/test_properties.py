"""What holds for every form and every value: nothing is lost, nothing is let through, equal values have equal bytes."""

from __future__ import annotations

from hypothesis import given, settings

from alike import look
from codec_forms import Case, cases
from more_rounds import rounds


@settings(max_examples=rounds(150))
@given(case=cases())
def test_every_value_comes_back_as_it_was(case: Case) -> None:
    """What is decoded is equal, of the same types and of the same look all the way down, and has the same bytes."""

    codec = case.codec
    for value in case.values:
        data = codec.encode(value)
        back = codec.decode(data)

        assert look(back) == look(value)
        assert back == value or "nan" in repr(look(value)).lower() or "object at 0x" in repr(value)
        assert codec.encode(value) == data == codec.encode(back)
