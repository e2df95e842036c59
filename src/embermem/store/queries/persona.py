"""What is read of an owner's persona: facts, traits and profiles, now and at any moment, from the
state that its changes fold to.

What stood at a revision is the same read as what stands now. With `valid_at`, traits and lines are chosen among all
their versions; facts say themselves when they were true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import TypeVar, assert_never, cast

from sqlalchemy import select
from sqlalchemy.engine import Connection

from embermem.core.attributes import INSTRUCTION, INSTRUCTION_PREFIX
from embermem.core.changes import Decision, Item, PersonRelated, ProfileSet, TraitSet
from embermem.core.metadata import Metadata, inherited
from embermem.core.state import FactHistory, FactState, PersonaMoment, Version, sorted_sources
from embermem.core.traits import dimensions_by_name
from embermem.core.types import (
    About,
    Fact,
    FactId,
    Origin,
    OwnerId,
    Persona,
    PersonRelation,
    ProfileField,
    Source,
    Trait,
)
from embermem.protocols import ARCHIVED, ENDED, HELD, NOW, FactSelection, Moment, PersonaThen, Span
from embermem.protocols import FactState as Status
from embermem.store import schema
from embermem.store.codec import metadata_from
from embermem.store.queries.reads import chunks
from embermem.store.states import Known, States

_Known = tuple[FactHistory, FactState]
"""A fact, and how it stands."""
_STATES = (HELD, ARCHIVED, ENDED)
_Set = TypeVar("_Set", TraitSet, ProfileSet, PersonRelated)


class Personas(States):
    """Readers of facts, traits and profiles."""

    def facts(self, owner_id: OwnerId, selection: FactSelection = HELD, moment: Moment = NOW) -> tuple[Fact, ...]:
        with self._read() as c:
            return facts(c, self._known(c, owner_id), selection, moment)

    def persona(self, owner_id: OwnerId, moment: Moment = NOW, selection: FactSelection = HELD) -> Persona:
        with self._read() as c:
            known = self._known(c, owner_id)
            return persona(known, facts(c, known, selection, moment), moment)

    def persona_then(self, owner_id: OwnerId, moment: Moment) -> PersonaThen:
        with self._read() as c:
            known, at = self._known(c, owner_id), moment.valid_at
            every, recorded = in_order(known.at(moment.revision)), known.held.state.recorded
            held, archived, ended = ([one for one in every if _is_chosen(one, of, recorded, at)] for of in _STATES)
            groups = grouped(c, known, (held, archived, ended if at is None else ()), moment.revision)
            then = persona(known, groups[0], moment)
        return PersonaThen(persona=then, archived_facts=groups[1], ended_facts=groups[2])

    def fact_ids(
        self, owner_id: OwnerId, selection: FactSelection, matches: Callable[[str, str], bool] | None = None
    ) -> tuple[FactId, ...]:
        """The ids of the facts of a selection, the newest first; of those alone whose subject and text match."""
        with self._read() as c:
            found = chosen(c, self._known(c, owner_id), selection)
        listed = [fact for fact, _ in found if matches is None or matches(fact.added.subject, fact.added.text)]
        listed.sort(key=lambda fact: (fact.no, len(fact.added.fact_id), fact.added.fact_id), reverse=True)
        return tuple(fact.added.fact_id for fact in listed)

    def subjects(self, owner_id: OwnerId) -> Mapping[str, int]:
        """Whom the facts that are held speak of, as it was said, with how many do: in the order of the facts, those of
        the user's knowledge base first."""
        with self._read() as c:
            found = chosen(c, self._known(c, owner_id), HELD)
        found.sort(key=lambda one: one[0].added.about is not About.USER)
        return Counter(fact.added.subject for fact, _ in found)


# --------------------------------------------------------------------------------------------------------------- facts


def facts(c: Connection, known: Known, selection: FactSelection, moment: Moment = NOW) -> tuple[Fact, ...]:
    """The facts of a selection, as they were at a moment, the most recently confirmed last."""
    return facts_from(c, known, chosen(c, known, selection, moment), moment.revision)


