"""Why a type has no codec, and what to write instead."""

from __future__ import annotations

import array
import collections
import collections.abc
import dataclasses
import inspect
import types
import typing
from typing import Final, ForwardRef, ParamSpec, Self, TypeVar, TypeVarTuple, get_origin

import attrs
import typing_extensions

from effectgraph.effects.codec.forms import class_of, is_class, is_opened, opened
from effectgraph.effects.codec.shapes import Shape, Shapes

_SEVERAL: Final = (TypeVarTuple, ParamSpec, typing_extensions.TypeVarTuple, typing_extensions.ParamSpec)
_UNPACKED: Final = (typing.Unpack, typing_extensions.Unpack)
_NOTHING: Final[tuple[object, ...]] = (typing.Never, typing.NoReturn, typing_extensions.Never)
_BARE: Final = frozenset[object](
    {
        *(list, tuple, set, frozenset, dict),
        *(collections.deque, collections.defaultdict, collections.Counter, collections.OrderedDict),
    }
)
_CODE: Final = frozenset[object]({collections.abc.Callable, type, types.FunctionType, types.MethodType})
_VALUES: Final = (int, float, complex, str, bytes, tuple, list, dict, set, frozenset)
_INSTEAD: Final[dict[object, str]] = {
    collections.abc.Mapping: "dict",
    collections.abc.MutableMapping: "dict",
    collections.abc.Set: "frozenset or set",
    collections.abc.MutableSet: "set",
    collections.abc.Sequence: "tuple or list",
    collections.abc.MutableSequence: "list",
    collections.abc.Iterable: "tuple or list",
    collections.abc.Iterator: "tuple or list",
    collections.abc.Generator: "tuple or list",
    collections.abc.Reversible: "tuple or list",
    collections.abc.Collection: "tuple, list or frozenset",
    collections.abc.Container: "tuple, list or frozenset",
    collections.abc.Sized: "tuple, list or frozenset",
    collections.abc.KeysView: "tuple or list",
    collections.abc.ValuesView: "tuple or list",
    collections.abc.ItemsView: "tuple or list, of tuples",
    collections.abc.Hashable: "what it is, such as str or int",
    collections.ChainMap: "dict",
    collections.UserDict: "dict",
    collections.UserList: "list",
    collections.UserString: "str",
    types.MappingProxyType: "dict",
    types.SimpleNamespace: "an attrs class",
    array.array: "tuple or list",
    bytearray: "bytes",
    memoryview: "bytes",
    complex: "tuple[float, float]",
    range: "tuple[int, int, int], of start, stop and step",
    slice: "tuple[int, int, int], of start, stop and step",
}


def no_shape(form: object, shapes: Shapes) -> Shape:
    """Refuses any type."""
    raise shapes.refuse(form, _of_form(form) or _of_class(form) or _GENERAL)


_GENERAL: Final = "a codec has no faithful form for it; use types that have one, such as attrs classes, list and dict"


def _of_form(form: object) -> str:
    if form is typing.Any or form is object:
        return "it can be anything, and bytes cannot tell what; declare what it is"
    if isinstance(form, TypeVar):
        return "a type variable that nothing fills in; write what stands in its place, as in Box[int]"
    if isinstance(form, _SEVERAL) or get_origin(form) in _UNPACKED:
        return "it stands for several types at once; write each of them, or tuple[X, ...]"
    if form is Self:
        return "it is the class that it stands in, and here is none; name the class"
    if isinstance(form, str | ForwardRef):
        return "a name that is not looked up here; give the type itself"
    if any(form is each for each in _NOTHING):
        return "no value is of it; leave it out"
    if is_opened(form):
        return _behind(form)
    return ""


def _behind(form: object) -> str:
    try:
        opened(form)
    except Exception as error:
        return f"what it stands for cannot be found: {error}"
    return "it stands for itself, and nothing else is behind it"


def _of_class(form: object) -> str:
    cls = class_of(form)
    if cls is None:
        return ""
    if cls in _BARE:
        return "it does not say what is in it; write it with brackets, as in list[int]"
    if cls in _INSTEAD:
        return f"bytes cannot tell what it was exactly; write {_INSTEAD[cls]} instead"
    if cls in _CODE:
        return "code is not stored; store a name that your program looks up, such as an enum's member"
    if attrs.has(cls) or dataclasses.is_dataclass(cls) or hasattr(cls, "_fields"):
        return "it is a plain subclass of a record and may have state that no field holds; decorate it as well"
    if typing_extensions.is_protocol(cls) or inspect.isabstract(cls):
        return "its values are of other classes, and bytes cannot tell which; write a union of those"
    base = next((base for base in cls.__mro__ if base in _VALUES), None)
    if is_class(form) and base is not None:
        return f"it is a subclass of {base.__name__}, and may hold more than that; write {base.__name__}"
    return ""
