"""Who is meant by the subject of a fact: which names are one person's, and which person is the user.

A pure function of what memory holds at a moment: who spoke in which role, what facts say of names and relatives, and
what callers ruled. Nothing of it is stored, so an undoing, a forgetting or a past moment needs nothing of its own.

The user is the speaker that the caller named; else the one who is called as the owner; else the only speaker in the
role user. With several and none of these, nobody is: then no profile line and no trait is learnt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from embermem import languages
from embermem.core.attributes import attributes
from embermem.core.text import fold
from embermem.core.types import (
    Fact,
    FactId,
    FactProposal,
    Owner,
    Person,
    Persona,
    PersonRelation,
    ProfileField,
    Relation,
    Role,
)
from embermem.languages.people import AGENT, USER, Called, called, label, mentions, no_name, told_in, whose

__all__ = ["People", "people_of", "profile_from", "profile_value", "shown", "speaker_of"]

_NAME_CHARS = 60
"""Characters of a speaker's name by which the speaker is known."""
_BORN = re.compile(r"(?:19|20)\d\d$")
_NAMES = ("name", "nickname")
_RELATIVES = ("has_relative", "knows")
_SIDES = {Role.USER: USER, Role.ASSISTANT: AGENT}


def speaker_of(speaker: str, role: Role) -> str:
    """The subject of what a speaker says of themselves: the name, or the side of one without."""
    name = " ".join(speaker.split())[:_NAME_CHARS]
    return _SIDES.get(role, USER) if no_name(name) else name


def people_of(owner: Owner, persona: Persona, more: Iterable[Fact] = ()) -> People:
    """Everybody whom a persona knows; `more` are facts beside those that it holds, such as archived ones."""
    return People(owner, persona.relations, (*persona.facts, *persona.agent_facts, *more), persona.profile)


