"""What a codec refuses: a type, a value, bytes."""

from __future__ import annotations

import attrs

from effectgraph.errors import GraphError


class CodecError(GraphError):
    """Anything a codec refuses."""


@attrs.define(slots=False, eq=False)
class UnsupportedType(CodecError, TypeError):
    """No codec can carry a type faithfully, and the type itself shows it. `path` leads to `type` inside the whole."""

    path: str
    type: str
    why: str

    def __str__(self) -> str:
        where = f" at {self.path}" if self.path else ""
        return f"no codec can carry {self.type}{where}: {self.why}"


@attrs.define(slots=False, eq=False)
class NotEncodable(CodecError, ValueError):
    """A value is not what its codec carries. Nothing was encoded. `type` is what was declared at `path`."""

    path: str
    type: str
    why: str

    def __str__(self) -> str:
        return f"{self.path or 'the value'} cannot be encoded as {self.type}: {self.why}"


@attrs.define(slots=False, eq=False)
class NotDecodable(CodecError, ValueError):
    """Bytes do not hold a value that the codec carries. `path` leads to what is wrong; empty for the whole."""

    path: str
    why: str

    def __str__(self) -> str:
        return f"{self.path or 'the value'} cannot be decoded: {self.why}"
