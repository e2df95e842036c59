"""Records of memories in the HTTP API: one for pages, utterances and facts, with different `metadata`, and records
for segments, traits, profiles, changes and the results of a recall. `metadata` there is what Ember knows of an item;
the caller's own metadata are its `labels`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

from embermem.core.changes import BY_API_KIND, Cause, Change, Decision, api_kind
from embermem.core.types import (
    About,
    ChainId,
    Context,
    Fact,
    FactId,
    Hit,
    LeftOut,
    Owner,
    Page,
    PageId,
    Passage,
    Persona,
    ProfileField,
    Redaction,
    Role,
    SegmentId,
    Source,
    ThreadId,
    Tier,
    Utterance,
    UtteranceId,
)
from embermem.wire.mapping import WHOLE, Doc, From, from_record, to_record


def _ids(sources: Sequence[Source]) -> tuple[UtteranceId, ...]:
    return tuple(dict.fromkeys(source.utterance_id for source in sources))


Labels = Annotated[
    Mapping[str, str | int | float | bool | tuple[str, ...]],
    From("metadata"),
    Doc("Metadata of the caller: those given with it, or of what it rests on."),
]
SourceIds = Annotated[tuple[UtteranceId, ...], From(by=_ids)]
"""The utterances that something rests on, each once."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceItem:
    """Where something was taken from: an utterance, and the characters [start, end) of it where they are known."""

    id: Annotated[UtteranceId, From("utterance_id")]
    seq: Annotated[int, Doc("Position in the owner's order of arrival.")]
    start: int | None
    end: int | None


# ------------------------------------------------------------------------------------- pages, utterances and facts


