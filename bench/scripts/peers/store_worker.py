"""One store in a process of its own: `store_worker.py`, a task as JSON on stdin; figures as JSON on stdout.

`fill` stores items and searches; `cold` opens what was stored and searches once. Nothing of Ember is imported for
another store. The network is refused, and a refused call fails the run. Vectors are drawn by the text, so that they
cost every store the same.
"""

from __future__ import annotations

import json
import re
import sys
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from chroma_store import chroma
from isolation import refuse_network

DIM, TOKEN_DIM, POOL = 384, 128, 4096
USER, K = "user", 10
NOWHERE = "http://127.0.0.1:9/v1"
BATCH = 500
"""Items in one call, where a store takes several."""
SINGLY = 50
"""Items added one by one to the filled store."""


class Drawn:
    """Vectors of the form of e5, drawn by the text about that of its longest word; one token a word."""

    name, dim, token_dim = "multilingual-e5-small+ember-1", DIM, TOKEN_DIM

    def __init__(self) -> None:
        rng = np.random.default_rng(0)
        self._pool = _unit(rng.standard_normal((POOL, DIM), dtype=np.float32))
        self._tokens = _unit(rng.standard_normal((POOL, TOKEN_DIM), dtype=np.float32))

    def embed(self, texts: Sequence[str]) -> Any:
        """Shape (len(texts), 384)."""
        words = [max(re.findall(r"\w+", text.lower()), key=len, default="") for text in texts]
        about, own = (self._pool[[zlib.crc32(one.encode()) % POOL for one in some]] for some in (words, texts))
        return _unit(about + own)

    def embed_tokens(self, texts: Sequence[str]) -> tuple[Any, list[Any]]:
        """The same, and tokens, which Ember alone asks for."""
        from embermem.protocols import TokenVectors

        cut = [tuple(re.findall(r"\w+", text.lower())) for text in texts]
        starts = [zlib.crc32(text.encode()) for text in texts]
        vectors = [
            self._tokens.take(np.arange(len(words)) + start, axis=0, mode="wrap")
            for words, start in zip(cut, starts, strict=True)
        ]
        return self.embed(texts), [
            TokenVectors(words=words, vectors=one) for words, one in zip(cut, vectors, strict=True)
        ]

    def embed_query(self, text: str) -> tuple[Any, Any]:
        """The vector and the tokens of one text."""
        vectors, tokens = self.embed_tokens([text])
        return vectors[0], tokens[0]

    def lists(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors as lists of floats."""
        made: list[list[float]] = self.embed(texts).tolist()
        return made


def _unit(vectors: Any) -> Any:
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)


class Store(Protocol):
    """What is measured. Items are (id, text), in the order of a talk: what was asked, what was answered."""

    def add_all(self, items: Sequence[tuple[str, str]]) -> None:
        """As many at once as it takes; afterwards all can be searched by their vectors."""

    def add(self, id: str, text: str) -> None:
        """One item, as a program does that stores each message at once."""

    def search(self, query: str) -> int:
        """How many of the best K were found."""

    def close(self) -> None:
        """Let go of files."""


class Ember:
    """Ember: an item is a message. Many: `add_messages` and `settle`, which embeds, reads and places them."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        from embermem import Memory, bootstrap

        embedder = Drawn()
        bootstrap.make_embedder = lambda name, settings, known_dim=None: embedder
        self._memory = Memory(folder / "memory.db", embedder="e5", background=False, model="", **settings)
        self._owner = self._memory.of(USER)

    def add_all(self, items: Sequence[tuple[str, str]]) -> None:
        roles = cycle(("user", "assistant"))
        messages = [{"role": role, "content": text} for role, (_, text) in zip(roles, items, strict=False)]
        for start in range(0, len(messages), 50):
            self._owner.add_messages(messages[start : start + 50], thread=items[start][0])
        self._owner.settle()

    def add(self, id: str, text: str) -> None:
        self._owner.add(text)

    def search(self, query: str) -> int:
        return len(self._owner.search(query, k=K))

    def close(self) -> None:
        self._memory.close()


class Chroma:
    """Chroma on disk (PersistentClient), one collection."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        client, function = chroma(folder, Drawn().embed, "drawn")
        self._collection = client.get_or_create_collection(USER, embedding_function=function)

    def add_all(self, items: Sequence[tuple[str, str]]) -> None:
        self._collection.add(ids=[id for id, _ in items], documents=[text for _, text in items])

    def add(self, id: str, text: str) -> None:
        self._collection.add(ids=[id], documents=[text])

    def search(self, query: str) -> int:
        return len(self._collection.query(query_texts=[query], n_results=K)["ids"][0])

    def close(self) -> None:
        pass


class Mem0:
    """mem0 with infer=False: its default local store (Qdrant in a folder). One `add` an item: it takes no more."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        from mem0 import Memory
        from mem0.embeddings.base import EmbeddingBase

        embedder = Drawn()

        class Ours(EmbeddingBase):
            def embed(self, text: str, memory_action: str | None = None) -> list[float]:
                return embedder.lists([text])[0]

        nobody = {"api_key": "none", "openai_base_url": NOWHERE}
        store = {"path": str(folder / "qdrant"), "embedding_model_dims": DIM, "on_disk": True}
        self._memory = Memory.from_config(
            {
                "vector_store": {"config": store},
                "llm": {"provider": "openai", "config": nobody},
                "embedder": {"provider": "openai", "config": {**nobody, "embedding_dims": DIM}},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = Ours(self._memory.embedding_model.config)

    def add_all(self, items: Sequence[tuple[str, str]]) -> None:
        for id, text in items:
            self.add(id, text)

    def add(self, id: str, text: str) -> None:
        self._memory.add([{"role": "user", "content": text}], user_id=USER, metadata={"turn": id}, infer=False)

    def search(self, query: str) -> int:
        return len(self._memory.search(query, top_k=K, filters={"user_id": USER})["results"])

    def close(self) -> None:
        self._memory.close()
        self._memory.vector_store.client.close()


class LangGraph:
    """LangGraph's InMemoryStore, one namespace, one `put` an item. Not `batch`: it refuses a text that comes twice."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        from langgraph.store.memory import InMemoryStore

        self._store: Any = InMemoryStore(index={"dims": DIM, "embed": Drawn().lists, "fields": ["text"]})

    def add_all(self, items: Sequence[tuple[str, str]]) -> None:
        for id, text in items:
            self.add(id, text)

    def add(self, id: str, text: str) -> None:
        self._store.put((USER,), id, {"text": text})

    def search(self, query: str) -> int:
        return len(self._store.search((USER,), query=query, limit=K))

    def close(self) -> None:
        pass


class LangGraphSqlite(LangGraph):
    """LangGraph's SqliteStore, in one file."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        from langgraph.store.sqlite import SqliteStore

        index = {"dims": DIM, "embed": Drawn().lists, "fields": ["text"]}
        self._context = SqliteStore.from_conn_string(str(folder / "store.db"), index=index)
        self._store = self._context.__enter__()
        self._store.setup()

    def close(self) -> None:
        self._context.__exit__(None, None, None)


STORES: Mapping[str, Callable[[Path, Mapping[str, Any]], Store]] = {
    "ember": Ember,
    "chroma": Chroma,
    "mem0": Mem0,
    "langgraph": LangGraph,
    "langgraph-sqlite": LangGraphSqlite,
}


def fill(store: Store, items: Sequence[tuple[str, str]], asked: Sequence[str], seconds: float) -> dict[str, Any]:
    """Store all but the last items in batches, as long as the time lasts, the last one by one; then search."""
    many, singly = items[:-SINGLY], items[-SINGLY:]
    done, worked, began = 0, time.process_time(), time.perf_counter()
    while done < len(many) and (not done or time.perf_counter() - began < seconds):
        batch = many[done : done + BATCH]
        store.add_all(batch)
        done += len(batch)
    wall, cpu = time.perf_counter() - began, time.process_time() - worked
    one = [_timed(lambda item: store.add(*item), item) for item in singly]
    store.search(asked[0])
    found = [_timed(store.search, query) for query in asked[1:]]
    return {
        "items": done + len(singly),
        "complete": done == len(many),
        "items_per_s": done / wall,
        "items_per_cpu_s": done / cpu,
        "add": one,
        "search": found,
    }


def _timed(call: Callable[[Any], object], argument: Any) -> tuple[float, float]:
    """Milliseconds of wall and of processor time."""
    worked, began = time.process_time(), time.perf_counter()
    call(argument)
    return 1000 * (time.perf_counter() - began), 1000 * (time.process_time() - worked)


def main() -> None:
    """Do the task on stdin."""
    task, refused = json.loads(sys.stdin.readline()), refuse_network()
    store = STORES[task["store"]](Path(task["folder"]), task["settings"])
    if task["task"] == "cold":
        figures: dict[str, Any] = {"found": store.search(task["asked"][0])}
    else:
        items = json.loads(Path(task["items"]).read_text(encoding="utf-8"))
        figures = fill(store, items, task["asked"], task["seconds"])
    sys.stdout.write(json.dumps(figures) + "\n")
    sys.stdout.flush()
    store.close()
    if refused:
        sys.exit(f"{task['store']} tried to reach the network: {', '.join(refused)}")


if __name__ == "__main__":
    main()