def chosen(c: Connection, known: Known, selection: FactSelection, moment: Moment = NOW) -> list[_Known]:
    """The facts of a selection, in order of their last confirmation (then of entry), in which the cap takes them."""
    then, recorded = known.at(moment.revision), known.held.state.recorded
    if selection.ids is None:
        every: Iterable[_Known] = then.facts()
    else:
        every = (one for fact_id in selection.ids if (one := then.fact(fact_id)) is not None)
    found = [one for one in every if _is_chosen(one, selection, recorded, moment.valid_at)]
    if (group_of := selection.rivals) is not None:
        groups: dict[object, list[_Known]] = {}
        for one in found:
            groups.setdefault(group_of(one[0].added.subject, one[0].added.attribute), []).append(one)
        groups.pop(None, None)
        found = [one for some in groups.values() if len({fact.added.value for fact, _ in some}) > 1 for one in some]
    if selection.resting_on is not None:
        seqs = selection.resting_on
        found = [one for one in found if any(source.seq in seqs for source in one[0].rests_on(then.no))]
    if selection.origin is not None:
        of_documents = _in_documents(c, known, {s.seq for fact, _ in found for s in fact.rests_on(then.no)})
        found = [one for one in found if selection.origin in _origins(one[0].rests_on(then.no), of_documents)]
    return sorted(found, key=_by_confirmation)


def grouped(
    c: Connection, known: Known, groups: Sequence[Sequence[_Known]], upto: int | None = None
) -> list[tuple[Fact, ...]]:
    """Facts in several groups, as `facts_from` has those of one."""
    every = iter(facts_from(c, known, [one for some in groups for one in some], upto))
    return [tuple(islice(every, len(some))) for some in groups]


def in_order(then: PersonaMoment) -> list[_Known]:
    """All facts that were known, current or not, in the order of `chosen`."""
    return sorted(then.facts(), key=_by_confirmation)


def _by_confirmation(one: _Known) -> tuple[int, int, str]:
    return one[1].confirmed_no, one[0].no, one[0].added.fact_id


def _is_chosen(
    one: _Known, selection: FactSelection, recorded: Mapping[int, datetime], valid_at: datetime | None
) -> bool:
    """Whether a fact meets the conditions of a selection, but for those on what it rests on."""
    (fact, state), of = one, selection
    added = fact.added
    if of.states is not None and not any(_in_state(status, one, recorded, valid_at) for status in of.states):
        return False
    if of.about is not None and added.about is not of.about:
        return False
    if of.attributes is not None and added.attribute not in of.attributes:
        return False
    if of.subjects is not None and added.subject not in of.subjects:
        return False
    if of.expired_by is not None and (state.expires_at is None or state.expires_at > of.expired_by):
        return False
    if of.superseded_by is not None and state.superseded_by not in of.superseded_by:
        return False
    if of.pinned is not None and state.pinned is not of.pinned:
        return False
    if of.expiring is not None and (state.expires_at is not None) is not of.expiring:
        return False
    if of.instructing and added.attribute != INSTRUCTION and not added.attribute.startswith(INSTRUCTION_PREFIX):
        return False
    if of.recorded is not None and not _within(recorded[fact.no], of.recorded):
        return False
    return of.true is None or _was_true(one, recorded, of.true)


def _within(at: datetime, span: Span) -> bool:
    first, last = span
    return (first is None or at >= first) and (last is None or at < last)


def _until(one: _Known, recorded: Mapping[int, datetime]) -> datetime | None:
    """When a fact stopped being true, as far as it is known."""
    state = one[1]
    if state.valid_to is not None:
        return state.valid_to
    return state.expires_at if state.ended_no is None else recorded[state.ended_no]


def _was_true(one: _Known, recorded: Mapping[int, datetime], span: Span) -> bool:
    """Whether a fact was true at some time of a span."""
    (first, last), since, until = span, one[0].added.valid_from, _until(one, recorded)
    if since is not None and until is not None and until <= since:
        return False  # it never was
    return (first is None or until is None or until > first) and (last is None or since is None or since < last)


