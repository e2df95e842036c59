"""CrewAI: a storage of its memory, whose records are documents of a memory."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np

from embermem.core.errors import InputError, NotFound
from embermem.core.extras import needing
from embermem.core.types import Document, Scope
from embermem.memory import Memory
from embermem.owner_memory import OwnerMemory

with needing("crewai", "embermem.integrations.crewai"):
    from crewai import Memory as CrewMemory
    from crewai.memory.types import MemoryRecord, ScopeInfo

__all__ = ["EmberStorage", "crew_memory"]

_LABEL = "crewai"
"""The entry of a document's metadata that tells that it is a record, and the beginning of its source."""
_MORE = 4
"""How much further a search looks when its filters have left too few."""
_TEXTS = 2_000
"""Texts whose vectors are kept."""


def crew_memory(memory: Memory, user: str, agent: str = "crew", **options: Any) -> CrewMemory:
    """A memory for `Crew(…, memory=crew_memory(memory, "alice"))` or for an agent, whose records are in the memory of
    the user. `options` are those of CrewAI's `Memory`, such as `llm`; storage and embedder are Ember's."""
    storage = EmberStorage(memory.of(user, agent=agent), embed=memory.embed)
    return CrewMemory(storage=storage, embedder=storage.embedder, **options)


class EmberStorage:
    """A storage backend over the memory of one user. Each record is a document with the record as its original.

    CrewAI hands a search a vector only. `embedder`, which has to be the embedder of CrewAI's memory, makes vectors by
    `embed` (`Memory.embed`) and knows their texts, so that a search is Ember's own; its score is the cosine of the
    vectors. Raises InputError where a record has no text, or for a vector of another embedder.
    """

    def __init__(self, memory: OwnerMemory, *, embed: Callable[[Sequence[str]], Any]) -> None:
        self._memory = memory
        self.embedder = _Embedder(embed)

    def save(self, records: list[MemoryRecord]) -> None:
        """Store records; one whose id is there already is replaced."""
        for record in records:
            self._memory.add_document(
                record.content,
                title=record.scope,
                source=_source(record.id),
                at=_utc(record.created_at),
                metadata={_LABEL: "record"},
                original=record.model_dump(mode="json"),
            )

    def update(self, record: MemoryRecord) -> None:
        """Replace the record of the same id."""
        self.save([record])

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """The records that bear on the text of a vector, best first, with scores from 0 to 1."""
        query, k = self.embedder.text_of(query_embedding), max(limit, 1)
        while True:
            hits = self._memory.search(query, k, scope=Scope(metadata={_LABEL: "record"}))
            ids = dict.fromkeys(hit.passage.document for hit in hits if hit.passage and hit.space is None)
            found = [
                one
                for _, one in self._records(self._document(id) for id in ids)
                if _within(one.scope, scope_prefix) and _matches(one, categories, metadata_filter)
            ]
            if len(found) >= limit or len(hits) < k:
                break
            k *= _MORE
        scored = [(one, self.embedder.cosine(query, one.content)) for one in found]
        best = sorted((one for one in scored if one[1] >= min_score), key=lambda one: -one[1])
        return best[:limit]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Forget the records that meet every condition given, for good; returns how many."""
        gone = [
            (document_id, one)
            for document_id, one in self._records(self._documents(record_ids).values())
            if _within(one.scope, scope_prefix)
            and _matches(one, categories, metadata_filter)
            and (older_than is None or _utc(one.created_at) < _utc(older_than))
        ]
        for document_id, one in gone:
            with suppress(NotFound):  # by another process
                self._memory.forget_document(document_id)
            self.embedder.forget(one.content)
        return len(gone)

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """The record of an id; None if it is not there."""
        return next((one for _, one in self._records(self._documents([record_id]).values())), None)

    def list_records(self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0) -> list[MemoryRecord]:
        """The records of a scope, the newest first."""
        return self._in(scope_prefix)[offset : offset + limit]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """What a scope holds."""
        records = self._in(scope)
        times = sorted((one.created_at for one in records), key=_utc)
        return ScopeInfo(
            path=scope,
            record_count=len(records),
            categories=sorted({category for one in records for category in one.categories}),
            oldest_record=times[0] if times else None,
            newest_record=times[-1] if times else None,
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """The scopes directly below another."""
        root = parent.rstrip("/") + "/"
        below = [one.scope.removeprefix(root) for one in self._in(parent) if one.scope.startswith(root)]
        return sorted({root + path.split("/", 1)[0] for path in below if path})

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """The categories of a scope, with the number of their records."""
        return dict(Counter(category for one in self._in(scope_prefix) for category in one.categories))

    def count(self, scope_prefix: str | None = None) -> int:
        """The number of records of a scope."""
        return len(self._in(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Forget the records of a scope, or all of them, for good."""
        self.delete(scope_prefix=scope_prefix)

    async def asave(self, records: list[MemoryRecord]) -> None:
        """`save` in a thread."""
        await asyncio.to_thread(self.save, records)

    async def asearch(self, query_embedding: list[float], **conditions: Any) -> list[tuple[MemoryRecord, float]]:
        """`search` in a thread."""
        return await asyncio.to_thread(partial(self.search, query_embedding, **conditions))

    async def adelete(self, **conditions: Any) -> int:
        """`delete` in a thread."""
        return await asyncio.to_thread(partial(self.delete, **conditions))

    def _documents(self, record_ids: Iterable[str] | None = None) -> dict[str, Document]:
        if record_ids is None:
            return {one.id: one for one in self._memory.documents(under=f"{_LABEL}:")}
        named = [self._memory.documents(source=_source(record_id)) for record_id in record_ids]
        return {one.id: one for found in named for one in found}

    def _document(self, document_id: str) -> Document | None:
        try:
            return self._memory.document(document_id)
        except NotFound:  # forgotten since the search
            return None

    def _records(self, documents: Iterable[Document | None]) -> list[tuple[str, MemoryRecord]]:
        """The records of documents, each with its document's id, in that order."""
        given = [one for one in documents if one is not None]
        kept = self._memory.originals([one.id for one in given]) if given else {}
        return [
            (one.id, MemoryRecord.model_validate(kept[one.id]) if one.id in kept else self._left(one)) for one in given
        ]

    def _left(self, document: Document) -> MemoryRecord:
        """The record of a document that lost its original, because a passage was forgotten: what is left of it."""
        return MemoryRecord(
            id=document.source.removeprefix(f"{_LABEL}:").removesuffix(".txt"),
            content="\n\n".join(one.text for one in self._memory.passages(document.id)),
            scope=document.title,
            created_at=document.said_at.replace(tzinfo=None),
        )

    def _in(self, scope: str | None) -> list[MemoryRecord]:
        found = [one for _, one in self._records(self._documents().values()) if _within(one.scope, scope)]
        return sorted(found, key=lambda one: _utc(one.created_at), reverse=True)


