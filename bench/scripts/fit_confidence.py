"""Fit the weights of confidence and relevance (config.py, `confidence_*`, `relevance_*`) on our own lives.

    bench/scripts/fit_confidence.sh [--writers w9,w10] [--lives N]

The lives are those of writers whose texts the encoder was not trained on. Each is asked questions of its own, which
can be answered, and as many of the other lives, which cannot; `confidence_whose` is for questions about the wrong
person, of which there are none here, and stays. Two logistic regressions with a small penalty on squares: whether a
question can be answered, by the package's own signs (memoryos/recall/confidence.py); and whether a hit answers it, by
that probability and the hit's share of the evidence. Figures are of questions whose life took no part in the fit.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from histories import History, histories

from embermem.memory import Memory
from embermem.memoryos.recall import confidence, retrieval
from embermem.memoryos.recall.confidence import Signs
from embermem_bench import metrics

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NAMES = tuple(field.name for field in fields(Signs) if field.name != "whose")
QUESTIONS, HITS, FOLDS, STEPS, PENALTY = 24, 20, 5, 60, 1e-4
"""Questions of each kind put to each life; the hits looked at; of the regressions."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question put to a life (a number): its signs, whether it is the life's own, and of each hit the logarithm of
    the odds of its share, and whether it answers."""

    life: int
    signs: Floats
    own: bool
    odds: Floats
    answers: NDArray[np.bool_]


class Recorder:
    """Keeps what recall worked out of the last question."""

    def __init__(self) -> None:
        self.signs: Signs | None = None
        self.likely = 0.0
        signs, relevances = confidence.signs, confidence.relevances

        def kept_signs(*given: object) -> Signs:
            self.signs = signs(*given)  # type: ignore[arg-type]
            return self.signs

        def kept_likely(scores: object, likely: float, *rest: object) -> tuple[float, ...]:
            self.likely = likely
            return relevances(scores, likely, *rest)  # type: ignore[arg-type]

        vars(confidence)["signs"] = kept_signs
        vars(retrieval)["relevances"] = kept_likely


def asked(lives: list[History]) -> Iterator[Asked]:
    """All questions, asked of all lives in a store of their own."""
    draw, recorder = random.Random(1), Recorder()
    with tempfile.TemporaryDirectory() as folder, Memory(Path(folder) / "m.db", background=False) as memory:
        for number, life in enumerate(lives):
            owner = memory.of(life.id, agent="bench")
            said = [{"role": "user", "content": one.text or "-", "name": one.speaker} for one in life.messages]
            ids = owner.add_messages(said, thread="t").utterance_ids
            owner.settle()
            place = {one: i for i, one in enumerate(ids)}
            foreign = [query for other in lives if other is not life for query in other.queries]
            own = draw.sample(life.queries, min(QUESTIONS, len(life.queries)))
            for query in (*own, *draw.sample(foreign, min(QUESTIONS, len(foreign)))):
                recorder.signs = None
                hits = owner.search(query.text, k=HITS)
                if recorder.signs is None:
                    continue
                is_own = query in own
                share = np.minimum(np.array([hit.score for hit in hits]) - recorder.likely, np.log(1 - 1e-6))
                yield Asked(
                    life=number,
                    signs=np.array(astuple(recorder.signs)[: len(NAMES)]),
                    own=is_own,
                    odds=share - np.log1p(-np.exp(share)),
                    answers=np.array([is_own and place[hit.utterance.id] in query.answers for hit in hits]),
                )


def fitted(signs: Floats, true: NDArray[np.bool_]) -> Floats:
    """The base and the weights of a logistic regression, by Newton's method."""
    x = np.column_stack((np.ones(len(signs)), signs))
    penalty = PENALTY * len(x) * np.diag([0.0, *np.ones(signs.shape[1])])
    weights = np.zeros(x.shape[1])
    for _ in range(STEPS):
        p = 1.0 / (1.0 + np.exp(-x @ weights))
        gradient = x.T @ (p - true) + penalty @ weights
        weights = weights - np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + penalty, gradient)
    return weights


def probability(weights: Floats, signs: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-weights[0] - signs @ weights[1:])))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--writers", default="w9,w10")
    parser.add_argument("--lives", type=int, help="so many lives only")
    given = parser.parse_args()
    lives = [one for one in histories(None) if one.writer in given.writers.split(",")][: given.lives]
    found = list(asked(lives))
    signs, own = np.stack([one.signs for one in found]), np.array([one.own for one in found])
    fold = np.array([one.life % FOLDS for one in found])
    answerable, weights = np.zeros(len(found)), fitted(signs, own)
    for k in {*fold.tolist()}:
        others = fitted(signs[fold != k], own[fold != k]) if (fold != k).any() else weights
        answerable[fold == k] = probability(others, signs[fold == k])
    print(f"{len(lives)} lives, {len(found)} questions, {own.sum()} of their own")
    print("confidence: base, " + ", ".join(NAMES), np.round(weights, 2))
    print("  AUC", metrics.auc(answerable[own].tolist(), answerable[~own].tolist()))
    hits = [np.column_stack((np.full(len(q.odds), np.log(p)), q.odds)) for q, p in zip(found, answerable, strict=True)]
    answers = np.concatenate([one.answers for one in found])
    chosen = fitted(np.concatenate(hits), answers)
    print("relevance: base, answerable, share", np.round(chosen, 2))
    told = probability(chosen, np.concatenate(hits))
    for low, high in ((0.0, 0.05), (0.05, 0.2), (0.2, 0.4), (0.4, 0.6), (0.6, 1.0)):
        inside = (told >= low) & (told < high)
        if inside.any():
            mean, right = told[inside].mean(), answers[inside].mean()
            print(f"  told {low} to {high}: {inside.sum()} hits, told {mean:.3f}, right {right:.3f}")


if __name__ == "__main__":
    main()
