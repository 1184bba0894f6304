"""Codecs: typed values to JSON bytes and back, exactly or not at all."""

from effectgraph.effects.codec.codec import Codec, codec_for
from effectgraph.effects.codec.errors import (
    BadMigration,
    CodecError,
    NotDecodable,
    NotEncodable,
    OtherSchema,
    UnsupportedType,
)
from effectgraph.effects.codec.migrations import Migrate, Migrating, Migration
from effectgraph.effects.codec.shapes import Json

__all__ = [
    "BadMigration",
    "Codec",
    "CodecError",
    "Json",
    "Migrate",
    "Migrating",
    "Migration",
    "NotDecodable",
    "NotEncodable",
    "OtherSchema",
    "UnsupportedType",
    "codec_for",
]
