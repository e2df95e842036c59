"""What is new comes as server-sent events: once each, in order, from where a client was cut off, to nobody else."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serving import NO_TLS, Server, key_for, served

from embermem import Memory
from embermem.core.types import Event, Position
from embermem.http.app import create_app
from embermem.http.events import Feeds
from proofs import bounded
from scripted import Opener

POLL_S = 0.05
"""How often these servers look for what is new."""


@contextmanager
def running(memory: Memory, require_keys: bool = False) -> Iterator[str]:
    """Serves a memory on loopback until the block ends; gives the base URL."""
    app = create_app(memory, require_keys=require_keys)
    app.state.event_feeds = Feeds(poll_s=POLL_S)
    with served(app) as url:
        yield url


@pytest.fixture
def server(memory: Memory) -> Iterator[Server]:
    """Such a server, which needs no keys."""
    with running(memory) as url:
        yield Server(url=url, memory=memory)


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """One event as a client sees it."""

    id: str
    name: str
    data: dict[str, Any]


@contextmanager
def listening(url: str, user: str, last: str | None = None, **headers: str) -> Iterator[Iterator[Told]]:
    """The events of one owner, as they come."""
    sent = headers if last is None else {**headers, "Last-Event-ID": last}
    with (
        httpx2.Client(timeout=20, trust_env=False, verify=NO_TLS) as client,
        client.stream("GET", f"{url}/v1/events", params={"user_id": user}, headers=sent) as answer,
    ):
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield events_of(answer.iter_lines())


def events_of(lines: Iterator[str]) -> Iterator[Told]:
    """Events out of the lines of a stream; comments and `retry` are passed over."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.strip()
        elif "event" in fields:
            yield Told(id=fields["id"], name=fields["event"], data=json.loads(fields["data"]))
            fields = {}


def until(events: Iterator[Told], name: str) -> list[Told]:
    """The events up to the first of that name."""
    told: list[Told] = []
    for one in events:
        told.append(one)
        if one.name == name:
            return told
    raise AssertionError(f"no {name} came, only {told}")


def test_a_listener_is_told_where_the_memory_stands_then_what_comes_from_whomever(
    server: Server, opened: Opener
) -> None:
    alice = server.memory.of("alice")
    alice.add("I live in Nantes.", "By the river?")
    with listening(server.url, "alice") as events:
        first = next(events)
        assert (first.name, first.id, first.data["pages"]) == ("state", "2.0", 1)
        alice.add("I have a rabbit.", "What is it called?")
        page = next(events)
        assert (page.name, page.id, page.data) == (
            "page",
            "4.0",
            {"seq": 4, "utterances": 2, "page_ids": [server.memory.of("alice").pages()[-1].id]},
        )
        alice.set_profile(name="Alice")
        change = until(events, "change")[-1]
        assert change.id == "4.1"
        assert change.data["cause"] == "profile"
        opened().of("alice").add("written by another process")
        assert next(events).name == "page"


def test_a_client_that_was_cut_off_goes_on_where_it_was(server: Server) -> None:
    alice = server.memory.of("alice")
    alice.add("one")
    with listening(server.url, "alice") as events:
        last = next(events).id
    alice.set_profile(name="Alice")
    alice.add("two", "three")
    alice.set_profile(name="Al")
    with listening(server.url, "alice", last=last) as events:
        told = [next(events) for _ in range(4)]
    assert [one.name for one in told] == ["state", "page", "change", "change"]
    assert [one.data["no"] for one in told[2:]] == [1, 2]


def test_events_hold_no_word_of_what_was_said_and_nothing_of_another_owner(server: Server) -> None:
    alice, bob = server.memory.of("alice"), server.memory.of("bob")
    with listening(server.url, "alice") as events:
        told = [next(events)]
        bob.add("bob's")
        page_id = alice.add("My secret is walnut.", "It is kept.")
        told.append(next(events))
        assert told[-1].data == {"seq": 2, "utterances": 2, "page_ids": [page_id]}
        alice.settle()
        told += until(events, "change")
    assert "walnut" not in str(told)
    for number in range(3):
        bob.add(f"walnut {number}", "noted")
        bob.set_profile(name=f"Bob {number}")
    with listening(server.url, "bob") as events:
        theirs = next(events).id
    with listening(server.url, "alice") as events:
        mine = next(events).id
    for last in (theirs, "0.0", "3.1", "999999.999999"):
        with listening(server.url, "alice", last=last) as events:
            first = next(events)
        assert (first.name, first.id) == ("state", mine), last
        assert "walnut" not in str(first)
        assert "Bob" not in str(first)


def test_a_key_hears_only_its_owners_while_it_holds(memory: Memory, tmp_path: Path) -> None:
    key, secret = key_for(memory, "alice", read_only=True)
    with (
        running(memory, require_keys=True) as url,
        httpx2.Client(base_url=url, trust_env=False, verify=NO_TLS, timeout=None) as client,
    ):
        assert client.get("/v1/events", params={"user_id": "alice"}).status_code == 401
        bearer = {"Authorization": f"Bearer {secret}"}
        assert client.get("/v1/events", params={"user_id": "bob"}, headers=bearer).status_code == 403
        with listening(url, "alice", **bearer) as events:
            assert next(events).name == "state"
            memory.keys.revoke_key(key.id, datetime(2026, 5, 2, tzinfo=UTC))
            memory.of("alice").add("I live in Nantes.")
            assert list(events) == []
    key, secret = key_for(memory, "alice", "bob")  # whose owners are narrowed while it listens
    bearer = {"Authorization": f"Bearer {secret}"}
    with running(memory, require_keys=True) as url, listening(url, "bob", **bearer) as events:
        assert next(events).name == "state"
        with closing(sqlite3.connect(tmp_path / "memory.db")) as file:
            file.execute("UPDATE api_key SET grants = '[[\"alice\", null]]' WHERE id = ?", (key.id,))
            file.commit()
        memory.of("bob").add("I live in Nantes.")
        assert list(events) == []
        with listening(url, "alice", **bearer) as hers:
            assert next(hers).name == "state"


