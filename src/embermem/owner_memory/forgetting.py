"""What of one owner's memory goes for good."""

from __future__ import annotations

from collections.abc import Mapping

from embermem import telemetry
from embermem.errors import InputError
from embermem.owner_memory.handle import Handle
from embermem.types import Forgotten


class Forgetting(Handle):
    """Pages, facts, or the whole memory, taken out of every table and the file."""

    @telemetry.spanned(telemetry.DELETE)
    def forget(
        self,
        *,
        page: str | None = None,
        fact: str | None = None,
        segment: str | None = None,
        thread: str | None = None,
        dry_run: bool = False,
    ) -> Forgotten:
        """Take a page, a fact, or all pages of a segment or thread out of every table and the file, for good.

        With a page go its utterances and all that rests on them alone; what rests on others too keeps those. Summaries
        are made again from what is left. With a fact goes every word of it, but not what was said: that does not teach
        it again. With `dry_run` nothing changes: the answer says what would go. It cannot be undone.

        Raises InputError unless exactly one is named, NotFound for none such, StoreError.
        """
        from embermem import bootstrap
        from embermem.systems.memoryos import forgetting

        named = {name: one for name, one in _named(page, fact, segment, thread).items() if one is not None}
        if len(named) != 1:
            raise InputError("name exactly one of page, fact, segment and thread")
        settings = self._memory.settings
        return forgetting.forget(
            self._store,
            self.owner,
            forgetting.Named(**named),
            now=self._memory._clock(),
            settings=settings,
            summarise=bootstrap.summarise,
            dry_run=dry_run,
        )

    @telemetry.spanned(telemetry.DELETE)
    def forget_all(self, *, dry_run: bool = False) -> Forgotten:
        """Take all of this memory away, for good: every row of this owner. With `dry_run`, say what would go."""
        from embermem.systems.memoryos import forgetting

        return forgetting.forget_all(self._store, self.owner, now=self._memory._clock(), dry_run=dry_run)


def _named(page: str | None, fact: str | None, segment: str | None, thread: str | None) -> Mapping[str, str | None]:
    return {"page": page, "fact": fact, "segment": segment, "thread": thread}
