"""Calibrate θ of Eq. 1 for an embedder: how high is the F_score of strangers?

    bench/scripts/calibrate_theta.sh DATA... [--seed N]

For every page of the data its F_score is taken twice: against a segment of the pages just before it in its thread
(neighbours), and against one of as many consecutive pages of another conversation (strangers). θ is where 95 of 100
strangers stay out of a segment of eight pages: joining what does not belong spoils a segment, opening one too many
costs little. Both embedders that need no network are measured.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import TYPE_CHECKING

import numpy as np

from embermem.analysts import keywords
from embermem.core.equations import cosine, f_score, jaccard
from embermem.core.paging import PageTail, joins
from embermem.core.types import PageId
from embermem.core.vectors import page_vector
from embermem.embedders.hashed import HashedNgrams
from embermem.embedders.minilm import MiniLM
from embermem.protocols import Embedder
from embermem_bench.datasets import Conversation, Thread, load

if TYPE_CHECKING:
    from embermem.core.types import Vector

SIZES = (1, 3, 8)
KEYWORDS = 8
STAY_OUT = 95


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A page with what placing looks at."""

    vector: Vector
    keywords: frozenset[str]


def pages(thread: Thread) -> list[list[str]]:
    """The texts of a thread's pages."""
    made: list[list[str]] = []
    tail: PageTail | None = None
    for turn in thread.turns:
        if not joins(tail, turn.role):
            made.append([])
            tail = PageTail(page_id=PageId(str(len(made))), answered=False)
        made[-1].append(turn.text)
        tail = PageTail(page_id=PageId(str(len(made))), answered=turn.role.agent_side or bool(tail and tail.answered))
    return made


def pieces(conversation: Conversation, embedder: Embedder) -> list[list[Piece]]:
    """Each thread's pages, embedded."""
    threads = [pages(thread) for thread in conversation.threads]
    vectors = iter(embedder.embed([text for thread in threads for page in thread for text in page]))
    return [
        [
            Piece(
                vector=page_vector(np.stack([next(vectors) for _ in page])),
                keywords=frozenset(keywords("\n".join(page), KEYWORDS)),
            )
            for page in thread
        ]
        for thread in threads
    ]


def score(segment: Sequence[Piece], page: Piece) -> float:
    """Eq. 1 of a page against a segment of these pages."""
    words = frozenset[str]().union(*(piece.keywords for piece in segment))
    vector = np.sum([piece.vector for piece in segment], axis=0)
    return f_score(cosine(vector, page.vector), jaccard(words, page.keywords))


def pairs(
    conversations: Sequence[Sequence[Sequence[Piece]]], size: int, chance: random.Random
) -> Iterator[tuple[float, float]]:
    """(with its neighbours, with strangers) for each page that has `size` pages before it."""
    for own in conversations:
        others = [thread for other in conversations if other is not own for thread in other if len(thread) >= size]
        for thread in own if others else ():
            for place in range(size, len(thread)):
                strange = chance.choice(others)
                start = chance.randrange(len(strange) - size + 1)
                page = thread[place]
                yield score(thread[place - size : place], page), score(strange[start : start + size], page)


def report(embedder: Embedder, data: Iterable[Conversation], seed: int) -> Iterator[str]:
    """One line a size."""
    conversations = [pieces(conversation, embedder) for conversation in data]
    for size in SIZES:
        near, far = zip(*pairs(conversations, size, random.Random(seed)), strict=True)
        theta = quantiles(far, n=100)[STAY_OUT - 1]
        joined = sum(one > theta for one in near) / len(near)
        yield (
            f"{embedder.name:<18} {size:>2} pages: neighbours {median(near):.2f}, strangers {median(far):.2f}; "
            f"θ where {STAY_OUT} % of strangers stay out {theta:.2f}, "
            f"joined by {joined:.0%} of neighbours ({len(near)} pages)"
        )


def main() -> None:
    """Print the figures of docs/concepts/how-it-works.md."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("data", nargs="+")
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()
    data = [conversation for path in given.data for conversation in load(path).conversations]
    for embedder in (MiniLM(), HashedNgrams()):
        for line in report(embedder, data, given.seed):
            print(line, flush=True)


if __name__ == "__main__":
    main()
