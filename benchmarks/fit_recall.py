"""Fit the weights of recall (config.py, `recall_*`) by the package's own channels, with held-out conversations.

    benchmarks/fit_recall.sh DATA... [--cache FOLDER] [--without]

Loss: −ln of the share that the evidence has in a softmax over all candidates; the mean over the evidence where
utterances are named, their sum where whole threads are. Every data set weighs the same. A small penalty on the
square of the weights keeps them low where the data do not decide. One segment a thread stands in for segments.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.bench.datasets import Conversation, Dataset, Question, load
from embermem.config import Settings
from embermem.embedders.minilm import MiniLM
from embermem.index.fusion import EVIDENCE, PRIORS, Query, View, evidence, priors
from embermem.index.snapshot import Snapshot
from embermem.index.tokens import counter
from embermem.index.vectors import embedded_text, page_vector
from embermem.protocols import Delta, PageMark, Scope
from embermem.systems.memoryos.retrieval import recall
from embermem.text import terms
from embermem.types import OwnerId, PageId, Segment, SegmentId, ThreadId, Utterance, UtteranceId

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NAMES = (*(c.name for c in EVIDENCE), "near 1", "near 2", *(c.name for c in PRIORS))
E, K = len(EVIDENCE), len(NAMES)
STEPS, RATE, PENALTY = 120, 0.08, 0.02
BUDGETS = (300, 600, 1200)


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question: the channels over its candidates (channels, n), and which rows are evidence."""

    fold: str
    dataset: str
    weight: float
    whole_threads: bool
    gold: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    evidence: Floats
    near: tuple[Floats, Floats]
    priors: Floats


def main() -> None:
    arguments = _arguments()
    owners = [
        (data, talk, *_memory(talk, arguments.cache))
        for data in map(load, arguments.data)
        for talk in data.conversations
    ]
    cases = [case for data, talk, memory, asked in owners for case in _cases(data, talk, memory, asked)]
    shipped = _shipped(Settings())
    print("channels:", ", ".join(NAMES))
    held_out = _held_out(cases, shipped, frozenset())
    print("\nfitted, held out by conversation")
    _report(cases, held_out)
    print("fitted on all:", np.round(fit(cases, shipped, frozenset()), 2))
    print("\nas shipped:", shipped)
    _report(cases, {case.fold: shipped for case in cases})
    _report_packing(owners)
    if arguments.without:
        for name in NAMES:
            print(f"\nwithout {name}, fitted again, held out")
            _report(cases, _held_out(cases, shipped, frozenset({NAMES.index(name)})))


def fit(cases: Sequence[Case], start: Floats, locked: frozenset[int]) -> Floats:
    """Weights of the least loss, by Adam; those locked stay 0."""
    free = np.array([k not in locked for k in range(K)], dtype=np.float64)
    w, m, v = start * free, np.zeros(K), np.zeros(K)
    total = sum(case.weight for case in cases)
    for step in range(1, STEPS + 1):
        gradient = (sum((case.weight * _gradient(w, case) for case in cases), np.zeros(K)) / total + PENALTY * w) * free
        m, v = 0.9 * m + 0.1 * gradient, 0.99 * v + 0.01 * gradient**2
        w = w - RATE * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.99**step)) + 1e-8)
    return w


def _scores(w: Floats, case: Case) -> tuple[Floats, Floats, Floats]:
    near_1, near_2 = w[:E] @ case.near[0], w[:E] @ case.near[1]
    scores = w[:E] @ case.evidence + w[E] * near_1 + w[E + 1] * near_2 + w[E + 2 :] @ case.priors
    return np.where(case.allowed, scores, -np.inf), near_1, near_2


def _gradient(w: Floats, case: Case) -> Floats:
    scores, near_1, near_2 = _scores(w, case)
    share = np.exp(scores - scores.max())
    share /= share.sum()
    wanted = np.zeros_like(share)
    wanted[case.gold] = (
        share[case.gold] / (share[case.gold].sum() + 1e-12) if case.whole_threads else 1 / len(case.gold)
    )
    d = share - wanted
    mixed = case.evidence + w[E] * case.near[0] + w[E + 1] * case.near[1]
    return np.concatenate([mixed @ d, [near_1 @ d, near_2 @ d], case.priors @ d])


def _held_out(cases: Sequence[Case], start: Floats, locked: frozenset[int]) -> dict[str, Floats]:
    """For each conversation, the weights fitted on all the others."""
    folds = dict.fromkeys(case.fold for case in cases)
    return {fold: fit([case for case in cases if case.fold != fold], start, locked) for fold in folds}


def _report(cases: Sequence[Case], weights: dict[str, Floats]) -> None:
    for name in dict.fromkeys(case.dataset for case in cases):
        figures: dict[str, list[float]] = {}
        for case in (case for case in cases if case.dataset == name):
            order = np.argsort(-_scores(weights[case.fold], case)[0], kind="stable")
            found = np.isin(order, case.gold)
            for k in (5, 10):
                label, value = (
                    (f"any@{k}", found[:k].any())
                    if case.whole_threads
                    else (f"rec@{k}", found[:k].sum() / len(case.gold))
                )
                figures.setdefault(label, []).append(float(value))
            figures.setdefault("MRR", []).append(1 / (1 + int(found.argmax())))
        print(f"  {name}: " + ", ".join(f"{label} {np.mean(values):.3f}" for label, values in figures.items()))


