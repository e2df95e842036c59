"""Keys: what is kept of them, what they hold, and that nothing is reached past them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, cast

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.routing import RouteContext, iter_route_contexts
from hypothesis import given
from hypothesis import strategies as st
from running import run
from serving import NO_TLS, client, key_for, running

from embermem import Memory, api_keys
from embermem.core.errors import InputError
from embermem.http.app import create_app
from embermem.http.proxy import passing
from embermem.protocols import ApiKey, Grant, KeyStore
from proofs import bounded
from scripted import Opener

NOW = datetime(2026, 5, 2, 10, tzinfo=UTC)
SECRET = "heron-4711"


@pytest.fixture
def memory(opened: Opener) -> Memory:
    """An empty memory; the proxy's upstream is a port where nobody listens."""
    return opened(proxy_url="http://127.0.0.1:9/v1")


# ------------------------------------------------------------------------------------------------- what is kept


def test_a_key_is_found_again_by_its_text_alone_and_of_it_only_a_hash_is_in_the_file(
    memory: Memory, tmp_path: Path
) -> None:
    key, text = key_for(memory, "alice/tutor", "bob", "*/helper")
    assert api_keys.verified(text, memory.keys) == key
    for wrong in (text[:-1], text + "x", text.upper(), f"ember_{key.id}_", f"ember_{key.id}", "ember_", "", "x" * 9999):
        assert api_keys.verified(wrong, memory.keys) is None
    assert [api_keys.shown(grant) for grant in key.grants] == ["alice/tutor", "bob/*", "*/helper"]

    revoked, old = key_for(memory, "*")
    memory.keys.revoke_key(revoked.id, NOW)
    assert memory.keys.revoke_key(revoked.id, datetime(2027, 1, 1, tzinfo=UTC)).revoked_at == NOW
    assert api_keys.verified(old, memory.keys) is None

    kept, secret = key_for(memory, "alice")
    memory.close()
    content = b"".join(file.read_bytes() for file in tmp_path.glob("memory.db*"))
    assert kept.digest.encode() in content
    assert secret.encode() not in content
    assert secret.split("_", 2)[2].encode() not in content

    for owner in ("", " ", "/x", "alice/", "/"):
        with pytest.raises(InputError):
            api_keys.make("test", [owner], read_only=False, now=NOW)


def test_an_unknown_id_costs_the_same_work_as_a_wrong_secret(memory: Memory) -> None:
    key, text = key_for(memory, "alice")
    revoked, old = key_for(memory, "alice")
    memory.keys.revoke_key(revoked.id, NOW)
    known = {one.id: one for one in memory.keys.all_keys()}
    secret = text.split("_", 2)[2]
    given = {
        "right": text,
        "wrong secret": f"ember_{key.id}_{'x' * len(secret)}",
        "unknown id": f"ember_{'0' * 12}_{secret}",
        "revoked": old,
    }
    store = cast(KeyStore, Known(known))
    work = {name: done(partial(api_keys.verified, one, store)) for name, one in given.items()}
    costly = [name for name in work["right"] if "sha256" in name or "compare" in name or "Known" in name]
    assert costly == ["Known.key", "openssl_sha256", "compare_digest"]
    assert work["wrong secret"] == work["unknown id"] == work["right"] == work["revoked"]


class Known:
    """The keys that are known, without a database."""

    def __init__(self, known: Mapping[str, ApiKey]) -> None:
        self._known = known

    def key(self, key_id: str) -> ApiKey | None:
        """One key."""
        return self._known.get(key_id)


def done(call: Callable[[], object]) -> list[str]:
    """The functions that a call calls, in order."""
    found: list[str] = []

    def seen(frame: FrameType, event: str, function: Any) -> None:
        if event == "c_call":
            found.append(function.__name__)
        elif event == "call":
            found.append(frame.f_code.co_qualname)

    sys.setprofile(seen)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


names = st.text(min_size=1, max_size=20).filter(lambda text: text.strip() not in ("", "*") and "\0" not in text)


@given(user=names, agent=names.filter(lambda text: "/" not in text))
def test_an_owner_that_is_written_out_is_read_as_the_same(user: str, agent: str) -> None:
    try:
        grant = api_keys.grant_of(f"{user}/{agent}")
    except InputError:
        return
    assert grant == Grant(user=user, agent=agent)
    assert api_keys.grant_of(api_keys.shown(grant)) == grant


# --------------------------------------------------------------------------------------------- what they hold


