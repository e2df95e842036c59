"""What those look at who run a store. All of it is of the whole store, and none of it is content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from embermem.arguments import checked
from embermem.core import messages, setting_list
from embermem.core.setting_list import SettingInUse
from embermem.core.types import Breaking, CallsBy, CallSum, Copied, Leaving, Owner, StoreWork
from embermem.owner_memory.granting import Granting

__all__ = ["Overseeing"]


@checked
class Overseeing(Granting):
    """The work on all owners, model calls, settings, what leaves the store, its copies."""

    _origins: Mapping[str, str]

    def settings_in_use(self) -> tuple[SettingInUse, ...]:
        """Return every setting with its value, where it was given, and what it means; of a secret only that it is
        set."""
        return setting_list.in_use(self._parts.settings, self._origins)

    def call_sums(
        self,
        since: datetime,
        *,
        by: Sequence[str] = (),
        owner: Owner | None = None,
        most: int | None = None,
    ) -> tuple[CallSum, ...]:
        """Return the usage log of model calls since a time, summed up by the database: one sum for each day (UTC),
        purpose, model, outcome or owner, as `by` says, or for several of these together; those with most tokens first,
        and no more than `most`. Without `owner`, of all owners. Where there was no call, there is no sum. Raises
        InputError."""
        named = [messages.one_of(CallsBy, one, "by") for one in by]
        limit = None if most is None else messages.whole(most, "most", 0)
        return self._parts.admin.call_sums(since, named, None if owner is None else owner.id, limit)

    def model_breaker(self) -> Breaking | None:
        """Return the state of this process's circuit breaker; None without a model."""
        return None if self._parts.asker is None else self._parts.asker.breaking

    def work_state(self, *, limit: int = 50) -> StoreWork:
        """Return which owners are worked on, are due, failed or wait for the model, and which webhooks are in trouble:
        of each the first `limit`, and how many there are. Raises InputError."""
        parts = self._parts
        return parts.admin.work_state(parts.clock(), parts.settings.short_term_pages, messages.whole(limit, "limit", 0))

    def leaving(self, *, limit: int = 50) -> Leaving:
        """Return what has expired and waits for a worker, the newest `limit` forgettings, without content, whether a
        scrub is due, and the state of the key of forgotten values. Raises InputError."""
        return self._parts.admin.leaving(self._parts.clock(), messages.whole(limit, "limit", 0))

    def scrub_due(self) -> bool:
        """Return whether forgotten content may be left in the store's files: see `Memory.scrub`."""
        return self._parts.admin.scrub_due()

    def last_backup_at(self) -> datetime | None:
        """Return when the newest backup of the store was made, as the store remembers it; None if there is none."""
        return self._parts.admin.last_backup_at()

    def copies(self, *, look: bool = False) -> tuple[Copied, ...]:
        """Return the files that `embermem copy` and migrations have made of this store, as far as it knows; with
        `look`, each is opened to see whether it holds something that was forgotten since."""
        return self._parts.admin.copies(look=look)
