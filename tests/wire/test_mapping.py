"""Records are filled, and read back, by what their fields declare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest

from embermem.wire.mapping import WHOLE, From, from_record, to_record


@dataclass(frozen=True, kw_only=True, slots=True)
class Ring:
    """A thing of the core inside another."""

    width: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Tree:
    """A thing of the core."""

    name: str
    height: float
    rings: tuple[Ring, ...] = ()
    felled: Ring | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RingItem:
    """A record inside a record."""

    mm: Annotated[int, From("width")]


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeData:
    """A record made of the same thing as the one around it."""

    metres: Annotated[float, From("height")]
    rings: tuple[RingItem, ...]
    felled: RingItem | None
    place: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeItem:
    """A record."""

    label: Annotated[str, From("name")]
    shouted: Annotated[str, From("name", str.upper)]
    height: Annotated[int, From(by=round)]
    owner: str
    score: float | None = None
    data: Annotated[TreeData, WHOLE]


OAK = Tree(name="oak", height=20.25, rings=(Ring(width=3), Ring(width=4)))
OAK_ITEM = TreeItem(
    label="oak",
    shouted="OAK",
    height=20,
    owner="alice",
    data=TreeData(metres=20.25, rings=(RingItem(mm=3), RingItem(mm=4)), felled=None, place="Lyon"),
)


def test_a_record_holds_what_its_fields_name_and_what_is_given_and_is_read_back() -> None:
    assert to_record(TreeItem, OAK, owner="alice", place="Lyon") == OAK_ITEM

    assert from_record(Tree, OAK_ITEM) == OAK

    item = to_record(TreeItem, OAK, owner="alice", place="Lyon", label="elm", score=0.5)
    assert (item.label, item.score) == ("elm", 0.5)
    assert from_record(Tree, OAK_ITEM, name="elm").name == "elm"

    with pytest.raises(TypeError, match=r"TreeItem\.owner: Tree has no attribute 'owner'"):
        to_record(TreeItem, OAK, place="Lyon")
    with pytest.raises(TypeError, match="TreeItem has no field colour"):
        to_record(TreeItem, OAK, owner="alice", place="Lyon", colour="green")
    with pytest.raises(TypeError, match=r"Tree\.height: RingItem does not hold it"):
        from_record(Tree, RingItem(mm=3), name="oak")