def test_listening_spends_none_of_a_key_s_requests(opened: Opener) -> None:
    memory = opened(http_rate_per_minute=4)
    _, secret = key_for(memory, "alice")
    bearer = {"Authorization": f"Bearer {secret}"}
    with running(memory, require_keys=True) as url, listening(url, "alice", **bearer) as events:
        assert next(events).name == "state"
        for number in range(3):
            memory.of("alice").add(f"message {number}")
            assert next(events).name == "page"
        with httpx2.Client(base_url=url, trust_env=False, headers=bearer, verify=NO_TLS, timeout=None) as client:
            answers = [client.get("/v1/stats", params={"user_id": "alice"}).status_code for _ in range(4)]
    assert answers == [200, 200, 200, 429]


def test_many_listeners_share_one_poller_that_ends_with_the_last(memory: Memory) -> None:
    async def listen() -> None:
        feeds = Feeds(poll_s=POLL_S)
        feed = feeds.of(memory.of("alice"))
        first, _ = await feed.join()
        second, _ = await feeds.of(memory.of("alice")).join()
        assert feed.listeners == {first, second}
        memory.of("alice").add("hello")
        told = [await first.get(), await second.get()]
        assert told[0] is told[1]
        for queue in (first, second):
            feed.listeners.discard(queue)
            feeds.left(feed)
        assert len(feeds) == 0
        assert feeds.of(memory.of("alice")) is not feed

        queue, _ = await feeds.of(memory.of("alice")).join()
        feeds.stop()
        assert await queue.get() is None  # when the server goes, every stream ends

    asyncio.run(listen())


@pytest.mark.proof
def test_a_server_that_is_told_to_stop_does_not_wait_for_those_who_listen(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EMBERMEM_")}
    serve = [sys.executable, "-m", "embermem.cli.main", "--store", str(tmp_path / "memory.db"), "serve", "--port", "0"]
    settings = {"EMBERMEM_EMBEDDER": "hashed", "EMBERMEM_HTTP_STOP_S": "600"}
    with subprocess.Popen(serve, env={**kept, **settings}, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        url = next(found[0] for line in server.stderr if (found := re.findall(r"http://[\d.]+:\d+", line)))
        with listening(url, "alice") as events:
            assert next(events).name == "state"
            server.send_signal(signal.SIGTERM)
            assert list(events) == []
        server.stderr.read()
        assert server.wait() == 0


def test_a_memory_that_went_back_and_too_many_changes_at_once_are_told_as_one_state(memory: Memory) -> None:
    alice = memory.of("alice")
    alice.add("hello")
    told = [*alice.events(str(Position(seq=9, revision=9)))]
    assert [(one.name, str(one.position)) for one in told] == [("state", "1.0")]
    for year in range(1900, 2002):
        alice.set_profile(birth_year=year)
    assert [one.name for one in alice.events(str(Position(seq=0, revision=0)))] == ["state"]
    assert [one.name for one in alice.events(str(Position(seq=1, revision=99)))] == ["change"] * 3


@settings(max_examples=bounded(6, proofs=75))
@given(steps=st.lists(st.sampled_from(["add", "profile"]), max_size=8), cut=st.integers(0, 8))
def test_in_two_looks_the_same_is_told_as_in_one(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], cut: int
) -> None:
    path: Path = tmp_path_factory.mktemp("events") / "memory.db"
    with Memory(path, embedder="hashed", background=False) as memory:
        alice = memory.of("alice")
        zero = Position(seq=0, revision=0)
        halves: list[Event] = []
        for number, step in enumerate(steps):
            if number == cut:
                halves = [*alice.events(str(zero))]
            if step == "add":
                alice.add(f"message {number}")
            else:
                alice.set_profile(name=f"Alice {number}")
        at = halves[-1].position if halves else zero
        halves += [*alice.events(str(at))]
        whole = [*alice.events(str(zero))]
        changes = [one.data["no"] for one in whole if one.name == "change"]
        assert [one.data["no"] for one in halves if one.name == "change"] == changes == list(range(1, len(changes) + 1))
        said = sum(one.data["utterances"] for one in whole if one.name == "page")
        assert sum(one.data["utterances"] for one in halves if one.name == "page") == said == steps.count("add")


@given(seq=st.integers(0, 10**17), revision=st.integers(0, 10**17))
def test_an_id_reads_as_it_was_written_and_one_that_is_not_ours_is_none(seq: int, revision: int) -> None:
    mark = Position(seq=seq, revision=revision)
    assert Position.parsed(str(mark)) == mark
    for text in (None, "", "1", "1.", ".1", "a.b", "-1.2", "1.2.3", "²³.1", f"{10**30}.1"):
        assert Position.parsed(text) is None, text
