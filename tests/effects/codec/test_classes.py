"""Classes: attrs classes, dataclasses, NamedTuples, typed dicts, generic and self-referring ones."""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable
from typing import Annotated, Final, Generic, Literal, NamedTuple, NotRequired, Required, TypedDict, TypeVar, cast

import attrs
import pytest
from typing_extensions import ReadOnly, TypeForm

from alike import look
from effectgraph.effects.codec import NotDecodable, NotEncodable, UnsupportedType, codec_for

T = TypeVar("T")
K = TypeVar("K")


@attrs.frozen
class Item:
    """A plain frozen class."""

    name: str
    count: int = 1


def stripped(text: str) -> str:
    """A converter that would change what was stored."""
    return text.strip()


@attrs.define(kw_only=True)
class Job:
    """Keyword-only, with private names, another argument name, a converter, a validator, and a field outside."""

    _id: str = attrs.field(alias="job_id")
    title: str = attrs.field(alias="called", converter=stripped)
    size: int = attrs.field(default=1, validator=attrs.validators.ge(0))
    items: list[Item] = attrs.field(factory=list[Item])
    seen: int = attrs.field(init=False, default=0)
    limit: Final[int] = 3

    def __attrs_post_init__(self) -> None:
        self.seen = self.size


@attrs.frozen
class Stamp:
    """Frozen, slotted, and with a field that the constructor does not take."""

    at: int
    label: str = attrs.field(init=False, default="none")


@attrs.define
class Title:
    """Every field goes through the constructor, which changes it."""

    text: str = attrs.field(converter=stripped)
    size: int = 0


@attrs.define(init=False)
class Bag:
    """A constructor of its own, which takes every field."""

    x: int
    y: int = 2

    def __init__(self, **fields: int) -> None:
        self.x, self.y = fields["x"], fields.get("y", 5)


@attrs.define
class Changeling:
    """Makes objects of another class."""

    x: int

    def __new__(cls, x: int) -> Changeling:
        return cast("Changeling", object.__new__(Title if x else cls))


@dataclasses.dataclass
class Point:
    """Two fields of the constructor, one outside, one of the class."""

    x: float
    y: float = dataclasses.field(default=0.0, kw_only=True)
    norm: float = dataclasses.field(init=False)
    tags: list[str] = dataclasses.field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.norm = abs(self.x) + abs(self.y)
        self.x += 1


@dataclasses.dataclass(frozen=True, slots=True)
class Pair(Generic[T, K]):
    """Generic, frozen, slotted."""

    first: T
    second: K


class Span(NamedTuple):
    """A tuple with names and a default."""

    start: int
    end: int | None = None


class Labelled(NamedTuple, Generic[T]):
    """A generic NamedTuple."""

    label: str
    value: T


class Movie(TypedDict):
    """A key that may be absent, and one that may be null; annotations are postponed."""

    title: str
    year: NotRequired[int]
    rating: ReadOnly[Annotated[float | None, "a note"]]


class Loose(TypedDict, total=False):
    """Keys that may be absent, and one that may not."""

    a: int
    b: Required[str]


class Tight(Loose):
    """One more key, required, on top of those of the base."""

    c: list[Item]


class Holder(TypedDict, Generic[T]):
    """A generic typed dict."""

    held: T


class HolderOfInt(Holder[int]):
    """The base's key is an int here."""

    other: str


@attrs.frozen
class Box(Generic[T]):
    """A generic class."""

    inside: T
    more: tuple[T, ...] = ()
    maybe: T | None = None


@attrs.frozen
class Crate(Box[K], Generic[K, T]):
    """A generic class over another one, with its own variable of the same name."""

    label: dict[str, T] = attrs.field(factory=dict[str, T])


@attrs.frozen
class IntBox(Box[int]):
    """No longer generic."""


@attrs.define
class Node:
    """A class that refers to itself, in every way."""

    name: str
    children: list[Node]
    parent: Node | None = None
    named: dict[str, tuple[Node, int]] | None = None


@attrs.frozen
class Ping:
    """Refers to a class that is defined later, which refers back."""

    pong: Pong | None


@attrs.frozen
class Pong:
    """Refers back."""

    ping: Ping


@attrs.frozen
class Tree(Generic[T]):
    """Generic and self-referring."""

    value: T
    branches: tuple[Tree[T], ...] = ()


