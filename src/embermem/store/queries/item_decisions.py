"""Decisions on items, from the log: a state has the numbers of the changes that made them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TypeVar

from sqlalchemy import bindparam, select
from sqlalchemy.engine import Connection

from embermem.core.changes import ChainSummarised, Noted
from embermem.core.types import OwnerId
from embermem.store import schema
from embermem.store.codec import decisions_on
from embermem.store.queries import reads

__all__ = ["item_decisions"]

_Item = TypeVar("_Item", Noted, ChainSummarised)
_Id = TypeVar("_Id", bound=str)
_change = schema.change.c
_MADE = select(_change.no, _change.decisions).where(
    _change.owner_id == bindparam("of"), _change.no.in_(bindparam("some", expanding=True))
)


def item_decisions(c: Connection, owner_id: OwnerId, kind: type[_Item], numbers: Mapping[_Id, int]) -> dict[_Id, _Item]:
    """The note of each page, or the summary of each chain, that a change made; by its id. Of several of one change the
    last."""
    found = dict[_Id, _Item]()
    of: defaultdict[int, dict[str, _Id]] = defaultdict(dict)
    for item_id, no in numbers.items():
        of[no][item_id] = item_id
    for some in reads.chunks(sorted(of)):
        for row in c.execute(_MADE, {"of": owner_id, "some": some}):
            for d in decisions_on(row.decisions, (kind,), of[row.no]):
                found[of[row.no][d.page_id if isinstance(d, Noted) else d.chain_id]] = d
    return found
