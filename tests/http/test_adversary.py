"""Ways round the keys, the limits and the guards that somebody might try."""

from __future__ import annotations

import http.client
import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serving import Server, client, key_for, running, served

from embermem import Memory
from embermem.cli import logs
from embermem.http.api import cursors, listing
from embermem.http.app import create_app
from embermem.http.events import STREAMS, STREAMS_OF_A_KEY, Feeds
from embermem.http.limits import STRANGERS_BYTES
from embermem.http.problems import TooManyRequests
from embermem.testing.model_server import ModelServer
from proofs import bounded
from scripted import Opener

NOW = datetime(2026, 5, 2, 10, tzinfo=UTC)
NOBODY = "http://127.0.0.1:9/v1"
JSON = {"Content-Type": "application/json"}
SECRET = "heron-4711"


def tool(name: str, **arguments: object) -> dict[str, object]:
    """The message that calls a tool."""
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


ACCEPT = {**JSON, "Accept": "application/json, text/event-stream"}

# ------------------------------------------------------------------------------------------ who is not quite alice

NEARLY = [
    "Alice",
    "alice ",
    " alice",
    "\u0430lice",  # Cyrillic
    "\uff41lice",  # full width
    "alice\u200b",
    "a\u0301lice",
    "alice/default",
    "alice/",
    "alice/*",
    "*",
    "**",
    "alice\ndefault",
    "alice\x00",
    "alice%00",
    "../alice",
    "alice" * 102,
    "alice" * 200,
    "alice,bob",
    "'alice'",
]


def test_a_key_reaches_no_one_whose_name_only_looks_like_its_own(opened: Opener) -> None:
    memory = opened(proxy_url=NOBODY)
    for near in ("bob", *NEARLY):
        if "\0" not in near and len(near) <= 512:
            memory.of(near).add(f"My word is {SECRET}.", "Noted.")
    told = []
    with running(memory, require_keys=True) as url, client(url, key_for(memory, "alice/default")[1]) as c:
        for name in NEARLY[:: bounded(9, proofs=1)]:
            for user, agent in ((name, "default"), ("alice", name)):
                owner = {"user_id": user, "agent_id": agent}
                said = {"messages": "I was never said."}
                told += [
                    c.get("/v1/pages", params=owner),
                    c.delete("/v1/memories", params={**owner, "confirm": "true"}),
                    c.post("/v1/memories", json={**owner, **said}),
                    c.post("/v1/search", json={"query": "word", "filters": owner}),
                    c.post("/v1/memories/batch", json={"items": [{**owner, **said}, {**said, "user_id": "alice"}]}),
                    c.get("/v1/operations/o1", params=owner),
                    c.get("/v1/events", params=owner),
                    c.get("/pages", params={"user": user, "agent": agent}),
                    c.get("/forget", params={"user": user, "agent": agent, "kind": "thread", "id": "main"}),
                ]
                body = {"messages": [{"role": "user", "content": "hi"}], "user": user}
                plain = name.isascii() and name.isprintable() and name == name.strip()
                if plain or user == name:
                    headers = {"X-Ember-Agent": agent}
                    told.append(c.post("/v1/chat/completions", json=body, headers=headers))
                if plain:
                    called = {**ACCEPT, "X-Ember-User": user, "X-Ember-Agent": agent}
                    told.append(c.post("/mcp", json=tool("search_memory", query="word"), headers=called))
    assert {one.status_code for one in told} <= {403, 422}, [(one.url, one.status_code) for one in told]
    assert not [one for one in told if SECRET in one.text]
    assert memory.of("alice").stats().utterances == 0


def test_a_key_of_ours_bounds_a_request_wherever_it_stands_beside_another(memory: Memory) -> None:
    _, text = key_for(memory, "alice")
    for require in (False, True):
        with running(memory, require_keys=require) as url, client(url) as c:
            headers = {"Authorization": "Bearer sk-for-upstream", "X-API-Key": text}
            assert c.get("/v1/stats", params={"user_id": "alice"}, headers=headers).status_code == 200
            assert c.get("/v1/stats", params={"user_id": "bob"}, headers=headers).status_code == 403


def test_a_read_only_key_counts_no_visit_through_tools_either(memory: Memory) -> None:
    alice = memory.of("alice")
    for number in range(8):
        alice.add(f"I like herons and wetlands {number}.", "Noted.")
    alice.settle()

    def visits() -> int:
        return sum(segment.visits for segment in alice.segments())

    assert alice.segments()
    before = visits()
    with running(memory, require_keys=True) as url:
        for read_only in (True, False):
            with client(url, key_for(memory, "alice", read_only=read_only)[1]) as c:
                headers = {**ACCEPT, "X-Ember-User": "alice"}
                got = c.post("/mcp", json=tool("retrieve_memory", query="herons in wetlands 0"), headers=headers)
                assert got.status_code == 200
                assert not got.json()["result"].get("isError")
            assert (visits() == before) is read_only