def job() -> Job:
    """A job whose every field differs from what its constructor would make of the others."""
    made = Job(job_id="j1", called=" x ", size=2, items=[Item("a"), Item("b", 2)])
    object.__setattr__(made, "title", " not stripped ")
    made.seen = 7
    return made


def title() -> Title:
    """A title that its constructor would change."""
    made = Title("")
    object.__setattr__(made, "text", " not stripped ")
    return made


def stamp() -> Stamp:
    """A frozen object whose field outside the constructor is not its default."""
    made = Stamp(5)
    object.__setattr__(made, "label", "set later")
    return made


@pytest.mark.parametrize(
    ("form", "value"),
    [
        (Item, Item("a", 2)),
        (Job, job()),
        (Stamp, stamp()),
        (Title, title()),
        (Bag, Bag(x=1, y=3)),
        (Point, Point(1, y=-0.0, tags=["a"])),
        (Span, Span(1)),
        (Span, Span(1, 2)),
        (Labelled[bool], Labelled("a", True)),
        (Movie, {"title": "a", "rating": None}),
        (Movie, {"rating": 1, "year": 2, "title": "a"}),
        (Tight, {"b": "x", "c": [Item("a")]}),
        (Holder[tuple[int, ...]], {"held": (1,)}),
        (HolderOfInt, {"held": 1, "other": "a"}),
        (Pair[int, str], Pair(1, "a")),
        (Pair[Pair[int, int], None], Pair(Pair(1, 2), None)),
        (Crate[int, str], Crate(1, (2, 3), None, {"a": "b"})),
        (IntBox, IntBox(1, (2,), 3)),
        (Node, Node("a", [Node("b", [Node("c", [])])], Node("d", []), {"e": (Node("f", []), 1)})),
        (Ping, Ping(Pong(Ping(Pong(Ping(None)))))),
        (Pong, Pong(Ping(None))),
        (Tree[str], Tree("a", (Tree("b"), Tree("c", (Tree("d"),))))),
        (dict[str, list[Item]], {"a": [Item("b")], "c": []}),
    ],
)
def test_an_object_comes_back_as_it_was(form: object, value: object) -> None:
    """Every field comes back as it was stored, whatever converters and constructors would make of it."""

    codec = codec_for(cast("TypeForm[object]", form))

    assert look(codec.decode(codec.encode(value))) == look(value)
    assert codec.decode(codec.encode(value)) == value


def test_K09_a_generic_class_holds_its_argument() -> None:
    """A box of an item comes back as a box of an item, and takes nothing else."""

    codec = codec_for(Box[Item])
    back = codec.decode(codec.encode(Box(Item("a"), (Item("b"),), Item("c"))))

    assert back == Box(Item("a"), (Item("b"),), Item("c"))
    assert type(back.inside) is Item
    with pytest.raises(NotEncodable, match=r"^more\[1\] cannot be encoded as Item: is of type int$"):
        codec_for(cast("TypeForm[object]", Box[Item])).encode(Box(Item("a"), (Item("b"), 1)))


def test_K17_a_class_inside_a_function_works_or_is_refused() -> None:
    """A local class can name itself and what its module has; another local name is an error that names the field."""

    @attrs.define
    class Local:
        size: int
        item: Item | None = None
        inner: tuple[Local, ...] = ()

    @attrs.define
    class Outer:
        local: dict[str, Local]

    codec = codec_for(Local)

    assert codec.decode(codec.encode(Local(1, Item("a"), (Local(2),)))) == Local(1, Item("a"), (Local(2),))
    with pytest.raises(UnsupportedType, match=r"at local: it cannot be looked up \(name 'Local' is not defined\)"):
        codec_for(Outer)


def test_a_local_class_is_itself_and_not_its_namesake() -> None:
    """A local class that has the name of one of the module refers to itself."""

    @attrs.frozen
    class Pong:
        again: Pong | None

    make: Callable[[object], object] = cast("Callable[[object], object]", Pong)
    codec = codec_for(cast("TypeForm[object]", Pong))
    value = make(make(None))

    assert codec.decode(codec.encode(value)) == value


