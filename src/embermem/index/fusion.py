"""How an utterance is scored against a query: channels, each normalised over the candidates, fused linearly.

Evidence (dense, words, window, late, late window) is z-scored and summed by weight, and with it what facts say for
the utterances they rest on (noted). The evidence of an utterance's neighbours in its thread is further evidence for
it: of those at distance 1 and 2, and of the question that it answers. Priors (speaker, date, kind, segment, question)
are added. A query that asks for several things takes a second hop from what was found. A learned ranker corrects the
scores of the best rows (index/ranker.py), for stores of the embedder it was fitted for; and links may be followed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from embermem.core import equations
from embermem.core.types import ChannelScore
from embermem.index.channels import DOCUMENT, EVIDENCE, PRIORS, Channel, hop_among, late_among, speaker
from embermem.index.linking import FOLLOWED_FROM, Followed, follow, shares_of
from embermem.index.query_context import View
from embermem.index.ranker import Said, correction, ranker_of
from embermem.languages.questions import asks_for_several

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

__all__ = [
    "EVIDENCE_NAMES",
    "NEIGHBOURS",
    "PRIOR_NAMES",
    "Fused",
    "evidence",
    "fuse",
    "neighbours",
    "priors",
    "said_of",
]

EVIDENCE_NAMES = (*(channel.name for channel in EVIDENCE), "late", "late window")
NEIGHBOURS = ("near", "answer")
PRIOR_NAMES = tuple(channel.name for channel in PRIORS)
TOLD = "told"
"""Coverage's name among the channels: index/coverage.py."""
RANKER = "ranker"
"""The learned correction's name among the channels."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fused:
    """Every row's score (n,), −∞ for what is no candidate; and what each channel said, by channel."""

    scores: Floats
    names: tuple[str, ...]
    weights: tuple[float, ...]
    raw: tuple[Floats, ...]
    normalised: tuple[Floats, ...]
    view: View
    followed: tuple[Followed, ...] = ()

    def plus(self, name: str, weight: float, said: Floats) -> Fused:
        """The same with one more channel of these numbers (n,), as they are."""
        return replace(
            self,
            scores=self.scores + weight * said,
            names=(*self.names, name),
            weights=(*self.weights, weight),
            raw=(*self.raw, said),
            normalised=(*self.normalised, said),
        )

    def shares(self, rows: Sequence[int], told: Sequence[float]) -> tuple[dict[str, ChannelScore], ...]:
        """Each channel's share in the score of these rows; the last one is `told`, what coverage took off each."""
        at = np.asarray(rows, dtype=np.int64)
        raw = np.stack([channel[at] for channel in self.raw], axis=1).tolist()
        normalised = np.stack([channel[at] for channel in self.normalised], axis=1).tolist()
        channels = [*zip(self.names, self.weights, strict=True), (TOLD, 1.0)]
        return tuple(
            {
                name: _Share(self, row, name, one, normal, weight)
                for (name, weight), one, normal in zip(channels, (*said, -off), (*normals, -off), strict=True)
            }
            for row, said, normals, off in zip(rows, raw, normalised, told, strict=True)
        )

    def rank_without(self, row: int, name: str) -> int:
        """The place, from 1, that the row would have by its score, had this channel nothing to say.

        All places are by score alone, before coverage, but for `told`'s own, which is that place with all channels.
        """
        if name == TOLD:
            return 1 + int(np.count_nonzero(self.scores > self.scores[row]))
        k = self.names.index(name)
        scores = self.scores - self.weights[k] * self.normalised[k]
        if name in EVIDENCE_NAMES:
            # What it said of the neighbours goes too.
            silent = self.weights[k] * self.normalised[k]
            for other, weight, near in neighbours(self.view, silent):
                scores -= weight * near if other in self.names else 0.0
        return 1 + int(np.count_nonzero(scores > scores[row]))


class _Share(ChannelScore):
    """A channel's share in one row's score. The rank without it costs a look at all rows, so it is computed when it is
    read. A copy or a pickle is a plain ChannelScore, which holds nothing of the working set."""

    __slots__ = ("_fused", "_name", "_row")
    _fused: Fused
    _row: int
    _name: str

    def __init__(self, fused: Fused, row: int, name: str, raw: float, normalised: float, weight: float) -> None:
        _put(self, "raw", raw)
        _put(self, "normalised", normalised)
        _put(self, "weight", weight)
        _put(self, "_fused", fused)
        _put(self, "_row", row)
        _put(self, "_name", name)

    @property
    def rank_without(self) -> int:
        return self._fused.rank_without(self._row, self._name)

    def __reduce__(self) -> tuple[Callable[..., ChannelScore], tuple[float | int | None, ...]]:
        return _plain, _told(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChannelScore) and _told(self) == _told(other)

    __hash__ = ChannelScore.__hash__

    def __repr__(self) -> str:
        return repr(copy(self))


_put = object.__setattr__


def _plain(raw: float, normalised: float, weight: float, rank_without: int) -> ChannelScore:
    return ChannelScore(raw=raw, normalised=normalised, weight=weight, rank_without=rank_without)


