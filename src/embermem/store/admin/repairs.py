"""What puts one owner's rows right without losing a word."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, exists, func, or_, select, update
from sqlalchemy.engine import Connection

from embermem.core.types import OwnerId
from embermem.core.vector_sums import sum_from
from embermem.core.vectors import of_summaries
from embermem.store import schema
from embermem.store.engines.vector_type import are_halves, has_numbers, is_sum
from embermem.store.queries.reads import BY_PAGE
from embermem.store.statements import due_from, set_owner, setting
from embermem.store.states import counted, folded


def roll_up(c: Connection, owner_id: OwnerId) -> None:
    """Pages as their utterances make them."""
    said, page = schema.utterance, schema.page
    mine = and_(said.c.owner_id == owner_id, said.c.page_id == page.c.page_id)

    def own(column: ColumnElement[Any]) -> Select[Any]:
        return select(column).where(mine).with_hint(*BY_PAGE)

    first = {column: own(column).order_by(said.c.seq).limit(1).scalar_subquery() for column in said.c}
    c.execute(
        update(page)
        .where(page.c.owner_id == owner_id, exists(own(said.c.seq)))
        .values(
            first_seq=first[said.c.seq],
            last_seq=own(func.max(said.c.seq)).scalar_subquery(),
            thread=first[said.c.thread],
            recorded_at=first[said.c.recorded_at],
            answered=exists(own(said.c.seq).where(said.c.role.in_(("assistant", "tool")))),
        )
    )


def count_again(c: Connection, owner_id: OwnerId) -> None:
    """The owner's numbers, none beyond its logs, and what it counts of its state."""
    owner = schema.owner
    row = c.execute(select(owner).where(owner.c.owner_id == owner_id)).one()
    set_owner(
        c,
        owner_id,
        persona_no=min(row.persona_no, row.revision),
        reset_no=min(row.reset_no, row.revision),
        embedded_seq=max(0, min(row.embedded_seq, row.seq)),
        **counted(folded(c, owner_id).held.state),
    )


def unread_sums(c: Connection, owner_id: OwnerId) -> tuple[str, ...]:
    """The segments whose sum of vectors may be one by its length, and cannot be read."""
    segment = schema.segment.c
    embedder, dim = setting(c, "embedder") or "", int(setting(c, "dim") or 0)
    ours = segment.embedder.in_([embedder, of_summaries(embedder)])
    rows = c.execute(
        select(segment.segment_id, segment.vector_sum).where(
            segment.owner_id == owner_id, ours, is_sum(segment.vector_sum, dim)
        )
    )
    return tuple(row.segment_id for row in rows if not _is_read(row.vector_sum, dim))


def _is_read(data: bytes, dim: int) -> bool:
    try:
        return len(sum_from(data)) == dim
    except ValueError:
        return False


def forget_vectors(c: Connection, owner_id: OwnerId, at: int, unread: Collection[str]) -> None:
    """Vectors that are of nothing, or not what they must be, go, and the sums of segments that are `unread`; from the
    first that is missing on, they are due."""
    vector, said, owner, segment = schema.embedding, schema.utterance, schema.owner, schema.segment
    embedder, dim = setting(c, "embedder"), int(setting(c, "dim") or 0)
    of_nothing = ~exists().where(said.c.owner_id == owner_id, said.c.seq == vector.c.seq)
    wrong = or_(vector.c.embedder != embedder, ~has_numbers(vector.c.data, dim, are_halves(c)), of_nothing)
    c.execute(delete(vector).where(vector.c.owner_id == owner_id, wrong))
    bare = ~exists().where(vector.c.owner_id == owner_id, vector.c.seq == said.c.seq)
    upto = select(owner.c.embedded_seq).where(owner.c.owner_id == owner_id).scalar_subquery()
    first = c.scalar(select(func.min(said.c.seq)).where(said.c.owner_id == owner_id, said.c.seq <= upto, bare))
    not_a_sum = or_(~is_sum(segment.c.vector_sum, dim), segment.c.segment_id.in_(sorted(unread)))
    damaged = or_(segment.c.vector_sum.is_(None), not_a_sum)
    c.execute(
        update(segment)
        .where(segment.c.owner_id == owner_id, segment.c.embedder.in_([embedder, of_summaries(embedder)]), damaged)
        .values(embedder=None, vector_sum=None)
    )
    if first is not None:
        set_owner(c, owner_id, embedded_seq=first - 1)
    set_owner(c, owner_id, due_at=due_from(at))
