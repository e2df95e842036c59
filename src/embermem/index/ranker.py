"""The learned ranker: boosted trees correct the linear fusion's scores of the best rows.

A tree sees what the fusion adds up (each channel, how far below the best it is, its rank) and what the fusion cannot
weigh: which words of the query are near, what kind of question it is, how long the text is, what stands beside it.
The trees are fitted so that exp(score) stays an utterance's share of the evidence (bench/scripts/fit_ranker.sh), read
from a file of weights beside this module. Without the file, the fusion's own scores are used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embermem.core.errors import ConfigError
from embermem.index.query_context import View
from embermem.languages.questions import asks_for_number, asks_for_several, asks_for_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]
    Matrix = NDArray[np.float32]

__all__ = ["RISING", "Ranker", "Said", "correction", "features", "ranker_of"]

SHIPPED = Path(__file__).with_name("ranker.npz")
"""The weights that are shipped; their sources are in docs/research/recall.md."""

_HIGH = 0.7
"""A cosine of token vectors from which two words mean nearly the same (ours)."""
_TRACE = 1e-4
"""A share of the evidence below which it is as good as none."""
_FIRST = 10
"""The best rows, whose spread says how clear the fusion's answer is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """What the fusion knows of all rows: the normalised evidence and priors by channel, what the neighbours' evidence
    says, (n,) each, and the raw evidence."""

    evidence: Mapping[str, Floats]
    near: Mapping[str, Floats]
    priors: Mapping[str, Floats]
    raw: Mapping[str, Floats]


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Ranker:
    """Trees that are complete to one depth: of tree t, node i has the children 2i + 1 (x ≤ threshold) and 2i + 2.

    `feature` and `threshold` (trees, 2^depth − 1), `value` (trees, 2^depth): the leaves from left to right.
    """

    names: tuple[str, ...]
    feature: NDArray[np.int16]
    threshold: Matrix
    value: Matrix

    @classmethod
    def read(cls, path: Path) -> Ranker:
        """Raises ConfigError if the file is no file of weights."""
        try:
            with np.load(path, allow_pickle=False) as kept:
                names = tuple(kept["names"].tolist())
                found = cls(names=names, feature=kept["feature"], threshold=kept["threshold"], value=kept["value"])
        except (OSError, ValueError, KeyError) as error:
            raise ConfigError(
                f"ranker: {path} is no file of weights ({error}); bench/scripts/fit_ranker.sh writes one, "
                "and 'none' ranks without"
            ) from error
        return found

    def write(self, path: Path) -> None:
        """The same weights are the same bytes."""
        np.savez_compressed(
            path,
            names=np.array(self.names),
            feature=self.feature.astype(np.int16),
            threshold=self.threshold.astype(np.float32),
            value=self.value.astype(np.float32),
        )

    def scores(self, x: Matrix) -> Floats:
        """The sum of the trees' values for each row of features (r, names), shape (r,)."""
        trees, inner = self.feature.shape
        first = np.arange(trees) * inner
        feature, threshold = self.feature.ravel(), self.threshold.ravel()
        rows = (np.arange(len(x)) * x.shape[1])[:, None]
        flat, node = x.ravel(), np.zeros((len(x), trees), dtype=np.int64)
        for _ in range((inner + 1).bit_length() - 1):
            at = node + first
            node = 2 * node + 1 + (flat[rows + feature[at]] > threshold[at])
        leaves = self.value.ravel()[node - inner + np.arange(trees) * (inner + 1)]
        return np.asarray(leaves.sum(axis=1, dtype=np.float64))


def ranker_of(name: str) -> Ranker | None:
    """The ranker of the setting `ranker`: "shipped", "none", or the path of a file of weights. None without one.

    Raises ConfigError if a file that is named cannot be read.
    """
    if name == "none" or (name == "shipped" and not SHIPPED.is_file()):
        return None
    return _read(SHIPPED if name == "shipped" else Path(name))


@lru_cache(maxsize=4)
def _read(path: Path) -> Ranker:
    return Ranker.read(path)


def correction(ranker: Ranker, view: View, rows: Rows, scores: Floats, said: Said) -> Floats:
    """What the ranker adds to the scores of all rows, (n,); it was fitted on `rows`, the best by the fusion.

    All other rows get the least that any of these gets, and the rows' share of the evidence stays what it was.
    """
    found = features(view, rows, scores, said)
    x = np.zeros((len(rows), len(ranker.names)), dtype=np.float32)
    for place, name in enumerate(ranker.names):
        if name in found:
            x[:, place] = found[name]
    added = ranker.scores(x)
    before = scores[rows]
    added -= np.logaddexp.reduce(before + added) - np.logaddexp.reduce(before)
    all_rows = np.full(view.n, added.min(initial=0.0))
    all_rows[rows] = added
    return all_rows


