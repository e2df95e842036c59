"""Of statements of one matter the newer comes first, and an older one that is told says so.

Which statements are of one matter is told by the state, where a fact has taken the place of another. Where there is no
fact, likeness tells it, for a query that asks for one matter as it is now ("where do I work?"): utterances that answer
it about as well and are alike. Two of them that both hold are the answer to a list, which no such query asks for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

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
_NEAR = (3.0, 0.35)
"""How much lower the score of an utterance may be that answers a query about as well as the best one, and the cosine of
two from which the newer comes first (ours)."""
_SAME = (2.5, 0.45)
"""The same, from which the older is marked."""


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


def newer_of(view: View, rows: Sequence[int], scores: Sequence[float], *, sure: bool) -> dict[int, int]:
    """By row the newest one of the same matter, of the best of these rows, best first; where none is newer, nothing.
    `sure`: only where the two may be told to be of one matter, as no word of the query is in the older alone."""
    gap, least = _SAME if sure else _NEAR
    best = [row for row, score in zip(rows, scores, strict=True) if score >= max(scores) - gap][:_AMONG] if rows else []
    best = [row for row in best if view.snapshot.has_vector[row] and not view.snapshot.is_passage(view.n)[row]]
    tells = ~view.snapshot.asks(view.n)
    said = sorted(best, key=lambda row: (view.snapshot.utterances[row].said_at, row))
    vectors = view.snapshot.vectors_of(said)
    alike = np.triu(vectors @ vectors.T >= least, 1)
    by = [(view.snapshot.utterances[row].speaker, view.snapshot.seqs.item(row)) for row in said]
    held = [frozenset(search_terms(view.snapshot.text(row))) & view.searched.keys() for row in said]
    asked, kin = kin_in(view.query.text), [kin_in(view.snapshot.text(row)[:_LOOKS_AT]) for row in said]
    found = {}
    for place, row in enumerate(said):
        newer = [
            i
            for i in np.flatnonzero(alike[place]).tolist()
            if by[i][0] == by[place][0]
            and by[i][1] != by[place][1]
            and tells[said[i]]
            and (not sure or (held[place] <= held[i] and _of_one(asked, kin[place], kin[i])))
        ]
        if newer:
            found[row] = said[newer[-1]]
    return found


def _of_one(asked: frozenset[str], older: frozenset[str], newer: frozenset[str]) -> bool:
    """Whether two may be of one matter by the words of kin in them and in the query: "my aunt's number" says nothing
    newer of "my mother's number", nor "my brother got a job" of one's own."""
    return asked & older <= newer if asked else newer <= older
