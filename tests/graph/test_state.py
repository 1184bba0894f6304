"""Updates: how they are made and joined."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Annotated, Any, cast

import attrs
import pytest

from effectgraph.graph.errors import UpdateInvalid
from effectgraph.graph.state import Change, given, updates


@attrs.frozen(kw_only=True)
class Order:
    """A state with a given field and one that is appended to."""

    id: str = given()
    total: int = 0
    receipt: str | None = None
    notes: Annotated[tuple[str, ...], "append"] = ()


@attrs.frozen
class Other:
    """Another state."""

    total: int = 0


@dataclasses.dataclass(frozen=True)
class Plain:
    """A dataclass."""

    id: str = given()
    total: int = 0


class Derived(Order):
    """A subclass that nobody decorated."""

    extra: int = 0


change = updates(Order)


def test_an_update_holds_only_the_fields_that_were_named() -> None:
    """An update is partial: a given field may be left out as any other may."""

    update = change(total=3, receipt=None)

    assert dict(update.changes) == {"total": Change(3, replace=False), "receipt": Change(None, replace=False)}
    assert update.state is Order


def test_replace_is_remembered() -> None:
    """`change.replace` goes past the reducer, so the update has to tell it from a plain change."""

    assert dict(change.replace(notes=()).changes) == {"notes": Change((), replace=True)}


def test_two_updates_are_joined() -> None:
    """`a | b` has the fields of both, each as it was made."""

    joined = change(total=3) | change.replace(notes=("paid",))

    assert dict(joined.changes) == {"total": Change(3, replace=False), "notes": Change(("paid",), replace=True)}


def test_G07_one_field_in_both_sides_is_an_error() -> None:
    """Two values for one field are never settled on a guess, whichever way they were made."""

    with pytest.raises(UpdateInvalid, match=r"update of Order: notes in both sides of `\|`; name a field once"):
        _ = change(notes=("a",)) | change.replace(notes=())


def test_updates_of_two_states_are_not_joined() -> None:
    """An update belongs to one state class, even if the other one has a field of the same name."""

    other = cast("Any", updates(Other)(total=1))

    with pytest.raises(UpdateInvalid, match="update of Order: cannot be joined with one of Other"):
        _ = change(receipt="x") | other


def test_an_unknown_field_names_the_near_one() -> None:
    """A field that the state does not have is an error where it is written, and the likely one is named."""

    with pytest.raises(UpdateInvalid, match=r"update of Order: no field reciept; did you mean receipt\?"):
        change(**cast("Any", {"reciept": "x"}))


def test_an_unknown_field_that_is_like_none_lists_them_all() -> None:
    """Where no field is near, all of them are named."""

    with pytest.raises(UpdateInvalid, match="no field zzz; the fields are id, total, receipt, notes"):
        change.replace(**cast("Any", {"zzz": 1}))


def test_a_value_without_a_name_is_refused() -> None:
    """The order of fields is no part of an update."""

    positional = cast("Any", updates(Other))

    with pytest.raises(UpdateInvalid, match="1 values without a name; write field=value"):
        positional(1)


def test_a_dataclass_is_a_state_too() -> None:
    """Dataclasses work as attrs classes do."""

    assert updates(Plain)(total=2).changes == {"total": Change(2, replace=False)}


@pytest.mark.parametrize("no_state", [int, dict, Derived])
def test_only_a_decorated_class_has_updates(no_state: Any) -> None:
    """A class that is not itself an attrs class or dataclass may have fields that nobody sees."""

    with pytest.raises(UpdateInvalid, match="not an attrs class or dataclass"):
        updates(no_state)


def test_what_is_no_class_has_no_updates() -> None:
    """A function has a constructor's parameters for a type checker; it is no state class."""

    def make(total: int = 0) -> Order:
        return Order(total=total)

    with pytest.raises(UpdateInvalid, match="not a class"):
        updates(make)


def test_an_update_shows_its_fields_and_not_its_values() -> None:
    """A state may hold secrets and megabytes: what is printed of an update are names."""

    assert repr(change(receipt="secret") | change.replace(notes=())) == "<Update of Order: receipt, notes replaced>"


def test_the_error_comes_back_from_pickle() -> None:
    """Errors cross processes whole."""

    error = UpdateInvalid("Order", "no field x")

    copy = pickle.loads(pickle.dumps(error))

    assert (str(copy), copy.state, copy.why) == (str(error), "Order", "no field x")


def test_a_given_field_shows_as_what_it_is() -> None:
    """A state made by hand without a given field shows what is missing in it."""

    assert repr(Order()) == "Order(id=given(), total=0, receipt=None, notes=())"