@pytest.fixture
def guarded(memory: Memory) -> Iterator[str]:
    """The URL of a server that requires keys; alice and bob have a memory in it."""
    memory.of("alice").add("I like herons.", "Noted.")
    memory.of("bob").add(f"My word is {SECRET}.", "Noted.")
    with running(memory, require_keys=True) as url:
        yield url


def test_a_key_comes_by_any_of_three_ways_and_without_one_or_with_a_wrong_one_nothing_is_told(
    guarded: str, memory: Memory
) -> None:
    for headers in (
        {},
        {"Authorization": "Bearer sk-something"},
        {"Authorization": "Bearer ember_000000000000_x"},
        {"Authorization": "Basic ember_000000000000_x"},
        {"X-API-Key": "ember_"},
        {"Cookie": "ember_key=ember_000000000000_x"},
    ):
        with client(guarded) as c:
            got = c.get("/v1/stats", params={"user_id": "alice"}, headers=headers)
        assert got.status_code == 401
        assert got.headers["www-authenticate"] == 'Bearer realm="ember"'
        assert got.json()["type"] == "urn:embermem:problem:unauthorized"

    _, text = key_for(memory, "alice")
    for headers in ({"Authorization": f"Bearer {text}"}, {"X-API-Key": text}, {"Cookie": f"ember_key={text}"}):
        with client(guarded) as c:
            assert c.get("/v1/stats", params={"user_id": "alice"}, headers=headers).status_code == 200

    _, hers = key_for(memory, "alice")
    _, all_ = key_for(memory, "*")
    for held, users in ((hers, {"alice"}), (all_, {"alice", "bob"})):
        with client(guarded, held) as c:
            assert {one["user_id"] for one in c.get("/v1/owners").json()["results"]} == users


def test_a_revoked_key_ends_at_once_also_where_another_process_revokes_it(
    memory: Memory, guarded: str, tmp_path: Path
) -> None:
    key, text = key_for(memory, "alice")
    with client(guarded, text) as c:
        assert c.get("/v1/stats", params={"user_id": "alice"}).status_code == 200
        assert run(tmp_path / "memory.db", "keys", "revoke", key.id).code == 0
        assert c.get("/v1/stats", params={"user_id": "alice"}).status_code == 401


def test_a_read_only_key_reads_and_changes_nothing(memory: Memory, guarded: str) -> None:
    _, text = key_for(memory, "alice", read_only=True)
    before = memory.of("alice").stats()
    with client(guarded, text) as c:
        assert c.post("/v1/search", json={"query": "herons", "user_id": "alice"}).status_code == 200
        for method, path, body in (
            ("POST", "/v1/memories", {"messages": "I like owls.", "user_id": "alice"}),
            ("PATCH", "/v1/profile", {"user": {"name": "Al"}, "user_id": "alice"}),
            ("POST", "/v1/settle", {"user_id": "alice"}),
            ("POST", "/v1/analyse", {"user_id": "alice"}),
        ):
            assert c.request(method, path, json=body).status_code == 403, path
        assert c.delete("/v1/memories", params={"user_id": "alice", "confirm": "true"}).status_code == 403
    assert memory.of("alice").stats() == before


def test_where_no_key_is_required_one_that_is_given_is_checked_and_bounds_the_request(memory: Memory) -> None:
    _, text = key_for(memory, "alice")
    with running(memory) as url:
        with client(url) as c:
            assert c.get("/v1/stats", params={"user_id": "bob"}).status_code == 200
            foreign = {"Authorization": "Bearer sk-for-upstream"}
            assert c.get("/v1/stats", params={"user_id": "bob"}, headers=foreign).status_code == 200
        with client(url, text) as c:
            assert c.get("/v1/stats", params={"user_id": "alice"}).status_code == 200
            assert c.get("/v1/stats", params={"user_id": "bob"}).status_code == 403
        with client(url, text[:-1]) as c:
            assert c.get("/v1/stats", params={"user_id": "alice"}).status_code == 401


# ------------------------------------------------------------------------------------------- every route there is

