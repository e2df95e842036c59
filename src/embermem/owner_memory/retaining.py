"""Retention and expiry: what fades, and what ends at a set time."""

from __future__ import annotations

from embermem import telemetry
from embermem.arguments import checked
from embermem.core.changes import Cause, Decision, Evicted, FactArchived, FactExpires
from embermem.core.errors import InputError
from embermem.core.messages import At, Expiry
from embermem.core.types import Faded, PageId, Retention
from embermem.owner_memory.reading import Reading


@checked
class Retaining(Reading):
    """The forgetting curve, and expiry."""

    def retention(self, at: At = None) -> tuple[Retention, ...]:
        """The retention of each fact and segment, now or at another time, lowest first; see docs/concepts/retention.md.

        Pinned facts are left out, because they do not fade. Writes nothing.
        """
        from embermem.memoryos.ingest import decay

        return decay.retentions(
            self._store.work.uses(self.owner.id), self._inbox().moment(at, "at"), self._parts.settings
        )

    @telemetry.spanned(telemetry.UPDATE, "fade")
    def fade(self, *, dry_run: bool = False, key: str | None = None) -> Faded:
        """Archive what is retained less than `retention_floor`, whether or not the setting `retention` is on; with
        `dry_run`, return what would be archived. `undo` restores the facts; segments stay in the archive, where they
        can still be found."""
        from embermem.memoryos.ingest import decay

        now, settings = self._parts.clock(), self._parts.settings
        made: list[Decision] = []

        def decided(no: int, seq: int) -> list[Decision]:
            made[:] = decay.fading(decay.retentions(self._store.work.uses(self.owner.id), now, settings))
            return made

        if dry_run:
            decided(0, 0)
        no = 0 if dry_run else self._changing(Cause.RETENTION, decided, once=self._once(key, "fade"))
        if no and not made:  # the same call made it before
            made[:] = self.change(no).decisions
        return Faded(
            dry_run=dry_run,
            facts=tuple(d.fact_id for d in made if isinstance(d, FactArchived)),
            segments=tuple(d.segment_id for d in made if isinstance(d, Evicted)),
            change_no=no or None,
            recorded_at=now,
        )

    @telemetry.spanned(telemetry.UPDATE, "expire")
    def expire(
        self, *, fact_id: str | None = None, page_id: str | None = None, at: Expiry, key: str | None = None
    ) -> None:
        """Set when a fact or a page ends by itself: a time, or a timedelta from now; None removes this.

        From then on no read returns it. A page is then forgotten for good; a fact is then in `past_facts`. Raises
        NotFound, and InputError unless exactly one is given, for a time in the past, and for a fact that has ended.
        """
        if (fact_id is None) == (page_id is None):
            raise InputError("give exactly one of fact_id and page_id")
        once = self._once(key, "expire", fact_id, page_id, at)
        if self._done_before(once) is not None:
            return
        ends = self._inbox().expiry(at, "at")
        if page_id is not None:
            receipt, now = None if once is None else once.receipt(0), self._parts.clock()
            if not self._store.marks.expire_page(self.owner, PageId(page_id), ends, now, receipt):
                raise self._none_such("page", page_id)
        elif fact_id is not None:

            def decided(no: int, seq: int) -> list[Decision]:
                fact = self.fact(fact_id)
                if fact.retired_at is not None:
                    raise InputError(f"fact {fact.id} is no longer current; only current facts can expire")
                return [] if fact.expires_at == ends else [FactExpires(fact_id=fact.id, at=ends)]

            self._changing(Cause.EXPIRY, decided, once=once)
        self._parts.added()
