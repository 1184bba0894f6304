"""pydantic's models, where a program has pydantic, written as objects of their fields."""

from __future__ import annotations

import sys
from collections.abc import Container
from typing import TYPE_CHECKING, Final, Self

import attrs

from effectgraph.effects.codec.fields import Field
from effectgraph.effects.codec.forms import class_of, name_of
from effectgraph.effects.codec.model_refusals import check_extra, check_way_back, understood
from effectgraph.effects.codec.records import Make, Part, fields_reader, record_shape
from effectgraph.effects.codec.shapes import (
    Definition,
    Hashing,
    Json,
    Misfit,
    Read,
    Shape,
    Shapes,
    Write,
    is_not,
    shown,
    step_to,
)
from effectgraph.effects.codec.variables import bare, bound_by, filled, names_in, parameters_of

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic.fields import FieldInfo

_UNSET: Final = "_unset"
"""The key that names the fields which were left to their defaults. No field has it: names of fields begin otherwise."""

_ROOT: Final = "root"


def is_model(form: object) -> bool:
    """Whether a form is a pydantic model, of any version. pydantic is not imported for the question."""
    cls = class_of(form)
    return cls is not None and any(
        getattr(sys.modules.get(module), "BaseModel", None) in cls.__mro__
        for module in ("pydantic.main", "pydantic.v1.main")
    )


def model_shape(form: object, shapes: Shapes) -> Shape:
    """A model is its fields by name, whatever their aliases. `_unset` names those that were left to their defaults.

    The model is made through its validators; then every stored field is set to what was stored, whatever they made of
    it. A subclass is refused, and so is a model that has more to it than its fields.
    """
    model = understood(form, shapes)
    name = name_of(form)

    def make() -> Definition:
        fields = _fields(model, shapes)
        inside = {field: shapes.of(declared, step_to(field)) for field, declared in sorted(fields.items())}
        infos = model.__pydantic_fields__
        parts = [
            Part(Field(field, field, not info.is_required(), attrs.NOTHING), inside[field])
            for field, info in infos.items()
        ]
        outline: Json = {"name": name, "model": {field: shape.outline for field, shape in inside.items()}}
        by_value = model.__hash__ is not object.__hash__
        hashing = min([Hashing.BY_VALUE, *(shape.hashing for shape in inside.values())]) if by_value else Hashing.OWN
        read = _reader(name, fields_reader(name, parts, _maker(name, model)))
        return Definition(outline, _writer(name, model, parts), read, max(hashing, Hashing.OWN))

    return shapes.define(form, frozenset({model}), make)


def is_pydantic_dataclass(form: object) -> bool:
    """Whether a form is a dataclass that pydantic made."""
    cls = class_of(form)
    return cls is not None and {"__pydantic_fields__", "__dataclass_fields__"} <= vars(cls).keys()


def pydantic_dataclass_shape(form: object, shapes: Shapes) -> Shape:
    """A dataclass as any other, if it has no more to it than its fields."""
    cls = class_of(form)
    assert cls is not None
    check_extra(form, vars(cls).get("__pydantic_config__", {}), shapes)
    described: dict[str, FieldInfo] = vars(cls)["__pydantic_fields__"]
    for field, info in described.items():
        check_way_back(field, info, shapes)
    return record_shape(form, shapes)


def _fields(model: type[BaseModel], shapes: Shapes) -> dict[str, object]:
    """The fields' types, with type variables that have a default and `Self` filled in."""
    scope = names_in(model.__module__)
    declared: dict[str, object] = {}
    for field, info in model.__pydantic_fields__.items():
        try:
            bound: dict[object, object] = {**bound_by(parameters_of(model), (), scope), Self: model}
            declared[field] = filled(bare(info.annotation, scope), bound)
        except Exception as error:
            why = f"it cannot be looked up ({error}); name a type that the module of the class can see"
            raise shapes.refuse(str(info.annotation), why, step_to(field)) from error
    if not model.__pydantic_complete__:
        raise shapes.refuse(model, "a type in it cannot be looked up; name types that the module of the class can see")
    return declared


def _writer(name: str, model: type[BaseModel], parts: list[Part]) -> Write:
    fields: list[tuple[str, Write]] = [(part.field.name, part.shape.write) for part in parts]
    names = {field for field, _ in fields}

    def write(value: BaseModel) -> Json:
        if type(value) is not model:
            raise is_not(name, value)
        # Not by attribute: that warns where a field is marked as deprecated.
        stored = vars(value)
        written: dict[str, Json] = {}
        for field, write_field in fields:
            if field not in stored:
                raise Misfit(name, f"its field {field} was never set")
            try:
                written[field] = write_field(stored[field])
            except Misfit as misfit:
                misfit.at(step_to(field))
                raise
        fields_set = value.__pydantic_fields_set__
        foreign = {*(value.__pydantic_extra__ or ()), *(fields_set - names)}
        if foreign:
            raise Misfit(name, f"has {shown(min(foreign))}, which is no field of {name}")
        unset: list[Json] = [*sorted(names - fields_set)]
        return {**written, _UNSET: unset} if unset else written

    return write


def _reader(name: str, read_fields: Read) -> Read:
    def read(raw: Json, _: object) -> object:
        if type(raw) is not dict or _UNSET not in raw:
            return read_fields(raw, None)
        stored = {key: each for key, each in raw.items() if key != _UNSET}
        value: BaseModel = read_fields(stored, None)
        unset = raw[_UNSET]
        names = {each for each in unset if type(each) is str and each in stored} if type(unset) is list else set[str]()
        if not names or unset != sorted(names):
            misfit = Misfit(name, "expected the sorted names of stored fields, each of them once")
            misfit.at(step_to(_UNSET))
            raise misfit
        value.__pydantic_fields_set__.difference_update(names)
        return value

    return read


def _maker(name: str, model: type[BaseModel]) -> Make:
    from pydantic import RootModel, ValidationError

    is_root = issubclass(model, RootModel)
    names = model.__pydantic_fields__.keys()

    def make(stored: dict[str, object]) -> object:
        try:
            if not is_root:
                value = model.model_validate(dict(stored), by_alias=False, by_name=True)
            else:
                value = model.model_validate(stored[_ROOT]) if stored else model()
        except ValidationError as error:
            raise _refused(name, names, error) from error
        except Exception as error:
            raise Misfit(name, f"{name} refuses its fields: {type(error).__name__}: {error}") from error
        if type(value) is not model:
            raise Misfit(name, f"a validator of {name} made a {type(value).__name__}")
        # Past the model's own setting, which a frozen one refuses and another may validate once more.
        vars(value).update(stored)
        object.__setattr__(value, "__pydantic_fields_set__", set(stored))
        return value

    return make


def _refused(name: str, names: Container[str], error: ValidationError) -> Misfit:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    misfit = Misfit(name, f"{name} refuses it: {first['msg']}")
    field = _ROOT if _ROOT in names else next(iter(first["loc"]), None)
    if isinstance(field, str) and field in names:
        misfit.at(step_to(field))
    return misfit
