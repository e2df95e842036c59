"""One owner's memory: what is added to it, read, corrected and forgotten."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from embermem import config as configuration
from embermem import messages, telemetry
from embermem.config import Preset
from embermem.errors import ConfigError, InputError, KeyReused, NotFound, RevisionMoved, StoreError
from embermem.messages import At
from embermem.types import (
    About,
    Added,
    Chain,
    Context,
    Fact,
    FactId,
    Forgotten,
    Hit,
    Owner,
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
    from embermem.changes import Cause, Change, Decision, ProfileSet
    from embermem.chat import ChatReply, ChatStream
    from embermem.memory import Memory
    from embermem.protocols import OwnerState, OwnerStats, Scope, Store
    from embermem.rebuilding import Difference

logger = logging.getLogger(__name__)

_LONGEST_KEY = 256
_LONGEST_FACT = 2000
_ALL = 2**53
_TRIES = 16
"""How often a change is decided anew when another came first."""


class OwnerMemory:
    """One owner's memory. It reaches no other owner's."""

    def __init__(self, memory: Memory, owner: Owner) -> None:
        self.owner = owner
        self._memory = memory
        self._watch = telemetry.Watch(store_id=owner.id, trace_text=memory.settings.trace_text, done=memory.done)

    @property
    def _store(self) -> Store:
        return self._memory._store

    # --------------------------------------------------------------------------------------------------------- in

    @telemetry.spanned(telemetry.CREATE)
    def add(
        self,
        query: str | None,
        response: str | None = None,
        *,
        at: At = None,
        thread: str = "main",
        key: str | None = None,
    ) -> PageId:
        """Add an exchange; the id of its page. When it returns, the page is on disk and can be recalled.

        `at` is when it was said (a datetime or ISO 8601; now by default). A side that is None is missing: a response
        alone joins the newest page of its thread. The same `key` given twice stores one page, and what was forgotten
        is not stored again. Raises InputError, of which KeyReused for a key of other content, or of what was forgotten.
        """
        made, digest = self._inbox().exchange(query, response, at, thread)
        added = self._observe(made, key, digest, fresh=query is not None)
        if not added.page_ids:
            raise KeyReused(f"what was stored under the key {key!r} was forgotten; it is not stored again")
        return added.page_ids[-1]

    @telemetry.spanned(telemetry.CREATE)
    def add_messages(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        thread: str = "main",
        at: At = None,
        key: str | None = None,
        fresh: bool = False,
    ) -> Added:
        """Add messages in OpenAI's format, in one transaction. Each may carry a `name` and an `at` of its own.

        They may come one at a time and in separate calls: the pages are the same. With `fresh`, the first that the user
        says begins a page of its own, as `add` does. With a `key` given before, what of it was forgotten since is not
        stored again, nor named. Raises InputError.
        """
        made, digest = self._inbox().openai(messages, at, thread)
        return self._observe(made, key, digest, fresh=bool(fresh))

    def settle(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Understand what is pending, now; the number of pages placed into segments.

        With a model, what was understood by extraction before it was set is read again too. Where the model fails or
        its budget is spent, pages stay pending and are tried later: `stats().failed` counts them, `page.error` says
        why. Raises EmbedderError, StoreError.
        """
        return self._memory._system.settle(self.owner, progress)

    def _observe(self, made: Sequence[Any], key: str | None, digest: str, fresh: bool) -> Added:
        if key is not None:
            messages.name(key, "key", longest=_LONGEST_KEY)
        added = self._memory._system.observe(self.owner, made, key=key, digest=digest, fresh=fresh)
        self._memory._added()
        return added

    def _inbox(self) -> messages.Inbox:
        state = self._store.owner_state(self.owner.id)
        settings = self._memory.settings
        zone = settings.timezone if state is None or state.timezone is None else state.timezone
        return messages.Inbox(
            owner=self.owner,
            zone=zone_of(zone),
            now=self._memory._clock(),
            max_chars=settings.max_text_chars,
            nonce_key=self._memory.nonce_key,
        )

    # -------------------------------------------------------------------------------------------------------- out

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

    def set_profile(self, /, **fields: str | int | None) -> None:
        """Set fields of the user's profile, such as name or birth_year; None takes one away.

        What the caller sets is not overwritten by an analyst. Raises InputError.
        """
        self._set_profiles({About.USER: fields})

    def set_agent_profile(self, /, *description: str | None, **fields: str | int | None) -> None:
        """Set the agent's profile: a description of its role, or fields of any name; None takes one away."""
        if len(description) > 1:
            raise InputError("give one description of the agent, and the rest as fields")
        self._set_profiles({About.AGENT: {**dict(zip(("description",), description, strict=False)), **fields}})

    def set_profiles(
        self,
        *,
        user: Mapping[str, str | int | None] | None = None,
        agent: Mapping[str, str | int | None] | None = None,
    ) -> None:
        """Set fields of both profiles in one change: all of them or, where one is refused, none. Raises InputError."""
        self._set_profiles({About.USER: user or {}, About.AGENT: agent or {}})

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

    # --------------------------------------------------------------------------------------- corrected and forgotten

    @telemetry.spanned(telemetry.UPDATE)
    def correct(self, fact_id: str, text: str, *, value: str | None = None) -> Fact:
        """A fact was wrong: the new one, which takes its place. `text` is the fact in words, `value` what it comes to
        ("Lyon"); the text, if not given.

        The old one stands in `past_facts`, as true for no time. What was said until now neither ends the new one nor
        teaches the old value again; what is said from now on may. Raises NotFound, and InputError for a fact that no
        longer holds or that says just this.
        """
        from embermem.changes import Cause
        from embermem.systems.memoryos.corrections import correcting

        says = messages.checked(text, "text", _LONGEST_FACT)
        means = says if value is None else messages.checked(value, "value", _LONGEST_FACT)
        if not says.strip() or not means.strip():
            raise InputError("a fact's text and value are not empty; `retire` says that it no longer holds")

        def decided(no: int, seq: int) -> Sequence[Decision]:
            fact, settings = self.fact(fact_id), self._memory.settings
            return correcting(fact, says, means, self.persona(), no=no, seq=seq, settings=settings)

        no = self._changing(Cause.CORRECTION, decided)
        return self.fact(f"f{no}-000")

    def pin(self, fact_id: str, pinned: bool = True) -> Fact:
        """Keep a fact from the cap of 100, or no longer; the fact as it is then. One that the cap has moved to the
        archive holds again. Raises NotFound, and InputError for a fact that no longer holds."""
        from embermem.changes import Cause
        from embermem.systems.memoryos.corrections import pinning

        self._changing(
            Cause.CORRECTION,
            lambda no, seq: pinning(self.fact(fact_id), bool(pinned), self.persona(), self._memory.settings),
        )
        return self.fact(fact_id)

    def retire(self, fact_id: str) -> Fact:
        """A fact is true no longer, from now on; it stands in `past_facts`. What was said until now does not teach it
        again. Raises NotFound, and InputError for one that holds no longer already."""
        from embermem.changes import Cause
        from embermem.systems.memoryos.corrections import retiring

        at = self._memory._clock()
        self._changing(Cause.CORRECTION, lambda no, seq: retiring(self.fact(fact_id), self.persona(), at=at, seq=seq))
        return self.fact(fact_id)

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

    def undo(self, change_no: int) -> int:
        """Take back what a change taught the persona; the number of the change that does so.

        Facts that it added are retired, those that it retired, superseded or moved to the archive hold again; traits
        and profile lines get what stood there before. What a later change built on is left alone: a fact said again or
        superseded since, a trait or line set since. Pages, chains and segments stay as they are. Undoing the change
        that this returns restores what was taken back.

        Raises NotFound for no such change, InputError where nothing can be taken back, as by a second undo.
        """
        from embermem.changes import Cause

        return self._changing(Cause.UNDO, lambda no, seq: self.undoing(change_no))

    def undoing(self, change_no: int) -> tuple[Decision, ...]:
        """What `undo` would decide now; changes nothing. Raises as `undo` does."""
        from embermem.systems.memoryos.undoing import TEACHING, undoing

        messages.whole(change_no, "change_no", 1)
        return tuple(undoing(self._store.decisions(self.owner.id, TEACHING), change_no, self._memory.settings))

    def understand_anew(
        self, *, dry_run: bool = False, progress: Callable[[int, int], None] | None = None
    ) -> Difference:
        """Read every page again with the present analyst, and say what came of it: see `rebuilding.understand_anew`.

        What callers set stays. With `dry_run` that happens in a copy of the store in a temporary folder: here nothing
        changes, but for the ledger, since a model's calls are made, and count.
        """
        from embermem import rebuilding

        memory = self._memory
        short = memory.settings.short_term_pages
        if not dry_run:
            return rebuilding.understand_anew(memory._store, memory._system, self.owner, short, memory._clock, progress)
        with memory._copied() as (store, system):
            return rebuilding.understand_anew(store, system, self.owner, short, memory._clock, progress)

    def state(self) -> OwnerState | None:
        """How far both logs and the work on them have come; None where nothing was said yet. One indexed read."""
        return self._store.owner_state(self.owner.id)

    def stats(self) -> OwnerStats:
        """Counts of this memory."""
        return self._store.owner_stats(self.owner.id, self._memory.settings.short_term_pages)

    # ------------------------------------------------------------------------------------------------------- chat

    @overload
    def chat(
        self,
        query: str,
        *,
        thread: str = ...,
        at: At = ...,
        system: str | None = ...,
        style: str | None = ...,
        budget: int | None = ...,
        stream: Literal[False] = ...,
    ) -> ChatReply: ...

    @overload
    def chat(
        self,
        query: str,
        *,
        thread: str = ...,
        at: At = ...,
        system: str | None = ...,
        style: str | None = ...,
        budget: int | None = ...,
        stream: Literal[True],
    ) -> ChatStream: ...

    def chat(
        self,
        query: str,
        *,
        thread: str = "main",
        at: At = None,
        system: str | None = None,
        style: str | None = None,
        budget: int | None = None,
        stream: bool = False,
    ) -> ChatReply | ChatStream:
        """The model's reply to what the user says, with the memory of what was known before; both are stored.

        The user's message is stored first: if the model fails, its page stays open, and what is said next joins it.
        `system` takes the place of our system prompt, `style` says how to reply ("short, warm"), `budget` is that of
        `recall`. With `stream` the reply comes piece by piece, and is stored when it was taken to its end.

        Raises ModelMissing without a model and InputError, before anything is stored; then ModelError, ModelWait.
        """
        from embermem import chat as chatting
        from embermem.protocols import Purpose, Scope

        asker = self._memory._asker
        if asker is None:
            raise chatting.no_model()
        settings = self._memory.settings
        for text, where in ((system, "system"), (style, "style")):
            if text is not None:
                messages.checked(text, where, settings.max_text_chars)
        if budget is not None:
            messages.whole(budget, "budget", 1)
        if not messages.checked(query, "query", 2 * settings.max_text_chars).strip():
            raise InputError("query is empty: there is nothing to reply to")
        added = self.add_messages([{"role": "user", "content": query}], thread=thread, at=at)
        page = self.page(added.page_ids[-1])
        asked = next(u for u in page.utterances if u.id == added.utterance_ids[-1])
        context = self.recall(asked.text, at=at, budget=budget, thread=thread, scope=Scope(before_seq=asked.seq))
        key = self._memory.nonce_key()
        shown = chatting.turns(
            self.pages(Tier.SHORT), asked.thread, asked.seq, settings.chat_turn_tokens, settings.token_counter
        )
        prompt = chatting.compose(
            asked,
            shown,
            context,
            now=asked.said_at.astimezone(self._inbox().zone),
            system=system,
            style=style,
            agent=self.agent_profile(),
            key=key,
        )

        def keep(text: str) -> ChatReply:
            kept = chatting.cleaned(text, key)
            self.add_messages([{"role": "assistant", "content": kept}], thread=thread, at=at)
            self._count_visit(context.packed)
            return chatting.ChatReply(text=kept, context=context, page_id=page.id)

        pieces = asker.stream(self.owner, Purpose.CHAT, prompt)
        reply = chatting.ChatStream(pieces, keep, context=context, page_id=page.id)
        return reply if stream else reply.whole()

    def _count_visit(self, hits: Iterable[Hit]) -> None:
        """Count a visit where that can be done: a reply that is stored does not fail for a counter."""
        try:
            self.visit(hits)
        except StoreError as error:
            logger.warning("a visit of %s/%s was not counted: %s", self.owner.user, self.owner.agent, error)

    def _set_profiles(self, given: Mapping[About, Mapping[str, str | int | None]]) -> None:
        from embermem.changes import Cause

        decisions = [
            _profile_set(whose, name, value) for whose, fields in given.items() for name, value in fields.items()
        ]
        if not decisions:
            raise InputError("no field was named; give some, such as name='Alice'")
        self._changing(Cause.PROFILE, lambda no, seq: decisions)

    def _none_such(self, kind: str, item_id: str) -> NotFound:
        return NotFound(f"no {kind} {item_id!r} of {self.owner.user}/{self.owner.agent}")

    def _changing(self, cause: Cause, decided: Callable[[int, int], Sequence[Decision]]) -> int:
        """The number of a change by the caller, 0 if there is nothing to change; if another came first, it is decided
        again. What is decided may name the change's number, and the seq of the newest utterance."""
        for attempt in range(_TRIES):
            state = self._store.owner_state(self.owner.id)
            revision, seq = (0, 0) if state is None else (state.revision, state.seq)
            decisions = decided(revision + 1, seq)
            if not decisions:
                return 0
            try:
                return self._store.apply(
                    self.owner,
                    cause,
                    "",
                    decisions,
                    now=self._memory._clock(),
                    revision=revision,
                    lease=None,
                ).no
            except RevisionMoved:
                if attempt == _TRIES - 1:
                    raise
        raise AssertionError("a loop that returns or raises")


def _named(page: str | None, fact: str | None, segment: str | None, thread: str | None) -> Mapping[str, str | None]:
    return {"page": page, "fact": fact, "segment": segment, "thread": thread}


def _profile_set(whose: About, name: str, value: str | int | None) -> ProfileSet:
    from embermem.changes import ProfileSet

    if not name.isidentifier() or len(name) > 64:
        raise InputError(f"{name!r} is not a field's name; give a word such as birth_year")
    if name == "birth_year" and value is not None and not (str(value).isdecimal() and 1800 <= int(value) <= 9999):
        raise InputError(f"birth_year = {value!r} is not a year")
    if value is not None and not isinstance(value, (str, int)):
        raise InputError(f"{name} is {type(value).__name__}; give a text or a whole number")
    text = None if value is None else messages.checked(str(value), name, 2000)
    return ProfileSet(whose=whose, name=name, value=text, sources=(), set_by="caller")


def zone_of(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError, TypeError) as error:
        raise ConfigError(f"timezone = {name!r} is not an IANA time zone such as Europe/Paris") from error