def _in_state(status: Status, one: _Known, recorded: Mapping[int, datetime], valid_at: datetime | None) -> bool:
    """Whether a fact was in a state. With `valid_at` one that ended since was held still, if it was true."""
    state = one[1]
    match status:
        case Status.ENDED:
            return state.ended_no is not None
        case Status.HELD:
            placed = state.archived_no is None
        case Status.ARCHIVED:
            placed = state.archived_no is not None
        case _:
            assert_never(status)
    if valid_at is None:
        return placed and state.ended_no is None
    since, until = one[0].added.valid_from, _until(one, recorded)
    return placed and (since is None or since <= valid_at) and (until is None or until > valid_at)


def _origins(sources: Sequence[Source], of_documents: Collection[int]) -> set[Origin]:
    """What a fact rests on."""
    told = {Origin.DOCUMENT if one.seq in of_documents else Origin.CONVERSATION for one in sources}
    return told or {Origin.CALLER}


def _in_documents(c: Connection, known: Known, seqs: Collection[int]) -> set[int]:
    """Those of some utterances that are passages of documents."""
    said = schema.utterance.c
    query = select(said.seq).where(said.owner_id == known.owner_id, said.passage.is_not(None))
    return {seq for some in chunks(sorted(seqs)) for seq in c.scalars(query.where(said.seq.in_(some)))}


def facts_from(c: Connection, known: Known, found: Sequence[_Known], upto: int | None = None) -> tuple[Fact, ...]:
    """Facts with their sources, as they were at change `upto`."""
    if not found:
        return ()
    then, recorded = known.at(upto), known.held.state.recorded
    sources = {fact.added.fact_id: fact.rests_on(then.no) for fact, _ in found}
    told = said_with(c, known, (source.seq for some in sources.values() for source in some))
    return tuple(fact_from(one, sources[one[0].added.fact_id], told, recorded) for one in found)


def fact_from(
    one: _Known,
    sources: tuple[Source, ...],
    told: Mapping[int, Metadata],
    recorded: Mapping[int, datetime],
) -> Fact:
    """A fact with its sources, of which `told` are the metadata."""
    (fact, state), added = one, one[0].added
    own = {**added.metadata}
    return Fact(
        id=added.fact_id,
        about=added.about,
        subject=added.subject,
        attribute=added.attribute,
        value=added.value,
        text=added.text,
        sources=sources,
        valid_from=added.valid_from,
        valid_to=state.valid_to,
        recorded_at=recorded[fact.no],
        retired_at=None if state.ended_no is None else recorded[state.ended_no],
        superseded_by=state.superseded_by,
        archived=state.archived_no is not None,
        pinned=state.pinned,
        change_no=fact.no,
        expires_at=state.expires_at,
        metadata={**inherited(told[source.seq] for source in sources if source.seq in told), **own},
        own_metadata=own,
    )


def said_with(c: Connection, known: Known, seqs: Iterable[int]) -> Mapping[int, Metadata]:
    """By seq, the metadata of utterances that have some."""
    said = schema.utterance.c
    query = select(said.seq, said.metadata).where(said.owner_id == known.owner_id, said.metadata.is_not(None))
    wanted = sorted({*seqs})
    if len(wanted) > _FEW and c.scalar(query.with_only_columns(said.seq).limit(1)) is None:
        return {}
    return {
        seq: metadata_from(text) for some in chunks(wanted) for seq, text in c.execute(query.where(said.seq.in_(some)))
    }


_FEW = 50
"""Utterances that are asked for at once; of more it is first asked whether any has metadata."""


def _set(versions: Iterable[Version[Decision]], kind: type[_Set]) -> Iterable[Version[_Set]]:
    """The versions of an item that decisions of a kind set."""
    return (cast("Version[_Set]", one) for one in versions if isinstance(one.value, kind))


# ------------------------------------------------------------------------------------------------- profiles and traits


