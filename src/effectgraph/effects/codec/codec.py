"""Codecs: typed values to bytes and back, exactly or not at all."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Generic, TypeVar, cast, final

import attrs
from typing_extensions import TypeForm

from effectgraph.effects.codec import wire
from effectgraph.effects.codec.build import Build
from effectgraph.effects.codec.errors import NotDecodable, NotEncodable, UnsupportedType
from effectgraph.effects.codec.forms import bare, look_through
from effectgraph.effects.codec.limits import CACHED_CODECS, MAX_BYTES
from effectgraph.effects.codec.rules import RULES
from effectgraph.effects.codec.shapes import Json, Misfit, Read, Write

A = TypeVar("A")

_TOO_DEEP = "it is nested too deeply for what is left of the stack"


@final
@attrs.frozen(eq=False, kw_only=True)
class Codec(Generic[A]):
    """Encodes values of one type and decodes them again: equal, and of the same types all the way down.

    Made by `codec_for`. `schema` is the fingerprint of the type's form, 16 hex digits: the same in every process, and
    another one once a field, its name or its type has changed. Keep it beside the bytes.
    """

    schema: str
    _name: str = attrs.field(alias="name")
    _write: Write = attrs.field(alias="write", repr=False)
    _read: Read = attrs.field(alias="read", repr=False)

    def encode(self, value: A) -> bytes:
        """JSON in UTF-8. Dicts keep their order; sets are sorted.

        Raises `NotEncodable`, with the path, for a value that is not exactly of the codec's type (one of a subclass is
        not), is nested more than 100 levels deep, or takes more than 64 MiB.
        """
        return self._encoded(value, wire.write)

    def canonical(self, value: A) -> bytes:
        """JSON for fingerprints: dicts are sorted as well, so values that are equal give equal bytes in every process.

        What Python calls equal and still tells apart gives other bytes: 1 and 1.0, 0.0 and -0.0, Decimal("1") and
        Decimal("1.0"), one moment in two zones. Raises `NotEncodable` as `encode` does.
        """
        return self._encoded(value, wire.write_sorted)

    def decode(self, data: bytes) -> A:
        """The value that was encoded. A field that is missing in `data` takes its default, if it has one.

        Raises `NotDecodable`, with the path, for bytes that this codec could not have written, whatever they are:
        nothing is converted, and unknown and repeated keys are refused.
        """
        try:
            value: A = self._read(wire.read(data), None)
        except Misfit as misfit:
            raise NotDecodable(misfit.path, misfit.why) from misfit.__cause__
        except RecursionError:
            raise NotDecodable("", _TOO_DEEP) from None
        return value

    def _encoded(self, value: A, to_bytes: Callable[[Json], bytes]) -> bytes:
        try:
            data = to_bytes(self._write(value))
        except Misfit as misfit:
            raise NotEncodable(misfit.path, misfit.name, misfit.why) from misfit.__cause__
        except RecursionError:
            raise NotEncodable("", self._name, _TOO_DEEP) from None
        except ValueError as error:
            raise NotEncodable("", self._name, f"JSON cannot hold it: {error}") from None
        if len(data) > MAX_BYTES:
            raise NotEncodable("", self._name, f"takes {len(data)} bytes; {MAX_BYTES} are allowed")
        return data


def codec_for(form: TypeForm[A], /) -> Codec[A]:
    """The codec of a type. Made once for each type, and then kept.

    The type is checked here, all the way down, before any value is met: None, bool, int, float, str, bytes, Decimal,
    UUID, dates and times, enums, paths, list, tuple, set, frozenset, dict, attrs classes, dataclasses, NamedTuple,
    TypedDict, Literal, Optional and other unions, generic and self-referring classes. `NewType` and `Annotated` are
    looked through. Raises `UnsupportedType` for anything else, naming the type and the path to it.

    >>> import attrs
    >>> @attrs.frozen
    ... class Order:
    ...     item: str
    ...     price: float | None = None
    >>> codec = codec_for(list[Order])
    >>> codec.encode([Order("book", 12.5)])
    b'[{"item":"book","price":12.5}]'
    >>> codec.decode(b'[{"item": "book"}]')
    [Order(item='book', price=None)]
    >>> codec.decode(b'[{"item": "book", "price": "dear"}]')
    Traceback (most recent call last):
    ...
    effectgraph.effects.codec.errors.NotDecodable: [0].price cannot be decoded: expected None | float, found a text
    """
    try:
        hash(form)
    except TypeError:
        # What stands in an `Annotated` may have no hash.
        return cast("Codec[A]", _made(form))
    return cast("Codec[A]", _kept(cast("Hashable", form)))


def _made(form: object) -> Codec[object]:
    if isinstance(form, str):
        raise UnsupportedType("", form, "it is a name, and nothing says where to look it up; give the type itself")
    try:
        plain = look_through(bare(form))
    except Exception as error:
        raise UnsupportedType("", str(form), f"it cannot be looked up ({error}); give the types themselves") from error
    build = Build(RULES)
    try:
        shape = build.of(plain, "")
        schema = build.schema(shape)
    except RecursionError:
        raise UnsupportedType("", "this type", _TOO_DEEP) from None
    except UnicodeEncodeError:
        raise UnsupportedType("", ascii(form), "a name in it has a lone surrogate, which is no character") from None
    converter = build.converter()
    write, read = converter.get_unstructure_hook(plain), converter.get_structure_hook(plain)
    return Codec(schema=schema, name=shape.name, write=write, read=read)


_kept = lru_cache(CACHED_CODECS)(_made)
