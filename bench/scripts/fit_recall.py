"""Fit the weights of recall (config.py, `recall_*`) by the package's own channels, with held-out conversations.

    bench/scripts/fit_recall.sh DATA... [--cache FOLDER] [--without]

Loss: −ln of the share that the evidence has in a softmax over all candidates; the mean over the evidence where
utterances are named, their sum where whole threads are. Every data set weighs the same. A small penalty on the
square of the weights keeps them low where the data do not decide. There are neither segments nor facts.

Every figure is of the package's own `recall`, with the weights that were fitted on the other conversations.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.core.config import Settings
from embermem.core.types import OwnerId, PageId, Scope, ThreadId, Utterance, UtteranceId
from embermem.embedders.e5 import E5
from embermem.index.fusion import EVIDENCE_NAMES, PRIOR_NAMES, evidence, priors
from embermem.index.passages import passages
from embermem.index.query_context import Query
from embermem.index.snapshot import Snapshot
from embermem.index.tokens import counter
from embermem.index.vectors import embedded
from embermem.languages.words import terms
from embermem.memoryos.recall.retrieval import rank, recall
from embermem.protocols import Delta
from embermem_bench import metrics
from embermem_bench.datasets import Conversation, Dataset, Question, load
from embermem_bench.recall import packed_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NAMES = (*EVIDENCE_NAMES, *PRIOR_NAMES)
SETTINGS = tuple(f"recall_{name}" for name in NAMES)
E, K = len(EVIDENCE_NAMES), len(NAMES)
STEPS, RATE, PENALTY = 80, 0.08, 0.02
WORDS = (300, 600, 1200)
RANKED = 200


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question: the channels over its candidates (channels, n), and which rows are evidence."""

    fold: str
    weight: float
    whole_threads: bool
    gold: NDArray[np.int64]
    allowed: NDArray[np.bool_]
    channels: NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Talk:
    """A conversation with its memory and its questions."""

    data: Dataset
    talk: Conversation
    memory: Snapshot
    asked: tuple[tuple[Question, Query], ...]


ENCODER = E5()
CASES: list[Case] = []
TALKS: list[Talk] = []


def main() -> None:
    arguments = _arguments()
    for data in map(load, arguments.data):
        TALKS.extend(prepared(data, conversation, arguments.cache) for conversation in data.conversations)
    CASES.extend(case for talk in TALKS for case in _cases(talk))
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("fork")) as pool:
        print("channels:", ", ".join(NAMES))
        print("\nfitted, each conversation with the weights fitted on the others")
        _report(pool, _held_out(pool, frozenset()))
        everywhere = fit("", frozenset())
        print("fitted on all:", ", ".join(f"{name} {w:.2f}" for name, w in zip(NAMES, everywhere, strict=True)))
        print("\nas shipped")
        _report(pool, {talk.talk.id: shipped() for talk in TALKS})
        if arguments.without:
            for name in NAMES:
                print(f"\nwithout {name}, fitted again, held out")
                _report(pool, _held_out(pool, frozenset({NAMES.index(name)})))
            print("\nwithout told, held out")
            _report(pool, _held_out(pool, frozenset()), recall_told=0.0)


def fit(but: str, locked: frozenset[int]) -> Floats:
    """Weights of the least loss on all conversations but one, by Adam; those locked stay 0."""
    cases = [case for case in CASES if case.fold != but]
    free = np.array([k not in locked for k in range(K)], dtype=np.float64)
    w, m, v = shipped() * free, np.zeros(K), np.zeros(K)
    total = sum(case.weight for case in cases)
    for step in range(1, STEPS + 1):
        gradient = (sum((case.weight * _gradient(w, case) for case in cases), np.zeros(K)) / total + PENALTY * w) * free
        m, v = 0.9 * m + 0.1 * gradient, 0.99 * v + 0.01 * gradient**2
        w = w - RATE * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.99**step)) + 1e-8)
        w[:E] = np.maximum(w[:E], 0.0)  # evidence never speaks against
    return w


