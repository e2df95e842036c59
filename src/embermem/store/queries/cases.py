"""What is read of an owner's cases."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select

from embermem.core.types import CaseId, OwnerId, RecallCase, Source
from embermem.store import schema
from embermem.store.codec import from_json, record
from embermem.store.transactions import Transactions

_Sources = tuple[Source, ...]


class Cases(Transactions):
    """Readers of cases."""

    def cases(self, owner_id: OwnerId, *, ids: Collection[CaseId] | None = None) -> tuple[RecallCase, ...]:
        """The cases that stand, oldest first; with ids all versions of these, also those that were dropped."""
        case = schema.recall_case
        query = select(case).where(case.c.owner_id == owner_id)
        if ids is None:
            query = query.where(case.c.retired_no.is_(None))
        else:
            query = query.where(case.c.case_id.in_(sorted(ids)))
        with self._read() as c:
            rows = c.execute(query.order_by(case.c.change_no, case.c.case_id)).all()
        return tuple(
            record(
                RecallCase,
                row,
                id=row.case_id,
                expected=from_json(row.expected, _Sources),
                unwanted=from_json(row.unwanted, _Sources),
            )
            for row in rows
        )
