"""A memory system of our own that asks the model of every page, and recalls what it was told, newest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from embermem.core.types import Context, Owner, Page, Role, Scope, ThreadId
from embermem.protocols import ChatMessage, Purpose
from embermem_bench.systems.recorded import Piece, RecordedSystem
from embermem_bench.systems.records import Record, Written


@dataclass(frozen=True, kw_only=True, slots=True)
class Echo:
    """The model's answer."""

    echo: str


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Echoed(Record):
    """What is kept of a page."""

    kind: ClassVar[str] = "echoes.echo"


class Echoes(RecordedSystem):
    """One question a page."""

    name: ClassVar[str] = "echoes"
    kinds: ClassVar[tuple[type[Record], ...]] = (Echoed,)

    def learn(self, owner: Owner, pages: Sequence[Page]) -> Written:
        """Asks for an echo; without a model the page's own words are kept."""
        page, text = pages[0], pages[0].utterances[0].text
        if self.kit.asker is not None:
            messages = [ChatMessage(role=Role.USER, text=f"Echo this: {text}")]
            text = self.kit.asker.ask(owner, Purpose.REMEMBER, messages, Echo).echo
        sources = tuple(u.seq for u in page.utterances)
        return Written(keep=(Echoed(id=self.new_id(), at=page.said_at, sources=sources, text=text),))

    def recall(
        self,
        owner: Owner,
        query: str,
        *,
        at: datetime | None = None,
        budget: int | None = None,
        thread: ThreadId | None = None,
        scope: Scope | None = None,
    ) -> Context:
        """All echoes."""
        kept = reversed(self.kept(owner, Echoed, scope))
        return self.context(owner, query, [Piece(text=e.text, score=0.0, seqs=e.sources) for e in kept], budget=budget)
