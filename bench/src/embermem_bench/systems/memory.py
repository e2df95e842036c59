"""The papers' memory systems opened by name: one store, one system, and a handle for each owner.

    with open_system("amem", "amem.db") as memory:
        alice = memory.of("alice", agent="tutor")
        alice.add("I went to the wetland park.", "How was it?", at="2026-05-02T10:00:00+02:00")
        alice.settle()
        print(alice.recall("Where was I in May?").text)

What was said is kept in a store of Ember, and what a system makes of it in a file beside it (`record_file.py`).
MemoryOS has a richer face of its own: `embermem.Memory`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, overload
from zoneinfo import ZoneInfo

from embermem import bootstrap
from embermem.analysts import ExtractiveAnalyst, condense, keywords
from embermem.arguments import checked
from embermem.core import config as configuration
from embermem.core import messages
from embermem.core.errors import ConfigError, StoreError
from embermem.core.ids import new_id
from embermem.core.messages import At, Inbox
from embermem.core.types import Added, Context, Hit, Owner, Role, Scope, Utterance
from embermem_bench.systems.protocol import MemorySystem, ReplyingSystem
from embermem_bench.systems.recorded import Kit
from embermem_bench.systems.registry import MEMORYOS, SYSTEMS, claim, maker, open_records, records_path

if TYPE_CHECKING:
    from embermem.chat import ChatReply, ChatStream
    from embermem.core.config import Settings
    from embermem.protocols import Call, LanguageModel
    from embermem.store.sql import SqlStore
    from embermem_bench.systems.record_file import RecordFile

__all__ = ["OwnerSystem", "SystemMemory", "open_system"]

logger = logging.getLogger(__name__)

_READ_BY_EACH = frozenset(
    "background embedder embedder_url embedder_key model model_url model_key model_timeout_s model_retries "
    "model_retry_max_s model_breaker_failures model_breaker_s model_concurrency model_answer_tokens model_chat_tokens "
    "model_cache calls_per_day tokens_per_day owner_calls_per_day owner_tokens_per_day chat_turn_tokens "
    "short_term_pages hits token_counter k_1 b query_terms timezone max_text_chars redact never busy_timeout_s "
    "forgotten_key_file index_cache".split()
)
"""Settings that each of the papers' other systems reads, of the store, the model, the embedder and chat."""


def open_system(
    name: str,
    place: str | Path,
    *,
    options: Mapping[str, object] | None = None,
    model: str | LanguageModel | None = None,
    clock: Callable[[], datetime] | None = None,
    config: str | Path | None = None,
    **settings: object,
) -> SystemMemory:
    """Open a memory system by its name, on its own store at a path; MemoryOS's may be on a server.

    `name` is one of SYSTEMS, or `module:Class` of your own. `options` are numbers of the system (`numbers.py`), and
    settings those of `Memory`; to `memoryos` both are settings. Without a model each system does what it can. Nothing
    works in the background: call `settle`.

    Raises ConfigError for an unknown name, option or setting, for a setting that has no effect in this system, and for
    a store of another system; StoreError.
    """
    return SystemMemory(name, place, options, model, clock, config, settings)


def _loaded(
    name: str, options: Mapping[str, object], model: object, config: str | Path | None, settings: Mapping[str, object]
) -> Settings:
    """The settings of `Memory`; MemoryOS's options are among them. Raises ConfigError."""
    if name == MEMORYOS:
        if twice := options.keys() & settings.keys():
            raise ConfigError(f"given both as an option and as a setting: {', '.join(sorted(twice))}; give each once")
        settings = {**settings, **options}
    _refuse_without_effect(name, settings)
    named = model if isinstance(model, str) else None
    return configuration.load(config=config, model=named, **settings)  # type: ignore[arg-type]


def _refuse_without_effect(name: str, settings: Mapping[str, object]) -> None:
    """Raise ConfigError for a setting that exists and that this system does not read. Your own may read any."""
    if settings.get("background"):
        raise ConfigError(
            f"background = {settings['background']!r} has no effect: a system works when `settle` is called"
        )
    known = {field.name for field in fields(configuration.Settings)}
    given = {setting for setting, value in settings.items() if value is not None}
    unread = sorted((given & known) - _READ_BY_EACH)
    if unread and name in SYSTEMS and name != MEMORYOS:
        raise ConfigError(f"no effect in the memory system {name!r}: {', '.join(unread)}; its numbers are `options`")


