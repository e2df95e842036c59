"""The real server on loopback, in a thread of this process."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import httpx2
import uvicorn
from fastapi import FastAPI

from embermem import Memory, api_keys
from embermem.cli import serve
from embermem.http.app import create_app
from embermem.protocols import ApiKey

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For `verify` of a client that is used over http alone, and would read the machine's certificates otherwise."""


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
    server = _Stopping(config)
    failed: list[BaseException] = []

    def run() -> None:
        try:
            server.run()
        except BaseException as error:  # noqa: BLE001  the test is told of it
            failed.append(error)
        finally:
            server.ready.set()

    thread = threading.Thread(target=run, name="serving", daemon=True)
    thread.start()
    server.ready.wait()
    if failed or not server.started:
        raise RuntimeError("the server did not start") from (failed[0] if failed else None)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.stop()
        thread.join(timeout=20)


class _Stopping(uvicorn.Server):
    """uvicorn's, which looks ten times a second whether it is to stop, and then waits for another tenth: this one is
    told, and waits only while a client is connected."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()
        self._told = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def stop(self) -> None:
        """End; called from another thread than the server's."""
        self.should_exit = True
        with suppress(RuntimeError):  # it has ended by itself
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self._told.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self.ready.set()

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._told.wait(), 1)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        for _ in range(10):  # a connection that was closed is gone in the loop's next round
            await asyncio.sleep(0)
        if self.server_state.connections or self.server_state.tasks:
            await super().shutdown(sockets)
        else:
            await self.lifespan.shutdown()


def client(url: str, key: str | None = None) -> httpx2.Client:
    """A client of a server, with a key where one is given. Close it, or use it in a `with`."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return httpx2.Client(base_url=url, headers=headers, timeout=30.0, trust_env=False, verify=NO_TLS)


def key_for(memory: Memory, *owners: str, read_only: bool = False) -> tuple[ApiKey, str]:
    """A new key of a memory, and the text that its holder sends."""
    key, text = api_keys.make("test", owners, read_only=read_only, now=memory.now())
    memory.keys.add_key(key)
    return key, text
