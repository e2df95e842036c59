"""The channels: each says one thing about every row at once. index/fusion.py normalises and adds them up.

Recency and heat are not among them. bench/scripts/fit_recall.sh fits the weights; they stand in config.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.config import Settings
from embermem.index import late
from embermem.index.products import cosines
from embermem.index.query_context import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

__all__ = ["EVIDENCE", "PRIORS", "Channel", "late_among"]


_LONG = float(np.log(150.0))


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


def late_among(view: View, pool: NDArray[np.int64]) -> Channel:
    """Late interaction, measured on the rows of `pool` only."""
    return Channel("late", lambda s: s.recall_late, lambda view: _late(view, pool), among=pool)


def _dense(view: View) -> Floats:
    """Cosine of the utterance's vector and the query's."""
    query = view.query.vector
    return view.nothing if query is None or not query.any() else view.snapshot.dots(query, np.nan)


def _window(view: View) -> Floats:
    """BM25 of the utterance with the one before and the one after it in its thread; of a passage of a document alone,
    and of any other long text too, where no token vectors tell its passages apart."""
    if not view.searched:
        return view.nothing
    texts, settings, words = view.texts, view.settings, view.snapshot.words
    scores = texts.spread(words.window_scores(view.searched, texts, settings.k_1, settings.b))
    alone = view.snapshot.is_passage(view.n)
    if not view.snapshot.has_tokens():
        alone = alone | texts.spread(texts.ends > texts.begins)
    if not alone.any():
        return scores
    return np.where(alone, words.scores(view.searched, view.n, settings.k_1, settings.b), scores)


def _late(view: View, pool: NDArray[np.int64]) -> Floats:
    """The mean over the query's words, by rarity, of the cosine of the nearest token (MaxSim), for each row of the
    pool (p,).

    A row whose tokens are not known (no vector yet, or one made before tokens were kept) gets the pool's mean.
    """
    query, idf = view.asked_tokens
    if len(pool) == 0 or not view.snapshot.has_tokens() or not idf.sum() > 0.0:
        return view.nothing
    counts, codes, norms = view.snapshot.tokens_of(pool)
    some = counts > 0
    if not some.any():
        return view.nothing
    nearest = late.max_sims(codes, norms, np.cumsum(counts[some]) - counts[some], query)
    near = np.empty(len(pool))
    near[some] = nearest @ (idf / idf.sum()).astype(np.float32)
    near[~some] = near[some].mean()
    return near


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


def _length(view: View) -> Floats:
    """ln of the characters of the text over 150, above 150, where texts have token vectors: a long one has some token
    near to anything."""
    if not view.snapshot.has_tokens():
        return view.nothing
    return np.maximum(0.0, view.snapshot.text_length(view.n).astype(np.float64) - _LONG)


EVIDENCE: tuple[Channel, ...] = (
    Channel("dense", lambda s: s.recall_dense, _dense),
    Channel("window", lambda s: s.recall_window, _window),
)
PRIORS: tuple[Channel, ...] = (
    Channel("speaker", lambda s: s.recall_speaker, lambda view: view.said_by_named, spread=False),
    Channel("date", lambda s: s.recall_date, lambda view: view.day_scores, spread=False),
    Channel("length", lambda s: s.recall_length, _length, spread=False),
)
DOCUMENT = Channel("document", lambda s: s.recall_document, _document)
"""A further prior, where there are documents."""
