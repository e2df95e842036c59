"""Shared spaces over HTTP: what a key and a grant must say together, on every route that can name a space."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, cast

import openai
import pytest
from fastapi import FastAPI
from proxying import ask, assistant, proxied, user
from serving import client, key_for, running
from test_keys import asked, every_route, refused

from embermem import Memory, api_keys
from embermem.client import Client
from embermem.core import messages
from embermem.core.errors import InputError, NotGranted
from embermem.http.app import create_app
from embermem.protocols import Grant
from embermem.testing.model_server import ModelServer
from scripted import NOW, Opener

SECRET = "heron-4711"
QUESTION = "What is the word of the safe?"


@pytest.fixture
def memory(opened: Opener) -> Memory:
    """A space that alice may read and bob write to, and one that nobody may."""
    memory = opened(proxy_url="http://127.0.0.1:9/v1")
    memory.space("team").add(f"The word of the safe is {SECRET}.")
    memory.space("closed").add(f"The other word of the safe is {SECRET}.")
    memory.grant("team", user="alice")
    memory.grant("team", user="bob", write=True)
    return memory


@pytest.fixture
def url(memory: Memory) -> Iterator[str]:
    with running(memory, require_keys=True) as url:
        yield url


def key(memory: Memory, *owners: str, spaces: tuple[str, ...] = (), read_only: bool = False) -> str:
    made, text = api_keys.make("test", owners, spaces=spaces, read_only=read_only, now=NOW)
    memory.keys.add_key(made)
    return text


def test_what_is_found_in_a_space_carries_the_names_of_who_asked(memory: Memory, url: str) -> None:
    with client(url, key(memory, "alice", spaces=("team:read",))) as http:
        asked = {"user_id": "alice", "agent_id": "desk", "space": "team"}
        found = http.post("/v1/search", json={"query": QUESTION, **asked}).json()["results"]
        pages = http.get("/v1/pages", params=asked).json()["results"]
        one = http.get(f"/v1/memories/{found[0]['id']}", params=asked).json()
    assert {(one["user_id"], one["agent_id"]) for one in (*found, *pages, one)} == {("alice", "desk")}


def test_a_key_keeps_its_spaces_and_holds_them_by_name_alone_and_none_is_no_space(memory: Memory) -> None:
    held = key(memory, "alice", "*/team", spaces=("team:write", "手册"))
    found = api_keys.verified(held, memory.keys)
    assert found is not None
    assert [api_keys.shown(one) for one in found.grants] == ["alice/*", "*/team", "team:write", "手册:read"]
    team, other = messages.space("team"), messages.space("手册")
    right = api_keys.Right
    assert [api_keys.covers(found, team, one) for one in right] == [True, True, False]
    assert [api_keys.covers(found, other, one) for one in right] == [True, False, False]
    assert not api_keys.covers(found, messages.space("closed"), right.READ)
    for owners in (("team",), ("team/*",), ("*/team",), ("*/*x",)):
        theirs, _ = key_for(memory, *owners)
        assert not api_keys.covers(theirs, team, right.READ), owners
    admin, _ = key_for(memory, "*")
    assert all(api_keys.covers(admin, team, one) for one in right)
    reader, _ = key_for(memory, "*", read_only=True)
    assert [api_keys.covers(reader, team, one) for one in right] == [True, False, False]

    for text in ("", "a b", "team:", "team:all", "team:write:x", ":read", " ", "*"):
        with pytest.raises(InputError):
            api_keys.make("test", [], spaces=[text], read_only=False, now=NOW)

    assert Grant(user="alice", agent=None).space is None


def test_a_context_needs_the_key_s_right_and_the_user_s_grant_until_that_is_revoked(memory: Memory, url: str) -> None:
    both = key(memory, "alice", "carl", spaces=("team",))
    with client(url, both) as c:
        body = {"user_id": "alice", "query": QUESTION, "shares": ["team"]}
        told = c.post("/v1/context", json=body).json()
        assert SECRET in told["text"]
        assert {one["metadata"]["space"] for one in told["results"]} == {"team"}
        assert [*told["shared"]] == ["team"]
        assert SECRET in c.post("/v1/search", json=body).text
        assert c.get("/v1/overview", params={"user_id": "alice", "shares": ["team"]}).status_code == 200
        other = c.post("/v1/context", json={**body, "user_id": "carl"})
        assert (other.status_code, other.json()["type"]) == (403, "urn:embermem:problem:not-granted")
    with client(url, key(memory, "alice")) as c:
        answers = {name: c.post("/v1/context", json={**body, "shares": [name]}) for name in ("team", "closed", "none")}
        assert {one.status_code for one in answers.values()} == {403}
        assert len({one.json()["detail"].replace(name, "…") for name, one in answers.items()}) == 1
        assert SECRET not in "".join(one.text for one in answers.values())

    with client(url, key(memory, "alice", spaces=("team",))) as c:
        body = {"user_id": "alice", "query": QUESTION, "shares": ["team"]}
        assert c.post("/v1/context", json=body).status_code == 200
        memory.revoke("team", user="alice")
        assert c.post("/v1/context", json=body).status_code == 403


def test_a_space_is_read_and_written_through_the_routes_of_a_memory(memory: Memory, url: str) -> None:
    with client(url, key(memory, "alice", "bob", spaces=("team:write",))) as c:
        added = {"user_id": "bob", "space": "team", "messages": "The printer is upstairs."}
        assert c.post("/v1/memories", json=added).status_code == 201
        pages = c.get("/v1/pages", params={"user_id": "alice", "space": "team"}).json()["results"]
        assert [one["metadata"]["utterances"][0]["speaker"] for one in pages] == ["bob", "team"]
        assert c.post("/v1/memories", json={**added, "user_id": "alice"}).status_code == 403
        whole = c.delete("/v1/memories", params={"user_id": "bob", "space": "team", "confirm": "true"})
        assert whole.status_code == 403
    with client(url, key(memory, "bob", spaces=("team",))) as c:  # the key may only read
        assert c.post("/v1/memories", json=added).status_code == 403
        assert c.get("/v1/pages", params={"user_id": "bob", "space": "team"}).status_code == 200
    assert len(memory.space("team").pages()) == 2


def test_a_key_that_may_only_read_the_space_counts_no_visit_there(memory: Memory, url: str) -> None:
    team = memory.space("team")
    for n in range(9):
        team.add(f"Word number {n} of the safe.", thread=f"t{n}")
    team.settle()
    body = {"user_id": "bob", "query": QUESTION, "shares": ["team"]}

    def visits() -> int:
        return sum(one.visits for one in team.segments())

    with client(url, key(memory, "bob", spaces=("team",))) as c:
        assert c.post("/v1/context", json=body).status_code == 200
        assert visits() == 0
    with client(url, key(memory, "bob", spaces=("team:write",))) as c:
        assert c.post("/v1/context", json=body).status_code == 200
        assert visits() > 0


def test_only_a_key_with_the_right_grants_and_revokes(memory: Memory, url: str) -> None:
    grants = "/v1/spaces/team/grants"
    for spaces in ((), ("team",), ("team:write",), ("closed:grant",)):
        with client(url, key(memory, "alice", spaces=spaces)) as c:
            assert c.get(grants).status_code == 403
            assert c.post(grants, json={"user_id": "carl"}).status_code == 403
            assert c.delete(grants, params={"user_id": "alice"}).status_code == 403
            assert c.get("/v1/spaces").json()["results"] == sorted({one.partition(":")[0] for one in spaces})
    for text in (key(memory, spaces=("team:grant",)), key(memory, "*")):
        with client(url, text) as c:
            assert c.post(grants, json={"user_id": "carl", "write": True}).status_code == 201
            assert [one["user_id"] for one in c.get(grants).json()["results"]] == ["alice", "bob", "carl"]
            assert [one["write"] for one in c.delete(grants, params={"user_id": "carl"}).json()["results"]] == [True]
            assert c.delete(grants, params={"user_id": "carl"}).status_code == 404
    with client(url, key(memory, "*", read_only=True)) as c:
        assert c.post(grants, json={"user_id": "carl"}).status_code == 403
    assert [one.user for one in memory.grants("team")] == ["alice", "bob"]


def test_no_route_reaches_a_space_without_the_key_s_right_or_the_grant(memory: Memory, url: str) -> None:
    """Every route that takes a space, or spaces: a key without the right, and one with it for a user without a grant,
    are refused, and told nothing."""
    app = create_app(memory)
    of_alice, of_carl = key(memory, "alice/default"), key(memory, "carl/default", spaces=("closed:write",))
    wrong, tried = [], 0
    for text, name_of in ((of_alice, "alice"), (of_carl, "carl")):
        with client(url, text) as c:
            for method, path, where in routes_with_spaces(app):
                for name in where:
                    value = "closed" if name == "space" else ["closed"]
                    got = asked(cast(Any, _Adding(c, name, value)), app, method, path, name_of, "default")
                    tried += 1
                    if not refused(got) or SECRET in got.text:
                        wrong.append((method, path, name, name_of, got.status_code, got.text[:200]))
    assert tried > 60
    assert wrong == []
    assert memory.space("closed").stats().utterances == 1


def test_events_of_a_space_are_its_own_until_the_listeners_grant_ends(memory: Memory, url: str) -> None:
    stop = threading.Event()
    with client(url, key(memory, "alice", "bob", spaces=("team",))) as c:
        assert c.get("/v1/events", params={"user_id": "alice", "space": "closed"}).status_code == 403
        here = {"space": "team", "since": "0.0"}
        with (
            c.stream("GET", "/v1/events", params={"user_id": "alice", **here}) as of_alice,
            c.stream("GET", "/v1/events", params={"user_id": "bob", **here}) as of_bob,
        ):
            lines = of_bob.iter_lines()
            first = next(line for line in lines if '"page_ids"' in line)
            assert memory.space("team").pages()[0].id in first
            memory.revoke("team", user="alice")
            writer = threading.Thread(target=_write_until, args=(memory, stop))
            writer.start()
            try:
                told = [line for line in of_alice.iter_lines() if line.startswith("event: page")]
                assert len(told) == 1  # what was said before; then the stream ends
                assert next(line for line in lines if '"page_ids"' in line) != first  # bob's goes on
            finally:
                stop.set()
                writer.join()
    assert memory.of("alice").stats().utterances == 0


def _write_until(memory: Memory, stop: threading.Event) -> None:
    while not stop.wait(0.3):
        memory.space("team").add("The printer is upstairs.")


def routes_with_spaces(app: FastAPI) -> Iterator[tuple[str, str, list[str]]]:
    described = app.openapi()
    for route in every_route(app):
        for method in sorted(route.methods or set()):
            operation = described["paths"].get(route.path, {}).get(method.lower(), {})
            names = {one["name"] for one in operation.get("parameters", ())}
            if "requestBody" in operation:
                schema = operation["requestBody"]["content"]["application/json"]["schema"]
                body = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
                names = {*body["properties"]}
            if where := sorted(names & {"space", "shares"} - ({"space"} if "{space}" in (route.path or "") else set())):
                yield method, route.path or "", where


class _Adding:
    """A client that adds a name to what it sends."""

    def __init__(self, real, name: str, value: object) -> None:  # type: ignore[no-untyped-def]
        self._real, self._more = real, {name: value}

    def request(self, method: str, address: str, **sent):  # type: ignore[no-untyped-def]
        if "json" in sent:
            return self._real.request(method, address, json={**sent["json"], **self._more})
        return self._real.request(method, address, params={**sent.get("params", {}), **self._more})

    def post(self, address: str, **sent):  # type: ignore[no-untyped-def]
        return self.request("POST", address, **sent)


def test_the_proxy_and_mcp_name_spaces_in_a_header(memory: Memory, url: str) -> None:
    with client(url, key(memory, "alice", spaces=("team",))) as c:
        for path, body in (
            ("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}),
            ("/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": QUESTION}]}),
        ):
            headers = {"X-Ember-User": "alice", "Accept": "application/json, text/event-stream"}
            both = c.post(path, json=body, headers={**headers, "X-Ember-Shares": "team, closed"})
            assert both.status_code == 403, path
            told = c.post(path, json=body, headers={**headers, "X-Ember-Shares": "team"})
            assert told.status_code != 403, path


def test_what_one_agent_knows_is_told_with_another_over_http(memory: Memory, url: str) -> None:
    coach = memory.of("alice", "coach")
    coach.add("I have a dog named Tofu.")
    coach.settle()
    with client(url, key(memory, "alice/tutor")) as c:
        body = {"user_id": "alice", "agent_id": "tutor", "query": "my dog", "person_from": "coach"}
        assert c.post("/v1/context", json=body).status_code == 403
        share = {"user_id": "alice", "agent_id": "coach", "with_agent": "tutor"}
        assert c.post("/v1/person-shares", json=share).status_code == 403  # the key is not the coach's
        coach.share_person_with("tutor")
        assert "Tofu" in c.post("/v1/context", json=body).json()["text"]
    with client(url, key(memory, "alice/coach")) as c:
        assert c.post("/v1/person-shares", json={**share, "shared": False}).json()["revoked_at"]


def test_the_client_has_spaces_as_a_memory_has(memory: Memory, url: str) -> None:
    with Client(url, key=key(memory, "*")) as there:
        assert there.spaces() == ("closed", "team")
        assert there.grant("closed", user="alice", agent="tutor") == memory.grants("closed")[0]
        assert there.grants("closed", past=True) == memory.grants("closed")
        assert there.revoke("closed", user="alice") == memory.grants("closed", past=True)
        alice = there.of("alice", shares=["team"])
        context = alice.recall(QUESTION)
        assert SECRET in context.text
        assert {hit.space for hit in context.packed} == {"team"} == {*context.shared}
        assert context.shared["team"].packed == context.packed
        assert [hit.space for hit in alice.search(QUESTION, 1)] == ["team"]
        assert alice.overview().text == memory.of("alice", shares=["team"]).overview().text
        there.of("bob", space="team").add("The printer is upstairs.")
        assert memory.space("team").pages()[-1].utterances[0].speaker == "bob"
        with pytest.raises(NotGranted):
            there.of("alice", space="team").add("Mine.")
        with pytest.raises(NotGranted):
            there.of("carl", shares=["team"]).recall(QUESTION)
        coach = there.of("alice", "coach")
        coach.add("I have a dog named Tofu.")
        coach.settle()
        coach.share_person_with("tutor")
        assert "Tofu" in there.of("alice", "tutor", person_from="coach").recall("my dog").text
        assert [one.agent for one in coach.person_shares()] == ["tutor"]


def test_the_proxy_tells_the_space_and_stores_in_the_own_memory(opened: Opener) -> None:
    with ModelServer() as model:
        memory = opened(proxy_url=model.url)
        memory.space("team").add("The deploy happens every Friday.")
        memory.grant("team", user="alice")
        with proxied(memory, model) as proxy:
            asking = proxy.client(x_ember_user="alice", x_ember_shares="team")
            first = [user("Hello there."), assistant("Hello."), user("When is the deploy?")]
            ask(asking, first)
            block = proxy.shown()[-1]["content"]
            assert "shared memory of team:" in block
            assert "#1 team: The deploy happens every Friday." in block  # #1 of the own memory is in the request
            assert "Hello there" not in block
            assert len(memory.space("team").pages()) == 1
            stranger = proxy.client(x_ember_user="bob", x_ember_shares="team")
            with pytest.raises(openai.PermissionDeniedError):
                ask(stranger, first, user="bob")
            memory.revoke("team", user="alice")
            with pytest.raises(openai.PermissionDeniedError):
                ask(asking, first)
