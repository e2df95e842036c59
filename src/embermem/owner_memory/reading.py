"""What is read of one owner's memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from embermem import config as configuration
from embermem import messages, telemetry
from embermem.config import Preset
from embermem.errors import InputError, NotFound
from embermem.messages import At
from embermem.owner_memory.handle import Handle
from embermem.types import (
    About,
    Chain,
    Context,
    Fact,
    FactId,
    Hit,
    Page,
    PageId,
    Persona,
    ProfileField,
    Segment,
    SegmentId,
    Tier,
    Trait,
    Utterance,
    UtteranceId,
)

if TYPE_CHECKING:
    from embermem.changes import Cause, Change
    from embermem.protocols import OwnerState, OwnerStats, Scope

_ALL = 2**53


class Reading(Handle):
    """Recall, lists, single items, and the log."""

    @telemetry.spanned(telemetry.SEARCH)
    def recall(
        self,
        query: str,
        *,
        at: At = None,
        budget: int | None = None,
        thread: str | None = None,
        scope: Scope | None = None,
        preset: Preset | None = None,
    ) -> Context:
        """The little that matters for a query, as text within `budget` tokens, with its sources. Writes nothing.

        `at` is the time of asking; `thread` the conversation in which it is asked, whose open page is always told;
        `scope` narrows what may be found; `preset` ranks as the other preset does, to compare them.
        """
        if budget is not None:
            messages.whole(budget, "budget", 1)
        if preset is not None and preset not in configuration.PRESETS:
            raise InputError(f"preset = {preset!r} is not allowed; one of: {', '.join(configuration.PRESETS)}")
        inbox = self._inbox()
        return self._memory._system.recall(
            self.owner,
            messages.checked(query, "query", self._memory.settings.max_text_chars),
            at=inbox.moment(at, "at"),
            budget=budget,
            thread=None if thread is None else messages.thread_id(thread),
            scope=scope,
            preset=preset,
        )

    @telemetry.spanned(telemetry.SEARCH)
    def search(self, query: str, k: int = 10, *, scope: Scope | None = None) -> tuple[Hit, ...]:
        """The best `k` utterances for a query. Writes nothing."""
        messages.whole(k, "k", 1)
        text = messages.checked(query, "query", self._memory.settings.max_text_chars)
        return self._memory._system.search(self.owner, text, k, scope=scope)

    def visit(self, hits: Iterable[Hit]) -> None:
        """Count these hits as visits of their segments: their heat grows. The one write of a read; where the memory is
        read only, nothing."""
        hits = tuple(hits) if isinstance(hits, Iterable) else (hits,)
        if not all(isinstance(hit, Hit) for hit in hits):
            raise InputError("visit takes hits, such as those of context.packed")
        if not self._memory.read_only:
            self._memory._system.visit(self.owner, hits)

    def pages(
        self,
        tier: Tier | str | None = None,
        *,
        limit: int | None = None,
        before: int | None = None,
        thread: str | None = None,
    ) -> tuple[Page, ...]:
        """Pages in order of arrival; of one tier; of one thread; the newest `limit` with a number below `before`."""
        if tier is not None:
            try:
                tier = Tier(tier)
            except ValueError as error:
                raise InputError(f"tier = {tier!r} is not allowed; one of: {', '.join(Tier)}") from error
        for where, number in (("limit", limit), ("before", before)):
            if number is not None:
                messages.whole(number, where, 0)
        short = self._memory.settings.short_term_pages
        own = None if thread is None else messages.thread_id(thread)
        return self._store.pages(self.owner.id, short, tier=tier, before=before, limit=limit, thread=own)

    def page(self, page_id: str) -> Page:
        """One page. Raises NotFound."""
        page = self._store.page(self.owner.id, PageId(page_id), self._memory.settings.short_term_pages)
        if page is None:
            raise self._none_such("page", page_id)
        return page

    def utterance(self, utterance_id: str) -> Utterance:
        """One utterance. Raises NotFound."""
        found = self._store.utterance(self.owner.id, UtteranceId(utterance_id))
        if found is None:
            raise self._none_such("utterance", utterance_id)
        return found

    def utterances(self, after_seq: int = 0, *, limit: int | None = None) -> tuple[Utterance, ...]:
        """What was said, in order of arrival: the next `limit` utterances after a seq, or all of them."""
        messages.whole(after_seq, "after_seq", 0)
        if limit is not None:
            messages.whole(limit, "limit", 1)
        return self._store.utterances(self.owner.id, after_seq, _ALL if limit is None else limit)

    def segments(self, archived: bool = False) -> tuple[Segment, ...]:
        """The segments of mid-term memory, or of the archive, oldest first."""
        return self._store.segments(self.owner.id, archived=archived, only=None)

    def segment(self, segment_id: str) -> Segment:
        """One segment, of mid-term memory or of the archive. Raises NotFound."""
        found = self._store.segments(self.owner.id, archived=None, only=SegmentId(segment_id))
        if not found:
            raise self._none_such("segment", segment_id)
        return found[0]

    def heat(self, segment: Segment) -> float:
        """The segment's heat now (paper, Eq. 3)."""
        from embermem.systems.memoryos.mid_term import heat_of

        return heat_of(segment, self._memory._clock(), self._memory.settings)

    def chains(self) -> tuple[Chain, ...]:
        """The dialogue chains."""
        return self._store.chains(self.owner.id)

    def persona(self) -> Persona:
        """Profiles, traits and current facts, as stored."""
        return self._store.persona(self.owner.id)

    def facts(self, about: About | str | None = None, archived: bool = False) -> tuple[Fact, ...]:
        """What is known of the user and the agent, oldest first; or what the cap of 100 moved to the archive."""
        if about is not None:
            try:
                about = About(about)
            except ValueError as error:
                raise InputError(f"about = {about!r} is not allowed; one of: {', '.join(About)}") from error
        return self._store.facts(self.owner.id, about=about, archived=archived)

    def past_facts(self) -> tuple[Fact, ...]:
        """Facts that no longer hold: superseded or retired, with the time until which they were true."""
        return self._store.history(self.owner.id)

    def fact(self, fact_id: str) -> Fact:
        """One fact: current, archived or past. Raises NotFound."""
        found = self._store.fact(self.owner.id, FactId(fact_id))
        if found is None:
            raise self._none_such("fact", fact_id)
        return found

    def traits(self) -> tuple[Trait, ...]:
        """The user's traits, out of 90; age group and gender come from the profile."""
        from embermem.systems.memoryos.long_term import derived_traits

        persona = self.persona()
        derived = derived_traits(persona.profile, self._memory._clock())
        names = {trait.dimension for trait in derived}
        return (*derived, *(trait for trait in persona.traits if trait.dimension not in names))

    def profile(self) -> tuple[ProfileField, ...]:
        """The user's profile."""
        return self.persona().profile

    def agent_profile(self) -> tuple[ProfileField, ...]:
        """The agent's profile."""
        return self.persona().agent_profile

    def changes(
        self,
        since: int = 0,
        *,
        limit: int | None = None,
        before: int | None = None,
        cause: Cause | str | None = None,
    ) -> tuple[Change, ...]:
        """The log of what was derived, and why, in order: the next `limit` changes after `since`, or with `before` the
        last `limit` with a number below it; of one cause."""
        from embermem.changes import Cause

        messages.whole(since, "since", 0)
        for where, number in (("limit", limit), ("before", before)):
            if number is not None:
                messages.whole(number, where, 0)
        if cause is not None:
            try:
                cause = Cause(cause)
            except ValueError as error:
                raise InputError(f"cause = {cause!r} is not allowed; one of: {', '.join(Cause)}") from error
        return self._store.changes(self.owner.id, since, limit=limit, before=before, cause=cause)

    def change(self, no: int) -> Change:
        """One change by its number. Raises NotFound."""
        messages.whole(no, "no", 1)
        found = self._store.changes(self.owner.id, no - 1, before=no + 1, limit=1)
        if not found:
            raise NotFound(f"there is no change {no}")
        return found[0]

    def history(self, item_id: str) -> tuple[Change, ...]:
        """How a fact, page, segment or chain came to be what it is: the changes that name it, in order, each with only
        the decisions that do. Raises NotFound."""
        from embermem.systems.memoryos import naming

        found = naming.history(self._store.changes_naming(self.owner.id, item_id), item_id)
        if not found and self._store.page(self.owner.id, PageId(item_id), 0) is None:
            raise self._none_such("fact, page, segment or chain", item_id)
        return found

    def state(self) -> OwnerState | None:
        """How far both logs and the work on them have come; None where nothing was said yet. One indexed read."""
        return self._store.owner_state(self.owner.id)

    def stats(self) -> OwnerStats:
        """Counts of this memory."""
        return self._store.owner_stats(self.owner.id, self._memory.settings.short_term_pages)
