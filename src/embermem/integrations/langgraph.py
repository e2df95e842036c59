"""LangGraph: a store whose items are documents of a memory.

An item is a document: its source is made of namespace and key, its passages are the texts of its indexed fields, and
its original holds the value. So `search` is Ember's own recall over passages, `memory.recall` finds the items too, and
forgetting, export and copies take them along.
"""

from __future__ import annotations

import asyncio
import operator as operators
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, assert_never
from urllib.parse import quote, unquote

from embermem.core.errors import InputError, NotFound
from embermem.core.extras import needing
from embermem.core.types import Document, DocumentId, Kind, Scope
from embermem.integrations.shared import bound
from embermem.owner_memory import OwnerMemory
from embermem.owner_memory.documents import originals_of_source, remove_document

with needing("langgraph", "embermem.integrations.langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        validate_op_namespace,
    )

__all__ = ["EmberStore"]

Namespace = tuple[str, ...]

_LABEL: Final = "langgraph"
"""The name in an item's metadata that holds its namespace; the beginning of its source."""
_SUFFIX: Final = ".txt"
"""The end of a source: the texts of an item are plain, whatever its key ends with."""
_ENCODED = re.compile(r"[%/\s\x00-\x1f\x7f]")
_OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$eq": operators.eq,
    "$ne": operators.ne,
    "$gt": operators.gt,
    "$gte": operators.ge,
    "$lt": operators.lt,
    "$lte": operators.le,
}
_TITLE = 512
"""Characters of a title."""
_MORE = 4
"""How much further a search looks when a filter has left too few."""


