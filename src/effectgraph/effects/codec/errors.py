"""What a codec refuses: a type, a value, bytes."""

from __future__ import annotations

import attrs

from effectgraph.effects.codec.limits import MAX_SHOWN
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


@attrs.define(slots=False, eq=False)
class OtherSchema(NotDecodable):
    """Bytes that another version of the type wrote, for which there is no migration. They were not looked into."""

    type: str
    written_by: str
    reads: str

    def __str__(self) -> str:
        old = repr(self.written_by[:MAX_SHOWN])
        return (
            f"{self.path or 'the value'} cannot be decoded: schema {old} wrote it, and that of {self.type} is "
            f"{self.reads!r}; bring back the type that wrote it, or hand in a migration: "
            f"codec.migrating({{{old}: Migration(to={self.reads!r}, by=...)}})"
        )


@attrs.define(slots=False, eq=False)
class BadMigration(CodecError, ValueError):
    """A migration that does not lead to its codec's schema. `schema` is the one that it takes."""

    type: str
    schema: str
    why: str

    def __str__(self) -> str:
        return f"{self.type} cannot be migrated from schema {self.schema[:MAX_SHOWN]!r}: {self.why}"
