"""Full context, LoCoMo's baseline (arXiv 2402.17753): everything that was said, or as much as a window takes.

There is nothing to learn and nothing to choose: all of the talk stands in the prompt, in the order in which it was
said; with a window the newest that fits. Hits are ranked from the newest on, since the baseline ranks nothing.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import ClassVar

from embermem.core.types import Context, Owner, Scope, ThreadId
from embermem.prompts.rendering import day, utterance_line
from embermem_bench.systems.numbers import FullContextNumbers
from embermem_bench.systems.recorded import Kit, Piece, RecordedSystem


class FullContext(RecordedSystem):
    """A MemorySystem that remembers all of it and understands nothing."""

    name: ClassVar[str] = "full_context"

    def __init__(self, kit: Kit, numbers: FullContextNumbers | None = None) -> None:
        super().__init__(kit)
        self.numbers = numbers or FullContextNumbers()

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
        """All of the talk; with a window or a budget the newest that fits."""
        window = self.numbers.window_tokens
        left = min(math.inf if window is None else window, budget or math.inf)
        pieces: list[Piece] = []
        for utterance in reversed(self.said(owner, scope)):
            line = f"{day(utterance.said_at)} {utterance_line(utterance)}"
            left -= self.cost(line)
            if left < 0:
                break
            pieces.append(Piece(text=line, score=0.0, seqs=(utterance.seq,)))
        return self.context(owner, query, pieces, budget=None, order=lambda piece: piece.seqs[0])
