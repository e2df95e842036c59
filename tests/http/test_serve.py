"""`embermem serve`: a process that starts, says where it is, and ends well."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from running import command, environment, run
from serving import client

from embermem import Memory
from embermem.cli import serve
from embermem.core.errors import ConfigError
from forked import ember
from scripted import SMALL


@dataclass(kw_only=True)
class Process:
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    url: str = ""
    said: str = ""

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ends it by a signal; its exit code."""
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        """Waits for its end; its exit code. `said` is what it wrote on stderr."""
        _, errors = self.process.communicate(timeout=60)
        self.said += errors
        return self.process.returncode


@contextmanager
def served(store: Path, *arguments: str, more: Mapping[str, str] | None = None) -> Iterator[Process]:
    """`embermem serve` on a free port, as soon as it says where."""
    process = subprocess.Popen(
        command("serve", "--port", "0", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(store, more),
    )
    one = Process(process=process)
    try:
        assert process.stderr is not None
        while not one.url:
            line = process.stderr.readline()
            assert line, f"it ended before it served: {one.said}"
            one.said += line
            found = re.search(r"serves (http://\S+)", line)
            one.url = "" if found is None else found[1]
        yield one
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_a_server_that_others_reach_requires_keys_logs_no_word_understands_what_was_said_and_ends_well_on_sigterm(
    tmp_path: Path,
) -> None:
    store = tmp_path / "memory.db"
    text = run(store, "keys", "add", "phone", "--owner", "*").out.strip()
    arguments = ("--host", "0.0.0.0", "--log-format", "json", "--log-level", "debug")
    with served(store, *arguments, more={"EMBERMEM_POLL_S": "0.05"}) as one:
        assert "/docs" in one.said
        url = one.url.replace("0.0.0.0", "127.0.0.1")
        with client(url) as c:
            assert c.get("/v1/stats").status_code == 401
            assert c.get("/metrics").status_code == 401
            assert c.get("/ready").text == "ok\n"
        with client(url, text) as c, client(url, text) as other:
            assert c.get("/v1/stats", headers={"Host": "ember.example"}).status_code == 200
            c.post("/v1/memories", json={"messages": "My word is heron-4711.", "user_id": "al"})
            other.post("/v1/search", json={"query": "heron-4711", "user_id": "al"}, headers={"X-Request-Id": "mine"})
            c.get("/v1/pages/heron-4711", params={"user_id": "heron-4711"})
            c.get("/nowhere/heron-4711?q=heron-4711")
            c.post("/v1/search", content=b"heron-4711", headers={"Content-Type": "application/json"})
            until(lambda: waiting(c) == 0)
            with in_flight(other) as answers:
                assert one.stop() == 0
        assert answers == [201]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["memory.db"]  # closed: the WAL is folded in
    with Memory(store, **SMALL) as memory:
        assert memory.of("al").stats().utterances == 1
        assert memory.of("default").stats().utterances == 1  # of the request in flight
    assert "heron" not in one.said
    assert text not in one.said
    lines = [json.loads(line) for line in one.said.splitlines()]
    asked = {line["request_id"]: line for line in lines if line["event"] == "request"}
    mine = asked["mine"]
    assert (mine["method"], mine["route"], mine["status"], mine["level"]) == ("POST", "/v1/search", 200, "info")
    assert mine["ms"] > 0
    assert mine["time"].endswith("+00:00")
    routes = [line["route"] for line in asked.values()]
    assert (routes.count("/v1/search"), routes.count("/v1/stats")) == (2, 2)
    assert set(routes) >= {"/v1/memories", "/v1/pages/{item_id}", "(none)"}


@contextmanager
def in_flight(c: httpx2.Client) -> Iterator[list[int]]:
    """Inside, a request has begun to arrive; after it, the list holds the status that it was answered with."""
    begun, answers = threading.Event(), list[int]()

    def body() -> Iterator[bytes]:
        yield b'{"messages": "I like '
        begun.set()
        time.sleep(0.3)
        yield b'herons."}'

    def ask() -> None:
        answers.append(c.post("/v1/memories", content=body(), headers={"Content-Type": "application/json"}).status_code)

    asking = threading.Thread(target=ask)
    asking.start()
    assert begun.wait(20)
    yield answers
    asking.join(20)


def test_ctrl_c_ends_it_well_though_a_client_never_ends_its_request(tmp_path: Path) -> None:
    settings = {"EMBERMEM_HTTP_STOP_S": "0.2", "EMBERMEM_POLL_S": "0.05"}
    one = ember(tmp_path / "memory.db", "serve", "--port", "0", "--no-worker", more=settings)
    try:
        until(lambda: "serves http" in one.errors() or one.poll() is not None)
        host, port = re.findall(r"serves http://(\S+):(\d+)", one.errors())[0]
        with socket.create_connection((host, int(port)), timeout=20) as raw:
            raw.sendall(f"POST /v1/memories HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\n\r\n".encode())
            with client(f"http://{host}:{port}") as c:
                assert c.get("/health").status_code == 200
                c.post("/v1/memories", json={"messages": "I like herons."})
                time.sleep(0.2)
                assert waiting(c) == 1  # with --no-worker others understand it
            one.send_signal(signal.SIGINT)
            assert one.wait() == 0
    finally:
        one.kill()
        one.communicate()


def until(come: Callable[[], object], seconds: float = 20.0) -> None:
    """Waits for something; it is no test of how long it takes."""
    end = time.monotonic() + seconds
    while not come():
        assert time.monotonic() < end
        time.sleep(0.02)


def waiting(c: httpx2.Client) -> int:
    """How many utterances are not understood yet."""
    return int(float(re.findall(r"^ember_utterances_without_vector (\S+)", c.get("/metrics").text, re.M)[0]))


def test_a_host_a_port_or_an_option_that_cannot_be_and_a_store_without_a_key_are_refused_in_one_line(
    tmp_path: Path,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run(tmp_path / "memory.db", "serve", "--port", str(taken.getsockname()[1]))
    assert done.code == 1
    assert "is in use" in done.err
    assert "--port" in done.err
    assert "Traceback" not in done.err

    store = tmp_path / "memory.db"
    for arguments in (("--host", "no.such.host.invalid"), ("--host", "192.0.2.1")):
        ended = run(store, "serve", "--port", "0", *arguments)
        assert (ended.code, "Traceback" in ended.err) == (1, False)
    assert run(store, "serve", "--log-format", "xml").code == 2
    assert run(store, "serve", "--port", "70000").code == 2

    for reached in (["--host", "0.0.0.0"], ["--require-keys"]):
        keyless = tmp_path / "memory.db"
        key = run(keyless, "keys", "add", "old", "--owner", "*", "--json").json
        run(keyless, "keys", "revoke", key["id"])
        done = run(keyless, "serve", "--port", "0", *reached)
        assert done.code == 1, reached
        assert "embermem keys add" in done.err, reached


def test_loopback_alone_needs_no_keys_and_an_address_without_a_socket_is_refused() -> None:
    for host in ("127.0.0.1", "127.0.0.2", "localhost", "::1"):
        assert not serve.must_have_keys(host), host

    for host in ("0.0.0.0", "::", "192.0.2.1", "ember.example", ""):
        assert serve.must_have_keys(host), host

    with pytest.raises(ConfigError):
        serve.bound("a" * 300, 1)


def test_without_its_packages_it_says_how_to_install_them(tmp_path: Path) -> None:
    hides = "import sys; sys.modules['uvicorn'] = None; from embermem.cli.main import main; main()"
    done = subprocess.run(
        [*command()[:1], "-c", hides, "serve"], env=environment(tmp_path / "m.db"), capture_output=True, timeout=60
    )
    assert done.returncode == 1
    assert b"embermem[server]" in done.stderr
    assert b"make server" in done.stderr
    assert not (tmp_path / "m.db").exists()