class People:
    """The persons of one owner's memory at a moment."""

    def __init__(
        self,
        owner: Owner,
        relations: Sequence[PersonRelation],
        facts: Sequence[Fact],
        profile: Sequence[ProfileField] = (),
    ) -> None:
        self._written: dict[str, str] = {}
        self._roles: dict[str, dict[Role, None]] = {}
        self._above: dict[str, str] = {}
        self._ids: dict[str, str] = {}
        self._members: dict[str, list[str]] | None = None
        self._shown: dict[FactId, tuple[Fact, Fact]] = {}
        self._facts = facts
        self._owner = fold(owner.user)
        self._told: dict[str, str] = {}
        for one in relations:
            if one.relation is Relation.SPEAKS:
                self._roles.setdefault(self._node(one.one), {})[Role(one.other)] = None
        rulings = [one for one in relations if one.relation is Relation.IS]
        self._apart = [(self._meant(one.one), self._meant(one.other)) for one in rulings if not one.holds]
        for one in rulings:
            if one.holds:
                self._join(self._meant(one.one), self._meant(one.other))
        self._user = self._find_user(owner)
        self._find_agent(owner)
        for fact in facts:
            self._subject(fact.subject)
        self._join_names(profile)
        self._join_kin()
        self._join_relatives()

    @property
    def user(self) -> str | None:
        """The id of the user, None while nobody is known to be."""
        return self._user

    def id_of(self, subject: str) -> str:
        """Whom a subject means: an id that is the same for all names of a person."""
        if subject not in self._ids:
            root = self._root(self._subject(subject))
            roles = [role for role in (USER, AGENT) if root == self._root(role)]
            role = next((role for role in roles if role != USER or self._user is not None), None)
            self._ids[subject] = role or fold(self._best_name(root)) or root
        return self._ids[subject]

    def of(self, fact: Fact | FactProposal) -> str:
        """The id of the person a fact is about."""
        return self.id_of(fact.subject)

    def find(self, name: str) -> str | None:
        """The id of the person with a name, a kin word or an id; None for nobody known."""
        told = called(name)
        nodes = [fold(" ".join(name.split())), fold(told.name)]
        if told.kin and not told.name and fold(told.of) in self._above:
            of = self._written[self._root(told.of)]
            nodes.append(fold(whose(of, told.kin, languages.by_signs(told.kin))))
        known = next((node for node in nodes if node in self._above), None)
        return None if known is None else self.id_of(self._written[known])

    def named_in(self, text: str) -> frozenset[str]:
        """The ids of everybody whom a text names: by a name, or as "my sister"."""
        folded = fold(text)
        said = {*re.findall(r"[^\W_]+(?:-[^\W_]+)*", folded)}
        found = set()
        for node, written in tuple(self._written.items()):
            if node in (USER, AGENT):
                continue
            told = called(written)
            word, of = (fold(told.kin), fold(told.of)) if told.kin and not told.name else (node, "")
            if of not in ("", USER, self._owner) and of not in folded and self.id_of(told.of) != USER:
                continue
            if word in said or ((" " in word or not word.isascii()) and word in folded):
                found.add(self.id_of(written))
        return frozenset(found)

    def words_for(self, person_id: str) -> tuple[str, ...]:
        """The names of a person, and the kin words by which the user's relatives are named: "Ana", "sister"."""
        nodes = self._nodes_of(self._root(person_id)) if person_id in self._above else []
        written = [self._written[node] for node in nodes if node not in (USER, AGENT)]
        return tuple(told.name or told.kin for name in written if (told := self._called(name)))

    def is_user(self, subject: str) -> bool:
        """Whether a subject means the user."""
        return self._user is not None and self.id_of(subject) == USER

    def name_of(self, person_id: str) -> str:
        """What a person is called: the name; of the user and the agent without one, the role."""
        return self._best_name(self._root(person_id)) or person_id

    def named(self, fact: Fact) -> str:
        """A fact's text with its subject by name, wherever it is read: a text of an older store has none, nor may one
        of a caller's own ("alice: The door is locked"); and where a name became known later it stands in place of "The
        user"."""
        language = told_in(fact.text)
        name = self.name_of(self.of(fact))
        said = label(fact.subject, language)
        wanted = label(name, language)
        of = self._called(fact.subject).of or fold(fact.subject)
        if of in (USER, AGENT, self._owner) and fact.text.startswith(said):
            return wanted + fact.text[len(said) :]
        nodes = self._nodes_of(self._root(self._subject(fact.subject)))
        known = [fact.subject, name, *(self._written[node] for node in nodes)]
        if any(mentions(fact.text, one) for one in (said, *known) if one not in (USER, AGENT)):
            return fact.text
        return (language.said_by if fact.text[:1].isupper() else language.of_subject)(wanted, fact.text)

    def shown(self, fact: Fact) -> Fact:
        """A fact as it is read: with the person's name, which the text names too."""
        known = self._shown.get(fact.id)
        if known is None or known[0] is not fact:
            known = fact, replace(fact, person=self.name_of(self.of(fact)), text=self.named(fact))
            self._shown[fact.id] = known
        return known[1]

    def all(self) -> tuple[Person, ...]:
        """Everybody, the user and the agent first, then those of whom most is known."""
        members: dict[str, list[str]] = {}
        for node in tuple(self._above):
            members.setdefault(self.id_of(self._written[node]), []).append(node)
        counts: dict[str, int] = {}
        for fact in self._facts:
            if fact.current:
                counts[self.of(fact)] = counts.get(self.of(fact), 0) + 1
        found = (
            Person(
                id=person_id,
                name=self.name_of(person_id),
                names=tuple(self._names_of(nodes)),
                roles=tuple(dict.fromkeys(role for node in nodes for role in self._roles.get(node, ()))),
                facts=counts.get(person_id, 0),
            )
            for person_id, nodes in members.items()
        )
        known = [one for one in found if one.names or one.roles or one.facts]
        first = {USER: 0, AGENT: 1}
        return tuple(sorted(known, key=lambda one: (first.get(one.id, 2), -one.facts, fold(one.name))))

    # ------------------------------------------------------------------------------------------------ who is one person

    def _subject(self, subject: str) -> str:
        """The node of a subject as facts have it."""
        told = self._called(subject)
        if told.name:
            if told.kin:
                self._join(self._node(told.name), self._kin(told.of, told.kin))
            return self._node(told.name)
        return self._kin(told.of, told.kin)

    def _meant(self, name: str) -> str:
        """The node of a name in a ruling, which may be made before it is known whose names are one."""
        told = self._called(name)
        if told.kin and not told.name:
            return self._node(whose(told.of, told.kin, languages.by_signs(told.kin)))
        return self._node(told.name)

    def _called(self, name: str) -> Called:
        """The parts of a name; that of a speaker is a name, also "Tutor"."""
        return Called("", "", name) if fold(" ".join(name.split())) in self._roles else called(name)

    def _kin(self, of: str, kin: str) -> str:
        """The node of somebody's relative, whatever the one is called whose relative it is."""
        root, language = self._root(of), languages.by_signs(kin)
        node = self._node(whose(self._written[root], kin, language))
        for name in [self._written[one] for one in self._nodes_of(root)]:
            other = fold(whose(name, kin, language))
            if other != node and other in self._above:
                self._join(node, other)
        return node

    def _node(self, name: str) -> str:
        node = fold(" ".join(name.split()))
        if node not in self._above:
            self._above[node] = node
            self._members = None
            self._written[node] = " ".join(name.split())
        return node

    def _root(self, node: str) -> str:
        if node not in self._above:
            node = self._node(node)
        while self._above[node] != node:
            node = self._above[node]
        return node

    def _join(self, one: str, other: str) -> None:
        """Both are one person, unless a caller ruled that some name of the one is not some name of the other."""
        first, second = self._root(one), self._root(other)
        if first == second:
            return
        for a, b in self._apart:
            if {self._root(a), self._root(b)} == {first, second}:
                return
        if second in (USER, AGENT):
            first, second = second, first
        self._above[second] = first
        self._members = None
        self._ids.clear()

    def _speakers(self, role: Role) -> list[str]:
        return [node for node, roles in self._roles.items() if role in roles]

    def _find_user(self, owner: Owner) -> str | None:
        """The user's id, joined to the speaker who is the user."""
        self._node(USER)
        if any(node in self._roles for node in self._nodes_of(self._root(USER)) if node != USER):
            return USER  # as a caller ruled
        speakers = self._speakers(Role.USER)
        named = [node for node in speakers if _goes_by(self._written[node], owner.user) and not self._is_apart(node)]
        if len(named) == 1:
            self._join(USER, named[0])
            return USER
        others = [node for node in speakers if node != USER and not self._is_apart(node)]
        if len(others) == 1 and USER not in speakers:
            self._join(USER, others[0])
        return USER if len(others) <= 1 and (not others or USER not in speakers) else None

    def _is_apart(self, node: str) -> bool:
        return any({one, other} == {node, USER} for one, other in self._apart)

    def _find_agent(self, owner: Owner) -> None:
        self._node(AGENT)
        user = self._root(USER)
        speakers = [node for node in self._speakers(Role.ASSISTANT) if node != AGENT and self._root(node) != user]
        named = [node for node in speakers if _goes_by(self._written[node], owner.agent)]
        for node in named or (speakers if len(speakers) == 1 else ()):
            self._join(AGENT, node)

    def _join_names(self, profile: Iterable[ProfileField]) -> None:
        """A name that somebody says they have, unless it is another speaker's."""
        told = [(fact.subject, fact.value) for fact in self._facts if fact.attribute in _NAMES and fact.current]
        if self._user is not None:
            told += [(USER, line.value) for line in profile if line.name == "name"]
        for subject, name in told:
            node = self._node(name)
            self._told[node] = " ".join(name.split())
            if node not in self._roles and called(name).kin == "":
                self._join(self._subject(subject), node)

    def _join_kin(self) -> None:
        """What is said of somebody's relative is said of one, though it became known later whose names are one."""
        for name in tuple(self._written.values()):
            told = self._called(name)
            if told.kin and not told.name:
                self._join(self._node(name), self._kin(told.of, told.kin))

    def _join_relatives(self) -> None:
        """ "Bob's sister" is Ana where Bob has one sister with a name."""
        named: dict[str, list[str]] = {}
        for fact in self._facts:
            told = called(fact.value) if fact.attribute in _RELATIVES and fact.current else None
            if told is not None and told.kin and told.name:
                named.setdefault(self._kin(fact.subject, told.kin), []).append(self._node(told.name))
        for kin, names in named.items():
            if len({self._root(name) for name in names}) == 1:
                self._join(names[0], kin)

    # ---------------------------------------------------------------------------------------------------------- names

    def _nodes_of(self, root: str) -> list[str]:
        """The nodes of a person, in the order in which they became known."""
        if self._members is None:
            members: dict[str, list[str]] = {}
            for node in tuple(self._above):
                members.setdefault(self._root(node), []).append(node)
            self._members = members
        return self._members.get(root, [])

    def _names_of(self, nodes: Iterable[str]) -> list[str]:
        """Names first, then kin words, with the name of the one whose relative it is; a role is no name."""
        written = [self._written[node] for node in nodes if node not in (USER, AGENT)]
        relatives = {name: told for name in written if (told := self._called(name)).kin}
        kin = (
            whose(self._own_name(self._root(told.of)) or told.of, told.kin, languages.by_signs(told.kin))
            for told in relatives.values()
        )
        return list(dict.fromkeys((*(name for name in written if name not in relatives), *kin)))

    def _best_name(self, root: str) -> str:
        """A name of a person's own, else a kin word; nothing for a role without a name."""
        return self._own_name(root) or next(iter(self._names_of(self._nodes_of(root))), "")

    def _own_name(self, root: str) -> str:
        """The name that a speaker goes by, else the first name known. A speaker who goes by the owner's id is called by
        the name that was told, if one was."""
        nodes = [node for node in self._nodes_of(root) if node not in (USER, AGENT)]
        names = [self._written[node] for node in nodes if not self._called(self._written[node]).kin]
        speaks = [name for name in names if fold(name) in self._roles and fold(name) != self._owner]
        told = [name for node, name in reversed(self._told.items()) if self._root(node) == root]
        return next(iter((*speaks, *told, *names)), "")


