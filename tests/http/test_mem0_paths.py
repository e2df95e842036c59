"""mem0's paths below /mem0, as its own clients ask them, and whose memories a key reaches there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from fastapi.routing import iter_route_contexts
from serving import NO_TLS, client, key_for, running

from embermem import Memory
from embermem.http.app import create_app
from scripted import Opener

SAID = {"messages": [{"role": "user", "content": "I live in Lyon and my bike is green."}], "metadata": {"k": 1}}


@pytest.fixture
def memory(opened: Opener) -> Memory:
    return opened()


@pytest.fixture
def http(memory: Memory) -> Iterator[httpx2.Client]:
    with running(memory) as url, client(url) as asking:
        yield asking


def test_the_paths_of_the_rest_server_keep_find_change_and_forget(http: httpx2.Client) -> None:
    made = http.post("/mem0/memories", json={**SAID, "user_id": "alice"}).json()["results"]
    assert [one["memory"] for one in made] == ["alice lives in Lyon", "I live in Lyon and my bike is green."]
    one = f"/mem0/memories/{made[0]['id']}"
    listed = http.get("/mem0/memories", params={"user_id": "alice"}).json()["results"]
    assert {memory["id"] for memory in listed} == {memory["id"] for memory in made}
    assert http.get("/mem0/memories", params={"user_id": "alice", "top_k": 1}).json()["results"] == listed[:1]
    found = http.post("/mem0/search", json={"query": "green bike", "user_id": "alice", "filters": {"k": 1}}).json()
    assert found["results"][0]["memory"] == "I live in Lyon and my bike is green."
    assert http.put(one, json={"text": "Lives in Rome"}).json() == {"message": "Memory updated successfully!"}
    assert http.get(one).json()["memory"] == "Lives in Rome"
    assert [step["event"] for step in http.get(f"{one}/history").json()] == ["ADD", "UPDATE"]
    assert http.delete(one).status_code == 200
    assert http.get(one).json() == {"detail": f"Memory with id {made[0]['id']} not found. Please provide a valid "
                                    "'memory_id'"}  # fmt: skip
    assert http.delete("/mem0/memories", params={"user_id": "alice"}).status_code == 200
    assert http.post("/mem0/reset").json() == {"message": "All memories reset"}
    assert http.get("/mem0/memories", params={"user_id": "alice"}).json() == {"results": []}


def test_the_paths_of_the_platform_do_too(http: httpx2.Client) -> None:
    assert http.get("/mem0/v1/ping/").json()["status"] == "ok"
    body = {**SAID, "filters": {"user_id": "alice"}, "app_id": "shop"}
    answer = http.post("/mem0/v3/memories/add/", json=body).json()
    made = answer.pop("results")
    assert (answer["status"], len(answer["event_id"])) == ("SUCCEEDED", 25)
    asked = {"filters": {"AND": [{"user_id": "alice"}, {"app_id": "shop"}]}}
    listed = http.post("/mem0/v3/memories/", json=asked, params={"page": 1, "page_size": 1}).json()
    assert (listed["count"], len(listed["results"]), listed["previous"]) == (2, 1, None)
    second = http.post(listed["next"], json=asked).json()
    assert (second["next"], second["results"] != listed["results"]) == (None, True)
    found = http.post("/mem0/v3/memories/search/", json={"query": "bike", **asked}).json()["results"]
    assert {one["id"] for one in found} <= {one["id"] for one in made}
    batch = [{"memory_id": one["id"], "text": f"Text {place}"} for place, one in enumerate(made)]
    assert http.put("/mem0/v1/batch/", json={"memories": batch}).json() == {
        "message": "Successfully updated 2 memories"
    }
    assert http.get(f"/mem0/v1/memories/{made[1]['id']}/").json()["memory"] == "Text 1"
    assert [one["name"] for one in http.get("/mem0/v1/entities/").json()["results"]] == ["alice"]
    assert http.request("DELETE", "/mem0/v1/batch/", json={"memories": batch}).status_code == 200
    assert http.get("/mem0/v1/memories/", params={"user_id": "alice"}).json()["count"] == 0
    assert http.delete("/mem0/v2/entities/user/alice/").status_code == 200


def test_a_failure_has_the_form_of_mem0(http: httpx2.Client) -> None:
    for method, path, body, status, said in (
        ("POST", "/mem0/memories", {"messages": "x"}, 422, "At least one of 'user_id', 'agent_id', or 'run_id'"),
        ("POST", "/mem0/memories", {"user_id": "a"}, 422, "messages is missing"),
        ("POST", "/mem0/search", {"user_id": "a"}, 422, "Invalid query: must be a non-empty string"),
        ("POST", "/mem0/search", {"query": "x"}, 422, "filters must contain at least one of"),
        ("POST", "/mem0/search", [], 422, "body"),
        ("POST", "/mem0/v3/memories/", {"filters": 3}, 422, "filters is int"),
        ("GET", "/mem0/memories?user_id=a&top_k=x", None, 422, "top_k = 'x' is not a whole number"),
        ("POST", "/mem0/v3/memories/?page=0", {"filters": {"user_id": "a"}}, 422, "page and page_size"),
        ("DELETE", "/mem0/memories", None, 422, "At least one filter is required"),
        ("DELETE", "/mem0/v1/batch/", {"memories": 3}, 422, "memories is not a list"),
        ("DELETE", "/mem0/v2/entities/app/x", None, 422, "there is no entity 'app'"),
        ("PUT", "/mem0/memories/x", {"text": "y"}, 404, "Memory with id x not found"),
        ("POST", "/mem0/configure", {}, 409, "configured where it is started"),
    ):
        got = http.request(method, path, json=body)
        assert (got.status_code, got.headers["content-type"]) == (status, "application/json"), (
            method,
            path,
            body,
            status,
            said,
        )
        assert said in got.json()["detail"], (method, path, body, status, said)


def test_every_path_needs_a_key_that_reaches_whose_memory_is_named(memory: Memory) -> None:
    bob = memory.of("bob")
    bob.add("I live in Oslo, and the code is heron-4711.", None)
    bob.settle()
    of_bob = f"{bob.facts()[0].id}.{bob.owner.id}"
    _, alice = key_for(memory, "alice/default")
    with (
        running(memory, require_keys=True) as url,
        httpx2.Client(base_url=url, trust_env=False, verify=NO_TLS, timeout=None) as c,
    ):
        asked = 0
        for route in iter_route_contexts(create_app(memory).routes):
            path = (route.path or "").replace("{memory_id}", of_bob).replace("{kind}", "user").replace("{name}", "bob")
            for method in route.methods or () if path.startswith("/mem0/") else ():
                asked += 1
                body = {"user_id": "bob", "query": "x", "messages": "x", "filters": {"user_id": "bob"}, "text": "x"}
                sent: dict[str, Any] = (
                    {"json": {**body, "memories": [{"memory_id": of_bob, "text": "x"}]}} if method != "GET" else {}
                )
                params = {"user_id": "bob"}
                assert c.request(method, path, params=params, **sent).status_code == 401, path
                got = c.request(method, path, params=params, headers={"Authorization": f"Token {alice}"}, **sent)
                assert "heron" not in got.text, path
                if not path.rstrip("/").endswith(("/ping", "/entities", "/reset", "/history")):
                    assert got.status_code in (403, 404, 409), (method, path, got.text)
        assert asked > 40
    assert bob.stats().utterances == 1
    assert [fact.value for fact in bob.facts()] == ["Oslo"]


def test_a_key_that_may_only_read_changes_nothing(memory: Memory) -> None:
    alice = memory.of("alice")
    alice.add("I live in Lyon.", None)
    alice.settle()
    one = f"{alice.facts()[0].id}.{alice.owner.id}"
    _, text = key_for(memory, "alice/default", read_only=True)
    with running(memory, require_keys=True) as url, client(url, text) as http:
        assert http.get(f"/mem0/memories/{one}").json()["memory"] == "alice lives in Lyon"
        for method, path, body in (
            ("POST", "/mem0/memories", {"messages": "x", "user_id": "alice"}),
            ("PUT", f"/mem0/memories/{one}", {"text": "x"}),
            ("DELETE", f"/mem0/memories/{one}", None),
            ("DELETE", "/mem0/memories?user_id=alice", None),
            ("POST", "/mem0/reset", None),
        ):
            assert http.request(method, path, json=body).status_code == 403, path
    assert len(alice.facts()) == 1


def test_a_reset_forgets_what_the_key_reaches_and_no_more(memory: Memory) -> None:
    for user in ("alice", "bob"):
        memory.of(user).add("I like figs.", None)
    memory.of("alice", agent="tutor").add("I like figs.", None)
    _, text = key_for(memory, "alice/*")
    with running(memory, require_keys=True) as url, client(url, text) as http:
        assert http.post("/mem0/reset").status_code == 200
        assert http.get("/mem0/v1/entities").json()["results"] == []
    assert sorted((one.user, one.agent) for one in memory.owners()) == [("alice", "tutor"), ("bob", "default")]
