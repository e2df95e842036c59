"""Who is meant by the subject of a fact: which names are one person's, and which person is the user.

A pure function of what memory holds at a moment: who spoke in which role, what facts say of names and relatives, and
what callers ruled. Nothing of it is stored, so an undoing, a forgetting or a past moment needs nothing of its own.

The user is the speaker that the caller named; else the one who is called as the owner; else the only speaker with a
name in the role user, or one without a name. With several and none of these, nobody is: then no profile line and no
trait is learnt.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from embermem import languages
from embermem.core.attributes import BUILT_IN, Attributes
from embermem.core.text import fold
from embermem.core.types import (
    Fact,
    FactId,
    FactProposal,
    Owner,
    Person,
    Persona,
    ProfileField,
    Role,
)
from embermem.languages.people import AGENT, USER, called, label, mentions, no_name, told_in, whose
from embermem.memoryos.names import Names, folded
from embermem.memoryos.namesakes import NAMES, RELATIVES, Namesakes

__all__ = ["NAMING", "People", "names_relative", "profile_from", "profile_value", "shown", "speaker_of"]

NAMING = NAMES | RELATIVES
"""The attributes of facts that say who is who."""
_NAME_CHARS = 60
"""Characters of a speaker's name by which the speaker is known."""
_BORN = re.compile(r"(?:19|20)\d\d$")
_UNDECIDED = "?"
"""The end of an id of what was told of a name that may be several persons'."""
_SIDES = {Role.USER: USER, Role.ASSISTANT: AGENT}


def speaker_of(speaker: str, role: Role) -> str:
    """The subject of what a speaker says of themselves: the name, or the side of one without."""
    name = " ".join(speaker.split())[:_NAME_CHARS]
    return _SIDES.get(role, USER) if no_name(name) else name


_P = ParamSpec("_P")
_T = TypeVar("_T")


