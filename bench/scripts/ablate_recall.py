"""What each channel of recall gives on each corpus: the figures with all channels, and without one at a time.

    bench/scripts/ablate_recall.sh DATA... [--cache FOLDER]

The other weights stay as they are shipped. rec@10 where utterances are named as evidence, any@5 where threads are; of
files of one folder together. Threads stand in for segments, and there are no facts, as in fit_recall.py.
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from fit_recall import TALKS, prepared

from embermem.core.config import Settings
from embermem.memoryos.recall.retrieval import rank
from embermem_bench import metrics
from embermem_bench.datasets import load

RANKED = 10
WITHOUT: dict[str, dict[str, float]] = {
    "all": {},
    "dense": {"recall_dense": 0.0},
    "words": {"recall_words": 0.0},
    "window": {"recall_window": 0.0},
    "words, window": {"recall_words": 0.0, "recall_window": 0.0},
    "late": {"recall_late": 0.0},
    "late window": {"recall_late_window": 0.0},
    "late, late window": {"recall_late": 0.0, "recall_late_window": 0.0},
    "near": {"recall_near": 0.0},
    "answer": {"recall_answer": 0.0},
    "speaker": {"recall_speaker": 0.0},
    "date": {"recall_date": 0.0},
    "kind": {"recall_kind": 0.0},
    "segment": {"recall_segment": 0.0},
    "question": {"recall_question": 0.0},
    "told": {"recall_told": 0.0},
    "hop": {"recall_hop": 0.0},
}
"""Names of rows, and the settings that silence what they name."""


def main() -> None:
    arguments = _arguments()
    corpora: list[str] = []
    for path in arguments.data:
        data = load(path)
        corpus = path.parent.name if path.parent.name == "languages" else path.stem
        for talk in data.conversations:
            TALKS.append(prepared(data, talk, arguments.cache, with_facts=False))
            corpora.append(corpus)
    names = list(dict.fromkeys(corpora))
    print("without".ljust(20), *(name.rjust(14) for name in names), flush=True)
    with ProcessPoolExecutor(arguments.jobs, mp_context=get_context("fork")) as pool:
        whole: dict[str, float] = {}
        for row, changed in WITHOUT.items():
            found: dict[str, list[float]] = defaultdict(list)
            for corpus, values in zip(
                corpora, pool.map(_measured, range(len(TALKS)), [changed] * len(TALKS)), strict=True
            ):
                found[corpus] += values
            means = {name: float(np.mean(found[name])) for name in names}
            whole = whole or means
            cells = (f"{means[n]:.3f}" if row == "all" else f"{100 * (means[n] - whole[n]):+.1f}" for n in names)
            print(row.ljust(20), *(cell.rjust(14) for cell in cells), flush=True)


def _measured(number: int, changed: dict[str, float | str]) -> list[float]:
    """One figure for each question of a conversation."""
    talk, found = TALKS[number], []
    settings = replace(Settings(), **changed)  # type: ignore[arg-type]
    for question, query in talk.asked:
        hits = rank(talk.memory, query, settings, first=RANKED).first_hits(RANKED)
        if question.evidence:
            found.append(metrics.recall_at([str(hit.utterance.id) for hit in hits], question.evidence, 10))
        else:
            found.append(metrics.any_at([str(hit.utterance.thread) for hit in hits], question.evidence_threads, 5))
    return found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, help="LoCoMo's format or the neutral recall-set format")
    parser.add_argument("--cache", type=Path, help="folder that keeps the vectors between runs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
