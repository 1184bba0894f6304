"""Codecs: typed values to bytes and back, exactly or not at all."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache
from typing import Generic, TypeVar, cast, final

import attrs
from typing_extensions import TypeForm

from effectgraph.effects.codec import wire
from effectgraph.effects.codec.build import Build
from effectgraph.effects.codec.errors import NotDecodable, NotEncodable, OtherSchema, UnsupportedType
from effectgraph.effects.codec.forms import look_through
from effectgraph.effects.codec.limits import CACHED_CODECS, MAX_BYTES
from effectgraph.effects.codec.migrations import Migration, Migrations, annotated_with, checked, read_migrated
from effectgraph.effects.codec.rules import RULES
from effectgraph.effects.codec.shapes import Json, Misfit, Read, Write
from effectgraph.effects.codec.variables import bare

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
    _migrations: Migrations = attrs.field(alias="migrations", repr=False, factory=dict[str, Migration])

    def encode(self, value: A) -> bytes:
        """JSON in UTF-8. Dicts keep their order; sets are sorted.

        Raises `NotEncodable`, with the path, for a value that is not exactly of the codec's type (one of a subclass is
        not), is nested more than 100 levels deep, or takes more than 64 MiB.
        """
        return self._encoded(value, wire.write)

    def canonical(self, value: A) -> bytes:
        """JSON for fingerprints: dicts are sorted as well, so values that are equal give equal bytes in every process.

        Only an OrderedDict keeps its order, as two are equal only if they have the same. What Python calls equal and
        still tells apart gives other bytes: 1 and 1.0, 0.0 and -0.0, Decimal("1") and Decimal("1.0"), one moment in
        two zones. Raises `NotEncodable` as `encode` does.
        """
        return self._encoded(value, wire.write_sorted)

    def decode(self, data: bytes, *, schema: str | None = None) -> A:
        """The value that was encoded. A field that is missing in `data` takes its default, if it has one.

        `schema` is the one that was kept beside the bytes; None stands for this codec's. What another one wrote is
        brought up to date by its migration (see `migrating`), or refused: `OtherSchema`.

        Raises `NotDecodable`, with the path, for bytes that this codec could not have written, whatever they are:
        nothing is converted, and unknown and repeated keys are refused.
        """
        old = None if schema == self.schema else schema
        if old is not None and old not in self._migrations:
            raise OtherSchema("", "another version of the type wrote it", self._name, old, self.schema)
        try:
            raw = wire.read(data)
            value: A
            if old is None:
                value = self._read(raw, None)
            else:
                value = cast("A", read_migrated(raw, old, self._migrations, self._read))
        except Misfit as misfit:
            raise NotDecodable(misfit.path, misfit.why) from misfit.__cause__
        except RecursionError:
            raise NotDecodable("", _TOO_DEEP) from None
        return value

    def migrating(self, migrations: Mapping[str, Migration]) -> Codec[A]:
        """This codec, which also reads what older versions of the type wrote. Nothing is registered anywhere else.

        Each migration stands under the schema whose bytes it takes: the error of a value that cannot be read shows it,
        and so do the store's rows. Its function gets the JSON form that was stored, made of plain dicts, lists, texts,
        numbers, true, false and null that are its own to change, and returns the form of the next schema. The last
        form is decoded as strictly as any bytes. A state field that is appended to is stored in pieces, and each piece
        is migrated by itself. Keep a migration for as long as there may be bytes of its schema.

        The new codec has these migrations and no others. Raises `BadMigration` for one that does not lead to its schema
        in the end. `decode` raises `NotDecodable` for one that raises, or returns what is no JSON form or does not fit.

        >>> import attrs
        >>> @attrs.frozen
        ... class Order:
        ...     item: str
        ...     cents: int
        >>> codec = codec_for(Order)
        >>> codec.schema
        'dc2c252ed4cfc410'
        >>> codec.decode(b'{"item":"book","euros":"12.50"}', schema="0a1b2c3d4e5f6789")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        effectgraph...OtherSchema: the value cannot be decoded: schema '0a1b2c3d4e5f6789' wrote it, and that of Order \
is 'dc2c252ed4cfc410'; bring back the type that wrote it, or hand in a migration: \
codec.migrating({'0a1b2c3d4e5f6789': Migration(to='dc2c252ed4cfc410', by=...)})
        >>> def cents(old):
        ...     old["cents"] = round(100 * float(old.pop("euros")))
        ...     return old
        >>> codec = codec.migrating({"0a1b2c3d4e5f6789": Migration(to="dc2c252ed4cfc410", by=cents)})
        >>> codec.decode(b'{"item":"book","euros":"12.50"}', schema="0a1b2c3d4e5f6789")
        Order(item='book', cents=1250)
        """
        return attrs.evolve(self, migrations=checked(migrations, self._name, self.schema))

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

    The type is checked here, all the way down, before any value is met. Carried are None, bool, int of up to 4,300
    digits, float, str, bytes, Decimal, Fraction, UUID, date, datetime, time and timedelta, enums and flags, the paths
    of pathlib; list, tuple, set, frozenset, deque, dict, defaultdict, Counter and OrderedDict with their parts in
    brackets; attrs classes, dataclasses, NamedTuple and TypedDict, also generic ones and those that refer to
    themselves; Literal, Optional and other unions. `NewType`, `Annotated`, `Final` and type aliases are looked
    through. A key of a dict is a text, number, date, enum, path or the like, None, or a tuple, frozenset, frozen
    class or union of these.

    Raises `UnsupportedType` for anything else, naming the type, the path to it, and often what to write instead: Any,
    object, abstract classes such as Sequence and Mapping, code, bytearray, complex, range, plain subclasses of carried
    classes, and whatever else has no one form that it would come back from.

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
    codec: Codec[object] = Codec(schema=schema, name=shape.name, write=write, read=read)
    return codec.migrating(annotated_with(form))


_kept = lru_cache(CACHED_CODECS)(_made)
