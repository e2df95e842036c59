"""How an utterance is scored against a query: channels, each normalised over the candidates, fused linearly.

Evidence (dense, window, late) is z-scored. Priors (speaker, date, length, and document where there are documents) are
added to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from embermem.core import equations
from embermem.core.types import ChannelScore
from embermem.index.channels import DOCUMENT, EVIDENCE, PRIORS, Channel, late_among
from embermem.index.products import places_of_highest
from embermem.index.query_context import View

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

__all__ = [
    "EVIDENCE_NAMES",
    "PRIOR_NAMES",
    "Fused",
    "evidence",
    "fuse",
    "priors",
]

EVIDENCE_NAMES = (*(channel.name for channel in EVIDENCE), "late")
PRIOR_NAMES = tuple(channel.name for channel in PRIORS)
TOLD = "told"
"""Coverage's name among the channels: index/coverage.py."""
MUCH = "much"
"""The name among the channels, where a query asks for nothing but days, of how many words a row has: as many as the
mean row are enough."""
EARLY = "early"
"""The order of time's name there."""
_EARLY = 1e-2
"""What the newest row loses for it: less than any day, and less than a word."""
_ROUNDING = 1e-9
"""What scores differ by that are the same: a channel taken away leaves a trace of itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fused:
    """Every row's score (n,), −∞ for what is no candidate; and what each channel said, by channel."""

    scores: Floats
    names: tuple[str, ...]
    weights: tuple[float, ...]
    raw: tuple[Floats, ...]
    normalised: tuple[Floats, ...]

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

    def shares(self, rows: Sequence[int], told: Sequence[float]) -> tuple[Mapping[str, ChannelScore], ...]:
        """Each channel's share in the score of these rows; the last one is `told`, what coverage took off each."""
        return tuple(_Shares(self, row, off) for row, off in zip(rows, told, strict=True))

    def rank_without(self, row: int, name: str) -> int:
        """The place, from 1, that the row would have by its score, had this channel nothing to say. Raises KeyError for
        a channel that there is none of.

        All places are by score alone, before coverage, but for `told`'s own, which is that place with all channels.
        """
        if name == TOLD:
            return 1 + int(np.count_nonzero(self.scores > self.scores[row] + _ROUNDING))
        if name not in self.names:
            raise KeyError(name)
        k = self.names.index(name)
        scores = self.scores - self.weights[k] * self.normalised[k]
        return 1 + int(np.count_nonzero(scores > scores[row] + _ROUNDING))


class _Shares(Mapping[str, ChannelScore]):
    """Each channel's share in one row's score, worked out when it is read: of most hits nobody asks for it, and the
    rank without it costs a look at all rows. A copy or a pickle is a plain dict, which holds nothing of the working
    set."""

    __slots__ = ("_fused", "_row", "_told")

    def __init__(self, fused: Fused, row: int, told: float) -> None:
        self._fused, self._row, self._told = fused, row, told

    def __getitem__(self, name: str) -> ChannelScore:
        fused, row, without = self._fused, self._row, self._fused.rank_without(self._row, name)
        if name == TOLD:
            return ChannelScore(raw=-self._told, normalised=-self._told, weight=1.0, rank_without=without)
        k = fused.names.index(name)
        raw, normalised = fused.raw[k].item(row), fused.normalised[k].item(row)
        return ChannelScore(raw=raw, normalised=normalised, weight=fused.weights[k], rank_without=without)

    def __iter__(self) -> Iterator[str]:
        return iter((*self._fused.names, TOLD))

    def __len__(self) -> int:
        return len(self._fused.names) + 1

    def __reduce__(self) -> tuple[type[dict[str, ChannelScore]], tuple[dict[str, ChannelScore]]]:
        return dict, (dict(self),)

    def __repr__(self) -> str:
        return repr(dict(self))


def fuse(view: View) -> Fused:
    """Score all candidates of a query."""
    if view.asks_days_alone:
        return _by_days(view)
    channels, raw, normalised = zip(*evidence(view), *priors(view), strict=True)
    weights = tuple(channel.weight(view.settings) for channel in channels)
    scores = np.zeros(view.n)
    for weight, normal in zip(weights, normalised, strict=True):
        _add(scores, view, weight, normal)
    if view.allowed is not None:
        scores[~view.allowed] = -np.inf
    names = tuple(channel.name for channel in channels)
    return Fused(scores=scores, names=names, weights=weights, raw=raw, normalised=normalised)


