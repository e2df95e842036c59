"""What is new, as the clients are told of it: events over one stream after another, and changes as they are made."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from itertools import islice

import pytest

from embermem import Memory
from embermem.client import AsyncClient, Client
from embermem.core.errors import AccessRefused, InputError, ServerError, ServerUnreachable, StoreClosed
from loopback import DROPPED, reply, saying


def stream(*told: str) -> bytes:
    """A stream that ends: an event `name position` for each."""
    lines = [f"id: {at}\nevent: {name}\ndata: {{}}\n\n" for name, at in (one.split() for one in told)]
    return reply("200 OK", "retry: 2000\n\n: alive\n\n" + "".join(lines), kind="text/event-stream")


def test_events_are_those_of_the_memory_and_go_on_as_they_happen(memory: Memory, url: str) -> None:
    here = memory.of("alice")
    here.add("I live in Lyon.")
    here.learn([{"text": "likes figs"}])
    with Client(url) as client:
        alice = client.of("alice")
        now = alice.standing()
        assert (now.name, now.position) == ("state", here.standing().position)
        assert now.data.items() >= here.standing().data.items()
        fresh, all_of_it = alice.events(str(now.position)), alice.events("0.0")
        assert tuple(islice(all_of_it, 2)) == here.events("0.0")
        page = here.add("And I like tea.")
        assert next(fresh).data["page_ids"] == next(all_of_it).data["page_ids"] == [page]


def test_changes_are_watched_from_now_on_and_from_a_number(memory: Memory, url: str) -> None:
    here = memory.of("alice")
    here.learn([{"text": "likes figs"}])
    with Client(url) as client:
        watched, again = client.of("alice").watch(), client.of("alice").watch(0)
        for text in ("likes plums", "likes pears"):
            here.learn([{"text": text}])
        assert [one.no for one in islice(watched, 2)] == [2, 3]
        assert tuple(islice(again, 3)) == here.changes()
        assert [one.no for one in islice(client.of("alice").watch("2020-01-01"), 3)] == [1, 2, 3]


def test_both_are_awaited_by_the_async_client(memory: Memory, url: str) -> None:
    here = memory.of("alice")
    here.learn([{"text": "likes figs"}])

    async def told() -> tuple[list[object], int]:
        async with AsyncClient(url) as client:
            alice = client.of("alice")
            async with aclosing(alice.events("0.0")) as events, aclosing(alice.watch(0)) as watched:
                seen: list[object] = [await anext(events), await anext(watched)]
                await asyncio.to_thread(here.learn, [{"text": "likes plums"}])
                seen += [await anext(events), await anext(watched)]
            now = asyncio.ensure_future(anext(alice.watch()))
            while not now.done():
                await asyncio.to_thread(here.learn, [{"text": "likes plums"}])
                await asyncio.sleep(0.2)
            return seen, (await now).no

    seen, no = asyncio.run(told())
    events, changes = here.events("0.0"), here.changes()
    assert seen == [events[0], changes[0], events[1], changes[1]]
    assert no > 2


def test_a_lost_connection_is_made_again_after_the_last_event_and_a_state_gone_on_from() -> None:
    refused = reply("401 Unauthorized", "{}")
    first, second = stream("state 4.0", "page 4.0"), stream("state 6.0", "page 5.0", "page 6.0")
    with saying(first, DROPPED, second, refused) as server, Client(server.url) as client:
        events = client.of("alice").events("3.0")
        assert [str(next(events).position) for _ in range(3)] == ["4.0", "5.0", "6.0"]
        with pytest.raises(AccessRefused):
            next(events)
    assert len(server.asked) == 4
    for request, last in zip(server.requests, ("3.0", "4.0", "4.0", "6.0"), strict=True):
        assert f"last-event-id: {last}\r\n".encode() in request.lower()

    gone_far = stream("state 900.0", "state 900.0")
    with saying(gone_far, reply("401 Unauthorized", "{}")) as server, Client(server.url) as client:
        events = client.of("alice").events("1.0")
        assert str(next(events).position) == "900.0"
        with pytest.raises(AccessRefused):
            next(events)
    assert b"last-event-id: 900.0" in server.requests[1].lower()


def test_what_cannot_go_on_raises(memory: Memory, url: str) -> None:
    with Client(url) as client:
        with pytest.raises(InputError, match="position"):
            next(client.of("alice").events("yesterday"))
        with pytest.raises(InputError):
            client.of("alice").watch("no time")
        events = client.of("alice").events("0.0")
    with pytest.raises(StoreClosed):
        next(events)
    with saying(DROPPED) as server, Client(server.url, retries=1) as client:
        with pytest.raises(ServerUnreachable):
            client.of("alice").standing()
        assert len(server.asked) == 2
    broken = reply("200 OK", "id: 1.0\nevent: page\ndata: {\n\n", kind="text/event-stream")
    with saying(broken) as server, Client(server.url) as client, pytest.raises(ServerError, match="cannot be read"):
        client.of("alice").standing()
