"""The systems that are compared, each behind the same two calls. Every one is given the same texts and vectors.

An import of a peer stands where the peer is made: a system that is not asked for need not be installed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from chroma_store import chroma

from embermem.embedders.e5 import DIM, E5
from embermem_bench.datasets import Turn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from embermem.core.types import Vectors

NOWHERE = "http://127.0.0.1:9/v1"
"""Where mem0's language model would be: it is never called with infer=False, and measure.py refuses all calls."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """One utterance. `place` counts the utterances of its conversation from 0, in file order."""

    turn: Turn
    thread: str
    place: int

    @property
    def text(self) -> str:
        """What a system without a field for the speaker is given."""
        return spoken(self.turn)


def spoken(turn: Turn) -> str:
    """An utterance as one text."""
    return f"{turn.speaker}: {turn.text}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Hidden:
    """What a question in mid-conversation may not see: places from `since` on, and the thread it is asked in."""

    since: int
    thread: str


class System(Protocol):
    """A memory of several users."""

    def store(self, user: str, threads: Sequence[Sequence[Item]]) -> None:
        """Keep all of a user's conversation, thread by thread, and do what is to be done before it is asked."""

    def search(self, user: str, query: str, hidden: Hidden | None, k: int) -> list[str]:
        """The turn ids of the best k utterances of this user, best first, none of them hidden."""

    def close(self) -> None:
        """Let go of files."""


