"""Forgetting within one owner's memory."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from embermem import telemetry
from embermem.arguments import checked
from embermem.core import messages
from embermem.core.errors import InputError, StoreUnreachable
from embermem.core.messages import At
from embermem.core.types import Forgotten, Kind, PageId, Role, Scope, Verified
from embermem.owner_memory.handle import Handle
from embermem.protocols import NOW, Receipt

if TYPE_CHECKING:
    from embermem.owner_memory.handle import Once


@checked
class Forgetting(Handle):
    """Remove pages, facts or the whole memory from every table and the file."""

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
        scope: Scope | None = None,
        dry_run: bool = False,
        key: str | None = None,
    ) -> Forgotten:
        """Remove a page, a fact, or several pages from every table and the file, for good: all pages of a segment or a
        thread, all that were said entirely `before` a time, or all that contain every word of a query (`matching`):
        check these with `dry_run` first. Words match in every inflection, case and accent; names of speakers count,
        except the owner's and the agent's own. With a `scope` the pages of which everything is in scope: where only a
        part of a page is, nothing is forgotten.

        With a page, its utterances and everything that rests on them alone are removed; what also rests on others keeps
        those. Summaries are made again from the rest. With a fact, its wording is removed, but not the messages, which
        do not teach it again. With `dry_run` nothing changes: the result says what would be removed. Forgetting cannot
        be undone. The result is a receipt for `verify`. Repeated with the same `key`, the call forgets nothing more and
        returns the same receipt.

        Raises InputError unless exactly one is given, NotFound for an unknown item, StoreError.
        """
        named = _one(
            page=page, fact=fact, segment=segment, thread=thread, before=before, matching=matching, scope=scope
        )
        told = named if scope is None else {"scope": scope.to_dict()}
        once = None if dry_run else self._once(key, "forget", told)
        if (before_now := self._forgotten_before(once)) is not None:
            return before_now
        if matching is not None:
            named = self._matching(matching)
        elif scope is not None:
            named = self._of_scope(scope)
        return self._forget(named, dry_run=dry_run, once=once, scope=scope)

    @telemetry.spanned(telemetry.DELETE, "forget_pages")
    def forget_pages(self, pages: Iterable[str], *, dry_run: bool = False, key: str | None = None) -> Forgotten:
        """Forget several pages at once, as `forget` does one; unknown ids are skipped."""
        named = frozenset(pages)
        once = None if dry_run else self._once(key, "forget_pages", sorted(named))
        if (before_now := self._forgotten_before(once)) is not None:
            return before_now
        return self._forget({"pages": named}, dry_run=dry_run, once=once)

    @telemetry.spanned(telemetry.DELETE, "forget_owner")
    def forget_owner(self, *, dry_run: bool = False) -> Forgotten:
        """Remove this whole memory, for good: every row of this owner. With `dry_run`, return what would be removed.

        Keyed hashes of the messages and of idempotency keys are kept, so that a retry stores nothing. What is said
        again at another time is stored and learnt from. `readmit` discards the hashes. Grants by this owner go too, and
        those to this user with this agent. Raises StoreUnreachable, not undone, where a node of the database did not
        answer that may hold such grants: the memory is gone, and another call deletes them once it answers.
        """
        from embermem.memoryos.forget import forgetting

        left = None if dry_run else self._forget_grants()
        receipt = forgetting.forget_owner(self._store, self.owner, now=self._parts.clock(), dry_run=dry_run)
        if not dry_run:
            self._parts.system.forgotten(self.owner)
            self._drop_people()
        if left is not None:
            raise left
        return receipt

    def _forget_grants(self) -> StoreUnreachable | None:
        """Delete the grants to this user with this agent, first, so that they go although there is no memory; what kept
        some of them from it."""
        try:
            self._parts.admin.forget_shares(self.owner.user, self.owner.agent)
        except StoreUnreachable as error:
            if error.undone:
                raise
            return error
        return None

    def readmit(self) -> int:
        """Discard the keyed hashes of `forget_owner`, so that the same messages and idempotency keys are stored
        again; returns how many there were. What was forgotten with a page or a fact since then stays barred."""
        return self._parts.admin.readmit(self.owner.id)

    def verify(self, receipt: Forgotten | str) -> Verified:
        """Check that what a receipt names is gone: from all tables, the log and texts, and from the bytes of the
        store's files.

        The receipt is the result of `forget` or `forget_owner`, or its JSON. Raises InputError if it is invalid or of a
        dry run.
        """
        from embermem.memoryos.forget import forgetting

        try:
            told = Forgotten.from_json(receipt) if isinstance(receipt, str) else receipt
        except ValueError as error:
            raise InputError(str(error)) from error
        return forgetting.verify(self._store, self.owner, told)

    def _forgotten_before(self, once: Once | None) -> Forgotten | None:
        """What the same call forgot before, and whether its bytes are gone by now."""
        from embermem.memoryos.forget import forgetting

        if once is None or self._done_before(once) is None or once.result is None:
            return None
        known = Forgotten.from_json(base64.b64decode(once.result).decode())
        return known if known.change_no is None else forgetting.done(self._store.forgetting, known)

    def _forget(
        self,
        named: Mapping[str, Any],
        *,
        dry_run: bool,
        once: Once | None = None,
        scrub: bool = True,
        scope: Scope | None = None,
    ) -> Forgotten:
        from embermem import bootstrap
        from embermem.memoryos.forget import forgetting
        from embermem.memoryos.forget.impact import Impact, Named

        if named.get("before") is not None:
            named = {"before": self._inbox().moment(named["before"], "before")}
        impact = Impact(
            store=self._store,
            owner=self.owner,
            named=Named(**named),
            now=self._parts.clock(),
            settings=self._parts.settings,
            summarise=bootstrap.summarise,
            writer=bootstrap.segment_writer(),
        )

        def receipt_of(forgotten: Forgotten) -> Receipt | None:
            if scope is not None:
                self._of_scope(scope)  # what joined one of the pages before they were read may be out of it
            if once is None:
                return None
            # Not as it is: whoever looks for a forgotten id in the bytes of the store is to find none.
            once.result = base64.b64encode(forgotten.to_json().encode()).decode()
            return once.receipt(forgotten.change_no or 0)

        forgotten = forgetting.forget(impact, dry_run=dry_run, receipt_of=receipt_of, scrub=scrub)
        self._drop_people()
        if forgotten.change_no is None and (receipt := receipt_of(forgotten)) is not None:
            self._parts.admin.keep_receipt(self.owner, receipt, impact.now)
        return forgotten

    def _matching(self, query: str) -> Mapping[str, frozenset[PageId]]:
        """The pages that hold every word of a query."""
        from embermem.memoryos.forget import forgetting

        messages.checked(query, "matching", self._parts.settings.max_text_chars)
        pages = self._store.reads.all_pages(self.owner.id)
        own = (self.owner.user, self.owner.agent, *Role)
        return {"pages": frozenset(forgetting.matching(pages, query, own))}

    def _of_scope(self, scope: Scope) -> Mapping[str, frozenset[PageId]]:
        """The pages of a scope. Raises InputError where it leaves nothing out, names what is no page, or cuts one."""
        if not (scope.tells(Kind.MESSAGE) or scope.tells(Kind.DOCUMENT)):
            raise InputError("scope.kinds names no messages and no documents; facts and segments are forgotten by id")
        seen = self._in_scope(scope, NOW)
        if seen is None:
            raise InputError("scope leaves nothing out; `forget_owner` removes the whole memory")
        whole, cut = self._store.reads.pages_within(self.owner.id, seen.within)
        if cut:
            raise InputError(
                f"only a part of {len(cut)} pages is in scope, such as of {min(cut)}; nothing was forgotten: give a"
                " scope of whole exchanges (threads, times, metadata of both sides), or forget the pages by id"
            )
        return {"pages": whole}


def _one(**named: Any) -> Mapping[str, Any]:
    """The one thing that is named. Raises InputError for none or several."""
    given = {name: one for name, one in named.items() if one is not None}
    if len(given) != 1:
        raise InputError("give exactly one of page, fact, segment, thread, before, matching and scope")
    return given
