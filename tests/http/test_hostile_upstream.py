"""An upstream that means harm, or has lost its way: what each client of the proxy sees, and what the server holds."""

from __future__ import annotations

import gzip
import json
import socket
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx2
import pytest
from serving import client, running

import loopback
from embermem import Memory
from embermem.http.proxy.dialects.chat_completions import ChatCompletions
from embermem.http.proxy.replies import StreamedReply
from scripted import Opener

MIB = 2**20
BOUND = 256 * 1024
"""The setting `proxy_answer_bytes` of these tests."""
FLOOD = 32 * MIB
"""What a flooding upstream sends, unless it is cut off: far more than all buffers on the way hold."""
HELLO = {"role": "assistant", "content": "Hello, Alice."}

Handle = Callable[[bytes, socket.socket], None]


@contextmanager
def proxied(
    opened: Opener, handle: Handle, **settings: Any
) -> Iterator[tuple[httpx2.Client, Memory, loopback.Loopback]]:
    """A client of a proxy before a server that answers as `handle` does."""
    with loopback.handling(handle) as upstream:
        memory = opened(proxy_url=upstream.url, proxy_answer_bytes=BOUND, **settings)
        with running(memory) as url, client(url) as c:
            yield c, memory, upstream


def ask(c: httpx2.Client, text: str = "Good evening.", key: str = "sk-one", **more: Any) -> httpx2.Response:
    """One chat completion."""
    body = {"model": "m", "user": "alice", "messages": [{"role": "user", "content": text}], **more}
    return c.post("/v1/chat/completions", json=body, headers={"Authorization": f"Bearer {key}"})


def completion(message: dict[str, Any] = HELLO) -> bytes:
    """The body of a chat completion."""
    return json.dumps({"choices": [{"index": 0, "message": message}]}).encode()


