"""The server over HTTP, by real clients on loopback: whose memory a request reaches, and who is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp_talk import over_http, read, refused, resource, told
from serving import key_for, running, served

from embermem import Memory
from embermem.http.mcp import PATH, create_app

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory of alice and bob, each with words of their own."""
    with Memory(tmp_path_factory.mktemp("http") / "m.db", embedder="hashed", background=False) as memory:
        for user, agent, text in (
            ("alice", "tutor", "My parrot is called Zazu."),
            ("alice", "coach", "I run every Monday."),
            ("bob", "tutor", "My tortoise is called Brigit."),
            ("Zoë", "default", "I paint."),
            ("default", "default", "Nobody in particular."),
        ):
            memory.of(user, agent).add(text)
        yield memory


@pytest.fixture(scope="module")
def open_url(memory: Memory) -> Iterator[str]:
    """A server that asks for no key."""
    with served(create_app(memory, user="alice", agent="tutor")) as url:
        yield url + PATH


@pytest.fixture(scope="module")
def keyed_url(memory: Memory) -> Iterator[str]:
    """A server that asks for a key."""
    with served(create_app(memory, require_keys=True)) as url:
        yield url + PATH


def key_of(memory: Memory, *owners: str, read_only: bool = False) -> str:
    """A new key's text."""
    return key_for(memory, *owners, read_only=read_only)[1]


def by(url: str, script: Callable[[Client], Awaitable[Any]], key: str | None = None, **headers: str) -> Any:
    """Runs a script against a server at a URL."""

    async def whole() -> Any:
        async with over_http(url, key, **headers) as client:
            return await script(client)

    return asyncio.run(whole())


async def who(client: Client) -> tuple[str, str]:
    """Whose memory is reached."""
    counts = await told(client, "memory_stats")
    return counts["user"], counts["agent"]


