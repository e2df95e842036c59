"""Of statements of one matter the newer comes first, and an older one that is told says so.

Which statements are of one matter is told by the state, where a fact has taken the place of another. Where there is no
fact, likeness tells it, for a query that asks for one matter as it is now ("where do I work?"): utterances that answer
it about as well and are alike. Two of them that both hold are the answer to a list, which no such query asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from embermem.index.query_context import View
from embermem.languages.people import kin_in
from embermem.languages.questions import asks_for_several, asks_of_the_past
from embermem.languages.words import search_terms

__all__ = ["asks_for_list", "asks_for_now", "newer_of"]

_NOW = 0.3
"""The probability from which a query asks for one matter as it is now."""
_LOOKS_AT = 500
"""Characters of an utterance in which words of kin are looked for."""
_AMONG = 12
"""How many of the best hits are held against each other."""


class _From(NamedTuple):
    """How much lower than the best the score of an utterance may be that answers a query about as well, and the cosine
    of two from which they are of one matter (ours)."""

    gap: float
    alike: float


_NEAR, _SAME = _From(gap=3.0, alike=0.35), _From(gap=2.5, alike=0.45)
"""From which the newer comes first, and the older is marked."""


def asks_for_now(view: View) -> bool:
    """Whether a query asks for one matter as it is now, as far as a trained reader says so."""
    query = view.query
    if query.needs is None or query.valid_at is not None or view.asked_days:
        return False
    if query.needs.now < max(_NOW, query.needs.several):
        return False
    return not asks_for_several(query.text) and not asks_of_the_past(query.text)


def asks_for_list(view: View) -> bool:
    """Whether a query asks for several things, or how many there are."""
    needs = view.query.needs
    return asks_for_several(view.query.text) or (needs is not None and needs.several >= _NOW)


def newer_of(view: View, rows: Sequence[int], scores: Sequence[float]) -> tuple[dict[int, int], dict[int, int]]:
    """By row the newest one of the same matter, of the best of these rows; where none is newer, nothing. First by which
    the newer comes before the older; then what of it is sure enough to be told, as no word of the query is in the older
    alone."""
    best = max(scores, default=0.0)
    near = [(row, score) for row, score in zip(rows, scores, strict=True) if score >= best - _NEAR.gap][:_AMONG]
    told = view.snapshot.has_vector[: view.n] & ~view.snapshot.is_passage(view.n)
    utterances = view.snapshot.utterances
    said = sorted((one for one in near if told[one[0]]), key=lambda one: (utterances[one[0]].said_at, one[0]))
    vectors = view.snapshot.vectors_of([row for row, _ in said])
    alike, tells, asked = vectors @ vectors.T, ~view.snapshot.asks(view.n), kin_in(view.query.text)
    first: dict[int, int] = {}
    marked: dict[int, int] = {}
    for place, (row, score) in enumerate(said):
        for other, (newer, its_score) in enumerate(said[place + 1 :], place + 1):
            one, two = utterances[row], utterances[newer]
            if one.speaker != two.speaker or one.seq == two.seq or not tells[newer]:
                continue
            lower = best - min(score, its_score)
            if alike[place, other] >= _NEAR.alike:
                first[row] = newer
            if alike[place, other] >= _SAME.alike and lower <= _SAME.gap and _of_one(view, asked, row, newer):
                marked[row] = newer
    return first, marked


def _of_one(view: View, asked: frozenset[str], older: int, newer: int) -> bool:
    """Whether two may be of one matter by the query's words in them, and by words of kin: "my aunt's number" says
    nothing newer of "my mother's number", nor "my brother got a job" of one's own."""
    texts = view.snapshot.text(older), view.snapshot.text(newer)
    held, holds = (view.searched.keys() & set(search_terms(text)) for text in texts)
    kin, its_kin = (kin_in(text[:_LOOKS_AT]) for text in texts)
    return held <= holds and (asked & kin <= its_kin if asked else its_kin <= kin)
