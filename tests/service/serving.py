"""The real server on loopback, in a thread of this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx2
import uvicorn
from fastapi import FastAPI

from embermem import Memory, api_keys
from embermem.cli import serve
from embermem.http.app import create_app
from embermem.protocols import ApiKey


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """A server that runs, and the memory behind it."""

    url: str
    memory: Memory
    require_keys: bool = False


@contextmanager
def running(memory: Memory, require_keys: bool = False) -> Iterator[str]:
    """Serves a memory on a free port of loopback until the block ends; gives the base URL, without a slash."""
    with served(create_app(memory, require_keys=require_keys)) as url:
        yield url


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """The same for an application that the test has made."""
    config = serve.configured(app, app.state.serving.memory.settings)
    config.host, config.port, config.timeout_graceful_shutdown = "127.0.0.1", 0, 2
    server = uvicorn.Server(config)
    ready = threading.Event()
    failed: list[BaseException] = []

    def run() -> None:
        try:
            server.run()
        except BaseException as error:  # noqa: BLE001  the test is told of it
            failed.append(error)
        finally:
            ready.set()

    thread = threading.Thread(target=run, name="serving", daemon=True)
    thread.start()
    while not server.started and not ready.wait(0.005):
        pass
    if failed or not server.started:
        raise RuntimeError("the server did not start") from (failed[0] if failed else None)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)


def client(url: str, key: str | None = None) -> httpx2.Client:
    """A client of a server, with a key where one is given. Close it, or use it in a `with`."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return httpx2.Client(base_url=url, headers=headers, timeout=30.0, trust_env=False)


def key_for(memory: Memory, *owners: str, read_only: bool = False) -> tuple[ApiKey, str]:
    """A new key of a memory, and the text that its holder sends."""
    key, text = api_keys.make("test", owners, read_only=read_only, now=memory.now())
    memory.keys.add_key(key)
    return key, text