class Known(E5):
    """e5 that knows the vectors of texts embedded beforehand; a text it does not know is embedded and counted."""

    def __init__(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        super().__init__()
        self._vectors = vectors
        self.unforeseen = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As e5's. White space at the ends of a text has no part in its vector."""
        keys = [text.strip() for text in texts]
        new = [key for key in dict.fromkeys(keys) if key not in self._vectors]
        self.unforeseen += len(new)
        made = dict(zip(new, super().embed(new), strict=True))
        found = [self._vectors[key] if key in self._vectors else made[key] for key in keys]
        return np.stack(found) if found else np.zeros((0, DIM), np.float32)

    def lists(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors as lists of floats, which LangGraph's and mem0's types ask for."""
        lists: list[list[float]] = self.embed(texts).tolist()
        return lists


# -------------------------------------------------------------------------------------------------------- floors


class Bm25:
    """Ember's BM25 over "Speaker: text", in memory, and nothing else."""

    def __init__(self, folder: Path, embedder: Known) -> None:
        from embermem.core.config import Settings
        from embermem.index.bm25 import Postings

        self._k_1, self._b = Settings().k_1, Settings().b
        self._new = Postings
        self._postings: dict[str, Postings] = {}
        self._items: dict[str, list[Item]] = {}

    def store(self, user: str, threads: Sequence[Sequence[Item]]) -> None:
        from embermem.languages.words import terms

        postings = self._postings[user] = self._new()
        items = self._items[user] = [item for thread in threads for item in thread]
        for item in items:
            postings.add_all([terms(item.text)])

    def search(self, user: str, query: str, hidden: Hidden | None, k: int) -> list[str]:
        from embermem.languages.words import terms

        n = len(self._items[user]) if hidden is None else hidden.since
        scores = self._postings[user].scores(dict.fromkeys(terms(query), 1.0), n, self._k_1, self._b)
        return _best(self._items[user], np.where(scores > 0, scores, -np.inf), hidden, k)

    def close(self) -> None:
        pass


class Dense:
    """The cosine of every vector of "Speaker: text" with the query's, in memory, and nothing else."""

    def __init__(self, folder: Path, embedder: Known) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}
        self._items: dict[str, list[Item]] = {}

    def store(self, user: str, threads: Sequence[Sequence[Item]]) -> None:
        items = self._items[user] = [item for thread in threads for item in thread]
        self._vectors[user] = self._embedder.embed([item.text for item in items])

    def search(self, user: str, query: str, hidden: Hidden | None, k: int) -> list[str]:
        return _best(self._items[user], self._vectors[user] @ self._embedder.embed([query])[0], hidden, k)

    def close(self) -> None:
        pass


def _best(items: Sequence[Item], scores: Any, hidden: Hidden | None, k: int) -> list[str]:
    order = (int(row) for row in np.argsort(-scores, kind="stable") if np.isfinite(scores[row]))
    seen = (items[row] for row in order if hidden is None or _visible(items[row], hidden))
    return [item.turn.id for item, _ in zip(seen, range(k), strict=False)]


def _visible(item: Item, hidden: Hidden) -> bool:
    return item.place < hidden.since and item.thread != hidden.thread


# --------------------------------------------------------------------------------------------------------- Ember


class Ember:
    """Ember as a user has it, in one SQLite file: speaker, time and thread in fields of their own."""

    def __init__(self, folder: Path, embedder: Known, *, preset: str) -> None:
        from embermem import Memory, bootstrap

        # The one module that names the parts is the one place to hand in vectors that are known beforehand.
        bootstrap.make_embedder = lambda name, settings, known_dim=None: embedder
        self._memory = Memory(folder / "memory.db", preset=preset, embedder="e5", background=False)
        self._seqs: dict[str, dict[int, int]] = {}
        self._turns: dict[str, dict[str, str]] = {}

    def store(self, user: str, threads: Sequence[Sequence[Item]]) -> None:
        owner = self._memory.of(user, timezone="UTC")
        places: dict[str, int] = {}
        turns = self._turns[user] = {}
        for thread in threads:
            added = owner.add_messages([self._message(item.turn) for item in thread], thread=thread[0].thread)
            turns |= {id: item.turn.id for id, item in zip(added.utterance_ids, thread, strict=True)}
            places |= {id: item.place for id, item in zip(added.utterance_ids, thread, strict=True)}
        owner.settle()
        self._seqs[user] = {places[u.id]: u.seq for page in owner.pages() for u in page.utterances}

    def search(self, user: str, query: str, hidden: Hidden | None, k: int) -> list[str]:
        from embermem.core.types import Scope, ThreadId

        scope = hidden and Scope(
            before_seq=self._seqs[user][hidden.since], not_threads=frozenset({ThreadId(hidden.thread)})
        )
        turns = self._turns[user]
        return [turns[hit.utterance.id] for hit in self._memory.of(user).search(query, k=k, scope=scope)]

    def close(self) -> None:
        self._memory.close()

    def _message(self, turn: Turn) -> dict[str, object]:
        return {"role": str(turn.role), "content": turn.text, "name": turn.speaker, "at": turn.at}


# --------------------------------------------------------------------------------------------------------- peers


class Mem0:
    """mem0 with infer=False: its default local store (Qdrant in a folder), one `add` an utterance."""

    def __init__(self, folder: Path, embedder: Known) -> None:
        from mem0 import Memory
        from mem0.embeddings.base import EmbeddingBase

        class Ours(EmbeddingBase):
            def embed(self, text: str, memory_action: str | None = None) -> list[float]:
                return embedder.lists([text])[0]

        nobody = {"api_key": "none", "openai_base_url": NOWHERE}
        self._memory = Memory.from_config(
            {
                "vector_store": {"config": {"path": str(folder / "qdrant"), "embedding_model_dims": DIM}},
                "llm": {"provider": "openai", "config": nobody},
                "embedder": {"provider": "openai", "config": {**nobody, "embedding_dims": DIM}},
                "history_db_path": str(folder / "history.db"),
            }
        )
        # Its list of providers is closed; `langchain` would ask for one more package for the same thing.
        self._memory.embedding_model = Ours(self._memory.embedding_model.config)

    def store(self, user: str, threads: Sequence[Sequence[Item]]) -> None:
        for item in (item for thread in threads for item in thread):
            self._memory.add(
                [{"role": str(item.turn.role), "content": item.text}],
                user_id=user,
                metadata={"turn": item.turn.id, "thread": item.thread, "place": item.place},
                infer=False,
            )

    def search(self, user: str, query: str, hidden: Hidden | None, k: int) -> list[str]:
        filters: dict[str, Any] = {"user_id": user}
        if hidden is not None:
            filters |= {"place": {"lt": hidden.since}, "thread": {"ne": hidden.thread}}
        found = self._memory.search(query, top_k=k, filters=filters)
        return [memory["metadata"]["turn"] for memory in found["results"]]

    def close(self) -> None:
        self._memory.close()
        self._memory.vector_store.client.close()


class Chroma:
    """Chroma on disk (PersistentClient), one collection a user, one `add` a thread."""

    def __init__(self, folder: Path, embedder: Known) -> None:
        self._client, self._function = chroma(folder, embedder.embed, "ember-e5")
        self._collections: dict[str, Any] = {}

    def store(self, user: str, threads: Sequence[Sequence[Item]]) -> None:
        collection = self._client.create_collection(user, embedding_function=self._function)
        for thread in threads:
            collection.add(
                ids=[item.turn.id for item in thread],
                documents=[item.text for item in thread],
                metadatas=[{"thread": item.thread, "place": item.place} for item in thread],
            )
        self._collections[user] = collection

    def search(self, user: str, query: str, hidden: Hidden | None, k: int) -> list[str]:
        where = hidden and {"$and": [{"place": {"$lt": hidden.since}}, {"thread": {"$ne": hidden.thread}}]}
        found = self._collections[user].query(query_texts=[query], n_results=k, where=where)
        return list(found["ids"][0])

    def close(self) -> None:
        pass


class LangGraph:
    """LangGraph's InMemoryStore, one namespace a user, one `put` an utterance."""

    def __init__(self, folder: Path, embedder: Known) -> None:
        from langgraph.store.memory import InMemoryStore

        self._store = InMemoryStore(index={"dims": DIM, "embed": embedder.lists, "fields": ["text"]})

    def store(self, user: str, threads: Sequence[Sequence[Item]]) -> None:
        # Not `batch`: it refuses one that holds the same text twice.
        for item in (item for thread in threads for item in thread):
            self._store.put((user,), item.turn.id, {"text": item.text, "thread": item.thread, "place": item.place})

    def search(self, user: str, query: str, hidden: Hidden | None, k: int) -> list[str]:
        narrow = hidden and {"place": {"$lt": hidden.since}, "thread": {"$ne": hidden.thread}}
        return [found.key for found in self._store.search((user,), query=query, filter=narrow, limit=k)]

    def close(self) -> None:
        pass


# ------------------------------------------------------------------------------------------------------ the list


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A system by name: how it is called in the table, the package it comes from, and how it is made."""

    title: str
    distribution: str
    make: Callable[[Path, Known], System]
    on_disk: bool = True
    embeds_speaker: bool = True


SYSTEMS: Mapping[str, Kind] = {
    "bm25": Kind(title="BM25 alone", distribution="embermem", make=Bm25, on_disk=False),
    "dense": Kind(title="dense alone", distribution="embermem", make=Dense, on_disk=False),
    "ember-paper": Kind(
        title="Ember, `paper`",
        distribution="embermem",
        make=lambda folder, embedder: Ember(folder, embedder, preset="paper"),
        embeds_speaker=False,
    ),
    "ember-default": Kind(
        title="Ember, `default`",
        distribution="embermem",
        make=lambda folder, embedder: Ember(folder, embedder, preset="default"),
        embeds_speaker=False,
    ),
    "mem0": Kind(title="mem0, infer=False", distribution="mem0ai", make=Mem0),
    "chroma": Kind(title="Chroma", distribution="chromadb", make=Chroma),
    "langgraph": Kind(title="LangGraph InMemoryStore", distribution="langgraph", make=LangGraph, on_disk=False),
}
GROUPS: Mapping[str, tuple[str, ...]] = {"ember": ("ember-paper", "ember-default")}
