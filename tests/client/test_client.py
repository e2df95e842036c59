"""The clients: nothing is doubled, failures are our errors, a key goes to one place."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from serving import running

from embermem import Memory, OwnerMemory, api_keys
from embermem.client import AsyncClient, AsyncOwnerClient, Client, OwnerClient
from embermem.core.errors import (
    AccessRefused,
    ConfigError,
    NotFound,
    ServerBusy,
    ServerError,
    ServerTimeout,
    ServerUnreachable,
    StoreClosed,
    StoreFull,
)
from embermem.core.types import Context, Hit
from loopback import DROPPED, NEVER, losing, reply, saying

PAGE_GONE = json.dumps({"type": "urn:embermem:problem:not-found", "status": 404, "detail": "no page 'p1' of a/b"})
FULL = json.dumps({"type": "urn:embermem:problem:store-full", "status": 507, "detail": "the server's disk is full"})
BUSY = json.dumps({"type": "urn:embermem:problem:store-busy", "status": 503, "detail": "others held the store"})
NO_PAGES = json.dumps({"results": [], "next_cursor": None})


def pages_of(memory: Memory) -> list[str]:
    """What Alice said."""
    return [page.query for page in memory.of("alice").pages()]


# ------------------------------------------------------------------------------------------------ the same methods


def parameters(method: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    """Kinds and defaults by name."""
    return {p.name: (p.kind, p.default) for p in inspect.signature(method).parameters.values()}


def public(kind: type) -> dict[str, Callable[..., Any]]:
    """The public methods of a class."""
    return {name: getattr(kind, name) for name in dir(kind) if not name.startswith("_")}


def test_methods_and_parameters_are_those_of_a_memory_but_for_what_the_api_does_not_offer() -> None:
    theirs = public(OwnerMemory)
    for name, method in public(OwnerClient).items():
        ours, there = parameters(method), parameters(theirs[name])
        assert ours.items() <= there.items(), name
        assert list(ours) == [one for one in there if one in ours], name
        assert method.__doc__, name

    left_out = {
        "chains",
        "chat",
        "diff",
        "facts_resting_on",
        "find_facts",
        "forget_pages",
        "marked",
        "named",
        "readmit",
        "shared",
        "state",
        "timeline",
        "understand_anew",
        "undo_plan",
        "utterances",
        "visit",
    }
    assert set(public(OwnerMemory)) - set(public(OwnerClient)) == left_out


def test_both_clients_have_the_same_methods() -> None:
    ours, theirs = public(AsyncOwnerClient), public(OwnerClient)
    assert list(ours) == list(theirs)
    for name, method in ours.items():
        assert parameters(method) == parameters(theirs[name]), name
        endless = name in ("events", "watch")
        assert (inspect.isasyncgenfunction if endless else inspect.iscoroutinefunction)(method), name
    assert parameters(AsyncClient.__init__) == parameters(Client.__init__)
    assert parameters(AsyncClient.of) == parameters(Client.of)


# ----------------------------------------------------------------------------------------------- the same answers


def told(hits: tuple[Hit, ...]) -> list[tuple[Any, ...]]:
    """Hits without their ranks, which count what was ranked between them too."""
    return [(hit.utterance, hit.score, hit.relevance, hit.tier, hit.segment_id) for hit in hits]


def seen(context: Context) -> tuple[Any, ...]:
    """A context as the API tells it."""
    made_of = (told(context.packed), context.facts, context.left_out, context.notes)
    says = (context.text, context.tokens, context.counter, context.confidence, context.partial, context.preset)
    return (*says, *made_of)


def test_answers_are_those_of_the_memory_behind(memory: Memory, alice: OwnerMemory, url: str) -> None:
    for number, text in enumerate(["I live in Lyon.", "I keep a heron.", "I moved to Nantes.", "My sister is Ana."]):
        alice.add(text, "I see.", thread=f"s{number % 2}")
    alice.set_profile(name="Alice", birth_year=1994)
    alice.settle()
    with Client(url) as client:
        there = client.of("alice")
        assert client.owners() == memory.owners()
        assert there.owner == alice.owner
        assert there.pages() == alice.pages()
        assert there.changes() == alice.changes()
        assert there.stats() == alice.stats()
        assert there.facts() == alice.facts()
        assert there.past_facts() == alice.past_facts()
        assert there.traits() == alice.traits()
        assert there.persona() == replace(alice.persona(), traits=alice.traits(), relations=())
        assert told(there.search("heron", k=3)) == told(alice.search("heron", k=3))
        assert seen(there.recall("Where do I live?", budget=90)) == seen(alice.recall("Where do I live?", budget=90))
        assert there.segments() == tuple(replace(segment, embedding=None) for segment in alice.segments())
        assert [there.heat(segment) for segment in there.segments()] == [alice.heat(s) for s in alice.segments()]


def test_what_is_packed_is_counted_as_visited_and_what_is_found_is_not(alice: OwnerMemory, url: str) -> None:
    for number in range(8):
        alice.add(f"I planted tulip number {number} in the garden.", "Lovely.")
    alice.settle()
    with Client(url) as client:
        there = client.of("alice")
        there.search("tulip")
        assert sum(segment.visits for segment in alice.segments()) == 0
        there.recall("Which tulips did I plant?")
        assert sum(segment.visits for segment in alice.segments()) > 0


# -------------------------------------------------------------------------------------------------- at the same time


def test_many_threads_share_a_client_and_many_tasks_an_async_one(memory: Memory, url: str) -> None:
    said = [f"Heron number {number}" for number in range(20)]
    with Client(url) as client, ThreadPoolExecutor(10) as threads:
        list(threads.map(lambda text: client.of("alice").add(text, "I see."), said))

    async def use() -> None:
        async with AsyncClient(url) as client:
            await asyncio.gather(*(client.of("bob").add(text, "I see.") for text in said))

    asyncio.run(use())
    for user in ("alice", "bob"):
        assert sorted(page.query for page in memory.of(user).pages()) == sorted(said)


# ------------------------------------------------------------------------------------------- connections that break


def test_an_add_whose_answer_is_lost_is_sent_again_and_stored_once(memory: Memory, url: str) -> None:
    with losing(url, lost=1) as between, Client(between.url) as client:
        page_id = client.of("alice").add("I keep a heron.", "Since when?")
        assert len(between.asked) == 2
        assert memory.of("alice").page(page_id).query == "I keep a heron."
    assert pages_of(memory) == ["I keep a heron."]


def test_an_add_that_is_awaited_is_sent_again_and_stored_once_too(memory: Memory, url: str) -> None:
    async def use(address: str) -> None:
        async with AsyncClient(address) as client:
            messages = [{"role": "user", "content": "I keep a heron."}]
            added = await client.of("alice").add_messages(messages)
            assert added.page_ids == (memory.of("alice").pages()[0].id,)

    with losing(url, lost=1) as between:
        asyncio.run(use(between.url))
        assert len(between.asked) == 2
    assert pages_of(memory) == ["I keep a heron."]


def test_an_add_that_was_given_up_can_be_made_again_with_its_key(memory: Memory, url: str) -> None:
    with losing(url, lost=1) as between, Client(between.url, retries=0) as client:
        alice = client.of("alice")
        with pytest.raises(ServerUnreachable, match="broke off"):
            alice.add("I keep a heron.", key="k1")
        assert pages_of(memory) == ["I keep a heron."]
        alice.add("I keep a heron.", key="k1")
    assert pages_of(memory) == ["I keep a heron."]


def test_two_adds_of_the_same_words_are_two(memory: Memory, url: str) -> None:
    with Client(url) as client:
        for _ in range(2):
            client.of("alice").add("Good morning.", "Hello.")
    assert pages_of(memory) == ["Good morning.", "Good morning."]


def test_reads_and_writes_with_a_key_are_sent_again_and_what_is_not_safe_to_repeat_is_sent_once() -> None:
    once: list[Callable[[OwnerClient], object]] = [lambda alice: alice.forget_owner(), lambda alice: alice.recall("x")]
    for write in once:
        with saying(DROPPED) as server, Client(server.url) as client:
            with pytest.raises(ServerUnreachable):
                write(client.of("alice"))
            assert len(server.asked) == 1, write

    for write in (
        lambda alice: alice.set_profile(name="Alice"),
        lambda alice: alice.undo(1),
        lambda alice: alice.retire("f1-000"),
        lambda alice: alice.forget(thread="main"),
    ):
        with saying(DROPPED) as server, Client(server.url, retries=1) as client:
            with pytest.raises(ServerUnreachable):
                write(client.of("alice"))
            assert len(server.asked) > 1, write
            keys = {re.findall(rb"(?i)idempotency-key: (\S+)", request)[0] for request in server.requests}
            assert len(keys) == 1, write

    with saying(DROPPED, reply("200 OK", NO_PAGES)) as server, Client(server.url) as client:
        assert client.of("alice").pages() == ()
        assert len(server.asked) == 2
    with saying(DROPPED) as server, Client(server.url, retries=1) as client:
        with pytest.raises(ServerUnreachable):
            client.of("alice").pages()
        assert len(server.asked) == 2

    with saying(DROPPED, reply("500 Internal Server Error")) as server, Client(server.url) as client:
        for _ in range(2):
            with pytest.raises(ServerError):
                client.of("alice").add("Hello")
        named = [
            line for request in server.requests for line in request.lower().split(b"\r\n") if b"idempotency-key" in line
        ]
        assert len(named) == 3
        assert named[0] == named[1] != named[2]


def test_who_is_not_there_or_late_is_an_error_and_who_asks_to_wait_is_asked_again_if_that_is_soon() -> None:
    with saying(DROPPED) as server:
        pass
    with Client(server.url, retries=0) as client, pytest.raises(ServerUnreachable, match=r"127\.0\.0\.1.*cannot be"):
        client.owners()

    with (
        saying(NEVER) as server,
        Client(server.url, timeout_s=0.05, retries=0) as client,
        pytest.raises(ServerTimeout, match="did not answer in time"),
    ):
        client.of("alice").pages()

    busy = reply("503 Service Unavailable", BUSY, headers=["Retry-After: 0"])
    with saying(busy, busy, reply("200 OK", NO_PAGES)) as server, Client(server.url) as client:
        assert client.of("alice").pages() == ()
        assert len(server.asked) == 3

    with saying(reply("429 Too Many Requests", headers=["Retry-After: 3600"])) as server, Client(server.url) as client:
        with pytest.raises(ServerBusy) as caught:
            client.of("alice").add("Hello")
        assert (caught.value.status, caught.value.retry_after_s, len(server.asked)) == (429, 3600.0, 1)


# ------------------------------------------------------------------------------------------------ failures as errors


def test_a_failure_is_one_of_our_errors() -> None:
    for answer, kind, said in (
        (reply("404 Not Found", PAGE_GONE, kind="application/problem+json"), NotFound, "no page 'p1' of a/b"),
        (reply("507 Insufficient Storage", FULL), StoreFull, "disk is full"),
        (reply("401 Unauthorized", "{}"), AccessRefused, "401"),
        (reply("403 Forbidden", "<html>", kind="text/html"), AccessRefused, "403"),
        (reply("500 Internal Server Error", "oops"), ServerError, "500"),
        (reply("302 Found", headers=["Location: http://127.0.0.1:9/"]), ServerError, "302"),
        (reply("200 OK", "<html>welcome</html>", kind="text/html"), ServerError, "cannot be read"),
        (reply("200 OK", "{}"), ServerError, "cannot be read"),
        (reply("200 OK", '{"results": [{}], "next_cursor": null}'), ServerError, "cannot be read"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", ServerUnreachable, "broke off"),
    ):
        with saying(answer) as server, Client(server.url, retries=0) as client:
            with pytest.raises(kind, match=said) as caught:
                client.of("alice").pages()
            assert type(caught.value) is kind, (answer, kind, said)


def test_work_that_fails_behind_raises_its_error() -> None:
    problem = {"type": "urn:embermem:problem:embedder-error", "status": 502, "detail": "the embedder failed"}
    owned = {"user_id": "alice", "agent_id": "default"}
    running_ = {"id": "o1", "kind": "settle", "status": "running", **owned, "done": 1, "total": 4}
    failed = {**running_, "status": "failed", "error": problem}
    answers = [reply("202 Accepted", json.dumps(running_)), reply("200 OK", json.dumps(failed))]
    with saying(*answers) as server, Client(server.url) as client:
        told: list[tuple[int, int]] = []
        with pytest.raises(Exception, match="the embedder failed") as caught:
            client.of("alice").settle(lambda done, total: told.append((done, total)))
        assert type(caught.value).__name__ == "EmbedderError"
        assert told == [(1, 4)]


def test_a_closed_client_says_so(url: str) -> None:
    client = Client(url)
    client.close()
    with pytest.raises(StoreClosed):
        client.owners()


# ----------------------------------------------------------------------------------------------------------- keys


def test_a_key_reaches_its_owners_alone_and_none_reaches_nobody(memory: Memory) -> None:
    key, text = api_keys.make("test", ["alice"], read_only=False, now=datetime(2026, 5, 2, tzinfo=UTC))
    memory.keys.add_key(key)
    with running(memory, require_keys=True) as address:
        with Client(address, key=text) as client:
            client.of("alice", "tutor").add("I keep a heron.")
            assert [owner.user for owner in client.owners()] == ["alice"]
            with pytest.raises(AccessRefused) as caught:
                client.of("bob").add("Hello")
            assert caught.value.status == 403
        for wrong in (None, "ember_wrong", text[:-1]):
            with Client(address, key=wrong) as client, pytest.raises(AccessRefused) as caught:
                client.of("alice").pages()
            assert caught.value.status == 401


def test_a_key_is_sent_below_the_path_of_a_server_and_not_taken_elsewhere_by_a_redirect() -> None:
    with saying(reply("200 OK", NO_PAGES)) as server, Client(f"{server.url}/ember/") as client:
        client.of("alice").pages()
        assert server.asked[0].startswith("GET /ember/v1/pages?user_id=alice&agent_id=default")

    with saying(reply("200 OK", NO_PAGES)) as elsewhere:
        away = reply("307 Temporary Redirect", headers=[f"Location: {elsewhere.url}/v1/pages"])
        with saying(away) as server, Client(server.url, key="ember_secret") as client:
            with pytest.raises(ServerError, match="307"):
                client.of("alice").pages()
            assert b"Bearer ember_secret" in server.requests[0]
        assert elsewhere.asked == []


def test_what_is_no_address_or_no_key_is_refused_and_the_key_not_shown() -> None:
    for url in (
        "127.0.0.1:8765",
        "ftp://a",
        "http://",
        "http://user:pass@127.0.0.1:8765",
        "",
        "http://[",
        "http://a:b",
    ):
        with pytest.raises(ConfigError):
            Client(url)

    for key in ("", "a\nb", "schlüssel"):
        with pytest.raises(ConfigError) as caught:
            Client("http://127.0.0.1:8765", key=key)
        assert not key or key not in str(caught.value), key


WITHOUT = """
import sys
import embermem.client
assert "httpx2" not in sys.modules
sys.modules["httpx2"] = None
try:
    embermem.client.Client("http://127.0.0.1:8765")
except embermem.core.errors.ConfigError as error:
    print(error)
"""


def test_a_package_that_is_missing_is_named_with_the_command_that_installs_it() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, check=True, text=True)
    assert "pip install 'embermem[client]'" in done.stdout
