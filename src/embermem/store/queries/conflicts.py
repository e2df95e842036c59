"""What is read of an owner's conflicts: facts that are held and cannot both be so."""

from __future__ import annotations

from embermem.core.types import Conflict, FactId, OwnerId
from embermem.protocols import Moment
from embermem.store.codec import moment as time_of
from embermem.store.queries import reads
from embermem.store.queries.past import Past
from embermem.store.queries.views import Views

_NOW = Moment()


class Conflicts(Views, Past):
    """Readers of conflicts. One of a fact that is no longer held stays in its table, and is read no more."""

    def conflicts(self, owner_id: OwnerId, moment: Moment = _NOW) -> tuple[Conflict, ...]:
        """The open conflicts, in the order in which they were found; those that were open at a revision."""
        with self._read() as c:
            rows = reads.open_conflicts(c, owner_id, moment.revision)
        if not rows:
            return ()
        if moment.revision is None:
            held = self.facts(owner_id, about=None, archived=False)
        else:
            then = Moment(seq=moment.seq, revision=moment.revision)
            held = self.facts_at(owner_id, then, about=None, archived=False)
        facts = {fact.id: fact for fact in held}
        return tuple(
            Conflict(
                older=facts[FactId(row.fact_id)],
                newer=facts[FactId(row.other_id)],
                reason=row.reason,
                recorded_at=time_of(row.recorded_at),
                change_no=row.change_no,
            )
            for row in rows
            if {row.fact_id, row.other_id} <= facts.keys()  # else it ended while this was read
        )
