"""What is new in one owner's memory, as server-sent events: ids, counts and causes, never what was said.

`page` tells of utterances that came in, `change` of one entry of the log, `state` of where the memory stands (at the
beginning, and where too much is new to tell it singly). Each carries `id: seq.revision`, by which a client that was cut
off goes on. One poller an owner serves all its listeners; since it reads the store, it sees other processes' work too.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse

from embermem.core.errors import EmberError, StoreError, kind
from embermem.http.access import Accessible, access_uncounted
from embermem.http.problems import HttpError, TooManyRequests
from embermem.http.serving import kept

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from embermem.core.types import Owner
    from embermem.memory import OwnerMemory

logger = logging.getLogger(__name__)

POLL_S = 1.0
"""How often the store is asked what is new."""
HEARTBEAT_S = 15.0
"""How often a stream shows that it lives."""
SINGLY = 100
"""More changes at once are told as one `state`."""
_QUEUE = 256
"""Events that a slow listener may be behind; then its stream ends, and it goes on from its last id."""
STREAMS_OF_A_KEY = 50
"""Streams open at once with one key: a few browsers' tabs. Each holds a connection for as long as it likes."""
STREAMS = 500
"""Streams of one server: each may be of another owner, and then polls the store."""
_WAIT_S = 30.0
"""When a place may be free again."""