NO_OWNER = {
    ("GET", "/health"),
    ("GET", "/ready"),
    ("GET", "/metrics"),
    ("GET", "/openapi.json"),
    ("HEAD", "/openapi.json"),
    ("GET", "/docs"),
    ("GET", "/docs.css"),
    ("GET", "/v1/fields"),
    ("GET", "/v1/owners"),
    ("GET", "/v1/spaces"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/{rest:path}"),
    # The inspector: what belongs to nobody, and those whom the key may reach.
    ("GET", "/assets/{mark}/{name:path}"),
    ("GET", "/favicon.ico"),
    ("GET", "/login"),
    ("POST", "/login"),
    ("POST", "/logout"),
    ("GET", "/"),
    ("GET", "/owners"),
    ("GET", "/spaces"),
    # Its owner stands in headers, or in the key alone: tests/mcp_server/test_mcp_http.py.
    ("POST", "/mcp"),
    # mem0's: `reset` forgets what the key reaches, `entities` lists it; the others are of no memory.
    *(
        (method, f"/mem0{path}{slash}")
        for slash in ("", "/")
        for method, path in (
            ("GET", "/v1/ping"),
            ("POST", "/configure"),
            ("POST", "/reset"),
            ("GET", "/v1/entities"),
        )
    ),
}
"""Routes that name no owner. Their own tests hold what they tell."""


def every_route(app: FastAPI) -> list[RouteContext]:
    """All routes, those outside the OpenAPI description too."""
    return [route for route in iter_route_contexts(app.routes) if route.methods is not None and route.path is not None]


def example_of(schema: dict[str, Any], components: dict[str, Any]) -> Any:
    """A body that a schema takes: its example, or the least that it requires."""
    if "$ref" in schema:
        schema = components[schema["$ref"].rsplit("/", 1)[1]]
    if schema.get("examples"):
        return schema["examples"][0]
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return example_of(schema[several][0], components)
    if schema.get("type") == "object":
        wanted = {name: schema["properties"][name] for name in schema.get("required", ())}
        return {name: example_of(one, components) for name, one in wanted.items()}
    plain: dict[str, Any] = {"string": "x", "integer": 1, "number": 1.0, "boolean": True, "array": []}
    return schema.get("default", plain[schema.get("type", "string")])


def named(body: Any, user: str, agent: str) -> Any:
    """A body with this owner wherever it may name one."""
    if not isinstance(body, dict):
        return body
    made = {name: value for name, value in body.items() if name not in ("user_id", "agent_id")}
    if isinstance(made.get("items"), list):
        return {**made, "items": [named(item, user, agent) for item in made["items"]]}
    return {**made, "user_id": user, "agent_id": agent}


def asked(c: httpx2.Client, app: FastAPI, method: str, path: str, user: str, agent: str) -> httpx2.Response:
    """What a route answers to a sound request for this owner's memory."""
    described = app.openapi()
    operation = described["paths"].get(path, {}).get(method.lower(), {})
    address = path
    for part in [part.split("}")[0] for part in path.split("{")[1:]]:
        address = address.replace("{" + part + "}", "1")
    owner = {
        "user_id": user,
        "agent_id": agent,
        "user": user,
        "agent": agent,
        "confirm": "true",
        "query": "x",
        "q": "x",
    }
    if path in TALKED_TO or path.startswith("/api/") or "{rest:path}" in path:
        body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "input": "hi"}
        return c.request(method, address, json=body, headers={"X-Ember-User": user, "X-Ember-Agent": agent})
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        body = named(example_of(schema, described["components"]["schemas"]), user, agent)
        return c.request(method, address, json=body)
    known = {one["name"] for one in operation.get("parameters", ())}
    params = {name: value for name, value in owner.items() if not operation or name in known}
    if method == "GET" or operation:
        return c.request(method, address, params=params)
    fields = {"text": "x", "value": "x", "pinned": "1", "whose": "user", "name": "x", "fact": "1", "page": "1"}
    fields["space"] = "team"
    files = {"file": ("talk.txt", b"Al: hello")} if "import" in path else None
    return c.request(method, address, params=params, data={**owner, **fields}, files=files)


TALKED_TO = {"/v1/chat/completions", "/v1/responses", "/v1/messages", *passing.LARGER}

OWNERS = bounded(
    [("bob", "default"), ("nobody", "default")], proofs=[("bob", "default"), ("alice", "other"), ("nobody", "default")]
)


def asked_of_mem0(c: httpx2.Client, memory: Memory, method: str, path: str, user: str) -> httpx2.Response:
    """What a route below /mem0 answers to a sound request for this user's memory, or for a page in it."""
    named = f"{memory.of('bob').pages()[0].id}.{memory.of(user).owner.id}"
    address = path.format(memory_id=named, kind="user", name=user)
    body = {"user_id": user, "query": "x", "messages": "x", "text": "x", "filters": {"user_id": user}}
    sent = {**body, "memories": [{"memory_id": named, "text": "x"}]}
    return c.request(method, address, params={"user_id": user}, json=None if method == "GET" else sent)


