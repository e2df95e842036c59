"""Long-term personal memory: how proposals become facts, traits and profile lines (paper §3.2–3.3).

An analyst proposes; here it is decided. A fact supersedes another only if both speak of the same subject and
attribute, whatever an analyst says, and the attribute holds one value at a time, or the analyst names the fact that
ends. Where that cannot be decided both stay (memoryos/conflicts.py). Nothing is overwritten: what no longer holds is
retired. A value said again, also in other words, makes the known fact stronger.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import product

from embermem.core.attributes import BUILT_IN, OPPOSITE, Attributes, Kind, kind
from embermem.core.changes import (
    CALLER,
    Decision,
    FactAdded,
    FactAffirmed,
    FactArchived,
    FactExpires,
    FactPinned,
    FactRestored,
    FactRetired,
    FactStrengthened,
    PersonRelated,
    ProfileSet,
    TraitCleared,
    TraitSet,
)
from embermem.core.config import Settings
from embermem.core.equations import evidence_confidence, evidence_level
from embermem.core.errors import InputError
from embermem.core.metadata import Metadata
from embermem.core.traits import dimensions_by_name
from embermem.core.types import (
    About,
    Fact,
    FactId,
    FactProposal,
    Owner,
    Page,
    Persona,
    PersonaChange,
    PersonRelation,
    ProfileField,
    ProfileProposal,
    Relation,
    Role,
    Source,
    ThreadId,
    Trait,
    TraitProposal,
)
from embermem.core.user_overrides import Rulings
from embermem.languages.kinship import FOR_LIFE
from embermem.languages.people import called, is_parted, may_be_another, mentions, relation_of, whose
from embermem.languages.words import terms
from embermem.memoryos.ingest.knowledge_cap import as_written, over_cap
from embermem.memoryos.ingest.profile_lines import mirrors
from embermem.memoryos.ingest.proposal_times import (
    compared_at,
    first_said,
    last_said,
    later,
    newest,
    resting,
    said_after,
)
from embermem.memoryos.ingest.same_name import in_full
from embermem.memoryos.ingest.user_profile import follows, moved
from embermem.memoryos.ingest.value_equality import names, same_value
from embermem.memoryos.namesakes import NAMES, RELATIVES, ambiguous
from embermem.memoryos.people import People, profile_value, speaker_of

_Made = FactAdded | FactStrengthened | FactExpires | FactRetired

_TRAIT_SOURCES = 20
"""The newest sources that a trait names; older ones stand in its older versions."""
_NAMED = frozenset({"has_pet"}) | RELATIVES
"""Attributes whose value is told with its name or without: the one without is the same matter."""
_DOING = frozenset(
    ("collects", "does", "drives", "hobby", "learns", "likes", "owns", "plans", "plays", "prepares_for", "saves_for")
) | {"studies", "wants_to", "would_like_to"}
"""What somebody does or has is told of in several ways: its end may be told in another one than it was."""
_BEINGS = frozenset({"has_pet"}) | RELATIVES
"""Attributes whose values are persons and animals."""
_SHORT_IS = re.compile(r"(?<=\w{3})s$")
"""Of "wilfs been gone since May"."""
_NAMING = NAMES | RELATIVES
"""The attributes that say who is called what."""


class Knowledge:
    """What long-term memory holds of one owner, while decisions are made: the persona, and those archived and retired
    facts that speak of what is read, so that a page read twice teaches nothing twice."""

    def __init__(
        self,
        owner: Owner,
        persona: Persona,
        rulings: Rulings | None = None,
        said_at: Callable[[int], datetime | None] = lambda seq: None,
        thread_of: Callable[[int], ThreadId | None] = lambda seq: None,
        attributes: Attributes = BUILT_IN,
    ) -> None:
        """`said_at` says when the utterance of a seq was said; asked only where two facts are told of one day.
        `thread_of` says in which thread; asked only where a name is several people's."""
        self._owner = owner
        self._relations = persona.relations
        self._people: People | None = None
        self._rulings = rulings or Rulings()
        self._said_at = said_at
        self._thread_of = thread_of
        self._attributes = attributes
        self._refused: list[FactProposal] = []
        self._held: dict[FactId, Fact] = {fact.id: fact for fact in (*persona.facts, *persona.agent_facts)}
        self._others: dict[FactId, Fact] = {}
        self._traits: dict[str, Trait] = {trait.dimension: trait for trait in persona.traits}
        self._profile: dict[str, ProfileField] = {field.name: field for field in persona.profile}

    @property
    def people(self) -> People:
        """Who is meant by the subjects of facts, as is known by now."""
        if self._people is None:
            held, lines = tuple(self._held.values()), tuple(self._profile.values())
            self._people = People(self._owner, Persona(profile=lines, facts=held, relations=self._relations))
        return self._people

    def meet(self, pages: Iterable[Page]) -> list[Decision]:
        """The decisions that name the speakers of these pages who were not heard before; where it is somebody else now
        who is the user, or nobody, what follows for the profile."""
        known = {(one.one, one.other) for one in self._relations if one.relation is Relation.SPEAKS}
        met: list[PersonRelation] = []
        for u in (u for page in pages for u in page.utterances if u.role in (Role.USER, Role.ASSISTANT)):
            name = speaker_of(u.speaker, u.role)
            if (name, u.role.value) not in known:
                known.add((name, u.role.value))
                source = Source(seq=u.seq, utterance_id=u.id)
                met.append(PersonRelation(relation=Relation.SPEAKS, one=name, other=u.role.value, sources=(source,)))
        if not met:
            return []
        before = self.people
        self._relations, self._people = (*self._relations, *met), None
        return [*(PersonRelated.of(one) for one in met), *self._moved(before)]

    def _moved(self, before: People) -> list[ProfileSet | TraitCleared]:
        """What follows for the profile and traits where the user is not who it was."""
        persona = Persona(
            profile=tuple(self._profile.values()),
            traits=tuple(self._traits.values()),
            facts=tuple(fact for fact in self._held.values() if fact.about is About.USER),
        )
        now = moved(persona, before, self.people, self._attributes)
        self._profile = {line.name: line for line in now.profile}
        self._traits = {trait.dimension: trait for trait in now.traits}
        return follows(persona, now)

    def learn(
        self,
        change: PersonaChange,
        *,
        said: Mapping[int, datetime],
        known: Iterable[Fact],
        no: int,
        at: datetime,
        settings: Settings,
    ) -> list[Decision]:
        """The decisions that a proposal leads to. `said` gives the times of the utterances that were read: what rests
        on none of them is not believed. `known` are the facts, held or not, that rest on them already. `no` is the
        change's number, from which new facts get their ids; `at` is when it is recorded."""
        for fact in known:
            if fact.id not in self._held:
                self._others.setdefault(fact.id, fact)
        decisions: list[Decision] = []
        self._refused = []
        told = [one for proposal in resting(change.facts, said) if (one := self._in_fields(proposal)) is not None]
        for proposal in sorted(resting(change.dropped, said), key=newest, reverse=True):
            decisions += self._taken_back(proposal, told, said, at)
        for one in sorted(told, key=lambda p: p.sources[0].seq):
            proposal = in_full(one, told, self.people, (*self._held.values(), *self._others.values()), self._thread_of)
            if not proposal.retracts and self._is_ruled_out(proposal):
                self._refused.append(proposal)
            else:
                told_now = self._structural(self._fact(proposal, said, no, at))
                decisions += [*told_now, *self._following(told_now, proposal, told, at)]
        retired = [self._others[d.fact_id] for d in decisions if isinstance(d, FactRetired)]
        decisions += self._over_cap(settings)
        traits = [one for one in resting(change.traits, said) if self.people.is_user(one.subject)]
        decisions += [made for trait in traits if (made := self._trait(trait, said, at))]
        lines = [
            line
            for line in resting(change.profile, said)
            if self.people.is_user(line.subject) and not any(mirrors(one, line) for one in self._refused)
        ]
        decisions += [done for line in lines if (done := self._field(line, said, at)) is not None]
        return [*decisions, *self._ended(retired)]

    def _in_fields(self, proposal: FactProposal) -> FactProposal | None:
        """A proposal that was noted before a field changed, under the field's name now; None if it does not fit."""
        field = self._attributes.field(self._attributes.former.get(proposal.attribute, proposal.attribute))
        if field is None or proposal.about is About.AGENT or proposal.retracts:
            return proposal
        value = field.fits(proposal.value)
        return None if value is None else replace(proposal, attribute=field.name, value=value, single=field.single)

    def bring(
        self,
        brought: Iterable[tuple[FactProposal, datetime | None, Metadata, datetime | None]],
        *,
        seq: int,
        no: int,
        at: datetime,
        settings: Settings,
    ) -> tuple[list[Decision], tuple[FactId, ...]]:
        """The decisions that facts of the caller's own lead to, each with when it expires, its metadata and, if
        it is over, until when it held; and what each became.

        The same rules, but for three: they rest on nothing that was said; no ruling refuses them, because the caller's
        word is newer than what he ruled; and what was said up to `seq` does not end them.
        """
        decisions: list[Decision] = []
        became: list[FactId] = []
        for place, (proposal, expires_at, metadata, until) in enumerate(brought):
            if namesakes := self.people.namesakes(proposal.subject):
                raise InputError(f"facts[{place}]: {ambiguous(proposal.subject, namesakes)}")
            made: list[Decision] = [*self._structural(self._fact(proposal, {}, no, at))]
            first = made[0]
            assert isinstance(first, FactAdded | FactStrengthened)
            became.append(first.fact_id)
            if isinstance(first, FactAdded):
                made[0] = replace(first, expires_at=expires_at, metadata=metadata)
            elif not metadata.items() <= self._held[first.fact_id].own_metadata.items():
                made, became[-1] = self._labelled(self._held[first.fact_id], metadata, expires_at, no, at)
            elif expires_at is not None:
                made.append(FactExpires(fact_id=first.fact_id, at=expires_at))
            held = self._held.get(became[-1])
            if until is not None and held is not None and not later(held.valid_from, until):
                made.append(self._retire(held, None, until, at))
            decisions += made
        decisions += [
            FactAffirmed(fact_id=fact_id, upto_seq=seq) for fact_id in dict.fromkeys(became) if fact_id in self._held
        ]
        retired = [self._others[d.fact_id] for d in decisions if isinstance(d, FactRetired)]
        return [*decisions, *self._over_cap(settings), *self._ended(retired)], tuple(became)

    def _labelled(
        self, known: Fact, metadata: Metadata, expires_at: datetime | None, no: int, at: datetime
    ) -> tuple[list[Decision], FactId]:
        """A known fact with further metadata: a new one takes its place, true from when that was."""
        count = sum(1 for fact in (*self._held.values(), *self._others.values()) if fact.change_no == no)
        new = replace(
            known,
            id=FactId(f"f{no}-{count:03}"),
            own_metadata={**known.own_metadata, **metadata},
            expires_at=expires_at or known.expires_at,
            recorded_at=at,
            change_no=no,
        )
        made: list[Decision] = [FactAdded.of(new), self._retire(known, new.id, known.valid_from, at)]
        self._held[new.id] = new
        return [*made, *([FactPinned(fact_id=new.id, pinned=True)] if known.pinned else [])], new.id

    def _taken_back(
        self, dropped: FactProposal, told: Sequence[FactProposal], said: Mapping[int, datetime], at: datetime
    ) -> list[Decision]:
        """The decisions that take back what was learnt of a page from a finding that is wrong: a fact that rests on it
        alone is retired as if it never held, and what it superseded or ended holds again. What a caller affirmed or
        pinned, and what is still told, stays."""
        same = [one for one in told if one.retracts is dropped.retracts and one.attribute == dropped.attribute]
        if any(one.subject == dropped.subject and same_value(one.value, dropped.value, one.attribute) for one in same):
            return []
        seqs, made = {source.seq for source in dropped.sources}, list[Decision]()
        if dropped.retracts:
            when = dropped.valid_from or first_said(dropped.sources, said)
            ended = [one for one in self._others.values() if one.retired_at is not None and one.superseded_by is None]
            meant = _meant(self._alike(ended, dropped), dropped)
            back = [one for one in meant if one.valid_to == when and one.valid_from != when]
        else:
            alike = [one for one in self._alike(self._held.values(), dropped) if _says(one, dropped)]
            wrong = [one for one in alike if one.sources and seqs >= {source.seq for source in one.sources}]
            wrong = [one for one in wrong if not one.pinned and not self._rulings.keeps(one.id, newest(dropped))]
            back = [one for one in self._others.values() if one.superseded_by in {fact.id for fact in wrong}]
            made += [self._retire(fact, None, fact.valid_from, at) for fact in wrong]
            made += self._ended([self._others[fact.id] for fact in wrong])
        for fact in back:
            del self._others[fact.id]
            self._held[fact.id] = replace(fact, retired_at=None, superseded_by=None, valid_to=None)
            made.append(FactRestored(fact_id=fact.id))
        if dropped.attribute in _NAMING:
            self._people = None
        lines = [self._line(fact) for fact in back]
        return [*made, *(done for line in lines if line is not None and (done := self._field(line, said, at)))]

    def _line(self, fact: Fact) -> ProfileProposal | None:
        """The line of the user's profile that a fact says; None where it says none."""
        line = profile_value(fact.attribute, fact.value, self._attributes)
        if line is None or fact.about is not About.USER or not fact.sources or not self.people.is_user(fact.subject):
            return None
        return ProfileProposal(name=line[0], value=line[1], sources=fact.sources, subject=fact.subject)

    def _is_ruled_out(self, proposal: FactProposal) -> bool:
        """Whether a caller has ruled out a value, told of the person by whatever name."""
        seq, known = newest(proposal), self._rulings.denied or self._rulings.barred
        names = product(self.people.names_for(proposal), self._attributes.names_of(proposal.attribute)) if known else ()
        for name, attribute in names:
            named = replace(proposal, subject=name, attribute=attribute)
            if self._rulings.forbids(named, seq) or any(
                seq <= upto and same_value(proposal.value, value, proposal.attribute)
                for value, upto in self._rulings.denied_of(named)
            ):
                return True
        return False

    # ------------------------------------------------------------------------------------------------------- facts

    def _fact(self, proposal: FactProposal, said: Mapping[int, datetime], no: int, at: datetime) -> list[_Made]:
        told = first_said(proposal.sources, said) if proposal.sources else at
        when = proposal.valid_from or told
        if proposal.replaces is not None:
            return self._replacing(proposal, said, no, at)
        alike = self._alike(self._held.values(), proposal)
        put_away = self._alike(filter(_is_put_away, self._others.values()), proposal)
        if proposal.retracts:
            meant = _meant((*alike, *put_away), proposal) or _named_in(self._of_person(proposal), proposal)
            return [
                self._retire(fact, None, when, at)
                for fact in meant or self._being(proposal)
                if (proposal.sure or fact.attribute != "has_relative" or relation_of(fact.value) not in FOR_LIFE)
                and not said_after(fact, proposal, when)
                and not self._rulings.keeps(fact.id, newest(proposal))
            ]
        if self._known_source(proposal):
            return []
        known = next(
            (one for one in alike if _says(one, proposal) or _names(one, proposal) or _cuts(one, proposal)), None
        )
        if known is not None:
            return self._said_again(known, proposal)
        as_of = compared_at(told, when)
        if proposal.single:
            alike = [fact for fact in alike if not may_be_another(fact.subject)]
        if proposal.single and not self._attributes.single(proposal.attribute):
            alike = [fact for fact in alike if len(terms(fact.value)) == 1]  # vegan takes the place of vegetarian
        newer = [fact for fact in alike if later(fact.valid_from, as_of)]
        if proposal.single and any(
            not proposal.sure or self._rulings.keeps(fact.id, newest(proposal)) for fact in alike if fact not in newer
        ):
            self._refused.append(proposal)
            return []
        added = self._add(proposal, when, no, at)
        decisions: list[_Made] = [added]
        decisions += [
            self._supersede(fact, added.fact_id, when, at)
            for fact in alike
            if _names(proposal, fact) and not self._rulings.keeps(fact.id, newest(proposal))
        ]
        if not proposal.single:
            return decisions
        for fact in alike:
            if fact not in newer and (newer or not self._of_one_day(fact, proposal, told, no)):
                decisions.append(self._supersede(fact, added.fact_id, when, at))
        for fact in put_away:  # what the cap moved out ends too
            if not later(fact.valid_from, as_of) and not self._rulings.keeps(fact.id, newest(proposal)):
                decisions.append(self._supersede(fact, added.fact_id, when, at))
        if newer:  # said of an earlier time: true then, and already superseded
            first = min(newer, key=lambda fact: fact.valid_from or at)
            decisions.append(self._retire(self._held[added.fact_id], first.id, first.valid_from, at))
        return decisions

    def _following(
        self, made: Sequence[_Made], proposal: FactProposal, told: Sequence[FactProposal], at: datetime
    ) -> list[_Made]:
        """What ends with what was learnt of a proposal: a partner by a divorce, and what was so of a relative or an
        animal that has died."""
        gone: list[tuple[Fact, datetime | None]] = []
        for one in made:
            if isinstance(one, FactRetired) and _may_be_death(proposal, told):
                old = self._others[one.fact_id]
                dead = _who_died(old)
                person = self.people.of(replace(old, subject=dead)) if dead else None
                of_them = (fact for fact in self._held.values() if person and self.people.of(fact) == person)
                gone += [(fact, old.valid_to) for fact in of_them if kind(fact.attribute) is not Kind.EVENT]
            elif isinstance(one, FactAdded) and one.attribute == "marital_status" and is_parted(one.value):
                new = self._held.get(one.fact_id)
                related = (
                    [] if new is None else self._alike(self._held.values(), replace(new, attribute="has_relative"))
                )
                gone += [(fact, one.valid_from) for fact in related if relation_of(fact.value) == "partner"]
        return [self._retire(fact, None, when, at) for fact, when in gone if fact.id in self._held]

    def _replacing(self, proposal: FactProposal, said: Mapping[int, datetime], no: int, at: datetime) -> list[_Made]:
        """A proposal that names the fact it ends or supersedes: one that is held, of the same knowledge base; where it
        is not, nothing of the proposal is believed. The older of two values is the one that is retired. Where the one
        named speaks of another subject or attribute, neither ends the other: both stay."""
        old = self._held.get(proposal.replaces) if proposal.replaces is not None else None
        if old is None or old.about is not proposal.about or self._rulings.keeps(old.id, newest(proposal)):
            return []
        if not self._same_attribute(old, proposal):
            made = [] if proposal.retracts else self._fact(replace(proposal, replaces=None), said, no, at)
            if made and self._takes_back(proposal, old):
                since = proposal.valid_from or first_said(proposal.sources, said)
                return made if said_after(old, proposal, since) else [*made, self._retire(old, None, since, at)]
            return made
        told = first_said(proposal.sources, said)
        when = proposal.valid_from or told
        if proposal.retracts:
            return [] if said_after(old, proposal, when) else [self._retire(old, None, when, at)]
        decisions = self._fact(replace(proposal, replaces=None), said, no, at)
        new = None if not decisions else self._held.get(decisions[0].fact_id)
        if new is None or new.id == old.id or old.id not in self._held:
            return decisions  # read before, the same value, or settled by the rule of one value
        if isinstance(decisions[0], FactAdded) and later(old.valid_from, compared_at(told, when)):
            return [*decisions, self._retire(new, old.id, old.valid_from, at)]
        return [*decisions, self._supersede(old, new.id, when, at)]

    def _structural(self, made: list[_Made]) -> list[_Made]:
        """The last check: a fact that would be superseded by one of another subject or attribute stays."""
        checked: list[_Made] = []
        for d in made:
            by = None
            if isinstance(d, FactRetired) and d.superseded_by is not None:
                by = self._held.get(d.superseded_by) or self._others.get(d.superseded_by)
            old = self._others.get(d.fact_id) if by is not None else None
            if by is None or old is None or self._same_attribute(old, by):
                checked.append(d)
            else:
                del self._others[old.id]
                self._held[old.id] = replace(old, retired_at=None, superseded_by=None, valid_to=None)
        return checked

    def _of_one_day(self, fact: Fact, proposal: FactProposal, told: datetime | None, no: int) -> bool:
        """Whether both are told of the same day, by different utterances at the same time: neither is the newer word.
        What is said later, also of the same day, is how a speaker corrects himself."""
        since, until = fact.valid_from, proposal.valid_from
        if since is None or until is None or told is None or since == told:
            return False
        if since.astimezone(until.tzinfo).date() != until.date():
            return False
        if not proposal.sources:
            return not fact.sources and fact.change_no == no
        seqs = {source.seq for source in fact.sources}
        if not seqs or not seqs.isdisjoint(source.seq for source in proposal.sources):
            return False
        return max((when for seq in seqs if (when := self._said_at(seq)) is not None), default=None) == told

    def _known_source(self, proposal: FactProposal) -> bool:
        seqs = {source.seq for source in proposal.sources}
        resting = (
            fact
            for fact in (*self._held.values(), *self._others.values())
            if seqs and seqs <= {source.seq for source in fact.sources}
        )
        return any(_says(fact, proposal) for fact in self._alike(resting, proposal))

    def _alike(self, facts: Iterable[Fact], proposal: FactProposal | Fact) -> list[Fact]:
        """Those of the same person, by whatever name, and the same attribute."""
        found = [one for one in facts if one.attribute == proposal.attribute and one.about is proposal.about]
        if not found:
            return found
        person = self.people.of(proposal)
        return [fact for fact in found if self.people.of(fact) == person]

    def _of_person(self, proposal: FactProposal) -> list[Fact]:
        """What is held of the same person, by whatever name, that a proposal of what somebody does may mean."""
        if proposal.attribute not in _DOING:
            return []
        person = self.people.of(proposal)
        held = (one for one in self._held.values() if one.attribute in _DOING and one.about is proposal.about)
        return [fact for fact in held if self.people.of(fact) == person]

    def _being(self, proposal: FactProposal) -> list[Fact]:
        """The only relative or animal of the name that ends, which the words that end it may take for another."""
        if proposal.attribute not in _BEINGS or not proposal.value:
            return []
        person = self.people.of(proposal)
        spoken = {proposal.value, _SHORT_IS.sub("", proposal.value)}
        named = [
            one
            for one in self._held.values()
            if one.about is proposal.about
            and any(mentions(one.value, name) for name in spoken)
            and (one.attribute in _BEINGS or one.attribute == "name")
            and (self.people.of(one) == person) is (one.attribute in _BEINGS)
        ]
        return named if len(named) == 1 else []

    def _same_attribute(self, fact: Fact, proposal: FactProposal | Fact) -> bool:
        """Whether both are about one person, by whatever name, and one attribute of theirs."""
        if fact.attribute != proposal.attribute or fact.about is not proposal.about:
            return False
        return self.people.of(fact) == self.people.of(proposal)

    def _takes_back(self, proposal: FactProposal, old: Fact) -> bool:
        """Whether who says the one takes back the other: likes and dislikes of one thing."""
        opposite = replace(proposal, attribute=OPPOSITE.get(proposal.attribute, ""))
        return self._same_attribute(old, opposite) and _says(old, opposite)

    def _add(self, proposal: FactProposal, when: datetime | None, no: int, at: datetime) -> FactAdded:
        count = sum(1 for fact in (*self._held.values(), *self._others.values()) if fact.change_no == no)
        fact = Fact(
            id=FactId(f"f{no}-{count:03}"),
            about=proposal.about,
            subject=proposal.subject,
            attribute=proposal.attribute,
            value=proposal.value,
            text=proposal.text,
            sources=proposal.sources,
            valid_from=when,
            valid_to=None,
            recorded_at=at,
            change_no=no,
            expires_at=proposal.expires_at,
        )
        self._held[fact.id] = fact
        if fact.attribute in _NAMING:
            self._people = None
        return FactAdded.of(fact)

    def _said_again(self, fact: Fact, proposal: FactProposal) -> list[_Made]:
        """A known fact is stronger, and a plan ends at the date named last."""
        made: list[_Made] = [self._strengthen(fact, proposal.sources)]
        if proposal.expires_at is not None and proposal.expires_at != fact.expires_at:
            self._held[fact.id] = replace(self._held[fact.id], expires_at=proposal.expires_at)
            made.append(FactExpires(fact_id=fact.id, at=proposal.expires_at))
        return made

    def _strengthen(self, fact: Fact, sources: Sequence[Source]) -> FactStrengthened:
        del self._held[fact.id]  # said again makes it new: it moves to the end of the queue
        self._held[fact.id] = replace(fact, sources=(*fact.sources, *sources))
        return FactStrengthened(fact_id=fact.id, sources=tuple(sources))

    def _supersede(self, fact: Fact, by: FactId, when: datetime | None, at: datetime) -> FactRetired:
        """Retired by what holds from then on: not before it came to hold itself."""
        return self._retire(fact, by, fact.valid_from if later(fact.valid_from, when) else when, at)

    def _retire(self, fact: Fact, by: FactId | None, when: datetime | None, at: datetime) -> FactRetired:
        self._held.pop(fact.id, None)
        self._others[fact.id] = replace(fact, retired_at=at, superseded_by=by, valid_to=when)
        return FactRetired(fact_id=fact.id, superseded_by=by, valid_to=when)

    def _over_cap(self, settings: Settings) -> list[FactArchived]:
        """What is above the cap of a person, by all names; and of a subject as written, which several may share."""
        archived: list[FactArchived] = []
        for of_whom in (self.people.of, as_written):
            above = over_cap(self._held.values(), settings, of_whom)
            for d in above:
                self._others[d.fact_id] = replace(self._held.pop(d.fact_id), archived=True)
            archived += above
        return archived

    # ------------------------------------------------------------------------------------------ traits and profile

    def _trait(self, proposal: TraitProposal, said: Mapping[int, datetime], at: datetime) -> TraitSet | None:
        """A trait at its new level, true from when the newest of what it rests on was said."""
        dimension = dimensions_by_name().get(proposal.dimension)
        if dimension is None:
            return None
        known = self._traits.get(proposal.dimension)
        level, confidence, sources = proposal.level, proposal.confidence, proposal.sources
        since = last_said(sources, said)
        if known is not None:
            since = max(filter(None, (since, known.valid_from)), default=None)
            fresh = tuple(source for source in sources if source.seq not in {s.seq for s in known.sources})
            if not fresh:
                return None
            level = evidence_level(known.level, known.confidence, level, confidence)
            confidence = evidence_confidence(known.confidence, confidence)
            sources = (*known.sources, *fresh)[-_TRAIT_SOURCES:]
        level, confidence = max(-1.0, min(1.0, level)), max(0.0, min(1.0, confidence))
        self._traits[proposal.dimension] = Trait(
            dimension=proposal.dimension,
            category=dimension.category,
            level=level,
            confidence=confidence,
            pole=dimension.pole(level),
            sources=sources,
            recorded_at=at,
            valid_from=since,
        )
        return TraitSet(
            dimension=proposal.dimension, level=level, confidence=confidence, sources=sources, valid_from=since
        )

    def _field(self, proposal: ProfileProposal, said: Mapping[int, datetime], at: datetime) -> ProfileSet | None:
        """A profile line mirrors a fact that holds; one that speaks of an earlier time than the line does not."""
        if any(mirrors(fact, proposal) and not fact.archived for fact in self._others.values()):
            return None
        known = self._profile.get(proposal.name)
        if known is not None and (
            known.set_by == CALLER
            or same_value(known.value, proposal.value)
            or self._order(proposal) <= self._order(known)
        ):
            return None
        since = max(self._since(proposal), default=last_said(proposal.sources, said))
        line = ProfileField(
            whose=About.USER,
            name=proposal.name,
            value=proposal.value,
            sources=proposal.sources,
            recorded_at=at,
            valid_from=since,
            set_by="analyst",
        )
        self._profile[line.name] = line
        return ProfileSet.of(line)

    def _order(self, line: ProfileField | ProfileProposal) -> tuple[float, int]:
        """From when the fact behind a profile line holds, then when it was told: the later line wins."""
        behind = self._since(line)
        return max(when.timestamp() for when in behind) if behind else 0.0, max(s.seq for s in line.sources)

    def _since(self, line: ProfileField | ProfileProposal) -> list[datetime]:
        """From when the facts hold that a line mirrors."""
        return [fact.valid_from for fact in self._held.values() if fact.valid_from and mirrors(fact, line)]

    def _ended(self, retired: Iterable[Fact]) -> list[ProfileSet]:
        """The lines that mirrored a fact which no longer holds, where nothing took their place: from its end on."""
        ended = []
        for fact in retired:
            for field in tuple(self._profile.values()):
                if field.set_by != CALLER and mirrors(fact, field):
                    del self._profile[field.name]
                    ended.append(ProfileSet.ended(field, fact.valid_to))
        return ended

    def current(self) -> tuple[Fact, ...]:
        """The facts held, oldest confirmation first."""
        return tuple(self._held.values())


