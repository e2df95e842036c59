"""How much a client may ask, and who may ask at all: bodies, rates, foreign pages."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving import Server, client, key_for, running

from embermem.http.rates import RateLimit
from scripted import Opener

NOW = datetime(2026, 5, 2, 10, tzinfo=UTC)


class Hand:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


# -------------------------------------------------------------------------------------------------- requests a minute


def test_a_key_has_its_minute_s_requests_at_once_and_then_as_they_grow_again_and_zero_is_no_limit() -> None:
    clock = Hand()
    rate = RateLimit(60, clock)
    assert [rate.take("k") for _ in range(60)] == [0.0] * 60
    assert rate.take("k") == pytest.approx(1.0)
    assert rate.take("other") == 0.0
    clock.now += 0.5
    assert rate.take("k") == pytest.approx(0.5)
    clock.now += 0.5
    assert rate.take("k") == 0.0

    free = RateLimit(0, Hand())
    assert all(free.take("k") == 0.0 for _ in range(1000))


@given(limit=st.integers(1, 30), pauses=st.lists(st.floats(0, 30), min_size=1, max_size=200))
def test_no_more_is_let_through_than_the_limit_and_what_grew_since(limit: int, pauses: list[float]) -> None:
    clock = Hand()
    rate, passed = RateLimit(limit, clock), 0
    for pause in pauses:
        clock.now += pause
        wait = rate.take("k")
        assert wait >= 0.0
        passed += wait == 0.0
        assert passed <= limit + clock.now * limit / 60 + 1e-6
        if wait:
            clock.now += wait + 1e-6
            assert rate.take("k") == 0.0
            passed += 1


def test_a_key_that_asks_too_often_is_told_when_to_come_again(opened: Opener) -> None:
    memory = opened(http_rate_per_minute=2)
    _, text = key_for(memory, "alice")
    with running(memory) as url:
        with client(url, text) as c:
            got = [c.get("/v1/stats", params={"user_id": "alice"}) for _ in range(3)]
        assert [one.status_code for one in got] == [200, 200, 429]
        assert 1 <= int(got[2].headers["retry-after"]) <= 30
        assert got[2].json()["type"] == "urn:embermem:problem:too-many-requests"
        with client(url) as c:
            assert all(c.get("/v1/stats").status_code == 200 for _ in range(4))


# -------------------------------------------------------------------------------------------------------- bodies


@pytest.fixture
def small(opened: Opener) -> Iterator[str]:
    """A server that takes bodies of 2,000 bytes."""
    with running(opened(http_body_bytes=2000)) as url:
        yield url


def in_pieces(body: bytes) -> Iterator[bytes]:
    """Each comes by itself, and is small enough."""
    for at in range(0, len(body), 500):
        yield body[at : at + 500]
        time.sleep(0.05)


def test_a_body_that_is_too_large_is_refused_by_its_length_and_as_it_comes_and_a_length_that_lies_lets_no_more_in(
    small: str,
) -> None:
    body = b'{"messages": "' + b"a" * 3000 + b'"}'
    json = {"Content-Type": "application/json"}
    with client(small) as c:
        for content in (body, in_pieces(body)):
            got = c.post("/v1/memories", content=content, headers=json)
            assert got.status_code == 413
            assert got.json()["type"] == "urn:embermem:problem:body-too-large"
            assert got.headers["x-request-id"]
        assert c.post("/v1/memories", content=b'{"messages": "I like herons."}', headers=json).status_code == 201

    address = urlsplit(small)
    assert address.hostname is not None
    with socket.create_connection((address.hostname, address.port or 80), timeout=20) as raw:
        head = f"POST /v1/memories HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
        raw.sendall(f"{head}Content-Length: 99999999999999999999\r\n\r\n".encode())
        assert raw.recv(4096).split(b"\r\n")[0].split()[1] in (b"413", b"400")


# -------------------------------------------------------------------------------------------------- foreign pages


def test_a_name_that_was_pointed_at_this_machine_is_not_answered(server: Server) -> None:
    for host in ("evil.example", "evil.example:8765", "localhost.evil.example", "", "[::", "10.0.0.1"):
        with client(server.url) as c:
            for path in ("/v1/stats", "/", "/openapi.json", "/metrics", "/nowhere"):
                got = c.get(path, headers={"Host": host})
                assert got.status_code in (400, 403), path
                assert "results" not in got.text, host


FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost:3000"},
    {"Origin": "https://127.0.0.1"},
    {"Origin": "http://[::"},
    {"Sec-Fetch-Site": "cross-site"},
]


def test_a_foreign_page_changes_nothing_and_a_page_of_our_own_and_a_program_what_they_like(server: Server) -> None:
    for headers in FOREIGN:
        _, text = key_for(server.memory, "*")
        for cookie in ({}, {"Cookie": f"ember_key={text}"}, {"Authorization": "Basic eDp5"}):
            with client(server.url) as c:
                got = c.post("/v1/memories", json={"messages": "I was never said."}, headers={**headers, **cookie})
                assert got.status_code == 403, headers
                assert c.delete("/v1/memories", params={"confirm": "true"}, headers=headers).status_code == 403, headers
        assert server.memory.owners() == (), headers

    _, text = key_for(server.memory, "*")
    port = urlsplit(server.url).port
    for headers in (
        {"Origin": server.url, "Sec-Fetch-Site": "same-origin"},
        {"Origin": f"http://localhost:{port}", "Host": f"localhost:{port}"},
        {"Origin": "https://localhost", "Host": "localhost"},
        {"Origin": "https://evil.example", "Authorization": f"Bearer {text}"},
        {},
    ):
        with client(server.url) as c:
            got = c.post("/v1/memories", json={"messages": "I like herons."}, headers=headers)
            assert got.status_code == 201, headers


def test_no_other_origin_may_read_and_every_answer_carries_the_headers_that_keep_pages_apart(server: Server) -> None:
    with client(server.url) as c:
        for method in ("GET", "OPTIONS"):
            asks = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
            got = c.request(method, "/v1/stats", headers=asks)
            assert not [name for name in got.headers if name.startswith("access-control-")]

    with client(server.url) as c:
        for path in ("/docs", "/v1/stats", "/nowhere", "/metrics"):
            headers = c.get(path).headers
            assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "same-origin"
            assert headers["cache-control"] == "no-store"
            assert "server" not in headers or headers["server"] != "Ember"

    with client(server.url) as c:
        page = c.get("/docs")
        assert page.status_code == 200
        assert "/v1/memories" in page.text
        assert "://" not in page.text
        assert "<script" not in page.text
        assert c.get("/docs.css").headers["content-type"].startswith("text/css")
        assert c.get("/redoc").status_code == 404
