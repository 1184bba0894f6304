"""Why a class of pydantic's has no codec, and what to write instead."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, cast

from effectgraph.effects.codec.forms import arguments_of, class_of
from effectgraph.effects.codec.shapes import Shape, Shapes, step_to

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

_ONE_WAY: Final = frozenset({"Json", "EncodedBytes", "EncodedStr"})
_SECRETS: Final = frozenset({"_SecretBase", "Secret"})


def is_of_pydantic(form: object) -> bool:
    """Whether a form is one of pydantic's own classes, or derived from one."""
    cls = class_of(form)
    return cls is not None and any(str(base.__module__).partition(".")[0] == "pydantic" for base in cls.__mro__)


def no_pydantic_shape(form: object, shapes: Shapes) -> Shape:
    """Refuses pydantic's own classes."""
    cls = class_of(form)
    assert cls is not None
    if any(base.__name__ in _SECRETS for base in cls.__mro__):
        raise shapes.refuse(
            form, "it hides a secret, and whatever is stored can be read; store a name by which to look the secret up"
        )
    raise shapes.refuse(
        form, "it checks or converts what it gets; declare what its values are, such as str, and use a validator"
    )


def understood(form: object, shapes: Shapes) -> type[BaseModel]:
    """The model of a form, complete. Raises `UnsupportedType` if there is more to it than its fields."""
    cls = class_of(form)
    assert cls is not None
    if not hasattr(cls, "model_validate"):
        raise shapes.refuse(form, "it is a model of pydantic 1; make it one of pydantic 2")
    from pydantic import BaseModel

    if "by_name" not in inspect.signature(BaseModel.model_validate).parameters:
        raise shapes.refuse(form, "the pydantic that is installed is too old for this; update it to 2.11 or newer")
    model = cast("type[BaseModel]", cls)
    if model is BaseModel:
        raise shapes.refuse(
            form, "its values are of other classes, and bytes cannot tell which; write a union of those"
        )
    try:
        model.model_rebuild(raise_errors=False)
    except Exception as error:
        raise shapes.refuse(form, f"pydantic cannot check it ({error}); mend the model") from error
    check_extra(form, model.model_config, shapes)
    if model.__private_attributes__:
        lost = ", ".join(sorted(model.__private_attributes__))
        raise shapes.refuse(form, f"it has private attributes ({lost}), which would be lost; make them fields")
    for field, info in model.__pydantic_fields__.items():
        check_way_back(field, info, shapes)
    if vars(model).get("__pydantic_custom_init__"):
        _check_constructor(model, form, shapes)
    return model


def check_extra(form: object, config: Mapping[str, object], shapes: Shapes) -> None:
    """Refuse a class that takes what no field holds."""
    if config.get("extra") == "allow":
        raise shapes.refuse(
            form, "it takes fields that are not written down (extra='allow'); give them a dict of their own"
        )


def check_way_back(field: str, info: FieldInfo, shapes: Shapes) -> None:
    """Refuse a type whose validation takes what its values come from, and not the values themselves."""
    for each in (*info.metadata, *_notes(info.annotation)):
        cls = each if isinstance(each, type) else type(each)
        if cls.__module__ == "pydantic.types" and cls.__name__ in _ONE_WAY:
            why = "pydantic decodes what it gets for it, and would once more when it comes back; decode it before"
            raise shapes.refuse(cls.__name__, why, step_to(field))


def _notes(form: object) -> Iterator[object]:
    yield from cast("tuple[object, ...]", getattr(form, "__metadata__", ()))
    for each in arguments_of(form):
        yield from _notes(each)


def _check_constructor(model: type[BaseModel], form: object, shapes: Shapes) -> None:
    """Refuse an `__init__` of the class's own that does not take its fields by name."""
    _, *parameters = inspect.signature(model.__init__).parameters.values()
    named = {each.name: each for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
    any_name = any(each.kind is each.VAR_KEYWORD for each in parameters)
    for field, info in model.__pydantic_fields__.items():
        if info.alias is not None or info.validation_alias is not None or not (any_name or field in named):
            raise shapes.refuse(form, f"its __init__ does not take field {field} by name; leave it out, or the alias")
    for each in named.values():
        if each.default is each.empty and each.name not in model.__pydantic_fields__:
            raise shapes.refuse(form, f"its __init__ needs {each.name}, which is no field; make it one")
