"""Utterances of the bench's tests."""

from __future__ import annotations

from datetime import UTC, datetime

from embermem.core.types import PageId, Role, ThreadId, Utterance, UtteranceId

AT = datetime(2026, 3, 1, 10, tzinfo=UTC)


def said(seq: int, speaker: str, text: str, thread: str = "t1") -> Utterance:
    return Utterance(
        id=UtteranceId(f"u{seq}"),
        seq=seq,
        page_id=PageId(f"p{seq}"),
        thread=ThreadId(thread),
        role=Role.USER,
        speaker=speaker,
        text=text,
        said_at=AT,
        recorded_at=AT,
    )
