"""Small conversations for the index's tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.types import OwnerId, PageId, Persona, Role, Segment, ThreadId, Utterance, UtteranceId
from embermem.index.snapshot import Snapshot
from embermem.protocols import Delta, PageMark

if TYPE_CHECKING:
    from embermem.core.types import Vectors

DIM = 4
TOKEN_DIM = 8
START = datetime(2023, 5, 8, 9, tzinfo=UTC)


def empty() -> Snapshot:
    return Snapshot.empty(OwnerId("owner"), DIM, TOKEN_DIM)


def said(seq: int, text: str, *, thread: str = "s1", page: str = "", speaker: str = "Alice") -> Utterance:
    at = START + timedelta(minutes=seq)
    return Utterance(
        id=UtteranceId(f"u{seq}"),
        seq=seq,
        page_id=PageId(page or f"p{seq}"),
        thread=ThreadId(thread),
        role=Role.USER,
        origin=Role.USER.origin,
        speaker=speaker,
        text=text,
        said_at=at,
        recorded_at=at,
    )


def delta(
    utterances: Sequence[Utterance] = (),
    vector_seqs: Sequence[int] = (),
    vectors: Vectors | None = None,
    *,
    tokens: Sequence[bytes] = (),
    pages: Sequence[PageMark] = (),
    segments: Sequence[Segment] = (),
    persona: Persona | None = None,
    revision: int = 0,
    reset: bool = False,
) -> Delta:
    return Delta(
        seq=utterances[-1].seq if utterances else 0,
        revision=revision,
        utterances=tuple(utterances),
        vector_seqs=np.array(vector_seqs, dtype=np.int64),
        vectors=np.zeros((0, DIM), dtype=np.float32) if vectors is None else vectors,
        tokens=tuple(tokens),
        pages=tuple(pages),
        segments=tuple(segments),
        persona=persona,
        reset=reset,
    )
