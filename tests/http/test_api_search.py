"""Asking over HTTP: search writes nothing, a context counts visits, both stay within their thread and budget."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from serving import Server, client, key_for, running

from embermem import Memory, OwnerMemory

ALICE = {"user_id": "alice"}


def talked(server: Server) -> OwnerMemory:
    """Alice, with pages in mid-term memory."""
    alice = server.memory.of("alice")
    for number in range(8):
        alice.add(f"The wetland park has {number + 2} herons.", "How nice.", thread="ab"[number % 2])
    alice.settle()
    return alice


def visits(alice: OwnerMemory) -> int:
    return sum(segment.visits for segment in alice.segments())


def test_a_search_finds_the_best_and_counts_no_visit(server: Server, http: httpx2.Client) -> None:
    alice = talked(server)
    before = alice.state()
    found = http.post("/v1/search", json={"query": "herons in the park", "top_k": 3, **ALICE}).json()["results"]
    assert len(found) == 3
    assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)
    assert all(one["kind"] == "utterance" and "herons" in one["memory"] for one in found)
    assert (visits(alice), alice.state()) == (0, before)


def test_how_many_may_be_said_in_three_ways_but_once(server: Server, http: httpx2.Client) -> None:
    talked(server)
    for name in ("top_k", "k", "limit"):
        assert len(http.post("/v1/search", json={"query": "herons", name: 2, **ALICE}).json()["results"]) == 2
    assert http.post("/v1/search", json={"query": "herons", "k": 2, "top_k": 3}).status_code == 422


def test_a_search_in_one_thread_finds_that_thread_only(server: Server, http: httpx2.Client) -> None:
    talked(server)
    asked: list[dict[str, Any]] = [{"run_id": "a"}, {"filters": {"run_id": "a"}}]
    for where in asked:
        found = http.post("/v1/search", json={"query": "herons", "top_k": 100, **where, **ALICE}).json()["results"]
        assert len(found) == 8
        assert {one["run_id"] for one in found} == {"a"}


def test_filters_name_the_owner_and_may_not_contradict(server: Server, http: httpx2.Client) -> None:
    talked(server)
    inside = http.post("/v1/search", json={"query": "herons", "filters": {"user_id": "alice"}})
    assert inside.json()["results"]
    twice = http.post("/v1/search", json={"query": "herons", "user_id": "bob", "filters": {"user_id": "alice"}})
    assert (twice.status_code, "user_id" in twice.json()["detail"]) == (422, True)
    other = http.post("/v1/search", json={"query": "herons", "filters": {"AND": []}})
    assert (other.status_code, "'AND'" in other.json()["detail"]) == (422, True)


def test_a_context_fits_its_budget_and_counts_visits(server: Server, http: httpx2.Client) -> None:
    alice = talked(server)
    answer = http.post("/v1/context", json={"query": "herons", "budget": 120, **ALICE}).json()
    assert 0 < answer["tokens"] <= 120
    assert all(one["memory"] in answer["text"] for one in answer["results"])
    assert (answer["left_out"], answer["notes"]) == (None, None)
    assert visits(alice) > 0


def test_a_key_that_may_only_read_gets_a_context_and_counts_no_visit(memory: Memory) -> None:
    alice = memory.of("alice")
    for number in range(8):
        alice.add(f"The wetland park has {number + 2} herons.", "How nice.")
    alice.settle()
    _, text = key_for(memory, "alice", read_only=True)
    with running(memory) as url, client(url, text) as http:
        answer = http.post("/v1/context", json={"query": "herons", **ALICE})
        assert (answer.status_code, bool(answer.json()["results"])) == (200, True)
        assert visits(alice) == 0
        batch = {"items": [{"messages": "x"}], **ALICE}
        assert http.post("/v1/memories/batch", json=batch).status_code == 403


def test_a_context_says_what_it_left_out_when_asked(server: Server, http: httpx2.Client) -> None:
    talked(server)
    body = {"query": "herons", "max_tokens": 40, "explain": True, "at": "2026-05-03", **ALICE}
    answer = http.post("/v1/context", json=body).json()
    assert answer["tokens"] <= 40
    assert answer["left_out"]
    assert {"what", "score", "reason"} == set(answer["left_out"][0])


def test_nobody_asked_knows_nothing_and_is_not_made(server: Server, http: httpx2.Client) -> None:
    assert http.post("/v1/search", json={"query": "anything", "user_id": "nobody"}).json() == {"results": []}
    answer = http.post("/v1/context", json={"query": "anything", "user_id": "nobody"}).json()
    assert (answer["text"], answer["results"]) == ("", [])
    assert server.memory.owners() == ()


def test_a_question_that_cannot_be_asked_is_refused(http: httpx2.Client) -> None:
    bodies: list[dict[str, Any]] = [
        {},
        {"query": 7},
        {"query": "x", "budget": 0},
        {"query": "x", "at": "soon"},
        {"query": "a\x00"},
    ]
    for body in bodies:
        answer = http.post("/v1/context", json=body)
        assert (answer.status_code, answer.json()["status"]) == (422, 422)


def test_a_wrong_scope_is_refused_with_the_field(http: httpx2.Client) -> None:
    for scope, where in (
        ({"threads": "s1"}, "scope.threads"),
        ({"since": "soon"}, "scope.since"),
        ({"metadata": {"n": {"$like": 1}}}, "scope.metadata"),
        ({"tiers": ["deep"]}, "scope.tiers.0"),
        ({"before_seq": -1}, "scope.before_seq"),
        ({"thread": ["s1"]}, "scope"),
        ([], "scope"),
    ):
        asked = http.post("/v1/search", json={"query": "figs", "scope": scope})
        listed = http.get("/v1/pages", params={"scope": json.dumps(scope)})
        for answer, place in ((asked, "body"), (listed, "query")):
            assert answer.status_code == 422, (scope, where)
            found = [error["where"] for error in answer.json()["errors"]]
            assert f"{place}.{where}" in found, found


def test_a_scope_that_is_no_json_is_refused(http: httpx2.Client) -> None:
    answer = http.get("/v1/facts", params={"scope": "{"})
    assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "query.scope")
