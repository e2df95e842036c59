"""Lists of facts that are shown in parts: their ids, and whom they speak of. Few columns are read, and no sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from sqlalchemy import func, select

from embermem.core.types import FactId, OwnerId
from embermem.protocols import HELD, FactSelection
from embermem.store import schema
from embermem.store.queries.persona import chosen
from embermem.store.transactions import Transactions

_OF = {name: schema.fact.c[name] for name in schema.STATE}


class FactLists(Transactions):
    """Readers of what a list of facts needs to know of all of them."""

    def fact_ids(
        self, owner_id: OwnerId, selection: FactSelection, matches: Callable[[str, str], bool] | None = None
    ) -> tuple[FactId, ...]:
        """The ids of the facts of a selection, the newest first (`resting_on` is not looked at); of those alone whose
        subject and text match."""
        fact = schema.fact.c
        columns = (fact.fact_id,) if matches is None else (fact.fact_id, fact.subject, fact.text)
        query = select(*columns).where(fact.owner_id == owner_id, *chosen(selection, _OF))
        order = (fact.change_no.desc(), func.length(fact.fact_id).desc(), fact.fact_id.desc())
        with self._read() as c:
            if selection.ids is None:
                rows = c.execute(query.order_by(*order)).all()
            else:
                ids = sorted(selection.ids)
                rows = c.execute(query.where(fact.fact_id.in_(ids)).order_by(*order)).all() if ids else []
        return tuple(FactId(row[0]) for row in rows if matches is None or matches(row[1], row[2]))

    def subjects(self, owner_id: OwnerId) -> Mapping[str, int]:
        """Whom the facts that are held speak of, as it was said, with how many do: in the order of the facts, those of
        the user's knowledge base first."""
        fact = schema.fact.c
        query = select(fact.subject).where(fact.owner_id == owner_id, *chosen(HELD, _OF))
        order = (fact.about.desc(), fact.confirmed_no, fact.change_no, fact.fact_id)
        with self._read() as c:
            return Counter(c.scalars(query.order_by(*order)))
