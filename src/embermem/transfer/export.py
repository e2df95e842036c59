"""Owners out of a store, as JSON lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import IO

from embermem.core.changes import Change
from embermem.core.types import DocumentId, Owner, UtteranceId, thread_of
from embermem.store import schema
from embermem.store.admin.transferring import (
    DocumentPart,
    OriginalPart,
    OwnerPart,
    Part,
    UtterancePart,
    VectorPart,
)
from embermem.store.sql import SqlStore
from embermem.transfer.lines import LISTS, VERSION, End, Finish, Header, written

Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Exported:
    """How many owners, and of what how much."""

    owners: int
    utterances: int
    changes: int
    vectors: int


def export(
    store: SqlStore,
    owners: Sequence[Owner],
    out: IO[bytes],
    *,
    vectors: bool,
    now: datetime,
    told: Progress = lambda done, total: None,
    seen: Callable[[Owner], Collection[UtteranceId]] | None = None,
) -> Exported:
    """Write owners, each as it stands in one state; those that were forgotten meanwhile are left out. `told` hears of
    owners done, and how many there are. `seen` gives the utterances of an owner that are in scope: these alone are
    written, numbered anew, with their documents, and nothing that was derived; owners without any are left out. Raises
    StoreError, OSError."""
    out.write(
        written(
            Header(
                version=VERSION,
                schema=schema.HEAD,
                at=now,
                embedder=store.setting("embedder") or "",
                dim=int(store.setting("dim") or 0),
                vectors=vectors,
                key=store.key_mark(),
            )
        )
    )
    count: Counter[type[Part]] = Counter()
    done = 0
    for number, owner in enumerate(owners, 1):
        of: Counter[type[Part]] = Counter()
        parts = store.parts(owner.id, vectors=vectors)
        for part in parts if seen is None else _in_scope(parts, frozenset(seen(owner))):
            out.write(written(part))
            of[type(part)] += 1
        if of:
            out.write(written(End(**{name: of[kind] for kind, name in LISTS.items()})))
            done += 1
        count += of
        told(number, len(owners))
    out.write(written(Finish(owners=done)))
    return Exported(owners=done, utterances=count[UtterancePart], changes=count[Change], vectors=count[VectorPart])


def _in_scope(parts: Iterable[Part], seen: Collection[UtteranceId]) -> Iterator[Part]:
    """What was said and written of an owner as far as it is in scope, as if nothing else had ever been added; of a
    document that is cut, no original."""
    owner: OwnerPart | None = None
    documents: list[DocumentPart] = []
    kept: list[UtterancePart] = []
    numbers: dict[str, int] = {}
    left: set[str] = set()
    originals: list[OriginalPart] = []
    for part in parts:
        if isinstance(part, OwnerPart):
            owner = part
        elif isinstance(part, DocumentPart):
            documents.append(part)
        elif isinstance(part, UtterancePart) and part.id in seen:
            seq = len(kept) + 1
            no = -seq if part.page_no < 1 else numbers.setdefault(part.page, len(numbers) + 1)
            kept.append(replace(part, seq=seq, page_no=no))
        elif isinstance(part, UtterancePart):
            left.add(part.thread)
        elif isinstance(part, OriginalPart):
            originals.append(part)
    if owner is None or not kept:
        return
    yield replace(owner, seq=len(kept), pages=len(numbers))
    threads = {part.thread for part in kept}
    yield from (part for part in documents if thread_of(DocumentId(part.id)) in threads)
    yield from kept
    whole = {part.id for part in documents if thread_of(DocumentId(part.id)) in threads - left}
    yield from (part for part in originals if part.id in seen or part.id in whole)
