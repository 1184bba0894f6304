"""Digests of file contents."""

from __future__ import annotations

import os
from typing import Final

import xxhash

ABSENT: Final = "absent"
"""The digest of a file that is not there. An empty file has the digest of no bytes."""

CHUNK_BYTES: Final = 1024 * 1024
"""Read at once while a file is digested: large enough to be fast, small enough for any machine."""


def digest_of(content: bytes | None) -> str:
    """The digest of a content in memory, or `ABSENT` for None."""
    if content is None:
        return ABSENT
    return _named(xxhash.xxh3_128_hexdigest(memoryview(content)))


def digest_of_fd(fd: int) -> str:
    """The digest of an open file from its first byte on, read in pieces of `CHUNK_BYTES`."""
    state = xxhash.xxh3_128()
    offset = 0
    while chunk := os.pread(fd, CHUNK_BYTES, offset):
        state.update(chunk)
        offset += len(chunk)
    return _named(state.hexdigest())


def _named(hexdigest: str) -> str:
    return f"xxh3:{hexdigest}"
