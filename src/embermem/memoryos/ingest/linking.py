"""Links between memories, and what a newer one makes of an older (A-MEM, arXiv 2502.12110, §3.2 and §3.3).

An analyst proposes; here it is decided. Two memories are linked only if they share a subject: what one of them is
about, by its subject, its value or a keyword, stands in the other. Without a model a fact is linked to what tells of
its subject by name. Pure functions; no database, no clock.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from embermem import languages
from embermem.core.changes import Linked, SegmentEvolved
from embermem.core.config import LinkNumbers
from embermem.core.equations import cosine
from embermem.core.text import fold
from embermem.core.types import (
    EvolutionProposal,
    Fact,
    FactId,
    FactProposal,
    ItemId,
    LinkId,
    LinkProposal,
    PageView,
    SegmentId,
    Source,
)
from embermem.core.user_overrides import plain, speaks_of
from embermem.languages.people import USER, called
from embermem.languages.words import runs, terms, unspaced
from embermem.protocols import SegmentState

Pair = frozenset[str]
"""The two ends of a link, whichever comes first."""

_READ = 10_000
"""Characters of an utterance that are looked at."""
_NOBODY = frozenset({"user", "agent"})
"""Subjects that every other fact has: to share one says nothing."""


@dataclass(frozen=True, slots=True)
class End:
    """A memory that may be linked: `marks` are the terms it is about, each of them a name or a keyword, and `terms` are
    those of all its text."""

    marks: frozenset[frozenset[str]]
    terms: frozenset[str]

    def shares_a_subject_with(self, other: End) -> bool:
        """Whether what one is about stands in the other."""
        return any(mark <= other.terms for mark in self.marks) or any(mark <= self.terms for mark in other.marks)


def of_fact(fact: Fact | FactProposal, apart: Collection[str]) -> End:
    """A fact as an end. `apart` are the names of those who talk (`speakers`): no fact is about them alone."""
    name = named(fact.subject, apart)
    marks = [frozenset(terms(name))] if name is not None else []
    marks += [frozenset({term}) for term in terms(fact.value)]
    own = terms(f"{'' if name is None else fact.subject} {fact.value} {fact.text}")
    return End(_telling(marks), frozenset(own))


def of_segment(segment: SegmentState, pages: Iterable[PageView] = ()) -> End:
    """A segment as an end; with those of its pages that were read, what they say."""
    keywords = _keywords(segment)
    said = [u.text[:_READ] for view in pages for u in view.page.utterances]
    own = terms("\n".join([*keywords, *(part.text for part in segment.parts), segment.context, *segment.tags, *said]))
    return End(_telling(frozenset(terms(word)) for word in keywords), frozenset(own))


def _keywords(segment: SegmentState) -> list[str]:
    return [*(count.word for count in segment.keywords), *segment.evolved]


def _telling(marks: Iterable[frozenset[str]]) -> frozenset[frozenset[str]]:
    """Without those that are no words: numbers and single letters stand everywhere."""
    return frozenset(
        mark for mark in marks if any(len(term) > 1 or unspaced(term) for term in mark if not term.isdecimal())
    )


def named(subject: str, apart: Collection[str]) -> str | None:
    """What a fact's subject is called: of "sister Ana" Ana, of "mother" just that, of "Ben's dog" the dog, if Ben is
    one of those who talk. None for the user, the agent and those who talk."""
    subject = " ".join(subject.split())
    told = called(subject)
    if fold(subject) in apart:
        return None
    if told.kin:
        return told.name or (told.kin if told.of == USER or fold(told.of) in apart else subject)
    owner, possessive, rest = subject.partition("'s ")
    if possessive and fold(owner) in apart:
        subject, possessive = rest, ""
    if not subject or fold(subject) in apart:
        return None
    names = [word for word, _, _ in runs(subject) if word[0].isupper()]
    return subject if possessive or not names else " ".join(names)


def speakers(pages: Iterable[PageView], *others: str) -> frozenset[str]:
    """The names of those who talk, in the form in which names are compared."""
    said = {" ".join(u.speaker.split()) for view in pages for u in view.page.utterances}
    return _NOBODY | {fold(name) for name in (*said, *others)}


# ------------------------------------------------------------------------------------------------ what is shown


def neighbours(
    own: SegmentId, pages: Sequence[PageView], segments: Iterable[SegmentState], limit: int
) -> tuple[SegmentState, ...]:
    """The segments that an analyst is shown beside new pages of `own`: those of which a keyword stands in the pages,
    since no other could be linked, the greatest cosine first."""
    vectors = [view.vector for view in pages if view.vector is not None]
    if not vectors:
        return ()
    mean = np.mean(np.stack(vectors), axis=0)
    said = frozenset(terms("\n".join(u.text[:_READ] for view in pages for u in view.page.utterances)))
    near = [
        (cosine(segment.vector_sum, mean), segment)
        for segment in segments
        if segment.id != own and segment.vector_sum is not None and _is_spoken_of(segment, said)
    ]
    return tuple(segment for _, segment in sorted(near, key=lambda pair: (-pair[0], pair[1].id))[:limit])


def _is_spoken_of(segment: SegmentState, said: frozenset[str]) -> bool:
    return any(mark <= said for mark in _telling(frozenset(terms(word)) for word in _keywords(segment)))


# ------------------------------------------------------------------------------------------------ what is decided


@dataclass(frozen=True, kw_only=True, slots=True)
class Around:
    """What a promotion may link: the facts that are held, oldest confirmation first, those of them that rest on the
    pages read, the segment of these pages, and the others that were shown (without a model: all). `apart` are those who
    talk."""

    held: Sequence[Fact]
    fresh: Sequence[Fact]
    segment: SegmentState
    pages: Sequence[PageView]
    segments: Sequence[SegmentState]
    apart: Collection[str]

    def ends(self) -> dict[str, End]:
        """What a proposal may name."""
        ends: dict[str, End] = {fact.id: of_fact(fact, self.apart) for fact in self.held}
        ends.update((segment.id, of_segment(segment)) for segment in self.segments)
        ends[self.segment.id] = of_segment(self.segment, self.pages)
        return ends


def linked(
    proposals: Sequence[LinkProposal], around: Around, known: Collection[Pair], no: int, numbers: LinkNumbers
) -> list[Linked]:
    """The links of change `no` that an analyst proposes, both of whose ends stand and share a subject. `known` are the
    pairs that are linked, or were until somebody took the link back."""
    made: list[Linked] = []
    if not proposals:
        return made
    ends, seen = around.ends(), set(known)
    for proposal in proposals:
        source = proposal.from_id
        if source is None and proposal.from_fact is not None:
            source = learnt_as(proposal.from_fact, around.held)
        one, other = ends.get(source or ""), ends.get(proposal.to_id)
        if source is None or one is None or other is None or len(made) == numbers.links:
            continue
        pair = frozenset((source, proposal.to_id))
        if len(pair) < 2 or pair in seen or not one.shares_a_subject_with(other):
            continue
        seen.add(pair)
        made.append(_link(no, len(made), source, proposal.to_id, proposal.reason, proposal.sources, numbers))
    return made


def learnt_as(proposal: FactProposal, held: Sequence[Fact]) -> FactId | None:
    """The fact that a proposal became: one that says the same, or the same in other words and rests on what it rests
    on."""
    alike = [fact for fact in held if speaks_of(fact) == speaks_of(proposal)]
    seqs = {source.seq for source in proposal.sources}
    same = [fact for fact in alike if plain(fact.value) == plain(proposal.value)]
    resting = [fact for fact in alike if seqs & {source.seq for source in fact.sources}]
    return next((fact.id for fact in (*same[::-1], *resting[::-1])), None)


def by_name(around: Around, known: Collection[Pair], no: int, numbers: LinkNumbers) -> list[Linked]:
    """Without a model: each fresh fact that has a subject of its own is linked to the last fact before it of that
    subject, and to the newest other segments among whose keywords the name stands."""
    seen = set(known)
    made: list[Linked] = []
    names = {fact.id: name for fact in around.fresh if (name := named(fact.subject, around.apart)) is not None}
    if not names:
        return made
    place = {fact.id: i for i, fact in enumerate(around.held)}
    of_name: dict[frozenset[str], list[Fact]] = {}
    for fact in around.held:
        if (name := named(fact.subject, around.apart)) is not None:
            of_name.setdefault(frozenset(terms(name)), []).append(fact)
    others = [segment for segment in around.segments if segment.id != around.segment.id]
    newest = sorted(others, key=lambda segment: (segment.said_to, segment.id), reverse=True)
    words = {segment.id: frozenset(terms(" ".join(_keywords(segment)))) for segment in newest}
    for fact in around.fresh:
        name = names.get(fact.id)
        wanted = frozenset(terms(name or ""))
        if name is None or not wanted:
            continue
        before = [one for one in of_name[wanted] if place[one.id] < place[fact.id]]
        telling = [segment for segment in newest if wanted <= words[segment.id]][: numbers.segments_by_name]
        ends: list[tuple[ItemId, tuple[Source, ...]]] = [(one.id, one.sources) for one in before[-1:]]
        for other, sources in [*ends, *((segment.id, ()) for segment in telling)]:
            pair = frozenset((fact.id, other))
            if pair not in seen and len(made) < numbers.links:
                seen.add(pair)
                rests_on = (*fact.sources, *sources)
                made.append(
                    _link(no, len(made), fact.id, other, languages.by_signs(name).both_about(name), rests_on, numbers)
                )
    return made


def _link(
    no: int,
    ordinal: int,
    source: ItemId,
    target: ItemId,
    reason: str,
    sources: Iterable[Source],
    numbers: LinkNumbers,
) -> Linked:
    rests_on = sorted(dict.fromkeys(sources), key=lambda one: (one.seq, one.start or 0, one.end or 0))
    return Linked(
        link_id=LinkId(f"l{no}-{ordinal:02}"),
        from_id=source,
        to_id=target,
        reason=reason,
        sources=tuple(rests_on[-numbers.sources :]),
    )


def evolved(proposals: Iterable[EvolutionProposal], around: Around) -> list[SegmentEvolved]:
    """What becomes of the segments that were shown: of each the first proposal that shares a subject with what was read
    and says anything new."""
    ends, shown = around.ends(), {segment.id: segment for segment in around.segments}
    own = ends[around.segment.id]
    made: dict[SegmentId, SegmentEvolved] = {}
    for proposal in proposals:
        segment = shown.get(proposal.segment_id)
        if segment is None or segment.id in made or segment.id == around.segment.id:
            continue
        counted = {count.word for count in segment.keywords}
        keywords = tuple(w for w in proposal.keywords if w not in counted) if proposal.keywords else segment.evolved
        tags, context = proposal.tags or segment.tags, proposal.context or segment.context
        is_new = (set(keywords), tags, context) != (set(segment.evolved), segment.tags, segment.context)
        if is_new and own.shares_a_subject_with(ends[segment.id]):
            made[segment.id] = SegmentEvolved(
                segment_id=segment.id,
                keywords=keywords,
                tags=tags,
                context=context,
                reason=proposal.reason,
                sources=proposal.sources,
            )
    return list(made.values())


def after(segment: SegmentState, decision: SegmentEvolved) -> SegmentState:
    """The segment after it evolved."""
    return replace(segment, evolved=decision.keywords, tags=decision.tags, context=decision.context)


def pairs(found: Iterable[tuple[ItemId, ItemId]]) -> set[Pair]:
    """Both ends of links, as `known`."""
    return {frozenset(pair) for pair in found}


def fresh(held: Sequence[Fact], said: Mapping[int, object]) -> list[Fact]:
    """The facts that rest on one of these utterances."""
    return [fact for fact in held if any(source.seq in said for source in fact.sources)]
