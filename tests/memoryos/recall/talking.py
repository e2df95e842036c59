"""Small conversations of our own for the tests of retrieval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.config import load
from embermem.core.types import (
    About,
    Fact,
    FactId,
    Owner,
    OwnerId,
    PageId,
    Persona,
    ProfileField,
    Role,
    Scope,
    Segment,
    SegmentId,
    Source,
    ThreadId,
    Utterance,
    UtteranceId,
)
from embermem.index.snapshot import Snapshot
from embermem.memoryos.people import People
from embermem.memoryos.recall.scoping import in_scope
from embermem.protocols import Delta, PageMark

if TYPE_CHECKING:
    from embermem.core.types import Vector

DIM = 4
START = datetime(2026, 5, 2, 9, tzinfo=UTC)


@dataclass(frozen=True)
class Line:
    """One utterance of a test: what was said, where, and which way its vector points."""

    text: str
    speaker: str = "Alice"
    thread: str = "s1"
    day: int = 0
    page: str = ""
    vector: tuple[float, ...] | None = None
    role: Role = Role.USER


def unit(*numbers: float) -> Vector:
    vector = np.array([*numbers, 0, 0, 0, 0][:DIM], dtype=np.float32)
    return np.asarray(vector / np.sqrt(vector @ vector), dtype=np.float32)


def snapshot(
    lines: Sequence[Line],
    *,
    segments: Sequence[Segment] = (),
    placed: Mapping[str, str] | None = None,
    persona: Persona | None = None,
    tokens: Sequence[bytes] = (),
    token_dim: int = 0,
) -> Snapshot:
    """An owner who said these lines; `placed` maps pages to segments. `tokens` are packed, one for each vector."""
    utterances = [
        Utterance(
            id=UtteranceId(f"u{seq}"),
            seq=seq,
            page_id=PageId(line.page or f"p{seq}"),
            thread=ThreadId(line.thread),
            role=line.role,
            origin=line.role.origin,
            speaker=line.speaker,
            text=line.text,
            said_at=START + timedelta(days=line.day, minutes=seq),
            recorded_at=START,
        )
        for seq, line in enumerate(lines, 1)
    ]
    vectors = {seq: unit(*line.vector) for seq, line in enumerate(lines, 1) if line.vector is not None}
    marks = [
        PageMark(page_id=PageId(page), no=1, segment_id=SegmentId(segment_id))
        for page, segment_id in (placed or {}).items()
    ]
    return Snapshot.empty(OwnerId("owner"), DIM, token_dim).extended(
        Delta(
            seq=len(utterances),
            revision=1,
            utterances=tuple(utterances),
            vector_seqs=np.array(list(vectors), dtype=np.int64),
            vectors=np.array(list(vectors.values()), dtype=np.float32).reshape(-1, DIM),
            pages=tuple(marks),
            segments=tuple(segments),
            persona=persona,
            tokens=tuple(tokens),
        )
    )


def segment(name: str, vector: Vector, keywords: Sequence[str] = (), *, archived: bool = False) -> Segment:
    return Segment(
        id=SegmentId(name),
        summary=name,
        keywords=tuple(keywords),
        counted=tuple(keywords),
        page_ids=(),
        visits=0,
        unanalysed=0,
        last_access=START,
        archived=archived,
        change_no=1,
        recorded_at=START,
        said_from=START,
        said_to=START,
        embedding=vector,
    )


def fact(
    name: str,
    text: str,
    *seqs: int,
    about: About = About.USER,
    subject: str = "user",
    since: datetime | None = None,
) -> Fact:
    return Fact(
        id=FactId(name),
        about=about,
        subject=subject,
        attribute="says",
        value=text,
        text=text,
        sources=tuple(Source(seq=seq, utterance_id=UtteranceId(f"u{seq}")) for seq in seqs),
        valid_from=since,
        valid_to=None,
        recorded_at=START,
    )


def profile(name: str, value: str) -> ProfileField:
    return ProfileField(whose=About.USER, name=name, value=value, sources=(), recorded_at=START)


def scoped(snapshot: Snapshot, scope: Scope | None) -> Snapshot:
    """What of a snapshot is in scope."""
    owner = Owner(id=OwnerId("o"), user="alice", agent="tutor")
    return in_scope(snapshot, scope, load(), lambda: People(owner, snapshot.persona))
