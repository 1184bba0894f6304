"""State classes: what is refused in one, how a state begins and how an update is merged into it."""

from __future__ import annotations

import dataclasses
import datetime as dt
from typing import TYPE_CHECKING, Annotated, Any, cast

import attrs
import pytest

from effectgraph.effects.codec import codec_for
from effectgraph.graph.errors import InputMissing, StateInvalid, UpdateRefused
from effectgraph.graph.reducers import add, append
from effectgraph.graph.state import given, updates
from effectgraph.graph.state_type import StateType, state_type_of
from effectgraph.stores.records import Piece

if TYPE_CHECKING:
    from builtins import int as Elsewhere


@attrs.frozen(kw_only=True)
class Order:
    """Frozen, and nothing in it can change."""

    id: str = given()
    total: int = 0
    receipt: str | None = None
    notes: Annotated[tuple[str, ...], append] = ()


@dataclasses.dataclass
class Loose:
    """A dataclass that is open, with lists in it."""

    id: str = given()
    rows: list[dict[str, int]] = dataclasses.field(default_factory=list[dict[str, int]])
    tags: Annotated[list[str], append] = dataclasses.field(default_factory=list[str])
    sum: Annotated[int, add] = 10


SHARED_DEFAULT: list[str] = []


@attrs.define
class SharedDefault:
    """All its objects have one list as their default."""

    rows: list[str] = SHARED_DEFAULT


@attrs.frozen
class Money:
    """A value inside a state."""

    cents: int = 0


@attrs.frozen(kw_only=True)
class Wallet:
    """Frozen, with a dict in it."""

    money: Money = Money()
    by_day: dict[str, Money] = attrs.Factory(dict[str, Money])


def not_negative(instance: object, attribute: object, value: int) -> None:
    """A validator."""
    if value < 0:
        raise ValueError("below zero")


@attrs.frozen
class Valid:
    """A state that refuses some values of the right type."""

    total: int = attrs.field(default=0, validator=not_negative)


@attrs.define
class Meddling:
    """A state whose constructor changes what it gets."""

    name: str = ""

    def __attrs_post_init__(self) -> None:
        self.name = self.name.strip()


change = updates(Order)
orders = state_type_of(Order)
loose = state_type_of(Loose)
loosely = updates(Loose)


def stored(pieces: tuple[Piece, ...]) -> dict[str, tuple[bytes, bool]]:
    """What the pieces hold, by field."""
    return {piece.field: (piece.value, piece.appended) for piece in pieces}


def test_a_new_thread_has_defaults_and_its_input() -> None:
    """A thread begins with the defaults, then the input as an update."""

    begun = orders.begin(change(id="o-1", total=3), by="thread o-1, input")

    assert begun.state == Order(id="o-1", total=3)


def test_the_first_pieces_are_the_whole_state() -> None:
    """Defaults are stored with the input: a thread keeps those that it started with."""

    begun = orders.begin(change(id="o-1"), by="thread o-1, input")

    assert stored(begun.pieces) == {
        "id": (codec_for(str).encode("o-1"), False),
        "total": (codec_for(int).encode(0), False),
        "receipt": (codec_for(str | None).encode(None), False),
        "notes": (codec_for(tuple[str, ...]).encode(()), False),
    }


def test_all_missing_fields_are_named() -> None:
    """What the input must bring is told at once, with the call that brings it."""

    @attrs.frozen
    class Two:
        a: int = given()
        b: int = given()
        c: int = 0

    with pytest.raises(InputMissing) as caught:
        state_type_of(Two).begin(None, by="thread t, input")

    assert caught.value.fields == ("a", "b")
    assert str(caught.value) == (
        "thread t, input: the input has to bring a, b; start the thread with change(a=..., b=...)"
    )


def test_G06_defaults_count() -> None:
    """A sum that starts at 10 and gets 5 is 15."""

    begun = loose.begin(loosely(id="t", sum=5), by="thread t, input")

    assert begun.state.sum == 15
    assert stored(begun.pieces)["sum"] == (codec_for(int).encode(15), False)


@pytest.mark.parametrize("cls", [Loose, SharedDefault])
def test_G06_defaults_are_not_shared_between_threads(cls: type[Loose] | type[SharedDefault]) -> None:
    """A list that is a default belongs to one thread, even where the class shares it between its objects."""

    state_type: StateType[Any] = state_type_of(cls)
    given_fields = updates(Loose)(id="t") if cls is Loose else None

    one = state_type.begin(given_fields, by="thread one, input").state
    two = state_type.begin(given_fields, by="thread two, input").state
    one.rows.append("x")

    assert (one.rows, two.rows, SHARED_DEFAULT) == (["x"], [], [])