# ------------------------------------------------------------------------------------ names of what another's holds


def test_the_ids_cursors_and_names_of_another_s_memory_lead_nowhere(opened: Opener) -> None:
    memory = opened(proxy_url=NOBODY)
    alice, bob = memory.of("alice"), memory.of("bob")
    for number in range(12):
        bob.add(f"My word is {SECRET}, and I live in Lyon {number}.", "Noted.", thread="theirs")
    bob.settle()
    (fact,) = bob.learn([{"text": f"word: {SECRET}"}])
    alice.add("I like herons.", "Noted.")
    hers, his = key_for(memory, "alice")[1], key_for(memory, "bob")[1]
    with running(memory, require_keys=True) as url, client(url, hers) as c, client(url, his) as theirs:
        page, segment = bob.pages()[0], bob.segments()[0]
        operation = theirs.post("/v1/settle", json={"user_id": "bob"}).json()["id"]
        names = [page.id, page.utterances[0].id, segment.id, bob.facts()[0].id, "user.home", "c1", fact.id]
        told = [c.get(f"/v1/operations/{operation}"), c.get(f"/v1/operations/{operation}?user_id=alice")]
        for name in names:
            told += [c.get(f"/v1/{kind}/{name}?user_id=alice") for kind in ("memories", "pages", "segments", "why")]
            told += [c.get(f"/v1/memories/{name}/history?user_id=alice"), c.get(f"/{kind_of(name)}/{name}?user=alice")]
            told.append(c.delete(f"/v1/memories/{name}?user_id=alice"))
            told += [
                c.post(f"/v1/facts/{name}/{act}", json={"user_id": "alice", "text": "x", "at": None})
                for act in ("pin", "retire", "correct", "expire")
            ]
        for path in ("/v1/pages", "/v1/memories", "/v1/changes"):
            cursor = theirs.get(path, params={"user_id": "bob", "limit": 1}).json()["next_cursor"]
            told.append(c.get(path, params={"user_id": "alice", "cursor": cursor}))
        assert {one.status_code for one in told} <= {404, 409, 422}, [(o.url, o.status_code) for o in told]
        found = [
            c.get("/v1/pages?user_id=alice&run_id=theirs"),
            c.post("/v1/search", json={"query": SECRET, "user_id": "alice", "run_id": "theirs"}),
            c.post("/v1/context", json={"query": SECRET, "user_id": "alice", "run_id": "theirs"}),
            c.get("/v1/owners"),
            c.get("/owners"),
            c.get("/v1/changes?user_id=alice"),
            c.get("/metrics"),
            c.get("/docs"),
            c.get("/openapi.json"),
        ]
        assert {one.status_code for one in found} == {200}
        assert not [one.url for one in (*told, *found) if SECRET in one.text or "bob" in one.text]
        assert not [one.url for one in (*told, *found) if "etag" in one.headers]
        assert all(one.headers["cache-control"] == "no-store" for one in found)
    assert len(bob.pages()) == 12


def kind_of(item_id: str) -> str:
    """Where the inspector shows such an item."""
    return {"p": "pages", "s": "segments", "f": "facts"}.get(item_id[:1], "audit")


def test_the_same_idempotency_key_of_two_owners_is_two_keys(memory: Memory) -> None:
    with running(memory, require_keys=True) as url:
        for user in ("alice", "bob", "alice"):
            with client(url, key_for(memory, user)[1]) as c:
                said = {"user_id": user, "messages": f"I am {user}."}
                got = c.post("/v1/memories", json=said, headers={"Idempotency-Key": "the same"})
                assert (got.status_code, got.json()["results"][0]["memory"]) == (201, f"I am {user}.")
    assert [memory.of(user).stats().utterances for user in ("alice", "bob")] == [1, 1]


