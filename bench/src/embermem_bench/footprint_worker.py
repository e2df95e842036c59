"""One measurement of `embermem bench footprint`, in a process of its own: `python footprint_worker.py` and a task.

The parent starts this file with one of two versions of Ember on PYTHONPATH. Therefore it imports the standard library,
numpy and what both versions offer: the public face of `embermem`, and `bootstrap.make_embedder`, where an embedder of
our own is handed in. It never imports `embermem_bench`. A task is one JSON object in one line with `task`, the name of
a function below, and its arguments; the figures are one JSON object, the last line of stdout.
"""

from __future__ import annotations

import ctypes
import gc
import json
import re
import resource
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from itertools import cycle, groupby, islice
from pathlib import Path
from typing import Any

import numpy as np

CHUNK, LARGE_CHUNK = 500, 10_000
"""Utterances stored and settled at once, and stored and embedded at once."""
AGENT = "bench"
E5 = "multilingual-e5-small+ember-1"
"""The embedder whose form drawn vectors have; a store that is filled with them is searched with the real one."""
DIM, TOKEN_DIM = 384, 128
POOL = 4096
"""Vectors that texts draw from, and a sixteenth of the tokens."""
LIKE = 0.5
"""Share of a word in a drawn vector, beside noise: texts that share it are somewhat alike."""
SETTLED_PAGES = 50
"""Pages added and settled at once, and texts embedded beside them."""


# ------------------------------------------------------------------------------------------------------------ filling


def fill(store: str, corpus: str, utterances: int, embedder: str, settled: int) -> dict[str, Any]:
    """Store the first `utterances` of a corpus, from where an earlier call stopped.

    `embedder`: `drawn`, or a setting. The first `settled` are settled; those after them get vectors, but are neither
    read nor placed.
    """
    worked, ended = time.process_time(), []
    with _memory(store, embedder) as memory:
        held = memory.stats().utterances
        said = islice(_lines(corpus), held, utterances)
        while True:
            whole = held < settled
            if not whole:
                _only_embed()
            if not (chunk := list(islice(said, min(CHUNK, settled - held) if whole else LARGE_CHUNK))):
                break
            touched = {}
            for (user, thread), messages in groupby(chunk, lambda one: (one["owner"], one["thread"])):
                touched[user] = owner = memory.of(user, agent=AGENT)
                owner.add_messages([one["message"] for one in messages], thread=thread)
            for owner in touched.values():
                owner.settle()
            held += len(chunk)
            ended.append(datetime.now().astimezone().isoformat())
        stats = memory.stats()
    return {
        "utterances": stats.utterances,
        "pages": stats.pages,
        "settled": min(settled, stats.utterances),
        "cpu_s": time.process_time() - worked,
        "ended": ended,
    }


def _only_embed() -> None:
    """Leave out of settling all that is not embedding. Raises AttributeError where the steps have other names."""
    from embermem.memoryos.ingest import pipeline

    for step in ("annotate", "place", "promote", "make_room", "redo"):
        if not hasattr(pipeline, step):
            raise AttributeError(f"embermem.memoryos.ingest.pipeline has no step {step}")
        setattr(pipeline, step, lambda claim: False)


