"""Which addresses are answered: the Host, the Origin, what a proxy says of both, and slashes at the end."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from serving import Server, client, key_for, running, served

from embermem import Memory
from embermem.http.mcp import create_app as create_mcp
from embermem.testing.model_server import ModelServer
from scripted import SMALL, Opener


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all addresses that are refused, or only read."""
    file = tmp_path_factory.mktemp("addresses") / "memory.db"
    with Memory(file, **SMALL) as memory, running(memory) as url:
        yield Server(url=url, memory=memory)


# ------------------------------------------------------------------------------------------------ Host and Origin


def test_only_names_of_loopback_are_answered_whatever_else_a_request_says(empty: Server) -> None:
    for host in (
        "[::1]evil",
        "[::1]evil:80",
        "[::1]:80evil",
        "[::1].evil.example",
        "[::1",
        "::1",
        "[::1%25eth0]",
        "[::1%evil]",
        "evil@localhost",
        "evil:80@localhost",
        "localhost@evil.example",
        "localhost/evil",
        "localhost#evil",
        "localhost?evil",
        "localhost\\evil",
        "localhost:80:80",
        "localhost:99999",
        "localhost:-1",
        "localhost:+80",
        "localhost:\u00b2",
        "localhost:http",
        "localhost, evil.example",
        "localhost evil.example",
        "localhost..",
        ".localhost",
        "127.0.0.1.evil.example",
        "0.0.0.0",
        "2130706433",
        "0x7f.1",
        "017700000001",
        "[::]",
        "[127.0.0.1]",
        "\u217cocalhost",
    ):
        assert status(empty.url, {b"Host": host.encode("utf-8")}) in (400, 403), host

    for host in ("localhost.", "LocalHost.:80", "localhost:", "[0:0::1]", "127.1.2.3:65535"):
        assert status(empty.url, {b"Host": host.encode()}) == 200, host

    for name in ("X-Forwarded-Host", "X-Forwarded-Server", "X-Original-Host", "X-Host", "Forwarded", "X-Forwarded-For"):
        named = b"host=localhost;for=127.0.0.1" if name == "Forwarded" else b"localhost"
        assert status(empty.url, {b"Host": b"evil.example", name.encode(): named}) == 403, name
        assert status(empty.url, {b"Host": b"localhost", name.encode(): b"evil.example"}) == 200, name


def test_an_origin_that_only_looks_like_ours_changes_nothing(empty: Server) -> None:
    for origin in (
        "http://localhost",
        "http://localhost:{port}/",
        "http://localhost:{port}evil",
        "http://evil@localhost:{port}",
        "http://localhost:{port}@evil.example",
        "http://localhost.:{port}",
        "http://[::1]evil:{port}",
        "ftp://localhost:{port}",
        "//localhost:{port}",
        "localhost:{port}",
        "http:localhost:{port}",
        "http://localhost:{port} http://evil.example",
        "",
    ):
        port = urlsplit(empty.url).port
        headers = {"Host": f"localhost:{port}", "Origin": origin.format(port=port)}
        with client(empty.url) as c:
            assert c.post("/v1/memories", json={"messages": "I was never said."}, headers=headers).status_code == 403, (
                origin
            )
        assert empty.memory.owners() == (), origin


def status(url: str, headers: dict[bytes, bytes]) -> int:
    """What a request with these headers, and no Host of the client's own, is answered."""
    address = urlsplit(url)
    raw = http.client.HTTPConnection(str(address.hostname), address.port, timeout=20)
    try:
        raw.putrequest("GET", "/v1/stats", skip_host=True)
        for name, value in headers.items():
            raw.putheader(name.decode(), value)
        raw.endheaders()
        return raw.getresponse().status
    finally:
        raw.close()


# ------------------------------------------------------------------------------------------- slashes at the end