def features(view: View, rows: Rows, scores: Floats, said: Said) -> dict[str, Floats | float]:
    """What the trees see of some rows by name: (r,) each, or one number for all."""
    before = scores[rows]
    order = np.sort(before)[::-1]
    found: dict[str, Floats | float] = {
        "score-best": before - order[0],
        "score-share": before - float(np.logaddexp.reduce(before)),
        "score-rank": _rank(before),
        "spread": float(order[:_FIRST].std()),
    }
    for name, channel in said.evidence.items():
        values = channel[rows]
        found |= {name: values, f"{name}-best": values - values.max(), f"{name}-rank": _rank(values)}
    found |= {f"{name}-raw": said.raw[name][rows] for name in _SCALED if name in said.raw}
    found |= {name: channel[rows] for name, channel in (*said.near.items(), *said.priors.items())}
    return (
        found
        | _of_texts(view, rows)
        | _of_question(view, said)
        | _of_thread(view, rows, before)
        | _of_words(view, rows)
    )


_SCALED = ("dense", "meaning", "late", "late window")
"""Evidence that means the same on its own scale in every memory: cosines."""


def _rank(values: Floats) -> Floats:
    """−ln(1 + how many are better); equals share a place."""
    return -np.log1p(len(values) - np.searchsorted(np.sort(values), values, side="right"))


def _of_texts(view: View, rows: Rows) -> dict[str, Floats | float]:
    snapshot, n = view.snapshot, view.n
    return {
        "length": snapshot.text_length(n)[rows].astype(np.float64),
        "asks": snapshot.asks(n)[rows].astype(np.float64),
        "number": snapshot.says_number(n)[rows].astype(np.float64),
        "dated": snapshot.dates.dated(n)[rows].astype(np.float64),
    }


def _of_question(view: View, said: Said) -> dict[str, Floats | float]:
    return {
        "wants time": float(view.kind(asks_for_time)),
        "wants number": float(view.kind(asks_for_number)),
        "wants several": float(view.kind(asks_for_several)),
        "query length": float(len(view.terms)),
        "names somebody": float(said.priors["speaker"].any()),
        "understood": view.understood,
    }


def _of_thread(view: View, rows: Rows, scores: Floats) -> dict[str, Floats | float]:
    """ln of what the other rows of the same thread have of the evidence by the fusion: all of them, and those near."""
    threads = view.snapshot.thread_of(view.n)[rows]
    share = np.exp(scores - scores.max())
    share /= share.sum()
    _, places = np.unique(threads, return_inverse=True)
    # Rows of a thread lie in the order in which they were said: their distance is nearly that of their turns.
    apart = np.abs(rows[:, None] - rows[None, :])
    beside = np.where((places[:, None] == places[None, :]) & (apart > 0), 0.5**apart, 0.0) @ share
    others = np.maximum(np.bincount(places, share)[places] - share, 0.0)
    return {"thread": np.log(others + _TRACE), "beside": np.log(beside + _TRACE)}


def _of_words(view: View, rows: Rows) -> dict[str, Floats | float]:
    """How near each of the query's words comes, by token vectors and as it is written."""
    found: dict[str, Floats | float] = {}
    if view.nearest is not None and view.nearest[1].shape[1]:
        pool, all_nearest, weights = view.nearest
        nearest = all_nearest[np.minimum(np.searchsorted(pool, rows), len(pool) - 1)].astype(np.float64)
        best, next_word = nearest.max(axis=0), min(nearest.shape[1] - 1, 1)
        z = (nearest - nearest.mean(axis=0)) / (nearest.std(axis=0) + 1e-3)
        found = {
            "word-gap": (nearest - best) @ weights,
            "word-rarest": nearest[:, 0],
            "word-rarest-gap": nearest[:, 0] - best[0],
            "word-second-gap": nearest[:, next_word] - best[next_word],
            "word-high": (nearest > _HIGH) @ weights,
            "word-least": nearest.min(axis=1),
            "word-most": nearest.max(axis=1),
            "word-cubed": np.clip(nearest, 0.0, 1.0) ** 3 @ weights,
            "word-z": z @ weights,
            "word-z-most": z.max(axis=1),
        }
    terms = [term for term in view.searched if term not in view.names]
    held = np.zeros((len(rows), len(terms)))
    for place, term in enumerate(terms):
        holders = view.snapshot.words.find(term, view.n)[0]
        at = np.minimum(np.searchsorted(holders, rows), len(holders) - 1)
        held[:, place] = holders[at] == rows
    idf = np.array([view.idf[term] for term in terms])
    if len(terms):
        found |= {
            "held": held @ (idf / max(float(sum(view.idf.values())), 1e-9)),
            "held-count": held.sum(axis=1),
            "held-rarest": (held * idf).max(axis=1),
        }
    return found


RISING = (
    "score-",
    "word-",
    "held",
    "-best",
    "-rank",
    "-raw",
)
"""Features whose names begin or end so, and all evidence: more of them never lowers a score."""