def status(url: str, **headers: str) -> int:
    """How a bare request is answered."""
    sent = {**ACCEPT, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return httpx2.post(url, json=CALL, headers=sent, trust_env=False, timeout=None).status_code


def test_a_client_old_or_new_reaches_the_owner_that_it_names_or_the_bound_one(open_url: str) -> None:
    async def script(client: Client) -> tuple[tuple[str, str], str, str]:
        text = await read(client, "retrieve_memory", query="Which pet?")
        return await who(client), text, await resource(client, "ember://profile")

    owner, text, _ = by(open_url, script)
    assert owner == ("alice", "tutor")
    assert "Zazu" in text
    owner, text, _ = by(open_url, script, X_Ember_User="bob")
    assert owner == ("bob", "tutor")
    assert "Brigit" in text
    assert "Zazu" not in text

    async def reached(mode: Any) -> tuple[str, str]:
        async with Client(open_url, mode=mode) as client:
            return await who(client)

    assert asyncio.run(reached("legacy")) == asyncio.run(reached("auto")) == ("alice", "tutor")

    sent = {**{name.encode(): value.encode() for name, value in ACCEPT.items()}, b"X-Ember-Agent": b"default"}
    call = {**CALL, "method": "tools/call", "params": {"name": "memory_stats", "arguments": {}}}
    zoe = {**sent, b"X-Ember-User": "Zoë".encode()}
    answered = httpx2.post(open_url, json=call, headers=zoe, trust_env=False, timeout=None).json()
    assert answered["result"]["structuredContent"]["user"] == "Zoë"
    broken = httpx2.post(open_url, json=call, headers={**sent, b"X-Ember-User": b"\xff"}, trust_env=False, timeout=None)
    assert broken.status_code == 422


def test_a_foreign_page_or_a_rebound_name_is_refused_and_one_who_would_listen_is_told_that_nothing_comes(
    open_url: str,
) -> None:
    assert status(open_url) == 200
    assert status(open_url, Host="memory.example:80") == 403
    assert status(open_url, Origin="https://evil.example") == 403

    for host in ("localhost:80", "127.0.0.2:80", "[::1]:80"):
        assert status(open_url, Host=host) == 200, host

    answered = httpx2.get(open_url, headers=ACCEPT, trust_env=False, timeout=None)
    assert answered.status_code == 405
    assert answered.headers["Allow"] == "POST"


def test_a_key_is_needed_where_keys_are_required_and_ends_at_once_where_it_is_revoked(
    memory: Memory, keyed_url: str
) -> None:
    refusal = httpx2.post(keyed_url, json=CALL, headers=ACCEPT, trust_env=False, timeout=None)
    assert refusal.status_code == 401
    assert refusal.headers["WWW-Authenticate"].startswith("Bearer")
    assert refusal.json()["type"] == "urn:embermem:problem:unauthorized"
    assert status(keyed_url, Authorization="Bearer ember_0123456789ab_made-up") == 401
    assert status(keyed_url, Authorization=f"Bearer {key_of(memory, 'bob/tutor')}") == 200

    key = key_of(memory, "bob/tutor")
    assert status(keyed_url, Authorization=f"Bearer {key}") == 200
    memory.keys.revoke_key(key.split("_")[1], datetime.now(UTC))
    assert status(keyed_url, Authorization=f"Bearer {key}") == 401


def test_a_key_reaches_its_owners_and_no_other_and_of_several_asks_for_a_name(memory: Memory, keyed_url: str) -> None:
    key = key_of(memory, "alice/tutor")
    assert by(keyed_url, who, key) == ("alice", "tutor")
    for headers in ({"X_Ember_User": "bob"}, {"X_Ember_Agent": "coach"}, {"X_Ember_User": "nobody"}):
        assert status(keyed_url, Authorization=f"Bearer {key}", **headers) == 403

    of_user = key_of(memory, "alice")
    assert by(keyed_url, who, of_user) == ("alice", "default")
    assert by(keyed_url, who, of_user, X_Ember_Agent="tutor") == ("alice", "tutor")

    several, agents, anyone = (
        key_of(memory, *owners) for owners in (["alice/tutor", "bob/tutor"], ["alice/tutor", "alice/coach"], ["*"])
    )
    assert status(keyed_url, Authorization=f"Bearer {several}") == 422
    assert by(keyed_url, who, several, X_Ember_User="bob") == ("bob", "tutor")
    assert status(keyed_url, Authorization=f"Bearer {agents}") == 422
    assert by(keyed_url, who, agents, X_Ember_Agent="coach") == ("alice", "coach")
    assert status(keyed_url, Authorization=f"Bearer {anyone}") == 422
    assert by(keyed_url, who, anyone, X_Ember_User="bob", X_Ember_Agent="tutor") == ("bob", "tutor")


def test_a_key_that_may_only_read_changes_nothing(memory: Memory, keyed_url: str) -> None:
    async def script(client: Client) -> list[str]:
        (hit,) = (await told(client, "search_memory", query="tortoise"))["results"]
        return [
            await refused(client, "add_memory", user_input="I am here."),
            await refused(client, "correct_memory", fact_id="f1-000", text="so"),
            await refused(client, "forget_memory", id=hit["page_id"]),
            await refused(client, "forget_memory", id=hit["page_id"], confirm=True),
        ]

    for text in by(keyed_url, script, key_of(memory, "bob/tutor", read_only=True)):
        assert "is read-only" in text
    assert len(memory.of("bob", "tutor").pages()) == 1


def test_two_clients_at_the_same_time_do_not_meet(memory: Memory, keyed_url: str) -> None:
    both = {user: key_of(memory, f"{user}/tutor") for user in ("alice", "bob")}

    async def one(user: str) -> list[str]:
        async with over_http(keyed_url, both[user]) as client:
            return [await read(client, "retrieve_memory", query="Which pet?") for _ in range(8)]

    async def together() -> tuple[list[str], list[str]]:
        return await asyncio.gather(one("alice"), one("bob"))

    for texts, own, other in zip(asyncio.run(together()), ("Zazu", "Brigit"), ("Brigit", "Zazu"), strict=True):
        assert all(own in text and other not in text for text in texts)


def test_a_failure_of_the_store_is_told_without_its_place(tmp_path: Path) -> None:
    with (
        Memory(tmp_path / "secret-place.db", embedder="hashed", background=False) as memory,
        served(create_app(memory)) as url,
    ):

        async def script(client: Client) -> str:
            memory.close()
            return await refused(client, "search_memory", query="tea")

        assert "secret-place" not in by(url + PATH, script)


def test_the_whole_service_serves_the_protocol_where_it_is_mounted(memory: Memory) -> None:
    with running(memory) as url:
        assert by(url + PATH, who, X_Ember_User="bob", X_Ember_Agent="tutor") == ("bob", "tutor")
        assert httpx2.get(f"{url}/health", trust_env=False, timeout=None).status_code == 200