def answers_of(
    c: httpx2.Client, app: FastAPI, memory: Memory, method: str, path: str
) -> list[tuple[tuple[str, str], httpx2.Response]]:
    """What a route answers for each of OWNERS that it can name."""
    if path.startswith("/mem0/"):
        able = [one for one in OWNERS if one[1] == "default"]
        return [(one, asked_of_mem0(c, memory, method, path, one[0])) for one in able]
    return [(one, asked(c, app, method, path, *one)) for one in OWNERS]


def without_names(memory: Memory, owner: tuple[str, str], got: httpx2.Response) -> str:
    """An answer without what differs between any two requests."""
    return got.text.replace(got.headers["x-request-id"], "").replace(memory.of(*owner).owner.id, "")


def test_no_route_tells_a_key_of_another_owner_whether_it_is_there(memory: Memory, guarded: str) -> None:
    app = create_app(memory)
    wrong, passed_on = [], set[object]()
    with httpx2.Client(base_url=guarded, trust_env=False, verify=NO_TLS, timeout=None) as c:
        for route in every_route(app):
            c.cookies.set("ember_key", key_for(memory, "alice/default")[1])  # one alone may not ask so often
            path, methods = route.path or "", route.methods or set()
            if getattr(route.endpoint, "__module__", "") == passing.__name__:
                if route.endpoint in passed_on:
                    continue  # the same function at another address
                passed_on.add(route.endpoint)
            for method in sorted(methods):
                if (method, path) in NO_OWNER:
                    continue
                answers = answers_of(c, app, memory, method, path)
                for owner, got in answers:
                    if not refused(got) or SECRET in got.text:
                        wrong.append((method, path, owner, got.status_code, got.text[:200]))
                told = {without_names(memory, owner, got) for owner, got in answers}
                if path.startswith(("/v1/", "/mem0/")) and len(told) != 1:
                    wrong.append((method, path, ("all", "of them"), 0, f"told apart: {told}"))
    assert wrong == []
    assert memory.of("bob").stats().utterances == 2


def refused(got: httpx2.Response) -> bool:
    """Whether all of an answer is a refusal: each item, where it is of several."""
    path = got.url.path.rstrip("/")
    if got.status_code == 200 and path == "/v1/memories/batch":
        return all(item["status"] == 403 for item in got.json()["items"])
    if path.startswith("/mem0/") and path.endswith("/history"):
        return got.status_code == 200 and got.json() == []  # as of a memory that nobody has
    names_a_memory = path.startswith("/mem0/") and ("." in path or path.endswith("/batch"))
    return got.status_code == (404 if names_a_memory else 403)


def test_a_route_without_an_owner_tells_of_no_other_than_the_key_s(memory: Memory, guarded: str) -> None:
    app = create_app(memory)
    _, text = key_for(memory, "alice/default")
    with httpx2.Client(
        base_url=guarded, cookies={"ember_key": text}, trust_env=False, verify=NO_TLS, timeout=None
    ) as c:
        for method, path in sorted(NO_OWNER):
            assert "bob" not in asked(c, app, method, path, "alice", "default").text, path


# ---------------------------------------------------------------------------------------------------- the command


def test_a_key_is_made_listed_and_revoked_by_command_and_its_text_alone_is_on_stdout(tmp_path: Path) -> None:
    store = tmp_path / "memory.db"
    made = run(store, "keys", "add", "phone", "--owner", "alice", "--owner", "bob/tutor", "--read-only", "--json").json
    assert made["key"].startswith(f"ember_{made['id']}_")
    assert made["owners"] == ["alice/*", "bob/tutor"]
    listed = run(store, "keys", "list", "--json")
    assert made["key"] not in listed.out
    assert [(one["id"], one["read_only"], one["revoked_at"]) for one in listed.json] == [(made["id"], True, None)]
    assert run(store, "keys", "revoke", made["id"]).out.strip() == made["id"]
    assert run(store, "keys", "list", "--json").json[0]["revoked_at"] is not None
    assert "revoked" in run(store, "keys", "list").out

    store = tmp_path / "memory.db"
    run(store, "keys", "add", "phone", "--owner", "*")
    done = run(store, "keys", "revoke", "none")
    assert (done.code, done.out) == (1, "")
    assert "keys list" in done.err

    out = run(tmp_path / "memory.db", "keys", "add", "phone", "--owner", "*").out
    assert out.startswith("ember_")
    assert len(out.split()) == 1
    assert json.dumps(out.strip()).isascii()
