"""What is new of an owner, for whoever holds the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from operator import itemgetter
from typing import Any

import numpy as np
from sqlalchemy import Select, bindparam, select
from sqlalchemy.engine import Connection

from embermem.core.changes import Placed
from embermem.core.types import (
    OwnerId,
    PageId,
    Persona,
    SegmentId,
)
from embermem.core.vector_codes import StoredVectors
from embermem.protocols import Delta, PageMark
from embermem.store import schema
from embermem.store.codec import moment, passages_from, record
from embermem.store.queries import persona, reads
from embermem.store.queries.changes import parts
from embermem.store.statements import utterances
from embermem.store.states import Known, States

_owner = schema.owner.c
_said, _change = schema.utterance.c, schema.change.c
_SAID_THERE = select(_said.id).where(_said.owner_id == bindparam("owner"), _said.seq == bindparam("seq"))
_CHANGED_THERE = select(_change.recorded_at).where(
    _change.owner_id == bindparam("owner"), _change.no == bindparam("revision")
)
_HOW_FAR = select(
    _owner.seq,
    _owner.revision,
    _owner.reset_no,
    _owner.persona_no,
    _owner.created_at,
    _SAID_THERE.scalar_subquery().label("said"),
    _CHANGED_THERE.scalar_subquery().label("changed"),
).where(_owner.owner_id == bindparam("owner"))
"""Made once, because each search asks it first."""


class Deltas(States):
    """Readers of what is new."""

    def delta(self, owner_id: OwnerId, seq: int, revision: int, embedder: str, dim: int, mark: str = "") -> Delta:
        """Where another `mark` stands there now, or nothing yet, the database was replaced by another copy, and all is
        read again."""
        with self._read() as c:
            row = c.execute(_HOW_FAR, {"owner": owner_id, "seq": seq, "revision": revision}).first()
            if row is None:
                return _no_owner((seq, revision) != (0, 0), dim)
            found = _mark(row.said, row.changed)
            replaced = row.seq < seq or row.revision < revision or mark not in ("", found)
            if (row.seq, row.revision) == (seq, revision) and row.reset_no <= revision and not replaced:
                return _nothing(seq, revision, dim, row.created_at, found)
            reset = (row.reset_no > revision or replaced) and (seq, revision) != (0, 0)
            if reset:
                seq, revision = 0, 0
            return _newer(c, row, self._known(c, owner_id), seq, revision, embedder, dim, reset)

    def mark(self, owner_id: OwnerId, seq: int, revision: int) -> str:
        with self._read() as c:
            row = c.execute(_HOW_FAR, {"owner": owner_id, "seq": seq, "revision": revision}).first()
        return "" if row is None else _mark(row.said, row.changed)


def _no_owner(had: bool, dim: int) -> Delta:
    """Nobody is there: whoever was, is forgotten."""
    return replace(_nothing(0, 0, dim, 0, ""), persona=Persona() if had else None, reset=had)


def _mark(said: str | None, changed: int | None) -> str:
    """The last utterance's id, which is random, and the last change's time: another copy of the database has others."""
    return f"{said} {changed}"


def mark_at(c: Connection, owner_id: OwnerId, seq: int, revision: int) -> str:
    """The mark of what stands at these numbers."""
    there = {"owner": owner_id, "seq": seq, "revision": revision}
    return _mark(c.scalar(_SAID_THERE, there), c.scalar(_CHANGED_THERE, there))


def _nothing(seq: int, revision: int, dim: int, born: int, mark: str) -> Delta:
    return Delta(
        seq=seq,
        revision=revision,
        utterances=(),
        vector_seqs=np.zeros(0, dtype=np.int64),
        vectors=np.zeros((0, dim), dtype=np.float32),
        pages=(),
        segments=(),
        persona=None,
        born=born,
        mark=mark,
    )


def _newer(
    c: Connection, owner: Any, known: Known, seq: int, revision: int, embedder: str, dim: int, reset: bool
) -> Delta:
    owner_id = known.owner_id
    vector, page, segment = schema.embedding, schema.page, schema.segment
    fresh = c.execute(
        select(vector.c.seq, vector.c.data, vector.c.tokens, vector.c.passages).where(
            vector.c.owner_id == owner_id, vector.c.change_no > revision, vector.c.embedder == embedder
        )
    ).all()
    found = _by_passage(sorted(fresh, key=itemgetter(0)))  # nearly in order; SQLite would carry the bytes
    marks = select(page.c.page_id, page.c.no, page.c.segment_id).where(
        page.c.owner_id == owner_id, page.c.segment_id.is_not(None)
    )
    touched = (segment.c.owner_id == owner_id, segment.c.touched_no > revision)
    segments = c.execute(reads.select_segments(owner_id).where(*touched))
    ended_segments = c.scalars(select(segment.c.segment_id).where(*touched, segment.c.pages == 0))
    persona_moved = owner.persona_no > revision or reset
    every = persona.in_order(known.newest) if persona_moved else []
    put_away = [one for one in every if one[1].ended_no is None and (one[1].archived_no or 0) > revision]
    over = [one for one in every if (one[1].ended_no or 0) > revision]
    held, archived, ended = persona.grouped(c, known, ([one for one in every if one[1].is_current], put_away, over))
    told = persona.persona(known, held) if persona_moved else None
    return Delta(
        seq=owner.seq,
        revision=owner.revision,
        utterances=utterances(c, owner_id, seq),
        vector_seqs=np.array([row[0] for row in found], dtype=np.int64),
        vectors=StoredVectors([row[1] for row in found], dim),
        pages=tuple(sorted(_marks(c, owner_id, marks, revision), key=lambda one: one.no)),
        segments=tuple(reads.segment_from(row, embedder) for row in segments),
        persona=told,
        tokens=_tokens(found),
        archived_facts=archived,
        ended_facts=ended,
        ended_segments=tuple(SegmentId(one) for one in ended_segments),
        expiring=_expiring(c, owner_id),
        reset=reset,
        born=owner.created_at,
        mark=mark_at(c, owner_id, owner.seq, owner.revision),
    )


def _marks(c: Connection, owner_id: OwnerId, query: Select[Any], revision: int) -> Iterator[PageMark]:
    """The pages that were placed after a change, each where it is now."""
    queries = [query]
    if revision > 0:
        moves = (one for some in parts(c, owner_id, revision, kinds=(Placed,)) for one in some)
        placed = {d.page_id for change in moves for d in change.decisions if isinstance(d, Placed)}
        queries = [query.where(schema.page.c.page_id.in_(some)) for some in reads.chunks(sorted(placed))]
    for one in queries:
        yield from (record(PageMark, row) for row in c.execute(one))


def _expiring(c: Connection, owner_id: OwnerId) -> tuple[tuple[PageId, datetime], ...]:
    """The pages that expire, the first first, and when."""
    page = schema.page
    rows = c.execute(
        select(page.c.page_id, page.c.expires_at)
        .where(page.c.owner_id == owner_id, page.c.expires_at.is_not(None))
        .order_by(page.c.expires_at)
    )
    return tuple((PageId(row.page_id), moment(row.expires_at)) for row in rows)


def _by_passage(rows: Sequence[Any]) -> list[tuple[int, bytes, bytes | None]]:
    """(seq, vector, packed tokens) of each passage, in order."""
    found: list[tuple[int, bytes, bytes | None]] = []
    for seq, data, tokens, passages in rows:
        found.append((seq, data, tokens))
        if passages is not None:
            found += [(seq, *part) for part in zip(*passages_from(passages), strict=True)]
    return found


def _tokens(found: Sequence[Any]) -> tuple[bytes, ...]:
    """One a row, b"" where it has none; the empty tuple if no row has any."""
    tokens = tuple([row[2] or b"" for row in found])
    return tokens if any(tokens) else ()
