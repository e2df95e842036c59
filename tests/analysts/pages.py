"""Small conversations for the tests of analysts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from embermem.analysts import ExtractiveAnalyst
from embermem.core.attributes import BUILT_IN, Attributes
from embermem.core.types import (
    FactProposal,
    Owner,
    OwnerId,
    Page,
    PageId,
    PageView,
    Role,
    ThreadId,
    Utterance,
    UtteranceId,
)

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)
OWNER = Owner(id=OwnerId("o"), user="alice", agent="default")


def read_in(*pages: PageView, known: Attributes = BUILT_IN) -> tuple[FactProposal, ...]:
    """What the extractive analyst read in pages when they came."""
    return tuple(fact for view in pages for fact in ExtractiveAnalyst(known=known).facts(view.page))


def page(
    user: str,
    assistant: str | None = None,
    *,
    no: int = 1,
    thread: str = "t",
    minutes: float = 0.0,
    speakers: tuple[str, str] = ("user", "assistant"),
    vector: tuple[float, ...] | None = None,
) -> PageView:
    """One page of a user-side utterance and, if given, an agent-side one, said `minutes` after NOW."""
    said = [(Role.USER, speakers[0], user)]
    if assistant is not None:
        said.append((Role.ASSISTANT, speakers[1], assistant))
    at = NOW + timedelta(minutes=minutes)
    page_id = PageId(f"p{no}")
    utterances = tuple(
        Utterance(
            id=UtteranceId(f"u{no}.{i}"),
            seq=2 * no + i,
            page_id=page_id,
            thread=ThreadId(thread),
            role=role,
            origin=role.origin,
            speaker=speaker,
            text=text,
            said_at=at,
            recorded_at=at,
        )
        for i, (role, speaker, text) in enumerate(said)
    )
    return PageView(
        page=Page(id=page_id, no=no, thread=ThreadId(thread), utterances=utterances),
        vector=None if vector is None else np.array(vector, dtype=np.float32),
    )