@checked
class SystemMemory:
    """A store and the system that works on it; created by `open_system`."""

    def __init__(
        self,
        name: str,
        place: str | Path,
        options: Mapping[str, object] | None,
        model: str | LanguageModel | None,
        clock: Callable[[], datetime] | None,
        config: str | Path | None,
        given: Mapping[str, object],
    ) -> None:
        options = options or {}
        self.settings = settings = _loaded(name, options, model, config, given)
        self._clock = clock or bootstrap.wall_clock
        self.finders = bootstrap.finders(settings)
        self._records: RecordFile | None = None
        make, file = (None, None) if name == MEMORYOS else (maker(name, options), records_path(place))
        self._store = store = bootstrap.open_store(place, settings)
        try:
            claimed = claim(store, name)
            if claimed:
                self._records = open_records(file, claimed, settings.busy_timeout_s)
            made = bootstrap.make_model(model, settings)
            if name == MEMORYOS:
                self.settings = settings = bootstrap.fields_of(store, settings)
                bootstrap.check_instructions(settings, made)
            elif left := (*settings.never_kept.attributes, *settings.never_kept.sentences):
                raise ConfigError(f"never: {left[0]!r} is not held by {name!r}, only by MemoryOS")
            self.asker = bootstrap.make_asker(made, store, settings, self._clock)
            self._system = self._make_system(make)
            if name == MEMORYOS:
                bootstrap.adopt_fields(store, settings, self._clock)
        except BaseException:
            self.close()
            raise

    def _make_system(self, make: Callable[[Kit], MemorySystem] | None) -> MemorySystem:
        store, settings = self._store, self.settings
        embedder = bootstrap.choose_embedder(store, settings)
        if make is None or self._records is None:
            return bootstrap.make_system(store, embedder, settings, self._clock, self.asker)
        kit = Kit(
            log=store,
            records=self._records,
            embedder=embedder,
            asker=self.asker,
            extractive=ExtractiveAnalyst(),
            keywords=keywords,
            condense=condense,
            settings=settings,
            clock=self._clock,
            new_id=new_id,
        )
        return make(kit)

    @property
    def name(self) -> str:
        """The system's name."""
        return self._system.name

    @property
    def system(self) -> MemorySystem:
        """The system itself, for its own functions."""
        return self._system

    @property
    def store(self) -> SqlStore:
        """The store itself, for data that every system has: utterances, counts, calls."""
        return self._store

    @property
    def embedder_name(self) -> str:
        """The embedder in use."""
        return self._store.setting("embedder") or ""

    def of(self, user: str, agent: str = "default") -> OwnerSystem:
        """The memory of one (user, agent) pair. Writes nothing."""
        owner = messages.owner(user, agent)
        return OwnerSystem(self, owner)

    def now(self) -> datetime:
        """The current time of this memory's clock."""
        return self._clock()

    def owners(self) -> tuple[Owner, ...]:
        """Return all owners in the store."""
        return self._store.owners()

    def calls(self, since: datetime) -> tuple[Call, ...]:
        """Return the usage log of model calls since a time, oldest first."""
        return self._store.calls(since)

    def close(self) -> None:
        """Close the store, and the file of records."""
        self._store.close()
        if self._records is not None:
            self._records.close()

    def forget_owner(self, owner: Owner) -> None:
        """Remove every row of an owner, here and in the file of records."""
        if self._records is not None:
            self._records.forget_owner(owner.id)
        self._store.forget_owner(owner.id, self._clock())

    def __enter__(self) -> SystemMemory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True, eq=False)
