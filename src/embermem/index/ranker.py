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

from embermem.core import npz
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
_BESIDE = 4
"""Rows on either side that count as near; each counts half of the one before it."""
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
            with npz.reading(path) as kept:
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
        above = np.ascontiguousarray(x.T)[self.feature.ravel()] > self.threshold.reshape(-1, 1)
        by_node = above.reshape(trees, inner, len(x))
        leaf = np.zeros((trees, len(x)), dtype=np.int32)
        steps: list[NDArray[np.bool_]] = []
        for level in range((inner + 1).bit_length() - 1):
            # The answers of all nodes of a level, of which each step before halves those that are still in question.
            asked = by_node[:, 2**level - 1 : 2 ** (level + 1) - 1]
            for step in steps:
                left, right = np.split(asked, 2, axis=1)
                asked = left ^ (step[:, None] & (left ^ right))  # a sixth of what `where` takes
            steps.append(asked[:, 0])
            leaf = 2 * leaf + steps[-1]
        leaf += (np.arange(trees, dtype=np.int32) * (inner + 1))[:, None]
        return np.asarray(self.value.ravel()[leaf].sum(axis=0, dtype=np.float64))


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


def correction(ranker: Ranker, view: View, scores: Floats, said: Said) -> Floats | None:
    """What the ranker adds to the scores of all rows, (n,): it is for the rows of late interaction, the best by the
    other channels, and their share of the evidence stays what it was. All other rows get the least that any of these
    gets. None where a feature that it was fitted on is not known: by another embedder, or for a query without words.
    """
    if len(view.pool) == 0:
        return None
    rows = view.pool
    found = features(view, scores, said)
    if any(name not in found for name in ranker.names):
        return None
    x = np.empty((len(rows), len(ranker.names)), dtype=np.float32)
    for place, name in enumerate(ranker.names):
        x[:, place] = found[name]
    added, before = ranker.scores(x), scores[rows]
    added -= np.logaddexp.reduce(before + added) - np.logaddexp.reduce(before)
    everywhere = np.full(view.n, added.min())
    everywhere[rows] = added
    return everywhere


def features(view: View, scores: Floats, said: Said) -> dict[str, Floats | float]:
    """What the trees see of the rows of late interaction, by name: (r,) each, or one number for all."""
    rows = view.pool
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
    for more in (_of_texts(view), _of_question(view, said), _of_thread(view, before), _of_words(view), _of_sense(view)):
        found |= more
    return found


_SCALED = ("dense", "meaning", "late", "late window")
"""Evidence that means the same on its own scale in every memory: cosines."""


def _rank(values: Floats) -> Floats:
    """−ln(1 + how many are better); equals share a place."""
    return -np.log1p(len(values) - np.searchsorted(np.sort(values), values, side="right"))


def _of_texts(view: View) -> dict[str, Floats | float]:
    snapshot, rows, n = view.snapshot, view.pool, view.n
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


def _of_thread(view: View, scores: Floats) -> dict[str, Floats | float]:
    """ln of what the other rows of the same thread have of the evidence by the fusion: all of them, and those near."""
    rows, threads = view.pool, view.snapshot.thread_of(view.n)[view.pool]
    share = np.exp(scores - scores.max())
    share /= share.sum()
    _, places = np.unique(threads, return_inverse=True)
    others = np.maximum(np.bincount(places, share)[places] - share, 0.0)
    # Rows of a thread lie in the order in which they were said: their distance is nearly that of their turns.
    beside = np.zeros(len(rows))
    for apart in range(1, min(_BESIDE, len(rows) - 1) + 1):
        at = np.minimum(np.searchsorted(rows, rows + apart), len(rows) - 1)
        there = (rows[at] == rows + apart) & (threads[at] == threads)
        beside[there] += 0.5**apart * share[at[there]]
        np.add.at(beside, at[there], 0.5**apart * share[there])
    return {"thread": np.log(others + _TRACE), "beside": np.log(beside + _TRACE)}


def _of_words(view: View) -> dict[str, Floats | float]:
    """How near each of the query's words comes, by token vectors and as it is written."""
    rows = view.pool
    found: dict[str, Floats | float] = {}
    for read, nearest, weights in view.nearest:
        at = np.searchsorted(rows, read)
        for name, values in _of_nearest(nearest, weights).items():
            column = np.array(found.get(name, np.full(len(rows), values.mean())))
            column[at] = values
            found[name] = column
    terms = [term for term in view.searched if term not in view.names]
    held = np.zeros((len(rows), len(terms)))
    sought = rows.astype(np.int32)  # as postings are: of another type, all of a term's would be copied
    for place, term in enumerate(terms):
        holders = view.snapshot.words.find(term, view.n)[0]
        held[:, place] = holders[np.minimum(np.searchsorted(holders, sought), len(holders) - 1)] == sought
    idf = np.array([view.idf[term] for term in terms])
    return found | {
        "held": held @ (idf / max(float(sum(view.idf.values())), _TRACE)),
        "held-count": held.sum(axis=1),
        "held-rarest": (held * idf).max(axis=1, initial=0.0),
    }


def _of_nearest(nearest: Matrix, weights: Floats) -> dict[str, Floats]:
    """From how near some rows come to each word (r, q), the rarest word first, and the words' shares by rarity (q,)."""
    best, second = nearest.max(axis=0), min(nearest.shape[1] - 1, 1)
    z = (nearest - nearest.mean(axis=0)) / (nearest.std(axis=0) + 1e-3)
    return {
        "word-gap": (nearest - best) @ weights,
        "word-rarest": nearest[:, 0],
        "word-rarest-gap": nearest[:, 0] - best[0],
        "word-second-gap": nearest[:, second] - best[second],
        "word-high": (nearest > _HIGH) @ weights,
        "word-least": nearest.min(axis=1),
        "word-most": nearest.max(axis=1),
        "word-cubed": np.clip(nearest, 0.0, 1.0) ** 3 @ weights,
        "word-z": z @ weights,
        "word-z-most": z.max(axis=1),
    }


def _of_sense(view: View) -> dict[str, Floats | float]:
    """The cosine by the second encoder of a pair, also of texts that the first one reads."""
    query, first_dim = view.query.vector, view.snapshot.first_dim
    if query is None or not view.snapshot.is_paired:
        return {}
    towards, vectors = query[first_dim:], view.snapshot.second_of(view.pool)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors)) * np.linalg.norm(towards)
    near = (vectors @ towards / np.maximum(lengths, 1e-9)).astype(np.float64)
    return {"sense-raw": near, "sense-best": near - near.max(), "sense-rank": _rank(near)}


RISING = (
    "score-",
    "word-",
    "held",
    "-best",
    "-rank",
    "-raw",
)
"""Features whose names begin or end so, and all evidence: more of them never lowers a score."""
