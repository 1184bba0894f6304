"""The identity of an effect."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from effectgraph.stores.limits import KEY_PART_BYTES


def check_key_part(what: str, part: str) -> None:
    """Refuse a name that cannot be an index entry or a line on a screen.

    Raises `TypeError` if `part` is not text, `ValueError` if it is empty, longer than `KEY_PART_BYTES` bytes of
    UTF-8, not encodable, or has control characters.
    """
    if type(part) is not str:
        raise TypeError(f"{what}: text is needed, not {type(part).__name__}")
    if part.isprintable() and part.isascii() and 0 < len(part) <= KEY_PART_BYTES:
        return
    if not part:
        raise ValueError(f"{what}: empty; give it a name")
    try:
        size_bytes = len(part.encode())
    except UnicodeEncodeError:
        raise ValueError(f"{what}: {part!r} has a lone surrogate; use text that UTF-8 can hold") from None
    if size_bytes > KEY_PART_BYTES:
        raise ValueError(f"{what}: {size_bytes} bytes; at most {KEY_PART_BYTES} are kept, so shorten or hash it")
    for letter in part:
        if ord(letter) < 32 or 127 <= ord(letter) < 160:
            raise ValueError(f"{what}: {part!r} has the control character {letter!r}; leave it out")


def check_distinct(what: str, names: Iterable[str]) -> None:
    """Refuse a record that names the same thing twice. Raises `ValueError`."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{what} {name!r} stands there twice; nothing was changed")
        seen.add(name)


@attrs.frozen(cache_hash=True)
class EffectKey:
    """The identity of one effect: which scope (a thread, or a name of your own), which task in it, which call in that.

    Each part is non-empty text of at most 512 bytes without control characters; `ValueError` otherwise.
    The same key means the same effect for ever, so a loop needs a new `call` each time round.
    """

    scope: str
    task: str
    call: str

    def __attrs_post_init__(self) -> None:
        check_key_part("effect key scope", self.scope)
        check_key_part("effect key task", self.task)
        check_key_part("effect key call", self.call)

    def __str__(self) -> str:
        return f"{self.scope} / {self.task} / {self.call}"
