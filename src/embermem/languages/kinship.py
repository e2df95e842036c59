"""How persons are related, and which relations to somebody exclude one another: two people of one name are told apart
by them."""

from __future__ import annotations

from typing import NamedTuple


class Kin(NamedTuple):
    """What a kin word says: the relation, and the sex ("female", "male") and age ("elder", "younger") of who is called
    so; empty is what it does not say. A language's kin.csv has its words."""

    relation: str
    sex: str = ""
    age: str = ""


_RELATIONS: dict[str, frozenset[str]] = {
    "parent": frozenset(),
    "sibling": frozenset(),
    "child": frozenset(),
    "grandparent": frozenset({"father's parent", "mother's parent"}),
    "father's parent": frozenset({"grandparent"}),
    "mother's parent": frozenset({"grandparent"}),
    "grandchild": frozenset(),
    "parent's sibling": frozenset({"uncle or elder"}),
    "uncle or elder": frozenset({"parent's sibling", "acquaintance"}),
    "cousin": frozenset(),
    "sibling's child": frozenset(),
    "parent-in-law": frozenset(),
    "sibling-in-law": frozenset(),
    "child-in-law": frozenset(),
    "partner": frozenset({"acquaintance"}),
    "acquaintance": frozenset({"partner", "uncle or elder"}),
}
"""Each relation, with the others that one person may have to the same person; all others are excluded. A partner may be
a friend or a colleague, and a friend a colleague. A relative is one relative only, and no friend or colleague: who
calls somebody a colleague would have called a brother a brother."""
_OF_ANYBODY = frozenset({"godparent", "godchild"})
"""A godmother may be an aunt, a friend or a neighbour."""

OF_MANY = frozenset(
    {"parent's sibling", "uncle or elder", "cousin", "sibling's child", "sibling-in-law", "acquaintance"}
)
"""Relations in which several people mostly stand to somebody: who says "my uncle" twice may mean two."""
FOR_LIFE = frozenset({"parent", "sibling", "child", "grandparent", "father's parent", "mother's parent", "grandchild"})
"""Relations that nothing ends but a death."""
RELATIONS = _RELATIONS.keys() | _OF_ANYBODY


def exclude(one: Kin, other: Kin) -> bool:
    """Whether nobody is both of these to the same person."""
    if (one.sex and other.sex and one.sex != other.sex) or (one.age and other.age and one.age != other.age):
        return True
    if one.relation == other.relation or {one.relation, other.relation} & _OF_ANYBODY:
        return False
    return other.relation not in _RELATIONS[one.relation]
