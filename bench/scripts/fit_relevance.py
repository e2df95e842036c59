"""Fit the weights of relevance and confidence (config.py, `relevance_*`, `holds_*`), checked on other conversations.

    bench/scripts/fit_relevance.sh DATA... [--cache FOLDER] [--without]

Both are logistic regressions on numbers that a recall has already: how likely the question can be answered
(fit_confidence.py), each hit's share of the evidence by its score, and the packed share of it. They are fitted on the
first half of each file's conversations, with the groups of fit_confidence.py weighted by `SHARES`, and checked on the
other half. A hit is right if it is evidence; a context at the default budget holds the answer if it has all evidence
utterances, or, where whole threads are the evidence, some of one. There are neither
segments nor facts. `embermem bench calibration` measures the same with the whole system.

With the weights of fit_confidence.py as shipped, and with these fitted again on the same half.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import fit_confidence
import numpy as np
from fit_confidence import Mode, newton, queries
from fit_recall import Talk, prepared

from embermem.core import equations
from embermem.core.config import Settings
from embermem.core.types import Utterance
from embermem.index.tokens import counter
from embermem.memoryos.recall.confidence import signs
from embermem.memoryos.recall.retrieval import rank, recall
from embermem_bench import metrics
from embermem_bench.calibration import calibration_error
from embermem_bench.datasets import Question, load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Mask = NDArray[np.bool_]

SHARES = {"answerable": 0.4, "asked": 0.25, "adversarial": 0.1, "never": 0.15, "foreign": 0.1}
OWN = ("answerable", "adversarial", "asked")
LEAST, LEAST_SHARE = 1e-4, 0.01
STEPS, PENALTY = 50, 1e-5
TOP = 10


@dataclass(frozen=True, kw_only=True)
class Table:
    """Every question (q,) and every hit (h,): `asked` is the question of each hit, `near` its score less `likely`."""

    data: NDArray[np.str_]
    group: NDArray[np.str_]
    fitted: Mask
    signs: Floats
    answerable: Floats
    packed: Floats
    holds: Mask
    asked: NDArray[np.int64]
    place: NDArray[np.int64]
    near: Floats
    right: Mask

    def shares(self, of: NDArray[np.str_], fitted: Mask) -> Floats:
        """Each one's share in the loss; 0 for what is not fitted."""
        found = np.zeros(len(of))
        for name, share in SHARES.items():
            some = fitted & (of == name)
            found[some] = share / max(1, some.sum())
        return found


def main() -> None:
    arguments = _arguments()
    talks: list[tuple[Talk, bool]] = []
    for data in map(load, arguments.data):
        half = (len(data.conversations) + 1) // 2
        for number, talk in enumerate(data.conversations):
            made = prepared(replace(data, headline=None), talk, arguments.cache)
            talks.append((made, number < half))
            print(f"{data.name} {talk.id}: {'fitted' if number < half else 'checked'}")
    table = _table(talks, Mode(vectors=True, tokens=True))
    settings = Settings()
    print("\nwith the shipped weights of `answerable`")
    _fit(table, table.answerable)
    print("\nwith these, too, fitted on the fitted half only")
    _fit(table, _answerable_again(table))
    print("\nas shipped")
    _report(table, table.answerable, _weights(settings, "holds"), _weights(settings, "relevance"))
    modes = (("without token vectors", Mode(vectors=True)), ("by words alone", Mode()))
    for name, mode in modes if arguments.without else ():
        print(f"\nas shipped, {name}")
        fewer = _table(talks, mode)
        _report(fewer, fewer.answerable, _weights(settings, "holds"), _weights(settings, "relevance"))


def _weights(settings: Settings, of: str) -> Floats:
    names = {"holds": ("base", "answerable", "share"), "relevance": ("base", "answerable", "share")}[of]
    return np.array([getattr(settings, f"{of}_{name}") for name in names])


def _fit(table: Table, answerable: Floats) -> None:
    questions, hits = _of_questions(table, answerable), _of_hits(table, answerable)
    hit_group, hit_fitted = table.group[table.asked], table.fitted[table.asked]
    held = logistic_fit(questions, table.holds, table.shares(table.group, table.fitted))
    relevant = logistic_fit(hits, table.right, table.shares(hit_group, hit_fitted))
    print("holds (base, answerable, share):", np.round(held, 2))
    print("relevance (base, answerable, share):", np.round(relevant, 2))
    _report(table, answerable, held, relevant)


def logistic_fit(x: Floats, y: Mask, w: Floats) -> Floats:
    """The base and the weights (1 + columns,) of the least loss, by Newton's method."""
    kept = w > 0.0
    x, true, w = np.column_stack([np.ones(len(x)), x])[kept], y[kept].astype(np.float64), w[kept] / w[kept].sum()
    return newton(x, true, w, np.full(x.shape[1], PENALTY), STEPS)