def profile_value(attribute: str, value: str) -> tuple[str, str] | None:
    """The field of a profile that a fact is also told in, and the value there; None for a fact that is in none."""
    known = attributes().get(attribute)
    name = known.profile if known else None
    if attribute == "gender":
        value = languages.gender(value) or value.replace("transgender ", "trans ")
    elif attribute == "birthday" and (year := _BORN.search(value)):
        name, value = "birth_year", year.group()
    return None if name is None else (name, value)


def profile_from(facts: Iterable[Fact]) -> tuple[ProfileField, ...]:
    """The profile of somebody who is not the user, from the facts about them: of each field the newest."""
    found: dict[str, ProfileField] = {}
    for fact in facts:
        line = profile_value(fact.attribute, fact.value)
        if line is not None:
            found.pop(line[0], None)
            found[line[0]] = ProfileField(
                whose=fact.about,
                name=line[0],
                value=line[1],
                sources=fact.sources,
                recorded_at=fact.recorded_at,
                valid_from=fact.valid_from,
                change_no=fact.change_no,
                set_by="analyst",
            )
    return tuple(sorted(found.values(), key=lambda line: line.name))


def shown(facts: Iterable[Fact], people: People) -> tuple[Fact, ...]:
    """Facts as they are read: with the names of the persons they are about."""
    return tuple(people.shown(fact) for fact in facts)


def _goes_by(speaker: str, owner: str) -> bool:
    """Whether a speaker is called as an owner: the same name, or its first part."""
    name, known = fold(speaker), fold(owner)
    return name == known or name.split()[:1] == [known]
