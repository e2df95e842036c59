"""Answers of the HTTP API as records of `embermem.core.types` and `embermem.core.changes`.

All that a record holds is told by the API, but for the vector of a segment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from embermem.client.wire import Problem, unreadable
from embermem.core.changes import BY_TAG, Cause, Change, Decision, api_kind
from embermem.core.types import (
    About,
    ChainId,
    Conflict,
    Context,
    Fact,
    FactId,
    Hit,
    LeftOut,
    Link,
    Page,
    PageId,
    Persona,
    ProfileField,
    Redaction,
    Retention,
    Role,
    Segment,
    SegmentId,
    Source,
    ThreadId,
    Tier,
    Trait,
    Utterance,
    UtteranceId,
)

_T = TypeVar("_T")


def read(body: bytes, kind: type[_T]) -> _T:
    """An answer of one kind: a class below, or a record of ours that is told whole. Raises ServerError.

    Fields that are not known here are passed over: a newer server may say more.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise unreadable(error) from error


# ------------------------------------------------------------------------------------------------ what was said


@dataclass(frozen=True, kw_only=True, slots=True)
class Addition:
    """A message that is kept."""

    id: UtteranceId


@dataclass(frozen=True, kw_only=True, slots=True)
class Added:
    """What was kept."""

    results: tuple[Addition, ...]
    page_ids: tuple[PageId, ...]
    redactions: tuple[Redaction, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Said:
    id: UtteranceId
    seq: int
    role: Role
    speaker: str
    text: str
    said_at: datetime
    recorded_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class _PageData:
    no: int
    utterances: tuple[_Said, ...]
    tier: Tier | None = None
    segment_id: SegmentId | None = None
    chain_id: ChainId | None = None
    keywords: tuple[str, ...] = ()
    error: str | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PageItem:
    """An exchange."""

    id: PageId
    run_id: ThreadId
    metadata: _PageData

    def made(self) -> Page:
        """As a page."""
        data = self.metadata
        return Page(
            id=self.id,
            no=data.no,
            thread=self.run_id,
            utterances=tuple(
                Utterance(
                    id=said.id,
                    seq=said.seq,
                    page_id=self.id,
                    thread=self.run_id,
                    role=said.role,
                    speaker=said.speaker,
                    text=said.text,
                    said_at=said.said_at,
                    recorded_at=said.recorded_at,
                )
                for said in data.utterances
            ),
            tier=data.tier,
            segment_id=data.segment_id,
            chain_id=data.chain_id,
            keywords=data.keywords,
            error=data.error,
            expires_at=data.expires_at,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _UtteranceData:
    page_id: PageId
    seq: int
    role: Role
    speaker: str
    tier: Tier | None = None
    segment_id: SegmentId | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class UtteranceItem:
    """A message as it was said; with a score where it was found."""

    id: UtteranceId
    memory: str
    run_id: ThreadId
    created_at: datetime
    updated_at: datetime
    metadata: _UtteranceData
    score: float | None = None

    def made(self) -> Utterance:
        """As an utterance."""
        return Utterance(
            id=self.id,
            seq=self.metadata.seq,
            page_id=self.metadata.page_id,
            thread=self.run_id,
            role=self.metadata.role,
            speaker=self.metadata.speaker,
            text=self.memory,
            said_at=self.created_at,
            recorded_at=self.updated_at,
        )


# -------------------------------------------------------------------------------------------- what is recalled


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """Hits, in the order of the answer."""

    results: tuple[UtteranceItem, ...]

    def made(self) -> tuple[Hit, ...]:
        """As hits in that order, ranked by their scores."""
        return _hits(self.results)


@dataclass(frozen=True, kw_only=True, slots=True)
class _LeftOut:
    what: str
    score: float
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextAnswer:
    """A recall."""

    text: str
    tokens: int
    counter: str
    confidence: float
    partial: bool
    preset: str
    results: tuple[UtteranceItem, ...]
    facts: tuple[FactItem, ...]
    left_out: tuple[_LeftOut, ...] | None = None
    notes: tuple[str, ...] | None = None

    def made(self, query: str) -> Context:
        """As a context; what was ranked high and not packed is not told, nor is the persona."""
        packed = _hits(self.results)
        return Context(
            text=self.text,
            hits=tuple(sorted(packed, key=lambda hit: hit.rank)),
            packed=packed,
            facts=tuple(fact.made() for fact in self.facts),
            persona=Persona(),
            tokens=self.tokens,
            counter=self.counter,
            confidence=self.confidence,
            partial=self.partial,
            query=query,
            preset=self.preset,
            left_out=tuple(LeftOut(what=o.what, score=o.score, reason=o.reason) for o in self.left_out or ()),
            notes=self.notes or (),
        )


def _hits(found: Sequence[UtteranceItem]) -> tuple[Hit, ...]:
    best = sorted(range(len(found)), key=lambda place: -(found[place].score or 0.0))
    ranks = {place: rank for rank, place in enumerate(best, 1)}
    return tuple(
        Hit(
            utterance=one.made(),
            score=one.score or 0.0,
            rank=ranks[place],
            tier=one.metadata.tier or Tier.PENDING,
            segment_id=one.metadata.segment_id,
        )
        for place, one in enumerate(found)
    )


# --------------------------------------------------------------------------------------------- what is understood


@dataclass(frozen=True, kw_only=True, slots=True)
class _Source:
    id: UtteranceId
    seq: int
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _FactData:
    about: About
    subject: str
    attribute: str
    value: str
    rests_on: tuple[_Source, ...]
    change_no: int
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    retired_at: datetime | None = None
    superseded_by: FactId | None = None
    pinned: bool = False
    archived: bool = False
    expires_at: datetime | None = None
    conflicts: tuple[FactId, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class FactItem:
    """Something known."""

    id: FactId
    memory: str
    updated_at: datetime
    metadata: _FactData

    def made(self) -> Fact:
        """As a fact."""
        data = self.metadata
        return Fact(
            id=self.id,
            about=data.about,
            subject=data.subject,
            attribute=data.attribute,
            value=data.value,
            text=self.memory,
            sources=_sources(data.rests_on),
            valid_from=data.valid_from,
            valid_to=data.valid_to,
            recorded_at=self.updated_at,
            retired_at=data.retired_at,
            superseded_by=data.superseded_by,
            archived=data.archived,
            pinned=data.pinned,
            change_no=data.change_no,
            expires_at=data.expires_at,
            conflicts=data.conflicts,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _TraitItem:
    dimension: str
    category: str
    level: float
    confidence: float
    pole: str
    rests_on: tuple[_Source, ...]
    change_no: int
    recorded_at: datetime
    valid_from: datetime | None = None
    retired_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Traits:
    """The traits that are known."""

    results: tuple[_TraitItem, ...]

    def made(self) -> tuple[Trait, ...]:
        """As traits."""
        return tuple(
            Trait(
                dimension=one.dimension,
                category=one.category,
                level=one.level,
                confidence=one.confidence,
                pole=one.pole,
                sources=_sources(one.rests_on),
                recorded_at=one.recorded_at,
                change_no=one.change_no,
                valid_from=one.valid_from,
                retired_at=one.retired_at,
            )
            for one in self.results
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class _ProfileValue:
    value: str
    set_by: str
    rests_on: tuple[_Source, ...]
    change_no: int
    recorded_at: datetime
    valid_from: datetime | None = None
    retired_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """Both profiles."""

    user: dict[str, _ProfileValue]
    agent: dict[str, _ProfileValue]

    def made(self, whose: About) -> tuple[ProfileField, ...]:
        """The lines of one of them."""
        return tuple(
            ProfileField(
                whose=whose,
                name=name,
                value=line.value,
                sources=_sources(line.rests_on),
                recorded_at=line.recorded_at,
                change_no=line.change_no,
                set_by=line.set_by,
                valid_from=line.valid_from,
                retired_at=line.retired_at,
            )
            for name, line in (self.user if whose is About.USER else self.agent).items()
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentItem:
    """Pages of one topic."""

    id: SegmentId
    summary: str
    keywords: tuple[str, ...]
    heat: float
    visits: int
    unanalysed: int
    last_access: datetime
    archived: bool
    said_from: datetime
    said_to: datetime
    page_ids: tuple[PageId, ...]
    rests_on: tuple[_Source, ...]
    change_no: int
    recorded_at: datetime
    tags: tuple[str, ...] = ()
    context: str = ""

    def made(self) -> Segment:
        """As a segment."""
        return Segment(
            id=self.id,
            summary=self.summary,
            keywords=self.keywords,
            page_ids=self.page_ids,
            visits=self.visits,
            unanalysed=self.unanalysed,
            last_access=self.last_access,
            archived=self.archived,
            change_no=self.change_no,
            recorded_at=self.recorded_at,
            said_from=self.said_from,
            said_to=self.said_to,
            sources=_sources(self.rests_on),
            tags=self.tags,
            context=self.context,
        )


# ---------------------------------------------------------------------------------------------------- the log


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangeItem:
    """An entry of the log."""

    change_no: int
    cause: Cause
    analyst: str
    recorded_at: datetime
    decisions: tuple[dict[str, Any], ...]

    def made(self) -> Change:
        """As a change. Raises ServerError for a decision of a kind that this version does not know."""
        return Change(
            no=self.change_no,
            cause=self.cause,
            analyst=self.analyst,
            recorded_at=self.recorded_at,
            decisions=tuple(_decision(one) for one in self.decisions),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """Changes, oldest first."""

    results: tuple[ChangeItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Undoing:
    """The change that took another back."""

    change_no: int


def _decision(told: Mapping[str, Any]) -> Decision:
    fields = dict(told)
    try:
        made: Decision = msgspec.convert(fields, type=_DECISIONS[fields.pop("kind")], strict=False)
    except (msgspec.ValidationError, KeyError) as error:
        raise unreadable(error) from error
    return made


_DECISIONS: Mapping[str, type[Any]] = {api_kind(kind): kind for kind in BY_TAG.values()}


# -------------------------------------------------------------------------------------------- lists and the rest


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    next_cursor: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Pages(_Part):
    """A part of a list of pages."""

    results: tuple[PageItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Segments(_Part):
    """A part of a list of segments."""

    results: tuple[SegmentItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Facts(_Part):
    """A part of a list of facts."""

    results: tuple[FactItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes(_Part):
    """A part of the log."""

    results: tuple[ChangeItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnerItem:
    """One (user, agent) pair."""

    user_id: str
    agent_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Owners(_Part):
    """A part of the list of owners."""

    results: tuple[OwnerItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Conflicts:
    """Facts that cannot both be so."""

    results: tuple[Conflict, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Learnt:
    """What each fact that was brought became."""

    results: tuple[FactItem, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Links:
    """Links between facts and segments."""

    results: tuple[Link, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Retained:
    """How much of each memory is retained."""

    results: tuple[Retention, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """Work that goes on behind."""

    id: str
    status: str
    done: int = 0
    total: int | None = None
    result: dict[str, int] | None = None
    error: Problem | None = None


def _sources(told: Sequence[_Source]) -> tuple[Source, ...]:
    return tuple(Source(seq=one.seq, utterance_id=one.id, start=one.start, end=one.end) for one in told)
