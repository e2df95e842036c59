"""Probabilities: that what was asked was said at all, that an utterance is evidence of it, that a context holds it.

The first is a logistic regression on five signals, which reads only a few rows of the ranking. The second calibrates
it together with the scores, the third alone: how much of a ranking is packed says nothing that carries over. The
weights of the first two are those of bench/scripts/fit_confidence.sh; figures: docs/research/recall.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from embermem import languages
from embermem.core import equations
from embermem.core.config import Settings
from embermem.index import late
from embermem.index.query_context import View
from embermem.languages.questions import asks_of_oneself, asks_of_the_past
from embermem.memoryos.people import People

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    Rows = NDArray[np.int64]

__all__ = [
    "Signs",
    "answerable",
    "fitted_for",
    "holds",
    "is_of_memory",
    "relevances",
    "relevances_of_pages",
    "share_of_budget",
    "signs",
]

_SURE_HITS = 5
"""How many of the best hits say how sure a recall is."""
_EACH_SIDE = 8
"""How many utterances of whom the query names, and of all others, are held against each other."""
_LEAST, _LEAST_SHARE = 1e-9, 0.01
"""The least probability and share, and the greatest one's distance from 1, of which log odds are taken."""
_ON_THE_DAY = 0.5
"""From how much on (index/dating.py) something was said of the days that a query names."""
_LOOKS_AT = 500
"""Characters of an utterance that are read for whom it speaks of."""

_YOU = languages.either(lambda one: one.talk.you, re.NOFLAG)
_I = languages.either(lambda one: one.talk.me, re.NOFLAG)
_YOU_SIGNS = tuple(sign for language in languages.all() for sign in language.talk.you_signs)


@dataclass(frozen=True, kw_only=True, slots=True)
class Signs:
    """What says whether a query can be answered.

    `words`: the highest share, by rarity, of the query's words that stand in the window of one of the best hits; in
    [0, 1]. `late`: the same, with each word as near as the nearest word of the window comes (MaxSim). `cosine`: the
    highest among the best hits, 0 at least. `length`: ln(1 + words of the query), because a long query comes less
    near to anything. `whose`: how much nearer the utterances of whom the query names come than those of all others,
    in [−1, 1]; 0 if it names nobody who spoke, or everybody. Who spoke counts for nothing in the others.
    """

    words: float
    late: float
    cosine: float
    length: float
    whose: float


def answerable(view: View, rows: Sequence[int]) -> float:
    """The probability that what was asked was said at all, by the best of these rows, best first; 0 for none."""
    if len(rows) == 0:
        return 0.0
    found, settings = signs(view, rows), view.settings
    return equations.logistic(
        settings.confidence_base
        + settings.confidence_words * found.words
        + settings.confidence_late * found.late
        + settings.confidence_cosine * found.cosine
        + settings.confidence_length * found.length
        + settings.confidence_whose * found.whose
    )


def relevances(scores: Sequence[float], likely: float, answerable: float, settings: Settings) -> tuple[float, ...]:
    """The probability that each utterance is evidence for the query, in [0, 1]; it rises with the score.

    exp(score − likely) is an utterance's share of the evidence, if there is any: so the weights of the scores were
    fitted. `likely` is ln of the sum of exp(score) over the candidates.
    """
    if answerable <= 0.0:
        return (0.0,) * len(scores)
    base = settings.relevance_base + settings.relevance_answerable * math.log(answerable)
    share = np.minimum(np.asarray(scores, dtype=np.float64) - likely, math.log(1.0 - _LEAST_SHARE))
    odds = base + settings.relevance_share * (share - np.log1p(-np.exp(share)))
    return tuple((1.0 / (1.0 + np.exp(-odds))).tolist())


def relevances_of_pages(scores: Sequence[float], settings: Settings) -> tuple[float, ...]:
    """The same in preset `paper`, of utterances whose page's vector has this cosine to the query's."""
    return tuple(
        equations.logistic(settings.relevance_paper_base + settings.relevance_paper_page * score) for score in scores
    )


def holds(answerable: float, settings: Settings) -> float:
    """The probability that a context that is not empty holds the answer, in [0, 1]; 0 where nothing can be
    answered."""
    if answerable <= 0.0:
        return 0.0
    return equations.logistic(settings.holds_base + settings.holds_answerable * equations.log_odds(answerable, _LEAST))


def fitted_for(view: View) -> bool:
    """Whether the probabilities were fitted for such a query: by an embedder with token vectors."""
    return view.query.tokens is not None


def share_of_budget(view: View, answerable: float, people: People) -> float:
    """The share of a budget that what was said may take for a query, in [0, 1].

    All, if it is answerable with the probability `pack_sure` or more, and for every query that speaks of somebody who
    is known here, of days on which something was said, or of what was said to whom asks. Below, in proportion to the
    square. All too where no token vectors say how near anything comes, or not yet of all: for them the probability was
    not fitted.
    """
    least = view.settings.pack_sure
    if bool((view.candidates & ~view.snapshot.has_vector[: view.n]).any()):
        return 1.0
    if not fitted_for(view) or answerable >= least or is_of_memory(view, people):
        return 1.0
    return (answerable / least) ** 2


def is_of_memory(view: View, people: People) -> bool:
    """Whether a query speaks of somebody who is known here, of days on which something was said, or of what was said to
    whom asks; one without a word of its own too."""
    text = view.query.text
    if not view.terms or not view.names.isdisjoint(view.terms) or people.named_in(text):
        return True
    if asks_of_oneself(text) and asks_of_the_past(text):
        return True
    return bool(view.on_days.max(initial=0.0) >= _ON_THE_DAY)