def test_a_typed_dict_can_name_itself_wherever_it_is() -> None:
    """A typed dict that was made at run time, and that its module knows nothing of, can hold more of its kind."""

    said = {"__module__": __name__, "__annotations__": {"branches": "list[Branch]"}}
    codec = codec_for(
        cast("TypeForm[object]", types.new_class("Branch", (TypedDict,), exec_body=lambda ns: ns.update(said)))
    )
    value: object = {"branches": [{"branches": list[object]()}]}

    assert codec.decode(codec.encode(value)) == value


def again() -> type[object]:
    """A class that refers to itself by a quoted name, of which `typing` has one object for all."""
    return attrs.make_class("Again", {"inner": attrs.field(type=typing.__dict__["List"]["Again"])})


def test_namesakes_refer_to_themselves() -> None:
    """Of two classes with one name, each refers to itself, in whatever order their codecs are made."""

    for cls in (again(), again()):
        make = cast("Callable[[object], object]", cls)
        codec = codec_for(cast("TypeForm[object]", cls))
        value = make([make([])])

        assert codec.decode(codec.encode(value)) == value


def test_K18_an_absent_key_stays_absent() -> None:
    """A typed dict without its optional keys comes back without them."""

    class Opt(TypedDict):
        a: NotRequired[int]

    codec = codec_for(Opt)

    assert codec.encode({}) == b"{}"
    assert codec.decode(b"{}") == {}
    assert codec_for(Loose).decode(b'{"b":"x"}') == {"b": "x"}


@pytest.mark.parametrize(
    ("form", "data", "path"),
    [
        (Movie, b'{"title":"a"}', "rating"),
        (Movie, b'{"title":"a","rating":1,"b":2}', "b"),
        (Tight, b'{"b":"x"}', "c"),
        (Tight, b'{"c":[]}', "b"),
        (Movie, b'{"title":"a","rating":1,"year":null}', "year"),
    ],
)
def test_a_typed_dict_has_its_keys(form: object, data: bytes, path: str) -> None:
    """A required key that is missing, a key that is unknown and a null where none is declared are refused."""

    with pytest.raises(NotDecodable) as caught:
        codec_for(cast("TypeForm[object]", form)).decode(data)

    assert caught.value.path == path


def test_K19_a_missing_key_takes_its_default() -> None:
    """A field that is not in the bytes gets its default, made anew; an unknown key is refused."""

    codec = codec_for(Job)
    one, two = (codec.decode(b'{"_id":"j","title":"t"}') for _ in range(2))

    assert (one.size, one.items, one.limit) == (1, [], 3)
    assert one.items is not two.items
    with pytest.raises(NotDecodable, match=r"^title cannot be decoded: is missing, and Job has no default for it$"):
        codec.decode(b'{"_id":"j"}')
    with pytest.raises(NotDecodable, match=r"^colour cannot be decoded: is no field of Job$"):
        codec.decode(b'{"_id":"j","title":"t","colour":1}')


def test_a_constructor_that_refuses_is_an_error_of_the_bytes() -> None:
    """What a validator refuses cannot be decoded; the path leads to the object, and the cause is kept."""

    with pytest.raises(NotDecodable, match="Job refuses its fields: ValueError") as caught:
        codec_for(list[Job]).decode(b'[{"_id":"j","title":"t","size":-1}]')

    assert caught.value.path == "[0]"
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_constructor_that_makes_something_else_is_refused() -> None:
    """What the constructor makes has to be of the declared class."""

    with pytest.raises(NotDecodable, match="the constructor of Changeling made a Title"):
        codec_for(Changeling).decode(b'{"x":1}')


def test_a_field_that_was_never_set_is_refused() -> None:
    """An object with a field that has no value cannot be stored."""

    half = Point(1)
    del half.norm

    with pytest.raises(NotEncodable, match="its field norm was never set"):
        codec_for(Point).encode(half)


class Kind(enum.Enum):
    """Two kinds."""

    A = "a"
    B = "b"


@attrs.frozen
class Deep:
    """Enums and literals inside classes inside containers."""

    kinds: frozenset[Kind]
    by_kind: dict[Kind, Literal["x", "y"]]


def test_K08_members_inside_classes_are_the_same_members() -> None:
    """Members in nested classes come back as themselves."""

    value = [Deep(frozenset(Kind), {Kind.B: "x", Kind.A: "y"})]
    codec = codec_for(list[Deep])

    assert look(codec.decode(codec.encode(value))) == look(value)
