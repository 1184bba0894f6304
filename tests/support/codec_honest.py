"""What has to hold for any bytes: they are refused with one error, or read as what they say."""

from __future__ import annotations

import json
from typing import TypeVar

from alike import look
from effectgraph.effects.codec import Codec, NotDecodable
from reordered import look_without_order

A = TypeVar("A")


def refused(codec: Codec[A], data: bytes, *, exact: bool = False) -> bool:
    """Whether bytes are refused. What is read of any others can be written, and is the same when it is read again.

    With `exact` it is written as what the bytes say, but for the order of keys.
    """
    try:
        value = codec.decode(data)
    except NotDecodable as error:
        return str(error) != ""
    again = codec.encode(value)
    assert look(codec.decode(again)) == look(value), data
    assert codec.encode(codec.decode(again)) == again, data
    assert codec.canonical(codec.decode(again)) == codec.canonical(value), data
    assert not exact or look_without_order(json.loads(again)) == look_without_order(json.loads(data)), data
    return False