def test_an_update_changes_the_fields_it_names() -> None:
    """The other fields stay, and only what changed is stored."""

    state = Order(id="o-1", total=3, notes=("a",))

    merged = orders.merge(state, change(receipt="ch_1"), by="node pay")

    assert merged.state == Order(id="o-1", total=3, receipt="ch_1", notes=("a",))
    assert stored(merged.pieces) == {"receipt": (codec_for(str | None).encode("ch_1"), False)}


def test_no_update_changes_nothing() -> None:
    """A node that returns nothing leaves the state as it is."""

    state = Order(id="o-1")

    merged = orders.merge(state, None, by="node pay")

    assert merged.state is state
    assert merged.pieces == ()


@pytest.mark.parametrize("update", [change(total=3), change.replace(total=3, notes=("a",)), change(notes=())])
def test_a_field_that_gets_its_own_value_did_not_change(update: Any) -> None:
    """Fields that did not change are not written."""

    state = Order(id="o-1", total=3, notes=("a",))

    assert orders.merge(state, update, by="node pay").pieces == ()


def test_values_that_are_equal_but_not_the_same_are_a_change() -> None:
    """0.0 and -0.0, and dicts in another order, are equal for Python and told apart by a program."""

    @attrs.frozen
    class Exact:
        x: float = 0.0
        d: dict[str, int] = attrs.Factory(dict[str, int])

    exact, update = state_type_of(Exact), updates(Exact)
    state = Exact(x=0.0, d={"a": 1, "b": 2})

    merged = exact.merge(state, update(x=-0.0, d={"b": 2, "a": 1}), by="node n")

    assert [piece.field for piece in merged.pieces] == ["x", "d"]
    assert (str(merged.state.x), list(merged.state.d)) == ("-0.0", ["b", "a"])


def test_U4_a_value_of_the_wrong_type_is_refused() -> None:
    """What `Any` hides from a type checker is found when the update is merged; node and field are named."""

    with pytest.raises(UpdateRefused) as caught:
        orders.merge(Order(id="o-1"), change(total=cast("Any", "x")), by="node pay")

    assert (caught.value.by, caught.value.field) == ("node pay", "total")
    assert str(caught.value).startswith("node pay: field total: ")


def test_U4_nothing_is_converted() -> None:
    """True is no int, and 3.0 is none either: types are exact."""

    for wrong in (True, 3.0, None, b"3"):
        with pytest.raises(UpdateRefused):
            orders.merge(Order(id="o-1"), change(total=cast("Any", wrong)), by="node pay")


def test_K23_a_wrong_value_deep_inside_names_its_path() -> None:
    """The error says where in the field the value is."""

    wallets = state_type_of(Wallet)

    with pytest.raises(UpdateRefused, match="cents"):
        wallets.merge(Wallet(), updates(Wallet)(by_day={"mon": Money(cast("Any", "x"))}), by="node n")


def test_an_appended_value_is_checked_as_well() -> None:
    """A wrong item in an appended tuple is refused before it is merged."""

    with pytest.raises(UpdateRefused) as caught:
        orders.merge(Order(id="o-1"), change(notes=cast("Any", ("ok", 3))), by="node pay")

    assert caught.value.field == "notes"


@pytest.mark.parametrize(("returned", "why"), [({"total": 1}, "a value of type dict is no update"), (Order(), "Order")])
def test_G02_only_an_update_is_merged(returned: object, why: str) -> None:
    """A node that returns a dict or a state changes nothing."""

    with pytest.raises(UpdateRefused, match=f"{why}.*; make one with updates\\(Order\\); nothing was changed"):
        orders.merge(Order(id="o-1"), returned, by="node pay")


def test_an_update_of_another_state_is_refused() -> None:
    """An update is merged into the class that it was made for."""

    with pytest.raises(UpdateRefused, match="an update of Loose, but the state is Order"):
        orders.merge(Order(id="o-1"), loosely(id="x"), by="node pay")


def test_what_the_class_itself_refuses_is_told() -> None:
    """A validator of the state class is a check on every update."""

    with pytest.raises(UpdateRefused, match=r"node n: Valid refuses these values \(ValueError: below zero"):
        state_type_of(Valid).merge(Valid(), updates(Valid)(total=-1), by="node n")


def test_a_constructor_that_changes_values_is_refused() -> None:
    """A state rebuilt from the store must be the one that was live, so the constructor keeps what it gets."""

    with pytest.raises(UpdateRefused, match="its constructor changes field name"):
        state_type_of(Meddling).merge(Meddling(), updates(Meddling)(name=" x "), by="node n")


