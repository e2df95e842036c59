"""Utterances and contexts of the bench's tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from embermem.core.types import Context, Hit, PageId, Persona, Role, ThreadId, Tier, Utterance, UtteranceId

AT = datetime(2026, 3, 1, 10, tzinfo=UTC)


def said(seq: int, speaker: str, text: str, thread: str = "t1") -> Utterance:
    return Utterance(
        id=UtteranceId(f"u{seq}"),
        seq=seq,
        page_id=PageId(f"p{seq}"),
        thread=ThreadId(thread),
        role=Role.USER,
        origin=Role.USER.origin,
        speaker=speaker,
        text=text,
        said_at=AT,
        recorded_at=AT,
    )


def hit(utterance: Utterance, rank: int = 1) -> Hit:
    return Hit(utterance=utterance, score=1.0, rank=rank, tier=Tier.SHORT)


def context(text: str, *packed: Utterance, **more: Any) -> Context:
    """A context of this text, in which these utterances are packed."""
    given: dict[str, Any] = {"hits": (), "facts": (), "preset": "default", **more}
    hits = tuple(hit(one, rank) for rank, one in enumerate(packed, 1))
    return Context(
        text=text,
        packed=hits,
        persona=Persona(),
        tokens=len(text.split()),
        counter="words",
        confidence=1.0,
        partial=False,
        query="q",
        **given,
    )
