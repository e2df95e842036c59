"""How an utterance is scored against a query: channels, each normalised over the candidates, fused linearly.

Evidence channels (dense, words, window) are z-scored and summed by weight. The sum of an utterance's neighbours in
its thread, at distance 1 and 2, is further evidence for it. Priors (speaker, segment, length, question) are added.
Recency and heat never enter. `docs/retrieval.md` says what each is worth; its weights stand in config.py.

A further channel, such as late interaction, is one more line in `EVIDENCE`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from embermem import equations
from embermem.config import Settings
from embermem.errors import EmbedderMismatch
from embermem.index.bm25 import Links
from embermem.index.snapshot import Snapshot
from embermem.protocols import Scope
from embermem.text import terms
from embermem.types import ChannelScore, ThreadId

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.types import Vector

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

__all__ = [
    "EVIDENCE",
    "PRIORS",
    "Channel",
    "Fused",
    "Query",
    "Shares",
    "View",
    "evidence",
    "fuse",
    "neighbours",
    "priors",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Query:
    """What is asked. `keywords` are the analyst's (K of Eq. 2); `budget` in tokens, None takes the setting's.

    `thread` is the conversation it is asked in, `at` the moment; neither makes the near or the new score higher.
    """

    text: str
    vector: Vector | None = field(default=None, compare=False, repr=False)
    keywords: frozenset[str] = frozenset()
    budget: int | None = None
    at: datetime | None = None
    thread: ThreadId | None = None
    scope: Scope | None = None


class View:
    """The first n rows of a snapshot as one query may see them. Nothing after `scope.before_seq` has any effect.

    Raises EmbedderMismatch if the query's vector is of another length than the index's.
    """

    def __init__(self, snapshot: Snapshot, query: Query, settings: Settings) -> None:
        self.snapshot, self.query, self.settings = snapshot, query, settings
        if query.vector is not None and query.vector.shape != (snapshot.dim,):
            raise EmbedderMismatch(f"a query of shape {query.vector.shape}, an index of dimension {snapshot.dim}")
        scope = query.scope or Scope()
        self.n = snapshot.n if scope.before_seq is None else snapshot.rows_before(scope.before_seq)
        self.allowed = self._allowed(scope)
        self.terms = tuple(dict.fromkeys(terms(query.text)))

    def _allowed(self, scope: Scope) -> Mask | None:
        numbers = [number for t in scope.not_threads if (number := self.snapshot.thread_number(t)) is not None]
        return ~np.isin(self.snapshot.thread_of(self.n), numbers) if numbers else None

    @cached_property
    def candidates(self) -> Mask:
        """Which of the n rows may be recalled."""
        return np.ones(self.n, dtype=bool) if self.allowed is None else self.allowed

    @cached_property
    def links(self) -> Links:
        """Thread neighbours among the n rows."""
        return self.snapshot.links(self.n)

    @cached_property
    def idf(self) -> Mapping[str, float]:
        """How rare each of the query's terms is among the n rows."""
        return {term: self.snapshot.words.idf(term, self.n) for term in self.terms}

    @cached_property
    def searched(self) -> tuple[str, ...]:
        """The query's terms that BM25 looks for: the rarest of those that occur, `query_terms` at most."""
        held = [term for term in self.terms if len(self.snapshot.words.find(term, self.n)[0])]
        return tuple(sorted(held, key=lambda term: -self.idf[term])[: self.settings.query_terms])

    @cached_property
    def segment_scores(self) -> Floats:
        """F_score of every segment against the query, shape (segments,)."""
        return self.snapshot.segments.f_scores(self.query.vector, self.query.keywords)


@dataclass(frozen=True, slots=True)
class Channel:
    """One way to score all rows at once.

    `measure` gives one number a row, NaN where it has nothing to say of it. With `spread` they are z-scored over the
    candidates; without, they are on a fixed scale already. What is NaN counts 0, the candidates' mean.
    """

    name: str
    weight: Callable[[Settings], float]
    measure: Callable[[View], Floats]
    spread: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Fused:
    """Every row's score (n,), −∞ for what is no candidate; and what each channel said, by channel."""

    scores: Floats
    names: tuple[str, ...]
    weights: tuple[float, ...]
    raw: tuple[Floats, ...]
    normalised: tuple[Floats, ...]

    def shares(self, rows: Sequence[int]) -> tuple[Shares, ...]:
        """Each channel's share in the score of these rows."""
        at = np.asarray(rows, dtype=np.int64)
        raw = np.stack([channel[at] for channel in self.raw], axis=1).tolist()
        normalised = np.stack([channel[at] for channel in self.normalised], axis=1).tolist()
        return tuple(Shares(self.names, self.weights, *numbers) for numbers in zip(raw, normalised, strict=True))


class Shares(Mapping[str, ChannelScore]):
    """Each channel's share in one row's score, by channel: the sum of normalised × weight is the score."""

    __slots__ = ("_names", "_normalised", "_raw", "_weights")

    def __init__(
        self, names: tuple[str, ...], weights: tuple[float, ...], raw: list[float], normalised: list[float]
    ) -> None:
        self._names, self._weights, self._raw, self._normalised = names, weights, raw, normalised

    def __getitem__(self, name: str) -> ChannelScore:
        if name not in self._names:
            raise KeyError(name)
        i = self._names.index(name)
        return ChannelScore(raw=self._raw[i], normalised=self._normalised[i], weight=self._weights[i])

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(dict(self))


