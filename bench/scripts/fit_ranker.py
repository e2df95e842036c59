"""Fit the trees of the learned ranker (index/ranker.py), and judge them on corpora that took no part in the fit.

    bench/scripts/fit_ranker.sh DATA... [--judge DATA...] [--out] [--write FILE] [--cache FOLDER]

DATA teach; --judge is only judged. Loss: −ln of the share that the evidence has in a softmax over the candidates of
late interaction, starting from the linear fusion's scores: the mean over the evidence where utterances are named, their
sum where whole threads are. A question of a corpus with n questions weighs 1/√n. Features that are evidence never lower
a score as they rise. With --out each corpus that teaches is judged, too, by trees fitted on the others. Figures are of
the package's own `recall`, without the ranker and with it. The same data and seed give the same file.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fit_recall
import lightgbm
import numpy as np
from fit_recall import Talk, prepared

from embermem.core.config import Settings
from embermem.index.fusion import EVIDENCE_NAMES, fuse, said_of
from embermem.index.ranker import RISING, SHIPPED, Ranker, features
from embermem.memoryos.recall.retrieval import rank
from embermem_bench.datasets import load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ROUNDS, RATE, LEAVES, DEPTH = 120, 0.05, 16, 4
PENALTY, LEAST_ROWS, SHARE_OF_FEATURES, SHARE_OF_ROWS = 8.0, 40, 0.3, 0.8
LEAST_CURVE = 1e-4
KEPT = 0.75
"""The share of what the trees add that is kept: it carries over to other corpora better than all of it."""
SEED = 0


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question: the features of its candidates (r, names), their scores by the fusion, which are evidence."""

    corpus: str
    whole_threads: bool
    x: NDArray[np.float32]
    scores: Floats
    gold: NDArray[np.bool_]


