"""Long-term personal memory: how proposals become facts, traits and profile lines (paper §3.2–3.3).

An analyst proposes; here it is decided. A fact supersedes another only if both speak of the same subject and
attribute and the attribute holds one value at a time. Nothing is overwritten: what no longer holds is retired.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from embermem.changes import (
    Decision,
    FactAdded,
    FactArchived,
    FactRetired,
    FactStrengthened,
    ProfileSet,
    TraitSet,
)
from embermem.config import Settings
from embermem.equations import evidence_confidence, evidence_level
from embermem.rulings import Rulings, plain
from embermem.text import fold
from embermem.traits import dimensions_by_name
from embermem.types import (
    About,
    Fact,
    FactId,
    FactProposal,
    Persona,
    PersonaChange,
    ProfileField,
    ProfileProposal,
    Source,
    Trait,
    TraitProposal,
)

_Proposal = TypeVar("_Proposal", FactProposal, TraitProposal, ProfileProposal)

CALLER = "caller"
_TRAIT_SOURCES = 20
"""The newest sources that a trait names; older ones stand in its older versions."""
_NEWS = timedelta(days=60)
"""A change told within so long of its day ("I moved last week") is the newest word; one of long ago ("in 2010") is
history, and does not end what was said to hold since (ours)."""
_YOUNG, _OLD = 20, 60
"""age_group: +1 at twenty and below, −1 at sixty and above, linear between (ours; the paper gives only the poles)."""


class Knowledge:
    """What long-term memory holds of one owner, while decisions are made: the persona, and those archived and retired
    facts that speak of what is read, so that a page read twice teaches nothing twice."""

    def __init__(self, persona: Persona, rulings: Rulings | None = None) -> None:
        self._rulings = rulings or Rulings()
        self._refused: list[FactProposal] = []
        self._held: dict[FactId, Fact] = {fact.id: fact for fact in (*persona.facts, *persona.agent_facts)}
        self._others: dict[FactId, Fact] = {}
        self._traits: dict[str, Trait] = {trait.dimension: trait for trait in persona.traits}
        self._profile: dict[str, ProfileField] = {field.name: field for field in persona.profile}

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
        told, self._refused = self._ruled(_resting(change.facts, said))
        for fact_told in sorted(told, key=lambda p: p.sources[0].seq):
            decisions += self._fact(fact_told, said, no, at)
        retired = [self._others[d.fact_id] for d in decisions if isinstance(d, FactRetired)]
        decisions += self._over_cap(settings)
        decisions += [made for trait in _resting(change.traits, said) if (made := self._trait(trait, at)) is not None]
        lines = [
            line for line in _resting(change.profile, said) if not any(mirrors(one, line) for one in self._refused)
        ]
        decisions += [done for line in lines if (done := self._field(line, at)) is not None]
        return [*decisions, *self._ended(retired)]

    def _ruled(self, proposals: Iterable[FactProposal]) -> tuple[list[FactProposal], list[FactProposal]]:
        """The proposals that may be believed, and those that a caller has ruled out."""
        told: list[FactProposal] = []
        refused: list[FactProposal] = []
        for p in proposals:
            forbidden = self._rulings.forbids(p.about, p.subject, p.attribute, p.value, _newest(p))
            (refused if forbidden and not p.retracts else told).append(p)
        return told, refused

    # ------------------------------------------------------------------------------------------------------- facts

    def _fact(
        self, proposal: FactProposal, said: Mapping[int, datetime], no: int, at: datetime
    ) -> list[FactAdded | FactStrengthened | FactRetired]:
        told = _said(proposal.sources, said)
        when = proposal.valid_from or told
        if proposal.replaces is not None:
            return self._replacing(proposal, said, no, at)
        alike = [fact for fact in self._held.values() if _same_attribute(fact, proposal)]
        if proposal.retracts:
            return [
                self._retire(fact, None, when, at)
                for fact in alike
                if (_same_value(fact.value, proposal.value) or (proposal.single and not proposal.value))
                and not _said_after(fact, proposal, when)
                and not self._rulings.keeps(fact.id, _newest(proposal))
            ]
        if self._known_source(proposal):
            return []
        known = next((fact for fact in alike if _same_value(fact.value, proposal.value)), None)
        if known is not None:
            return [self._strengthen(known, proposal.sources)]
        as_of = _as_of(told, when)
        newer = [fact for fact in alike if _later(fact.valid_from, as_of)]
        if proposal.single and any(
            self._rulings.keeps(fact.id, _newest(proposal)) for fact in alike if fact not in newer
        ):
            self._refused.append(proposal)
            return []
        added = self._add(proposal, when, no, at)
        decisions: list[FactAdded | FactStrengthened | FactRetired] = [added]
        if proposal.single:
            for fact in alike:
                if fact not in newer:
                    until = fact.valid_from if _later(fact.valid_from, when) else when
                    decisions.append(self._retire(fact, added.fact_id, until, at))
            if newer:  # said of an earlier time: true then, and already superseded
                first = min(newer, key=lambda fact: fact.valid_from or at)
                decisions.append(self._retire(self._held[added.fact_id], first.id, first.valid_from, at))
        return decisions

    def _replacing(
        self, proposal: FactProposal, said: Mapping[int, datetime], no: int, at: datetime
    ) -> list[FactAdded | FactStrengthened | FactRetired]:
        """A proposal that names the fact it ends or supersedes: one that is held, of the same knowledge base; where it
        is not, nothing of the proposal is believed. The older of two values is the one that is retired."""
        old = self._held.get(proposal.replaces) if proposal.replaces is not None else None
        if old is None or old.about is not proposal.about or self._rulings.keeps(old.id, _newest(proposal)):
            return []
        told = _said(proposal.sources, said)
        when = proposal.valid_from or told
        if proposal.retracts:
            return [] if _said_after(old, proposal, when) else [self._retire(old, None, when, at)]
        decisions = self._fact(replace(proposal, replaces=None), said, no, at)
        new = None if not decisions else self._held.get(decisions[0].fact_id)
        if new is None or new.id == old.id or old.id not in self._held:
            return decisions  # read before, the same value, or settled by the rule of one value
        if isinstance(decisions[0], FactAdded) and _later(old.valid_from, _as_of(told, when)):
            return [*decisions, self._retire(new, old.id, old.valid_from, at)]
        until = old.valid_from if _later(old.valid_from, when) else when
        return [*decisions, self._retire(old, new.id, until, at)]

    def _known_source(self, proposal: FactProposal) -> bool:
        seqs = {source.seq for source in proposal.sources}
        return any(
            seqs <= {source.seq for source in fact.sources}
            for fact in (*self._held.values(), *self._others.values())
            if _same_attribute(fact, proposal) and _same_value(fact.value, proposal.value)
        )

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
        )
        self._held[fact.id] = fact
        return FactAdded(
            fact_id=fact.id,
            about=fact.about,
            subject=fact.subject,
            attribute=fact.attribute,
            value=fact.value,
            text=fact.text,
            sources=fact.sources,
            valid_from=when,
        )

    def _strengthen(self, fact: Fact, sources: Sequence[Source]) -> FactStrengthened:
        del self._held[fact.id]  # said again makes it new: it moves to the end of the queue
        self._held[fact.id] = replace(fact, sources=(*fact.sources, *sources))
        return FactStrengthened(fact_id=fact.id, sources=tuple(sources))

    def _retire(self, fact: Fact, by: FactId | None, when: datetime | None, at: datetime) -> FactRetired:
        del self._held[fact.id]
        self._others[fact.id] = replace(fact, retired_at=at, superseded_by=by, valid_to=when)
        return FactRetired(fact_id=fact.id, superseded_by=by, valid_to=when)

    def _over_cap(self, settings: Settings) -> list[FactArchived]:
        """§3.3: knowledge bases are queues of 100; here the oldest goes to the archive, not away."""
        archived = []
        for about, cap in ((About.USER, settings.user_facts), (About.AGENT, settings.agent_facts)):
            queue = [fact for fact in self._held.values() if fact.about is about and not fact.pinned]
            for fact in queue[: max(0, len(queue) - cap)]:
                self._others[fact.id] = replace(self._held.pop(fact.id), archived=True)
                archived.append(FactArchived(fact_id=fact.id))
        return archived

    # ------------------------------------------------------------------------------------------ traits and profile

    def _trait(self, proposal: TraitProposal, at: datetime) -> TraitSet | None:
        dimension = dimensions_by_name().get(proposal.dimension)
        if dimension is None:
            return None
        known = self._traits.get(proposal.dimension)
        level, confidence, sources = proposal.level, proposal.confidence, proposal.sources
        if known is not None:
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
        )
        return TraitSet(dimension=proposal.dimension, level=level, confidence=confidence, sources=sources)

    def _field(self, proposal: ProfileProposal, at: datetime) -> ProfileSet | None:
        """A profile line mirrors a fact that holds; one that speaks of an earlier time than the line does not."""
        if any(mirrors(fact, proposal) and not fact.archived for fact in self._others.values()):
            return None
        known = self._profile.get(proposal.name)
        if known is not None and (
            known.set_by == CALLER
            or _same_value(known.value, proposal.value)
            or self._order(proposal) <= self._order(known)
        ):
            return None
        self._profile[proposal.name] = ProfileField(
            whose=About.USER,
            name=proposal.name,
            value=proposal.value,
            sources=proposal.sources,
            recorded_at=at,
            set_by="analyst",
        )
        return ProfileSet(
            whose=About.USER, name=proposal.name, value=proposal.value, sources=proposal.sources, set_by="analyst"
        )

    def _order(self, line: ProfileField | ProfileProposal) -> tuple[float, int]:
        """From when the fact behind a profile line holds, then when it was told: the later line wins."""
        behind = [fact.valid_from for fact in self._held.values() if fact.valid_from and mirrors(fact, line)]
        return max(when.timestamp() for when in behind) if behind else 0.0, max(s.seq for s in line.sources)

    def _ended(self, retired: Iterable[Fact]) -> list[ProfileSet]:
        """The lines that mirrored a fact which no longer holds, where nothing took their place."""
        ended = []
        for fact in retired:
            for field in tuple(self._profile.values()):
                if field.set_by != CALLER and mirrors(fact, field):
                    del self._profile[field.name]
                    ended.append(
                        ProfileSet(whose=About.USER, name=field.name, value=None, sources=(), set_by=field.set_by)
                    )
        return ended

    def current(self) -> tuple[Fact, ...]:
        """The facts held, oldest confirmation first."""
        return tuple(self._held.values())


def derived_traits(profile: Sequence[ProfileField], at: datetime) -> tuple[Trait, ...]:
    """age_group and gender, which stand in the profile and are derived from it."""
    known = {field.name: field for field in profile}
    traits = []
    birth = known.get("birth_year")
    if birth is not None and birth.value.strip().isdecimal():
        age = at.year - int(birth.value)
        level = max(-1.0, min(1.0, 1.0 - 2.0 * (age - _YOUNG) / (_OLD - _YOUNG)))
        traits.append(_from_profile("age_group", level, birth))
    gender = known.get("gender")
    level_of = {"female": 1.0, "woman": 1.0, "女": 1.0, "male": -1.0, "man": -1.0, "男": -1.0}
    if gender is not None and gender.value.strip().lower() in level_of:
        traits.append(_from_profile("gender", level_of[gender.value.strip().lower()], gender))
    return tuple(traits)


def _from_profile(name: str, level: float, field: ProfileField) -> Trait:
    dimension = dimensions_by_name()[name]
    return Trait(
        dimension=name,
        category=dimension.category,
        level=level,
        confidence=1.0,
        pole=dimension.pole(level),
        sources=field.sources,
        recorded_at=field.recorded_at,
        change_no=field.change_no,
    )


def _same_attribute(fact: Fact, proposal: FactProposal) -> bool:
    return (
        fact.about is proposal.about
        and fact.attribute == proposal.attribute
        and fold(fact.subject) == fold(proposal.subject)
    )


def _same_value(one: str, other: str) -> bool:
    return plain(one) == plain(other)


def mirrors(fact: Fact | FactProposal | FactAdded, line: ProfileField | ProfileProposal | ProfileSet) -> bool:
    """Whether a profile line says what the fact says: both rest on the same words of the same utterance; where only
    the utterance is known, on the same one with the same value."""
    spans = {(source.seq, source.start, source.end) for source in fact.sources}
    return any(
        (source.seq, source.start, source.end) in spans
        and (source.start is not None or _same_value(fact.value, line.value or ""))
        for source in line.sources
    )


def _as_of(told: datetime | None, when: datetime | None) -> datetime | None:
    """The time by which a statement is compared with others: when it was told, if it is news, else its own time."""
    return told if when is not None and told is not None and told - when <= _NEWS else when


def _later(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and other is not None and one > other


def _newest(proposal: FactProposal) -> int:
    """The seq of the newest utterance that a proposal rests on."""
    return max(source.seq for source in proposal.sources)


def _said_after(fact: Fact, proposal: FactProposal, when: datetime | None) -> bool:
    """Whether the fact holds from a later time than `when`, or was said later of the same time."""
    if fact.valid_from != when:
        return _later(fact.valid_from, when)
    return max((source.seq for source in fact.sources), default=0) > max(source.seq for source in proposal.sources)


def _resting(proposals: Iterable[_Proposal], said: Mapping[int, datetime]) -> list[_Proposal]:
    """The proposals that rest on an utterance that was read, with no other sources."""
    resting = []
    for proposal in proposals:
        sources = tuple(source for source in proposal.sources if source.seq in said)
        if sources:
            resting.append(replace(proposal, sources=sources))
    return resting


def _said(sources: Sequence[Source], said: Mapping[int, datetime]) -> datetime | None:
    return min((said[source.seq] for source in sources if source.seq in said), default=None)
