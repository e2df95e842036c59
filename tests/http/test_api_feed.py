"""The change feed and webhooks over HTTP, and items of every kind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from serving import key_for, running

from embermem import Memory, OwnerMemory
from embermem.client import Client
from embermem.core.errors import InputError, NotFound, Unchangeable
from loopback import answering
from scripted import Opener

ALICE = {"user_id": "alice", "agent_id": "tutor"}
TAKEN = b"HTTP/1.1 204 No Content\r\n\r\n"


@pytest.fixture
def served(opened: Opener) -> Iterator[tuple[Memory, str]]:
    memory = opened(webhook_hosts="127.0.0.1")
    with running(memory) as url:
        yield memory, url


@pytest.fixture
def alice(served: tuple[Memory, str]) -> OwnerMemory:
    return served[0].of("alice", "tutor")


def test_a_long_poll_answers_when_something_is_new_and_else_in_time(
    served: tuple[Memory, str], alice: OwnerMemory
) -> None:
    asked: dict[str, Any] = {**ALICE, "since": 0}
    with httpx2.Client(base_url=served[1], timeout=30) as http:
        assert http.get("/v1/changes", params={**asked, "wait_s": 0.2}).json()["results"] == []
        later = threading.Timer(0.5, lambda: alice.learn([{"text": "likes figs"}]))
        later.start()
        found = http.get("/v1/changes", params={**asked, "wait_s": 30}).json()["results"]
        later.join()
        assert [one["change_no"] for one in found] == [1]
        assert http.get("/v1/changes", params={**asked, "wait_s": 30}).json()["results"] == found
        assert http.get("/v1/changes", params={**asked, "wait_s": 61}).status_code == 422
    with Client(served[1]) as client:
        assert client.of("alice", "tutor").changes(1, wait_s=0.1) == ()


def test_a_stream_begins_at_a_position(served: tuple[Memory, str], alice: OwnerMemory) -> None:
    alice.add("I live in Lyon.")
    alice.learn([{"text": "likes figs"}])
    with httpx2.Client(base_url=served[1], timeout=30) as http:
        assert http.get("/v1/events", params={**ALICE, "since": "now"}).status_code == 422
        with http.stream("GET", "/v1/events", params={**ALICE, "since": "1.0"}) as stream:
            told = []
            for line in stream.iter_lines():
                told += [line] if line.startswith("id: ") else []
                if len(told) == 2:
                    break
    assert told == ["id: 1.1", "id: 1.1"]  # where it stands, then the change after the position


def test_webhooks_are_registered_listed_replayed_and_removed(served: tuple[Memory, str]) -> None:
    memory, url = served
    with answering(lambda request, number: TAKEN) as receiver, Client(url) as client:
        mine = client.of("alice", "tutor")
        made = mine.add_webhook(receiver.url, events=["import"])
        assert made.secret.startswith("whsec_")
        assert [(one.id, one.events, one.secret) for one in mine.webhooks()] == [(made.id, ("import",), "")]
        mine.learn([{"text": "likes figs"}])
        memory.deliver()
        assert mine.replay_webhook(made.id, "0.0").position == "0.0"
        memory.deliver()
        assert len(receiver.requests) == 2
        mine.remove_webhook(made.id)
        assert mine.webhooks() == ()
        with pytest.raises(NotFound):
            mine.replay_webhook(made.id)
        with pytest.raises(InputError, match="not a public address"):
            mine.add_webhook("https://10.0.0.1/")


def test_a_key_reads_no_webhook_of_another_owner_or_without_the_right_to_write(memory: Memory) -> None:
    hook = memory.of("alice", "tutor").add_webhook("https://example.com/")
    keys = [key_for(memory, "bob/tutor")[1], key_for(memory, "alice/tutor", read_only=True)[1]]
    with running(memory, require_keys=True) as url, httpx2.Client(base_url=url, timeout=None) as http:
        for key in keys:
            headers = {"Authorization": f"Bearer {key}"}
            asked = [
                http.get("/v1/webhooks", params=ALICE, headers=headers),
                http.post("/v1/webhooks", json={**ALICE, "url": "https://example.com/"}, headers=headers),
                http.post(f"/v1/webhooks/{hook.id}/replay", json=ALICE, headers=headers),
                http.delete(f"/v1/webhooks/{hook.id}", params=ALICE, headers=headers),
            ]
            assert [one.status_code for one in asked] == [403] * 4
    assert len(memory.of("alice", "tutor").webhooks()) == 1


def test_items_of_every_kind_are_read_updated_and_deleted(served: tuple[Memory, str], alice: OwnerMemory) -> None:
    alice.add("I live in Lyon.", "Nice.")
    figs, plums = alice.learn([{"text": "likes figs"}, {"text": "likes plums"}])
    with httpx2.Client(base_url=served[1], timeout=None) as http, Client(served[1]) as client:
        for kind in ("page", "utterance", "fact"):
            listed = http.get("/v1/memories", params={**ALICE, "kind": kind, "order": "oldest", "limit": 1}).json()
            (one,) = listed["results"]
            assert one == http.get(f"/v1/memories/{one['id']}", params=ALICE).json()
            assert one["kind"] == kind
            cursor = listed["next_cursor"]
            if cursor:
                following = http.get(
                    "/v1/memories", params={**ALICE, "kind": kind, "order": "oldest", "cursor": cursor}
                )
                assert one["id"] not in {other["id"] for other in following.json()["results"]}
        headers = {"Idempotency-Key": "k"}
        for _ in range(2):
            answer = http.patch(f"/v1/memories/{figs.id}", json={**ALICE, "text": "likes pears"}, headers=headers)
            assert (answer.status_code, answer.json()["memory"]) == (200, "The user likes pears")
        page = alice.pages()[0].id
        assert http.patch(f"/v1/memories/{page}", json={**ALICE, "text": "x"}).status_code == 409
        mine = client.of("alice", "tutor")
        with pytest.raises(Unchangeable, match="forget the page"):
            mine.update(alice.pages()[0].id, "other words")
        assert mine.verify(mine.delete(plums.id)).ok
        with pytest.raises(Unchangeable):
            mine.delete(alice.utterances()[0].id)


def test_many_items_are_added_by_the_client_as_in_the_process(served: tuple[Memory, str]) -> None:
    items: list[Any] = [{"messages": "I live in Lyon.", "thread": "a"}, {"messages": 3}, {"messages": "Hello."}]
    with Client(served[1]) as client:
        done = client.of("alice", "tutor").add_many(items)
    assert [(one.index, one.added is not None, one.error_kind) for one in done] == [
        (0, True, ""),
        (1, False, "input-error"),
        (2, True, ""),
    ]
    assert "items[1]: " in done[1].error
    assert [one.thread for one in served[0].of("alice", "tutor").utterances()] == ["a", "main"]
