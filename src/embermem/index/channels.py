"""The channels: each says one thing about every row at once. index/fusion.py normalises and adds them up.

Recency and heat are not among them. bench/scripts/ablate_recall.sh measures what each is worth; the weights stand in
config.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.config import Settings
from embermem.core.text import fold
from embermem.index import late
from embermem.index.products import cosines
from embermem.index.query_context import View
from embermem.index.texts import Texts
from embermem.languages.questions import asks_for_number, asks_for_time
from embermem.languages.words import is_beginning, search_terms, unspaced

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["EVIDENCE", "PRIORS", "Channel", "date", "hop_among", "late_among", "speaker"]


_LONG = float(np.log(150.0))
_HOP_FROM = 3
"""How many of the first found a second hop starts from."""


@dataclass(frozen=True, slots=True)
class Channel:
    """One way to score all rows at once.

    `measure` gives one number a row, NaN where it has nothing to say of it; `View.nothing`, if it has nothing to say of
    any. With `spread` they are z-scored over the candidates; without, they are on a fixed scale already. What is NaN
    counts 0, the candidates' mean. A channel that is measured `among` some rows only gives a number for each of these;
    the others count as little as the row of the lowest number: they were not looked at because nothing else speaks for
    them.
    """

    name: str
    weight: Callable[[Settings], float]
    measure: Callable[[View], Floats]
    spread: bool = True
    among: NDArray[np.int64] | None = None


def late_among(view: View, pool: NDArray[np.int64]) -> tuple[Channel, Channel]:
    """Late interaction, measured on the rows of `pool` only: of each row, and of its window of three."""
    alone, window = _late(view, pool)
    return (
        Channel("late", lambda s: s.recall_late, lambda _: alone, among=pool),
        Channel("late window", lambda s: s.recall_late_window, lambda _: window, among=pool),
    )


def hop_among(view: View, scores: Floats, pool: NDArray[np.int64]) -> Channel:
    """A second hop, measured on the rows of `pool`: the highest cosine to one of the rows that were found first."""

    def measure(view: View) -> Floats:
        if len(pool) == 0:
            return view.nothing
        first = pool[np.argsort(-scores[pool], kind="stable")[:_HOP_FROM]]
        near = cosines(view.snapshot.vectors_of(pool), view.snapshot.vectors_of(first)).max(axis=1)
        return np.asarray(near, dtype=np.float64)

    return Channel("hop", lambda s: s.recall_hop, measure, among=pool)


def speaker(view: View) -> Floats:
    """1 where the query names who spoke."""
    named = np.array(_named(view, view.snapshot.speakers()) or [False])
    if not named.any():
        return view.nothing
    said = ~view.snapshot.is_passage(view.n)
    return (named[view.snapshot.speaker_of(view.n)] & said).astype(np.float64)


def _named(view: View, names: Sequence[str]) -> list[bool]:
    """Which of these the query names: by a word of the name, or by two characters of it, where they stand for words.

    Such a name that stands whole in the query is meant alone: of two people with one family name, one is asked for.
    """
    asked = {term for term in view.weights if not is_beginning(term)}
    known, query = view.vocabularies, fold(view.query.in_full)
    whole = {name for name in names if unspaced(name) and fold(name) in query}

    def named(name: str) -> bool:
        if not unspaced(name):
            return not asked.isdisjoint(search_terms(name, known))
        return name in whole if whole else any(len(term) > 1 and term in asked for term in search_terms(name, known))

    return [named(name) for name in names]


def _dense(view: View) -> Floats:
    """Cosine of the utterance's vector and the query's."""
    query = view.query.vector
    return view.nothing if query is None or not query.any() else view.snapshot.dots(query, np.nan)


def _words(view: View) -> Floats:
    """BM25 of the utterance: its words, its speaker, its date."""
    if not view.searched:
        return view.nothing
    return view.snapshot.words.scores(view.searched, view.n, view.settings.k_1, view.settings.b)


def _window(view: View) -> Floats:
    """BM25 of the utterance with the one before and the one after it in its thread. A passage of a document stands
    alone, and its words have been heard; while it has no vector they count as much as those of others."""
    if not view.searched:
        return view.nothing
    texts, settings = view.texts, view.settings
    scores = texts.spread(view.snapshot.words.window_scores(view.searched, texts, settings.k_1, settings.b))
    if not view.snapshot.has_documents:
        return scores
    heard = view.snapshot.is_passage(view.n) & view.snapshot.has_vector[: view.n]
    return np.where(heard, np.nan, scores)


def _noted(view: View) -> Floats:
    """What facts say for the utterances they rest on. Names of who spoke are the speaker channel's to hear."""
    table = view.snapshot.facts
    asked = {term: idf for term, idf in view.idf.items() if term not in view.names} if table.rows else {}
    if not asked:
        return view.nothing
    texts, words = view.texts, view.snapshot.words
    sources = table.sources(view.snapshot.seqs[: view.n], view.allowed)
    lent = table.lent(asked, lambda term: texts.begins[texts.counted(*words.find(term, view.n))[0]], sources)
    return texts.spread(lent[texts.begins]) if lent.any() else view.nothing


