"""`embermem bench speed` and `bench embed`: what an add, a search and a vector cost, on made-up talk.

Bounded in time: when the seconds are spent, what was measured so far is reported, marked `complete: false`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from embermem_bench import ProgressFn
from embermem_bench.metrics import percentile
from embermem_bench.synthetic import Exchange, exchanges, queries

if TYPE_CHECKING:
    from embermem.memory import OwnerMemory
    from embermem.protocols import Embedder

CHUNK_PAGES = 250
"""Pages stored and settled at once, between two looks at the clock."""
COMPARED_TEXTS = 128
"""Texts given to the bare embedder after each chunk, so that both see the same load of the machine."""
SAMPLES = 40
"""Adds and searches timed at each size."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """What was measured with `pages` pages in the store, in milliseconds."""

    pages: int
    add_ms_p50: float
    add_ms_p95: float
    query_ms_p50: float
    search_ms_p50: float
    search_ms_p95: float


@dataclass(frozen=True, kw_only=True, slots=True)
class SpeedReport:
    """`ratio` is texts ingested (added, embedded, consolidated) per second over the bare embedder's in batches."""

    embedder: str
    preset: str
    seed: int
    points: tuple[Point, ...]
    pages: int
    ingest_pages_per_s: float
    ingest_texts_per_s: float
    embedder_texts_per_s: float
    ratio: float
    complete: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbedReport:
    """What one text costs alone, and how many a second pass in batches."""

    embedder: str
    single_ms_p50: float
    single_texts_per_s: float
    batch: int
    batch_texts_per_s: float


def run(
    folder: Path,
    embedder: Embedder,
    *,
    sizes: Sequence[int] = (50, 500, 5000),
    seconds: float = 240.0,
    seed: int = 0,
    preset: str | None = None,
    told: ProgressFn = lambda what, done, total: None,
    **settings: Any,
) -> SpeedReport:
    """Fills a store in `folder` up to each size in turn and measures there. `embedder` is the one the store uses."""
    from embermem.memory import Memory

    until = time.monotonic() + seconds
    talk, spare = exchanges(seed), exchanges(seed + 1)
    rate = _Rate(embedder, spare)
    points: list[Point] = []
    complete = True
    with Memory(folder / "speed.db", preset=preset, **{"background": False, **settings}) as memory:
        owner = memory.of("speed", agent="bench")
        rate.batch = memory.settings.embed_batch
        rate.compare()
        rate.texts, rate.embed_s = 0, 0.0  # the first call loads the model
        for size in sorted(set(sizes)):
            complete = rate.fill(owner, talk, size, until, told)
            if not complete:
                break
            told(f"measuring at {size} pages", size, max(sizes))
            points.append(_measure(owner, talk, size, seed))
        report = SpeedReport(
            embedder=memory.embedder_name,
            preset=memory.settings.preset,
            seed=seed,
            points=tuple(points),
            pages=owner.stats().pages,
            ingest_pages_per_s=_per_second(rate.pages, rate.ingest_s),
            ingest_texts_per_s=_per_second(2 * rate.pages, rate.ingest_s),
            embedder_texts_per_s=_per_second(rate.texts, rate.embed_s),
            ratio=round(rate.ratio(), 3),
            complete=complete,
        )
    return report


def embed(embedder: Embedder, *, batch: int, seconds: float = 10.0, seed: int = 0) -> EmbedReport:
    """Half of the seconds on single texts, half on batches."""
    texts = _texts(exchanges(seed))
    embedder.embed(list(islice(texts, 8)))
    single: list[float] = []
    until = time.monotonic() + seconds / 2
    while time.monotonic() < until or not single:
        single.append(_seconds(embedder, list(islice(texts, 1))))
    spent, count = 0.0, 0
    until = time.monotonic() + seconds / 2
    while time.monotonic() < until or not count:
        spent += _seconds(embedder, list(islice(texts, batch)))
        count += batch
    return EmbedReport(
        embedder=embedder.name,
        single_ms_p50=round(1000 * (percentile(single, 0.5) or 0.0), 3),
        single_texts_per_s=_per_second(len(single), sum(single)),
        batch=batch,
        batch_texts_per_s=_per_second(count, spent),
    )


class _Rate:
    """Ingest and the bare embedder, timed in turns."""

    def __init__(self, embedder: Embedder, spare: Iterator[Exchange]) -> None:
        self._embedder, self._spare = embedder, _texts(spare)
        self.batch = COMPARED_TEXTS
        self.pages = self.texts = 0
        self.ingest_s = self.embed_s = 0.0

    def fill(self, owner: OwnerMemory, talk: Iterator[Exchange], size: int, until: float, told: ProgressFn) -> bool:
        """Stores and settles pages until there are `size`; False if the time was over before."""
        while (missing := size - owner.stats().pages) > 0:
            if time.monotonic() > until:
                return False
            chunk = list(islice(talk, min(missing, CHUNK_PAGES)))
            began = time.perf_counter()
            owner.add_messages([message for one in chunk for message in _messages(one)])
            owner.settle()
            self.ingest_s += time.perf_counter() - began
            self.pages += len(chunk)
            self.compare()
            told("filling", size - missing + len(chunk), size)
        owner.settle()
        return True

    def compare(self) -> None:
        """The bare embedder on as many fresh texts as are compared, in the batches that ingest uses."""
        texts = list(islice(self._spare, COMPARED_TEXTS))
        for start in range(0, len(texts), self.batch):
            self.embed_s += _seconds(self._embedder, texts[start : start + self.batch])
        self.texts += len(texts)

    def ratio(self) -> float:
        """Ingest over embedder, in texts per second."""
        if not (self.pages and self.texts and self.ingest_s and self.embed_s):
            return 0.0
        return (2 * self.pages / self.ingest_s) / (self.texts / self.embed_s)


def _measure(owner: OwnerMemory, talk: Iterator[Exchange], size: int, seed: int) -> Point:
    asked = queries(seed + size, SAMPLES)
    owner.search(asked[0])
    query_ms, search_ms = [], []
    for text in asked[1:]:
        query_ms.append(_timed(lambda text=text: owner.search(text)))  # type: ignore[misc]
        search_ms.append(_timed(lambda text=text: owner.search(text)))  # type: ignore[misc]
    add_ms = [_timed(lambda one=one: owner.add(one.query, one.response)) for one in islice(talk, SAMPLES)]  # type: ignore[misc]
    return Point(
        pages=size,
        add_ms_p50=_of(add_ms, 0.5),
        add_ms_p95=_of(add_ms, 0.95),
        query_ms_p50=_of(query_ms, 0.5),
        search_ms_p50=_of(search_ms, 0.5),
        search_ms_p95=_of(search_ms, 0.95),
    )


def _messages(one: Exchange) -> list[dict[str, object]]:
    return [{"role": "user", "content": one.query}, {"role": "assistant", "content": one.response}]


def _texts(talk: Iterator[Exchange]) -> Iterator[str]:
    return (text for one in talk for text in (one.query, one.response))


def _timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - began)


def _seconds(embedder: Embedder, texts: list[str]) -> float:
    return _timed(lambda: embedder.embed(texts)) / 1000


def _of(values: Sequence[float], share: float) -> float:
    return round(percentile(values, share) or 0.0, 3)


def _per_second(count: int, seconds: float) -> float:
    return round(count / seconds, 1) if seconds else 0.0