@dataclass(frozen=True, kw_only=True, slots=True)
class _Item:
    id: str
    memory: Annotated[str, From("text"), Doc("Its text.")]
    score: Annotated[float | None, Doc("Relevance, from 0 to 1, comparable between answers.")] = None
    user_id: str
    agent_id: str
    run_id: Annotated[ThreadId | None, From("thread")] = None
    created_at: Annotated[datetime, From("said_at"), Doc("When it was said, or since when it is true.")]
    updated_at: Annotated[datetime, From("recorded_at"), Doc("When Ember wrote it.")]
    labels: Labels = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class UtteranceItem:
    """A message inside a page."""

    id: UtteranceId
    seq: Annotated[int, Doc("Position in the owner's order of arrival.")]
    role: Role
    speaker: str
    text: str
    said_at: datetime
    recorded_at: datetime
    passage: Annotated[Passage | None, Doc("Where it stands in a document; null for what was said.")] = None
    labels: Labels = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class PageData:
    """What else is known of a page."""

    no: int
    tier: Tier | None
    segment_id: SegmentId | None
    chain_id: ChainId | None
    keywords: tuple[str, ...]
    utterances: tuple[UtteranceItem, ...]
    error: Annotated[str | None, Doc("Why processing failed, if it did.")]
    expires_at: Annotated[datetime | None, Doc("When the page expires.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class UtteranceData:
    """What else is known of an utterance."""

    page_id: PageId
    seq: int
    role: Role
    speaker: str
    tier: Tier | None
    segment_id: SegmentId | None
    passage: Annotated[Passage | None, Doc("Where it stands in a document; null for what was said.")] = None
    space: Annotated[str | None, Doc("The shared space it is from; null: the owner's own memory.")] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FactData:
    """What else is known of a fact."""

    about: About
    subject: Annotated[str, Doc("Whom it is about, as it was said.")]
    person: Annotated[str, Doc("The name of the person whom the subject means; see `/v1/people`.")]
    attribute: str
    value: str
    sources: Annotated[SourceIds, Doc("Ids of the source utterances.")]
    rests_on: Annotated[tuple[SourceItem, ...], From("sources"), Doc("The source characters in those utterances.")]
    change_no: Annotated[int, Doc("Number of the change that made it.")]
    valid_from: datetime | None
    valid_to: datetime | None
    retired_at: datetime | None
    superseded_by: FactId | None
    pinned: bool
    archived: bool
    expires_at: Annotated[datetime | None, Doc("Until when it is true, if it has an end.")]
    conflicts: Annotated[tuple[FactId, ...], Doc("Ids of facts in conflict with it.")]


def _lines(page: Page) -> str:
    return "\n".join(f"{one.speaker}: {one.text}" for one in page.utterances)


def _newest(page: Page) -> datetime:
    return page.utterances[-1].recorded_at


def _since(fact: Fact) -> datetime:
    return fact.valid_from or fact.recorded_at


@dataclass(frozen=True, kw_only=True, slots=True)
class PageItem(_Item):
    """An exchange."""

    memory: Annotated[str, From("", _lines), Doc("Its text.")]
    updated_at: Annotated[datetime, From("", _newest), Doc("When Ember wrote it.")]
    kind: Literal["page"] = "page"
    metadata: Annotated[PageData, WHOLE]


@dataclass(frozen=True, kw_only=True, slots=True)
class UtteranceMemory(_Item):
    """A message as it was said."""

    raw_score: Annotated[float | None, Doc("What the order goes by; comparable within this answer only.")] = None
    kind: Literal["utterance"] = "utterance"
    metadata: Annotated[UtteranceData, WHOLE]


@dataclass(frozen=True, kw_only=True, slots=True)
class FactItem(_Item):
    """Something known of the user, the agent or another."""

    created_at: Annotated[
        datetime,
        From("", _since),
        Doc("When it was said, or since when it is true."),
    ]
    kind: Literal["fact"] = "fact"
    metadata: Annotated[FactData, WHOLE]


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentData:
    """What else is known of a segment."""

    title: str
    keywords: tuple[str, ...]
    page_ids: tuple[PageId, ...]
    archived: bool
    change_no: int
    sources: SourceIds


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentMemory(_Item):
    """Pages of one topic, with their summary; `GET /v1/segments/{id}` has more of it."""

    memory: Annotated[str, From("summary"), Doc("Its summary.")]
    created_at: Annotated[datetime, From("said_from"), Doc("When the first of it was said.")]
    kind: Literal["segment"] = "segment"
    metadata: Annotated[SegmentData, WHOLE]


@dataclass(frozen=True, kw_only=True, slots=True)
class ChainData:
    """What else is known of a chain."""

    page_ids: tuple[PageId, ...]
    change_no: int
    sources: SourceIds
    rests_on: Annotated[tuple[SourceItem, ...], From("sources"), Doc("Sources of its summary.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class ChainMemory(_Item):
    """Consecutive pages of a thread on one topic, with their summary."""

    memory: Annotated[str, From("summary"), Doc("Its summary.")]
    created_at: Annotated[datetime, From("recorded_at"), Doc("When Ember wrote it.")]
    kind: Literal["chain"] = "chain"
    metadata: Annotated[ChainData, WHOLE]


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentData:
    """What else is known of a document."""

    title: str
    source: Annotated[str, Doc("What tells it from other documents.")]
    passages: Annotated[int, Doc("How many it has.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentMemory(_Item):
    """A text or file; `GET /v1/documents/{id}` has its passages."""

    memory: Annotated[str, From("title"), Doc("Its title.")]
    kind: Literal["document"] = "document"
    metadata: Annotated[DocumentData, WHOLE]


def page_item(owner: Owner, page: Page) -> PageItem:
    """A page: what its speakers said, a line each."""
    return to_record(PageItem, page, **_names(owner))


def page_of(item: PageItem) -> Page:
    """The page that an item describes."""
    where = {"page_id": item.id, "thread": item.run_id}
    said = tuple(from_record(Utterance, one, **where) for one in item.metadata.utterances)
    return from_record(Page, item, utterances=said)


def utterance_item(
    owner: Owner, utterance: Utterance, *, tier: Tier | None, segment_id: SegmentId | None
) -> UtteranceMemory:
    """An utterance, and where its page is."""
    where = {"tier": tier, "segment_id": segment_id}
    return to_record(UtteranceMemory, utterance, **where, **_names(owner))


def hit_item(owner: Owner, hit: Hit) -> UtteranceMemory:
    """An utterance that was found, with its relevance and its score."""
    item = utterance_item(owner, hit.utterance, tier=hit.tier, segment_id=hit.segment_id)
    metadata = replace(item.metadata, space=hit.space)
    return replace(item, score=hit.relevance, raw_score=hit.score, metadata=metadata)


def fact_item(owner: Owner, fact: Fact) -> FactItem:
    """A fact; it was made when it began to hold, or else when it was recorded."""
    return to_record(FactItem, fact, **_names(owner))


def _names(owner: Owner) -> Mapping[str, str]:
    return {"user_id": owner.user, "agent_id": owner.agent}


# ------------------------------------------------------------------------------------------------- added and found


@dataclass(frozen=True, kw_only=True, slots=True)
class Addition:
    """A message that is kept."""

    id: Annotated[UtteranceId, Doc("The utterance's id.")]
    memory: Annotated[str, From("text")]
    event: Literal["ADD"] = "ADD"
    role: Role
    page_id: PageId
    created_at: Annotated[datetime, From("said_at")]


@dataclass(frozen=True, kw_only=True, slots=True)
class Added:
    """What was kept, in order, and the pages that it is in."""

    results: tuple[Addition, ...]
    page_ids: tuple[PageId, ...]
    redactions: Annotated[
        tuple[Redaction, ...], Doc("What the filter of sensitive texts removed, without the removed words.")
    ] = field(default_factory=tuple)


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """The best hits, best first."""

    results: tuple[UtteranceMemory, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ShareItem:
    """A grant of a space, or of what is known of a user."""

    id: str
    user_id: Annotated[str | None, From("user"), Doc("The user; null is everybody.")]
    agent_id: Annotated[str | None, From("agent"), Doc("The agent; null is any.")]
    write: bool
    granted_at: datetime
    revoked_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SharedPart:
    """What is told of a space, or (`agent:NAME`) by another agent, in a context."""

    tokens: int
    confidence: float
    facts: tuple[FactItem, ...]
    rests_on: tuple[UtteranceId, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOutItem:
    """Something that was found and not packed."""

    what: str
    score: float
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextAnswer:
    """Text ready for a prompt, and what it is made of."""

    text: str
    tokens: Annotated[int, Doc("The length of `text` by `counter`.")]
    counter: str
    confidence: Annotated[float, Doc("Probability, from 0 to 1, that it contains what was asked.")]
    partial: Annotated[bool, Doc("Some utterances were ranked by words alone.")]
    preset: str
    results: Annotated[tuple[UtteranceMemory, ...], Doc("The utterances in `text`.")]
    facts: Annotated[tuple[FactItem, ...], Doc("The facts in `text`.")]
    left_out: tuple[LeftOutItem, ...] | None = None
    notes: tuple[str, ...] | None = None
    shared: Annotated[dict[str, SharedPart], Doc("By the space's name; their utterances are in `results`.")] = field(
        default_factory=dict
    )


def context_answer(owner: Owner, context: Context, *, explain: bool) -> ContextAnswer:
    """What a recall hands back; what it left out where that is asked."""
    items = {
        "results": tuple(hit_item(owner, hit) for hit in context.packed),
        "facts": tuple(fact_item(owner, fact) for fact in context.facts),
        "shared": {
            name: to_record(SharedPart, one, facts=tuple(fact_item(owner, fact) for fact in one.facts))
            for name, one in context.shared.items()
        },
    }
    return to_record(ContextAnswer, context, **items, **({} if explain else {"left_out": None, "notes": None}))


def context_of(answer: ContextAnswer, query: str) -> Context:
    """The context that an answer describes: `hits` are the packed ones, and the persona is empty."""
    packed = hits_of(answer.results)
    return from_record(
        Context,
        answer,
        packed=packed,
        hits=tuple(sorted(packed, key=lambda hit: hit.rank)),
        persona=Persona(),
        query=query,
        left_out=tuple(from_record(LeftOut, one) for one in answer.left_out or ()),
        notes=answer.notes or (),
        shared={
            name: _shared_of(answer, name, [hit for hit in packed if hit.space == name], query)
            for name in answer.shared
        },
    )


def _shared_of(answer: ContextAnswer, name: str, packed: Sequence[Hit], query: str) -> Context:
    """What of an answer is of one space. Its text stands in that of the whole."""
    of = answer.shared[name]
    return from_record(
        Context,
        of,
        text="",
        hits=tuple(sorted(packed, key=lambda hit: hit.rank)),
        packed=tuple(packed),
        facts=tuple(from_record(Fact, one) for one in of.facts),
        persona=Persona(),
        counter=answer.counter,
        partial=answer.partial,
        query=query,
        preset=answer.preset,
        shared={},
    )


def hits_of(items: Sequence[UtteranceMemory]) -> tuple[Hit, ...]:
    """The hits that items describe, in their order, with ranks by score."""
    best = sorted(range(len(items)), key=lambda place: -(items[place].raw_score or 0.0))
    ranks = {place: rank for rank, place in enumerate(best, 1)}
    return tuple(
        Hit(
            utterance=from_record(Utterance, one),
            score=one.raw_score or 0.0,
            relevance=one.score,
            rank=ranks[place],
            tier=one.metadata.tier or Tier.PENDING,
            segment_id=one.metadata.segment_id,
            space=one.metadata.space,
        )
        for place, one in enumerate(items)
    )


# --------------------------------------------------------------------------------------------- persona and segments


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileValue:
    """One line of a profile."""

    value: str
    set_by: Annotated[str, Doc("`caller`, or the analyst.")]
    sources: SourceIds
    rests_on: Annotated[tuple[SourceItem, ...], From("sources")]
    change_no: int
    recorded_at: datetime
    valid_from: datetime | None
    retired_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """Both profiles."""

    user: dict[str, ProfileValue]
    agent: dict[str, ProfileValue]


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonProfile:
    """The profile of the person who was asked for."""

    person: dict[str, ProfileValue]


def profile(persona: Persona) -> Profile:
    """Both profiles, by the names of their fields."""
    return Profile(user=_values(persona.profile), agent=_values(persona.agent_profile))


def person_profile(lines: Sequence[ProfileField]) -> PersonProfile:
    """One person's profile, by the names of its fields."""
    return PersonProfile(person=_values(lines))


def _values(lines: Sequence[ProfileField]) -> dict[str, ProfileValue]:
    return {line.name: to_record(ProfileValue, line) for line in lines}


def lines_of(values: Mapping[str, ProfileValue], whose: About) -> tuple[ProfileField, ...]:
    """The fields of a profile."""
    return tuple(from_record(ProfileField, value, whose=whose, name=name) for name, value in values.items())


@dataclass(frozen=True, kw_only=True, slots=True)
class PersonItem:
    """Somebody whom the memory knows: a speaker, or somebody mentioned by name or as a relative."""

    id: Annotated[str, Doc("`user`, `agent`, or the name in lower case, with a `?` if it is undecided whose it is.")]
    name: str
    names: Annotated[tuple[str, ...], Doc('All names and kin words, such as "Ana" and "Bob\'s sister".')]
    roles: Annotated[tuple[Role, ...], Doc("The roles that the person speaks in; none if only mentioned.")]
    facts: Annotated[int, Doc("Number of current facts about the person.")]
    undecided: Annotated[bool, Doc("Whether it is undecided who of several people is meant.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class TraitItem:
    """One of the 90 traits, as far as it is known."""

    dimension: str
    category: str
    level: Annotated[float, Doc("From -1, the low pole, to 1, the high one.")]
    confidence: float
    pole: str
    sources: SourceIds
    rests_on: Annotated[tuple[SourceItem, ...], From("sources")]
    change_no: int
    recorded_at: datetime
    valid_from: datetime | None
    retired_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentItem:
    """Pages of one topic."""

    id: SegmentId
    title: Annotated[str, Doc("A heading of a few words; empty where none was made yet.")]
    summary: str
    keywords: Annotated[tuple[str, ...], Doc("At most eight, which tell it from the owner's other segments.")]
    heat: float
    visits: int
    unanalysed: Annotated[int, Doc("Pages not yet analysed for the persona.")]
    last_access: datetime
    visited_at: Annotated[datetime | None, Doc("The last visit; null where there was none.")] = None
    archived: bool
    said_from: datetime
    said_to: datetime
    page_ids: tuple[PageId, ...]
    rests_on: Annotated[tuple[SourceItem, ...], From("sources"), Doc("Sources of its summary.")]
    change_no: Annotated[int, Doc("The change that wrote its summary.")]
    recorded_at: Annotated[datetime, Doc("When that was.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentWhole(SegmentItem):
    """A segment with its newest pages, in order."""

    pages: tuple[PageItem, ...]


# ---------------------------------------------------------------------------------------------------------- changes


def _decisions(decisions: Sequence[Decision]) -> tuple[dict[str, Any], ...]:
    return tuple({"kind": api_kind(type(one)), **msgspec.to_builtins(one)} for one in decisions)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangeItem:
    """An entry of the log of what was derived."""

    change_no: Annotated[int, From("no")]
    cause: Annotated[str, From("cause", str)]
    analyst: str
    recorded_at: datetime
    decisions: Annotated[
        tuple[dict[str, Any], ...],
        From(by=_decisions),
        Doc("Each with its `kind` and fields."),
    ]


def change_of(item: ChangeItem) -> Change:
    """The change that an item describes. Raises ValueError for a cause or decision that this version does not know."""
    try:
        decisions = tuple(_decision_of(one) for one in item.decisions)
        return from_record(Change, item, cause=Cause(item.cause), decisions=decisions)
    except (msgspec.ValidationError, KeyError) as error:
        raise ValueError(f"change {item.change_no} has a decision that this version does not know: {error}") from error


def _decision_of(told: Mapping[str, Any]) -> Decision:
    fields = dict(told)
    made: Decision = msgspec.convert(fields, type=BY_API_KIND[fields.pop("kind")], strict=False)
    return made
