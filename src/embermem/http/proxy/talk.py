"""One request's conversation: what is remembered for it, and what of it is kept. All of it waits for the store."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from embermem import chat, prompts
from embermem.core import injected_blocks, messages
from embermem.core.errors import EmberError, InputError, KeyReused, kind
from embermem.core.metadata import checked
from embermem.core.types import OwnerId, Role, Scope, UtteranceOrigin
from embermem.http.proxy import client_text, histories
from embermem.http.proxy.dialects.dialect import newest
from embermem.http.proxy.histories import Said, Threads
from embermem.http.proxy.replies import Message, Reply
from embermem.owner_memory import count_visit

if TYPE_CHECKING:
    from embermem.core.metadata import Metadata
    from embermem.core.types import Context
    from embermem.http.proxy.dialects.dialect import Told
    from embermem.memory import Memory, OwnerMemory

__all__ = ["Known", "Remembered", "Talk"]

logger = logging.getLogger(__name__)

_READ_AT_ONCE = 2000
_MOST_PARALLEL = 32
"""Calls of one reply that are put together again."""


@dataclass(slots=True)
class _Owned:
    """One owner's threads. Who places a history or adds to it holds the lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    threads: Threads = field(default_factory=Threads)


class Known:
    """The threads of the owners who talked lately. It is all read from the store, and can be read again."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._owners: OrderedDict[OwnerId, _Owned] = OrderedDict()

    def of(self, owner_id: OwnerId) -> _Owned:
        """Those of one owner. Where more messages are known than the limit, other owners' leave."""
        with self._lock:
            found = self._owners.setdefault(owner_id, _Owned())
            self._owners.move_to_end(owner_id)
            size = sum(1 + one.threads.size for one in self._owners.values())
            while size > self._limit and len(self._owners) > 1:
                size -= 1 + self._owners.popitem(last=False)[1].threads.size
            return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Remembered:
    """What recall gave: the block for the prompt, if there is anything; `state` goes into the header X-Ember-Memory."""

    state: str
    block: str | None = None
    context: Context | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Heard:
    """A message that can be kept; of a reply, which response made it, if that may be asked for."""

    message: Message
    said: Said
    answer: str | None = None