def signs(view: View, rows: Sequence[int]) -> Signs:
    """The signs of a ranking of at least one row."""
    ranked = np.asarray(rows, dtype=np.int64)
    best = ranked[:_SURE_HITS]
    named, others = _sides(view, ranked)
    near = _Nearness(view, np.concatenate([best, view.links.previous[best], view.links.next[best], named, others]))
    hits = 3 * len(best)
    coverage = _best_window(near.held[:hits], near.word_shares)
    return Signs(
        words=coverage,
        late=_best_window(near.each[:hits], near.each_shares),
        cosine=_cosine(view, best, coverage),
        length=math.log1p(len(near.word_shares)),
        whose=_whose(near.each[hits:] @ near.each_shares, len(named), view.settings),
    )


def _best_window(near: Floats, shares: Floats) -> float:
    """The highest mean by rarity of windows of three: the rows, then those before them, then those after them."""
    return float((near.reshape(3, -1, len(shares)).max(axis=0) @ shares).max()) if len(shares) else 0.0


def _cosine(view: View, best: Rows, words: float) -> float:
    """The highest cosine among these rows; what their words are worth, where no vector says anything of the query, and
    with an embedder without token vectors, whose cosines have another scale."""
    vector = view.query.vector
    if vector is None or view.query.tokens is None or not vector.any():
        return view.settings.confidence_as_cosine * words
    return max(0.0, float(view.similarities(best).max()))


# ------------------------------------------------------------------------------------------------ whose words


def _sides(view: View, ranked: Rows) -> tuple[Rows, Rows]:
    """The first of the ranked rows that say something of whom the query names, and the first that do so of others.

    What asks, or speaks of "you" and not of "me", is of neither: its speaker is not the one it is about. Both are
    empty, if the query names nobody of those ranked, or all of them.
    """
    named = view.said_by_named[ranked] > 0.0
    if named.all() or not named.any():
        return ranked[:0], ranked[:0]
    tells = ~view.snapshot.asks(view.n)[ranked]
    return _of_themselves(view, ranked[named & tells]), _of_themselves(view, ranked[~named & tells])


def _of_themselves(view: View, ranked: Rows) -> Rows:
    found: list[int] = []
    for row in ranked.tolist():
        if len(found) == _EACH_SIDE:
            break
        if not _speaks_of_you(view.snapshot.utterances[row].text[:_LOOKS_AT].lower()):
            found.append(row)
    return np.asarray(found, dtype=np.int64)


def _speaks_of_you(text: str) -> bool:
    # Most texts hold none of these, and are told by that.
    if not any(sign in text for sign in _YOU_SIGNS):
        return False
    return _YOU.search(text) is not None and _I.search(text) is None


def _whose(near: Floats, named: int, settings: Settings) -> float:
    """How much nearer the first `named` come than the others: the difference of their soft maxima."""
    if len(near) == 0:
        return 0.0
    sides = (near[:named].tolist(), near[named:].tolist())
    ours, others = (equations.soft_maximum(side, settings.confidence_tau, _EACH_SIDE) for side in sides)
    return ours - others


# ----------------------------------------------------------------------------------------------------- nearness


class _Nearness:
    """How near some rows come to each word of the query. A row n stands for no row, and holds nothing.

    `held` (rows, words): 1 where the word stands in the row. `each` (rows, q): how near the nearest token comes to each
    of the query's; by an embedder without token vectors `confidence_like` where it is held, else `confidence_unlike`.
    The shares say how rare each is, and sum to 1. Names of those who spoke count for nothing, unless there is nothing
    else.
    """

    held: Floats
    word_shares: Floats
    each: Floats
    each_shares: Floats

    def __init__(self, view: View, rows: Rows) -> None:
        self.held, self.word_shares = _held(view, rows)
        like, unlike = view.settings.confidence_like, view.settings.confidence_unlike
        self.each, self.each_shares = unlike + (like - unlike) * self.held, self.word_shares
        inside = np.flatnonzero(rows < view.n)
        query, idf = view.asked_tokens
        if float(idf.sum()) <= 0.0:
            return
        by_words = self.each @ self.each_shares
        counts, codes, norms = view.snapshot.tokens_of(rows[inside])
        some = counts > 0
        if not some.any():
            return
        self.each, self.each_shares = np.zeros((len(rows), len(query))), idf / idf.sum()
        starts = np.cumsum(counts[some]) - counts[some]
        self.each[inside[some]] = late.max_sims(codes, norms, starts, query)
        bare = rows < view.n
        bare[inside[some]] = False
        self.each[bare] = by_words[bare, None]


def _held(view: View, rows: Rows) -> tuple[Floats, Floats]:
    """Which of the query's words each row holds (rows, words), and the share of each word by rarity (words,)."""
    idf = {term: weight for term, weight in view.idf.items() if term not in view.names} or view.idf
    rarest = sorted(idf, key=lambda term: -idf[term])[: view.settings.query_terms]
    held = np.zeros((len(rows), len(rarest)))
    rows = rows.astype(np.int32)  # as postings are: of another type, all of a term's would be copied
    for place, term in enumerate(rarest):
        holders, _ = view.snapshot.words.find(term, view.n)
        if len(holders):
            at = np.minimum(np.searchsorted(holders, rows), len(holders) - 1)
            held[:, place] = holders[at] == rows
    weights = np.array([idf[term] for term in rarest])
    return held, weights / max(float(weights.sum()), 1e-9)