class EmberStore(BaseStore):
    """A store of LangGraph over the memory of an owner.

    `memory` is where all items are, or a function from a namespace to the memory of its owner, such as
    `lambda namespace: memory.of(namespace[1])`. The function is asked for the namespace of each operation: that of an
    item, the prefix of a search, and what stands before the first wildcard of a listing. One operation reaches the
    memory that it returns and no other, so no search or listing crosses owners; let the function raise for a prefix
    that belongs to nobody. `fields` are the paths whose texts are found by a query, where `put` names none; "$" is the
    whole value. `ttl` has the defaults of `put` and of reads, in minutes.

    Each put is a transaction of its own; the last put of one batch under a key counts, and reads of a batch see what
    was before it. Without a query, items come with the latest put first; with one, by Ember's ranking, and `score` is
    the estimated probability, from 0 to 1, that the item bears on the query. An item whose time is over is not returned
    any more, and is forgotten by the work in the background or by `settle()`.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: OwnerMemory | Callable[[Namespace], OwnerMemory],
        *,
        fields: Sequence[str] = ("$",),
        ttl: TTLConfig | None = None,
    ) -> None:
        self._memory_of = bound(memory)
        self._fields = tuple(fields)
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations, reads first; returns the result of each, in their order. Raises InputError for a value
        that is not JSON, InvalidNamespaceError, StoreError."""
        given = list(ops)
        for op in given:
            validate_op_namespace(op)
        results = [self._result(op) for op in given]
        puts = {(op.namespace, op.key): op for op in given if isinstance(op, PutOp)}
        for put in puts.values():
            self._put(put)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch` in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _result(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
            case PutOp():
                return None
            case _:
                assert_never(op)

    def _get(self, op: GetOp) -> Item | None:
        memory = self._memory_of(op.namespace)
        kept = _kept_under(memory, op)
        if kept is not None and op.refresh_ttl:
            kept.refresh(memory)
        return None if kept is None else kept.item()

    def _put(self, op: PutOp) -> None:
        memory, source = self._memory_of(op.namespace), _source(op.namespace, op.key)
        if op.value is None:
            with suppress(NotFound):
                remove_document(memory, source)
            return
        known, now = _kept_under(memory, op), datetime.now(UTC)
        began = now if known is None else known.created_at
        memory.add_document(
            "\n".join(self._texts(op.value, op.index)),
            title=" ".join(" / ".join(op.namespace).split())[:_TITLE] or _LABEL,
            source=source,
            metadata={_LABEL: _path(op.namespace)},
            original={
                "value": dict(op.value),
                "created_at": began.isoformat(),
                "updated_at": now.isoformat(),
                "ttl": op.ttl,
            },
            expires_at=None if op.ttl is None else timedelta(minutes=op.ttl),
        )

    def _texts(self, value: Mapping[str, Any], index: Sequence[str] | bool | None) -> Iterator[str]:
        """The texts by which an item is found."""
        paths = self._fields if index is None or index is True else index or ()
        for path in paths:
            if path == "$":
                yield from _lines(dict(value))
            else:
                yield from get_text_at_path(value, path)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        memory, wanted = self._memory_of(op.namespace_prefix), op.offset + op.limit
        found = self._asked(memory, op, wanted) if op.query else self._listed(memory, op, wanted)
        shown = found[op.offset : wanted]
        if op.refresh_ttl:
            for one, _ in shown:
                one.refresh(memory)
        return [one.found(score) for one, score in shown]

    def _listed(self, memory: OwnerMemory, op: SearchOp, wanted: int) -> list[tuple[_Kept, float | None]]:
        """Items below a prefix that meet the filter, the latest put first."""
        under = _under(op.namespace_prefix)
        if not op.filter:
            newest = memory.documents(under=under, limit=wanted)[::-1]
            if len(kept := _kept(memory, newest)) == len(newest):  # else some went meanwhile, and older ones follow
                return [(one, None) for one in kept]
        documents = memory.documents(under=under)[::-1]
        return [(one, None) for one in _kept(memory, documents) if _filtered(one.value, op.filter)]

    def _asked(self, memory: OwnerMemory, op: SearchOp, wanted: int) -> list[tuple[_Kept, float | None]]:
        """The items that bear on a query, best first; an item counts with its best passage."""
        scope, k = Scope(kinds=[Kind.DOCUMENT], metadata=_below(op.namespace_prefix)), max(wanted, 1)
        while True:
            hits = memory.search(op.query or "", k, scope=scope)
            scores: dict[DocumentId, float | None] = {}
            for hit in hits:
                if hit.passage is not None and hit.space is None and hit.utterance.text:
                    scores.setdefault(hit.passage.document, hit.relevance)
            sources = {hit.passage.document: hit.passage.source for hit in hits if hit.passage is not None}
            values = memory.originals(list(scores)) if scores else {}
            kept = [
                (_Kept.of(id, *_namespace_and_key(sources[id]), values[id]), score)
                for id, score in scores.items()
                if id in values
            ]
            found = [(one, score) for one, score in kept if _filtered(one.value, op.filter)]
            if len(found) >= wanted or len(hits) < k:
                return found
            k *= _MORE

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        prefix = next((_plain(one.path) for one in conditions if one.match_type == "prefix"), ())
        sources = (one.source for one in self._memory_of(prefix).documents(under=_under(prefix)))
        namespaces = {_namespace_and_key(source)[0] for source in sources}
        shown = {one[: op.max_depth] for one in namespaces if all(_matches(each, one) for each in conditions)}
        return sorted(shown)[op.offset : op.offset + op.limit]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kept:
    """An item as it is kept: its document, and what the original says. `ttl` is in minutes."""

    document: DocumentId
    namespace: Namespace
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    ttl: float | None

    @classmethod
    def of(cls, document: DocumentId, namespace: Namespace, key: str, original: Mapping[str, Any]) -> _Kept:
        return cls(
            document=document,
            namespace=namespace,
            key=key,
            value=original["value"],
            created_at=datetime.fromisoformat(original["created_at"]),
            updated_at=datetime.fromisoformat(original["updated_at"]),
            ttl=original["ttl"],
        )

    def item(self) -> Item:
        return Item(
            value=self.value,
            key=self.key,
            namespace=self.namespace,
            created_at=self.created_at,
            updated_at=self.updated_at,
        )

    def found(self, score: float | None) -> SearchItem:
        return SearchItem(self.namespace, self.key, self.value, self.created_at, self.updated_at, score)

    def refresh(self, memory: OwnerMemory) -> None:
        """Let the time of the item begin anew. One that was replaced or has gone meanwhile is left alone."""
        if self.ttl is not None:
            with suppress(NotFound):
                for passage in memory.passages(self.document):
                    memory.expire(page_id=passage.page_id, at=timedelta(minutes=self.ttl))


def _kept_under(memory: OwnerMemory, op: GetOp | PutOp) -> _Kept | None:
    """The item of a key."""
    found = originals_of_source(memory, _source(op.namespace, op.key))
    return next((_Kept.of(DocumentId(id), op.namespace, op.key, value) for id, value in found.items()), None)


def _kept(memory: OwnerMemory, documents: Sequence[Document]) -> list[_Kept]:
    """The items of documents, in their order."""
    values = memory.originals([one.id for one in documents]) if documents else {}
    items = ((one, values[one.id]) for one in documents if one.id in values)
    return [_Kept.of(one.id, *_namespace_and_key(one.source), value) for one, value in items]


# ------------------------------------------------------------------------------------------------- namespaces and keys


def _path(namespace: Namespace) -> str:
    """A namespace as one text: each label with a slash after it."""
    return "".join(f"{_encoded(label)}/" for label in namespace)


def _under(namespace: Namespace) -> str:
    """What the sources of all items below a namespace begin with."""
    return f"{_LABEL}:{_path(namespace)}"


def _source(namespace: Namespace, key: str) -> str:
    return f"{_under(namespace)}{_encoded(key)}{_SUFFIX}"


def _namespace_and_key(source: str) -> tuple[Namespace, str]:
    *labels, key = source.removeprefix(f"{_LABEL}:").removesuffix(_SUFFIX).split("/")
    return tuple(unquote(label) for label in labels), unquote(key)


def _encoded(text: str) -> str:
    return _ENCODED.sub(lambda found: quote(found[0], safe=""), text)


def _below(namespace: Namespace) -> dict[str, Any]:
    """A filter of metadata: the namespace, and all below it."""
    path = _path(namespace)
    return {_LABEL: {"$gte": path, "$lt": f"{path[:-1]}0"} if path else {"$exists": True}}  # "0" comes after "/"


def _plain(path: Sequence[str]) -> Namespace:
    """What stands before the first wildcard."""
    return tuple(path[: path.index("*")] if "*" in path else path)


def _matches(condition: MatchCondition, namespace: Namespace) -> bool:
    path = condition.path
    end = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :] if path else ()
    return len(end) == len(path) and all(wanted in ("*", label) for wanted, label in zip(path, end, strict=True))


# ---------------------------------------------------------------------------------------------------- values and texts


def _lines(value: object, name: str = "") -> Iterator[str]:
    """The texts of a value, one a line, each after the name of its field; a value with one field is its text alone."""
    if isinstance(value, Mapping):
        alone = len(value) == 1 and not name
        for key, one in value.items():
            yield from _lines(one, "" if alone else f"{name}.{key}" if name else str(key))
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _lines(one, name)
    elif value is not None and str(value).strip():
        yield f"{name}: {value}" if name else str(value)


def _filtered(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    return all(_meets(value.get(name), one) for name, one in (wanted or {}).items())


def _meets(value: object, wanted: object) -> bool:
    """Whether a value meets a filter: equal, an object in whose named fields each is met, a list of equal length in
    which each is met, or all of several operators."""
    if isinstance(wanted, Mapping):
        if any(str(key).startswith("$") for key in wanted):
            return all(_compares(value, key, one) for key, one in wanted.items())
        return isinstance(value, Mapping) and all(_meets(value.get(key), one) for key, one in wanted.items())
    if isinstance(wanted, (list, tuple)):
        if not isinstance(value, (list, tuple)) or len(value) != len(wanted):
            return False
        return all(_meets(one, other) for one, other in zip(value, wanted, strict=True))
    return value == wanted


def _compares(value: object, operator: str, wanted: object) -> bool:
    """Whether a value meets one operator. Numbers, also as texts, are compared as numbers, other texts as texts; what
    cannot be compared does not meet it."""
    compare = _OPERATORS.get(operator)
    if compare is None:
        raise InputError(f"the operator {operator!r} of the filter is not known; one of: {', '.join(_OPERATORS)}")
    if operator in ("$eq", "$ne"):
        return compare(value, wanted)
    try:
        return compare(float(value), float(wanted))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return isinstance(value, str) and isinstance(wanted, str) and compare(value, wanted)
