"""The public face for async callers: `AsyncMemory` and `AsyncOwnerMemory` have the methods of `Memory` and
`OwnerMemory` as coroutines.

The work is done in threads. SQLite, numpy and onnxruntime wait for the disk or release the interpreter lock, so threads
are sufficient, and no second, asynchronous store is needed. There are two pools of threads, so that calls which wait
for a language model never delay calls which the store answers at once.

Cancelling the awaiting task never leaves a write half done or lost:

- a call that writes is completed once it was made, even if nobody waits for it any more;
- a call that reads, or takes long, is dropped if it has not started; once started, its thread runs to the end.

Works with asyncio. Callbacks such as `progress` are called in the thread that does the work.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import logging
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from embermem.arguments import checked
from embermem.core import messages
from embermem.core.errors import StoreClosed
from embermem.core.messages import At
from embermem.core.types import Context, Owner, PageId
from embermem.memory import Memory, OwnerMemory
from embermem.owner_memory.awaiting import AwaitedOwner, Awaits, Way, awaited

if TYPE_CHECKING:
    from embermem.chat import ChatReply, ChatStream
    from embermem.core.config import Settings
    from embermem.core.fields import Field
    from embermem.core.sensitive import Finder
    from embermem.memoryos.ingest.heat_sample import HeatSample
    from embermem.memoryos.ingest.work_watch import WorkCounts
    from embermem.protocols import LanguageModel
    from embermem.telemetry import Done

__all__ = ["AsyncChatStream", "AsyncMemory", "AsyncOwnerMemory"]

logger = logging.getLogger(__name__)

THREADS = 8
"""Threads for what the store answers at once: as many as the connections that a store keeps open."""
LONG_THREADS = 32
"""Threads for what waits for a model or works for long. With the others, fewer than the connections a store allows."""

_T = TypeVar("_T")


class _Threads:
    """The threads of one memory. They begin when they are needed."""

    def __init__(self, threads: int, long_threads: int) -> None:
        self._quick = ThreadPoolExecutor(threads, "embermem-async")
        self._long = ThreadPoolExecutor(long_threads, "embermem-async-long")

    async def read(self, work: Callable[[], _T]) -> _T:
        """Its result. Dropped when the task is cancelled before it began."""
        return await _begun(self._quick, work)

    async def write(self, work: Callable[[], _T]) -> _T:
        """Its result. Carried out even when the task is cancelled; if it fails then, the log says so."""
        future = _begun(self._quick, work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            future.add_done_callback(_failed_alone)
            raise

    async def work(self, work: Callable[[], _T]) -> _T:
        """Its result, of work that may be long. Dropped when the task is cancelled before it began."""
        return await _begun(self._long, work)

    def end(self) -> None:
        """Take nothing more on, and wait for what was."""
        self._quick.shutdown()
        self._long.shutdown()


def _begun(pool: Executor, work: Callable[[], _T]) -> asyncio.Future[_T]:
    """The work, handed to a thread with the context of the task. Raises StoreClosed after `end`."""
    loop = asyncio.get_running_loop()
    try:
        return asyncio.wrap_future(pool.submit(contextvars.copy_context().run, work), loop=loop)
    except RuntimeError as error:
        raise StoreClosed("this memory is closed; open it again") from error


def _failed_alone(future: asyncio.Future[Any]) -> None:
    if not future.cancelled() and (error := future.exception()) is not None:
        logger.warning("a write whose caller had been cancelled failed: %s", error)


class _Async(Awaits):
    _threads: _Threads

    async def _through(self, way: Way, work: Callable[[], _T]) -> _T:
        done: _T = await getattr(self._threads, way)(work)
        return done


@checked
class AsyncMemory(_Async):
    """A store of memories for async callers: see `Memory` for the arguments, the methods and what they raise.

    `async with AsyncMemory("memory.db") as memory` opens it in a thread and closes it at the end; `await open()` and
    `await aclose()` do the same. Before it is open, and after it was closed, calls raise StoreClosed. At most `threads`
    calls run in the store at a time, and `long_threads` more wait for a model or take long.
    """

    def __init__(
        self,
        place: str | Path,
        *,
        preset: str | None = None,
        config: str | Path | None = None,
        clock: Callable[[], datetime] | None = None,
        reindex: bool = False,
        model: str | LanguageModel | None = None,
        read_only: bool = False,
        filter: Finder | None = None,
        threads: int = THREADS,
        long_threads: int = LONG_THREADS,
        **settings: object,
    ) -> None:
        self._threads = _Threads(threads, long_threads)
        self._opening = threading.Lock()
        self._memory: Memory | None = None
        self._make = functools.partial(
            Memory,
            place,
            preset=preset,
            config=config,
            clock=clock,
            reindex=reindex,
            model=model,
            read_only=read_only,
            filter=filter,
            **settings,
        )

    async def open(self) -> AsyncMemory:
        """Open the store, if it is not open. Raises as `Memory` does."""
        await self._threads.write(self._opened)
        return self

    def of(
        self,
        user: str,
        agent: str = "default",
        *,
        timezone: str | None = None,
        shares: Sequence[str] = (),
        person_from: str | None = None,
    ) -> AsyncOwnerMemory:
        """Return the memory of one (user, agent) pair; this is not awaited.

        `timezone` is stored, and the grants of `shares` and `person_from` are looked at, by the first awaited call: it
        raises ConfigError for an invalid zone, NotGranted for what was not granted.
        """
        memory = self._reached()
        owner = memory.of(user, agent)
        if timezone is None and not shares and person_from is None:
            return AsyncOwnerMemory(self._threads, owner)
        bound = functools.partial(memory.of, user, agent, timezone=timezone, shares=shares, person_from=person_from)
        return AsyncOwnerMemory(self._threads, owner, bound, shares)

    def space(self, name: str) -> AsyncOwnerMemory:
        """Return the memory of a shared space, for who runs the store; this is not awaited."""
        return AsyncOwnerMemory(self._threads, self._reached().space(name))

    @property
    def settings(self) -> Settings:
        """The settings in use."""
        return self._reached().settings

    @property
    def fields(self) -> tuple[Field, ...]:
        """As `Memory.fields`."""
        return self._reached().fields

    @property
    def embedder_name(self) -> str:
        """The embedder whose vectors this store holds."""
        return self._reached().embedder_name

    @property
    def model_name(self) -> str:
        """As `Memory.model_name`."""
        return self._reached().model_name

    @property
    def done(self) -> Done:
        """How often `add`, `recall` and the like were called, by their names."""
        return self._reached().done

    @property
    def resident_bytes(self) -> int:
        """Bytes of the working sets in this process's memory."""
        return self._reached().resident_bytes

    @property
    def mapped_bytes(self) -> int:
        """As `Memory.mapped_bytes`."""
        return self._reached().mapped_bytes

    @property
    def pages_placed(self) -> int:
        """Pages that this object has placed into segments."""
        return self._reached().pages_placed

    @property
    def heat(self) -> HeatSample:
        """The heat of segments as the background work of this object saw it last."""
        return self._reached().heat

    @property
    def work_counts(self) -> WorkCounts:
        """What the background work of this object has embedded, and where it failed."""
        return self._reached().work_counts

    @property
    def deliveries(self) -> Done:
        """How many deliveries to webhooks this object has made."""
        return self._reached().deliveries

    def wake(self) -> None:
        """There may be work: the background thread looks, where it is switched on."""
        self._reached().wake()

    def now(self) -> datetime:
        """The current time of this memory's clock."""
        return self._reached().now()

    def is_resident(self, owner: Owner) -> bool:
        """Whether an owner's index is in memory."""
        return self._reached().is_resident(owner)

    better_embedder = awaited("read", Memory.better_embedder)
    outdated = awaited("read", Memory.outdated)
    owners = awaited("read", Memory.owners)
    find_owners = awaited("read", Memory.find_owners)
    census = awaited("read", Memory.census)
    spaces = awaited("read", Memory.spaces)
    grant = awaited("write", Memory.grant)
    revoke = awaited("write", Memory.revoke)
    grants = awaited("read", Memory.grants)
    embed = awaited("work", Memory.embed)
    marked = awaited("read", Memory.marked)
    nonce_key = awaited("read", Memory.nonce_key)
    work = awaited("work", Memory.work)
    deliver = awaited("work", Memory.deliver)
    idle_s = awaited("read", Memory.idle_s)
    reindex = awaited("work", Memory.reindex)
    rebuild = awaited("work", Memory.rebuild)
    stats = awaited("read", Memory.stats)
    disk_usage = awaited("read", Memory.disk_usage)
    replica_lag_s = awaited("read", Memory.replica_lag_s)
    calls = awaited("read", Memory.calls)
    call_sums = awaited("read", Memory.call_sums)
    settings_in_use = awaited("read", Memory.settings_in_use)
    model_breaker = awaited("read", Memory.model_breaker)
    work_state = awaited("read", Memory.work_state)
    leaving = awaited("read", Memory.leaving)
    scrub_due = awaited("read", Memory.scrub_due)
    last_backup_at = awaited("read", Memory.last_backup_at)
    copies = awaited("work", Memory.copies)
    backup = awaited("work", Memory.backup)
    background_state = awaited("read", Memory.background_state)
    check = awaited("work", Memory.check)
    repair = awaited("work", Memory.repair)
    renew_forgotten_key = awaited("work", Memory.renew_forgotten_key)
    forget_user = awaited("write", Memory.forget_user)
    scrub = awaited("work", Memory.scrub)

    async def aclose(self) -> None:
        """Wait for every call that was made, then close the store. Later calls raise StoreClosed."""
        await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, self._end))

    async def __aenter__(self) -> AsyncMemory:
        try:
            return await self.open()
        except BaseException:  # a task that is cancelled here never comes to __aexit__
            await self.aclose()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _opened(self) -> Memory:
        with self._opening:
            if self._memory is None:
                self._memory = self._make()
            return self._memory

    def _reached(self) -> Memory:
        if self._memory is None:
            raise StoreClosed("this memory is not open yet: use `async with`, or `await memory.open()` first")
        return self._memory

    def _end(self) -> None:
        self._threads.end()
        if self._memory is not None:
            self._memory.close()


