"""What two clients of the proxy see when upstream sets cookies, answers gigabytes, hangs or sends half a header.

`embermem serve` runs in a process of its own, before an upstream in this one. Both clients ask at once, each with a key
of its own, which upstream is told. The most memory that the server held is what Linux says of its process; elsewhere it
is null.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2

CLIENTS = ("sk-first", "sk-second")
MIB = 2**20
LONGEST_S = 600.0
"""No client waits longer for one answer."""

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\n"
PIECE = b'data: {"choices": [{"index": 0, "delta": {"content": "' + b"heron " * 10_000 + b'"}}]}\n\n'
Handle = Callable[[bytes, socket.socket], None]


class Upstream:
    """A server that answers each request as `handle` says, and closes the connection."""

    def __init__(self) -> None:
        self.handle: Handle = lambda request, connection: None
        self.sent = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            request = connection.recv(65536)
            while b"\r\n\r\n" not in request or not request.endswith(b"}"):
                more = connection.recv(65536)
                if not more:
                    return
                request += more
            self.handle(request, connection)

    def flood(self, connection: socket.socket, piece: bytes, total: int) -> None:
        """Send so many bytes, as long as they are taken."""
        left = total
        while left > 0:
            connection.sendall(piece)
            left -= len(piece)
            self.sent += len(piece)


def ways(upstream: Upstream, total: int) -> dict[str, tuple[Handle, bool]]:
    """What upstream does, and whether the clients ask for a stream."""

    def cookies(request: bytes, connection: socket.socket) -> None:
        key, cookie = _header(request, "authorization"), _header(request, "cookie")
        told = json.dumps({"choices": [{"message": {"content": f"your key: {key}; your cookie: {cookie}"}}]}).encode()
        head = HEAD % b"application/json" + b"Set-Cookie: session=of-%s; Path=/\r\n" % key.encode()
        connection.sendall(head + b"Content-Length: %d\r\n\r\n" % len(told) + told)

    def announced(request: bytes, connection: socket.socket) -> None:
        connection.sendall(HEAD % b"application/json" + b"Content-Length: %d\r\n\r\n" % total)
        upstream.flood(connection, b" " * MIB, total)

    def unannounced(request: bytes, connection: socket.socket) -> None:
        connection.sendall(HEAD % b"application/json" + b"\r\n")
        upstream.flood(connection, b" " * MIB, total)

    def gzipped(request: bytes, connection: socket.socket) -> None:
        connection.sendall(HEAD % b"application/json" + b"Content-Encoding: gzip\r\n\r\n")
        packing = zlib.compressobj(wbits=31)
        for _ in range(total // (16 * MIB)):
            connection.sendall(packing.compress(b" " * 16 * MIB) + packing.flush(zlib.Z_SYNC_FLUSH))
            upstream.sent += 16 * MIB
        connection.sendall(packing.flush())

    def streamed(request: bytes, connection: socket.socket) -> None:
        connection.sendall(HEAD % b"text/event-stream" + b"\r\n")
        upstream.flood(connection, PIECE * 16, total)
        connection.sendall(b"data: [DONE]\n\n")

    def one_line(request: bytes, connection: socket.socket) -> None:
        connection.sendall(HEAD % b"text/event-stream" + b"\r\ndata: ")
        upstream.flood(connection, b"heron " * 170_000, total)
        connection.sendall(b"\n\ndata: [DONE]\n\n")

    def hangs(request: bytes, connection: socket.socket) -> None:
        connection.recv(1)

    def half_a_header(request: bytes, connection: socket.socket) -> None:
        connection.sendall((HEAD % b"application/json")[:40])
        connection.recv(1)

    def by_drops(request: bytes, connection: socket.socket) -> None:
        for letter in HEAD % b"application/json" + b"X-Slow: " + b"a" * 1000:
            connection.sendall(bytes([letter]))
            time.sleep(0.1)

    def half_a_stream(request: bytes, connection: socket.socket) -> None:
        connection.sendall(HEAD % b"text/event-stream" + b"\r\n" + PIECE[:62] + b'"}}]}\n\n')
        connection.recv(1)

    return {
        "sets a cookie": (cookies, False),
        "sets a cookie, asked again": (cookies, False),
        "answers gigabytes, announced": (announced, False),
        "answers gigabytes, unannounced": (unannounced, False),
        "answers gigabytes, gzipped": (gzipped, False),
        "streams gigabytes of events": (streamed, True),
        "streams gigabytes in one line": (one_line, True),
        "hangs": (hangs, False),
        "hangs, asked for a stream": (hangs, True),
        "sends half a header": (half_a_header, False),
        "sends its header by drops": (by_drops, False),
        "falls silent amid a stream": (half_a_stream, True),
    }


def _header(request: bytes, name: str) -> str:
    found = re.search(rf"^{name}: (?:Bearer )?(.*?)\r$", request.decode("latin-1"), re.IGNORECASE | re.MULTILINE)
    return found[1] if found else "none"


# --------------------------------------------------------------------------------------------------------- clients


def asked(url: str, key: str, stream: bool) -> dict[str, Any]:
    """What one client sees."""
    body = {"model": "m", "user": key, "stream": stream, "messages": [{"role": "user", "content": "Good evening."}]}
    begun, first, last, came = time.perf_counter(), b"", b"", 0
    with (
        httpx2.Client(trust_env=False, timeout=60.0) as client,
        client.stream(
            "POST", f"{url}/v1/chat/completions", json=body, headers={"Authorization": f"Bearer {key}"}
        ) as answer,
    ):
        for part in answer.iter_raw():
            came += len(part)
            first, last = (first + part)[:300], (last + part)[-300:]
            if time.perf_counter() - begun > LONGEST_S:
                break
    return {
        "status": answer.status_code,
        "bytes": came,
        "seconds": round(time.perf_counter() - begun, 2),
        "set_cookie": answer.headers.get("set-cookie"),
        "body": (first if came <= 300 else first[:60] + b" ... " + last[-120:]).decode("utf-8", "replace"),
    }


@contextmanager
def served(place: Path, upstream: str, timeout_s: float) -> Iterator[tuple[str, int]]:
    """`embermem serve`: its address, and its process."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("EMBERMEM_")}
    ours = {
        "EMBERMEM_EMBEDDER": "hashed",
        "EMBERMEM_PROXY_URL": upstream,
        "EMBERMEM_PROXY_TIMEOUT_S": f"{timeout_s}",
    }
    command = [sys.executable, "-m", "embermem.cli.main", "--store", str(place), "serve", "--port", "0"]
    with subprocess.Popen(command, env={**kept, **ours}, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            url = next(found[0] for line in server.stderr if (found := re.findall(r"http://[\d.]+:\d+", line)))
            threading.Thread(target=server.stderr.read, daemon=True).start()
            yield url, server.pid
        finally:
            server.terminate()
            server.wait(timeout=60)


def _megabytes(pid: int, what: str) -> int | None:
    """`VmRSS` (what the process holds now) or `VmHWM` (the most since it was reset); None where Linux is not asked."""
    with suppress(OSError):
        found = re.search(rf"{what}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        return None if found is None else int(found[1]) // 1024
    return None


def _reset(pid: int) -> None:
    with suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5")


def main() -> None:
    """Play everything, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--gb", type=float, default=3.0, help="how much an answer without measure is")
    parser.add_argument("--timeout-s", type=float, default=5.0, help="the setting proxy_timeout_s")
    parser.add_argument("--only", default="", help="play only what has this in its name")
    given = parser.parse_args()
    upstream, told = Upstream(), {}
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder) / "memory.db", upstream.url, given.timeout_s) as (url, pid),
        ThreadPoolExecutor(len(CLIENTS)) as pool,
    ):
        for name, (handle, stream) in ways(upstream, round(given.gb * 2**30)).items():
            if given.only not in name:
                continue
            upstream.handle, upstream.sent = handle, 0
            _reset(pid)
            before = _megabytes(pid, "VmRSS")
            seen = list(pool.map(asked, [url] * len(CLIENTS), CLIENTS, [stream] * len(CLIENTS)))
            told[name] = {
                "clients": dict(zip(CLIENTS, seen, strict=True)),
                "upstream_got_rid_of_mb": upstream.sent // MIB,
                "server_mb": {"before": before, "most": _megabytes(pid, "VmHWM")},
            }
            print(f"{name}: {[one['status'] for one in seen]}", file=sys.stderr)
    upstream.close()
    print(
        json.dumps({"gb": given.gb, "timeout_s": given.timeout_s, "load": os.getloadavg()[0], "seen": told}, indent=2)
    )


if __name__ == "__main__":
    main()