def _told(score: ChannelScore) -> tuple[float, float, float, int | None]:
    return score.raw, score.normalised, score.weight, score.rank_without


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
        if normal.any():  # most queries name nobody and no day
            scores += weights[-1] * normal
    if view.allowed is not None:
        scores[~view.allowed] = -np.inf
    if view.kind(asks_for_several):
        names.append("hop")
        weights.append(view.settings.recall_hop)
        measured, normal = _measured(view, hop_among(view, scores, _best(scores, view.settings.late_candidates)))
        raw.append(measured)
        normalised.append(normal)
        scores += weights[-1] * normal
    ranker = ranker_of(view.settings.ranker)
    if ranker is not None:
        said = said_of(view, dict(zip(names, raw, strict=True)), dict(zip(names, normalised, strict=True)))
        added = correction(ranker, view, scores, said)
        if added is not None:
            names.append(RANKER)
            weights.append(1.0)
            raw.append(added)
            normalised.append(added)
            scores += added
    followed = follow(view, _ranked(scores)) if view.query.links else ()
    if followed:
        names.append("link")
        weights.append(view.settings.recall_links)
        near = shares_of(view, followed)
        raw.append(near)
        normalised.append(near)
        scores += weights[-1] * near
    return Fused(
        followed=followed,
        scores=scores,
        names=tuple(names),
        weights=tuple(weights),
        raw=tuple(raw),
        normalised=tuple(normalised),
        view=view,
    )


def evidence(view: View) -> list[tuple[Channel, Floats, Floats]]:
    """Each evidence channel with what it measured and the same normalised, (n,) each; late interaction last."""
    found = [(channel, *_measured(view, channel)) for channel in EVIDENCE]
    late = late_among(view, _pool(view, [normal for _, _, normal in found]))
    return [*found, *((channel, *_measured(view, channel)) for channel in late)]


def neighbours(view: View, base: Floats) -> list[tuple[str, float, Floats]]:
    """The evidence of a row's neighbours in its thread: name, weight, (n,).

    The sum of those at distance 1 and 2; and of the one before alone, if that one asks.
    """
    settings, texts = view.settings, view.texts
    links, best = texts.links, texts.best(base)
    asked = np.append(np.where(texts.last(view.snapshot.asks(view.n)), best, 0.0), 0.0)
    return [
        ("near", settings.recall_near, texts.spread(links.near(best, 1) + links.near(best, 2))),
        ("answer", settings.recall_answer, texts.spread(asked[links.previous])),
    ]


def said_of(view: View, raw: Mapping[str, Floats], normalised: Mapping[str, Floats]) -> Said:
    """What the ranker may know of the channels: of those that the settings silence, nothing."""
    weights = {channel.name: channel.weight(view.settings) for channel in (*EVIDENCE, *PRIORS)}
    silent = {name for name, weight in weights.items() if weight == 0.0}

    def heard(channels: Mapping[str, Floats], names: Sequence[str]) -> dict[str, Floats]:
        return {name: np.zeros(view.n) if name in silent else channels[name] for name in names if name in channels}

    return Said(
        evidence=heard(normalised, EVIDENCE_NAMES),
        near=heard(normalised, NEIGHBOURS),
        priors=heard(normalised, PRIOR_NAMES),
        raw=heard(raw, EVIDENCE_NAMES),
    )


def priors(view: View) -> list[tuple[Channel, Floats, Floats]]:
    """Each prior with what it measured and the same normalised, (n,) each."""
    of_documents = (DOCUMENT,) if view.snapshot.is_passage(view.n).any() else ()
    return [(channel, *_measured(view, channel)) for channel in (*PRIORS, *of_documents)]


def _pool(view: View, said: Sequence[Floats]) -> NDArray[np.int64]:
    """The rows on which late interaction is measured: the best by what the other evidence says, and by who spoke."""
    limit = view.settings.late_candidates
    worth = sum(said) + view.settings.recall_speaker * speaker(view)
    if view.allowed is None:
        return np.sort(_best(worth, limit))
    rows = np.flatnonzero(view.allowed)
    return rows if len(rows) <= limit else np.sort(rows[_best(worth[rows], limit)])


def _best(scores: Floats, k: int) -> NDArray[np.int64]:
    """The places of the k highest finite scores, in no order."""
    best = np.argpartition(-scores, k - 1)[:k] if len(scores) > k else np.arange(len(scores))
    return best[np.isfinite(scores[best])]


def _ranked(scores: Floats) -> NDArray[np.int64]:
    """The rows that links are followed from, best first."""
    best = _best(scores, FOLLOWED_FROM)
    return best[np.argsort(-scores[best], kind="stable")]


def _measured(view: View, channel: Channel) -> tuple[Floats, Floats]:
    """What the channel measured and the same normalised; 0 in both where it has nothing to say."""
    raw = channel.measure(view)
    silent = np.isnan(raw)
    anywhere = bool(silent.any())
    normal = _spread(view, raw, silent if anywhere else None) if channel.spread else raw
    if normal is raw and (anywhere or view.allowed is not None):
        normal = raw.copy()
    if anywhere:
        least = normal[~silent].min() if channel.least and not silent.all() else 0.0
        raw[silent], normal[silent] = 0.0, least
    if view.allowed is not None:
        normal[~view.allowed] = 0.0
    if channel.share is not None and normal.any():
        normal = normal * channel.share(view)
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