def _gradient(w: Floats, case: Case) -> Floats:
    scores = np.where(case.allowed, w @ case.channels, -np.inf)
    share = np.exp(scores - scores.max())
    share /= share.sum()
    wanted = np.zeros_like(share)
    wanted[case.gold] = (
        share[case.gold] / (share[case.gold].sum() + 1e-12) if case.whole_threads else 1 / len(case.gold)
    )
    return np.asarray(case.channels @ (share - wanted))


def _held_out(pool: ProcessPoolExecutor, locked: frozenset[int]) -> dict[str, Floats]:
    """For each conversation, the weights fitted on all the others."""
    folds = [talk.talk.id for talk in TALKS]
    return dict(zip(folds, pool.map(fit, folds, [locked] * len(folds)), strict=True))


def _report(pool: ProcessPoolExecutor, weights: dict[str, Floats], **others: object) -> None:
    chosen = [weights[talk.talk.id] for talk in TALKS]
    found = pool.map(measured, range(len(TALKS)), chosen, [others] * len(TALKS))
    show((talk.data.name, one) for talk, one in zip(TALKS, found, strict=True))


def show(measured_of: Iterable[tuple[str, dict[str, list[float]]]]) -> None:
    """Print each data set's mean figures, from those of its conversations."""
    figures: dict[str, dict[str, list[float]]] = {}
    for data, found in measured_of:
        for name, values in found.items():
            figures.setdefault(data, {}).setdefault(name, []).extend(values)
    for data, values_of in figures.items():
        print(
            f"  {data}: " + ", ".join(f"{name} {np.mean(values):.3f}" for name, values in values_of.items()), flush=True
        )


def measured(number: int, weights: Floats, others: Mapping[str, object]) -> dict[str, list[float]]:
    """Each figure's values over one conversation's questions."""
    talk, figures = TALKS[number], dict[str, list[float]]()
    chosen = {name: float(w) for name, w in zip(SETTINGS, weights, strict=True)}
    settings = replace(Settings(), **chosen, **others)  # type: ignore[arg-type]
    words = counter("words")
    for question, query in talk.asked:
        gold, by = (question.evidence, "id") if question.evidence else (question.evidence_threads, "thread")
        contexts = {n: recall(talk.memory, replace(query, budget=n), settings, words) for n in WORDS}
        found = rank(talk.memory, query, settings, first=RANKED)
        ranking = [hit.utterance for hit in found.hits_at(range(min(RANKED, len(found.rows))))]
        ranked = [str(getattr(u, by)) for u in ranking]
        values: dict[str, float] = {}
        for k in (5, 10):
            if by == "id":
                values[f"rec@{k}"] = metrics.recall_at(ranked, gold, k)
            else:
                values[f"any@{k}"] = metrics.any_at(ranked, gold, k)
        values["MRR"] = metrics.reciprocal_rank(ranked, gold)
        if by == "id":
            values["by rank within 600 words"] = metrics.recall_at(ranked, gold, _within(ranking, 600))
        for n, context in contexts.items():
            packed = [str(getattr(hit.utterance, by)) for hit in context.packed]
            share = metrics.recall_packed(packed, gold) if by == "id" else metrics.any_at(packed, gold, len(packed))
            values[f"packed@{n}w"] = share
            if question.quote is not None:
                values[f"quoted@{n}w"] = float(packed_within(context, n).says(question.quote))
        if question.category and by == "id":
            values[f"rec@10 of category {question.category}"] = values["rec@10"]
        for name, value in values.items():
            figures.setdefault(name, []).append(value)
    return figures


def _within(ranking: Sequence[Utterance], words: int) -> int:
    """How many of the first have no more words in all."""
    so_far = np.cumsum([len(u.text.split()) for u in ranking])
    return int(np.count_nonzero(so_far <= words))


# -------------------------------------------------------------------------------------------------- data → channels