def _late(view: View, pool: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The mean over the query's words, by rarity, of the cosine of the nearest token (MaxSim), for each row of the
    pool (p,); and the same where the nearest may stand in the row before or after, if that is in the pool too.

    A row whose tokens are not known (no vector yet, or one made before tokens were kept) gets the pool's mean; so does
    a passage of a document in the second.
    """
    query, idf = view.asked_tokens
    if len(pool) == 0 or not view.snapshot.has_tokens() or not idf.sum() > 0.0:
        return view.nothing, view.nothing
    counts, codes, norms = view.snapshot.tokens_of(pool)
    some = counts > 0
    if not some.any():
        return view.nothing, view.nothing
    nearest = np.zeros((len(pool), len(query)), dtype=np.float32)
    nearest[some] = late.max_sims(codes, norms, np.cumsum(counts[some]) - counts[some], query)
    by = (idf / idf.sum()).astype(np.float32)
    alone = (nearest @ by).astype(np.float64)
    window = (_of_windows(view.texts, pool, nearest) @ by).astype(np.float64)
    alone[~some], window[~some] = alone[some].mean(), window[some].mean()
    is_passage = view.snapshot.is_passage(view.n)[pool]
    if is_passage.any():
        window[is_passage] = window[some & ~is_passage].mean() if (some & ~is_passage).any() else 0.0
    return alone, window


def _of_windows(texts: Texts, pool: NDArray[np.int64], nearest: NDArray[np.float32]) -> NDArray[np.float32]:
    """For each row of the pool (ascending), how near its text comes to each word, or the text before or after it, by
    what of them is in the pool; from how near each row does, (p, q) → (p, q)."""
    of = texts.of(pool)
    first = np.flatnonzero(np.append(True, of[1:] != of[:-1]))
    held, place = of[first], np.cumsum(np.append(False, of[1:] != of[:-1]))
    # One more text, which comes near nothing: it stands for every neighbour that is not in the pool.
    near = np.zeros((len(held) + 1, nearest.shape[1]), dtype=np.float32)
    near[:-1] = np.maximum.reduceat(nearest, first, axis=0)
    places = np.full(texts.count + 1, len(held))
    places[held] = np.arange(len(held))
    before, after = places[texts.links.previous[held]], places[texts.links.next[held]]
    return np.asarray(np.maximum(near[:-1], np.maximum(near[before], near[after]))[place])


def _segment(view: View) -> Floats:
    """F_score of the segment that the utterance's page is in, archived or not."""
    # The last one is what a page without a segment (−1) picks.
    scores = np.append(view.segment_scores, np.nan)
    return scores[view.snapshot.segment_of_page()][view.snapshot.page_of(view.n)]


def _document(view: View) -> Floats:
    """Cosine of the query and the mean vector of the document that the passage is of."""
    rows = np.flatnonzero(view.snapshot.is_passage(view.n) & view.candidates & view.snapshot.has_vector[: view.n])
    query = view.query.vector
    if query is None or not query.any() or len(rows) == 0:
        return view.nothing
    scores = np.full(view.n, np.nan)
    documents = view.snapshot.thread_of(view.n)[rows]
    order = np.argsort(documents, kind="stable")
    begins = np.flatnonzero(np.diff(documents[order], prepend=-1))
    sums = np.add.reduceat(view.snapshot.vectors_of(rows[order]), begins)
    near = cosines(sums, query[None])[:, 0] / np.maximum(np.linalg.norm(sums, axis=1), 1e-9)
    scores[rows[order]] = np.repeat(near, np.diff(begins, append=len(rows)))
    return scores


def _question(view: View) -> Floats:
    """1 where the utterance itself asks: what was asked about is said elsewhere."""
    return view.snapshot.asks(view.n).astype(np.float64)


def _length(view: View) -> Floats:
    """ln of the characters of the text over 150, above 150, where texts have token vectors: a long one has some token
    near to anything."""
    if not view.snapshot.has_tokens():
        return view.nothing
    return np.maximum(0.0, view.snapshot.text_length(view.n).astype(np.float64) - _LONG)


def _kind(view: View) -> Floats:
    """1 where the kind of answer asked for stands in the text: a day for "when", a number for "how many"."""
    if view.kind(asks_for_time):
        return view.snapshot.dates.dated(view.n).astype(np.float64)
    if view.kind(asks_for_number):
        return view.snapshot.says_number(view.n).astype(np.float64)
    return view.nothing


def date(view: View) -> Floats:
    """1 where it was said on the days that the query asks for, or speaks of them; less for other days."""
    return view.on_days


EVIDENCE: tuple[Channel, ...] = (
    Channel("dense", lambda s: s.recall_dense, _dense),
    Channel("words", lambda s: s.recall_words, _words),
    Channel("window", lambda s: s.recall_window, _window),
    Channel("noted", lambda s: s.recall_noted, _noted, spread=False),
)
PRIORS: tuple[Channel, ...] = (
    Channel("speaker", lambda s: s.recall_speaker, speaker, spread=False),
    Channel("date", lambda s: s.recall_date, date, spread=False),
    Channel("kind", lambda s: s.recall_kind, _kind, spread=False),
    Channel("segment", lambda s: s.recall_segment, _segment),
    Channel("length", lambda s: s.recall_length, _length, spread=False),
    Channel("question", lambda s: s.recall_question, _question, spread=False),
)
DOCUMENT = Channel("document", lambda s: s.recall_document, _document)
"""A further prior, where there are documents."""