def _report_packing(owners: Sequence[tuple[Dataset, Conversation, Snapshot, Floats]]) -> None:
    words = counter("words")
    figures: dict[tuple[str, int], list[float]] = {}
    for data, talk, memory, asked in owners:
        for question, query in _queries(data, talk, memory, asked):
            for budget in BUDGETS:
                packed = [
                    hit.utterance for hit in recall(memory, replace(query, budget=budget), Settings(), words).packed
                ]
                if question.evidence:
                    value = len(question.evidence & {u.id for u in packed}) / len(question.evidence)
                else:
                    value = float(not question.evidence_threads.isdisjoint(u.thread for u in packed))
                figures.setdefault((data.name, budget), []).append(value)
    for (name, budget), values in figures.items():
        print(f"  {name}: packed within {budget} words {np.mean(values):.3f}")


# -------------------------------------------------------------------------------------------------- data → channels


def _memory(talk: Conversation, cache: Path | None) -> tuple[Snapshot, Floats]:
    """A snapshot of all that was said, and the questions' vectors (questions, dim)."""
    utterances = list(_utterances(talk))
    vectors = _embedded(talk.id, [embedded_text(u) for u in utterances], cache)
    segments: list[Segment] = []
    marks: list[PageMark] = []
    for thread in dict.fromkeys(u.thread for u in utterances):
        rows = [row for row, u in enumerate(utterances) if u.thread == thread]
        words = Counter(term for row in rows for term in terms(utterances[row].text))
        at, name = utterances[rows[0]].said_at, SegmentId(thread)
        pages = tuple(dict.fromkeys(utterances[row].page_id for row in rows))
        segments.append(
            Segment(
                id=name,
                summary="",
                keywords=tuple(word for word, _ in words.most_common(Settings().segment_keywords)),
                page_ids=pages,
                visits=0,
                unanalysed=0,
                last_access=at,
                archived=False,
                change_no=1,
                recorded_at=at,
                said_from=at,
                said_to=at,
                embedding=page_vector(vectors[rows]),
            )
        )
        marks.extend(PageMark(page_id=page, no=1, segment_id=name) for page in pages)
    everything = Delta(
        seq=len(utterances),
        revision=1,
        utterances=tuple(utterances),
        vector_seqs=np.arange(1, len(utterances) + 1),
        vectors=vectors,
        pages=tuple(marks),
        segments=tuple(segments),
        persona=None,
    )
    memory = Snapshot.empty(OwnerId(talk.id), vectors.shape[1]).extended(everything)
    return memory, _embedded(talk.id + ".questions", [question.text for question in talk.questions], cache)


def _utterances(talk: Conversation) -> Iterator[Utterance]:
    for seq, (thread, turn) in enumerate(talk.turns(), 1):
        yield Utterance(
            id=UtteranceId(turn.id),
            seq=seq,
            page_id=PageId(f"p{seq}"),
            thread=ThreadId(thread.id),
            role=turn.role,
            speaker=turn.speaker,
            text=turn.text,
            said_at=turn.at,
            recorded_at=turn.at,
        )


def _embedded(name: str, texts: Sequence[str], cache: Path | None) -> Any:
    path = None if cache is None else cache / f"{name}.npy"
    if path is not None and path.is_file():
        return np.load(path)
    vectors = MiniLM().embed(texts)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, vectors)
    return vectors


def _queries(data: Dataset, talk: Conversation, memory: Snapshot, asked: Floats) -> Iterator[tuple[Question, Query]]:
    seqs = {u.id: u.seq for u in memory.utterances}
    for question, vector in zip(talk.questions, asked, strict=True):
        if data.headline is not None and question.category not in data.headline:
            continue
        scope = None
        if question.after_turn is not None:
            asked_in = memory.utterances[seqs[UtteranceId(question.after_turn)] - 1]
            scope = Scope(before_seq=asked_in.seq, not_threads=frozenset({asked_in.thread}))
        yield question, Query(text=question.text, vector=vector, keywords=frozenset(terms(question.text)), scope=scope)


def _cases(data: Dataset, talk: Conversation, memory: Snapshot, asked: Floats) -> Iterator[Case]:
    count = sum(len(other.questions) for other in data.conversations)
    for question, query in _queries(data, talk, memory, asked):
        view = View(memory, query, Settings())
        said = memory.utterances[: view.n]
        gold = np.array(
            [row for row, u in enumerate(said) if u.id in question.evidence or u.thread in question.evidence_threads]
        )
        if len(gold) == 0 or not view.candidates.any():
            continue
        channels = np.stack([normal for _, _, normal in evidence(view)])
        yield Case(
            fold=talk.id,
            dataset=data.name,
            weight=1 / count,
            whole_threads=not question.evidence,
            gold=gold,
            allowed=view.candidates,
            evidence=channels,
            near=tuple(np.stack([view.links.near(channel, d) for channel in channels]) for d in (1, 2)),  # type: ignore[arg-type]
            priors=np.stack([normal for _, _, normal in priors(view)]),
        )


def _shipped(settings: Settings) -> Floats:
    near = [settings.recall_near_1, settings.recall_near_2]
    return np.array([*(c.weight(settings) for c in EVIDENCE), *near, *(c.weight(settings) for c in PRIORS)])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, help="LoCoMo's format or the neutral recall-set format")
    parser.add_argument("--cache", type=Path, help="folder that keeps the vectors between runs")
    parser.add_argument("--without", action="store_true", help="also fit without each channel in turn")
    return parser.parse_args()


if __name__ == "__main__":
    main()
