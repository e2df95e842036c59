"""`embermem bench search`: what a search costs as one owner's memory grows, in time, memory and on disk.

The store is filled as always, but by an embedder that has the model's vectors for some hundred texts only and gives
every other text those of one of them: 100,000 real vectors would take minutes, and what scoring costs does not depend
on their values. Each size is measured in a process of its own, so that nothing is warm that would not be.

Bounded in time: when the seconds are spent, what was measured so far is reported, marked `complete: false`.
"""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
import time
import zlib
from bisect import bisect
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import groupby, islice
from multiprocessing import get_context
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from embermem.index.passages import passages
from embermem.protocols import TokenEmbedder, TokenVectors
from embermem_bench import ProgressFn
from embermem_bench.metrics import percentile
from embermem_bench.synthetic import Said, questions, talk

if TYPE_CHECKING:
    from embermem.core.types import Vector, Vectors
    from embermem.memory import OwnerMemory
    from embermem.protocols import Embedder

CHUNK_PAGES = 1000
"""Pages stored and settled at once, between two looks at the clock."""
QUESTIONS = 40
"""Questions asked at each size."""
ROUNDS = 3
"""How often each of them is asked."""
WORDS = (20, 60)
LONG_ANSWER_WORDS = (150, 400)


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchPoint:
    """What was measured with so many utterances of one owner; docs/research/bench.md says what each figure is."""

    utterances: int
    pages: int
    segments: int
    search_ms_p50: float
    search_ms_p95: float
    search_ms_least: float
    recall_ms_p50: float
    recall_ms_p95: float
    query_ms_p50: float
    embed_ms_p50: float
    embed_ms_p95: float
    cold_ms: float
    peak_rss_bytes: int
    rss_bytes_per_utterance: int
    resident_bytes_per_utterance: int
    disk_bytes_per_utterance: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchReport:
    """`pool` is how many texts have vectors of their own."""

    embedder: str
    preset: str
    seed: int
    pool: int
    words: tuple[int, int]
    answer_words: tuple[int, int]
    points: tuple[SearchPoint, ...]
    fill_utterances_per_s: float
    complete: bool


