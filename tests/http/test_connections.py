"""Connections that cost a client nothing: half a request, an answer that nobody reads, and as many as there are."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from running import environment
from serving import client, running

from embermem import Memory
from embermem.cli import serve
from embermem.cli.main import app
from embermem.core.errors import ConfigError
from forked import Child
from proofs import bounded
from scripted import Opener

WAIT_S = 0.5
MOST = 10
LONG = {"messages": [{"role": "user", "content": "I like herons. " * 30_000}]}


def connected(url: str) -> socket.socket:
    """A connection of a client that means no good."""
    address = urlsplit(url)
    return socket.create_connection((str(address.hostname), address.port), timeout=20)


def until_closed(raw: socket.socket) -> tuple[bytes, float]:
    """What the server says until it closes, and how many seconds that took."""
    begun, said = time.monotonic(), b""
    try:
        while more := raw.recv(65536):
            said += more
    except ConnectionResetError:
        said += b"(reset)"
    return said, time.monotonic() - begun


def head(*lines: str) -> bytes:
    """The head of a request that adds a memory, without its end."""
    return "\r\n".join(["POST /v1/memories HTTP/1.1", "Host: 127.0.0.1", *lines]).encode()


JSON = "Content-Type: application/json"
HALF = {
    "nothing": b"",
    "a letter": b"G",
    "half a head": b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-",
    "a head without its body": head(JSON, "Content-Length: 100", "", ""),
    "half a body": head(JSON, "Content-Length: 100", "", '{"messages": "I'),
    "half a body in chunks": head(JSON, "Transfer-Encoding: chunked", "", "5", '{"mes', ""),
    "half of a second request": b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /hea",
}


@pytest.fixture
def url(opened: Opener) -> Iterator[str]:
    """A server with little patience and few connections."""
    memory = opened(http_request_s=WAIT_S, http_connections=MOST, http_least_rate=1000)
    with running(memory) as one:
        yield one


# ------------------------------------------------------------------------------------------------ half a request


def test_half_a_request_is_given_up_in_time(url: str) -> None:
    begun = time.monotonic()
    with ExitStack() as stack:
        waiting = {what: stack.enter_context(connected(url)) for what in HALF}
        for what, raw in waiting.items():
            raw.sendall(HALF[what])
        second = waiting["half of a second request"]
        first = b""
        while not first.endswith(b"ok\n"):
            first += second.recv(4096)
        second.sendall(b"lth")
        for what, raw in waiting.items():
            said, _ = until_closed(raw)
            assert WAIT_S / 2 < time.monotonic() - begun < 20 * WAIT_S, what
            if what == "nothing":
                assert said == b""
            else:
                top, _, body = said.partition(b"\r\n\r\n")
                assert top.startswith(b"HTTP/1.1 408 "), what
                assert b"application/problem+json" in top
                assert json.loads(body)["type"] == "urn:embermem:problem:request-too-slow"


def test_a_request_that_comes_by_drops_is_given_up_too(url: str) -> None:
    for slow in (b"GET /health HTTP/1.1\r\nX-Slow: ", head(JSON, "Content-Length: 100000", "", "")):
        begun = time.monotonic()
        with connected(url) as raw:
            raw.settimeout(WAIT_S / 20)
            raw.sendall(slow)
            said = b""
            while not said and time.monotonic() - begun < 40 * WAIT_S:
                raw.sendall(b"a")
                try:
                    said = raw.recv(4096)
                except TimeoutError:
                    continue
        assert said.startswith(b"HTTP/1.1 408 "), slow
        assert time.monotonic() - begun < 20 * WAIT_S, slow


def test_a_body_that_keeps_up_the_least_rate_may_take_as_long_as_it_needs(url: str) -> None:
    body = json.dumps({"messages": "I like herons. " * 400}).encode()

    def slowly() -> Iterator[bytes]:
        for at in range(0, len(body), 500):
            time.sleep(WAIT_S / 4)  # 4,000 bytes a second, in 1.5 s
            yield body[at : at + 500]

    with client(url) as c:
        begun = time.monotonic()
        assert c.post("/v1/memories", content=slowly(), headers={"Content-Type": "application/json"}).status_code == 201
        assert time.monotonic() - begun > 2 * WAIT_S


def test_a_request_that_arrived_and_a_stream_of_events_are_not_hurried(opened: Opener) -> None:
    memory = opened(http_request_s=WAIT_S)
    with running(memory) as url, client(url) as c, c.stream("GET", "/v1/events") as stream:
        lines = stream.iter_lines()
        while next(lines):
            pass
        time.sleep(2 * WAIT_S)
        memory.of("default").add("still here")
        assert any("event: page" in line for line in (next(lines) for _ in range(8)))


# --------------------------------------------------------------------------------------------- too many of them


def test_half_sent_requests_take_no_place_from_whole_ones(opened: Opener) -> None:
    with running(opened(http_connections=MOST)) as url, ExitStack() as stack:
        for number in range(3 * MOST):
            raw = stack.enter_context(connected(url))
            raw.sendall(list(HALF.values())[1 + number % 5])
        begun = time.monotonic()
        for _ in range(3):
            with client(url) as c:
                assert c.get("/health").status_code == 200
        assert time.monotonic() - begun < 10  # half as long as half a request may take


def test_where_all_connections_are_at_work_the_next_is_told_to_come_again(opened: Opener) -> None:
    with running(opened(http_connections=MOST)) as url, ExitStack() as stack:
        for _ in range(MOST):
            c = stack.enter_context(client(url))
            assert stack.enter_context(c.stream("GET", "/v1/events")).status_code == 200
        with connected(url) as raw:
            said, took = until_closed(raw)
        assert said.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After: 1" in said
        assert json.loads(said.partition(b"\r\n\r\n")[2])["type"] == "urn:embermem:problem:too-many-connections"
        assert took < 5


# ---------------------------------------------------------------------------------------------- unread answers


def test_an_answer_that_nobody_reads_is_broken_off(opened: Opener) -> None:
    for asked in bounded((40,), proofs=(1, 40)):
        memory = opened(f"{asked}.db", http_request_s=WAIT_S)
        for number in range(20):
            memory.of("default").add(f"{number} " + "I like herons. " * 30_000)
        with running(memory) as url, socket.socket() as raw:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            raw.settimeout(20)
            raw.connect(("127.0.0.1", urlsplit(url).port or 0))
            for _ in range(asked):
                raw.sendall(b"GET /v1/pages?limit=20 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            time.sleep(6 * WAIT_S)
            said, took = until_closed(raw)
            assert len(said) < 20 * 15 * 30_000
            assert took < 10


# ---------------------------------------------------------------------------------------------- whole processes


@contextmanager
def process(place: Path, *arguments: str, files: int) -> Iterator[str]:
    """A server in a process that may open only so many files; its address."""
    settings = {"EMBERMEM_HTTP_REQUEST_S": "2", "EMBERMEM_HTTP_CONNECTIONS": "30"}

    def with_few_files() -> None:
        first_free = os.open(os.devnull, os.O_RDONLY)  # what the parent has open takes no place
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (first_free + files, most))
        os.environ.update(environment(place, settings))
        app([*arguments, "--port", "0"])

    one = Child(with_few_files)
    try:
        while not (found := re.search(r"http://127\.0\.0\.1:\d+", one.errors())):
            assert one.poll() is None, one.errors()
            time.sleep(0.02)
        yield found[0]
    finally:
        one.send_signal(signal.SIGTERM)
        one.communicate()


@pytest.mark.skipif(os.name != "posix", reason="limits of open files are POSIX'")
@pytest.mark.parametrize(
    "arguments", [["serve"], pytest.param(["mcp", "--transport", "http"], marks=pytest.mark.proof)]
)
def test_a_server_outlives_more_half_sent_requests_than_it_may_open_files(tmp_path: Path, arguments: list[str]) -> None:
    with process(tmp_path / "memory.db", *arguments, files=120) as url, ExitStack() as stack:
        for number in range(180):
            raw = stack.enter_context(connected(url))
            raw.sendall(HALF["half a head"] if number % 2 else HALF["half a body"])
        with client(url) as c:
            assert c.get("/nowhere").status_code == 404
            asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            accept = {"Accept": "application/json, text/event-stream"}
            assert c.post("/mcp", json=asked, headers=accept).status_code == 200


# --------------------------------------------------------------------------------------------- trusted proxies


def test_a_trusted_proxy_is_an_address_or_a_network(memory: Memory, opened: Opener) -> None:
    for given in ("caddy", "10.0.0.0/33", "127.0.0.1, *", "127.0.0.1:8765"):
        from embermem.http.app import create_app

        settings = opened("other.db", http_trusted_proxies=given).settings
        with pytest.raises(ConfigError, match="http_trusted_proxies"):
            serve.configured(create_app(memory), settings)
