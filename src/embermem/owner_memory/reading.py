"""Reads of one owner's memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from typing import TYPE_CHECKING, Any

from embermem import telemetry
from embermem.arguments import checked
from embermem.core import config as configuration
from embermem.core import injected_blocks, messages
from embermem.core.changes import BY_API_KIND, Cause, Change, Decision
from embermem.core.config import Mode, Preset
from embermem.core.errors import InputError, NotFound
from embermem.core.expiry import Hidden
from embermem.core.messages import At
from embermem.core.types import (
    About,
    Chain,
    Conflict,
    Context,
    Diff,
    Fact,
    FactId,
    Hit,
    Page,
    PageId,
    Person,
    Persona,
    ProfileField,
    Scope,
    Segment,
    SegmentId,
    Tier,
    Trait,
    Utterance,
    UtteranceId,
)
from embermem.owner_memory.handle import PEOPLE_KEPT, Handle
from embermem.owner_memory.together import Ask, of_others, of_user, together
from embermem.protocols import ARCHIVED, ENDED, HELD, NOW, FactSelection, Moment, OwnerState

if TYPE_CHECKING:
    from embermem.core.types import OwnerStats
    from embermem.memoryos.people import People
    from embermem.memoryos.recall.elsewhere import Elsewhere

LONGEST_WAIT_S = 60.0
"""How long a call may wait for changes."""
_FIRST_LOOK_S, _LONGEST_LOOK_S = 0.05, 1.0
"""The pauses between two looks for something new: one indexed read each."""


@checked
class Reading(Handle):
    """Recall, lists, single items, and the log."""

    @telemetry.spanned(telemetry.SEARCH, "recall")
    def recall(
        self,
        query: str,
        *,
        at: At = None,
        budget: int | None = None,
        thread: str | None = None,
        scope: Scope | None = None,
        shown_threads: Iterable[str] = (),
        preset: Preset | None = None,
        min_score: float = 0.0,
        mode: Mode = "ask",
        as_of: At = None,
        valid_at: At = None,
    ) -> Context:
        """Return what matters to a query, as text within `budget` tokens, with its sources. Writes nothing.

        `at` is the time of the query; `thread` is the current thread, whose open page is always included; `scope`
        limits what may be found and told (docs/guides/scopes.md); `shown_threads` are threads that the prompt holds
        already: none of their lines is told again; `preset` ranks with the other preset, for comparison. Utterances
        with a relevance below `min_score` (0 to 1) are left out of the hits and of the text, and `left_out` names them;
        facts are returned in any case. `as_of` uses what was known at a time, as a copy of the store from that time
        would. `valid_at` uses what was true at a time, as far as it was said by then or a fact covers it. Without `at`,
        that time is also the time of the query.

        `mode="inject"` is for messages with which nobody asked for memory: one that needs none ("thanks!", "write a
        haiku about rain") gets an empty context, whose `notes` say why.

        Of a handle that is bound with spaces or another agent (`Memory.of`), each is asked too, and the budget is
        divided by what each memory has to tell; `thread`, `shown_threads` and `scope.before_seq` are of the own memory.
        Raises NotGranted for what was revoked.
        """
        if budget is not None:
            messages.whole(budget, "budget", 1)
        if preset is not None and preset not in configuration.PRESETS:
            raise InputError(f"preset = {preset!r} is not allowed; one of: {', '.join(configuration.PRESETS)}")
        if mode not in configuration.MODES:
            raise InputError(f"mode = {mode!r} is not allowed; one of: {', '.join(configuration.MODES)}")
        settings, asked = self._parts.settings, _first_given(at, valid_at, as_of)
        alone = not self._shared and self._elsewhere is None
        text = messages.checked(query, "query", settings.max_text_chars)
        # The owner's zone costs a look at the store, and most recalls name no time.
        inbox = self._inbox(zoned=asked is None and scope is None and alone and not _names_days(text))
        moment = self._moment(as_of, valid_at, inbox)
        asked_at = inbox.moment(asked, "at")
        least = messages.probability(min_score, "min_score")
        current = None if thread is None else messages.thread_id(thread)
        own_scope, shown = _zoned(scope, inbox), tuple(shown_threads)

        def own(tokens: int | None, outdated: frozenset[str] = frozenset()) -> Context:
            return self._parts.system.recall(
                self.owner,
                text,
                at=asked_at,
                budget=tokens,
                thread=current,
                scope=own_scope,
                shown_threads=shown,
                preset=preset,
                min_score=least,
                mode=mode,
                moment=moment,
                outdated=outdated,
            )

        if alone:
            return own(budget)
        then, seen = inbox.then(as_of, valid_at), of_others(scope, inbox.zone)
        return self._together(
            own,
            lambda space, tokens: space.recall(
                text, at=asked_at, budget=tokens, scope=seen, preset=preset, min_score=least, mode=mode, **then
            ),
            lambda other: other.beside(text, at=asked_at, scope=seen, **then),
            settings.budget if budget is None else budget,
            limited=(preset or settings.preset) != "paper",
        )

    @telemetry.spanned(telemetry.SEARCH, "overview")
    def overview(
        self,
        budget: int = 600,
        *,
        person: str | None = None,
        since: At = None,
        until: At = None,
        scope: Scope | None = None,
        as_of: At = None,
        valid_at: At = None,
    ) -> Context:
        """Return who the user and the others are and what happened to them, by time, as text within `budget` tokens,
        with the facts it tells and what they rest on. No question is needed, and nothing is written.

        `person` limits it to one person; `since` and `until` (days, both included) to what was then; `scope` to what
        rests on nothing else. `as_of` and `valid_at` as in `recall`. A recall that asks for no more than this ("What do
        you know about Ana?") holds it too. Raises NotFound for an unknown person.
        """
        from embermem.languages.dates.engine import DateSpan

        messages.whole(budget, "budget", 1)
        inbox = self._inbox()
        first = date.min if since is None else inbox.moment(since, "since").date()
        last = date.max if until is None else inbox.moment(until, "until").date()
        if first > last:
            raise InputError(f"since = {since!r} is after until = {until!r}")
        any_day = since is None and until is None
        days = () if any_day else (DateSpan(first=first, last=last, start=0, end=0),)
        named = None if person is None else messages.name(person, "person")
        own_scope = _zoned(scope, inbox)
        moment, segments = self._moment(as_of, valid_at, inbox), self.segments(as_of=as_of, valid_at=valid_at)

        def own(tokens: int, outdated: frozenset[str] = frozenset()) -> Context:
            return self._parts.system.overview(
                self.owner,
                person=named,
                days=days,
                budget=tokens,
                segments=segments,
                scope=own_scope,
                moment=moment,
                outdated=outdated,
            )

        if not self._shared and self._elsewhere is None:
            return own(budget)
        then, seen = inbox.then(as_of, valid_at), of_others(scope, inbox.zone)
        asked = {"scope": seen, "person": person, "since": since and first, "until": until and last, **then}
        whole = person is None and any_day
        return self._together(
            own,
            lambda space, tokens: space.overview(tokens, **asked),
            lambda other: other.beside(scope=seen, **then) if whole else None,
            budget,
        )

    def _together(
        self,
        own: Callable[..., Context],
        of_space: Callable[[Any, int], Context],
        of_other: Callable[[Any], tuple[Elsewhere, frozenset[str]] | None],
        budget: int,
        *,
        limited: bool = True,
    ) -> Context:
        """What this memory, the spaces and the other agent that it is bound with tell."""
        known = None if self._elsewhere is None else of_other(self._elsewhere)
        asks: dict[str | None, Ask] = {None: partial(own, outdated=known[1]) if known else own}
        if known:
            asks[f"agent:{self._elsewhere.owner.agent}"] = of_user(self._parts, known[0])
        for name, space in self._shared.items():
            asks[name] = partial(of_space, space)
        return together(self._parts, asks, budget, limited=limited)

    @telemetry.spanned(telemetry.SEARCH, "search")
    def search(
        self,
        query: str,
        k: int = 10,
        *,
        at: At = None,
        scope: Scope | None = None,
        min_score: float = 0.0,
        as_of: At = None,
        valid_at: At = None,
    ) -> tuple[Hit, ...]:
        """Return the best `k` utterances for a query, of those with a relevance of `min_score` (0 to 1) or more, with
        what was known `as_of` a time or true at `valid_at`. `at` is the time of the query, from which "yesterday" is
        counted; without it, that time. Writes nothing."""
        messages.whole(k, "k", 1)
        text = messages.checked(query, "query", self._parts.settings.max_text_chars)
        asked = _first_given(at, valid_at, as_of)
        # The owner's zone costs a look at the store, and most searches name no time.
        is_plain = asked is None and scope is None and not self._shared and not _names_days(text)
        inbox = None if is_plain else self._inbox()
        moment, least = self._moment(as_of, valid_at, inbox), messages.probability(min_score, "min_score")
        own = self._parts.system.search(
            self.owner,
            text,
            k,
            at=None if inbox is None else inbox.moment(asked, "at"),
            scope=None if inbox is None else _zoned(scope, inbox),
            min_score=least,
            moment=moment,
        )
        if inbox is None or not self._shared:
            return own
        from embermem.memoryos.recall.merging import merged_hits

        then, seen = inbox.then(as_of, valid_at), of_others(scope, inbox.zone)
        found: dict[str | None, tuple[Hit, ...]] = {None: own}
        for name, space in sorted(self._shared.items()):
            found[name] = space.search(text, k, at=inbox.moment(asked, "at"), scope=seen, min_score=least, **then)
        return merged_hits(found, k)

    def visit(self, hits: Context | Iterable[Hit]) -> None:
        """Count a context, or hits, as visits: the heat of their segments grows, and with a context the strength of its
        facts too (docs/concepts/retention.md). Reads write nothing else. Does nothing where the memory is read-only.
        What is from a shared space counts there if the handle may write to it."""
        seen = hits.packed if isinstance(hits, Context) else tuple(hits) if isinstance(hits, Iterable) else (hits,)
        if not all(isinstance(hit, Hit) for hit in seen):
            raise InputError("visit takes a context, or hits such as context.packed")
        if self._parts.read_only:
            return
        own = [hit for hit in seen if hit.space in (None, self.owner.space)]
        self._parts.system.visit(self.owner, own, hits.facts if isinstance(hits, Context) else ())
        for name, space in self._shared.items():
            told = hits.shared.get(name) if isinstance(hits, Context) else [hit for hit in seen if hit.space == name]
            if told and space.may(write=True):
                space.visit(told)

    def marked(self, text: str) -> str:
        """Return the text between two markers of the store, to show to a model: if it is added to a memory again, it is
        removed. The same text gets the same markers, so that a prompt that is sent again does not change."""
        return injected_blocks.wrap(text, self._parts.nonce_key(), steady=True)

    def pages(
        self,
        tier: Tier | str | None = None,
        *,
        limit: int | None = None,
        before: int | None = None,
        thread: str | None = None,
        segment: str | None = None,
        scope: Scope | None = None,
        as_of: At = None,
        valid_at: At = None,
    ) -> tuple[Page, ...]:
        """Return pages in order of arrival, of one tier, thread or segment (by its id; none for an unknown one); the
        newest `limit` with a number below `before`.
        `scope`: those of which something is in scope, with that part. `as_of` a time: as they were known then;
        `valid_at`: what was said by then."""
        if tier is not None:
            tier = messages.one_of(Tier, tier, "tier")
        for where, number in (("limit", limit), ("before", before)):
            if number is not None:
                messages.whole(number, where, 0)
        short = self._parts.settings.short_term_pages
        own = None if thread is None else messages.thread_id(thread)
        moment = self._moment(as_of, valid_at)
        seen = self._in_scope(scope, moment)
        found = self._store.reads.pages(
            self.owner.id,
            short,
            moment=moment,
            tier=tier,
            before=before,
            limit=limit,
            thread=own,
            segment=None if segment is None else SegmentId(segment),
            within=None if seen is None else seen.within,
        )
        shown = self._hidden().shown_pages(found)
        if len(shown) == len(found) or limit is None or len(found) < limit:
            return shown
        left = limit - len(shown)  # of a list in parts: as many as were asked for
        then = {"as_of": as_of, "valid_at": valid_at}
        rest = self.pages(tier, limit=left, before=found[0].no, thread=thread, segment=segment, scope=scope, **then)
        return (*rest, *shown)

    def page(self, page_id: str, *, as_of: At = None, valid_at: At = None) -> Page:
        """Return one page, also as of a time. Raises NotFound."""
        short, moment = self._parts.settings.short_term_pages, self._moment(as_of, valid_at)
        found = self._store.reads.pages_by_id(self.owner.id, [PageId(page_id)], short, moment=moment)
        ends = found[0].expires_at if found else None
        if not found or (ends is not None and ends <= self._parts.clock()):
            raise self._none_such("page", page_id)
        return found[0]

    def utterance(self, utterance_id: str) -> Utterance:
        """Return one utterance. Raises NotFound."""
        found = self._store.log.utterances_by_id(self.owner.id, [UtteranceId(utterance_id)])
        if not found or found[0].page_id in self._hidden().pages:
            raise self._none_such("utterance", utterance_id)
        return found[0]

    def utterances(
        self, after_seq: int = 0, *, limit: int | None = None, scope: Scope | None = None
    ) -> tuple[Utterance, ...]:
        """Return what was said in order of arrival: the next `limit` utterances after a seq, or all of them; those in
        `scope`."""
        messages.whole(after_seq, "after_seq", 0)
        if limit is not None:
            messages.whole(limit, "limit", 0)
        seen = self._in_scope(scope, NOW)
        found = self._store.log.utterances(
            self.owner.id, after_seq, limit, within=None if seen is None else seen.within
        )
        hidden = self._hidden().pages
        shown = tuple(one for one in found if one.page_id not in hidden)
        if len(shown) == len(found) or limit is None or len(found) < limit:
            return shown
        return (*shown, *self.utterances(found[-1].seq, limit=limit - len(shown), scope=scope))

    def segments(
        self, archived: bool = False, *, scope: Scope | None = None, as_of: At = None, valid_at: At = None
    ) -> tuple[Segment, ...]:
        """Return the segments of mid-term memory, or of the archive, oldest first; those all of which is in `scope`.
        `as_of` a time: as they were then; `valid_at`: those with something said by then, with only that part."""
        found = self._segments(archived, None, as_of, valid_at)
        seen = self._in_scope(scope, self._moment(as_of, valid_at))
        return found if seen is None else seen.whole(found)

    def segment(self, segment_id: str, *, as_of: At = None, valid_at: At = None) -> Segment:
        """Return one segment, of mid-term memory or of the archive, also as of a time. Raises NotFound."""
        found = self._segments(None, SegmentId(segment_id), as_of, valid_at)
        if not found:
            raise self._none_such("segment", segment_id)
        return found[0]

    def heat(self, segment: Segment, *, as_of: At = None) -> float:
        """Return the segment's heat now (paper, Eq. 3); `as_of` a time: of a segment as it was then."""
        from embermem.memoryos.ingest.mid_term import heat_of

        return heat_of(segment, self._at(as_of), self._parts.settings)

    def chains(self, *, scope: Scope | None = None, as_of: At = None, valid_at: At = None) -> tuple[Chain, ...]:
        """Return the dialogue chains, also as of a time; those all of which is in `scope`."""
        moment = self._moment(as_of, valid_at)
        found = self._hidden().shown_chains(self._store.reads.chains(self.owner.id, moment=moment))
        seen = self._in_scope(scope, moment)
        return found if seen is None else seen.whole(found)

    def persona(self, *, as_of: At = None, valid_at: At = None) -> Persona:
        """Return profiles, traits and current facts, as stored; or as known `as_of` a time, or true at `valid_at`."""
        moment = self._moment(as_of, valid_at)
        found = self._store.reads.persona(self.owner.id, moment)
        if moment.valid_at is not None:
            from embermem.memoryos.ingest.profile_lines import lines_before

            now = self._store.reads.persona(self.owner.id, replace(moment, valid_at=None))
            lines = sorted((*found.profile, *lines_before(found, now)), key=lambda line: line.name)
            found = replace(found, profile=tuple(lines))
        from embermem.memoryos.people import shown

        known = self._hidden(as_of, valid_at).shown(found)
        people = self._people_of(known, moment)
        return replace(known, facts=shown(known.facts, people), agent_facts=shown(known.agent_facts, people))

    def _without_facts(self, as_of: At, valid_at: At) -> Persona:
        """Profiles and traits as `persona` gives them. Of now, no fact is read but those by whose end they end."""
        hidden = self._hidden()
        if as_of is not None or valid_at is not None or hidden.seqs:
            return self.persona(as_of=as_of, valid_at=valid_at)
        return hidden.shown(self._store.reads.persona(self.owner.id, NOW, replace(HELD, expired_by=hidden.at)))

    def people(self, *, as_of: At = None) -> tuple[Person, ...]:
        """Return everybody whom this memory knows, the user and the agent first: speakers, and those told of by name or
        as somebody's relative, each with their names and how many current facts there are. As known `as_of` a time."""
        return self._people(as_of).all()

    def facts(
        self,
        about: About | str | None = None,
        archived: bool = False,
        *,
        person: str | None = None,
        scope: Scope | None = None,
        as_of: At = None,
        valid_at: At = None,
    ) -> tuple[Fact, ...]:
        """Return everybody's current facts, oldest first, or one `person`'s, by a name or kin word ("Ana", "Bob's
        sister", "user"); or those that the cap of 100 a person archived. Raises NotFound for an unknown person.

        `about` "user" leaves out what is known of the agent's side, "agent" all else. `as_of` a time: what was known
        then. `valid_at` a time: what was true then, by what is known now (or was known `as_of`), including facts
        superseded since; facts that were corrected or undone were never true. `scope`: those that rest on nothing else.
        """
        of = None if about is None else messages.one_of(About, about, "about")
        selection = replace(ARCHIVED if archived else HELD, about=of)
        moment = self._moment(as_of, valid_at)
        found = self._hidden(as_of, valid_at).shown_facts(self._store.reads.facts(self.owner.id, selection, moment))
        seen, told = self._in_scope(scope, moment), self._of_person(found, person, as_of)
        return told if seen is None else seen.facts(told)

    def instructions(self, *, scope: Scope | None = None, as_of: At = None, valid_at: At = None) -> tuple[Fact, ...]:
        """Return the user's standing instructions that hold, oldest first: facts of the attributes `instruction` and
        `instruction_<matter>`. They are told with every recall. Empty while it is undecided who the user is. Known
        `as_of` a time, or in force at `valid_at`. `scope`: those that rest on nothing else."""
        from embermem.memoryos.people import shown

        moment = self._moment(as_of, valid_at)
        told = self._store.reads.facts(self.owner.id, replace(HELD, instructing=True), moment)
        held = self._hidden(as_of, valid_at).shown_facts(told)
        seen, people = self._in_scope(scope, moment), self._people(as_of)
        found = shown(held, people) if seen is None else seen.facts(shown(held, people))
        return tuple(one for one in found if people.is_user(one.subject))

    def past_facts(
        self, *, person: str | None = None, scope: Scope | None = None, as_of: At = None
    ) -> tuple[Fact, ...]:
        """Return facts that have ended, superseded or retired, with the time until which they were true, everybody's or
        one `person`'s; also as of a time. `scope`: those that rest on nothing else, and were ended by nothing else."""
        moment = self._moment(as_of)
        found = self._hidden(as_of).shown_facts(self._store.reads.facts(self.owner.id, ENDED, moment))
        seen = self._in_scope(scope, moment)
        return self._of_person(found if seen is None else seen.facts(found), person, as_of)

    def facts_resting_on(self, seqs: Iterable[int]) -> tuple[Fact, ...]:
        """Return the facts, current, archived and past, that rest on any of these utterances (by `seq`), the most
        recently confirmed last."""
        wanted = frozenset(seqs)
        for seq in wanted:
            messages.whole(seq, "seqs", 0)
        if not wanted:
            return ()
        found = self._store.reads.facts(self.owner.id, FactSelection(resting_on=wanted))
        return self._of_person(self._hidden().shown_facts(found), None, None)

    def fact(self, fact_id: str, *, as_of: At = None) -> Fact:
        """Return one fact, current, archived or past; also as of a time. Raises NotFound."""
        selection = FactSelection(ids=frozenset({FactId(fact_id)}))
        found = self._store.reads.facts(self.owner.id, selection, self._moment(as_of))
        if not found or not self._hidden().stands(found[0].sources):
            raise self._none_such("fact", fact_id)
        return self._of_person(found, None, as_of)[0]

    def named(self, item_ids: Iterable[str]) -> Mapping[str, Fact | Segment]:
        """Return facts (current, archived or past) and segments by their ids; what is not there is left out."""
        ids, hidden = frozenset(item_ids), self._hidden()
        facts = FactSelection(ids=frozenset(FactId(one) for one in ids if one.startswith("f")))
        segments = [SegmentId(one) for one in sorted(ids) if one.startswith("s")]
        found = self._store.reads.facts(self.owner.id, facts) if facts.ids else ()
        held = self._store.reads.segments(self.owner.id, ids=segments) if segments else ()
        shown = self._of_person((one for one in found if hidden.stands(one.sources)), None, None)
        named: dict[str, Fact | Segment] = {one.id: one for one in shown}
        return named | {one.id: one for one in hidden.shown_segments(held)}

    def traits(self, *, as_of: At = None, valid_at: At = None) -> tuple[Trait, ...]:
        """Return the user's known traits, out of 90; age group and gender are derived from the profile. As known
        `as_of` a time, or true at `valid_at`, with the age at that time."""
        from embermem.memoryos.ingest.profile_lines import derived_traits

        persona = self._without_facts(as_of, valid_at)
        asked = as_of if valid_at is None else valid_at
        now = self._parts.clock() if asked is None else self._inbox().moment(asked, "as_of")
        derived = derived_traits(persona.profile, now)
        names = {trait.dimension for trait in derived}
        return (*derived, *(trait for trait in persona.traits if trait.dimension not in names))

    def profile(self, person: str | None = None, *, as_of: At = None, valid_at: At = None) -> tuple[ProfileField, ...]:
        """Return the user's profile, or that of another `person`, from the facts about them; as known `as_of` a time,
        or true at `valid_at`. Raises NotFound for an unknown person."""
        if person is None:
            return self._without_facts(as_of, valid_at).profile
        from embermem.languages.people import AGENT, USER
        from embermem.memoryos.people import profile_from

        found = self._found_person(self._people(as_of), person)
        if found in (USER, AGENT):
            persona = self._without_facts(as_of, valid_at)
            own = persona.profile if found == USER else persona.agent_profile
            if own:
                return own
        found_facts = self.facts(person=person, as_of=as_of, valid_at=valid_at)
        return profile_from(found_facts, self._parts.settings.attributes)

    def agent_profile(self, *, as_of: At = None, valid_at: At = None) -> tuple[ProfileField, ...]:
        """Return the agent's profile; as `profile`."""
        return self._without_facts(as_of, valid_at).agent_profile

    def changes(
        self,
        since: int | At = 0,
        *,
        limit: int | None = None,
        before: int | None = None,
        cause: Cause | str | None = None,
        kinds: Iterable[str] | None = None,
        wait_s: float = 0.0,
    ) -> tuple[Change, ...]:
        """Return the log of derived memory in order: the next `limit` changes after `since`, a number or a recording
        time, or with `before` the last `limit` with a number below it; of one cause. With `kinds` ("fact_added") each
        change has its decisions of these kinds only; the others are not read. If there are no changes, wait for up to
        `wait_s` seconds (60) until any process makes some."""
        if since is None or isinstance(since, date | str):  # a datetime is a date
            since = self._inbox().moment(since, "since")
        else:
            messages.whole(since, "since", 0)
        for where, number in (("limit", limit), ("before", before)):
            if number is not None:
                messages.whole(number, where, 0)
        causes = None if cause is None else [messages.one_of(Cause, cause, "cause")]
        wanted = None if kinds is None else _decisions(kinds)
        if not 0 <= wait_s <= LONGEST_WAIT_S:
            raise InputError(f"wait_s = {wait_s} is not allowed; a number of seconds from 0 to {LONGEST_WAIT_S:g}")
        read = (
            self._store.change_log.changes
            if before is None
            else partial(self._store.change_log.last_changes, before=before)
        )
        until, pause = time.monotonic() + wait_s, _FIRST_LOOK_S
        while True:
            state = self.state()
            after = since if isinstance(since, int) else self._store.change_log.revision_at(self.owner.id, since)
            found = read(self.owner.id, since=after, limit=limit, causes=causes, kinds=wanted)
            while not found and (left := until - time.monotonic()) > 0 and self.state() == state:
                time.sleep(min(pause, left))
                pause = min(2 * pause, _LONGEST_LOOK_S)
            if found or time.monotonic() >= until:
                return found

    def diff(self, earlier: At, later: At = None) -> Diff:
        """Return what changed between two times, or until now: pages, facts, traits, profile lines, segments, and the
        numbers of the changes. Content forgotten since is left out.

        Raises InputError for times whose derived memory was discarded, and if the first time is missing or not the
        earlier one.
        """
        from embermem.memoryos.history import diff

        inbox = self._inbox()
        if earlier is None:
            raise InputError("earlier is missing; give a time, such as 2026-05-02T10:00:00+02:00")
        since, until = inbox.moment(earlier, "earlier"), inbox.moment(later, "later")
        if since > until:
            raise InputError(f"earlier = {since.isoformat()} is after later = {until.isoformat()}")
        found = diff.diff(self._store, self.owner.id, since, until)
        were, are = ({(one.older.id, one.newer.id): one for one in self._conflicts(at)} for at in (since, until))
        return replace(
            found,
            conflicts_added=tuple(one for pair, one in are.items() if pair not in were),
            conflicts_ended=tuple(one for pair, one in were.items() if pair not in are),
            facts_added=self._of_person(found.facts_added, None, later),
            facts_ended=self._of_person(found.facts_ended, None, later),
        )

    def change(self, no: int) -> Change:
        """Return one change by its number. Raises NotFound."""
        messages.whole(no, "no", 1)
        found = self._store.change_log.last_changes(self.owner.id, 1, since=no - 1, before=no + 1)
        if not found:
            raise NotFound(f"there is no change {no}")
        return found[0]

    def history(self, item_id: str) -> tuple[Change, ...]:
        """Return the changes that name a fact, page, segment or chain, in order, each with only the decisions that
        do. Raises NotFound."""
        from embermem.memoryos.history import item_history

        found = item_history.history(self._store.change_log.changes_naming(self.owner.id, item_id), item_id)
        if not found and not self._store.reads.pages_by_id(self.owner.id, [PageId(item_id)]):
            raise self._none_such("fact, page, segment or chain", item_id)
        return found

    def _segments(self, archived: bool | None, only: SegmentId | None, as_of: At, valid_at: At) -> tuple[Segment, ...]:
        moment = self._moment(as_of, valid_at)
        return self._hidden().shown_segments(
            self._store.reads.segments(
                self.owner.id, moment=moment, archived=archived, ids=None if only is None else [only]
            )
        )

    def _people(self, as_of: At = None) -> People:
        """Whom this memory knew, from the persona as stored: facts with their subjects as they were said. It is worked
        out once for each state of the memory, and of now not all facts are read for it."""
        moment = self._moment(as_of)
        state, kept, key = self.state(), self._parts.people, (self.owner.id, moment.revision)
        at = "" if state is None else self._store.index.mark(self.owner.id, state.seq, state.revision)
        known = kept.pop(key, None)
        if known is None or known[0] != (state, at):  # the mark: another copy of the database may have the same numbers
            people = self._people_now() if moment.is_now else self._people_of(self._persona_then(as_of), moment)
            known = (state, at), people
        kept[key] = known
        for old in list(kept)[:-PEOPLE_KEPT]:
            kept.pop(old, None)
        return known[1]

    def _people_now(self) -> People:
        from embermem.memoryos.people import NAMING, names_relative

        owner_id, admin = self.owner.id, self._parts.admin
        subjects = admin.subjects(owner_id)
        naming = set(admin.fact_ids(owner_id, replace(HELD, attributes=NAMING)))
        if in_full := frozenset(filter(names_relative, subjects)):
            naming.update(admin.fact_ids(owner_id, replace(HELD, subjects=in_full)))
        people = self._people_told_of(naming, subjects)
        if unclear := frozenset(filter(people.is_unclear, subjects)):
            naming.update(admin.fact_ids(owner_id, replace(HELD, subjects=unclear)))
            people = self._people_told_of(naming, subjects)
        return people

    def _people_told_of(self, facts: Iterable[FactId], subjects: Mapping[str, int]) -> People:
        persona = self._store.reads.persona(self.owner.id, NOW, replace(HELD, ids=frozenset(facts)))
        return self._people_of(persona, NOW, subjects)

    def _people_of(self, persona: Persona, moment: Moment, subjects: Mapping[str, int] | None = None) -> People:
        from embermem.memoryos.conflicts import known_people

        return known_people(self._store, self.owner, persona, self._parts.settings.attributes, moment, subjects)

    def _conflicts(self, as_of: At) -> tuple[Conflict, ...]:
        people = self._people(as_of)
        return tuple(Conflict(older=people.shown(one), newer=people.shown(other)) for one, other in people.conflicts)

    def _persona_then(self, as_of: At = None) -> Persona:
        return self._store.reads.persona(self.owner.id, self._moment(as_of))

    def _of_person(self, facts: Iterable[Fact], person: str | None, as_of: At) -> tuple[Fact, ...]:
        """Facts with the names of the persons they are about; those of one person."""
        from embermem.memoryos.people import shown

        facts = tuple(facts)
        if not facts and person is None:
            return ()
        people = self._people(as_of)
        if person is not None:
            about = {fact.id: people.of(fact) for fact in facts}  # who is known from these alone is known then
            wanted = self._found_person(people, person)
            facts = tuple(fact for fact in facts if about[fact.id] == wanted)
        return shown(facts, people)

    def _found_person(self, people: People, person: str) -> str:
        from embermem.memoryos.namesakes import ambiguous

        name = messages.name(person, "person")
        if namesakes := people.namesakes(name):
            raise InputError(ambiguous(name, namesakes))
        found = people.find(name)
        if found is None:
            raise NotFound(f"there is no person {person!r}; `people()` lists those known")
        return found

    def _hidden(self, as_of: At = None, valid_at: At = None) -> Hidden:
        """What has expired by now, and facts by the time that is asked of, until a worker comes by."""
        now, asked = self._parts.clock(), _first_given(valid_at, as_of)
        pages, seqs = self._store.reads.expired(self.owner.id, now)
        return Hidden(pages=pages, seqs=seqs, at=now if asked is None else self._inbox().moment(asked, "valid_at"))

    def state(self) -> OwnerState | None:
        """Return the position of both logs and of the work on them; None if nothing was said yet. One indexed read."""
        return self._store.log.owner_state(self.owner.id)

    def stats(self) -> OwnerStats:
        """Return counts of this memory."""
        parts = self._parts
        stats = parts.admin.owner_stats(self.owner.id, parts.settings.short_term_pages)
        outdated = parts.admin.outdated(parts.system.extractive_name, self.owner)
        return replace(stats, outdated=outdated.get(self.owner, ()))


def _decisions(kinds: Iterable[str]) -> list[type[Decision]]:
    """Kinds of decisions by what the API calls them. Raises InputError for one that there is not."""
    kinds = tuple(kinds)
    if unknown := [one for one in kinds if one not in BY_API_KIND]:
        raise InputError(f"kinds holds {unknown[0]!r}, which is none; known: {', '.join(sorted(BY_API_KIND))}")
    return [BY_API_KIND[one] for one in kinds]


def _zoned(scope: Scope | None, inbox: messages.Inbox) -> Scope | None:
    """A scope with its times in the owner's zone."""
    return None if scope is None else scope.in_zone(inbox.zone)


def _names_days(text: str) -> bool:
    """Whether a query names days, which are counted in the owner's zone."""
    from embermem.languages.dates.engine import names_days

    return names_days(text)


def _first_given(*times: At) -> At:
    return next((time for time in times if time is not None), None)
