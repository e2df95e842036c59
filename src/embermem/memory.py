"""The public face: `Memory` is one store, `OwnerMemory` one owner's memory in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from embermem import config as configuration
from embermem import ids, messages
from embermem.config import Settings
from embermem.errors import ConfigError, InputError, NotFound, RevisionMoved
from embermem.messages import At
from embermem.types import (
    About,
    Added,
    Chain,
    Context,
    Fact,
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
)

if TYPE_CHECKING:
    from embermem.changes import Change, ProfileSet
    from embermem.protocols import Finding, OwnerStats, Scope, Stats, Store

_REINDEXING = "reindexing"
"""The store's setting that names the embedder of a reindex not yet finished."""
_LONGEST_KEY = 256
_TRIES = 16
"""How often a profile is set anew when another change came first."""


class Memory:
    """A store of memories: a path or an sqlite:/// URL, and settings.

    Settings are taken from argument > `EMBERMEM_*` > file > preset; see `embermem.config.Settings` for all of them.
    `clock` gives the time (with a zone) and is asked for nothing else than now. `reindex` opens a store whose vectors
    are of another embedder than the one set: until `reindex()` is called, recall goes by words.

    Raises ConfigError for a bad setting, StoreError for a store that cannot be opened, EmbedderMismatch for one whose
    vectors are of another embedder.
    """

    def __init__(
        self,
        place: str | Path,
        *,
        preset: str | None = None,
        config: str | Path | None = None,
        clock: Callable[[], datetime] | None = None,
        reindex: bool = False,
        **settings: object,
    ) -> None:
        from embermem import bootstrap
        from embermem.background import Background

        self.settings: Settings = configuration.load(preset, config=config, **settings)
        self._clock = clock or bootstrap.wall_clock
        self._store = bootstrap.open_store(place, self.settings)
        try:
            self._embedder = bootstrap.choose_embedder(self._store, self.settings, reindex=reindex)
        except BaseException:
            self._store.close()
            raise
        self._system = bootstrap.make_system(self._store, self._embedder, self.settings, self._clock)
        self._background = Background(self._work_behind, self.settings.poll_s)

    def of(self, user: str, agent: str = "default", *, timezone: str | None = None) -> OwnerMemory:
        """The memory of one (user, agent) pair: the handle through which everything goes.

        `timezone` is the IANA zone of this owner's times that come without one; it is kept, and
        written only where it changes. Writes nothing else.
        """
        owner = Owner(
            id=ids.owner_id(messages.name(user, "user"), messages.name(agent, "agent")), user=user, agent=agent
        )
        if timezone is not None:
            _zone(timezone)
            state = self._store.owner_state(owner.id)
            if state is None or state.timezone != timezone:
                self._store.set_timezone(owner, timezone, self._clock())
        return OwnerMemory(self, owner)

    def owners(self) -> tuple[Owner, ...]:
        """Everyone with a memory here."""
        return self._store.owners()

    @property
    def embedder_name(self) -> str:
        """The embedder whose vectors this store holds."""
        return self._embedder.name

    def work(
        self,
        limit_s: float | None = None,
        owner_done: Callable[[Owner], None] | None = None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> int:
        """Do what is due for all owners, once: embed, place, promote. The number of pages placed."""
        return self._system.work(limit_s=limit_s, owner_done=owner_done, stopping=stopping)

    def reindex(self, embedder: str | None = None, progress: Callable[[int, int], None] | None = None) -> int:
        """Make every vector again; the number of utterances embedded.

        With an embedder named, those that it has not made; without, all of them, by the one in use. It may be
        interrupted: what is done is kept, recall goes on by words for what is not, and calling it again (or just
        working on) does the rest.
        """
        from embermem import bootstrap

        if embedder is not None:
            self._embedder = bootstrap.make_embedder(embedder, self.settings)
        name, dim = self._embedder.name, self._embedder.dim
        made_by_it = (self._store.setting("embedder"), self._store.setting("dim")) == (name, str(dim))
        goes_on = embedder is not None or self._store.setting(_REINDEXING) == name
        if not (made_by_it and goes_on):
            self._store.begin_reindex(name, dim, self._clock())
            bootstrap.remember(self._store, self._embedder)
            self._store.remember({_REINDEXING: name})
        self._system = bootstrap.make_system(self._store, self._embedder, self.settings, self._clock)
        done = self._system.reindex(progress)
        self._store.remember({_REINDEXING: ""})
        return done

    def stats(self) -> Stats:
        """Counts of the whole store."""
        return self._store.stats(self._clock(), self.settings.short_term_pages)

    def check(self) -> tuple[Finding, ...]:
        """Whether the store is sound, and what to do if not."""
        return self._store.check()

    def close(self) -> None:
        """End the background thread after its step in hand, and close the store."""
        self._background.stop()
        self._store.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _work_behind(self) -> None:
        self._system.work(stopping=lambda: self._background.stopping)

    def _added(self) -> None:
        if self.settings.background:
            self._background.wake()


class OwnerMemory:
    """One owner's memory. It reaches no other owner's."""

    def __init__(self, memory: Memory, owner: Owner) -> None:
        self.owner = owner
        self._memory = memory

    @property
    def _store(self) -> Store:
        return self._memory._store

    # --------------------------------------------------------------------------------------------------------- in

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
        alone joins the newest page of its thread. The same `key` given twice stores one page. Raises InputError.
        """
        made, digest = self._inbox().exchange(query, response, at, thread)
        return self._observe(made, key, digest, fresh=query is not None).page_ids[-1]

    def add_messages(
        self, messages: Sequence[Mapping[str, Any]], *, thread: str = "main", at: At = None, key: str | None = None
    ) -> Added:
        """Add messages in OpenAI's format, in one transaction. Each may carry a `name` and an `at` of its own.

        They may come one at a time and in separate calls: the pages are the same. Raises InputError.
        """
        made, digest = self._inbox().openai(messages, at, thread)
        return self._observe(made, key, digest, fresh=False)

    def settle(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Understand what is pending, now; the number of pages placed into segments."""
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
            owner=self.owner, zone=_zone(zone), now=self._memory._clock(), max_chars=settings.max_text_chars
        )

    # -------------------------------------------------------------------------------------------------------- out

    def recall(
        self,
        query: str,
        *,
        at: At = None,
        budget: int | None = None,
        thread: str | None = None,
        scope: Scope | None = None,
    ) -> Context:
        """The little that matters for a query, as text within `budget` tokens, with its sources. Writes nothing.

        `at` is the time of asking; `thread` the conversation in which it is asked, whose open page is always told;
        `scope` narrows what may be found.
        """
        if budget is not None:
            messages.whole(budget, "budget", 1)
        inbox = self._inbox()
        return self._memory._system.recall(
            self.owner,
            messages.checked(query, "query", self._memory.settings.max_text_chars),
            at=inbox.moment(at, "at"),
            budget=budget,
            thread=None if thread is None else messages.thread_id(thread),
            scope=scope,
        )

    def search(self, query: str, k: int = 10, *, scope: Scope | None = None) -> tuple[Hit, ...]:
        """The best `k` utterances for a query. Writes nothing."""
        messages.whole(k, "k", 1)
        text = messages.checked(query, "query", self._memory.settings.max_text_chars)
        return self._memory._system.search(self.owner, text, k, scope=scope)

    def visit(self, hits: Iterable[Hit]) -> None:
        """Count these hits as visits of their segments: their heat grows. The one write of a read."""
        hits = tuple(hits) if isinstance(hits, Iterable) else (hits,)
        if not all(isinstance(hit, Hit) for hit in hits):
            raise InputError("visit takes hits, such as those of context.packed")
        self._memory._system.visit(self.owner, hits)

    def pages(
        self, tier: Tier | str | None = None, *, limit: int | None = None, before: int | None = None
    ) -> tuple[Page, ...]:
        """Pages in order of arrival; of one tier; the newest `limit` with a number below `before`."""
        if tier is not None:
            try:
                tier = Tier(tier)
            except ValueError as error:
                raise InputError(f"tier = {tier!r} is not allowed; one of: {', '.join(Tier)}") from error
        for where, number in (("limit", limit), ("before", before)):
            if number is not None:
                messages.whole(number, where, 0)
        short = self._memory.settings.short_term_pages
        return self._store.pages(self.owner.id, short, tier=tier, before=before, limit=limit)

    def page(self, page_id: str) -> Page:
        """One page. Raises NotFound."""
        page = self._store.page(self.owner.id, PageId(page_id), self._memory.settings.short_term_pages)
        if page is None:
            raise NotFound(f"no page {page_id!r} of {self.owner.user}/{self.owner.agent}")
        return page

    def segments(self, archived: bool = False) -> tuple[Segment, ...]:
        """The segments of mid-term memory, or of the archive, oldest first."""
        return self._store.segments(self.owner.id, archived=archived, only=None)

    def segment(self, segment_id: str) -> Segment:
        """One segment, of mid-term memory or of the archive. Raises NotFound."""
        found = self._store.segments(self.owner.id, archived=None, only=SegmentId(segment_id))
        if not found:
            raise NotFound(f"no segment {segment_id!r} of {self.owner.user}/{self.owner.agent}")
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

    def set_profile(self, **fields: str | int | None) -> None:
        """Set fields of the user's profile, such as name or birth_year; None takes one away.

        What the caller sets is not overwritten by an analyst. Raises InputError.
        """
        self._set_profile(About.USER, fields)

    def set_agent_profile(self, *description: str | None, **fields: str | int | None) -> None:
        """Set the agent's profile: a description of its role, or fields of any name; None takes one away."""
        if len(description) > 1:
            raise InputError("give one description of the agent, and the rest as fields")
        self._set_profile(About.AGENT, {**dict(zip(("description",), description, strict=False)), **fields})

    def changes(self, since: int = 0) -> tuple[Change, ...]:
        """The log of what was derived, and why."""
        messages.whole(since, "since", 0)
        return self._store.changes(self.owner.id, since)

    def stats(self) -> OwnerStats:
        """Counts of this memory."""
        return self._store.owner_stats(self.owner.id, self._memory.settings.short_term_pages)

    def _set_profile(self, whose: About, fields: Mapping[str, str | int | None]) -> None:
        from embermem.changes import Cause

        decisions = [_profile_set(whose, name, value) for name, value in fields.items()]
        if not decisions:
            raise InputError("no field was named; give some, such as name='Alice'")
        for attempt in range(_TRIES):
            state = self._store.owner_state(self.owner.id)
            try:
                self._store.apply(
                    self.owner,
                    Cause.PROFILE,
                    "",
                    decisions,
                    now=self._memory._clock(),
                    revision=0 if state is None else state.revision,
                    lease=None,
                )
                return
            except RevisionMoved:
                if attempt == _TRIES - 1:
                    raise


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


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError, TypeError) as error:
        raise ConfigError(f"timezone = {name!r} is not an IANA time zone such as Europe/Paris") from error
