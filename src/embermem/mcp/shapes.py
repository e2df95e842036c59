"""The results of the tools: one record for each. Times are ISO 8601 with a zone.

Most are shorter than those of `embermem.wire`, because a model's input costs tokens.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, assert_never

from embermem import prompts
from embermem.core.changes import Decision
from embermem.core.metadata import Metadata
from embermem.core.types import Context, Document, Fact, Page, ProfileField, Segment
from embermem.reports import render
from embermem.wire.mapping import From, to_record

if TYPE_CHECKING:
    from embermem.memory import Memory

SHORT_CHARS = 240
"""How much of an utterance a search shows; `why` shows all of it."""


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _tags(decisions: Sequence[Decision]) -> list[str]:
    return list(dict.fromkeys(decision.tag for decision in decisions))


def _labels(metadata: Metadata) -> dict[str, Any]:
    return {name: list(one) if isinstance(one, tuple) else one for name, one in metadata.items()}


_short = partial(render.cut, length=SHORT_CHARS)
Time = Annotated[str, From(by=_iso)]
MaybeTime = Annotated[str | None, From(by=_iso)]
Rounded = Annotated[float, From(by=partial(round, ndigits=3))]
Ids = Annotated[list[str], From(by=list)]
Count = Annotated[int, From(by=len)]
Score = Annotated[float, From("relevance", partial(round, ndigits=4))]


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What `add_memory` stored: durable, and recallable from now on."""

    page_id: str
    thread: str


@dataclass(frozen=True, kw_only=True)
class StoredDocument:
    """What `add_document` stored: passages that are new, that were there already, and that were removed."""

    id: str
    title: str
    source: str
    added: int
    kept: int
    removed: int


@dataclass(frozen=True, kw_only=True)
class SourceShown:
    """An utterance whose words stand in the text, with its number there; of a shared space, under its heading."""

    number: Annotated[int, From("utterance.seq")]
    id: Annotated[str, From("utterance.id")]
    page_id: Annotated[str, From("utterance.page_id")]
    speaker: Annotated[str, From("utterance.speaker")]
    said_at: Annotated[str, From("utterance.said_at", _iso)]
    score: Score
    space: str | None


@dataclass(frozen=True, kw_only=True)
class FactShown:
    """A fact: what is known of the user, of the agent, or of somebody else."""

    id: str
    text: str
    subject: str
    person: str
    valid_from: MaybeTime
    valid_to: MaybeTime
    pinned: bool
    metadata: Annotated[dict[str, Any], From(by=_labels)]


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """What `retrieve_memory` found: the text between two markers, what it rests on, and how sure that is (0 to 1)."""

    notice: str
    text: str
    confidence: Rounded
    tokens: int
    partial: bool
    sources: list[SourceShown]
    facts: list[FactShown]


@dataclass(frozen=True, kw_only=True)
class HitShown:
    """One utterance that fits, cut to its first words; its score is the chance that it is evidence for the query."""

    id: Annotated[str, From("utterance.id")]
    page_id: Annotated[str, From("utterance.page_id")]
    speaker: Annotated[str, From("utterance.speaker")]
    said_at: Annotated[str, From("utterance.said_at", _iso)]
    text: Annotated[str, From("utterance.text", _short)]
    score: Score
    space: str | None
    metadata: Annotated[dict[str, Any], From("utterance.metadata", _labels)]


@dataclass(frozen=True, kw_only=True)
class Found:
    """What `search_memory` found, best first."""

    notice: str
    results: list[HitShown]


@dataclass(frozen=True, kw_only=True)
class ItemShown:
    """One item of a list: its id, since when it is there (of a fact, true), and its first words."""

    id: str
    at: str | None
    text: str


@dataclass(frozen=True, kw_only=True)
class Listed:
    """Items of one kind, the newest first. `after` is the id to go on after; empty at the end of the list."""

    notice: str
    kind: str
    items: list[ItemShown]
    after: str


@dataclass(frozen=True, kw_only=True)
class TraitShown:
    """One trait: the pole it leans to, how far (−1 to 1) and how sure (0 to 1)."""

    dimension: str
    pole: str
    level: Rounded
    confidence: Rounded


@dataclass(frozen=True, kw_only=True)
class PersonShown:
    """Somebody whom the memory knows: a speaker, or somebody mentioned; `facts` counts what is known of them, and
    `undecided` says that nothing shows who of several people is meant."""

    id: str
    name: str
    names: Ids
    roles: Ids
    facts: int
    undecided: bool


