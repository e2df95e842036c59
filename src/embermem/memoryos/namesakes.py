"""Several people of one name: told apart by what they are to who speaks of them.

A name that somebody's talk has for two relations which exclude one another ("my brother Jonas", "Jonas, a colleague")
is several people's. The name alone means the first until a second is told of, and from then on nobody: memory writes
down whom it means where the talk shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from embermem.core.types import Fact, FactProposal
from embermem.languages.people import AGENT, USER, Called, called, excluded, whose
from embermem.memoryos.names import Names, folded

__all__ = ["NAMES", "RELATIVES", "Namesake", "Namesakes", "ambiguous"]

NAMES = frozenset({"name", "nickname"})
"""The attributes that say what somebody is called."""
RELATIVES = frozenset({"has_relative", "knows"})
"""The attributes that name somebody's relatives and friends."""


class Namesake(NamedTuple):
    """One of several people of a name: whose talk tells them apart, by which kin words, since when, and the seqs of the
    utterances with these words."""

    node: str
    of: str
    kins: tuple[str, ...]
    since: tuple[int, int]
    said: frozenset[int]


class Namesakes:
    """The names that are several people's, by what facts say of relatives and by rulings on names."""

    def __init__(self, names: Names, facts: Iterable[Fact]) -> None:
        self._names = names
        self._of_name: dict[str, list[Namesake]] = {}
        told: dict[tuple[str, str], dict[str, list[Fact]]] = {}
        written: dict[str, str] = {}
        for fact in facts:
            if (known := self.telling(fact)) is not None:
                of, name = names.known_root(known.of), folded(known.name)
                told.setdefault((of, name), {}).setdefault(known.kin, []).append(fact)
                written.setdefault(name, known.name)
        self._kins = [(name, kin, of) for (of, name), kins in told.items() for kin in kins]
        groups = {key: self._groups(*key, kins) for key, kins in told.items()}
        several = {name for (_, name), apart in groups.items() if len(apart) > 1}
        for (of, name), apart in groups.items():
            for kins in apart if name in several else ():
                rest = [fact for kin in kins for fact in told[of, name][kin]]
                self._of_name.setdefault(name, []).append(self._namesake(of, written[name], kins, rest))
        for name, all_of in self._of_name.items():
            all_of.sort(key=lambda one: one.since)
            if name in names.roles:  # a speaker's name is the speaker's: the first who was told of
                names.join(name, all_of[0].node)
        for said in tuple(names.written.values()):
            known = names.called(said)
            if known.kin and known.name and self.of(known) is None:
                names.join(names.node(known.name), names.node(said))

    def __contains__(self, name: str) -> bool:
        """Whether the name of a node is several people's."""
        return name in self._of_name

    def __iter__(self) -> Iterator[str]:
        """The names that are several people's."""
        return iter(self._of_name)

    def all_of(self, name: str) -> Sequence[Namesake]:
        """The people of a name, the first who was told of first."""
        return self._of_name.get(name, ())

    def of(self, told: Called) -> Namesake | None:
        """Which of several people of a name is meant with a kin word: whom it was told of, else the only one whom it
        does not exclude."""
        all_of = self.all_of(folded(told.name)) if told.kin else ()
        mine = [one for one in all_of if self._names.root(one.of) == self._names.root(told.of)]
        if not mine and told.of == USER:
            mine = list(all_of)
        fits = [one for one in mine if told.kin in one.kins]
        fits = fits or [one for one in mine if not any(excluded(told.kin, kin) for kin in one.kins)]
        return fits[0] if len(fits) == 1 else None

    def alone(self, fact: Fact | FactProposal) -> Namesake | None:
        """Whom a name alone means: whose kin word the same utterance has; before a second of the name was told of, the
        first."""
        name = folded(fact.subject) if self._of_name else ""
        if not self.is_open(name):
            return None
        all_of = self._of_name[name]
        here = [one for one in all_of if any(source.seq in one.said for source in fact.sources[:1])]
        if len(here) == 1:
            return here[0]
        return all_of[0] if _since(fact) < all_of[1].since else None

    def is_open(self, name: str) -> bool:
        """Whether a name is several people's, and neither a speaker's nor ruled to be one of theirs."""
        if name not in self._of_name:
            return False
        root = self._names.root(name)
        taken = any(node in self._names.roles or node in (USER, AGENT) for node in self._names.nodes_of(root))
        return not taken and root not in {self._names.root(one.node) for one in self._of_name[name]}

    def needs_kin(self, told: Called) -> bool:
        """Whether a name could be another one's than who is told of with a kin word."""
        name, of = folded(told.name), self._names.known_root(told.of)
        kins = [kin for known, kin, by in self._kins if known == name and self._names.known_root(by) == of]
        return name in self._of_name or any(excluded(told.kin, kin) for kin in kins)

    def telling(self, fact: Fact) -> Called | None:
        """A name with a kin word, and whose talk it was, as a fact has it."""
        told = self._names.called(fact.subject)
        if told.kin and told.name:
            return told
        if fact.attribute in RELATIVES and fact.current:
            value = called(fact.value)
            return value._replace(of=fact.subject) if value.kin and value.name else None
        if fact.attribute in NAMES and fact.current and told.kin:
            return told._replace(name=fact.value)
        return None

    def _namesake(self, of: str, name: str, kins: Sequence[str], facts: Sequence[Fact]) -> Namesake:
        nodes = [self._names.relative(of, kin, name) for kin in kins]
        for node in nodes[1:]:
            self._names.join(nodes[0], node)
        said = frozenset(source.seq for fact in facts for source in fact.sources)
        return Namesake(nodes[0], of, tuple(kins), min(map(_since, facts)), said)

    def _groups(self, of: str, name: str, kins: Mapping[str, Sequence[Fact]]) -> list[list[str]]:
        """The kin words of somebody's talk that stand before a name, those of one person together."""
        groups: list[list[str]] = []
        for kin in sorted(kins, key=lambda kin: min(map(_since, kins[kin]))):
            fits = [group for group in groups if self._may_be_one(of, name, kin, group)]
            if len(fits) == 1:
                fits[0].append(kin)
            else:
                groups.append([kin])
        return groups

    def _may_be_one(self, of: str, name: str, kin: str, group: Iterable[str]) -> bool:
        """Whether who is called by a name and a kin word may be who goes by others: as was ruled, else by what
        excludes what."""
        one = self._ruled(of, name, kin)
        others = [node for other in group if (node := self._ruled(of, name, other)) is not None]
        if one is not None and others:
            if self._names.root(one) in map(self._names.root, others):
                return True
            if any(self._names.are_apart(one, other) for other in others):
                return False
        return not any(excluded(kin, other) for other in group)

    def _ruled(self, of: str, name: str, kin: str) -> str | None:
        """The node of somebody called by a kin word and a name in a ruling."""
        names = [of, *(self._names.written[node] for node in self._names.nodes_of(self._names.known_root(of)))]
        return next((node for one in names if (node := folded(whose(one, kin, name))) in self._names), None)


def ambiguous(name: str, namesakes: Iterable[str]) -> str:
    """What is wrong with a name that several people have, and what to do."""
    each = list(namesakes)
    return (
        f"{name!r} is the name of {len(each)} people: {', '.join(map(repr, each))}; name one of these, or say with "
        f"`merge_people` that they are one person"
    )


def _since(fact: Fact | FactProposal) -> tuple[int, int]:
    """When it was said first; what a caller brought, before all that was said."""
    return min(((source.seq, source.start or 0) for source in fact.sources), default=(0, 0))