def _answerable_again(table: Table) -> Floats:
    fold = np.where(table.fitted, 0, 1)
    groups = fit_confidence.Table(fold=fold, group=table.group, signs=table.signs)
    b = fit_confidence.fit(groups, table.fitted, frozenset())
    return np.asarray(_logistic(b[0] + table.signs @ b[1:]))


def _of_questions(table: Table, answerable: Floats) -> Floats:
    odds = [
        (equations.log_odds(sure, LEAST), equations.log_odds(share, LEAST_SHARE))
        for sure, share in zip(answerable.tolist(), table.packed.tolist(), strict=True)
    ]
    return np.array(odds)


def _of_hits(table: Table, answerable: Floats) -> Floats:
    share = np.minimum(table.near, math.log(1.0 - LEAST_SHARE))
    return np.column_stack([np.log(np.maximum(answerable, 1e-12))[table.asked], share - np.log1p(-np.exp(share))])


def _report(table: Table, answerable: Floats, held: Floats, relevant: Floats) -> None:
    sure = _logistic(held[0] + _of_questions(table, answerable) @ held[1:])
    relevance = _logistic(relevant[0] + _of_hits(table, answerable) @ relevant[1:])
    own = np.isin(table.group, OWN)
    parts = [("checked, own questions", ~table.fitted & own), ("checked, all", ~table.fitted)]
    for name in dict.fromkeys(table.data.tolist()):
        parts += [(f"{name}, own", ~table.fitted & own & (table.data == name))]
        parts += [(f"{name}, all", ~table.fitted & (table.data == name))]
    parts.append(("fitted, all", table.fitted))
    for name, some in parts:
        if not some.any():
            continue
        hits = some[table.asked]
        first = hits & (table.place < TOP)
        print(
            f"  {name}: {some.sum()} questions; confidence {_probabilities(sure[some], table.holds[some])}; "
            f"relevance {_probabilities(relevance[hits], table.right[hits])}, "
            f"first {TOP} {_probabilities(relevance[first], table.right[first])}"
        )
    for group in SHARES:
        some = ~table.fitted & (table.group == group)
        if some.any():
            print(f"  checked, {group}: confidence {sure[some].mean():.2f}, holds {table.holds[some].mean():.2f}")


def _probabilities(said: Floats, true: Mask) -> str:
    error = calibration_error(list(zip(said.tolist(), true.tolist(), strict=True)))
    auc = metrics.auc(said[true].tolist(), said[~true].tolist())
    return f"error {error or 0.0:.3f}, AUC {'–' if auc is None else f'{auc:.3f}'} (mean {said.mean():.3f})"


def _table(talks: Sequence[tuple[Talk, bool]], mode: Mode) -> Table:
    settings = Settings()
    count = counter(settings.token_counter)
    data: list[str] = []
    group, fitted, found, sure, packed, holds = [], [], [], [], [], []
    asked, place, near, right = [], [], [], []
    for number, (talk, is_fitted) in enumerate(talks):
        for name, question, query in queries([one for one, _ in talks], number, mode):
            ranking = rank(talk.memory, query, settings)
            if not ranking.rows:
                continue
            wanted = question if name in ("answerable", "asked") else None
            context = recall(talk.memory, query, settings, count)
            at = {hit.utterance.seq: hit.score for hit in context.packed}
            packed.append(math.fsum(math.exp(min(0.0, score - ranking.likely)) for score in at.values()))
            holds.append(_holds([hit.utterance for hit in context.packed], wanted))
            for n, hit in enumerate(ranking.hits):
                asked.append(len(data))
                place.append(n)
                near.append(hit.score - ranking.likely)
                right.append(_is_right(hit.utterance, wanted))
            data.append(talk.data.name)
            group.append(name)
            fitted.append(is_fitted)
            found.append(astuple(signs(ranking.view, ranking.rows)))
            sure.append(ranking.answerable)
    return Table(
        data=np.array(data),
        group=np.array(group),
        fitted=np.array(fitted),
        signs=np.array(found),
        answerable=np.array(sure),
        packed=np.array(packed),
        holds=np.array(holds),
        asked=np.array(asked),
        place=np.array(place),
        near=np.array(near),
        right=np.array(right),
    )


def _holds(packed: Sequence[Utterance], question: Question | None) -> bool:
    if question is None:
        return False
    if question.evidence_threads:
        return any(_is_right(one, question) for one in packed)
    return question.evidence <= {str(one.id) for one in packed}


def _is_right(utterance: Utterance, question: Question | None) -> bool:
    if question is None:
        return False
    return utterance.id in question.evidence or utterance.thread in question.evidence_threads


def _logistic(x: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(x, -40.0, 40.0))))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, help="LoCoMo's format or the neutral recall-set format")
    parser.add_argument("--cache", type=Path, help="folder that keeps the vectors between runs")
    parser.add_argument("--without", action="store_true", help="also check without token vectors, and by words alone")
    return parser.parse_args()


if __name__ == "__main__":
    main()
