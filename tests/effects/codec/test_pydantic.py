"""pydantic models: carried field by field, as strictly as anything else, and back as the same model."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import cast

import pytest
from pydantic import BaseModel, RootModel
from typing_extensions import TypeForm

from alike import look
from effectgraph.effects.codec import Codec, NotEncodable, codec_for
from fresh_python import output_of
from pydantic_samples import (
    Box,
    Built,
    Cat,
    Color,
    Count,
    Deferred,
    Deprecated,
    Dog,
    Filled,
    Frozen,
    IntBox,
    Item,
    Later,
    Limits,
    Mixed,
    Names,
    Order,
    Owner,
    Pair,
    Point,
    Shelf,
    Swapped,
    Tree,
    Worked,
    local,
)

item = Item(name="a")
worked = Worked(side=2)
assert worked.volume == 8

VALUES: dict[str, tuple[object, object, bytes]] = {
    "plain": (
        Item,
        Item(name="book", price=Decimal("19.90"), color=Color.RED),
        b'{"name":"book","price":"19.90","color":"RED"}',
    ),
    "defaults": (Item, item, b'{"name":"a","price":"1.50","color":"RED","_unset":["color","price"]}'),
    "aliases": (
        Order,
        Order.model_validate({"orderNumber": 3, "lines": [], "at": None}),
        b'{"number":3,"items":[],"at":null}',
    ),
    "self": (
        Tree,
        Tree(children=[Tree(name="b", children=[], twin=None, later=None)], twin=None, later=None, name="a"),
        b'{"name":"a","children":[{"name":"b","children":[],"twin":null,"later":null}],"twin":null,"later":null}',
    ),
    "mutual": (
        Later,
        Later(trees={"x": Tree(name="a", children=[], twin=Tree(), later=Later(trees={}))}),
        (
            b'{"trees":{"x":{"name":"a","children":[],"twin":{"name":"leaf","children":[],"twin":null,"later":null,'
            b'"_unset":["children","later","name","twin"]},"later":{"trees":{}}}}}'
        ),
    ),
    "generic": (Box[int], Box[int](content=5, more=(1,)), b'{"content":5,"more":[1]}'),
    "nested generic": (
        Box[Box[int | None]],
        Box[Box[int | None]](content=Box[int | None](content=None, more=()), more=()),
        b'{"content":{"content":null,"more":[]},"more":[]}',
    ),
    "generic union": (
        Box[int] | Box[str] | None,
        Box[str](content="a", more=()),
        b'{"Box[str]":{"content":"a","more":[]}}',
    ),
    "filled in by default": (Filled, Filled(content=1), b'{"content":1}'),
    "filled in otherwise": (Filled[str], Filled[str](content="a"), b'{"content":"a"}'),
    "swapped aliases": (Swapped, Swapped(b=1, a="x"), b'{"a":1,"b":"x"}'),
    "filled in": (IntBox, IntBox(content=1, more=(), size=4), b'{"content":1,"more":[],"size":4}'),
    "root": (Names, Names(["a", "b"]), b'{"root":["a","b"]}'),
    "root as it is": (RootModel[dict[str, int]], RootModel[dict[str, int]]({"a": 1}), b'{"root":{"a":1}}'),
    "root by default": (Count, Count(), b'{"root":3,"_unset":["root"]}'),
    "root that is set": (Count, Count(3), b'{"root":3}'),
    "frozen in a set": (set[Frozen], {Frozen(a=1, b="y")}, b'[{"a":1,"b":"y"}]'),
    "frozen as a key": (dict[Frozen, int], {Frozen(a=1, b="y"): 2}, b'{"{\\"a\\":1,\\"b\\":\\"y\\"}":2}'),
    "deprecated": (Deprecated, Deprecated(old=2), b'{"old":2}'),
    "deferred": (
        Deferred,
        Deferred(item=Item(name="a", price=Decimal(1), color=Color.RED)),
        b'{"item":{"name":"a","price":"1","color":"RED"}}',
    ),
    "constructor": (Built, Built(1, b=3), b'{"a":1,"b":3}'),
    "constraints": (Limits, Limits(few=2, short="abc", each=[9]), b'{"few":2,"short":"abc","each":[9]}'),
    "discriminator": (Owner, Owner(pet=Dog(kind="dog")), b'{"pet":{"Dog":{"kind":"dog"}}}'),
    "union": (
        list[Cat | Tree | int | None],
        [Cat(kind="cat"), 1, None],
        b'[{"Cat":{"kind":"cat"}},{"int":1},null]',
    ),
    "in attrs": (
        Shelf,
        Shelf({"a": Box[Item](content=item, more=())}, item),
        (
            b'{"boxes":{"a":{"content":{"name":"a","price":"1.50","color":"RED","_unset":["color","price"]},"more":[]}},'
            b'"either":{"Item":{"name":"a","price":"1.50","color":"RED","_unset":["color","price"]}}}'
        ),
    ),
    "dataclass": (Point, Point(x=1, y=[2]), b'{"x":1,"y":[2],"item":null}'),
    "generic dataclass": (Pair[int], Pair[int](1, 2), b'{"one":1,"two":2}'),
    "around others": (
        Mixed,
        Mixed(shelf=Shelf({}), point=Point(x=1)),
        b'{"shelf":{"boxes":{},"either":null},"point":{"x":1,"y":[],"item":null}}',
    ),
    "local": (*local(), b'{"inner":{"a":1},"nodes":[{"inner":{"a":2},"nodes":[],"_unset":["nodes"]}]}'),
}


def codec_of(form: object) -> Codec[object]:
    """The codec of a type that is known only at run time."""
    return codec_for(cast("TypeForm[object]", form))


@pytest.mark.parametrize(("form", "value", "data"), list(VALUES.values()), ids=list(VALUES))
def test_a_model_comes_back_as_it_was(form: object, value: object, data: bytes) -> None:
    """A model is the object of its fields by name; it comes back equal, of its class, with the same fields set."""

    codec = codec_of(form)

    assert codec.encode(value) == data
    assert codec.decode(data) == value
    assert look(codec.decode(data)) == look(value)


def test_fields_that_were_not_set_are_told() -> None:
    """A field left to its default is stored, as defaults change, and is still not set: what is sent on tells so."""

    codec = codec_for(Item)
    back = codec.decode(codec.encode(item))

    assert {"name"} == back.model_fields_set
    assert {"name": "a"} == back.model_dump(exclude_unset=True)
    assert codec.canonical(item) != codec.canonical(Item(name="a", price=Decimal("1.50")))


def test_what_a_model_works_out_is_no_field() -> None:
    """Computed and cached properties are not stored; they are worked out anew."""

    codec = codec_for(Worked)
    back = codec.decode(codec.encode(worked))

    assert b'{"side":2}' == codec.encode(worked)
    assert (back, back.area, back.volume) == (worked, 4, 8)


def test_an_int_in_a_float_field_stays_one() -> None:
    """What pydantic would convert is what was stored, here as in any other record."""

    class Size(BaseModel):
        size: float

    codec = codec_for(Size)
    back = codec.decode(codec.encode(Size.model_construct(size=1)))

    assert (1, int) == (back.size, type(back.size))


class Sub(Item):
    """A model with more fields than its base."""

    more: int = 0


def with_extra() -> Item:
    """What newer versions of pydantic make where one asks for it, of a model that has no such field."""
    value = Item(name="a")
    object.__setattr__(value, "__pydantic_extra__", {"x": 1})
    return value


UNCHECKED = Item.model_construct(name=cast("str", b""))

WRONG: dict[str, tuple[object, object, str, str]] = {
    "a subclass": (Item, Sub(name="a"), "", "is a Sub, a subclass; declare that, or both of them"),
    "a subclass inside": (Box[Item], Box[Item](content=Sub(name="a")), "content", "is a Sub, a subclass"),
    "another generic": (Box[int], Box[str](content="a"), "", "is a Box[str], a subclass"),
    "the generic itself": (Box[int], Box(content=1), "", "is of type Box"),
    "a dict": (Item, {"name": "a"}, "", "is of type dict"),
    "unchecked": (Item, Item.model_construct(name=cast("str", 5)), "name", "is of type int"),
    "unchecked None": (Item, Item.model_construct(name=cast("str", None)), "name", "is of type NoneType"),
    "unset": (Item, Item.model_construct(price=Decimal(1)), "", "its field name was never set"),
    "deep": (
        Order,
        Order.model_validate({"orderNumber": 1, "lines": [UNCHECKED]}),
        "items[0].name",
        "is of type bytes",
    ),
    "extra": (
        Item,
        with_extra(),
        "",
        'has "x", which is no field of Item',
    ),
    "foreign": (
        Item,
        Item.model_construct(_fields_set={"name", "x"}, name="a"),
        "",
        'has "x", which is no field of Item',
    ),
}


@pytest.mark.parametrize(("form", "value", "path", "why"), list(WRONG.values()), ids=list(WRONG))
def test_a_value_that_would_not_come_back_is_refused(form: object, value: object, path: str, why: str) -> None:
    """Where pydantic converts or was told not to look, a value that is not exactly of the model is refused by path."""

    with pytest.raises(NotEncodable) as caught:
        codec_of(form).encode(value)

    assert caught.value.path == path
    assert why in caught.value.why


def test_pydantic_is_loaded_by_nobody_but_its_user(tmp_path: Path) -> None:
    """The package, and codecs of other types, do not load pydantic; where only its name is loaded, no more of it is."""

    printed = output_of(
        "import sys, attrs, effectgraph\n"
        "from effectgraph import codec_for\n"
        "@attrs.frozen\n"
        "class A:\n"
        "    x: dict[str, list[int | None]]\n"
        "codec_for(A)\n"
        "print([name for name in sys.modules if name.partition('.')[0] == 'pydantic'])\n"
        "import pydantic\n"
        "before = set(sys.modules)\n"
        "codec_for(list[A])\n"
        "print(set(sys.modules) - before)",
        tmp_path,
    )

    assert "[]\nset()\n" == printed
