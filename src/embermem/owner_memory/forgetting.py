"""What of one owner's memory goes for good."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from embermem import telemetry
from embermem.arguments import checked
from embermem.core import messages
from embermem.core.errors import InputError
from embermem.core.messages import At
from embermem.core.types import Forgotten, Role, Verified
from embermem.owner_memory.awaiting import Awaits, awaited
from embermem.owner_memory.handle import Handle


@checked
class Forgetting(Handle):
    """Pages, facts, or the whole memory, taken out of every table and the file."""

    @telemetry.spanned(telemetry.DELETE, "forget")
    def forget(
        self,
        *,
        page: str | None = None,
        fact: str | None = None,
        segment: str | None = None,
        thread: str | None = None,
        before: At = None,
        matching: str | None = None,
        limit: int | None = None,
        dry_run: bool = False,
    ) -> Forgotten:
        """Take a page, a fact, or many pages out of every table and the file, for good: all of a segment or a thread,
        all that were wholly said `before` a time, or all that hold every word of a query (`matching`), and with a
        `limit` also so many of those that search finds for it: look at these with `dry_run` first. Words match in
        every form, case and accent; the names of speakers count, but for the owner's and the agent's own.

        With a page go its utterances and all that rests on them alone; what rests on others too keeps those. Summaries
        are made again from what is left. With a fact goes every word of it, but not what was said: that does not teach
        it again. With `dry_run` nothing changes: the answer says what would go. It cannot be undone. The answer is a
        receipt, which `verify` takes.

        Raises InputError unless exactly one is named, NotFound for none such (where one thing is named), StoreError.
        """
        named = _one(page=page, fact=fact, segment=segment, thread=thread, before=before, matching=matching)
        return self._forget(named if matching is None else self._matching(matching, limit), dry_run=dry_run)

    @telemetry.spanned(telemetry.DELETE, "forget_pages")
    def forget_pages(self, pages: Iterable[str], *, dry_run: bool = False) -> Forgotten:
        """Forget several pages at once, as `forget` does one; those that are not there are passed over."""
        return self._forget({"pages": frozenset(pages)}, dry_run=dry_run)

    @telemetry.spanned(telemetry.DELETE, "forget_owner")
    def forget_owner(self, *, dry_run: bool = False) -> Forgotten:
        """Take all of this memory away, for good: every row of this owner. With `dry_run`, say what would go.

        Keyed hashes of the messages and of the keys of `add` are kept, so that a retry brings nothing back. What is
        said anew, at another time, is stored and learnt from. `readmit` throws the hashes away.
        """
        from embermem.memoryos.forget import forgetting

        return forgetting.forget_owner(self._store, self.owner, now=self._parts.clock(), dry_run=dry_run)

    def readmit(self) -> int:
        """Let messages and keys of `add` be stored again that went with `forget_owner`: throw away the keyed hashes
        that it kept of them, and say how many. What was forgotten with a page or a fact since then stays barred."""
        return self._parts.admin.readmit(self.owner.id)

    def verify(self, receipt: Forgotten | str) -> Verified:
        """Whether what a receipt says is gone is gone: in no table, log or text, nor a byte of it in the store's files.

        The receipt is what `forget` and `forget_owner` gave, or its JSON. Raises InputError for one of a dry run,
        and for what is none.
        """
        from embermem.memoryos.forget import forgetting

        try:
            told = Forgotten.from_json(receipt) if isinstance(receipt, str) else receipt
        except ValueError as error:
            raise InputError(str(error)) from error
        return forgetting.verify(self._store, self.owner, told)

    def _forget(self, named: Mapping[str, Any], *, dry_run: bool) -> Forgotten:
        from embermem import bootstrap
        from embermem.memoryos.forget import forgetting

        if named.get("before") is not None:
            named = {"before": self._inbox().moment(named["before"], "before")}
        return forgetting.forget(
            self._store,
            self.owner,
            forgetting.Named(**named),
            now=self._parts.clock(),
            settings=self._parts.settings,
            summarise=bootstrap.summarise,
            extractive=bootstrap.extractive_name(),
            dry_run=dry_run,
        )

    def _matching(self, query: str, limit: int | None) -> Mapping[str, frozenset[str]]:
        """The pages that hold every word of a query, and some that search finds for it."""
        from embermem.memoryos.forget import forgetting

        messages.checked(query, "matching", self._parts.settings.max_text_chars)
        pages = self._store.pages(self.owner.id, 0)
        own = (self.owner.user, self.owner.agent, *Role)
        found: set[str] = {*forgetting.matching(pages, query, own)}
        if limit is not None:
            messages.whole(limit, "limit", 1)
            hits = self._parts.system.search(self.owner, query, limit)
            found |= {hit.utterance.page_id for hit in hits}
        return {"pages": frozenset(found)}


class AsyncForgetting(Awaits):
    """`Forgetting`, awaited."""

    forget = awaited("write", Forgetting.forget)
    forget_pages = awaited("write", Forgetting.forget_pages)
    forget_owner = awaited("write", Forgetting.forget_owner)
    readmit = awaited("write", Forgetting.readmit)
    verify = awaited("work", Forgetting.verify)


def _one(**named: Any) -> Mapping[str, Any]:
    """The one thing that is named. Raises InputError for none or several."""
    given = {name: one for name, one in named.items() if one is not None}
    if len(given) != 1:
        raise InputError("name exactly one of page, fact, segment, thread, before and matching")
    return given