class _Embedder:
    """Vectors of texts, and the texts of vectors that it made."""

    def __init__(self, embed: Callable[[Sequence[str]], Any]) -> None:
        self._embed = embed
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, Any] = OrderedDict()
        self._texts: dict[bytes, str] = {}

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """The vector of each text."""
        vectors = np.asarray(self._embed(list(texts)), np.float32)
        with self._lock:
            for text, vector in zip(texts, vectors, strict=True):
                self._vectors[text] = vector
                self._vectors.move_to_end(text)
                self._texts[vector.tobytes()] = text
            while len(self._vectors) > _TEXTS:
                text, vector = self._vectors.popitem(last=False)
                if self._texts.get(vector.tobytes()) == text:
                    del self._texts[vector.tobytes()]
        return [[float(number) for number in vector] for vector in vectors]

    def forget(self, text: str) -> None:
        """Keep a text and its vector no longer."""
        with self._lock:
            vector = self._vectors.pop(text, None)
            if vector is not None and self._texts.get(vector.tobytes()) == text:
                del self._texts[vector.tobytes()]

    def text_of(self, vector: Sequence[float]) -> str:
        """The text of a vector. Raises InputError."""
        text = self._texts.get(np.asarray(vector, np.float32).tobytes())
        if text is None:
            raise InputError("the vector is of another embedder: give CrewAI's memory the embedder of EmberStorage")
        return text

    def cosine(self, one: str, other: str) -> float:
        """How alike two texts are, from 0 to 1."""
        a, b = self._vector(one), self._vector(other)
        length = float(np.linalg.norm(a) * np.linalg.norm(b))
        return min(1.0, max(0.0, float(a @ b) / length)) if length else 0.0

    def _vector(self, text: str) -> Any:
        kept = self._vectors.get(text)
        return np.asarray(self([text])[0], np.float32) if kept is None else kept


def _utc(at: datetime) -> datetime:
    """A time of CrewAI, which is in UTC where it names no zone."""
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _source(record_id: str) -> str:
    return f"{_LABEL}:{record_id}.txt"


def _within(scope: str, prefix: str | None) -> bool:
    root = (prefix or "/").strip("/")
    return not root or f"{scope.strip('/')}/".startswith(f"{root}/")


def _matches(record: MemoryRecord, categories: Sequence[str] | None, metadata: Mapping[str, Any] | None) -> bool:
    return (not categories or not set(categories).isdisjoint(record.categories)) and all(
        record.metadata.get(name) == value for name, value in (metadata or {}).items()
    )