def run(
    folder: Path,
    embedder: Embedder,
    *,
    sizes: Sequence[int] = (1000, 10_000, 100_000),
    seconds: float = 600.0,
    seed: int = 0,
    answer_words: tuple[int, int] = WORDS,
    vocabulary: Sequence[str] = (),
    pool: int = 1500,
    preset: str | None = None,
    told: ProgressFn = lambda what, done, total: None,
    **settings: Any,
) -> SearchReport:
    """Fills a store in `folder` with one owner up to each size (in utterances) in turn, and measures there.

    `embedder` is the one the store uses. The assistant answers with `answer_words`, from and to. `vocabulary` in the
    order of frequency; none: made-up words.
    """
    from embermem.memory import Memory

    until = time.monotonic() + seconds
    vocabulary = vocabulary or made_up_words()
    path, pages = folder / "search.db", talk(seed, vocabulary, words=WORDS, answer_words=answer_words)
    settings = {"background": False, **settings}
    told(f"embedding {pool} texts", 0, pool)
    filler = pooled(
        embedder, _texts(islice(talk(seed + 1, vocabulary, words=WORDS, answer_words=answer_words), pool // 2))
    )
    points: list[SearchPoint] = []
    held, spent, complete = 0, 0.0, True
    with Memory(path, preset=preset, **settings) as memory:
        name, chosen = memory.embedder_name, memory.settings.preset
    for size in sorted(set(sizes)):
        began = time.monotonic()
        filled = _fill(path, filler, pages, held, size, until, told, preset, settings)
        spent, held, before = spent + time.monotonic() - began, filled, held
        complete = held >= size
        if held > before:
            told(f"measuring at {held} utterances", held, max(sizes))
            points.append(_apart(path, questions(seed, vocabulary, 2 * QUESTIONS), preset, settings))
        if not complete:
            break
    return SearchReport(
        embedder=name,
        preset=chosen,
        seed=seed,
        pool=pool if filler is not embedder else 0,
        words=WORDS,
        answer_words=answer_words,
        points=tuple(points),
        fill_utterances_per_s=round(held / spent, 1) if spent else 0.0,
        complete=complete,
    )


def made_up_words() -> tuple[str, ...]:
    """Words of our own syllables, where there are none better."""
    syllables = [a + b for a in "bdfgklmnprst" for b in ("a", "e", "i", "o", "u", "an", "el", "or")]
    return tuple(a + b for a in syllables for b in syllables)


# --------------------------------------------------------------------------------------------------------- the filling


def pooled(embedder: Embedder, texts: Sequence[str]) -> Embedder:
    """An embedder of the same name that knows the vectors of these texts only; one without token vectors stays as it
    is, because it is quick enough."""
    return Pooled(embedder, texts) if isinstance(embedder, TokenEmbedder) else embedder


class Pooled:
    """Gives a text the vectors of a text of about its length, chosen by its hash."""

    def __init__(self, embedder: TokenEmbedder, texts: Sequence[str]) -> None:
        texts = sorted(texts, key=len)
        self.name, self.dim, self.token_dim = embedder.name, embedder.dim, embedder.token_dim
        self._lengths = [len(text) for text in texts]
        self._vectors, self._tokens = embedder.embed_tokens(texts)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dim)."""
        return np.asarray(self._vectors[[self._place(text) for text in texts]])

    def embed_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[TokenVectors]]:
        """The same, and tokens."""
        places = [self._place(text) for text in texts]
        return np.asarray(self._vectors[places]), [self._tokens[place] for place in places]

    def embed_query(self, text: str) -> tuple[Vector, TokenVectors]:
        """The same of one text."""
        place = self._place(text)
        return self._vectors[place], self._tokens[place]

    def _place(self, text: str) -> int:
        first = max(0, min(bisect(self._lengths, len(text)) - _ALIKE // 2, len(self._lengths) - _ALIKE))
        return first + zlib.crc32(text.encode()) % min(_ALIKE, len(self._lengths))


_PASSAGES = 2
"""Of each text in the pool so many passages at most."""
_ALIKE = 128
"""Texts of the pool that a text's vectors are chosen from: those nearest to its length."""


def _fill(
    path: Path,
    filler: Embedder,
    pages: Iterator[Said],
    held: int,
    size: int,
    until: float,
    told: ProgressFn,
    preset: str | None,
    settings: Mapping[str, Any],
) -> int:
    """Stores and settles until there are `size` utterances or the time is over; how many there are."""
    from embermem import bootstrap
    from embermem.memory import Memory

    with Memory(path, preset=preset, **settings) as memory:
        owner = _owner(memory)
        store = bootstrap.open_store(path, memory.settings)
        try:
            system = bootstrap.make_system(store, filler, memory.settings, bootstrap.wall_clock)
            while held < size and time.monotonic() < until:
                chunk = list(islice(pages, min(CHUNK_PAGES, -(-(size - held) // 2))))
                for thread, exchanges in groupby(chunk, attrgetter("thread")):
                    owner.add_messages([message for said in exchanges for message in _messages(said)], thread=thread)
                system.settle(owner.owner)
                held += 2 * len(chunk)
                told("filling", held, size)
        finally:
            store.close()
    return held


def _owner(memory: Any) -> OwnerMemory:
    return memory.of("search", agent="bench")  # type: ignore[no-any-return]


def _messages(said: Said) -> list[dict[str, object]]:
    return [
        {"role": "user", "content": said.query, "at": said.at},
        {"role": "assistant", "content": said.response, "at": said.at},
    ]


def _texts(pages: Iterator[Said]) -> list[str]:
    """The texts that the embedder is given, of long ones the first passages only: all are of about one length."""
    texts = (text for said in pages for text in (said.query, said.response))
    return [text[start:end] for text in texts for start, end in passages(text)[:_PASSAGES]]


# ------------------------------------------------------------------------------------------------------- the measuring


def _apart(path: Path, asked: Sequence[str], preset: str | None, settings: Mapping[str, Any]) -> SearchPoint:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:
        return other.submit(measure, path, asked, preset, settings).result()


def measure(path: Path, asked: Sequence[str], preset: str | None, settings: Mapping[str, Any]) -> SearchPoint:
    """The figures of the store at `path`; the first half of the questions is asked again and again, the other once."""
    from embermem.memory import Memory

    again, once = asked[: len(asked) // 2], asked[len(asked) // 2 :]
    with Memory(path, preset=preset, **settings) as memory:
        owner, nobody = _owner(memory), memory.of("nobody", agent="bench")
        nobody.search(once[0])  # loads the model and the modules
        # With an owner who has no memory nothing is left of a search but its vector, which stays in the query cache.
        embed_ms = [_timed(nobody.search, text) for text in again]
        empty = _rss()
        cold_ms = _timed(owner.search, again[0])
        grown = _rss() - empty
        search_ms = [_timed(owner.search, text) for _ in range(ROUNDS) for text in again]
        recall_ms = [_timed(owner.recall, text) for text in again]
        query_ms = [_timed(owner.search, text) for text in once[1:]]
        peak = _peak_rss()
        stats = owner.stats()
        resident = memory.resident_bytes  # of the owner, and of nobody, who has nothing
    n = stats.utterances
    return SearchPoint(
        utterances=n,
        pages=stats.pages,
        segments=stats.segments + stats.archived_segments,
        search_ms_p50=_of(search_ms, 0.5),
        search_ms_p95=_of(search_ms, 0.95),
        search_ms_least=round(min(search_ms), 3),
        recall_ms_p50=_of(recall_ms, 0.5),
        recall_ms_p95=_of(recall_ms, 0.95),
        query_ms_p50=_of(query_ms, 0.5),
        embed_ms_p50=_of(embed_ms, 0.5),
        embed_ms_p95=_of(embed_ms, 0.95),
        cold_ms=round(cold_ms, 1),
        peak_rss_bytes=peak,
        rss_bytes_per_utterance=grown // n,
        resident_bytes_per_utterance=resident // n,
        disk_bytes_per_utterance=sum(file.stat().st_size for file in path.parent.glob(path.name + "*")) // n,
    )


def _timed(call: Callable[[str], object], text: str) -> float:
    began = time.perf_counter()
    call(text)
    return 1000 * (time.perf_counter() - began)


def _of(values: Sequence[float], share: float) -> float:
    return round(percentile(values, share) or 0.0, 3)


def _rss() -> int:
    """Bytes of this process in memory now, without what was freed; 0 where the system does not say."""
    gc.collect()
    if not sys.platform.startswith("linux"):
        return 0
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # glibc keeps what is freed
        trim(0)
    return _status("VmRSS")


def _peak_rss() -> int:
    """The most bytes of this process that ever were in memory."""
    if sys.platform.startswith("linux"):
        return _status("VmHWM")  # ru_maxrss would be the parent's, if that is larger
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name + ":"):
            return 1024 * int(line.split()[1])
    return 0
