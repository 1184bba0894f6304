"""The arguments of a tool call: checked, copied, fingerprinted, shown."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Mapping
from typing import Final, cast, get_type_hints

import attrs
import msgspec
from typing_extensions import TypeForm

from effectgraph.effects.codec import Codec, CodecError, codec_for
from effectgraph.tools.errors import BadArguments, ToolInvalid

_REDACTED: Final = "<redacted>"


@attrs.frozen(kw_only=True)
class Arguments:
    """The arguments of one call, as bytes: what the caller or the tool does to its objects changes nothing here."""

    positional: tuple[str, ...]
    keyword: tuple[str, ...]
    codecs: Mapping[str, Codec[object]]
    encoded: Mapping[str, bytes]
    canonical: Mapping[str, bytes]

    def fresh(self) -> tuple[list[object], dict[str, object]]:
        """Positional and keyword arguments, each a copy of its own."""
        positional = [self.codecs[name].decode(self.encoded[name]) for name in self.positional]
        return positional, {name: self.codecs[name].decode(self.encoded[name]) for name in self.keyword}

    def fingerprint(self, tool: str, version: int) -> str:
        """SHA-256 over tool, version and arguments: equal requests, equal fingerprints, in every process."""
        raw = {name: msgspec.Raw(self.canonical[name]) for name in sorted(self.canonical)}
        return hashlib.sha256(msgspec.json.encode([tool, version, raw])).hexdigest()

    def shown(self, redact: frozenset[str]) -> bytes:
        """The request as operators may see it: a JSON object, arguments in `redact` blotted out."""
        return msgspec.json.encode(
            {name: _REDACTED if name in redact else msgspec.Raw(data) for name, data in self.encoded.items()}
        )


@attrs.frozen
class Parameters:
    """What a tool takes: its signature, and a codec for each parameter."""

    tool: str
    signature: inspect.Signature
    codecs: Mapping[str, Codec[object]]

    def bind(self, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Arguments:
        """Check and encode the arguments of a call. Raises `BadArguments`, naming the parameter and the path in it."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise BadArguments(self.tool, str(error)) from None
        bound.apply_defaults()
        encoded: dict[str, bytes] = {}
        canonical: dict[str, bytes] = {}
        for name, value in bound.arguments.items():
            codec = self.codecs[name]
            try:
                encoded[name] = codec.encode(value)
                canonical[name] = codec.canonical(value)
            except CodecError as error:
                raise BadArguments(self.tool, f"argument {name}: {error}") from error
        parameters = self.signature.parameters
        keyword = tuple(name for name in encoded if parameters[name].kind is inspect.Parameter.KEYWORD_ONLY)
        positional = tuple(name for name in encoded if name not in keyword)
        return Arguments(
            positional=positional, keyword=keyword, codecs=self.codecs, encoded=encoded, canonical=canonical
        )


def read_signature(fn: Callable[..., object], tool: str, *, skip: int = 0) -> tuple[Parameters, object]:
    """What `fn` takes, without its first `skip` parameters, and the type that it is annotated to return.

    Raises `ToolInvalid` if an annotation is missing or cannot be resolved, or a type has no codec.
    """
    try:
        hints = get_type_hints(fn, include_extras=True)
    except Exception as error:
        why = f"its annotations cannot be resolved ({error}); name types that its module can see"
        raise ToolInvalid(tool, why) from error
    if "return" not in hints:
        raise ToolInvalid(tool, "it has no return annotation; say what it returns, None included")
    signature = inspect.signature(fn)
    kept = list(signature.parameters.values())[skip:]
    codecs: dict[str, Codec[object]] = {}
    for parameter in kept:
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            raise ToolInvalid(tool, f"parameter {parameter} takes any number of arguments; name each one")
        if parameter.name not in hints:
            raise ToolInvalid(tool, f"parameter {parameter.name} has no annotation; say its type")
        codecs[parameter.name] = codec_of(hints[parameter.name], tool, f"parameter {parameter.name}")
    return Parameters(tool, signature.replace(parameters=kept), codecs), hints["return"]


def codec_of(form: object, tool: str, what: str) -> Codec[object]:
    """A codec for a type that an annotation names. Raises `ToolInvalid` if it cannot be stored faithfully."""
    try:
        return codec_for(cast("TypeForm[object]", form))
    except CodecError as error:
        raise ToolInvalid(tool, f"{what}: {error}") from error
