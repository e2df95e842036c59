"""The owners of a store: who they are, found by name, and what is going on in all of their memories together."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from embermem.arguments import checked
from embermem.core import messages
from embermem.owner_memory.handle import Parts
from embermem.protocols import Census, Grant, OwnerEntry, OwnerOrder

__all__ = ["Owners"]

_MOST_DAYS = 3660
_MOST_OWNERS = 1000


@checked
class Owners:
    """All owners but the spaces."""

    _parts: Parts

    def find_owners(
        self,
        text: str = "",
        *,
        order: OwnerOrder | str = OwnerOrder.RECENT,
        limit: int = 50,
        after: str | None = None,
        among: Sequence[Grant] | None = None,
    ) -> tuple[OwnerEntry, ...]:
        """Return owners with a text in `user/agent`, whatever its case, and how much is in their memories; spaces are
        not among them.

        `order` is `recent` (whose memory was added to last), `name`, `size` (most pages; then the newest owner) or
        `trouble` (most work that failed). `after` is the `position` of the last owner of a list that goes on. `among`
        are the grants of a key: only owners that one of them holds are returned. Raises InputError.
        """
        return self._parts.admin.find_owners(
            text,
            messages.one_of(OwnerOrder, order, "order"),
            messages.whole(limit, "limit", 0, _MOST_OWNERS),
            after,
            self._parts.settings.short_term_pages,
            among,
        )

    def census(self, days: int = 30, *, among: Sequence[Grant] | None = None) -> Census:
        """Return counts over all owners but the spaces, or those that one of the grants `among` holds: how many there
        are, what was recorded in the last `days`, what is due, and what waits for the model and why.

        It reads what was recorded in that time; keep it for a while where it is asked for often. Raises InputError.
        """
        now = self._parts.clock()
        since = now - timedelta(days=messages.whole(days, "days", 1, _MOST_DAYS))
        short = self._parts.settings.short_term_pages
        return self._parts.admin.census(since, now, short, among)
