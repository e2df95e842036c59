"""The async face: the methods of the sync one, awaited; cancelled and closed at any moment, it loses no write."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

from embermem import AsyncMemory, AsyncOwnerMemory, Memory, OwnerMemory
from embermem.aio import AsyncChatStream
from embermem.chat import ChatStream
from embermem.core.errors import ConfigError, InputError, ModelError, NotFound, StoreClosed, StoreError
from embermem.testing.model_server import ModelServer
from scripted import SMALL, Clock, Place

PAIRS = [(AsyncMemory, Memory), (AsyncOwnerMemory, OwnerMemory), (AsyncChatStream, ChatStream)]
RENAMED = {"close": "aclose"}
INSTANCE = {"settings", "context", "page_id", "reply"}
"""Properties here, attributes of the instance there."""
OURS = {"open", "aclose"}
"""What only the async side has: a constructor cannot be awaited, and a thread must be waited for."""
AT_ONCE = {"of", "space", "now", "wake", "is_resident", "watch"}
"""What asks no store, and is not awaited; `watch` is an async iterator."""
LEFT_OUT = {"keys"}
"""What is for a server's own threads: the store of its keys, which is not awaited."""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that says hello."""
    with ModelServer() as one:
        yield one


@asynccontextmanager
async def opened(place: Place, **settings: Any) -> AsyncIterator[AsyncMemory]:
    """A memory with small capacities."""
    async with AsyncMemory(place(), **{**SMALL, "clock": Clock(), **settings}) as memory:
        yield memory


def kept(place: Place) -> list[str]:
    """What Alice said, as another process would read it."""
    with Memory(place(), **SMALL) as memory:
        return [page.query for page in memory.of("alice").pages()]