def _is_put_away(fact: Fact) -> bool:
    """Whether a fact that is not held is in the archive, and true by what is known."""
    return fact.archived and fact.retired_at is None


def _says(fact: Fact, proposal: FactProposal) -> bool:
    """Whether a fact of the same subject and attribute says what is proposed, if need be in other words."""
    return same_value(fact.value, proposal.value, proposal.attribute)


_JOBS = frozenset({"works_as", "works_at"})
_CUT = _JOBS | {"studies_at"}


def _cuts(fact: Fact, proposal: FactProposal) -> bool:
    """Whether a proposal says with fewer words what a fact of the same subject and attribute says: Rice University,
    "the university"."""
    words = {*terms(proposal.value)}
    return proposal.attribute in _CUT and bool(words) and words <= {*terms(fact.value)}


def _meant(alike: Sequence[Fact], proposal: FactProposal) -> Sequence[Fact]:
    """Which facts of the same subject and attribute a proposal ends: those that say its value; else the only one that
    means it, or of several the one with most of its words; without a value the only one, or all where the attribute
    has one value at a time. A job told by a common noun ("quit the bank") is the only one."""
    said = [fact for fact in alike if _says(fact, proposal)]
    if said:
        return said
    if not proposal.value:
        return alike if len(alike) == 1 or proposal.single else ()
    shared = {fact.id: _shared(fact.value, proposal.value) for fact in alike}
    most = max(shared.values(), default=0)
    is_common = proposal.value.islower() and len(terms(proposal.value)) == 1
    if not most and len(alike) == 1 and proposal.attribute in _JOBS and is_common:
        return alike
    meant = [fact for fact in alike if shared[fact.id] == most > 0]
    return meant if len(meant) == 1 else ()