def _lines(corpus: str) -> Iterator[dict[str, Any]]:
    with open(corpus, encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


# ------------------------------------------------------------------------------------------------------------- waking


def wake(store: str, user: str, embedder: str, asked: Sequence[str], seconds: float) -> dict[str, Any]:
    """Open, first recall of a process, and warm recalls and searches, of one owner, in milliseconds (wall, processor).

    The first half of `asked` is asked again and again, its vectors known; the other once, with its embedding. The model
    is loaded before the first recall, by a question to an owner who has no memory.
    """
    from embermem import Memory, bootstrap  # noqa: F401  # importing is not opening

    again, once = asked[: len(asked) // 2], asked[len(asked) // 2 :]
    made: list[Any] = []
    opened = _timed(lambda where: made.append(_memory(where, embedder)), store)
    with made[0] as memory:
        owner, nobody = memory.of(user, agent=AGENT), memory.of("nobody", agent=AGENT)
        nobody.recall(once[0])
        embed = [_timed(nobody.search, text) for text in again]
        first = _timed(owner.recall, again[0])
        return {
            "open": [opened],
            "first": [first],
            "recall": _rounds(owner.recall, again, seconds / 3),
            "search": _rounds(owner.search, again, seconds / 3),
            "query": _rounds(owner.search, once[1:], seconds / 3, again=False),
            "embed": embed,
        }


def resident(store: str, users: Sequence[str], warm: str, embedder: str, question: str) -> dict[str, Any]:
    """What memory the first recall of these owners adds to a process in which another owner's was recalled."""
    with _memory(store, embedder) as memory:
        memory.of(warm, agent=AGENT).recall(question)
        before, estimate = _resident(), memory.resident_bytes
        taken = [_timed(memory.of(user, agent=AGENT).recall, question) for user in users]
        after = _resident()
        return {
            "utterances": sum(memory.of(user, agent=AGENT).stats().utterances for user in users),
            "grown": {name: after[name] - before[name] for name in after},
            "estimate": memory.resident_bytes - estimate,
            "first": taken,
        }


def _rounds(
    call: Callable[[str], object], asked: Sequence[str], seconds: float, *, again: bool = True
) -> list[tuple[float, float]]:
    """Wall and processor milliseconds of each call, until the time is over; each of the first ten in any case."""
    until, taken = time.monotonic() + seconds, []
    for number, text in enumerate(cycle(asked)):
        if (number >= len(asked) and not again) or (number >= 10 and time.monotonic() > until) or number >= 400:
            break
        taken.append(_timed(call, text))
    return taken


def _resident() -> dict[str, int]:
    """Bytes of this process in memory: private ones, and those of mapped files; `peak` alone where none are told."""
    gc.collect()
    if not sys.platform.startswith("linux"):
        return {"peak": _peak()}
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # glibc keeps what is freed
        trim(0)
    status = _fields("/proc/self/status")
    return {"anon": status["RssAnon"], "file": status["RssFile"], "pss": _fields("/proc/self/smaps_rollup")["Pss"]}


def _fields(file: str) -> dict[str, int]:
    found = (re.match(r"(\w+):\s+(\d+) kB", line) for line in Path(file).read_text(encoding="ascii").splitlines())
    return {match[1]: 1024 * int(match[2]) for match in found if match is not None}


def _peak() -> int:
    if sys.platform.startswith("linux"):
        return _fields("/proc/self/status")["VmHWM"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


# ------------------------------------------------------------------------------------------------------------- writing


def add(store: str, number: int, corpus: str) -> dict[str, Any]:
    """One process that adds an exchange a call. After each line on stdin with the users and the seconds it says that it
    is ready, waits for another line, and adds to these users in turn; the end of stdin ends it."""
    pairs = cycle(list(_pairs(corpus, 1000)))
    with _memory(store, "hashed") as memory:
        while line := sys.stdin.readline():
            task = json.loads(line)
            owners = [memory.of(user, agent=AGENT) for user in task["users"]]
            owners[0].add(*next(pairs), thread=f"process {number}")
            _say("ready")
            sys.stdin.readline()
            taken: list[tuple[float, float]] = []
            began = time.perf_counter()
            for owner in cycle(owners):
                if time.perf_counter() - began >= task["seconds"]:
                    break
                taken.append(_timed(partial(_add, owner, f"process {number}"), next(pairs)))
            _say({"seconds": time.perf_counter() - began, "taken": taken})
    return {}


def _add(owner: Any, thread: str, pair: tuple[str, str]) -> None:
    owner.add(*pair, thread=thread)


def settle(store: str, corpus: str, embedder: str, seconds: float) -> dict[str, Any]:
    """Pages settled a second, and texts embedded in turn with them, in the batches that settling uses."""
    pairs, pages = _pairs(corpus, 10**9), 0
    wall = cpu = embed_wall = embed_cpu = 0.0
    until = time.monotonic() + seconds
    with _memory(store, embedder) as memory:
        owner, batch = memory.of("settled", agent=AGENT), memory.settings.embed_batch
        memory.embed(["the first call loads the model"])
        while not pages or time.monotonic() < until:
            some, spare = list(islice(pairs, SETTLED_PAGES)), list(islice(pairs, SETTLED_PAGES))
            if len(spare) < SETTLED_PAGES:
                break
            owner.add_messages([message for pair in some for message in _messages(pair)])
            taken = _timed(lambda _: owner.settle(), "")
            wall, cpu, pages = wall + taken[0], cpu + taken[1], pages + len(some)
            texts = [text for pair in spare for text in pair]
            for start in range(0, len(texts), batch):
                taken = _timed(memory.embed, texts[start : start + batch])
                embed_wall, embed_cpu = embed_wall + taken[0], embed_cpu + taken[1]
    return {
        "pages": pages,
        "pages_per_s": 1000 * pages / wall,
        "pages_per_cpu_s": 1000 * pages / cpu,
        "of_embedder": embed_wall / wall,
        "of_embedder_cpu": embed_cpu / cpu,
    }


def past(store: str, user: str, embedder: str, as_of: str, pages: int, forgotten: int) -> dict[str, Any]:
    """Reads of single pages, now and as of a time; then some pages are forgotten, one by one, for good."""
    moment = datetime.fromisoformat(as_of)
    with _memory(store, embedder) as memory:
        owner = memory.of(user, agent=AGENT)
        ids = [page.id for page in owner.pages()]
        settled = ids[: max(1, len(ids) // 3)]
        chosen = settled[:: max(1, len(settled) // pages)][:pages]
        owner.page(chosen[0])
        first_as_of = _timed(lambda one: owner.page(one, as_of=moment), chosen[0])
        plain, then = [], []
        for one in chosen:
            plain.append(_timed(owner.page, one))
            then.append(_timed(lambda one: owner.page(one, as_of=moment), one))
        owner.search("What was said about it?")  # what is in memory has to follow
        forget = [_timed(lambda one: owner.forget(page=one), one) for one in chosen[1 : 1 + forgotten]]
        scrub = _timed(lambda _: memory.scrub(), "")
    return {
        "pages": len(ids),
        "plain": plain,
        "as_of": then,
        "first_as_of": first_as_of,
        "forget": forget,
        "scrub": scrub,
    }


def _pairs(corpus: str, count: int) -> Iterator[tuple[str, str]]:
    """What was asked and answered, a page each."""
    texts = (one["message"]["content"] for one in islice(_lines(corpus), 2 * count))
    return zip(texts, texts, strict=False)


def _messages(pair: tuple[str, str]) -> list[dict[str, str]]:
    return [{"role": "user", "content": pair[0]}, {"role": "assistant", "content": pair[1]}]


# ------------------------------------------------------------------------------------------------------------ embedders


def _memory(store: str, embedder: str) -> Any:
    """The store with this embedder: `drawn`, or a setting."""
    from embermem import Memory, bootstrap

    if embedder == "drawn":
        # The one module that names the parts is the one place to hand in an embedder.
        bootstrap.make_embedder = lambda name, settings, known_dim=None: Drawn()
        embedder = "e5"
    return Memory(store, background=False, model="", embedder=embedder)


class Drawn:
    """Vectors of the form of e5, drawn by the text: unit vectors, the same in every process.

    A text's vector is drawn about that of its longest word. One token a word, out of a pool.
    """

    name, dim, token_dim = E5, DIM, TOKEN_DIM

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self._vectors = _unit(rng.standard_normal((POOL, DIM), dtype=np.float32))
        self._tokens = _unit(rng.standard_normal((16 * POOL, TOKEN_DIM), dtype=np.float32))

    def embed(self, texts: Sequence[str]) -> Any:
        """Shape (len(texts), 384)."""
        vectors = np.zeros((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            drawn, word = zlib.crc32(text.encode()), max(re.findall(r"\w+", text.lower()), key=len, default="")
            about = LIKE * self._vectors[zlib.crc32(word.encode()) % POOL] + (1.0 - LIKE) * self._vectors[drawn % POOL]
            vectors[row] = _unit(about)
        return vectors

    def embed_tokens(self, texts: Sequence[str]) -> tuple[Any, list[Any]]:
        """The same, and tokens."""
        from embermem.protocols import TokenVectors

        made = []
        for text in texts:
            words = tuple(re.findall(r"\w+", text.lower()))
            drawn = np.arange(len(words)) + zlib.crc32(text.encode())
            made.append(TokenVectors(words=words, vectors=self._tokens.take(drawn, axis=0, mode="wrap")))
        return self.embed(texts), made

    def embed_query(self, text: str) -> tuple[Any, Any]:
        """The vector and the tokens of one text."""
        vectors, tokens = self.embed_tokens([text])
        return vectors[0], tokens[0]


def _unit(vectors: Any) -> Any:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def _say(told: object) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def _timed(call: Callable[[Any], object], argument: Any) -> tuple[float, float]:
    """Milliseconds of wall and of processor time."""
    worked, began = time.process_time(), time.perf_counter()
    call(argument)
    return 1000 * (time.perf_counter() - began), 1000 * (time.process_time() - worked)


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    one.__name__: one for one in (fill, wake, resident, add, settle, past)
}


def main() -> None:
    """Do the task on the first line of stdin."""
    arguments = json.loads(sys.stdin.readline())
    figures = TASKS[arguments.pop("task")](**arguments)
    _say(figures)


if __name__ == "__main__":
    main()
