"""Servers on loopback that do what a good one does not: break off, say odd things, or never answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

NEVER = b"never"
"""Stands for an answer that does not come while the server runs."""
DROPPED = b""
"""Stands for a connection that is closed without an answer."""


@dataclass(kw_only=True)
class Loopback:
    """A server that runs: its address, and the first line of each request that it was sent."""

    url: str = ""
    asked: list[str] = field(default_factory=list)
    requests: list[bytes] = field(default_factory=list)


@contextmanager
def answering(answer: Callable[[bytes, int], bytes]) -> Iterator[Loopback]:
    """A server that answers the nth request, counted from 0, with the bytes of `answer`, and closes."""
    state, over = Loopback(), threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))
    state.url = f"http://127.0.0.1:{listening.getsockname()[1]}"

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                request = read(connection)
                if not request:
                    continue
                state.asked.append(request.split(b"\r\n", 1)[0].decode())
                state.requests.append(request)
                said = answer(request, len(state.asked) - 1)
                if said == NEVER:
                    over.wait()
                connection.sendall(said if said != NEVER else b"")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        over.set()
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()


@contextmanager
def handling(handle: Callable[[bytes, socket.socket], None]) -> Iterator[Loopback]:
    """A server that leaves the answer to each request to `handle`, each connection in a thread of its own. When the
    block ends, every connection is cut."""
    state = Loopback()
    listening = socket.create_server(("127.0.0.1", 0))
    state.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    connections: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            while request := read(connection):
                state.asked.append(request.split(b"\r\n", 1)[0].decode())
                state.requests.append(request)
                handle(request, connection)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connections.append(listening.accept()[0])
                threads.append(threading.Thread(target=serve, args=(connections[-1],), daemon=True))
                threads[-1].start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield state
    finally:
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        accepting.join()
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()


@contextmanager
def saying(*answers: bytes) -> Iterator[Loopback]:
    """A server that gives these answers in turn, the last one again and again."""
    with answering(lambda request, number: answers[min(number, len(answers) - 1)]) as state:
        yield state


@contextmanager
def losing(url: str, lost: int) -> Iterator[Loopback]:
    """A server that hands requests on to the one at `url`, and loses its first `lost` answers."""
    address = urlsplit(url)

    def answer(request: bytes, number: int) -> bytes:
        with socket.create_connection((str(address.hostname), address.port)) as upstream:
            upstream.sendall(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
            said = b"".join(iter(lambda: upstream.recv(65536), b""))
        return DROPPED if number < lost else said

    with answering(answer) as state:
        yield state


def reply(status: str, body: str = "", *, kind: str = "application/json", headers: Sequence[str] = ()) -> bytes:
    """The bytes of an answer."""
    content = body.encode()
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(content)}", "Connection: close"]
    return "\r\n".join([*lines, *headers, "", ""]).encode() + content


def read(connection: socket.socket) -> bytes:
    """One whole request."""
    got = b""
    while b"\r\n\r\n" not in got:
        more = connection.recv(65536)
        if not more:
            return b""
        got += more
    head, _, body = got.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    while len(body) < (int(lengths[0]) if lengths else 0):
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body