def test_one_conversation_of_two_users_of_the_proxy_is_two_conversations(opened: Opener) -> None:
    history = [
        {"role": "user", "content": f"My word is {SECRET}."},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": "What is my word?"},
    ]
    with ModelServer(answer="It is a secret.") as model:
        memory = opened(proxy_url=model.url)
        with running(memory, require_keys=True) as url:
            names: list[str] = []
            for user, messages in (("bob", history), ("alice", history), ("carol", history[2:])):
                with client(url, key_for(memory, user)[1]) as c:
                    body = {"model": "scripted", "user": user, "messages": messages}
                    headers = {"X-Ember-Thread": names[0]} if user == "carol" else {}
                    got = c.post("/v1/chat/completions", json=body, headers=headers)
                    names.append(got.headers["x-ember-thread"])
                    assert c.post("/v1/chat/completions", json={**body, "user": "dave"}).status_code == 403
        assert names[0] != names[1]
        assert SECRET not in str(model.requests[-1])
    assert memory.of("carol").stats().utterances == 2
    assert memory.of("bob").stats().utterances == 4


# ------------------------------------------------------------------------------------------------------- cursors


@given(position=st.text(max_size=40) | st.sampled_from(["[" * 3000, "1" * 5000, '"ab"', "[1]", "-1:x", "٣:abc"]))
@settings(max_examples=bounded(20, proofs=600))
def test_a_cursor_that_somebody_made_is_a_place_in_the_list_or_refused(forging: Server, position: str) -> None:
    owner = forging.memory.of("default").owner.id
    names = {
        "/v1/owners": listing.named("owners"),
        "/v1/facts": listing.named("facts", owner, None, "current"),
        "/v1/segments": listing.named("segments", owner, False),
        "/v1/pages": listing.named("pages", owner, None, None),
        "/v1/changes": listing.named("changes", owner),
    }
    with client(forging.url) as c:
        for path, name in names.items():
            cursor = cursors.cursor(name, position.encode("utf-8", "replace").decode())
            assert c.get(path, params={"cursor": cursor}).status_code in (200, 422), path


