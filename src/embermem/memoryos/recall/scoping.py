"""What of a memory is in scope: a snapshot without the rest, which recall runs on as on any other.

First the rows are chosen, then what was derived: an item is told, and used, if all its sources are among the rows. What
a caller brought has no sources. It is in scope unless the scope names threads, metadata, speakers, tiers or times,
which it has none of; under `people`, if it is about them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from embermem.core.config import Settings
from embermem.core.types import (
    Fact,
    Kind,
    Persona,
    PersonRelation,
    ProfileField,
    Relation,
    Scope,
    Segment,
    Source,
    ThreadId,
    Tier,
    Trait,
)
from embermem.index.said import micros
from embermem.index.snapshot import Snapshot
from embermem.languages.people import AGENT, USER
from embermem.memoryos.names import folded
from embermem.memoryos.people import People, speaker_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Mask = NDArray[np.bool_]

__all__ = ["Wanted", "in_scope", "of_kinds", "tells", "tiers_of", "wholly_in"]

_Line = TypeVar("_Line", ProfileField, Trait)


def in_scope(snapshot: Snapshot, scope: Scope | None, settings: Settings, people: Callable[[], People]) -> Snapshot:
    """The snapshot of what is in scope, but for `kinds`; `people` says who is who in the whole memory. Kept with the
    snapshot, for the next query of the same scope."""
    if scope is None or (limits := replace(scope, kinds=None)).is_whole:
        return snapshot
    # By what a filter says, since True == 1 and equal scopes may differ in it.
    which = (limits, repr(limits.metadata), settings.short_term_pages if limits.tiers is not None else 0)
    return snapshot.kept(which, lambda: _narrowed(snapshot, limits, settings, people))


def of_kinds(snapshot: Snapshot, scope: Scope | None) -> Snapshot:
    """The snapshot of the rows that may be told by a scope's kinds: messages, documents or both."""
    if tells(scope, Kind.MESSAGE) and tells(scope, Kind.DOCUMENT):
        return snapshot
    kinds = tells(scope, Kind.MESSAGE), tells(scope, Kind.DOCUMENT)

    def narrow() -> Snapshot:
        documents = snapshot.is_passage(snapshot.n)
        return snapshot.part((documents & kinds[1]) | (~documents & kinds[0]))

    return snapshot.kept(kinds, narrow)


def tells(scope: Scope | None, kind: Kind) -> bool:
    """Whether a scope lets a kind be told."""
    return scope is None or scope.tells(kind)


def wholly_in(segments: Iterable[Segment], snapshot: Snapshot) -> tuple[Segment, ...]:
    """The segments whose pages and sources are all in a narrowed snapshot."""

    def whole(segment: Segment) -> bool:
        numbers = snapshot.page_numbers(segment.page_ids)
        there = all(number is not None and snapshot.is_whole(number) for number in numbers)
        return there and _stands(snapshot, segment.sources)

    return tuple(one for one in segments if whole(one))


def tiers_of(snapshot: Snapshot, short_term_pages: int) -> NDArray[np.object_]:
    """The tier of every page, as core/paging.py has it; shape (pages,)."""
    placed = snapshot.segment_of_page()
    newer = snapshot.newer_pages()
    found = np.where(newer < short_term_pages, Tier.SHORT, Tier.PENDING).astype(object)
    found[newer < 0] = None  # a passage of a document is in no tier
    inside = placed >= 0
    found[inside] = np.where(snapshot.segments.archived[placed[inside]], Tier.ARCHIVE, Tier.MID).astype(object)
    return found


def _narrowed(snapshot: Snapshot, scope: Scope, settings: Settings, people: Callable[[], People]) -> Snapshot:
    wanted = None if scope.people is None else Wanted(scope.people, people())
    shown = _rows(snapshot, scope, settings)
    if wanted is not None:
        shown &= wanted.rows(snapshot)
    return _with_what_stands(snapshot, snapshot.part(shown), scope, wanted)


# ----------------------------------------------------------------------------------------------------------------- rows


def _rows(snapshot: Snapshot, scope: Scope, settings: Settings) -> Mask:
    n = snapshot.n
    shown = np.ones(n, dtype=bool)
    if scope.before_seq is not None:
        shown[snapshot.rows_before(scope.before_seq) :] = False
    if scope.threads is not None:
        shown &= np.isin(snapshot.thread_of(n), _numbers(snapshot, scope.threads))
    if scope.not_threads:
        shown &= ~np.isin(snapshot.thread_of(n), _numbers(snapshot, scope.not_threads))
    if scope.speakers is not None:
        spoke = [number for number, name in enumerate(snapshot.speakers()) if name in scope.speakers]
        shown &= np.isin(snapshot.speaker_of(n), spoke)
    since, until = scope.span
    if since is not None:
        shown &= snapshot.said_at(n) >= micros(since)
    if until is not None:
        shown &= snapshot.said_at(n) <= micros(until)
    if scope.tiers is not None:
        pages = np.isin(tiers_of(snapshot, settings.short_term_pages).astype(str), [str(one) for one in scope.tiers])
        shown &= pages[snapshot.page_of(n)]
    if scope.metadata is not None:
        shown &= snapshot.meeting(scope.metadata)
    return shown


