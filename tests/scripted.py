"""Scripted stand-ins on the project's own protocols: a clock, analysts, and pages made by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from embermem import Memory
from embermem.analysts import ExtractiveAnalyst
from embermem.core.errors import AnalystError
from embermem.core.types import (
    Annotation,
    ChainTail,
    Owner,
    Page,
    PageId,
    PageView,
    PersonaChange,
    Role,
    SegmentId,
    ThreadId,
    Utterance,
    UtteranceId,
)
from embermem.protocols import ProfileRequest, SegmentState

NOW = datetime(2026, 5, 2, 10, tzinfo=UTC)

SMALL: dict[str, Any] = {
    "embedder": "hashed",
    "background": False,
    "short_term_pages": 3,
    "mid_term_segments": 4,
    "user_facts": 5,
    "agent_facts": 5,
    "batch_pages": 2,
    "busy_timeout_s": 20.0,
}
"""Capacities that a short test can fill."""

Opener = Callable[..., Memory]
Place = Callable[..., str | Path]
"""Where the test's store lies, or another one by its name: a file, or the URL of a database."""


class Clock:
    """Says the time it is set to."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def go(self, seconds: float) -> None:
        """Time goes by."""
        self.now += timedelta(seconds=seconds)


Life = Callable[[Memory, Clock], object]
"""What fills a store that tests begin with."""


class ScriptedAnalyst:
    """Reads as the extractive analyst does, with other words in the chain's summary, after the failures it is told."""

    name = "scripted-v1"

    def __init__(self, failures: int = 0, during: Callable[[], object] = lambda: None) -> None:
        self.failures = failures
        self.during = during
        self.asked: list[tuple[PageId, ...]] = []
        self.profiled: list[SegmentId] = []
        self._reader = ExtractiveAnalyst()

    def annotate(
        self, owner: Owner, tails: Mapping[ThreadId, ChainTail], batch: Sequence[PageView]
    ) -> tuple[Annotation, ...]:
        self.asked.append(tuple(view.page.id for view in batch))
        self._work()
        made = self._reader.annotate(owner, tails, batch)
        return tuple(
            Annotation(
                page_id=one.page_id,
                continues=one.continues,
                chain_summary=f"scripted: {one.chain_summary}",
                keywords=one.keywords,
                summary_sources=one.summary_sources,
                facts=one.facts,
                traits=one.traits,
                profile=one.profile,
            )
            for one in made
        )

    def profile(self, request: ProfileRequest) -> PersonaChange:
        self.profiled.append(request.segment.id)
        self._work()
        return self._reader.profile(request)

    def _work(self) -> None:
        self.during()
        if self.failures > 0:
            self.failures -= 1
            raise AnalystError("Error: the model is overloaded")


def vector(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """A unit vector."""
    made = np.array(values, dtype=np.float32)
    return made / np.float32(np.linalg.norm(made))


def page(
    query: str = "Hello",
    *,
    no: int = 1,
    at: datetime = NOW,
    recorded_at: datetime = NOW,
    thread: str = "main",
    vector: np.ndarray[tuple[int], np.dtype[np.float32]] | None = None,
) -> PageView:
    """A page of one utterance; its seq is its number."""
    page_id = PageId(f"p{no}")
    said = Utterance(
        id=UtteranceId(f"u{no}"),
        seq=no,
        page_id=page_id,
        thread=ThreadId(thread),
        role=Role.USER,
        origin=Role.USER.origin,
        speaker="alice",
        text=query,
        said_at=at,
        recorded_at=recorded_at,
    )
    return PageView(page=Page(id=page_id, no=no, thread=ThreadId(thread), utterances=(said,)), vector=vector)


def segment(
    name: str = "s1",
    *,
    visits: int = 0,
    unanalysed: int = 0,
    last_access: datetime = NOW,
    visited_at: datetime | None = None,
    said_to: datetime = NOW,
    words: Sequence[str] = (),
    pages: int = 1,
    vector_sum: np.ndarray[tuple[int], np.dtype[np.float32]] | None = None,
) -> SegmentState:
    """A segment as placing sees it."""
    from embermem.core.changes import KeywordCount

    return SegmentState(
        id=SegmentId(name),
        parts=(),
        keywords=tuple(KeywordCount(word=word, pages=1) for word in words),
        said_from=min(NOW, said_to),
        said_to=said_to,
        pages=pages,
        visits=visits,
        unanalysed=unanalysed,
        last_access=last_access,
        visited_at=visited_at,
        vector_sum=vector_sum,
    )
