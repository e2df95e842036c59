"""What the tools answer: one record for each, from which its output schema is made. Times are ISO 8601 with a zone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from embermem.core.changes import Change
from embermem.core.types import Context, Fact, Hit, MadeBy, ProfileField, Trait, Utterance, Why
from embermem.reports import render

SHORT_CHARS = 240
"""How much of an utterance a search shows; `why` shows all of it."""


@dataclass(frozen=True, kw_only=True)
class Stored:
    """What `add_memory` stored: durable, and recallable from now on."""

    page_id: str
    thread: str


@dataclass(frozen=True, kw_only=True)
class SourceShown:
    """An utterance whose words stand in the text, with its number there."""

    number: int
    id: str
    page_id: str
    speaker: str
    said_at: str
    score: float


@dataclass(frozen=True, kw_only=True)
class FactShown:
    """A fact: what is known of the user, of the agent, or of somebody else."""

    id: str
    text: str
    subject: str
    valid_from: str | None
    valid_to: str | None
    pinned: bool


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """What `retrieve_memory` found: the text between two markers, what it rests on, and how sure that is (0 to 1)."""

    notice: str
    text: str
    confidence: float
    tokens: int
    partial: bool
    sources: list[SourceShown]
    facts: list[FactShown]


@dataclass(frozen=True, kw_only=True)
class HitShown:
    """One utterance that fits, cut to its first words; a higher score is a better fit, within one search."""

    id: str
    page_id: str
    speaker: str
    said_at: str
    text: str
    score: float


@dataclass(frozen=True, kw_only=True)
class Found:
    """What `search_memory` found, best first."""

    notice: str
    results: list[HitShown]


@dataclass(frozen=True, kw_only=True)
class TraitShown:
    """One trait: the pole it leans to, how far (−1 to 1) and how sure (0 to 1)."""

    dimension: str
    pole: str
    level: float
    confidence: float


@dataclass(frozen=True, kw_only=True)
class ProfileShown:
    """Who the user is, as far as it is known."""

    notice: str
    user: dict[str, str]
    agent: dict[str, str]
    traits: list[TraitShown]
    knowledge: list[FactShown]
    assistant_knowledge: list[FactShown]


@dataclass(frozen=True, kw_only=True)
class SaidShown:
    """An utterance, whole."""

    id: str
    page_id: str
    speaker: str
    role: str
    said_at: str
    text: str


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
    pages: list[str]
    facts: list[str]
    segments: list[str]
    chains: list[str]
    traits: list[str]
    profile: list[str]
    utterances: int
    rewritten: int
    words: list[PieceShown]
    scrubbed: bool
    sha256: str
    next: str


@dataclass(frozen=True, kw_only=True)
class Corrected:
    """The fact as it stands now, and the one that it took the place of."""

    notice: str
    fact: FactShown
    replaced: str


@dataclass(frozen=True, kw_only=True)
class ChangeShown:
    """One entry of the log of changes, and what it did to this item."""

    no: int
    cause: str
    recorded_at: str
    did: list[str]


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
    """How much is remembered of this user by this agent, and how."""

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
    embedder: str
    model: str


def hit(found: Hit) -> HitShown:
    """A hit, short."""
    u = found.utterance
    return HitShown(
        id=u.id,
        page_id=u.page_id,
        speaker=u.speaker,
        said_at=u.said_at.isoformat(),
        text=render.cut(u.text, SHORT_CHARS),
        score=round(found.score, 4),
    )


def said(u: Utterance) -> SaidShown:
    """An utterance, whole."""
    return SaidShown(
        id=u.id, page_id=u.page_id, speaker=u.speaker, role=u.role, said_at=u.said_at.isoformat(), text=u.text
    )


def fact(known: Fact) -> FactShown:
    """A fact with the times of its truth."""
    return FactShown(
        id=known.id,
        text=known.text,
        subject=known.subject,
        valid_from=None if known.valid_from is None else known.valid_from.isoformat(),
        valid_to=None if known.valid_to is None else known.valid_to.isoformat(),
        pinned=known.pinned,
    )


def state(known: Fact) -> str:
    """Whether a fact holds."""
    return "current" if known.current else "archived" if known.retired_at is None else "past"


def trait(known: Trait) -> TraitShown:
    """A trait."""
    return TraitShown(
        dimension=known.dimension, pole=known.pole, level=round(known.level, 3), confidence=round(known.confidence, 3)
    )


def profile(lines: tuple[ProfileField, ...]) -> dict[str, str]:
    """A profile's fields by name."""
    return {line.name: line.value for line in lines}


def change(entry: Change) -> ChangeShown:
    """A change, without the words that it is about."""
    return ChangeShown(
        no=entry.no,
        cause=entry.cause,
        recorded_at=entry.recorded_at.isoformat(),
        did=list(dict.fromkeys(decision.tag for decision in entry.decisions)),
    )


def made_by(entry: MadeBy) -> ChangeShown:
    """A change that something comes from."""
    return ChangeShown(no=entry.no, cause=entry.cause, recorded_at=entry.recorded_at.isoformat(), did=[])


def replaced(why: Why) -> FactShown:
    """What a line took the place of, or what took its place."""
    return FactShown(
        id=why.item_id,
        text=why.text,
        subject="user",
        valid_from=None if why.valid_from is None else why.valid_from.isoformat(),
        valid_to=None if why.valid_to is None else why.valid_to.isoformat(),
        pinned=False,
    )


def recalled(context: Context, notice: str, text: str) -> Recalled:
    """A context whose words are `text`, as it is told to a model."""
    return Recalled(
        notice=notice,
        text=text,
        confidence=round(context.confidence, 3),
        tokens=context.tokens,
        partial=context.partial,
        sources=[
            SourceShown(
                number=one.utterance.seq,
                id=one.utterance.id,
                page_id=one.utterance.page_id,
                speaker=one.utterance.speaker,
                said_at=one.utterance.said_at.isoformat(),
                score=round(one.score, 4),
            )
            for one in sorted(context.packed, key=lambda packed: packed.utterance.seq)
        ],
        facts=[fact(known) for known in context.facts],
    )


def pieces(texts: Mapping[str, str]) -> list[PieceShown]:
    """What goes, by its first words."""
    return [PieceShown(id=key, text=render.cut(text, SHORT_CHARS)) for key, text in texts.items()]


def as_json(value: object) -> str:
    """A record as a model is shown it."""
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))