def test_a_slash_at_the_end_makes_no_difference_and_leads_nowhere_else_and_two_are_part_of_the_address(
    opened: Opener, empty: Server
) -> None:
    with ModelServer(answer="Hello.") as model:
        memory = opened(proxy_url=model.url)
        with running(memory) as url, client(url) as c:
            kept = c.post("/v1/memories/", json={"messages": "I like herons."})
            assert kept.status_code == 201
            page = kept.json()["page_ids"][0]
            assert c.get(f"/v1/memories/{page}/").json() == c.get(f"/v1/memories/{page}").json()
            assert c.post("/v1/search/", json={"query": "herons"}).json()["results"]
            assert c.patch("/v1/profile/", json={"user": {"name": "Alice"}}).status_code == 200
            assert c.post("/v1/chat/completions/", json=chat("Hi.")).status_code == 200
            for path in ("/v1/memories/?limit=1", "/v1/stats/", "/health/", "/metrics/", "/docs/", "/pages/", "/"):
                assert c.get(path).status_code == 200, path
            called = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            accept = {"Accept": "application/json, text/event-stream"}
            assert c.post("/mcp/", json=called, headers=accept).status_code == 200
            assert c.delete(f"/v1/memories/{page}/").status_code == 200

    for path in ("/v1/memories//", "/v1/memories/%2F", "//v1/memories", "/nowhere/"):
        with client(empty.url) as c:
            assert c.get(path).status_code == 404, path

    with ModelServer(answer="Hello.") as model:
        memory = opened(proxy_url=model.url, http_body_bytes=2000)
        with running(memory) as url, client(url) as c:
            assert c.post("/v1/chat/completions/", json=chat("a" * 4000)).status_code == 200


def test_the_figures_count_a_route_once_with_and_without_a_slash_and_an_id_left_out_forgets_nothing(
    server: Server,
) -> None:
    with client(server.url) as c:
        c.get("/v1/stats")
        c.get("/v1/stats/")
        assert 'ember_http_requests_total{method="GET",route="/v1/stats",status="200"} 2.0' in c.get("/metrics").text

    server.memory.of("default").add("I like herons.")
    with client(server.url) as c:
        assert c.delete("/v1/memories/").status_code == 422
    assert len(server.memory.of("default").pages()) == 1


def test_a_path_of_one_s_own_may_end_in_a_slash(memory: Memory) -> None:
    for path in ("/mcp/", "/mcp", "/"):
        called = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        with served(create_mcp(memory, path=path)) as url, client(url) as c:
            for asked in {path, path.rstrip("/") or "/"}:
                got = c.post(asked, json=called, headers={"Accept": "application/json, text/event-stream"})
                assert got.status_code == 200, path


def chat(text: str) -> dict[str, Any]:
    """The body of a request for a completion."""
    return {"model": "scripted", "messages": [{"role": "user", "content": text}]}


# ------------------------------------------------------------------------------------------- behind another proxy


def forwarded(address: str) -> dict[str, str]:
    """What a client, or a proxy before the server, may say of where a request came from."""
    return {"X-Forwarded-For": address, "X-Real-IP": address, "Forwarded": f"for={address}"}


def test_an_address_that_is_made_up_gives_a_key_no_fresh_limit(opened: Opener) -> None:
    for trusted in ("", "127.0.0.1", "127.0.0.0/8, ::1"):
        memory = opened(http_rate_per_minute=3, http_trusted_proxies=trusted)
        alice, bob = (key_for(memory, name)[1] for name in ("alice", "bob"))
        with running(memory, require_keys=True) as url, client(url, alice) as hers, client(url, bob) as his:
            got = [
                hers.get("/v1/stats", params={"user_id": "alice"}, headers=forwarded(f"203.0.113.{number}")).status_code
                for number in range(6)
            ]
            assert got == [200, 200, 200, 429, 429, 429], trusted
            same = [
                his.get("/v1/stats", params={"user_id": "bob"}, headers=forwarded("203.0.113.0")).status_code
                for _ in range(3)
            ]
            assert same == [200, 200, 200], trusted


def test_the_scheme_of_a_proxy_is_believed_of_those_that_are_trusted_and_makes_a_cookie_for_tls_alone(
    opened: Opener, monkeypatch: pytest.MonkeyPatch, memory: Memory
) -> None:
    for trusted, secure in (("", False), ("10.0.0.1", False), ("127.0.0.1", True)):
        monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")  # uvicorn's own setting is none of ours
        memory = opened(http_trusted_proxies=trusted)
        with running(memory, require_keys=True) as url:
            assert ("Secure" in login(url, memory, {"X-Forwarded-Proto": "https"})) is secure, (trusted, secure)

    plain = opened("plain.db")
    with running(plain, require_keys=True) as url:
        assert "Secure" in login(url, plain, {"Host": "ember.example", "Origin": "https://ember.example"})
        assert "Secure" not in login(url, plain, {"Host": "ember.example", "Origin": "http://ember.example"})


def login(url: str, memory: Memory, headers: dict[str, str]) -> str:
    """The cookie that a good key is kept in."""
    with client(url) as c:
        got: httpx2.Response = c.post("/login", data={"key": key_for(memory, "*")[1]}, headers=headers)
        assert got.status_code == 303, json.dumps(dict(got.headers))
        return got.headers["set-cookie"]
