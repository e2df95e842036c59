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
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import StreamingResponse

from embermem.core.errors import EmberError, InputError, NotGranted, StoreError, kind
from embermem.core.types import Event, Position
from embermem.http.access import Accessible, access_uncounted
from embermem.http.api.dependencies import Reading, only_known_parameters
from embermem.http.problems import HttpError, TooManyRequests
from embermem.http.serving import kept
from embermem.owner_memory.sharing import SharedMemory

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from embermem.core.types import Owner
    from embermem.memory import OwnerMemory

logger = logging.getLogger(__name__)

POLL_S = 1.0
"""How often the store is asked what is new."""
HEARTBEAT_S = 15.0
"""How often a stream shows that it lives."""
_QUEUE = 256
"""Events that a slow listener may be behind; then its stream ends, and it goes on from its last id."""
STREAMS_OF_A_KEY = 50
"""Streams open at once with one key: a few browsers' tabs. Each holds a connection for as long as it likes."""
STREAMS = 500
"""Streams of one server: each may be of another owner, and then polls the store."""
_WAIT_S = 30.0
"""When a place may be free again."""

router = APIRouter()


@router.get(
    "/v1/events",
    summary="What is new, as it happens",
    operation_id="watch_events",
    response_class=StreamingResponse,
    dependencies=[Depends(only_known_parameters)],
)
async def events(
    request: Request,
    access: Accessible,
    mine: Reading,
    since: Annotated[
        str | None, Query(max_length=64, description="A position (seq.revision): first what came after it.")
    ] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """What is new in one memory, until the client goes, or the grant of a space ends: after `since` or, when a client
    comes back, after the last event that it got. Raises TooManyRequests where too many listen."""
    holder = None if access.key is None else access.key.id
    feeds_of(request.app).check_room(holder)
    last = Position.parsed(last_event_id) or Position.parsed(since)
    if since is not None and last is None:
        raise InputError(f"since = {since!r} is no position; give the id of an event, such as 12.3")
    return StreamingResponse(
        _stream(request, mine, holder, last),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


class Feeds:
    """The pollers of one server, one an owner that somebody listens to."""

    def __init__(self, heartbeat_s: float = HEARTBEAT_S, poll_s: float = POLL_S) -> None:
        self.heartbeat_s = heartbeat_s
        self._poll_s = poll_s
        self._feeds: dict[tuple[str, str | None], Feed] = {}
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
        """The feed of one owner; of a space, one for each user who reads it, so that each ends with their grant."""
        found = self._feeds.get(_who(mine))
        if found is None:
            found = self._feeds[_who(mine)] = Feed(mine, self._poll_s)
        return found

    def __len__(self) -> int:
        return sum(1 for feed in self._feeds.values() if feed.listeners)

    def left(self, feed: Feed) -> None:
        """A listener went: with the last one the poller ends."""
        if not feed.listeners:
            feed.stop()
            self._feeds.pop(_who(feed.mine), None)

    def stop(self) -> None:
        """End every stream: the server goes."""
        self.stopped = True
        for feed in list(self._feeds.values()):
            for queue in feed.listeners:
                _put(queue, None)
            feed.stop()
        self._feeds.clear()


def _who(mine: OwnerMemory) -> tuple[str, str | None]:
    """Whose memory is read, and of a space by whom."""
    return mine.owner.id, mine.reader.id if isinstance(mine, SharedMemory) else None


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
    at: Position | None = None
    _task: asyncio.Task[None] | None = None
    _beginning: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def join(self) -> tuple[Queue, Position]:
        """A queue of what is new from now on, and where now is."""
        queue: Queue = asyncio.Queue(_QUEUE)
        async with self._beginning:
            if self._task is None:
                self.at = (await asyncio.to_thread(self.mine.standing)).position
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
                fresh = await asyncio.to_thread(self.mine.events, str(self.at))
            except StoreError as error:
                logger.info("events wait for the store: %s", kind(error))
                continue
            except NotGranted:
                for queue in tuple(self.listeners):
                    _put(queue, None)
                self._task = None
                return
            if fresh:
                self.at = fresh[-1].position
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


async def _stream(request: Request, mine: OwnerMemory, holder: str | None, last: Position | None) -> AsyncIterator[str]:
    """What a listener is told. Before anything is, the key is looked up again: one that was revoked is told no more."""
    feeds = feeds_of(request.app)
    with feeds.opened(holder):
        feed = feeds.of(mine)
        queue, now = await feed.join()
        try:
            standing = replace(await asyncio.to_thread(mine.standing), position=now)
            yield f"retry: 2000\n\n{_told(replace(standing, data={**standing.data, **asdict(now)}))}"
            if last is not None and last != now:
                for event in await asyncio.to_thread(partial(mine.events, str(last), until=str(now))):
                    yield _told(event)
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
    return None if None in events else "".join(_told(event) for event in events if event is not None)


def _still_allowed(request: Request, owner: Owner) -> bool:
    """Whether the key still holds, and holds this owner. It is no request: a listener has the key's own to spend."""
    try:
        return access_uncounted(request).may(owner)
    except HttpError:
        return False
    except EmberError:
        return True


def _told(event: Event) -> str:
    """An event as the stream has it."""
    return f"id: {event.position}\nevent: {event.name}\ndata: {json.dumps(event.data)}\n\n"


async def changed(request: Request, mine: OwnerMemory, holder: str | None, since: int, wait_s: float) -> None:
    """Wait until a memory has a change with a number above `since`, at most so long; no thread waits meanwhile. Raises
    TooManyRequests where too many wait."""
    feeds = feeds_of(request.app)
    feeds.check_room(holder)
    until = asyncio.get_running_loop().time() + wait_s
    with feeds.opened(holder):
        feed = feeds.of(mine)
        queue, now = await feed.join()
        try:
            while now.revision <= since and not feeds.stopped:
                left = until - asyncio.get_running_loop().time()
                event = await asyncio.wait_for(queue.get(), left) if left > 0 else None
                if event is None:
                    return
                now = event.position
        except TimeoutError:
            return
        finally:
            feed.listeners.discard(queue)
            feeds.left(feed)