@checked
class OwnerSystem:
    """One owner's memory in a system; created by `SystemMemory.of`."""

    _memory: SystemMemory
    owner: Owner

    def add(
        self,
        query: str | None,
        response: str | None = None,
        *,
        at: At = None,
        thread: str = "default",
        key: str | None = None,
    ) -> Added:
        """Store one exchange; durable when it returns. Raises InputError, KeyReused, StoreError."""
        made, digest, _ = self._inbox().exchange(query, response, at, thread)
        return self._memory.system.observe(self.owner, made, key=key, digest=digest, fresh=made[0].role is Role.USER)

    def add_messages(
        self, given: Sequence[Mapping[str, Any]], *, at: At = None, thread: str = "default", key: str | None = None
    ) -> Added:
        """Store messages of OpenAI's format, each with an optional `name` and `at`. Raises as `add`."""
        made, digest, _ = self._inbox().openai(given, at, thread)
        return self._memory.system.observe(self.owner, made, key=key, digest=digest)

    def settle(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Process what is pending; returns the number of pages. If a model fails, finished work is kept."""
        return self._memory.system.settle(self.owner, progress)

    def recall(
        self,
        query: str,
        *,
        at: At = None,
        budget: int | None = None,
        thread: str | None = None,
        scope: Scope | None = None,
    ) -> Context:
        """Return what matters for a query; hits name utterances. Only reads; `visit` counts.

        `at` is when it is asked, by default now: Mem0 and Mem0g recall what was known by then. `scope` limits what may
        be found; `people`, `tiers` and `kinds` of it are for MemoryOS alone. Raises InputError.
        """
        if budget is not None:
            messages.whole(budget, "budget", 1)
        return self._memory.system.recall(
            self.owner,
            messages.checked(query, "query", self._memory.settings.max_text_chars),
            at=None if at is None else self._inbox().moment(at, "at"),
            budget=budget,
            thread=None if thread is None else messages.thread_id(thread),
            scope=None if scope is None else scope.in_zone(self._inbox().zone),
        )

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
        thread: str = "default",
        at: At = None,
        system: str | None = None,
        style: str | None = None,
        budget: int | None = None,
        stream: bool = False,
    ) -> ChatReply | ChatStream:
        """Return the model's reply to a message, with what the system recalls for it; both are stored, as one page.

        The arguments are those of `OwnerMemory.chat`. The page is learnt by the next `settle`. MemGPT makes its
        reply by its own functions, which change its memory at once: it comes in one piece, and has no budget.

        Raises ModelMissing without a model, and InputError, before anything is stored; after that ModelError,
        ModelWait.
        """
        from embermem import chat as chatting

        memory, settings = self._memory, self._memory.settings
        if memory.asker is None:
            raise chatting.no_model()
        chatting.refuse_unusable(query, system=system, style=style, budget=budget, settings=settings)
        asked, key = self._said(Role.USER, query, at, thread), bootstrap.nonce_key(memory.store)
        stored: Callable[[Utterance], None]
        if isinstance(memory.system, ReplyingSystem):
            own = memory.system.reply(self.owner, asked, system=system, style=style)
            context, pieces, stored = own.context, iter((own.text,)), own.stored
        else:
            before = Scope(before_seq=asked.seq)
            context = self.recall(asked.text, at=asked.said_at, budget=budget, thread=thread, scope=before)
            pieces = chatting.pieces(
                memory.asker,
                self.owner,
                asked,
                memory.store.pages(self.owner.id, settings.short_term_pages, limit=chatting.turn_pages(settings)),
                context,
                settings=settings,
                zone=self._inbox().zone,
                system=system,
                style=style,
                key=key,
            )
            stored = partial(self._count_visit, context)

        def store(text: str) -> None:
            stored(self._said(Role.ASSISTANT, text, at, thread))

        reply = chatting.kept(pieces, asked, context, key=key, store=store)
        return reply if stream else reply.whole()

    def _count_visit(self, context: Context, _: Utterance) -> None:
        """Count a visit where that can be done: a reply that is stored does not fail for a counter."""
        try:
            self.visit(context.packed)
        except StoreError as error:
            logger.warning("a visit of %s/%s was not counted: %s", self.owner.user, self.owner.agent, error)

    def _said(self, role: Role, text: str, at: At, thread: str) -> Utterance:
        """What is stored of a message of a chat."""
        added = self.add_messages([{"role": role.value, "content": text}], at=at, thread=thread)
        (utterance,) = self._memory.store.utterances_by_id(self.owner.id, added.utterance_ids)
        return utterance

    def visit(self, hits: Iterable[Hit]) -> None:
        """Report what was recalled and used, for systems that count it."""
        self._memory.system.visit(self.owner, hits)

    def forget_owner(self) -> None:
        """Remove every row of this owner."""
        self._memory.forget_owner(self.owner)

    def _inbox(self) -> Inbox:
        memory = self._memory
        zone = ZoneInfo(memory.settings.timezone)
        return Inbox(
            owner=self.owner,
            zone=zone,
            now=memory.now(),
            max_chars=memory.settings.max_text_chars,
            finders=memory.finders,
        )