def main() -> None:
    arguments = _arguments()
    taught = [(str(path), load(path)) for path in arguments.data]
    judged = [(str(path), load(path)) for path in arguments.judge]
    for _, data in (*taught, *judged):
        fit_recall.TALKS.extend(prepared(data, talk, arguments.cache, with_facts=False) for talk in data.conversations)
    teachers = {data.name for _, data in taught}
    names, cases = _cases([talk for talk in fit_recall.TALKS if talk.data.name in teachers])
    print(f"{len(cases)} questions, {len(names)} features", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        whole = fit(cases, names)
        files = {data.name: _written(whole, Path(folder) / "whole.npz") for _, data in judged}
        if arguments.write is not None:
            _written(whole, arguments.write)
            print(f"written: {arguments.write}, {arguments.write.stat().st_size} bytes")
        for place, name in enumerate(sorted(teachers) if arguments.out else ()):
            others = [case for case in cases if case.corpus != name]
            files[name] = _written(fit(others, names), Path(folder) / f"{place}.npz")
        _report(files)


def fit(cases: Sequence[Case], names: Sequence[str]) -> Ranker:
    """The trees of the least loss on these questions."""
    counts: dict[str, int] = {}
    for case in cases:
        counts[case.corpus] = counts.get(case.corpus, 0) + 1
    weights = np.array([counts[case.corpus] ** -0.5 for case in cases])
    weights /= weights.mean()
    before = np.concatenate([case.scores for case in cases])
    ends = np.cumsum([len(case.scores) for case in cases])

    def gradients(added: Floats, _: Any) -> tuple[Floats, Floats]:
        parts = np.split(before + added, ends[:-1])
        found = [_gradient(scores, case) for scores, case in zip(parts, cases, strict=True)]
        first = [weight * (share - wanted) for weight, (share, wanted) in zip(weights, found, strict=True)]
        second = [
            w * np.maximum(share * (1.0 - share), LEAST_CURVE) for w, (share, _) in zip(weights, found, strict=True)
        ]
        return np.concatenate(first), np.concatenate(second)

    options = {
        "objective": gradients,
        "learning_rate": RATE,
        "num_leaves": LEAVES,
        "max_depth": DEPTH,
        "min_data_in_leaf": LEAST_ROWS,
        "min_sum_hessian_in_leaf": 1e-3,
        "bagging_fraction": SHARE_OF_ROWS,
        "bagging_freq": 1,
        "feature_fraction": SHARE_OF_FEATURES,
        "lambda_l2": PENALTY,
        "monotone_constraints": [int(_rises(name)) for name in names],
        "seed": SEED,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "verbose": -1,
    }
    x = np.concatenate([case.x for case in cases])
    made = lightgbm.train(options, lightgbm.Dataset(x, np.zeros(len(x))), ROUNDS)
    return _complete(made.dump_model()["tree_info"], names)


def _gradient(scores: Floats, case: Case) -> tuple[Floats, Floats]:
    """Each row's share by its score, and the share wanted."""
    share = np.exp(scores - scores.max())
    share /= share.sum()
    wanted = case.gold * (share if case.whole_threads else 1.0)
    return share, wanted / max(float(wanted.sum()), 1e-12)


def _rises(name: str) -> bool:
    return name in EVIDENCE_NAMES or any(name.startswith(part) or name.endswith(part) for part in RISING)


def _complete(trees: Sequence[Any], names: Sequence[str]) -> Ranker:
    """Trees as arrays: a leaf above the last level becomes a subtree that gives its value everywhere."""
    inner = 2**DEPTH - 1
    feature = np.zeros((len(trees), inner), dtype=np.int16)
    threshold = np.zeros((len(trees), inner), dtype=np.float32)
    value = np.zeros((len(trees), inner + 1), dtype=np.float32)

    def fill(tree: int, node: Any, at: int) -> None:
        if at >= inner:
            value[tree, at - inner] = KEPT * node["leaf_value"]
            return
        split = "split_feature" in node
        if split:
            feature[tree, at], threshold[tree, at] = node["split_feature"], node["threshold"]
        fill(tree, node["left_child"] if split else node, 2 * at + 1)
        fill(tree, node["right_child"] if split else node, 2 * at + 2)

    for number, tree in enumerate(trees):
        fill(number, tree["tree_structure"], 0)
    used = sorted({int(place) for place in feature.ravel()})
    feature = np.searchsorted(used, feature).astype(np.int16)
    return Ranker(names=tuple(names[place] for place in used), feature=feature, threshold=threshold, value=value)


def _cases(talks: Sequence[Talk]) -> tuple[tuple[str, ...], list[Case]]:
    found = [(talk.data.name, *one) for talk in talks for one in _of_talk(talk)]
    names = tuple(dict.fromkeys(name for _, _, by_name, _, _ in found for name in by_name))
    cases = []
    for corpus, whole_threads, by_name, scores, gold in found:
        x = np.zeros((len(scores), len(names)), dtype=np.float32)
        for place, name in enumerate(names):
            x[:, place] = by_name.get(name, 0.0)
        cases.append(Case(corpus=corpus, whole_threads=whole_threads, x=x, scores=scores, gold=gold))
    return names, cases


def _of_talk(talk: Talk) -> Iterator[tuple[bool, Any, Floats, NDArray[np.bool_]]]:
    settings = Settings(ranker="none")
    for question, query in talk.asked:
        view = rank(talk.memory, query, settings, first=1).view  # of what is in scope
        fused = fuse(view)
        rows = view.pool
        said = said_of(
            view, dict(zip(fused.names, fused.raw, strict=True)), dict(zip(fused.names, fused.normalised, strict=True))
        )
        of = [view.snapshot.utterances[row] for row in rows.tolist()]
        gold = np.array([u.id in question.evidence or u.thread in question.evidence_threads for u in of])
        if gold.any() and view.nearest:
            yield not question.evidence, features(view, fused.scores, said), fused.scores[rows], gold


def _written(ranker: Ranker, path: Path) -> str:
    ranker.write(path)
    return str(path)


def _report(files: dict[str, str]) -> None:
    """Each corpus that has a file, without the ranker and with it."""
    shown = [number for number, talk in enumerate(fit_recall.TALKS) if talk.data.name in files]
    names = [fit_recall.TALKS[number].data.name for number in shown]
    weights = [fit_recall.shipped()] * len(shown)
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("fork")) as pool:
        for title, others in (
            ("linear fusion", [{"ranker": "none"} for _ in shown]),
            ("with the ranker", [{"ranker": files[name]} for name in names]),
        ):
            print(f"\n{title}")
            fit_recall.show(zip(names, pool.map(fit_recall.measured, shown, weights, others), strict=True))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, help="recall sets that teach")
    parser.add_argument("--judge", nargs="*", type=Path, default=[], help="recall sets that are only judged")
    parser.add_argument("--out", action="store_true", help="judge each teaching corpus by trees fitted on the others")
    parser.add_argument(
        "--write", nargs="?", type=Path, const=SHIPPED, help="write the trees; by default where they ship"
    )
    parser.add_argument("--cache", type=Path, help="folder that keeps the vectors between runs")
    return parser.parse_args()


if __name__ == "__main__":
    main()
