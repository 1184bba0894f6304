"""Codecs: typed values to JSON bytes and back, exactly or not at all."""

from effectgraph.effects.codec.codec import Codec, codec_for
from effectgraph.effects.codec.errors import CodecError, NotDecodable, NotEncodable, UnsupportedType

__all__ = ["Codec", "CodecError", "NotDecodable", "NotEncodable", "UnsupportedType", "codec_for"]
