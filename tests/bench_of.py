"""MemoryOS over a store with parts of the test's choice: an analyst or embedder that a `Memory` would not make."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from embermem import Tier
from embermem.analysts import ExtractiveAnalyst, keywords
from embermem.analysts.topic_text import TopicText
from embermem.bootstrap import open_store, summarise
from embermem.core import ids
from embermem.core.changes import Cause, Noted
from embermem.core.config import load
from embermem.core.types import Message, Owner, Page, Role, ThreadId
from embermem.embedders.hashed import HashedNgrams
from embermem.memoryos.ingest.claim import Parts
from embermem.memoryos.system import MemoryOS
from embermem.protocols import Analyst, Embedder
from scripted import SMALL, Clock

LINES = ("I live in Lyon.", "We saw a heron.", "The train was late.", "My dog is called Rex.", "It rained all day.")

ALICE = Owner(id=ids.owner_id("alice", "default"), user="alice", agent="default")


class Bench:
    """MemoryOS over a store with parts of the test's choice."""

    def __init__(
        self, place: str | Path, clock: Clock, analyst: Analyst | None, embedder: Embedder | None, **settings: Any
    ) -> None:
        self.place = place
        self.clock = clock
        self.store = open_store(place, load(**{**SMALL, **settings}))
        extractive = ExtractiveAnalyst()
        embedder = embedder or HashedNgrams()
        self.store.remember({"embedder": embedder.name, "dim": str(embedder.dim)})
        self.parts = Parts(
            store=self.store.protocols,
            embedder=embedder,
            analyst=analyst or extractive,
            extractive=extractive,
            keywords=keywords,
            settings=load(**{**SMALL, "batch_wait_s": 0.0, **settings}),
            clock=clock,
            writer=TopicText(),
            summarise=summarise,
        )
        self.system = MemoryOS(self.parts)

    def add(self, *texts: str, thread: str = "main", reply: bool = True) -> None:
        for text in texts:
            made = [self._message(Role.USER, text, thread)]
            if reply:
                made.append(self._message(Role.ASSISTANT, "I see.", thread))
            self.system.observe(ALICE, made, fresh=True)

    def reply(self, text: str, thread: str = "main") -> None:
        self.system.observe(ALICE, [self._message(Role.ASSISTANT, text, thread)])

    def _message(self, role: Role, text: str, thread: str) -> Message:
        return Message(role=role, speaker=role.value, text=text, said_at=self.clock(), thread=ThreadId(thread))

    def pages(self, tier: Tier | None = None) -> tuple[Page, ...]:
        return self.store.pages(ALICE.id, self.parts.settings.short_term_pages, tier=tier, before=None, limit=None)

    def notes(self) -> list[Noted]:
        return [d for change in self.store.changes(ALICE.id) for d in change.decisions if isinstance(d, Noted)]

    def analysts(self, cause: Cause) -> list[str]:
        return [change.analyst for change in self.store.changes(ALICE.id) if change.cause is cause]


Maker = Callable[..., Bench]
"""Makes one; see the fixture `bench` of tests/memoryos/conftest.py."""
