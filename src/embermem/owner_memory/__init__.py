"""One owner's memory: what is added to it, read, corrected and forgotten."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, overload

from embermem import telemetry
from embermem.arguments import checked
from embermem.core import ids, messages
from embermem.core.errors import InputError, KeyReused, NotFound, NotGranted, StoreError, kind
from embermem.core.messages import At, Expiry, Given
from embermem.core.types import Added, AddedItem, Analysis, Context, PageId, Role, Share, UtteranceOrigin
from embermem.owner_memory.feed import Feed
from embermem.owner_memory.handle import Parts, zone_of

if TYPE_CHECKING:
    from embermem.chat import ChatReply, ChatStream
    from embermem.memoryos.rebuild import Difference

__all__ = ["OwnerMemory", "Parts", "count_visit", "zone_of"]

logger = logging.getLogger(__name__)

MOST_ITEMS = 500
"""Items that `add_many` takes at once."""
_OF_ITEM = ("messages", "thread", "at", "key", "fresh", "expires_at", "metadata")


@checked
class OwnerMemory(Feed):
    """One owner's memory. No call reaches another owner's, but for the spaces that the handle was bound with."""

    @property
    def shared(self) -> Mapping[str, OwnerMemory]:
        """The spaces that this handle was bound with (`Memory.of(…, shares=)`), by name. Each call of one looks whether
        it is still granted, and raises NotGranted if not; those that write need a grant to write."""
        return self._shared

    def share_person_with(self, agent: str, shared: bool = True) -> Share:
        """Let another agent of this user tell what this one knows of the user (`Memory.of(…, person_from=)`), or no
        longer: profile, traits and facts about the user, never what was said, what is known of others, or this agent's
        own profile. It is told in the other agent's contexts only. Returns the grant. Raises NotFound if it was not
        shared.
        """
        name, now = messages.name(agent, "agent"), self._parts.clock()
        if self.owner.space is not None or name == self.owner.agent:
            raise InputError(f"{self.owner} cannot share its user with agent {name!r}: give another agent of one user")
        user, admin = self.owner.user, self._parts.admin
        if shared:
            made = Share(id=ids.new_id("g"), user=user, agent=name, write=False, granted_at=now)
            return admin.share(self.owner, made)
        ended = admin.end_shares(self.owner.id, user, name, now)
        if not ended:
            raise NotFound(f"what {self.owner} knows of the user is not shared with agent {name!r}")
        return ended[-1]

    def person_shares(self, *, past: bool = False) -> tuple[Share, ...]:
        """Return the agents with which this one shares what it knows of the user, oldest first; with `past`, also those
        with which it did, with the times."""
        return tuple(one for one in self._parts.admin.shares(self.owner.id) if past or one.stands)

    @telemetry.spanned(telemetry.CREATE, "add")
    def add(
        self,
        query: str | None,
        response: str | None = None,
        *,
        at: At = None,
        thread: str = "main",
        key: str | None = None,
        expires_at: Expiry = None,
        metadata: Mapping[str, Any] | None = None,
        origin: UtteranceOrigin | str | None = None,
    ) -> PageId:
        """Add an exchange; returns the id of its page. When it returns, the page is on disk and can be recalled.

        `at` is when it was said (a datetime or ISO 8601; default: now). A side may be None or empty, but not both: a
        response alone joins the newest page of its thread. Repeated with the same `key`, the call stores nothing, also
        if the content was forgotten. `expires_at` is when the page is forgotten by itself: a time, or a timedelta from
        now. `metadata` is a small JSON object of your own, for scopes to filter by. `origin` says where the query comes
        from, if not from the person, such as `pasted` (`UtteranceOrigin`); the response is the assistant's. Raises
        InputError, and KeyReused if the key was used with other content or its content was forgotten.
        """
        inbox = self._inbox()
        given = inbox.exchange(query, response, at, thread, metadata, origin)
        asks = given[0][0].role is Role.USER
        added = self._observe(given, key, fresh=asks, expires_at=inbox.expiry(expires_at))
        if not added.page_ids and key is None:
            raise InputError("this message was forgotten and is not stored again")
        if not added.page_ids:
            raise KeyReused(f"the content stored under the key {key!r} was forgotten and is not stored again")
        return added.page_ids[-1]

    @telemetry.spanned(telemetry.CREATE, "add_messages")
    def add_messages(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        thread: str = "main",
        at: At = None,
        key: str | None = None,
        fresh: bool = False,
        expires_at: Expiry = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Added:
        """Add messages in OpenAI's format in one transaction. Each may have a `name`, an `at`, `metadata`, whose
        entries come before those of the call, an `origin` (`UtteranceOrigin`; default: that of its role), and an
        `original`: any JSON value, kept beside it and returned by `original`.

        They may be added one at a time in separate calls: the pages are the same. With `fresh`, the first user message
        starts a new page, as `add` does. Repeated with the same `key`, the call neither stores nor returns what was
        forgotten since; messages that were forgotten with their page are not stored again for the same time.
        `expires_at` is when the pages that the messages create or join are forgotten by themselves. `redactions` of the
        result says what was removed before storing (docs/guides/sensitive.md). Raises InputError.
        """
        inbox = self._inbox()
        given = inbox.openai(messages, at, thread, metadata)
        return self._observe(given, key, fresh=bool(fresh), expires_at=inbox.expiry(expires_at))

    def add_many(
        self, items: Sequence[Mapping[str, Any]], *, thread: str = "main", at: At = None
    ) -> tuple[AddedItem, ...]:
        """Add up to 500 items, each as one call of `add_messages`; returns what became of each, in order.

        An item has `messages`, a list or one text of the user, which starts a page of its own, and may have `thread`,
        `at`, `key`, `fresh`, `expires_at` and `metadata`. Each is a transaction of its own: one that is refused does
        not affect the others, and after a failure of the store (StoreError) those before it are stored; with keys, the
        call can be repeated. Raises InputError if `items` is no such list or too long, and then stores nothing.
        """
        if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Sequence):
            raise InputError("items must be a list of mappings such as {'messages': 'Hello'}")
        if len(items) > MOST_ITEMS:
            raise InputError(f"there are {len(items)} items; at most {MOST_ITEMS} may be added at once")
        return tuple(self._added_item(index, one, thread, at) for index, one in enumerate(items))

    def _added_item(self, index: int, item: object, thread: str, at: At) -> AddedItem:
        place = f"items[{index}]"
        try:
            if not isinstance(item, Mapping) or "messages" not in item:
                raise InputError("give a mapping with messages, such as {'messages': 'Hello'}")
            if unknown := sorted(str(name) for name in item if name not in _OF_ITEM):
                raise InputError(f"unknown: {', '.join(unknown)}; known: {', '.join(_OF_ITEM)}")
            given = {"thread": thread, "at": at, **{name: one for name, one in item.items() if one is not None}}
            said = given.pop("messages")
            if isinstance(said, str):
                given.setdefault("fresh", True)
                said = [{"role": "user", "content": said}]
            return AddedItem(index=index, added=self.add_messages(said, **given))
        except InputError as error:
            return AddedItem(index=index, error=f"{place}: {error}", error_kind=error.tag)

    def settle(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Process what is pending, now; returns the number of pages placed into segments.

        With a model, pages that were analysed by extraction before it was set are analysed again too. If the model
        fails, or gives no usable answer, extraction places the pages, and the model analyses them again later. If its
        budget is spent, or its server asks to wait, pages stay pending: `stats().waiting` has numbers, reasons and
        times. Raises EmbedderError, StoreError.
        """
        self._parts.before_work()
        return self._parts.system.settle(self.owner, progress)

    def analyse(self, progress: Callable[[int, int], None] | None = None) -> Analysis:
        """Process what is pending, as `settle` does, and what is not yet due: every page in mid-term memory is analysed
        for the persona, whatever the heat of its segment. Returns what was done.

        The newest pages (`short_term_pages`) stay in short-term memory. Pages that wait for the model go on waiting, as
        with `settle`. Raises EmbedderError, StoreError.
        """
        self._parts.before_work()
        return self._parts.system.analyse(self.owner, progress)

    def understand_anew(
        self, *, dry_run: bool = False, progress: Callable[[int, int], None] | None = None
    ) -> Difference:
        """Analyse every page again with the current analyst; returns the difference.

        What callers set stays. With `dry_run` this happens in a copy of this owner's memory within the process, and no
        file is written: nothing changes here except the usage log, because model calls are made and counted.
        """
        from embermem.memoryos import rebuild

        parts = self._parts
        short = parts.settings.short_term_pages
        if not dry_run:
            parts.before_work()
            return rebuild.understand_anew(parts.store, parts.system, self.owner, short, parts.clock, progress)
        with parts.copied(self.owner) as (store, system):
            return rebuild.understand_anew(store, system, self.owner, short, parts.clock, progress)

    def _observe(self, given: Given, key: str | None, *, fresh: bool, expires_at: datetime | None) -> Added:
        made, digest, took = given
        if key is not None:
            messages.idempotency_key(key)
        added = self._parts.system.observe(self.owner, made, key=key, digest=digest, fresh=fresh, expires_at=expires_at)
        self._tell_of([one.kind for one in took])
        self._parts.added()
        return replace(added, redactions=took) if took else added

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
        """Return the model's reply to a message, with the memory of what was known before; both are stored.

        The user's message is stored first: if the model fails, its page stays open, and the next message joins it.
        `system` replaces the default system prompt, `style` says how to reply ("short, warm"), `budget` is that of
        `recall`. With `stream` the reply is returned piece by piece, and stored when it was read to its end.

        Raises ModelMissing without a model, and InputError, before anything is stored; after that ModelError,
        ModelWait.
        """
        from embermem import chat as chatting
        from embermem.core.types import Scope

        asker = self._parts.asker
        if asker is None:
            raise chatting.no_model()
        settings = self._parts.settings
        chatting.refuse_unusable(query, system=system, style=style, budget=budget, settings=settings)
        added = self.add_messages([{"role": "user", "content": query}], thread=thread, at=at)
        if not added.page_ids:
            raise InputError("this message was forgotten and is not stored again")
        page = self.page(added.page_ids[-1])
        asked = next(u for u in page.utterances if u.id == added.utterance_ids[-1])
        context = self.recall(asked.text, at=at, budget=budget, thread=thread, scope=Scope(before_seq=asked.seq))

        key = self._parts.nonce_key()
        pieces = chatting.pieces(
            asker,
            self.owner,
            asked,
            self.pages(limit=chatting.turn_pages(settings)),
            context,
            settings=settings,
            zone=self._inbox().zone,
            system=system,
            style=style,
            agent=self.agent_profile(),
            key=key,
        )

        def store(text: str) -> None:
            self.add_messages([{"role": "assistant", "content": text}], thread=thread, at=at)
            count_visit(self, context)

        reply = chatting.kept(pieces, asked, context, key=key, store=store)
        return reply if stream else reply.whole()


def count_visit(owner: OwnerMemory, context: Context) -> None:
    """Count a context as a visit where that can be done: an answer that is there does not fail for a counter."""
    try:
        owner.visit(context)
    except NotGranted:
        logger.debug("a space was only read")
    except StoreError as error:
        logger.warning("a visit was not counted: %s", kind(error))