def prepared(data: Dataset, talk: Conversation, cache: Path | None) -> Talk:
    """A conversation with a snapshot of all that was said."""
    utterances = list(_utterances(talk))
    vectors, tokens = _embedded(talk.id, utterances, cache)
    seqs = np.array([u.seq for u in utterances for _ in passages(u.text)])
    everything = Delta(
        seq=len(utterances),
        revision=1,
        utterances=tuple(utterances),
        vector_seqs=seqs,
        vectors=vectors,
        tokens=tokens,
        pages=(),
        segments=(),
        persona=None,
    )
    memory = Snapshot.empty(OwnerId(talk.id), ENCODER.dim, ENCODER.token_dim).extended(everything)
    return Talk(data=data, talk=talk, memory=memory, asked=tuple(_queries(data, talk, memory)))


def _utterances(talk: Conversation) -> Iterator[Utterance]:
    for seq, (thread, turn) in enumerate(talk.turns(), 1):
        yield Utterance(
            id=UtteranceId(turn.id),
            seq=seq,
            page_id=PageId(f"p{seq}"),
            thread=ThreadId(thread.id),
            role=turn.role,
            origin=turn.role.origin,
            speaker=turn.speaker,
            text=turn.text,
            said_at=turn.at,
            recorded_at=turn.at,
        )


def _embedded(name: str, utterances: Sequence[Utterance], cache: Path | None) -> tuple[Any, tuple[bytes, ...]]:
    texts = sha256(repr([(u.text, passages(u.text)) for u in utterances]).encode()).hexdigest()
    path = None if cache is None else cache / f"{name}-{ENCODER.dim}-{texts[:12]}.npz"
    if path is not None and path.is_file():
        kept = np.load(path)
        ends = np.cumsum(kept["lengths"])
        return kept["vectors"], tuple(part.tobytes() for part in np.split(kept["tokens"], ends[:-1]))
    made = embedded(ENCODER, utterances)
    vectors, tokens = made.vectors, made.tokens
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        joined = np.frombuffer(b"".join(tokens), dtype=np.uint8)
        np.savez(path, vectors=vectors, tokens=joined, lengths=[len(one) for one in tokens])
    return vectors, tuple(tokens)


def _queries(data: Dataset, talk: Conversation, memory: Snapshot) -> Iterator[tuple[Question, Query]]:
    said = {u.id: u for u in memory.utterances}
    questions = [q for q in talk.with_evidence if data.headline is None or q.category in data.headline]
    for question in questions:
        vector, its_tokens = ENCODER.embed_query(question.text)
        scope = None
        if question.after_turn is not None:
            asked_in = said[UtteranceId(question.after_turn)]
            scope = Scope(before_seq=asked_in.seq, not_threads=frozenset({asked_in.thread}))
        yield (
            question,
            Query(
                text=question.text,
                vector=vector,
                tokens=its_tokens,
                keywords=frozenset(terms(question.text)),
                at=question.at,
                thread=None if question.thread is None else ThreadId(question.thread),
                scope=scope,
            ),
        )


def _cases(talk: Talk) -> Iterator[Case]:
    count = sum(len(other.with_evidence) for other in talk.data.conversations)
    for question, query in talk.asked:
        view = rank(talk.memory, query, Settings(), first=1).view  # of what is in scope
        said = view.snapshot.utterances
        gold = np.array(
            [row for row, u in enumerate(said) if u.id in question.evidence or u.thread in question.evidence_threads]
        )
        if len(gold) == 0 or not view.candidates.any():
            continue
        normals = [normal for _, _, normal in (*evidence(view), *priors(view))]
        yield Case(
            fold=talk.talk.id,
            weight=1 / count,
            whole_threads=not question.evidence,
            gold=gold,
            allowed=view.candidates,
            channels=np.stack(normals).astype(np.float32),
        )


def shipped() -> Floats:
    return np.array([getattr(Settings(), name) for name in SETTINGS])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, help="LoCoMo's format or the neutral recall-set format")
    parser.add_argument("--cache", type=Path, help="folder that keeps the vectors between runs")
    parser.add_argument("--without", action="store_true", help="also fit without each channel in turn")
    return parser.parse_args()


if __name__ == "__main__":
    main()