def _one_at_a_time(
    method: Callable[Concatenate[People, _P], _T],
) -> Callable[Concatenate[People, _P], _T]:
    """A name that is asked for and not known yet becomes known: recalls of several threads ask one after the other."""

    @wraps(method)
    def held(self: People, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        with self.lock:
            return method(self, *args, **kwargs)

    return held


class People:
    """The persons of one owner's memory at a moment: everybody whom a persona knows. Safe to call from several
    threads.

    `subjects`: whom all facts speak of, in their order, with how many do, where the persona has only those facts that
    say who is who (`NAMING`, `names_relative`), and those with a subject that `is_unclear`. `conflicting` finds the
    pairs of facts that cannot both be true; by default there are none.
    """

    def __init__(
        self,
        owner: Owner,
        persona: Persona,
        subjects: Mapping[str, int] | None = None,
        conflicting: Callable[[People], Iterable[tuple[Fact, Fact]]] = lambda people: (),
    ) -> None:
        self.lock = threading.RLock()
        self._conflicting = conflicting
        self._conflicts: tuple[tuple[Fact, Fact], ...] | None = None
        self._against: dict[FactId, list[FactId]] = {}
        names = self._names = Names(persona.relations)
        self._ids: dict[str, str] = {}
        self._nodes: dict[str, str] = {}
        self._worked_out_at = -1
        self._shown: dict[FactId, tuple[Fact, Fact]] = {}
        self._facts = (*persona.facts, *persona.agent_facts)
        self._owner = fold(owner.user)
        self._told: dict[str, str] = {}
        self._user = self._find_user(owner)
        self._find_agent(owner)
        self._namesakes = Namesakes(names, self._facts)
        self._subjects = subjects
        for subject in (fact.subject for fact in self._facts) if subjects is None else subjects:
            self._subject(subject)
        self._join_names(persona.profile)
        self._join_kin()
        self._join_relatives()

    @property
    def user(self) -> str | None:
        """The id of the user, None while nobody is known to be."""
        return self._user

    @_one_at_a_time
    def is_unclear(self, subject: str) -> bool:
        """Whether a subject is a name of several people: then only a fact itself says whom it is about."""
        return self._namesakes.is_open(folded(subject))

    @_one_at_a_time
    def id_of(self, subject: str) -> str:
        """Whom a subject means: an id that is the same for all names of a person."""
        if self._worked_out_at != self._names.joins:
            self._ids.clear()
            self._worked_out_at = self._names.joins
        if subject not in self._ids:
            node = self._subject(subject)
            self._ids[subject] = self._id(node)
        return self._ids[subject]

    @_one_at_a_time
    def of(self, fact: Fact | FactProposal) -> str:
        """The id of the person a fact is about."""
        first = self._namesakes.alone(fact)
        return self.id_of(fact.subject) if first is None else self._id(first.node)

    @_one_at_a_time
    def find(self, name: str) -> str | None:
        """The id of the person with a name, a kin word or an id; None for nobody known."""
        told = called(name)
        if told.kin and folded(told.of) in self._names and (one := self._namesakes.of(told)) is not None:
            return self._id(one.node)
        nodes = [folded(name), folded(told.name)]
        nodes += [folded(name).removesuffix(_UNDECIDED)] if folded(name) in self._undecided() else []
        if told.kin and not told.name and fold(told.of) in self._names:
            nodes.append(fold(whose(self._names.written[self._names.root(told.of)], told.kin)))
        known = next((node for node in nodes if node in self._names), None)
        return None if known is None else self.id_of(self._names.written[known])

    @_one_at_a_time
    def namesakes(self, name: str) -> tuple[str, ...]:
        """What those are called whom a name may mean, where nothing says which; nothing for a name that is one
        person's."""
        told = called(name)
        if not self._namesakes.is_open(folded(told.name)) or (told.kin and self._namesakes.of(told) is not None):
            return ()
        all_of = self._namesakes.all_of(folded(told.name))
        return tuple(dict.fromkeys(self._best_name(self._names.root(one.node)) for one in all_of))

    @_one_at_a_time
    def in_full(self, subject: str) -> str:
        """A subject with the relation, where the name alone could be another one's: "Ann's brother Jonas". `subject`
        has the kin word. Else the name alone."""
        told = called(subject)
        return subject if self._namesakes.needs_kin(told) else told.name

    @_one_at_a_time
    def namesake_in(self, fact: Fact, name: str) -> str | None:
        """Which of the people of a name a fact is about or names as somebody's relative, in full; None for neither."""
        told, node = self._namesakes.telling(fact), folded(name)
        if told is not None and folded(told.name) == node:
            one = self._namesakes.of(told)
        else:
            one = next((one for one in self._namesakes.all_of(node) if self._id(one.node) == self.of(fact)), None)
        return None if one is None else self._best_name(self._names.root(one.node))

    @_one_at_a_time
    def names_for(self, fact: FactProposal) -> frozenset[str]:
        """All subjects by which a person may have been told of."""
        person = self.of(fact)
        nodes = self._names.nodes_of(self._names.root(self._nodes.get(person, person)))
        alone = (name for name in self._namesakes if self._id(self._namesakes.all_of(name)[0].node) == person)
        return frozenset({fact.subject, *(self._names.written[node] for node in nodes), *alone})

    @_one_at_a_time
    def named_in(self, text: str) -> frozenset[str]:
        """The ids of everybody whom a text names: by a name, or as "my sister"."""
        folded = fold(text)
        said = {*re.findall(r"[^\W_]+(?:-[^\W_]+)*", folded)}
        found = set()
        for node, written in tuple(self._names.written.items()):
            if node in (USER, AGENT):
                continue
            if self._namesakes.is_open(node):
                if mentions(folded, node):
                    found |= self._meant_by(node, folded)
                continue
            told = called(written)
            word, of = (fold(told.kin), fold(told.of)) if told.kin and not told.name else (node, "")
            if of not in ("", USER, self._owner) and of not in folded and self.id_of(told.of) != USER:
                continue
            if word in said or ((" " in word or not word.isascii()) and word in folded):
                found.add(self.id_of(written))
        return frozenset(found)

    @_one_at_a_time
    def words_for(self, person_id: str) -> tuple[str, ...]:
        """The names of a person, and the kin words by which the user's relatives are named: "Ana", "sister"."""
        nodes = self._names.nodes_of(self._names.root(self._nodes.get(person_id, person_id)))
        written = (self._names.written[node] for node in nodes if node not in (USER, AGENT))
        parts = (self._names.called(name) for name in written)
        return tuple(dict.fromkeys(word for told in parts for word in (told.name, told.kin) if word))

    def _meant_by(self, name: str, text: str) -> set[str]:
        """Whom a text means by a name of several people: those whose kin words stand in it, else all."""
        all_of = self._namesakes.all_of(name)
        fits = [one for one in all_of if any(mentions(text, kin) for kin in one.kins)]
        return {self._id(one.node) for one in fits} or {self._id(name), *(self._id(one.node) for one in all_of)}

    def is_user(self, subject: str) -> bool:
        """Whether a subject means the user."""
        return self._user is not None and self.id_of(subject) == USER

    @_one_at_a_time
    def name_of(self, person_id: str) -> str:
        """What a person is called: the name; of the user and the agent without one, the role."""
        root = self._names.root(self._nodes.get(person_id, person_id))
        return self._best_name(root) or self._names.written[root]

    @_one_at_a_time
    def named(self, fact: Fact) -> str:
        """A fact's text with its subject by name, wherever it is read: a text of a migrated store has none, nor may one
        of a caller's own ("alice: The door is locked"); and where a name became known later it stands in place of "The
        user"."""
        language = told_in(fact.text)
        name = self.name_of(self.of(fact))
        said = label(fact.subject, language)
        wanted = label(name, language)
        alone = called(fact.subject).name
        if folded(alone) in self._namesakes and fold(alone) != fold(name):
            return _in_place(alone, wanted, fact.text)
        of = self._names.called(fact.subject).of or fold(fact.subject)
        if of in (USER, AGENT, self._owner) and fact.text.startswith(said):
            return wanted + fact.text[len(said) :]
        nodes = self._names.nodes_of(self._names.root(self._subject(fact.subject)))
        known = [fact.subject, name, *(self._names.written[node] for node in nodes)]
        if any(mentions(fact.text, one) for one in (said, *known) if one not in (USER, AGENT)):
            return fact.text
        return (language.said_by if fact.text[:1].isupper() else language.of_subject)(wanted, fact.text)

    def shown(self, fact: Fact) -> Fact:
        """A fact as it is read: with the person's name, which the text names too, and the facts that it contradicts."""
        _ = self.conflicts  # not under the lock: it may read the store
        with self.lock:
            known = self._shown.get(fact.id)
            if known is None or known[0] is not fact:
                name, others = self.name_of(self.of(fact)), tuple(self._against.get(fact.id, ()))
                known = fact, replace(fact, person=name, text=self.named(fact), conflicts=others)
                self._shown[fact.id] = known
            return known[1]

    @property
    def conflicts(self) -> tuple[tuple[Fact, Fact], ...]:
        """The pairs of current facts that cannot both be true (memoryos/conflicts.py)."""
        if self._conflicts is None:
            found, against = tuple(self._conflicting(self)), dict[FactId, list[FactId]]()
            for one, other in found:
                against.setdefault(one.id, []).append(other.id)
                against.setdefault(other.id, []).append(one.id)
            self._against, self._conflicts = against, found
        return self._conflicts

    @_one_at_a_time
    def all(self) -> tuple[Person, ...]:
        """Everybody, the user and the agent first, then those of whom most is known."""
        members: dict[str, list[str]] = {}
        for node in self._names:
            members.setdefault(self.id_of(self._names.written[node]), []).append(node)
        all_here = self._subjects is None
        told = (fact for fact in self._facts if fact.current and (all_here or self.is_unclear(fact.subject)))
        counts = Counter(map(self.of, told))
        for subject, count in (self._subjects or {}).items():
            if not self.is_unclear(subject):
                counts[self.id_of(subject)] += count
        undecided = self._undecided()
        found = (
            Person(
                id=person_id,
                name=self.name_of(person_id),
                names=tuple(self._names_of(nodes)),
                roles=tuple(dict.fromkeys(role for node in nodes for role in self._names.roles.get(node, ()))),
                facts=counts[person_id],
                undecided=person_id in undecided,
            )
            for person_id, nodes in members.items()
        )
        known = [one for one in found if one.roles or one.facts or (one.names and not one.undecided)]
        first = {USER: 0, AGENT: 1}
        return tuple(sorted(known, key=lambda one: (first.get(one.id, 2), -one.facts, fold(one.name))))

    # ------------------------------------------------------------------------------------------------ who is one person

    def _subject(self, subject: str) -> str:
        """The node of a subject as facts have it."""
        told = self._names.called(subject)
        if told.name:
            if (one := self._namesakes.of(told)) is not None:
                return one.node
            if told.kin:
                self._names.join(self._names.node(told.name), self._names.relative(told.of, told.kin))
            return self._names.node(told.name)
        return self._names.relative(told.of, told.kin)

    def _speakers(self, role: Role) -> list[str]:
        return [node for node, roles in self._names.roles.items() if role in roles]

    def _find_user(self, owner: Owner) -> str | None:
        """The user's id, joined to the speaker who is the user."""
        self._names.node(USER)
        if owner.space is not None:
            return None  # many speak in a space, each by name
        if any(node in self._names.roles for node in self._names.nodes_of(self._names.root(USER)) if node != USER):
            return USER  # as a caller ruled
        speakers = self._speakers(Role.USER)
        named = [
            node for node in speakers if _goes_by(self._names.written[node], owner.user) and not self._is_apart(node)
        ]
        if len(named) == 1:
            self._names.join(USER, named[0])
            return USER
        others = [node for node in speakers if node != USER and not self._is_apart(node)]
        if len(others) == 1:
            self._names.join(USER, others[0])
        return USER if len(others) <= 1 else None

    def _is_apart(self, node: str) -> bool:
        return any({one, other} == {node, USER} for one, other in self._names.apart)

    def _find_agent(self, owner: Owner) -> None:
        self._names.node(AGENT)
        user = self._names.root(USER)
        speakers = [node for node in self._speakers(Role.ASSISTANT) if node != AGENT and self._names.root(node) != user]
        named = [node for node in speakers if _goes_by(self._names.written[node], owner.agent)]
        for node in named or (speakers if len(speakers) == 1 else ()):
            self._names.join(AGENT, node)

    def _join_names(self, profile: Iterable[ProfileField]) -> None:
        """A name that somebody says they have, unless it is another speaker's."""
        told = [(fact.subject, fact.value) for fact in self._facts if fact.attribute in NAMES and fact.current]
        if self._user is not None:
            told += [(USER, line.value) for line in profile if line.name == "name"]
        for subject, name in told:
            node = self._names.node(name)
            self._told[node] = " ".join(name.split())
            if (one := self._namesakes.of(called(subject)._replace(name=name))) is not None:
                self._names.join(self._subject(subject), one.node)
            elif node not in self._names.roles and called(name).kin == "":
                self._names.join(self._subject(subject), node)

    def _join_kin(self) -> None:
        """What is said of somebody's relative is said of one, though it became known later whose names are one."""
        for name in tuple(self._names.written.values()):
            told = self._names.called(name)
            if told.kin and not told.name:
                self._names.join(self._names.node(name), self._names.relative(told.of, told.kin))

    def _join_relatives(self) -> None:
        """ "Bob's sister" is Ana where Bob has one sister with a name."""
        named: dict[str, list[str]] = {}
        for fact in self._facts:
            told = called(fact.value) if fact.attribute in RELATIVES and fact.current else None
            if told is not None and told.kin and told.name:
                one = self._namesakes.of(told._replace(of=fact.subject))
                node = self._names.node(told.name) if one is None else one.node
                named.setdefault(self._names.relative(fact.subject, told.kin), []).append(node)
        for kin, names in named.items():
            if len({self._names.root(name) for name in names}) == 1:
                self._names.join(names[0], kin)

    def _undecided(self) -> frozenset[str]:
        """The ids of those of whom nobody knows who they are."""
        user = {USER + _UNDECIDED} if self._user is None else set()
        return frozenset(user | {name + _UNDECIDED for name in self._namesakes if self._namesakes.is_open(name)})

    # ---------------------------------------------------------------------------------------------------------- names

    def _id(self, node: str) -> str:
        root = self._names.root(node)
        roles = [role for role in (USER, AGENT) if root == self._names.root(role)]
        role = next((role for role in roles if role != USER or self._user is not None), None)
        known = role or fold(self._best_name(root)) or root
        if known == USER != role or self._namesakes.is_open(known):
            known += _UNDECIDED
        self._nodes[known] = root
        return known

    def _names_of(self, nodes: Iterable[str]) -> list[str]:
        """Names first, then kin words, with the name of the one whose relative it is; a role is no name."""
        written = [self._names.written[node] for node in nodes if node not in (USER, AGENT)]
        relatives = {name: told for name in written if (told := self._names.called(name)).kin}
        names = [name for name in written if name not in relatives]
        kin = [
            (whose(self._own_name(self._names.root(told.of)) or told.of, told.kin, told.name), bool(told.name))
            for told in relatives.values()
        ]
        in_full = [] if names else [name for name, is_full in kin if is_full]
        return list(dict.fromkeys((*names, *in_full, *(name for name, is_full in kin if not is_full))))

    def _best_name(self, root: str) -> str:
        """A name of a person's own, else a kin word; nothing for a role without a name."""
        return self._own_name(root) or next(iter(self._names_of(self._names.nodes_of(root))), "")

    def _own_name(self, root: str) -> str:
        """The name that a speaker goes by, else the first name known. A speaker who goes by the owner's id is called by
        the name that was told, if one was."""
        nodes = [node for node in self._names.nodes_of(root) if node not in (USER, AGENT)]
        names = [self._names.written[node] for node in nodes if not self._names.called(self._names.written[node]).kin]
        speaks = [name for name in names if fold(name) in self._names.roles and fold(name) != self._owner]
        told = [name for node, name in reversed(self._told.items()) if self._names.root(node) == root]
        return next(iter((*speaks, *told, *names)), "")


def names_relative(subject: str) -> bool:
    """Whether a subject has a name and a kin word: "Bob's sister Ana"."""
    told = called(subject)
    return bool(told.kin and told.name)


def profile_value(attribute: str, value: str, known: Attributes = BUILT_IN) -> tuple[str, str] | None:
    """The field of a profile that a fact is also told in, and the value there; None for a fact that is in none."""
    name = known.profile(attribute)
    if attribute == "gender":
        value = languages.gender(value) or value.replace("transgender ", "trans ")
    elif attribute == "birthday" and (year := _BORN.search(value)):
        name, value = "birth_year", year.group()
    return None if name is None or not known.may_show(name) else (name, value)


def profile_from(facts: Iterable[Fact], known: Attributes = BUILT_IN) -> tuple[ProfileField, ...]:
    """The profile of somebody who is not the user, from the facts about them: of each field the newest."""
    found: dict[str, ProfileField] = {}
    for fact in facts:
        line = profile_value(fact.attribute, fact.value, known)
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


def _in_place(name: str, wanted: str, text: str) -> str:
    """A text with somebody in full where the name alone stands."""
    if mentions(text, wanted) or not mentions(text, name):
        return text
    return re.sub(rf"(?i)\b{re.escape(name)}\b" if name.isascii() else re.escape(name), lambda _: wanted, text, count=1)