def _by_days(view: View) -> Fused:
    """What was on the days asked for, what says more first, then in the order of time."""
    near, said_at = view.day_scores, view.snapshot.said_at(view.n)
    words = view.snapshot.words.lengths(view.n).astype(np.float64)
    much = np.minimum(1.0, words / max(1.0, words[view.candidates].mean()))
    early = np.empty(view.n)
    early[np.argsort(said_at, kind="stable")] = -np.linspace(0.0, _EARLY, view.n)
    scores = view.settings.recall_date * near + much + early
    scores[~view.candidates] = -np.inf
    weights = (view.settings.recall_date, 1.0, 1.0)
    said = (near, much, early)
    return Fused(scores=scores, names=("date", MUCH, EARLY), weights=weights, raw=said, normalised=said)


def _add(scores: Floats, view: View, weight: float, normal: Floats) -> None:
    """Add what a channel says, if it says anything: most queries name nobody and no day."""
    if normal is not view.nothing and weight != 0.0:
        scores += weight * normal


def evidence(view: View) -> list[tuple[Channel, Floats, Floats]]:
    """Each evidence channel with what it measured and the same normalised, (n,) each; late interaction last."""
    found = [(channel, *_measured(view, channel)) for channel in EVIDENCE]
    late = late_among(view, _pool(view, [normal for _, _, normal in found]))
    return [*found, (late, *_measured(view, late))]


def priors(view: View) -> list[tuple[Channel, Floats, Floats]]:
    """Each prior with what it measured and the same normalised, (n,) each."""
    of_documents = (DOCUMENT,) if view.snapshot.has_documents else ()
    return [(channel, *_measured(view, channel)) for channel in (*PRIORS, *of_documents)]


def _pool(view: View, said: Sequence[Floats]) -> NDArray[np.int64]:
    """The rows on which late interaction is measured, ascending: the best by what the other evidence says, by who spoke
    and by days."""
    limit = view.settings.late_candidates
    if view.allowed is not None and np.count_nonzero(view.allowed) <= limit:
        return np.flatnonzero(view.allowed)
    worth = np.zeros(view.n)
    for normal in said:
        _add(worth, view, 1.0, normal)
    _add(worth, view, view.settings.recall_speaker, view.said_by_named)
    _add(worth, view, view.settings.recall_date, view.day_scores)
    if view.allowed is not None:
        worth[~view.allowed] = -np.inf
    return np.sort(places_of_highest(worth, limit))


def _measured(view: View, channel: Channel) -> tuple[Floats, Floats]:
    """What the channel measured and the same normalised; 0 in both where it has nothing to say."""
    raw = channel.measure(view)
    if raw is view.nothing:
        return raw, raw
    if channel.among is not None:
        return _measured_among(view, channel.among, raw)
    unsaid = np.isnan(raw)
    silent = unsaid if unsaid.any() else None
    if unsaid.all():
        return view.nothing, view.nothing
    normal = _spread(view, raw, silent) if channel.spread else raw
    if normal is raw and (silent is not None or view.allowed is not None):
        normal = raw.copy()
    if silent is not None:
        raw[silent], normal[silent] = 0.0, 0.0
    if view.allowed is not None:
        normal[~view.allowed] = 0.0
    return raw, normal


def _measured_among(view: View, rows: NDArray[np.int64], measured: Floats) -> tuple[Floats, Floats]:
    """The same of a channel that is measured on some candidates only: all others count as little as the least."""
    normal = _z_scores_of(measured, measured)
    raw, normalised = np.zeros(view.n), np.full(view.n, normal.min(initial=0.0))
    raw[rows], normalised[rows] = measured, normal
    if view.allowed is not None:
        normalised[~view.allowed] = 0.0
    return raw, normalised


def _spread(view: View, raw: Floats, silent: Mask | None) -> Floats:
    """Each number's z-score among the candidates that have one; 0 for all, if they do not differ."""
    if silent is None and view.allowed is None:
        return _z_scores_of(raw, raw)
    return _z_scores_of(raw, raw[view.candidates if silent is None else view.candidates & ~silent])


def _z_scores_of(values: Floats, among: Floats) -> Floats:
    """The z-score of each value by the mean and the deviation of those `among`; 0 for all, if these do not differ."""
    if len(among) == 0:
        return np.zeros(len(values))
    mean = float(among.mean())
    apart = among - mean
    deviation = float(np.sqrt(np.einsum("i,i->", apart, apart) / len(among)))
    # Rounding leaves a trace of deviation where all are the same.
    if deviation <= 1e-9 * max(1.0, abs(mean)):
        return np.zeros(len(values))
    return _z_scores(values, mean, deviation)


# equations.z_score is plain arithmetic: given an array and a deviation above 0, it answers with an array.
_z_scores = cast("Callable[..., Floats]", equations.z_score)