def persona(known: Known, told: Sequence[Fact], moment: Moment = NOW) -> Persona:
    """Profiles and traits as they were at a moment, and some facts."""
    recorded = known.held.state.recorded
    lines = [
        line_from(one, recorded)
        for one in _stood(known, Item.PROFILE, ProfileSet, moment)
        if one.value.value is not None
    ]
    lines.sort(key=lambda line: (line.name, line.whose))
    traits = [trait_from(one, recorded) for one in _stood(known, Item.TRAIT, TraitSet, moment)]
    relations = [
        one for one in _set(known.at(moment.revision).all(Item.PERSON), PersonRelated) if one.value.holds is not None
    ]
    relations.sort(key=lambda one: (one.began, one.value.relation, one.value.one, one.value.other))
    return Persona(
        profile=tuple(line for line in lines if line.whose is About.USER),
        agent_profile=tuple(line for line in lines if line.whose is About.AGENT),
        traits=tuple(sorted(traits, key=lambda trait: trait.dimension)),
        facts=tuple(fact for fact in told if fact.about is About.USER),
        agent_facts=tuple(fact for fact in told if fact.about is About.AGENT),
        relations=tuple(relation_from(one) for one in relations),
    )


def _stood(known: Known, item: Item, kind: type[_Set], moment: Moment) -> list[Version[_Set]]:
    """The version that stood of each trait or profile line; with `valid_at` the one that says what was true then. An
    end that was not known yet is left out."""
    then = known.at(moment.revision)
    if moment.valid_at is None:
        return [replace(one, ended=None) for one in _set(then.all(item), kind)]
    found = []
    versions = known.held.state.items[item]
    for key in versions:
        seen = [
            one if one.ended is None or one.ended <= then.no else replace(one, ended=None)
            for one in _set(versions.of(key), kind)
            if one.began <= then.no
        ]
        if (true := _true_of(seen, moment.valid_at)) is not None:
            found.append(true)
    return found


def _true_of(versions: Iterable[Version[_Set]], at: datetime) -> Version[_Set] | None:
    """Of all versions of one thing, in order, the last that reaches back to a time. One that was cleared, with no other
    in its place, was never true, nor what came before it."""
    standing: list[Version[_Set]] = []
    ended: int | None = None
    for one in versions:
        if ended is not None and ended != one.began:
            standing = []
        standing.append(one)
        ended = one.ended
    if ended is not None:
        return None
    return next((one for one in reversed(standing) if (since := _since(one.value)) is None or since <= at), None)


def _since(value: TraitSet | ProfileSet | PersonRelated) -> datetime | None:
    return value.valid_from if isinstance(value, TraitSet | ProfileSet) else None


def _retired_at(one: Version[_Set], recorded: Mapping[int, datetime]) -> datetime | None:
    return None if one.ended is None else recorded[one.ended]


def line_from(one: Version[ProfileSet], recorded: Mapping[int, datetime]) -> ProfileField:
    """A line of a profile. One that was cleared says nothing."""
    return ProfileField(
        whose=one.value.whose,
        name=one.value.name,
        value=one.value.value or "",
        sources=sorted_sources(one.value.sources),
        recorded_at=recorded[one.began],
        valid_from=one.value.valid_from,
        change_no=one.began,
        set_by=one.value.set_by,
        retired_at=_retired_at(one, recorded),
    )


def trait_from(one: Version[TraitSet], recorded: Mapping[int, datetime]) -> Trait:
    """A trait."""
    dimension = dimensions_by_name()[one.value.dimension]
    return Trait(
        dimension=one.value.dimension,
        category=dimension.category,
        level=one.value.level,
        confidence=one.value.confidence,
        pole=dimension.pole(one.value.level),
        sources=sorted_sources(one.value.sources),
        recorded_at=recorded[one.began],
        change_no=one.began,
        valid_from=one.value.valid_from,
        retired_at=_retired_at(one, recorded),
    )


def relation_from(one: Version[PersonRelated]) -> PersonRelation:
    """What is known of a name."""
    told = one.value
    return PersonRelation(
        relation=told.relation,
        one=told.one,
        other=told.other,
        holds=told.holds is not False,
        sources=sorted_sources(told.sources),
    )