class AsyncOwnerMemory(_Async, AwaitedOwner):
    """One owner's memory for async callers: see `OwnerMemory`. Made by `AsyncMemory.of`."""

    def __init__(
        self,
        threads: _Threads,
        plain: OwnerMemory,
        first: Callable[[], OwnerMemory] | None = None,
        shares: Sequence[str] = (),
    ) -> None:
        self.owner: Owner = plain.owner
        self._shared = {name: _AsyncShared(threads, self, name) for name in shares}
        self._threads = threads
        self._plain = plain
        self._first = first
        self._firstly = threading.Lock()

    @property
    def shared(self) -> Mapping[str, AsyncOwnerMemory]:
        """The spaces that this handle was bound with, by name; see `OwnerMemory.shared`."""
        return self._shared

    def _reached(self) -> OwnerMemory:
        if self._first is not None:
            with self._firstly:
                if self._first is not None:
                    self._plain = self._first()
                    self._first = None
        return self._plain

    # ------------------------------------------------------------------------------------------------------- chat

    @overload
    async def chat(
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
    async def chat(
        self,
        query: str,
        *,
        thread: str = ...,
        at: At = ...,
        system: str | None = ...,
        style: str | None = ...,
        budget: int | None = ...,
        stream: Literal[True],
    ) -> AsyncChatStream: ...

    async def chat(
        self,
        query: str,
        *,
        thread: str = "main",
        at: At = None,
        system: str | None = None,
        style: str | None = None,
        budget: int | None = None,
        stream: bool = False,
    ) -> ChatReply | AsyncChatStream:
        """The model's reply, with memory; both are stored. See `OwnerMemory.chat`.

        With `stream`, `async for piece in await alice.chat(…, stream=True)`.
        """

        def begin() -> ChatStream:
            return self._reached().chat(
                query, thread=thread, at=at, system=system, style=style, budget=budget, stream=True
            )

        if stream:
            return AsyncChatStream(self._threads, await self._threads.work(begin))
        return await self._threads.work(lambda: begin().whole())


class _AsyncShared(AsyncOwnerMemory):
    """A space that a handle is bound with, by its name."""

    def __init__(self, threads: _Threads, bound: AsyncOwnerMemory, name: str) -> None:
        self.owner = messages.space(name)
        self._shared = {}
        self._threads = threads
        self._bound = bound

    def _reached(self) -> OwnerMemory:
        return self._bound._reached().shared[self.owner.agent]


class AsyncChatStream(AsyncIterator[str]):
    """A reply piece by piece: `ChatStream` for async callers.

    The reply is stored when the last piece was read, and `reply` contains it from then on. A reply that is interrupted,
    by `aclose()` or by an error, is not stored; the user's message is stored in each case. A piece that arrived after
    its task was cancelled is not returned again, but is part of the reply.
    """

    def __init__(self, threads: _Threads, stream: ChatStream) -> None:
        self._threads = threads
        self._stream = stream
        self._one_at_a_time = threading.Lock()

    @property
    def context(self) -> Context:
        """The context used for the reply."""
        return self._stream.context

    @property
    def page_id(self) -> PageId:
        """The page that holds the query, and then the reply."""
        return self._stream.page_id

    @property
    def reply(self) -> ChatReply | None:
        """The reply, once it is stored."""
        return self._stream.reply

    async def __anext__(self) -> str:
        piece = await self._step(lambda: next(self._stream, None))
        if piece is None:
            raise StopAsyncIteration
        return piece

    async def whole(self) -> ChatReply:
        """The reply, awaited to its end and stored. Raises ModelError if it was broken off before."""
        return await self._step(self._stream.whole)

    async def aclose(self) -> None:
        """Stop the reply and release the model's server. After the last piece it does nothing."""
        await self._step(self._stream.close)

    async def _step(self, step: Callable[[], _T]) -> _T:
        """A step of the stream in a thread. One that a cancelled task left behind is waited for."""

        def alone() -> _T:
            with self._one_at_a_time:
                return step()

        return await self._threads.work(alone)