def test_G04_the_state_shares_nothing_with_the_update() -> None:
    """What is done to an input or an update afterwards changes nothing."""

    rows = [{"a": 1}]
    tags = ["x"]
    begun = loose.begin(loosely(id="t", rows=rows, tags=tags), by="thread t, input")
    more = ["y"]
    merged = loose.merge(begun.state, loosely(tags=more), by="node n")

    rows[0]["a"] = 2
    rows.append({})
    tags.append("z")
    more.append("z")

    assert merged.state == Loose(id="t", rows=[{"a": 1}], tags=["x", "y"], sum=10)


def test_G04_a_node_may_do_to_its_state_what_it_likes() -> None:
    """An isolated state is equal and shares nothing that can change."""

    state = Loose(id="t", rows=[{"a": 1}], tags=["x"])

    mine = loose.isolated(state)
    before = dataclasses.replace(mine)
    mine.rows[0]["a"] = 2
    mine.tags.append("y")
    mine.id = "u"

    assert before.rows is mine.rows
    assert state == Loose(id="t", rows=[{"a": 1}], tags=["x"])


def test_a_frozen_state_of_immutable_values_is_shared() -> None:
    """Where nothing can change, nothing is copied."""

    state = Order(id="o-1", notes=("a",) * 1000)

    assert orders.shared
    assert orders.isolated(state) is state


def test_an_open_state_is_not_shared() -> None:
    """A class whose fields can be set is copied, whatever is in them."""

    meddlings = state_type_of(Meddling)
    state = Meddling("x")

    mine = meddlings.isolated(state)
    mine.name = "y"

    assert not meddlings.shared
    assert state == Meddling("x")


def test_a_frozen_state_with_a_list_is_not_shared() -> None:
    """Frozen fields may hold what can change: those are copied, the others are not."""

    wallets = state_type_of(Wallet)
    state = Wallet(money=Money(3), by_day={"mon": Money(1)})

    mine = wallets.isolated(state)

    assert not wallets.shared
    assert mine == state
    assert mine.by_day is not state.by_day
    assert mine.money is state.money


def test_a_default_that_is_made_anew_is_checked_when_it_is_made() -> None:
    """What a factory makes is seen only when a thread begins; then it is held against its field's type."""

    @attrs.frozen
    class Made:
        rows: tuple[int, ...] = attrs.Factory(cast("Any", list))

    with pytest.raises(UpdateRefused, match="input of thread t, with defaults: field rows: "):
        state_type_of(Made).begin(None, by="input of thread t")


def test_a_field_may_be_called_like_its_type() -> None:
    """Names in annotations mean what they mean in the module, not the field beside them."""

    @attrs.frozen
    class Named:
        date: dt.date | None = None
        Money: Money | None = None

    named = state_type_of(Named)

    merged = named.merge(Named(), updates(Named)(Money=Money(3)), by="node n")

    assert merged.state == Named(Money=Money(3))


def test_a_field_without_a_type_is_refused() -> None:
    """A class that was made without annotations says nothing that a value could be held against."""

    made = attrs.make_class("Made", {"x": attrs.field(default=None)})

    with pytest.raises(StateInvalid, match=r"field x: its type cannot be looked up \(it has none\); annotate it"):
        state_type_of(made)


def test_everything_wrong_with_a_state_is_told_at_once() -> None:
    """Each problem names its field and the way out."""

    @attrs.define
    class Wrong:
        bare: int
        anything: Any = None
        lost: Elsewhere = 3
        alias: int = attrs.field(default=0, alias="other")
        hidden: int = attrs.field(default=0, init=False)
        turned: int = attrs.field(default=0, converter=int)
        sum: Annotated[str | None, "add"] = None
        typo: Annotated[tuple[int, ...], "apend"] = ()
        number: int = cast("Any", "x")

    with pytest.raises(StateInvalid) as caught:
        state_type_of(Wrong)

    told = caught.value.problems
    assert caught.value.state == "Wrong"
    for start in (
        "field bare: no default; give it one, or mark it with `= given()`",
        "field anything: ",
        "field lost: its type cannot be looked up (name 'Elsewhere' is not defined); annotate it",
        "field alias: the constructor does not take it by this name",
        "constructor parameter other: is no field",
        "field hidden: the constructor does not take it by this name",
        "field turned: has a converter",
        "field sum: reducer add joins numbers",
        "field typo: no reducer 'apend'; name append, add, merge, union, or give a function (old, new)",
        "field number: its default is not of its type",
    ):
        assert [problem for problem in told if problem.startswith(start)] != [], (start, told)
    assert len(told) == 10