def fuse(view: View) -> Fused:
    """Score all candidates of a query."""
    names, weights, raw, normalised = [], [], [], []
    base = np.zeros(view.n)
    for channel, measured, normal in evidence(view):
        names.append(channel.name)
        weights.append(channel.weight(view.settings))
        raw.append(measured)
        normalised.append(normal)
        base += weights[-1] * normal
    scores = base.copy()
    for name, weight, near in neighbours(view, base):
        names.append(name)
        weights.append(weight)
        raw.append(near)
        normalised.append(near)
        scores += weight * near
    for channel, measured, normal in priors(view):
        names.append(channel.name)
        weights.append(channel.weight(view.settings))
        raw.append(measured)
        normalised.append(normal)
        scores += weights[-1] * normal
    if view.allowed is not None:
        scores[~view.allowed] = -np.inf
    return Fused(
        scores=scores, names=tuple(names), weights=tuple(weights), raw=tuple(raw), normalised=tuple(normalised)
    )


def evidence(view: View) -> list[tuple[Channel, Floats, Floats]]:
    """Each evidence channel with what it measured and the same normalised, (n,) each."""
    return [(channel, *_measured(view, channel)) for channel in EVIDENCE]


def neighbours(view: View, base: Floats) -> list[tuple[str, float, Floats]]:
    """The summed evidence of the rows at distance 1 and 2 in the same thread: name, weight, (n,)."""
    settings = view.settings
    return [
        ("near 1", settings.recall_near_1, view.links.near(base, 1)),
        ("near 2", settings.recall_near_2, view.links.near(base, 2)),
    ]


def priors(view: View) -> list[tuple[Channel, Floats, Floats]]:
    """Each prior with what it measured and the same normalised, (n,) each."""
    return [(channel, *_measured(view, channel)) for channel in PRIORS]


def _measured(view: View, channel: Channel) -> tuple[Floats, Floats]:
    """What the channel measured and the same normalised; 0 in both where it has nothing to say."""
    raw = channel.measure(view)
    silent = np.isnan(raw)
    anywhere = bool(silent.any())
    normal = _spread(view, raw, silent if anywhere else None) if channel.spread else raw.copy()
    if anywhere:
        raw[silent] = normal[silent] = 0.0
    if view.allowed is not None:
        normal[~view.allowed] = 0.0
    return raw, normal


def _spread(view: View, raw: Floats, silent: Mask | None) -> Floats:
    """Each number's z-score among the candidates that have one; 0 for all, if they do not differ."""
    said = raw if silent is None and view.allowed is None else raw[view.candidates & ~np.isnan(raw)]
    if len(said) == 0:
        return np.zeros(view.n)
    mean = float(said.mean())
    deviation = float(np.sqrt(np.mean(np.square(said - mean))))
    # Rounding leaves a trace of deviation where all are the same.
    if deviation <= 1e-9 * max(1.0, abs(mean)):
        return np.zeros(view.n)
    return _z_scores(raw, mean, deviation)


# equations.z_score is plain arithmetic: given an array and a deviation above 0, it answers with an array.
_z_scores = cast("Callable[..., Floats]", equations.z_score)


def _dense(view: View) -> Floats:
    """Cosine of the utterance's vector and the query's: both have norm 1."""
    scores = np.full(view.n, np.nan)
    query = view.query.vector
    if query is None or not query.any():
        return scores
    rows, vectors = view.snapshot.vectors()
    cosines = vectors @ query
    if view.n < view.snapshot.n:
        within = rows < view.n
        rows, cosines = rows[within], cosines[within]
    scores[rows] = cosines
    return scores


def _words(view: View) -> Floats:
    """BM25 of the utterance: its words, its speaker, its date."""
    return view.snapshot.words.scores(view.searched, view.n, view.settings.k_1, view.settings.b)


def _window(view: View) -> Floats:
    """BM25 of the utterance with the one before and the one after it in its thread."""
    return view.snapshot.words.window_scores(view.searched, view.links, view.settings.k_1, view.settings.b)


def _speaker(view: View) -> Floats:
    """1 where the query names who spoke."""
    asked = set(view.terms)
    named = np.array([not asked.isdisjoint(terms(name)) for name in view.snapshot.speakers()] or [False])
    return named[view.snapshot.speaker_of(view.n)].astype(np.float64)


def _segment(view: View) -> Floats:
    """F_score of the segment that the utterance's page is in, archived or not."""
    # The last one is what a page without a segment (−1) picks.
    scores = np.append(view.segment_scores, np.nan)
    return scores[view.snapshot.segment_of_page()][view.snapshot.page_of(view.n)]


def _length(view: View) -> Floats:
    """ln(1 + characters), less the candidates' mean: longer ones say more.

    Not z-scored: among texts of nearly one length, a few characters would decide.
    """
    lengths = view.snapshot.text_length(view.n).astype(np.float64)
    return lengths - (lengths[view.candidates].mean() if view.candidates.any() else 0.0)


def _question(view: View) -> Floats:
    """1 where the utterance itself asks: what was asked about is said elsewhere."""
    return view.snapshot.asks(view.n).astype(np.float64)


EVIDENCE: tuple[Channel, ...] = (
    Channel("dense", lambda s: s.recall_dense, _dense),
    Channel("words", lambda s: s.recall_words, _words),
    Channel("window", lambda s: s.recall_window, _window),
)
PRIORS: tuple[Channel, ...] = (
    Channel("speaker", lambda s: s.recall_speaker, _speaker, spread=False),
    Channel("segment", lambda s: s.recall_segment, _segment),
    Channel("length", lambda s: s.recall_length, _length, spread=False),
    Channel("question", lambda s: s.recall_question, _question, spread=False),
)
