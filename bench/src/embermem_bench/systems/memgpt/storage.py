"""External context: recall storage, which is everything that was said, searched by its words, and archival storage,
searched by nearness."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from embermem.core.text import fold
from embermem.core.types import OwnerId, Utterance
from embermem.index.bm25 import Postings
from embermem.languages.words import terms
from embermem_bench.systems.memgpt.kept import Passage
from embermem_bench.systems.recorded import similarities

if TYPE_CHECKING:
    from embermem.core.types import Vector

__all__ = ["RecallStorage", "near"]

_OWNERS_HELD = 32


@dataclass(slots=True)
class _Indexed:
    first: str
    words: Postings = field(default_factory=Postings)
    rows: int = 0


class RecallStorage:
    """The words of what was said. It keeps nothing on disk: its index is made again from the log, and grows with it."""

    def __init__(self, *, k_1: float, b: float, query_terms: int) -> None:
        self._k_1, self._b, self._query_terms = k_1, b, query_terms
        self._held: OrderedDict[OwnerId, _Indexed] = OrderedDict()
        self._lock = threading.Lock()

    def search(
        self, owner_id: OwnerId, log: Sequence[Utterance], seen: Sequence[Utterance], query: str
    ) -> list[tuple[Utterance, float]]:
        """The utterances of `seen`, a part of the owner's whole log, that hold words of the query, best first by BM25,
        each with its share of what BM25 could give. Where none does, those that hold the query as it is written,
        the newest first, with 0."""
        if not seen:
            return []
        words = self._indexed(owner_id, log)
        # As if nothing later had been said, so that what is found does not depend on it.
        n = bisect_right(log, seen[-1].seq, key=lambda u: u.seq)
        asked = sorted(dict.fromkeys(terms(query)), key=lambda term: -words.idf(term, n))[: self._query_terms]
        scores = words.scores(dict.fromkeys(asked, 1.0), n, self._k_1, self._b)
        most = sum(words.idf(term, n) for term in asked) * (self._k_1 + 1.0)
        visible = {u.seq for u in seen}
        rows = [row for row in scores.nonzero()[0].tolist() if log[row].seq in visible]
        if rows:
            return [(log[row], float(scores[row]) / most) for row in sorted(rows, key=lambda r: (-scores[r], -r))]
        written = fold(query).strip()
        return [(u, 0.0) for u in reversed(seen) if written and written in fold(u.text)]

    def _indexed(self, owner_id: OwnerId, log: Sequence[Utterance]) -> Postings:
        with self._lock:
            held = self._held.get(owner_id)
            if held is None or held.first != log[0].id:  # another's, of the same name
                held = self._held[owner_id] = _Indexed(log[0].id)
            self._held.move_to_end(owner_id)
            while len(self._held) > _OWNERS_HELD:
                self._held.popitem(last=False)
            held.words.add_all(terms(u.text) for u in log[held.rows :])
            held.rows = max(held.rows, len(log))
            return held.words


def near(passages: Sequence[Passage], query: Vector) -> list[tuple[Passage, float]]:
    """Passages that are at all near the query, the nearest first, each with its cosine."""
    scored = zip(passages, similarities(query, passages), strict=True)
    return sorted(((p, s) for p, s in scored if s > 0.0), key=lambda found: -found[1])