class Gate:
    """A clock that holds the thread which asks it, until it is opened."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.go = threading.Event()
        self._clock = Clock()

    def __call__(self) -> Any:
        self.reached.set()
        self.go.wait()
        return self._clock()


# ------------------------------------------------------------------------------------------------ the same methods


def public(kind: type) -> dict[str, Any]:
    """The public names of a class, as written in it."""
    return {name: getattr(kind, name) for name in dir(kind) if not name.startswith("_")}


def test_both_faces_have_the_same_methods_and_arguments_and_cannot_drift_apart() -> None:
    for ours, theirs in PAIRS:
        there = {RENAMED.get(name, name) for name in public(theirs)} - LEFT_OUT
        assert there <= {name for name in dir(ours) if not name.startswith("_")}, (ours, theirs)
        assert set(public(ours)) - there <= OURS | INSTANCE, (ours, theirs)
        for name, method in public(theirs).items():
            if name in LEFT_OUT:
                continue
            twin = inspect.getattr_static(ours, RENAMED.get(name, name))
            if isinstance(method, property):
                assert isinstance(twin, property), name
            else:
                assert parameters(twin) == parameters(method), name
                assert inspect.iscoroutinefunction(twin) or name in AT_ONCE, name
                assert twin.__doc__, name

    arguments = [p for p in parameters(AsyncMemory.__init__) if p[0] not in ("threads", "long_threads")]
    assert arguments == parameters(Memory.__init__)


def parameters(method: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    """Names, kinds and defaults."""
    return [(p.name, p.kind, p.default) for p in inspect.signature(method).parameters.values()]


def test_answers_are_those_of_the_sync_face(place: Place) -> None:
    async def use() -> tuple[Any, ...]:
        async with opened(place) as memory:
            alice = memory.of("alice", agent="tutor")
            page_id = await alice.add("I live in Lyon.", "Since when?", at="2026-05-02T10:00:00+02:00", thread="s1")
            await alice.add_messages([{"role": "user", "content": "I keep a heron."}], thread="s1")
            for number in range(3):
                await alice.add(f"Tulip number {number} is red.", "Lovely.")
            assert await alice.settle() == 2
            await alice.set_profile(name="Alice", birth_year=1994)
            await alice.set_agent_profile("a patient tutor of French")
            assert (await alice.page(page_id)).query == "I live in Lyon."
            assert alice.owner in await memory.owners()
            assert memory.embedder_name.startswith("hashed")
            assert memory.settings.short_term_pages == SMALL["short_term_pages"]
            return (
                await alice.recall("Where do I live?", budget=300),
                await alice.search("heron", k=3),
                await alice.pages("short"),
                await alice.segments(),
                await alice.facts(),
                await alice.traits(),
                await alice.persona(),
                await alice.changes(),
                await alice.stats(),
            )

    answers = asyncio.run(use())
    with Memory(place(), **{**SMALL, "clock": Clock()}) as memory:
        alice = memory.of("alice", agent="tutor")
        assert answers == (
            alice.recall("Where do I live?", budget=300),
            alice.search("heron", k=3),
            alice.pages("short"),
            alice.segments(),
            alice.facts(),
            alice.traits(),
            alice.persona(),
            alice.changes(),
            alice.stats(),
        )


def test_errors_are_those_of_the_sync_face(place: Place) -> None:
    async def use() -> None:
        async with opened(place) as memory:
            alice = memory.of("alice")
            with pytest.raises(InputError, match="are empty"):
                await alice.add(None)
            with pytest.raises(NotFound):
                await alice.page("p0")
            with pytest.raises(InputError, match="user"):
                memory.of("")
            with pytest.raises(ConfigError, match="needs a language model"):
                await alice.chat("Hello")

    asyncio.run(use())


# ------------------------------------------------------------------------------------------------- opened and closed


def test_it_is_used_between_open_and_aclose_only(place: Place) -> None:
    async def use() -> None:
        memory = AsyncMemory(place(), **SMALL)
        with pytest.raises(StoreClosed, match="not open yet"):
            memory.of("alice")
        with pytest.raises(StoreClosed, match="not open yet"):
            await memory.owners()
        assert await memory.open() is memory
        await memory.open()
        alice = memory.of("alice")
        await alice.add("Hello")
        await memory.aclose()
        await memory.aclose()
        for call in (alice.pages(), alice.add("Again"), memory.owners(), memory.open()):
            with pytest.raises(StoreClosed):
                await call

    asyncio.run(use())
    assert kept(place) == ["Hello"]


def test_no_store_is_made_before_it_is_opened_and_one_that_cannot_be_raises_there(tmp_path: Path) -> None:
    memory = AsyncMemory(tmp_path / "memory.db", **SMALL)
    assert not (tmp_path / "memory.db").exists()
    asyncio.run(memory.aclose())

    async def use(place: Path, **settings: Any) -> None:
        async with AsyncMemory(place, **settings):
            raise AssertionError("opened")

    with pytest.raises(ConfigError, match="budgett"):
        asyncio.run(use(tmp_path / "m.db", budgett=5))
    (tmp_path / "m.db").write_bytes(b"no database, but some text" * 100)
    with pytest.raises(StoreError):
        asyncio.run(use(tmp_path / "m.db"))


def test_a_zone_is_kept_by_the_first_call_that_is_awaited(place: Place) -> None:
    async def use() -> None:
        async with opened(place) as memory:
            alice = memory.of("alice", timezone="Europe/Paris")
            both = await asyncio.gather(*(alice.add(f"Tea at {hour}", at=f"2026-05-02T{hour}:00") for hour in (10, 11)))
            said = [(await alice.page(one)).said_at.isoformat() for one in both]
            assert said == ["2026-05-02T10:00:00+02:00", "2026-05-02T11:00:00+02:00"]
            nowhere = memory.of("bob", timezone="Mars/Olympus")
            with pytest.raises(ConfigError, match="Mars"):
                await nowhere.add("Hello")
            assert [owner.user for owner in await memory.owners()] == ["alice"]

    asyncio.run(use())


# --------------------------------------------------------------------------------------------- at the same time


def test_fifty_tasks_add_and_read_at_the_same_time(place: Place) -> None:
    async def use() -> None:
        async with opened(place, short_term_pages=7) as memory:
            alice = memory.of("alice")

            async def one(number: int) -> None:
                page_id = await alice.add(f"Heron number {number}", "I see.", thread=f"t{number % 5}")
                assert (await alice.page(page_id)).query == f"Heron number {number}"
                assert await alice.search("heron", k=1)

            await asyncio.gather(*(one(number) for number in range(50)))
            pages = await alice.pages()
            assert sorted(page.query for page in pages) == sorted(f"Heron number {number}" for number in range(50))
            assert [page.no for page in pages] == list(range(1, 51))
            assert [u.seq for page in pages for u in page.utterances] == list(range(1, 101))

    asyncio.run(use())


def test_the_loop_goes_on_while_a_thread_works(place: Place) -> None:
    async def use() -> None:
        gate = Gate()
        async with opened(place, clock=gate) as memory:
            adding = asyncio.create_task(memory.of("alice").add("Hello"))
            await turns_until(gate.reached.is_set)  # the loop turns: it is not the one who waits
            assert not adding.done()
            gate.go.set()
            await adding

    asyncio.run(use())


def test_no_more_threads_work_than_were_allowed(place: Place) -> None:
    async def use() -> None:
        gate = Gate()
        async with opened(place, clock=gate, threads=2) as memory:
            before = threading.active_count()
            tasks = [asyncio.create_task(memory.of("alice").add(f"Heron {number}")) for number in range(20)]
            await turns_until(gate.reached.is_set)
            assert threading.active_count() - before <= 2
            gate.go.set()
            await asyncio.gather(*tasks)

    asyncio.run(use())


def test_what_waits_for_a_model_does_not_stand_before_an_add(place: Place, server: ModelServer) -> None:
    async def use() -> None:
        model = {"model": "scripted", "model_url": server.url, "model_retries": 0}
        async with opened(place, **model, threads=1, long_threads=1) as memory:
            alice = memory.of("alice")
            stream = await alice.chat("Good evening.", stream=True, thread="a")
            waiting = asyncio.create_task(alice.chat("And you?", thread="b"))
            await alice.add("I keep a heron.", thread="c")
            assert await alice.search("heron")
            await stream.aclose()
            await waiting

    asyncio.run(use())


def test_a_thread_knows_the_context_of_its_task(place: Place) -> None:
    named: ContextVar[str] = ContextVar("named", default="nobody")
    seen = set()
    clock = Clock()

    def asked() -> Any:
        seen.add(named.get())
        return clock()

    async def use() -> None:
        async with opened(place, clock=asked) as memory:
            named.set("the request")
            seen.clear()
            await memory.of("alice").add("Hello")

    asyncio.run(use())
    assert seen == {"the request"}


# ---------------------------------------------------------------------------------------------------- cancelled


async def turns_until(true: Callable[[], bool]) -> None:
    """Lets the loop turn until something is so."""
    while not true():
        await asyncio.sleep(0.001)


async def cancelled(task: asyncio.Task[Any]) -> None:
    """Cancels a task and awaits its end."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_an_add_that_is_cancelled_midway_is_stored_whole(place: Place) -> None:
    async def use() -> None:
        gate = Gate()
        async with opened(place, clock=gate) as memory:
            adding = asyncio.create_task(memory.of("alice").add("I keep a heron.", "Since when?"))
            await turns_until(gate.reached.is_set)
            await cancelled(adding)
            gate.go.set()

    asyncio.run(use())
    with Memory(place(), **SMALL) as memory:
        (page,) = memory.of("alice").pages()
        assert (page.query, page.response) == ("I keep a heron.", "Since when?")