def event(piece: str, **more: Any) -> bytes:
    """One event of a stream."""
    choice = {"index": 0, "delta": {"content": piece}, **more}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def whole(content: bytes, *headers: str, kind: str = "application/json") -> bytes:
    """The bytes of an answer that keeps its connection."""
    lines = ["HTTP/1.1 200 OK", f"Content-Type: {kind}", f"Content-Length: {len(content)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + content


def told(answer: httpx2.Response) -> tuple[int, str]:
    """The status and the code of a failure in OpenAI's form, which has words for people too."""
    error = answer.json()["error"]
    assert len(error["message"].split()) > 4
    return answer.status_code, error["code"]


def replies(memory: Memory) -> list[str]:
    """What was kept of the other side."""
    return [u.text for page in memory.of("alice").pages() for u in page.utterances if u.role == "assistant"]


# ------------------------------------------------------------------------------------------------------- cookies


def test_a_cookie_that_upstream_sets_for_one_client_is_sent_for_no_other(opened: Opener) -> None:
    def handle(request: bytes, connection: socket.socket) -> None:
        connection.sendall(whole(completion(), "Set-Cookie: session=of-the-first; Path=/"))

    with proxied(opened, handle) as (c, _, upstream):
        first = ask(c, key="sk-one")
        ask(c, key="sk-two")
        ask(c, key="sk-one")
        c.get("/v1/models", headers={"Authorization": "Bearer sk-two"})
    assert len(upstream.requests) == 4
    assert not [request for request in upstream.requests if b"cookie" in request.lower()]
    assert "set-cookie" not in first.headers


# ----------------------------------------------------------------------------------------------- without a bound


def flooding(head: bytes, piece: bytes) -> tuple[Handle, list[int]]:
    """An upstream that sends pieces without an end, and how many bytes it got rid of for each request."""
    sent: list[int] = []

    def handle(request: bytes, connection: socket.socket) -> None:
        sent.append(0)
        connection.sendall(head)
        while sent[-1] < FLOOD:
            connection.sendall(piece)
            sent[-1] += len(piece)
        raise OSError  # the connection is closed

    return handle, sent


CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_an_answer_without_an_end_is_read_no_further_than_the_bound(opened: Opener) -> None:
    for announced in (True, False):
        for path in ("/v1/chat/completions", "/v1/models"):
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            head += b"Content-Length: %d\r\n\r\n" % FLOOD if announced else b"\r\n"
            handle, sent = flooding(head, b" " * 65536)
            with proxied(opened, handle) as (c, memory, _):
                got = ask(c) if "chat" in path else c.get(path)
                assert told(got) == (502, "upstream_too_large"), (announced, path)
                assert "proxy_answer_bytes" in got.json()["error"]["message"], (announced, path)
                assert replies(memory) == [], (announced, path)
            assert sent[0] < FLOOD, (announced, path)


def test_a_gzipped_answer_counts_as_what_it_becomes_and_a_refusal_is_bounded_too(opened: Opener) -> None:
    bomb = gzip.compress(b" " * 4 * MIB)
    assert len(bomb) < BOUND

    def handle(request: bytes, connection: socket.socket) -> None:
        assert b"accept-encoding: identity" in request.lower()
        body = gzip.compress(completion()) if b"small" in request else bomb
        connection.sendall(whole(body, "Content-Encoding: gzip"))

    with proxied(opened, handle) as (c, _, _):
        assert told(ask(c, "big")) == (502, "upstream_too_large")
        assert ask(c, "small").json()["choices"][0]["message"] == HELLO

    refuses, _ = flooding(b"HTTP/1.1 500 Oh\r\nContent-Type: text/plain\r\n\r\n", b"no " * 20_000)
    with proxied(opened, refuses) as (c, _, _):
        assert told(ask(c)) == (502, "upstream_too_large")


def test_an_encoding_that_nobody_asked_for_is_refused(opened: Opener) -> None:
    for encoding in ("gzip, gzip", "br", "zstd", "deflate, gzip"):
        body = completion()
        for one in encoding.split(", "):
            body = gzip.compress(body) if one == "gzip" else zlib.compress(body) if one == "deflate" else body

        def handle(request: bytes, connection: socket.socket, body: bytes = body, encoding: str = encoding) -> None:
            kind = "text/event-stream" if b'"stream"' in request else "application/json"
            connection.sendall(whole(body, f"Content-Encoding: {encoding}", kind=kind))

        with proxied(opened, handle) as (c, _, _):
            assert told(ask(c)) == (502, "upstream_unreadable"), encoding
            assert told(ask(c, stream=True)) == (502, "upstream_unreadable"), encoding


def test_a_stream_without_an_end_is_passed_on_and_not_kept(opened: Opener) -> None:
    pieces = 3 * BOUND // 1000

    def handle(request: bytes, connection: socket.socket) -> None:
        connection.sendall(CHUNKED % b"text/event-stream")
        for part in (*(event("a" * 1000) for _ in range(pieces)), event("", finish_reason="stop"), b"data: [DONE]\n\n"):
            connection.sendall(b"%x\r\n%s\r\n" % (len(part), part))
        connection.sendall(b"0\r\n\r\n")

    with proxied(opened, handle) as (c, memory, _):
        got = ask(c, stream=True)
        assert got.status_code == 200
        assert got.text.count("data: {") == pieces + 1
        assert got.text.endswith("data: [DONE]\n\n")
        assert replies(memory) == []
        assert len(memory.of("alice").pages()) == 1


LINES = {
    "one line without an end": b"data: " + b"a" * 4000,
    "one piece after another": event("a" * 4000),
    "empty pieces": event(""),
    "a tool call whose arguments grow": b'data: {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": '
    b'{"arguments": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}}]}}]}\n\n',
}


def test_a_reply_is_put_together_within_the_bound_after_which_the_end_of_a_stream_is_seen_too() -> None:
    for what in (*LINES, "a tool call more in each event"):
        reply, most = chat_stream(), 0
        for number in range(20_000):
            more = LINES.get(what) or LINES["a tool call whose arguments grow"].replace(
                b'"index": 0', b'"index": %d' % number
            )
            reply.feed(more)
            most = max(most, reply.held)
        assert most <= BOUND + 8000, what
        if what != "empty pieces":
            assert reply.reply() is None, what

    ended = chat_stream()
    ended.feed(b"data: " + b"a" * 2 * BOUND + b"\n\nda")
    assert ended.feed(b"ta: [DO") is None
    assert ended.feed(b"NE]\n\n") == 0


def chat_stream() -> StreamedReply:
    """The reader of a stream of chat completions."""
    dialect = ChatCompletions()
    return StreamedReply(BOUND, dialect.line, dialect.event)


# ------------------------------------------------------------------------------------------- late, half, or never

HALF_A_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: appl"
LATE_S = 0.5


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(b"", marks=pytest.mark.proof),
        pytest.param(b"HTTP/1.1 2", marks=pytest.mark.proof),
        HALF_A_HEAD,
        whole(completion())[:-20],
    ],
)
def test_an_upstream_that_hangs_is_late_for_each_client(opened: Opener, said: bytes) -> None:
    def handle(request: bytes, connection: socket.socket) -> None:
        connection.sendall(said)
        connection.recv(1)

    with proxied(opened, handle, proxy_timeout_s=LATE_S) as (c, memory, _):
        begun = time.monotonic()
        assert told(ask(c)) == (504, "upstream_late")
        assert told(ask(c, stream=True)) == (504, "upstream_late")
        assert LATE_S < time.monotonic() - begun < 20 * LATE_S
        assert replies(memory) == []


