"""Names that are one person's: a graph of names as they were said, joined where they mean one, kept apart as ruled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from embermem.core.text import fold
from embermem.core.types import PersonRelation, Relation, Role
from embermem.languages.people import AGENT, USER, Called, called, whose

__all__ = ["Names", "folded"]


def folded(name: str) -> str:
    """The node of a name: the same for all spellings that differ in case or spaces only."""
    return fold(" ".join(name.split()))


class Names:
    """The names of one memory, as nodes: `written` as they were said first, `roles` those in which a name speaks."""

    def __init__(self, relations: Iterable[PersonRelation]) -> None:
        self.written: dict[str, str] = {}
        self.roles: dict[str, dict[Role, None]] = {}
        self.joins = 0
        """How often names were joined: who is who is worked out anew then."""
        self._above: dict[str, str] = {}
        self._members: dict[str, list[str]] = {}
        self._members_at = (0, 0)
        relations = tuple(relations)
        for one in relations:
            if one.relation is Relation.SPEAKS:
                self.roles.setdefault(self.node(one.one), {})[Role(one.other)] = None
        rulings = [one for one in relations if one.relation is Relation.IS]
        self.apart = [(self._ruled(one.one), self._ruled(one.other)) for one in rulings if not one.holds]
        for one in rulings:
            if one.holds:
                self.join(self._ruled(one.one), self._ruled(one.other))

    def __contains__(self, node: str) -> bool:
        return node in self._above

    def __iter__(self) -> Iterator[str]:
        """The nodes known by now."""
        return iter(tuple(self._above))

    def node(self, name: str) -> str:
        """The node of a name, which is known from now on."""
        node = folded(name)
        if node not in self._above:
            self._above[node] = node
            self.written[node] = " ".join(name.split())
        return node

    def root(self, name: str) -> str:
        """The node that stands for all names of a person."""
        node = name if name in self._above else self.node(name)
        while self._above[node] != node:
            node = self._above[node]
        return node

    def known_root(self, name: str) -> str:
        """The root of a name that is known, else its node."""
        node = folded(name)
        return self.root(node) if node in self._above else node

    def join(self, one: str, other: str) -> None:
        """Both are one person, unless a caller ruled that some name of the one is not some name of the other."""
        first, second = self.root(one), self.root(other)
        if first == second or self.are_apart(first, second):
            return
        if second in (USER, AGENT):
            first, second = second, first
        self._above[second] = first
        self.joins += 1

    def are_apart(self, one: str, other: str) -> bool:
        """Whether a caller ruled that some name of the one is not some name of the other."""
        roots = {self.root(one), self.root(other)}
        return any({self.root(a), self.root(b)} == roots for a, b in self.apart)

    def nodes_of(self, root: str) -> list[str]:
        """The nodes of a person, in the order in which they became known."""
        if self._members_at != (now := (self.joins, len(self._above))):
            self._members, self._members_at = {}, now
            for node in self:
                self._members.setdefault(self.root(node), []).append(node)
        return self._members.get(root, [])

    def called(self, name: str) -> Called:
        """The parts of a name; that of a speaker is a name, also "Tutor"."""
        return Called("", "", name) if folded(name) in self.roles else called(name)

    def relative(self, of: str, kin: str, name: str = "") -> str:
        """The node of somebody's relative, whatever the one is called whose relative it is."""
        root = self.root(of)
        node = self.node(whose(self.written[root], kin, name))
        for called_so in [self.written[one] for one in self.nodes_of(root)]:
            other = fold(whose(called_so, kin, name))
            if other != node and other in self._above:
                self.join(node, other)
        return node

    def _ruled(self, name: str) -> str:
        """The node of a name in a ruling, which may be made before it is known whose names are one."""
        told = self.called(name)
        return self.node(whose(told.of, told.kin, told.name) if told.kin else told.name)
