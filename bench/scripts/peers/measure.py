"""One system on one data set, in a process of its own: `measure.py SYSTEM DATA FOLDER`.

FOLDER holds `texts.json` and `vectors.npy`; the system's files go into FOLDER/SYSTEM, the figures to
FOLDER/SYSTEM.json. The network is refused, and a refused call fails the run.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from isolation import refuse_network
from systems import SYSTEMS, Hidden, Item, Known, System

from embermem_bench import metrics
from embermem_bench.datasets import Conversation, Dataset, Question, load

DEPTH = 20
"""How many utterances every system is asked for. MRR looks no deeper."""


def main() -> None:
    name, data, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    refused = refuse_network()
    embedder = Known(dict(zip(json.loads((folder / "texts.json").read_text()), _vectors(folder), strict=True)))
    store = folder / name
    store.mkdir()
    figures = run(SYSTEMS[name].make(store, embedder), load(data))
    if refused:
        sys.exit(f"{name} tried to reach the network: {', '.join(refused)}")
    figures["unforeseen_texts"] = embedder.unforeseen
    (folder / f"{name}.json").write_text(json.dumps(figures))


def run(system: System, dataset: Dataset) -> dict[str, Any]:
    """Stores every conversation, then asks every question that counts in the headline."""
    talks = [(f"user-{n}", talk, _items(talk)) for n, talk in enumerate(dataset.conversations, 1)]
    gc.collect()
    before, tally = resident_bytes(), _Tally()
    for user, _, threads in talks:
        began = time.perf_counter()
        system.store(user, threads)
        tally.ingest_s += time.perf_counter() - began
        tally.utterances += sum(map(len, threads))
    for user, talk, threads in talks:
        items = {item.turn.id: item for thread in threads for item in thread}
        for question in headline(dataset, talk):
            _ask(system, user, question, items, tally)
    gc.collect()
    after = resident_bytes()
    system.close()
    return tally.figures() | {"rss_grown": None if before is None or after is None else after - before}


def headline(dataset: Dataset, talk: Conversation) -> Iterator[Question]:
    """The questions with evidence that the headline figures cover."""
    return (q for q in talk.with_evidence if dataset.headline is None or q.category in dataset.headline)


def resident_bytes() -> int | None:
    """This process's resident memory; None where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


@dataclass(kw_only=True, slots=True)
class _Tally:
    """What a run counts as it goes."""

    values: dict[str, list[float]] = field(default_factory=dict)
    search_ms: list[float] = field(default_factory=list)
    ingest_s: float = 0.0
    utterances: int = 0

    def figures(self) -> dict[str, Any]:
        """The figures by the names of docs/research/bench.md."""
        means = {name: metrics.mean(values) for name, values in self.values.items()}
        return means | {
            "questions": len(self.search_ms),
            "utterances": self.utterances,
            "ingest_items_per_s": self.utterances / self.ingest_s,
            "search_ms_p50": metrics.percentile(self.search_ms, 0.5),
            "search_ms_p95": metrics.percentile(self.search_ms, 0.95),
        }


def _items(talk: Conversation) -> list[list[Item]]:
    """The utterances of each thread that has any, in file order."""
    threads: dict[str, list[Item]] = {}
    for place, (thread, turn) in enumerate(talk.turns()):
        threads.setdefault(thread.id, []).append(Item(turn=turn, thread=thread.id, place=place))
    return list(threads.values())


def _ask(system: System, user: str, question: Question, items: dict[str, Item], tally: _Tally) -> None:
    hidden = None
    if question.after_turn is not None:
        turn = items[question.after_turn]
        hidden = Hidden(since=turn.place, thread=turn.thread)
    began = time.perf_counter()
    ranking = system.search(user, question.text, hidden, DEPTH)
    tally.search_ms.append(1000 * (time.perf_counter() - began))
    _check(ranking, items, hidden, question)
    for name, value in _values(question, ranking, items):
        tally.values.setdefault(name, []).append(value)


def _check(ranking: Sequence[str], items: dict[str, Item], hidden: Hidden | None, question: Question) -> None:
    if len(set(ranking)) != len(ranking) or len(ranking) > DEPTH:
        raise ValueError(f"question {question.id}: {len(ranking)} hits, {len(set(ranking))} of them different")
    seen = [items[turn] for turn in ranking]
    if hidden and any(item.place >= hidden.since or item.thread == hidden.thread for item in seen):
        raise ValueError(f"question {question.id}: something was found that it may not see")


def _values(question: Question, ranking: Sequence[str], items: dict[str, Item]) -> Iterator[tuple[str, float]]:
    if question.evidence:
        yield "rec@5", metrics.recall_at(ranking, question.evidence, 5)
        yield "rec@10", metrics.recall_at(ranking, question.evidence, 10)
        yield "mrr", metrics.reciprocal_rank(ranking, question.evidence)
    if question.evidence_threads:
        threads = metrics.threads_of(ranking, {turn: item.thread for turn, item in items.items()})
        yield "thread_any@5", metrics.any_at(threads, question.evidence_threads, 5)
        yield "thread_any@10", metrics.any_at(threads, question.evidence_threads, 10)
        yield "thread_mrr", metrics.reciprocal_rank(threads, question.evidence_threads)


def _vectors(folder: Path) -> Any:
    return np.load(folder / "vectors.npy")


if __name__ == "__main__":
    main()