@pytest.mark.parametrize("stream", [pytest.param(False, marks=pytest.mark.proof), True])
def test_a_head_that_comes_by_drops_is_late_too(opened: Opener, stream: bool) -> None:
    def handle(request: bytes, connection: socket.socket) -> None:
        for letter in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"a" * 600:
            connection.sendall(bytes([letter]))
            time.sleep(LATE_S / 10)

    with proxied(opened, handle, proxy_timeout_s=LATE_S) as (c, _, _):
        begun = time.monotonic()
        assert told(ask(c, stream=stream)) == (504, "upstream_late")
        assert time.monotonic() - begun < 20 * LATE_S


def test_a_body_that_comes_by_drops_is_late_too(opened: Opener) -> None:
    def handle(request: bytes, connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n")
        for _ in range(600):
            connection.sendall(b" ")
            time.sleep(LATE_S / 10)

    with proxied(opened, handle, proxy_timeout_s=LATE_S) as (c, _, _):
        begun = time.monotonic()
        assert told(ask(c)) == (504, "upstream_late")
        assert time.monotonic() - begun < 20 * LATE_S


def test_an_upstream_that_breaks_off_or_speaks_nonsense_is_unreachable(opened: Opener) -> None:
    for said in (b"", HALF_A_HEAD, b"\x00\xff" * 50, b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 100_000):

        def handle(request: bytes, connection: socket.socket, said: bytes = said) -> None:
            connection.sendall(said)
            raise OSError  # the connection is closed

        with proxied(opened, handle) as (c, _, _):
            assert told(ask(c)) == (502, "upstream_unreachable"), said
            assert told(ask(c, stream=True)) == (502, "upstream_unreachable"), said


def test_a_stream_that_falls_silent_ends_with_an_error_and_one_that_is_closed_is_not_used_again(opened: Opener) -> None:
    def handle(request: bytes, connection: socket.socket) -> None:
        part = event("Good ")
        connection.sendall(CHUNKED % b"text/event-stream" + b"%x\r\n%s\r\n" % (len(part), part))
        connection.recv(1)

    with proxied(opened, handle, proxy_timeout_s=LATE_S) as (c, memory, _):
        got = ask(c, stream=True)
        assert got.status_code == 200
        assert json.loads(got.text.split("data: ")[-1])["error"]["code"] == "upstream_late"
        assert replies(memory) == ["Good \n[broken off]"]

    def once(request: bytes, connection: socket.socket) -> None:
        body = event("Hello.", finish_reason="stop") + b"data: [DONE]\n\n"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
        connection.settimeout(2)
        connection.recv(1)  # the next request, or the end of the connection
        raise OSError("closed")

    with proxied(opened, once) as (c, _, upstream):
        answers = [ask(c, f"Good evening, {number}.", stream=True) for number in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert len(upstream.asked) == 3