@dataclass(frozen=True, kw_only=True)
class ProfileShown:
    """Who the user is, as far as it is known, and the other people; with `person`, that person's profile and facts
    in place of the user's. `instructions` are what the user
    wants of your replies. Without a person `user` in `people`, it is undecided which speaker is the user."""

    notice: str
    user: dict[str, str]
    agent: dict[str, str]
    person: dict[str, str]
    people: list[PersonShown]
    traits: list[TraitShown]
    instructions: list[FactShown]
    knowledge: list[FactShown]
    assistant_knowledge: list[FactShown]


@dataclass(frozen=True, kw_only=True)
class SaidShown:
    """An utterance, whole."""

    id: str
    page_id: str
    speaker: str
    role: str
    origin: str
    said_at: Time
    text: str
    metadata: Annotated[dict[str, Any], From(by=_labels)]


@dataclass(frozen=True, kw_only=True)
class PieceShown:
    """Something that goes, by its id and its first words."""

    id: str
    text: str


@dataclass(frozen=True, kw_only=True)
class ForgottenShown:
    """What went, or (`done` false) what would go, with its first words. `next` says what to do."""

    notice: str
    done: bool
    pages: Ids
    facts: Ids
    segments: Ids
    chains: Ids
    traits: Ids
    profile: Ids
    utterances: Count
    rewritten: Count
    words: list[PieceShown]
    scrubbed: bool
    sha256: str
    next: str


@dataclass(frozen=True, kw_only=True)
class Corrected:
    """The fact as it stands now, and the one that it took the place of; empty where it took none."""

    notice: str
    fact: FactShown
    replaced: str


@dataclass(frozen=True, kw_only=True)
class ChangeShown:
    """One entry of the log of changes, and what it did to this item."""

    no: int
    cause: str
    recorded_at: Time
    did: Annotated[list[str], From("decisions", _tags)]


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a memory comes from. `state` is current, past or archived for a fact, else a tier.

    `pages` counts those that it rests on; where they are many, `said` leaves some out.
    """

    notice: str
    id: str
    kind: str
    text: str
    state: str
    said: list[SaidShown]
    changes: list[ChangeShown]
    replaces: list[FactShown]
    replaced_by: list[FactShown]
    pages: int


@dataclass(frozen=True, kw_only=True)
class Counted:
    """How much is remembered of this user by this agent, and how; `waits` says what waits for the model, and why."""

    user: str
    agent: str
    utterances: int
    pages: int
    short: int
    pending: int
    mid: int
    archive: int
    segments: int
    facts: int
    agent_facts: int
    traits: int
    failed: int
    waits: list[str]
    embedder: str
    model: str


def state(known: Fact) -> str:
    """Whether a fact holds."""
    return "current" if known.current else "archived" if known.retired_at is None else "past"


def profile(lines: tuple[ProfileField, ...]) -> dict[str, str]:
    """A profile's fields by name."""
    return {line.name: line.value for line in lines}


def facts(known: Iterable[Fact]) -> list[FactShown]:
    """Facts, each with the time in which it is true."""
    return [to_record(FactShown, fact) for fact in known]


def recalled(context: Context, notice: str, text: str) -> Recalled:
    """A context with the given `text` for a model, and its sources in order of arrival."""
    packed = sorted(context.packed, key=lambda hit: (hit.space or "", hit.utterance.seq))
    sources = [to_record(SourceShown, hit) for hit in packed]
    return to_record(Recalled, context, notice=notice, text=text, sources=sources, facts=facts(context.facts))


def item(one: Page | Fact | Segment | Document) -> ItemShown:
    """An item of a list, by its first words."""
    at: datetime | None
    match one:
        case Page():
            text, at = " / ".join(said.text for said in one.utterances), one.said_at
        case Fact():
            text, at = one.text, one.valid_from
        case Segment():
            text, at = f"{one.title}: {one.summary}", one.said_from
        case Document():
            text, at = f"{one.title} ({one.source})" if one.source else one.title, one.said_at
        case _:
            assert_never(one)
    return ItemShown(id=one.id, at=_iso(at), text=render.cut(text, SHORT_CHARS))


def pieces(texts: Mapping[str, str]) -> list[PieceShown]:
    """What goes, by its first words."""
    return [PieceShown(id=key, text=render.cut(text, SHORT_CHARS)) for key, text in texts.items()]


def notice() -> str:
    """What a model is told before words of people."""
    return prompts.load("record_notice").fill()


def for_model(memory: Memory, text: str) -> str:
    """Words of people for a model: the notice, and the text between two markers of the store."""
    return f"{notice()}\n\n{memory.marked(text)}"


def as_json(value: object) -> str:
    """A record as a model is shown it."""
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