def test_an_add_that_is_cancelled_while_it_waits_for_a_thread_is_stored_too(place: Place) -> None:
    async def use() -> None:
        gate = Gate()
        async with opened(place, clock=gate, threads=1) as memory:
            alice = memory.of("alice")
            first = asyncio.create_task(alice.add("first"))
            await turns_until(gate.reached.is_set)
            second = asyncio.create_task(alice.add("second"))
            await asyncio.sleep(0)
            await cancelled(second)
            gate.go.set()
            await first

    asyncio.run(use())
    assert kept(place) == ["first", "second"]


def test_a_loop_that_ends_without_closing_loses_nothing(place: Place) -> None:
    gate = Gate()
    memories = []

    async def use() -> None:
        memory = await AsyncMemory(place(), **{**SMALL, "clock": gate}).open()
        memories.append(memory)
        adding = asyncio.create_task(memory.of("alice").add("I keep a heron."))
        await turns_until(gate.reached.is_set)
        assert not adding.done()

    asyncio.run(use())  # cancels the task, and closes the loop under the thread
    gate.go.set()
    asyncio.run(memories[0].aclose())
    assert kept(place) == ["I keep a heron."]


def test_a_write_that_fails_after_its_task_was_cancelled_is_logged(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    async def use() -> None:
        gate = Gate()
        async with opened(place, clock=gate, threads=1) as memory:
            first = asyncio.create_task(memory.of("alice").add("first"))
            await turns_until(gate.reached.is_set)
            wrong = asyncio.create_task(memory.of("alice").add(None))
            await asyncio.sleep(0)
            await cancelled(wrong)
            gate.go.set()
            await first

    asyncio.run(use())
    (record,) = (record for record in caplog.records if record.name == "embermem.aio")
    assert "are empty" in record.message


def test_a_read_that_is_cancelled_before_it_began_is_dropped(place: Place) -> None:
    named: ContextVar[str] = ContextVar("named", default="nobody")
    gate, seen = Gate(), []

    def asked() -> Any:
        seen.append(named.get())
        return gate()

    async def use() -> None:
        async with opened(place, clock=asked, threads=1) as memory:
            alice = memory.of("alice")
            named.set("add")
            adding = asyncio.create_task(alice.add("first"))
            await turns_until(gate.reached.is_set)
            named.set("recall")
            recalling = asyncio.create_task(alice.recall("first"))
            await asyncio.sleep(0)
            await cancelled(recalling)
            gate.go.set()
            await adding

    asyncio.run(use())
    assert "add" in seen
    assert "recall" not in seen


def test_closing_waits_for_adds_that_run_and_refuses_those_that_come_later(place: Place) -> None:
    async def use() -> tuple[int, int]:
        gate = Gate()
        memory = await AsyncMemory(place(), **{**SMALL, "clock": gate}, threads=2).open()
        alice = memory.of("alice")
        adding = [asyncio.create_task(alice.add(f"Heron {number}")) for number in range(10)]
        await turns_until(gate.reached.is_set)
        closing = asyncio.create_task(memory.aclose())
        await asyncio.sleep(0.01)
        assert not closing.done()
        late = [asyncio.create_task(alice.add(f"Late {number}")) for number in range(10)]
        await asyncio.sleep(0)
        gate.go.set()
        await closing
        before = await asyncio.gather(*adding, return_exceptions=True)
        after = await asyncio.gather(*late, return_exceptions=True)
        assert all(isinstance(one, (str, StoreClosed)) for one in [*before, *after])
        return sum(isinstance(one, str) for one in before), sum(isinstance(one, str) for one in after)

    assert asyncio.run(use()) == (10, 0)
    assert sorted(kept(place)) == sorted(f"Heron {number}" for number in range(10))


# --------------------------------------------------------------------------------------------------------- chat


@asynccontextmanager
async def chatting(place: Place, server: ModelServer) -> AsyncIterator[AsyncOwnerMemory]:
    """Alice, with a model that is asked once and not again."""
    async with opened(place, model="scripted", model_url=server.url, model_retries=0, short_term_pages=7) as memory:
        yield memory.of("alice")


def test_a_reply_comes_whole_or_piece_by_piece_and_is_stored(place: Place, server: ModelServer) -> None:
    async def use() -> None:
        async with chatting(place, server) as alice:
            server.reply_with("Good evening, Alice.")
            whole = await alice.chat("Good evening.")
            stream = await alice.chat("How are you?", stream=True)
            assert stream.reply is None
            pieces = [piece async for piece in stream]
            assert stream.reply is not None
            assert (whole.text, "".join(pieces), stream.reply.text) == ("Good evening, Alice.",) * 3
            assert [page.id for page in await alice.pages()] == [whole.page_id, stream.page_id]
            assert [page.response for page in await alice.pages()] == ["Good evening, Alice."] * 2
            assert stream.context.query == "How are you?"
            await stream.aclose()

    asyncio.run(use())


def test_a_stream_that_is_broken_off_is_not_stored_and_the_message_is(place: Place, server: ModelServer) -> None:
    async def use() -> None:
        async with chatting(place, server) as alice:
            server.reply_with("A reply of several words, which comes in pieces.")
            async with aclosing(await alice.chat("Good evening.", stream=True)) as stream:
                assert await anext(stream)
            assert stream.reply is None
            with pytest.raises(ModelError, match="interrupted"):
                await stream.whole()
            assert [(page.query, page.response) for page in await alice.pages()] == [("Good evening.", "")]

    asyncio.run(use())