def _numbers(snapshot: Snapshot, threads: Iterable[str]) -> list[int]:
    return [number for one in threads if (number := snapshot.thread_number(ThreadId(one))) is not None]


class Wanted:
    """The people of a scope. A name that nobody has is nobody's; one that several have is each of theirs."""

    def __init__(self, names: Collection[str], people: People) -> None:
        self._people, self._names = people, {folded(name) for name in names}
        each = (one for name in names for one in (people.namesakes(name) or (name,)))
        self._ids = {found for one in each if (found := people.find(one)) is not None}

    def rows(self, snapshot: Snapshot) -> Mask:
        """What they said, and what facts about them rest on."""
        speaking, which = snapshot.speaking()
        shown = np.array([self.speaks(speaker_of(*one)) for one in speaking], dtype=bool)[which]
        seqs = [
            source.seq
            for fact in (*snapshot.facts.rows, *snapshot.ended_facts)
            if self.has(fact)
            for source in fact.sources
        ]
        return np.asarray(shown | np.isin(snapshot.seqs, seqs))

    def has(self, item: Fact | ProfileField | Trait) -> bool:
        """Whether something is about one of them."""
        if isinstance(item, Fact):
            return self._people.of(item) in self._ids
        return (USER if isinstance(item, Trait) else str(item.whose)) in self._ids

    def speaks(self, name: str) -> bool:
        """Whether a speaker is one of them; who spoke lately may be known by name alone."""
        return self._people.find(name) in self._ids or folded(name) in self._names


# --------------------------------------------------------------------------------------------------- what was derived


def _with_what_stands(whole: Snapshot, part: Snapshot, scope: Scope, wanted: Wanted | None) -> Snapshot:
    """The rows with what rests on them alone."""
    unsourced = not scope.needs_sources

    def lines(of: Sequence[_Line]) -> tuple[_Line, ...]:
        return tuple(
            one
            for one in of
            if (_stands(part, one.sources) if one.sources else unsourced and (wanted is None or wanted.has(one)))
        )

    table, persona = whole.facts, whole.persona
    places, inside = table.source_seqs[0], table.found(part.seqs)[1]
    stands = np.ones(len(table.rows), dtype=bool)
    stands[places[~inside]] = False
    for place in np.flatnonzero(table.own).tolist():
        stands[place] = unsourced and (wanted is None or wanted.has(table.rows[place]))
    kept = np.flatnonzero(stands).tolist()
    ids = {table.rows[place].id for place in kept}
    ended = tuple(one for one in whole.ended_facts if one.sources and _stands(part, one.sources))
    known = {*ids, *(one.id for one in ended)}
    ended = tuple(
        one for one in ended if one.superseded_by in known or (one.expires_at and one.valid_to == one.expires_at)
    )
    rows = [table.rows[place] for place in kept]
    facts = {one.id: one for one in rows}
    here = Persona(
        profile=lines(persona.profile),
        agent_profile=lines(persona.agent_profile),
        traits=lines(persona.traits),
        facts=tuple(facts[one.id] for one in persona.facts if one.id in facts),
        agent_facts=tuple(facts[one.id] for one in persona.agent_facts if one.id in facts),
        relations=_relations(persona.relations, part, rows),
    )
    if here == persona and len(rows) == len(table.rows) and len(ended) == len(whole.ended_facts):
        return part  # who is who was worked out of this very persona
    return replace(
        part,
        persona=here,
        facts=table.at(kept, rows),
        archived_facts=tuple(facts[one.id] for one in whole.archived_facts if one.id in facts),
        ended_facts=ended,
    )


def _stands(part: Snapshot, sources: Sequence[Source]) -> bool:
    return all(part.row(one.seq) is not None for one in sources)


def _relations(
    relations: Sequence[PersonRelation], part: Snapshot, facts: Iterable[Fact]
) -> tuple[PersonRelation, ...]:
    """Who speaks here in which role; and the rulings on names that are spoken of here."""
    if not relations:
        return ()
    speaking = {(folded(speaker_of(name, role)), role.value) for name, role in part.speaking()[0]}
    names = {USER, AGENT, *(name for name, _ in speaking), *(folded(fact.subject) for fact in facts)}

    def there(one: PersonRelation) -> bool:
        if one.relation is Relation.SPEAKS:
            return (folded(one.one), one.other) in speaking
        return folded(one.one) in names and folded(one.other) in names

    return tuple(one for one in relations if there(one))
