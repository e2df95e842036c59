"""Links in one owner's memory, and why something is remembered."""

from __future__ import annotations

from embermem import telemetry
from embermem.arguments import checked
from embermem.core import messages
from embermem.core.errors import InputError
from embermem.core.messages import At
from embermem.core.types import FactId, ItemId, Link, LinkId, SegmentId, Source, Why
from embermem.owner_memory.awaiting import awaited
from embermem.owner_memory.reading import AsyncReading, Reading
from embermem.protocols import FactSelection

_LONGEST_REASON = 500


@checked
class Linking(Reading):
    """Links between facts and segments, created by promotions and by callers."""

    def links(self, item_id: str | None = None, *, as_of: At = None) -> tuple[Link, ...]:
        """Return the links, oldest first; those of one fact or segment. A link is visible while both ends exist: a fact
        that is current or archived, an existing segment. `as_of` a time: the links at that time.

        Raises InputError, and NotFound for an unknown fact or segment.
        """
        moment = self._moment(as_of)
        if item_id is not None:
            self._end(item_id)
        return self._store.links(self.owner.id, of=None if item_id is None else [item_id], moment=moment)

    @telemetry.spanned(telemetry.UPDATE, "link")
    def link(self, from_id: str, to_id: str, reason: str, *, key: str | None = None) -> Link:
        """Link two memories, facts or segments, with a reason. `unlink` removes the link.

        Raises NotFound, and InputError for two equal ids, for two that are already linked, and for a fact that has
        ended.
        """
        from embermem.core.changes import Cause, Decision, Linked

        why = " ".join(messages.checked(reason, "reason", _LONGEST_REASON).split())
        if not why:
            raise InputError("reason is empty; give the relation of the two in a few words")
        if from_id == to_id:
            raise InputError(f"{from_id!r} cannot be linked to itself")
        (why,) = self._clean(reason=why)

        def decided(no: int, seq: int) -> list[Decision]:
            ends = [self._end(from_id, standing=True), self._end(to_id, standing=True)]
            links = self._store.links(self.owner.id, of=[from_id])
            known = next((one for one in links if to_id in (one.from_id, one.to_id)), None)
            if known is not None:
                raise InputError(f"{from_id!r} and {to_id!r} are linked already: {known.id}")
            sources: tuple[Source, ...] = ()  # a caller's word rests on the caller
            link_id = LinkId(f"l{no}-00")
            return [Linked(link_id=link_id, from_id=ends[0], to_id=ends[1], reason=why, sources=sources)]

        no = self._changing(Cause.LINKING, decided, once=self._once(key, "link", from_id, to_id, reason))
        return self._link(f"l{no}-00")

    @telemetry.spanned(telemetry.UPDATE, "unlink")
    def unlink(self, link_id: str, *, key: str | None = None) -> Link:
        """Remove a link; returns it. No analyst creates it again. Raises NotFound, and InputError if it was removed
        before."""
        from embermem.core.changes import Cause, Decision, Unlinked

        def decided(no: int, seq: int) -> list[Decision]:
            link = self._link(link_id)
            if link.retired_at is not None:
                raise InputError(f"link {link_id!r} was removed before")
            return [Unlinked(link_id=link.id)]

        self._changing(Cause.LINKING, decided, once=self._once(key, "unlink", link_id))
        return self._link(link_id)

    def why(self, item_id: str) -> Why:
        """Return why something is remembered: the words it rests on, the changes that made it, what it replaced and
        what replaced it, its links and conflicts. `str()` formats the result for a terminal.

        `item_id` is that of a fact, segment, chain or link, a trait's dimension, or a profile line such as "user.home"
        or "agent.description". Raises NotFound.
        """
        from embermem.memoryos.history import provenance

        people = self._people()
        found = provenance.why(self._store, self.owner.id, item_id, self._parts.clock(), people)
        if found is None:
            raise self._none_such("fact, segment, chain, link, trait or profile line", item_id)
        return found

    def _link(self, link_id: str) -> Link:
        versions = self._store.links(self.owner.id, ids=[LinkId(link_id)], standing=False)
        if not versions:
            raise self._none_such("link", link_id)
        return versions[-1]

    def _end(self, item_id: str, *, standing: bool = False) -> ItemId:
        """The id of a fact or segment that there is."""
        for fact in self._store.facts(self.owner.id, FactSelection(ids=frozenset({FactId(item_id)}))):
            if standing and fact.retired_at is not None:
                raise InputError(f"fact {item_id!r} is no longer current; only current facts can be linked")
            return fact.id
        if not self._store.segments(self.owner.id, ids=[SegmentId(item_id)]):
            raise self._none_such("fact or segment", item_id)
        return SegmentId(item_id)


class AsyncLinking(AsyncReading):
    """`Linking`, awaited."""

    links = awaited("read", Linking.links)
    link = awaited("write", Linking.link)
    unlink = awaited("write", Linking.unlink)
    why = awaited("read", Linking.why)