@pytest.fixture(scope="module")
def forging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for many examples."""
    file = tmp_path_factory.mktemp("forging") / "memory.db"
    with Memory(file, embedder="hashed", background=False) as memory, running(memory) as url:
        memory.of("default").add("I live in Lyon.")
        yield Server(url=url, memory=memory)


def test_a_list_of_owners_goes_on_after_the_longest_names(server: Server) -> None:
    letters = bounded(("a", "中", "\x01"), proofs=("a", "é", "中", "\U0001f600", '"', "\x01", "\\"))
    names = [letter * 511 + str(number) for letter in letters for number in range(3)]
    for name in names:
        server.memory.of(name, name[:1] * 512).add("hello")
    found, more = list[str](), dict[str, str]()
    with client(server.url) as c:
        for _ in names:
            got = c.get("/v1/owners", params={"limit": 1, **more}).json()
            found += [one["user_id"] for one in got["results"]]
            more = {"cursor": got["next_cursor"]}
    assert sorted(found) == sorted(names)
    assert more == {"cursor": None}


# ------------------------------------------------------------------------------------------------------- bodies


def test_a_large_body_of_a_stranger_is_not_waited_for_and_in_chunks_read_no_further_than_that(memory: Memory) -> None:
    given = ("", "X-API-Key: ember_000000000000_x\r\n", "Cookie: ember_key=ember_0_x\r\n")
    with running(memory, require_keys=True) as url:
        address = urlsplit(url)
        for path in ("/v1/memories", "/import", "/login", "/v1/chat/completions", "/mcp", "/nowhere"):
            for key in given:
                with socket.create_connection((address.hostname or "", address.port or 80), timeout=20) as raw:
                    length = f"Content-Type: application/json\r\nContent-Length: {STRANGERS_BYTES + 1}\r\n"
                    raw.sendall(f"POST {path} HTTP/1.1\r\nHost: {address.netloc}\r\n{length}{key}\r\n".encode())
                    assert raw.recv(4096).split(b"\r\n")[0].split()[1] == b"401", path

    body = b'{"user_id": "alice", "messages": "' + b"a" * 2 * STRANGERS_BYTES + b'"}'
    with running(memory, require_keys=True) as url:
        for held, status in ((None, 413), ("ember_000000000000_x", 413), (key_for(memory, "alice")[1], 201)):
            with client(url, held) as c:
                chunks = iter([body[:1000], body[1000:]])
                assert c.post("/v1/memories", content=chunks, headers=JSON).status_code == status
        with client(url) as c:
            assert c.post("/v1/memories", content=iter([b'{"messages": "a"}']), headers=JSON).status_code == 401


DEEP = (50, 250, 450, 500, 600, 900, 2000, 50_000)


def test_what_is_nested_deeply_is_refused_or_kept_and_breaks_nothing(opened: Opener) -> None:
    with running(opened(proxy_url=NOBODY)) as url, client(url) as c:
        for depth in bounded((50, 500, 900, 50_000), proofs=DEEP):
            lists, maps = "[" * depth + "1" + "]" * depth, '{"a":' * depth + "1" + "}" * depth
            for path, body in (
                ("/v1/memories", f'{{"messages": [{{"role": "user", "content": [{{"type": "x", "a": {maps}}}]}}]}}'),
                ("/v1/memories", f'{{"messages": [{{"role": "assistant", "tool_calls": {lists}}}]}}'),
                ("/v1/memories/batch", f'{{"items": {lists}}}'),
                ("/v1/search", lists),
                ("/v1/search", maps),
                ("/v1/chat/completions", f'{{"messages": [{{"role": "user", "content": {lists}}}]}}'),
                (
                    "/v1/chat/completions",
                    f'{{"messages": [{{"role": "user", "content": "a", "tool_calls": {lists}}}]}}',
                ),
                ("/mcp", f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {maps}}}'),
            ):
                got = c.post(path, content=body, headers=ACCEPT)
                assert got.status_code != 500, (path, got.text)


def test_what_is_no_request_or_an_odd_address_is_told_so_and_tells_nothing_of_the_server(server: Server) -> None:
    for body in (
        '{"query": "a", "top_k": 1e400}',
        '{"query": "a", "top_k": ' + "9" * 5000 + "}",
        '{"query": NaN}',
        '{"query": "a", "\\ud800": 1}',
        '{"query": "a", "query": "b", "user_id": "x", "user_id": "\\ud800"}',
        "\u00ff",
        "null",
        "[]",
        '""',
        "",
        "{",
    ):
        with client(server.url) as c:
            for path in ("/v1/search", "/v1/context", "/v1/memories", "/v1/settle", "/mcp"):
                got = c.post(path, content=body.encode("latin-1"), headers=ACCEPT)
                assert 400 <= got.status_code < 500 or (path == "/v1/settle" and got.status_code == 202), (
                    path,
                    got.text,
                )
                assert "Traceback" not in got.text, body

    with client(server.url) as c:
        for path in PATHS:
            got = c.get(path)
            assert got.status_code < 500, path
            for words in ("root:", "site-packages", "Traceback", "SELECT ", "memory.db", "/src/"):
                assert words not in got.text, path


# ------------------------------------------------------------------------------------------------- foreign pages


def test_a_foreign_page_cannot_even_time_an_answer_and_a_page_of_ours_and_a_program_may_read(server: Server) -> None:
    for site in ("cross-site", "same-site"):
        for mode in ("no-cors", "cors", "same-origin"):
            with client(server.url) as c:
                headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
                for path in ("/v1/pages", "/search?q=a", "/v1/events", "/metrics", "/"):
                    assert c.get(path, headers=headers).status_code == 403, path

    _, key = key_for(server.memory, "*")
    for sent in (
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
        {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"},
        {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Authorization": f"Bearer {key}"},
        {},
    ):
        with client(server.url) as c:
            assert c.get("/v1/stats", headers=sent).status_code == 200, sent

    with client(server.url) as c:
        stale = {"Cookie": "ember_key=ember_000000000000_x"}
        assert c.get("/v1/stats", headers=stale).status_code == 200
        assert c.get("/", headers=stale).status_code == 200


# ------------------------------------------------------------------------------------------------------- streams


def test_a_key_and_a_server_hold_only_so_many_streams() -> None:
    feeds = Feeds()
    with ExitStack() as stack:
        for _ in range(STREAMS_OF_A_KEY):
            feeds.check_room("hers")
            stack.enter_context(feeds.opened("hers"))
        with pytest.raises(TooManyRequests):
            feeds.check_room("hers")
        feeds.check_room("his")
        for _ in range(STREAMS - STREAMS_OF_A_KEY):
            feeds.check_room(None)
            stack.enter_context(feeds.opened(None))
        for holder in (None, "his"):
            with pytest.raises(TooManyRequests):
                feeds.check_room(holder)
    feeds.check_room("hers")


def test_a_stream_too_many_is_told_when_to_come_again_and_one_that_ended_makes_room(memory: Memory) -> None:
    app = create_app(memory)
    app.state.event_feeds = feeds = Feeds()
    with served(app) as url, client(url) as c, ExitStack() as others:
        for _ in range(STREAMS - 1):
            others.enter_context(feeds.opened(None))
        with c.stream("GET", "/v1/events") as stream:
            assert stream.status_code == 200
            lines = stream.iter_lines()
            next(lines)
            got = c.get("/v1/events")
            assert (got.status_code, got.headers["retry-after"]) == (429, "30")
        others.close()
        with c.stream("GET", "/v1/events") as stream:
            assert stream.status_code == 200


def test_a_revoked_key_ends_a_stream_though_there_is_always_something_new(memory: Memory) -> None:
    key, text = key_for(memory, "alice", read_only=True)
    app = create_app(memory, require_keys=True)
    app.state.event_feeds = Feeds(heartbeat_s=0.2)
    ended = threading.Event()

    def talk() -> None:
        while not ended.wait(0.02):
            memory.of("alice").add("and another thing")

    talking = threading.Thread(target=talk)
    with served(app) as url, client(url, text) as c, c.stream("GET", "/v1/events?user_id=alice") as stream:
        lines = stream.iter_lines()
        next(lines)
        talking.start()
        try:
            memory.keys.revoke_key(key.id, NOW)
            for _ in lines:
                pass  # it ends, or this test never does
        finally:
            ended.set()
            talking.join()


# --------------------------------------------------------------------------------------- addresses, times, errors


def test_a_model_s_name_leads_to_no_other_address_of_the_upstream(opened: Opener) -> None:
    with ModelServer() as model, running(opened(proxy_url=model.url, proxy_key="sk-operator")) as url:
        address = urlsplit(url)
        for path in ("../files", "%2e%2e/files", "..%2ffiles", "x/../../files", "..%5cfiles", ".", "a/./b"):
            raw = http.client.HTTPConnection(address.hostname or "", address.port, timeout=20)
            raw.request("GET", f"/v1/models/{path}")
            got = raw.getresponse()
            content = got.read()
            raw.close()
            assert (got.status, b"upstream" in content, len(model.requests)) == (404, False, 0), path


MOMENTS = (
    ("America/New_York", "0001-01-01T00:00:00+00:00"),
    ("Asia/Tokyo", "9999-12-31T23:59:59+00:00"),
    ("America/New_York", "9999-12-31T23:59:59+00:00"),
    ("Asia/Tokyo", "0001-01-01T00:00:00+00:00"),
)


def test_the_first_and_the_last_moment_can_be_shown_in_every_zone(opened: Opener) -> None:
    for number, (zone, at) in enumerate(MOMENTS[: bounded(2, proofs=4)]):
        memory = opened(f"{number}.db", timezone=zone)
        alice = memory.of("alice")
        alice.add("I live in Lyon.", "Since when?", at=at)
        for number in range(6):
            alice.add(f"I like tea {number}.", "Noted.")
        alice.settle()
        with running(memory) as url, client(url) as c:
            for path in (
                "/overview",
                "/pages",
                "/segments",
                "/persona",
                "/map",
                "/audit",
                "/search?q=tea",
                "/playground?q=Lyon",
            ):
                got = c.get(path, params={**dict(httpx2.QueryParams(path.partition("?")[2])), "user": "alice"})
                assert got.status_code == 200, path
            for path in ("/v1/pages", "/v1/facts", "/v1/segments"):
                assert c.get(path, params={"user_id": "alice"}).status_code == 200
            assert c.post("/v1/context", json={"query": "Where do I live?", "user_id": "alice"}).status_code == 200


PATHS = [
    "/assets/x/../../etc/passwd",
    "/assets//etc/passwd",
    "/assets/x/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/v1//memories",
    "//v1/memories",
    "/v1/memories/%00",
    "/v1/memories/p%00",
    "/v1/memories/%ff",
    "/v1/memories/" + "p" * 5000,
    "/pages/..%2f..%2fetc",
    "/utterances/%00/text",
    "/facts/%00",
    "/audit/99999999999999999999999",
    "/audit/-1",
    "/pages?before=-1",
    "/pages?before=99999999999999999999",
    "/audit?before=99999999999999999999",
    "/playground?q=a&budget=99999999999999999999",
    "/playground?q=a&at=soon",
    "/?user=%00",
    "/?user=%20",
    "/?user=a&agent=%00",
    "/import/%00",
    "/v1/changes?since=99999999999999999999",
    "/v1/operations/%00",
    "/v1/events?user_id=%00",
]


def test_a_page_tells_of_a_store_that_failed_in_our_words(memory: Memory) -> None:
    with running(memory) as url, client(url) as c:
        memory.close()
        got = c.get("/overview", params={"user": "alice"})
    assert got.status_code >= 500
    assert "the server is stopping" in got.text


@given(name=st.text(st.characters(), min_size=1, max_size=30))
def test_a_name_in_a_line_of_the_log_neither_ends_it_nor_steers_a_terminal(name: str) -> None:
    record: Any = logging.LogRecord("embermem", logging.INFO, "", 0, "of %s", (name,), None)
    line = logs.TextLines().format(record)
    assert line.isprintable()
    assert line.encode()