class Talk:
    """A history that a client sent, and what comes of it. Nothing here raises where the store or recall fails: the
    request is answered all the same, and what was not kept is kept with the next one, since it is new then."""

    def __init__(
        self,
        memory: Memory,
        owner: OwnerMemory,
        known: Known,
        told: Told,
        *,
        thread: str | None,
        keep: bool,
        scope: Scope | None,
        metadata: Metadata,
        origin: UtteranceOrigin | None,
    ) -> None:
        self._memory = memory
        self._owner = owner
        self._known = known
        self._told = told
        self._named = thread
        self._keep = keep
        self._scope = scope
        self._metadata = metadata
        self._origin = origin
        self._heard: list[_Heard] = []
        self._place: histories.Placed | None = None
        self._before_seq = 0
        self._is_client_request = False
        self.thread: str | None = thread

    def open(self) -> None:
        """Read the history, and find the thread it belongs to."""
        try:
            self._is_client_request = client_text.is_client_request(self._told.messages)
            if self._is_client_request:
                return
            spoken = [*client_text.spoken(self._told.messages)]
            given = {newest(spoken): self._origin}
            heard = [self._hear(one, given.get(at)) for at, one in enumerate(spoken)]
            self._heard = [one for one in heard if one is not None]
            if self._heard:
                owned = self._known.of(self._owner.owner.id)
                with owned.lock:
                    self._place = self._placed_with_parallel_calls(owned)
                    self._before_seq = owned.threads.upto + 1
                self.thread = self._place.thread
        except (EmberError, RecursionError) as error:
            logger.warning("the thread of a request of %s was not found: %s", self._shown(), kind(error))

    def recall(self) -> Remembered:
        """What helps with the newest words of the user, of all that was kept before `open`, but for what is in the
        request itself. Nothing for a request that is the client's own."""
        if self._is_client_request:
            return Remembered(state="off")
        try:
            return self._recalled()
        except (EmberError, RecursionError) as error:
            logger.warning("nothing was remembered for a request of %s: %s", self._shown(), kind(error))
            return Remembered(state="unavailable")

    def keep(self) -> None:
        """Keep what is new of the history."""
        self._add(self._heard)

    def close(self, reply: Reply | None) -> None:
        """Keep the reply too."""
        if not self._keep or reply is None or self._is_client_request:
            return
        begun, content = self._told.begun, reply.message.get("content")
        message = {**reply.message, "content": f"{begun}{content or ''}"} if begun else reply.message
        try:
            heard = self._hear(client_text.said(message))
        except (EmberError, RecursionError) as error:
            logger.warning("a reply to %s was not kept: %s", self._shown(), kind(error))
            return
        if heard is not None:
            answer = None if reply.id is None else histories.answer_name(_storable(reply.id))
            self._add([*self._heard, replace(heard, answer=answer)])

    def visit(self, remembered: Remembered) -> None:
        """Count the visits of what was remembered for a reply."""
        if self._keep and remembered.context is not None:
            count_visit(self._owner, remembered.context)

    # ------------------------------------------------------------------------------------------------------- recall

    def _recalled(self) -> Remembered:
        query = _storable(self._told.question)
        if injected_blocks.MARK in query:
            query = injected_blocks.strip(query, self._memory.nonce_key())
        if not query.strip():
            return Remembered(state="empty")
        scope, told, held = self._scope, frozenset[int](), frozenset[str]()
        if self._place is not None:
            told = self._place.known
            held = frozenset({self._place.thread} if self._place.whole else ())  # the request holds all of it
            scope = self._before_now()
        budget = self._memory.settings.proxy_budget
        context = self._owner.recall(query, budget=budget, scope=scope, shown_threads=held, mode="inject")
        text = chat.without(context.text, set(told))
        if not text:
            return Remembered(state="empty", context=context)
        told_with = f"{prompts.load('recalled').fill()}\n\n{text}"
        # Steady, as an agent sends one question again with each result of a tool.
        block = injected_blocks.wrap(told_with, self._memory.nonce_key(), steady=True)
        return Remembered(state="used", block=block, context=context)

    def _before_now(self) -> Scope:
        """What the request's scope leaves of what was kept before it."""
        given = self._scope or Scope()
        before = self._before_seq if given.before_seq is None else min(given.before_seq, self._before_seq)
        return replace(given, before_seq=before)

    # --------------------------------------------------------------------------------------------------------- keep

    def _add(self, heard: Sequence[_Heard]) -> None:
        if not self._keep or not heard:
            return
        owned = self._known.of(self._owner.owner.id)
        try:
            with owned.lock:
                placed = self._placed(owned, heard)
                self.thread = placed.thread
                added = {new.index: self._add_one(heard[new.index], placed.thread, new.key) for new in placed.new}
                last = heard[-1]
                if last.answer is not None and not added.get(len(heard) - 1):
                    owned.threads.note(last.answer, placed.thread, last.said.mark)
        except EmberError as error:
            logger.warning("messages of %s were not kept; the next request tries again: %s", self._shown(), kind(error))

    def _add_one(self, heard: _Heard, thread: str, key: str) -> bool:
        """Whether it was added. A key that was used before is of the same words at the same place, in other spacing or
        since forgotten."""
        metadata = self._metadata
        if heard.answer is not None:
            with suppress(InputError):  # there is no room left for one more label
                metadata = checked({**self._metadata, histories.ANSWER: heard.answer}, "metadata")
        try:
            self._owner.add_messages([heard.message], thread=thread, key=key, metadata=metadata)
        except KeyReused:
            logger.debug("a message of %s was kept before", self._shown())
            return False
        return True

    def _placed(self, owned: _Owned, heard: Sequence[_Heard]) -> histories.Placed:
        self._read_on(owned)
        history, owner_id, told = [one.said for one in heard], self._owner.owner.id, self._told
        if self._named is None and told.answer is not None:
            answer = histories.answer_name(_storable(told.answer))
            return histories.place_after(history, owned.threads, owner_id, answer)
        if self._named is None and told.conversation is not None:
            return histories.place_at_end(history, owned.threads, messages.thread_id(_storable(told.conversation)))
        return histories.place(history, owned.threads, owner_id, self._named)

    def _placed_with_parallel_calls(self, owned: _Owned) -> histories.Placed:
        """Where the history belongs. A client may send the calls of one reply back each with its result after it, as
        if they had been made one after the other; where the reply that is kept holds them all, they are put together
        again."""
        placed = self._placed(owned, self._heard)
        while (together := self._together(owned.threads, placed)) is not None:
            other = self._placed(owned, together)
            if len(other.new) + len(self._heard) - len(together) >= len(placed.new):
                break  # the same calls stand together in another thread
            placed, self._heard = other, together
        return placed

    def _together(self, threads: Threads, placed: histories.Placed) -> list[_Heard] | None:
        """The history with the first calls that are new as one message, before their results, where that message is
        kept with more of the calls that follow; None where it is not."""
        heard, found = self._heard, None
        first = next((new.index for new in placed.new if _calls(heard[new.index].message)), len(heard))
        calls, results = list[_Heard](), list[_Heard]()
        for at, one in enumerate(heard[first:], first):
            if one.said.role is Role.TOOL:
                results.append(one)
                continue
            if not _calls(one.message) or (calls and one.message.get("content")) or len(calls) == _MOST_PARALLEL:
                break
            calls.append(one)
            made = [call for each in calls for call in _calls(each.message)]
            whole = self._hear({**calls[0].message, "tool_calls": made}) if len(calls) > 1 else None
            if whole is not None and threads.places(whole.said.mark):
                found = (whole, tuple(results), at)
        if found is None:
            return None
        whole, before, last = found
        return [*heard[:first], whole, *before, *heard[last + 1 :]]

    def _read_on(self, owned: _Owned) -> None:
        """What was stored since, by whomever. An owner who was forgotten begins anew."""
        state = self._owner.state()
        newest = 0 if state is None else state.seq
        if newest < owned.threads.upto:
            owned.threads = Threads()
        while owned.threads.upto < newest:
            more = self._owner.utterances(owned.threads.upto, limit=_READ_AT_ONCE)
            owned.threads.take(more)
            if not more:  # the newest were forgotten
                owned.threads.upto = newest

    def _hear(self, message: Message, origin: UtteranceOrigin | None = None) -> _Heard | None:
        """A message as it would be stored; None for one that is not: of the system, empty, or nothing but ours."""
        if not isinstance(message, Mapping) or message.get("role") not in ("user", "assistant", "tool", "function"):
            return None
        clean = {name: _storable(value) for name, value in message.items() if name in messages.SPOKEN_KEYS}
        if clean["role"] == "assistant" and isinstance(content := clean.get("content"), str):
            clean["content"] = self._without_cut(content)
        if origin is not None:
            clean["origin"] = origin
        inbox = messages.Inbox(
            owner=self._owner.owner,
            zone=ZoneInfo("UTC"),
            now=self._memory.now(),
            max_chars=self._memory.settings.max_text_chars,
            nonce_key=self._memory.nonce_key,
            finders=self._memory.finders,
        )
        try:
            (made,), *_ = inbox.openai([clean], None, "-")
        except InputError as error:
            logger.info("a message of %s cannot be stored and is not kept: %s", self._shown(), kind(error))
            return None
        if not made.text.strip():
            return None
        return _Heard(message=clean, said=histories.said(made.role, made.text))

    def _without_cut(self, reply: str) -> str:
        """A reply without the half marker with which it may end where it was cut off."""
        if injected_blocks.MARK not in reply:
            return reply
        whole = reply.removesuffix(f"\n{histories.CUT}")
        return injected_blocks.strip_cut(whole, self._memory.nonce_key()) + reply[len(whole) :]

    def _shown(self) -> str:
        return f"{self._owner.owner.user}/{self._owner.owner.agent}"


def _calls(message: Message) -> list[Any]:
    """The calls of tools that a message makes."""
    found = message.get("tool_calls")
    return found if isinstance(found, list) else []


def _storable(value: Any) -> Any:
    """The same without what no store can hold: NUL, and halves of characters."""
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_storable(one) for one in value]
    if isinstance(value, Mapping):
        return {_storable(name): _storable(one) for name, one in value.items()}
    return value
