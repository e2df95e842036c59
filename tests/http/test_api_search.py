"""Asking over HTTP: search writes nothing, a context counts visits, both stay within their thread and budget."""

from __future__ import annotations

import json
from typing import Any

import httpx2
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


def test_a_search_and_a_context_find_the_best_within_their_thread_and_budget(
    server: Server, http: httpx2.Client
) -> None:
    alice = talked(server)
    before = alice.state()
    found = http.post("/v1/search", json={"query": "herons in the park", "top_k": 3, **ALICE}).json()["results"]
    assert len(found) == 3
    assert [one["score"] for one in found] == sorted((one["score"] for one in found), reverse=True)
    assert all(one["kind"] == "utterance" and "herons" in one["memory"] for one in found)
    assert (visits(alice), alice.state()) == (0, before)

    for name in ("top_k", "k", "limit"):
        assert len(http.post("/v1/search", json={"query": "herons", name: 2, **ALICE}).json()["results"]) == 2
    assert http.post("/v1/search", json={"query": "herons", "k": 2, "top_k": 3}).status_code == 422

    asked: list[dict[str, Any]] = [{"run_id": "a"}, {"filters": {"run_id": "a"}}]
    for where in asked:
        found = http.post("/v1/search", json={"query": "herons", "top_k": 100, **where, **ALICE}).json()["results"]
        assert len(found) == 8
        assert {one["run_id"] for one in found} == {"a"}

    inside = http.post("/v1/search", json={"query": "herons", "filters": {"user_id": "alice"}})
    assert inside.json()["results"]
    twice = http.post("/v1/search", json={"query": "herons", "user_id": "bob", "filters": {"user_id": "alice"}})
    assert (twice.status_code, "user_id" in twice.json()["detail"]) == (422, True)
    other = http.post("/v1/search", json={"query": "herons", "filters": {"AND": []}})
    assert (other.status_code, "'AND'" in other.json()["detail"]) == (422, True)

    answer = http.post("/v1/context", json={"query": "herons", "budget": 120, **ALICE}).json()
    assert 0 < answer["tokens"] <= 120
    assert all(one["memory"] in answer["text"] for one in answer["results"])
    assert (answer["left_out"], answer["notes"]) == (None, None)
    assert visits(alice) > 0

    body = {"query": "herons", "max_tokens": 40, "explain": True, "at": "2026-05-03", **ALICE}
    explained = http.post("/v1/context", json=body).json()
    assert explained["tokens"] <= 40
    assert explained["left_out"]
    assert {"what", "score", "reason"} == set(explained["left_out"][0])


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


def test_a_question_that_cannot_be_asked_or_a_wrong_scope_is_refused_and_nobody_asked_knows_nothing(
    server: Server, http: httpx2.Client
) -> None:
    assert http.post("/v1/search", json={"query": "anything", "user_id": "nobody"}).json() == {"results": []}
    nothing = http.post("/v1/context", json={"query": "anything", "user_id": "nobody"}).json()
    assert (nothing["text"], nothing["results"]) == ("", [])
    assert server.memory.owners() == ()

    bodies: list[dict[str, Any]] = [
        {},
        {"query": 7},
        {"query": "x", "budget": 0},
        {"query": "x", "at": "soon"},
        {"query": "a\x00"},
    ]
    for body in bodies:
        refused = http.post("/v1/context", json=body)
        assert (refused.status_code, refused.json()["status"]) == (422, 422)

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

    no_json = http.get("/v1/facts", params={"scope": "{"})
    assert (no_json.status_code, no_json.json()["errors"][0]["where"]) == (422, "query.scope")