def _shared(value: str, ended: str) -> int:
    """How many words a value shares with one that ends, if it may mean it: one of the two stands in the other, or they
    share two words and three quarters of the value's, and all numbers; else 0. "Start painting" does not end "start a
    shop"."""
    words, others = {*terms(value)}, {*terms(ended)}
    count = len(words & others)
    if mentions(value, ended) or mentions(ended, value):
        return count + 1
    is_other = any(word.isdigit() for word in words ^ others)
    return count if count > 1 and 4 * count >= 3 * len(words) and not is_other else 0


def _may_be_death(proposal: FactProposal, told: Sequence[FactProposal]) -> bool:
    """Whether a proposal says that somebody or an animal is no more, and what is told beside it names no other: that
    would be a correction."""
    seqs = {source.seq for source in proposal.sources}
    others = (one for one in told if one.attribute == proposal.attribute and not one.retracts)
    named_anew = any(not seqs.isdisjoint(source.seq for source in one.sources) for one in others)
    return proposal.retracts and proposal.attribute in _BEINGS and not named_anew


def _who_died(fact: Fact) -> str:
    """The subject of what is known of a relative for life, or of an animal, that is no more; "" of anything else."""
    who = called(fact.value)
    if fact.attribute == "name":
        return fact.subject
    if fact.attribute == "has_relative" and relation_of(fact.value) in FOR_LIFE:
        return who.name or whose(fact.subject, who.kin)
    words = fact.value.split()
    return words[-1] if fact.attribute == "has_pet" and words and words[-1].istitle() else ""


def _named_in(held: Sequence[Fact], proposal: FactProposal) -> Sequence[Fact]:
    """The only fact whose value has all words of a value that ends: "pottery" of "goes to a pottery class"."""
    words = {*terms(proposal.value)}
    named = [fact for fact in held if words and words <= {*terms(fact.value)}]
    return named if len(named) == 1 else ()


def _names(one: Fact | FactProposal, other: Fact | FactProposal) -> bool:
    """Whether one of two of the same attribute names what the other leaves unnamed."""
    return one.attribute in _NAMED and names(one.value, other.value)