router = APIRouter()


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """How far a memory has come: its utterances and its changes."""

    seq: int
    revision: int

    def __str__(self) -> str:
        return f"{self.seq}.{self.revision}"

    @classmethod
    def parsed(cls, text: str | None) -> Mark | None:
        """The mark of an event's id; None for none, or one that is not ours."""
        first, _, second = (text or "").partition(".")
        if not (first.isascii() and first.isdigit() and second.isascii() and second.isdigit()):
            return None
        if len(first) > 18 or len(second) > 18:  # SQLite's whole numbers end there
            return None
        return cls(seq=int(first), revision=int(second))


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One event, and where the memory stands after it."""

    name: str
    mark: Mark
    data: Mapping[str, Any]

    def __str__(self) -> str:
        return f"id: {self.mark}\nevent: {self.name}\ndata: {json.dumps(self.data)}\n\n"


@router.get("/v1/events", response_class=StreamingResponse)
async def events(
    request: Request,
    access: Accessible,
    user_id: Annotated[str, Query()] = "default",
    agent_id: Annotated[str, Query()] = "default",
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """What is new in one owner's memory, until the client goes. Raises TooManyRequests where too many listen."""
    mine = access.owner(user_id, agent_id)
    holder = None if access.key is None else access.key.id
    feeds_of(request.app).check_room(holder)
    return StreamingResponse(
        _stream(request, mine, holder, Mark.parsed(last_event_id)),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


class Feeds:
    """The pollers of one server, one an owner that somebody listens to."""

    def __init__(self, heartbeat_s: float = HEARTBEAT_S, poll_s: float = POLL_S) -> None:
        self.heartbeat_s = heartbeat_s
        self._poll_s = poll_s
        self._feeds: dict[str, Feed] = {}
        self._open: Counter[str | None] = Counter()
        self.stopped = False

    def check_room(self, holder: str | None) -> None:
        """Raises TooManyRequests where this key (None: none was given), or all together, hold as many streams as they
        may."""
        if (holder is not None and self._open[holder] >= STREAMS_OF_A_KEY) or self._open.total() >= STREAMS:
            raise TooManyRequests("too many event streams are open; close some, or try again later", _WAIT_S)

    @contextmanager
    def opened(self, holder: str | None) -> Iterator[None]:
        """While a stream is open, it counts."""
        self._open[holder] += 1
        try:
            yield
        finally:
            self._open[holder] -= 1
            self._open += Counter()  # drops those at zero

    def of(self, mine: OwnerMemory) -> Feed:
        """The feed of one owner."""
        found = self._feeds.get(mine.owner.id)
        if found is None:
            found = self._feeds[mine.owner.id] = Feed(mine, self._poll_s)
        return found

    def __len__(self) -> int:
        return sum(1 for feed in self._feeds.values() if feed.listeners)

    def left(self, feed: Feed) -> None:
        """A listener went: with the last one the poller ends."""
        if not feed.listeners:
            feed.stop()
            self._feeds.pop(feed.mine.owner.id, None)

    def stop(self) -> None:
        """End every stream: the server goes."""
        self.stopped = True
        for feed in list(self._feeds.values()):
            for queue in feed.listeners:
                _put(queue, None)
            feed.stop()
        self._feeds.clear()


def feeds_of(app: Starlette) -> Feeds:
    """The feeds of one server; made when first asked for."""
    return kept(app, "event_feeds", Feeds)


Queue = asyncio.Queue["Event | None"]
"""What a listener is told; None: its stream ends."""


@dataclass(eq=False)
class Feed:
    """One owner's poller, and who listens."""

    mine: OwnerMemory
    poll_s: float
    listeners: set[Queue] = field(default_factory=set)
    at: Mark | None = None
    _task: asyncio.Task[None] | None = None
    _beginning: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def join(self) -> tuple[Queue, Mark]:
        """A queue of what is new from now on, and where now is."""
        queue: Queue = asyncio.Queue(_QUEUE)
        async with self._beginning:
            if self._task is None:
                self.at = await asyncio.to_thread(_mark, self.mine)
                self._task = asyncio.create_task(self._poll())
        self.listeners.add(queue)
        assert self.at is not None
        return queue, self.at

    def stop(self) -> None:
        """End the poller."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(self.poll_s)
            try:
                assert self.at is not None
                fresh = await asyncio.to_thread(_news, self.mine, self.at)
            except StoreError as error:
                logger.info("events wait for the store: %s", kind(error))
                continue
            if fresh:
                self.at = fresh[-1].mark
            for event in fresh:
                for queue in tuple(self.listeners):
                    _put(queue, event)


def _put(queue: Queue, event: Event | None) -> None:
    """Tell a listener; one that is too far behind is ended."""
    if queue.full():
        while not queue.empty():
            queue.get_nowait()
        event = None
    queue.put_nowait(event)


async def _stream(request: Request, mine: OwnerMemory, holder: str | None, last: Mark | None) -> AsyncIterator[str]:
    """What a listener is told. Before anything is, the key is looked up again: one that was revoked is told no more."""
    feeds = feeds_of(request.app)
    with feeds.opened(holder):
        feed = feeds.of(mine)
        queue, now = await feed.join()
        try:
            yield f"retry: 2000\n\n{await asyncio.to_thread(_standing, mine, now)}"
            if last is not None and last != now:
                for event in await asyncio.to_thread(_news, mine, last, now):
                    yield str(event)
            while not feeds.stopped:
                told = await _next(queue, feeds.heartbeat_s)
                if told is None or not await asyncio.to_thread(_still_allowed, request, mine.owner):
                    return
                yield told
        finally:
            feed.listeners.discard(queue)
            feeds.left(feed)


async def _next(queue: Queue, heartbeat_s: float) -> str | None:
    """All that is new, a sign of life where nothing is for so long; None where the stream ends."""
    try:
        events = [await asyncio.wait_for(queue.get(), heartbeat_s)]
    except TimeoutError:
        return ": alive\n\n"
    while not queue.empty():
        events.append(queue.get_nowait())
    return None if None in events else "".join(str(event) for event in events)


def _still_allowed(request: Request, owner: Owner) -> bool:
    """Whether the key still holds, and holds this owner. It is no request: a listener has the key's own to spend."""
    try:
        return access_uncounted(request).may(owner)
    except HttpError:
        return False
    except EmberError:
        return True


def _mark(mine: OwnerMemory) -> Mark:
    state = mine.state()
    return Mark(seq=0, revision=0) if state is None else Mark(seq=state.seq, revision=state.revision)


def _standing(mine: OwnerMemory, mark: Mark) -> Event:
    """Where a memory stands, as an event with that mark."""
    state = mine.state()
    pages = 0 if state is None else state.pages
    due_at = None if state is None or state.due_at is None else state.due_at.isoformat()
    failures = 0 if state is None else state.failures
    data = {"seq": mark.seq, "revision": mark.revision, "pages": pages, "due_at": due_at, "failures": failures}
    return Event(name="state", mark=mark, data=data)


def _news(mine: OwnerMemory, since: Mark, until: Mark | None = None) -> list[Event]:
    """What came after a mark, oldest first; one `state` where the memory went back, or far ahead."""
    now = until or _mark(mine)
    if now == since:
        return []
    if now.seq < since.seq or now.revision < since.revision or now.revision - since.revision > SINGLY:
        return [_standing(mine, now)]
    told: list[Event] = []
    if now.seq > since.seq:
        mark = Mark(seq=now.seq, revision=since.revision)
        told.append(Event(name="page", mark=mark, data={"seq": now.seq, "utterances": now.seq - since.seq}))
    for change in mine.changes(since.revision) if now.revision > since.revision else ():
        if change.no > now.revision:
            break
        told.append(
            Event(
                name="change",
                mark=Mark(seq=now.seq, revision=change.no),
                data={
                    "no": change.no,
                    "cause": change.cause.value,
                    "recorded_at": change.recorded_at.isoformat(),
                    "decisions": len(change.decisions),
                },
            )
        )
    return told
