"""Owners out of a store, as JSON lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import IO

from embermem.core.changes import Change
from embermem.core.types import Owner
from embermem.store import schema
from embermem.store.admin.transferring import Part, UtterancePart, VectorPart
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
) -> Exported:
    """Write owners, each as it stands in one state; those that were forgotten meanwhile are left out. `told` hears of
    owners done, and how many there are. Raises StoreError, OSError."""
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
        for part in store.parts(owner.id, vectors=vectors):
            out.write(written(part))
            of[type(part)] += 1
        if of:
            out.write(written(End(**{name: of[kind] for kind, name in LISTS.items()})))
            done += 1
        count += of
        told(number, len(owners))
    out.write(written(Finish(owners=done)))
    return Exported(owners=done, utterances=count[UtterancePart], changes=count[Change], vectors=count[VectorPart])
