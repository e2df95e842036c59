"""`embermem serve`: the HTTP service, until it is told to stop."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from embermem.errors import ConfigError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from embermem.memory import Memory

logger = logging.getLogger(__name__)

_PACKAGES = ("fastapi", "uvicorn", "jinja2", "python_multipart", "prometheus_client", "httpx2", "mcp")
_LAST_GRACE_S = 5.0
"""After the wait for requests in flight: for threads that no one can interrupt."""


def check_packages() -> None:
    """Raises ConfigError if what the server needs is not installed; it says how to install it."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"the server needs packages that are not installed ({', '.join(missing)}): "
            "run `pip install 'embermem[server]'`, or in a clone `make server`"
        )


def must_have_keys(host: str) -> bool:
    """Whether others than this machine reach a server on this host."""
    from embermem.apps.http.middleware import is_loopback

    return not is_loopback(host)


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 takes any that is free. Raises ConfigError if that cannot be."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError, OverflowError) as error:
        raise ConfigError(f"--host {host!r} names no address of this machine") from error
    family, kind, _, _, address = found[0]
    listening = socket.socket(family, kind)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(2048)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(f"port {port} of {host} is in use; choose another with --port, 0 for any") from error
        raise ConfigError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    return listening


def check_keys(memory: Memory, host: str) -> None:
    """Raises ConfigError where the store has no key that holds; it says how to make one."""
    if not any(key.revoked_at is None for key in memory.keys.all_keys()):
        raise ConfigError(
            f"a server on {host} requires keys here, and this store has none: make one with "
            "`embermem keys add NAME --owner USER`, or `--owner '*'` for all memories"
        )


def run(
    memory: Memory, listening: socket.socket, *, host: str, require_keys: bool, told: Callable[[str], None]
) -> None:
    """Serves everything until SIGINT or SIGTERM; `told` is told the address, with the port it got."""
    from embermem.apps.http.app import create_app

    app = create_app(memory, require_keys=require_keys, hosts=(host,))
    url = url_of(host, listening)
    told(f"Ember serves {url}   inspector {url}/   routes {url}/docs")
    if require_keys:
        told("every request needs a key: Authorization: Bearer ember_…")
    until_stopped(app, memory, listening)


def url_of(host: str, listening: socket.socket) -> str:
    """The address of a server on this socket, without a slash at its end."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"


def until_stopped(app: FastAPI, memory: Memory, listening: socket.socket) -> None:
    """Runs an application over a memory until SIGINT or SIGTERM, and the memory's background thread beside it.

    Requests in flight are finished, for at most `http_stop_s` seconds.
    """
    import uvicorn

    from embermem.apps.http.stopping import Server

    stop_s = memory.settings.http_stop_s
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=max(1, round(stop_s)),
    )
    memory.wake()
    Server(config, stop_s + _LAST_GRACE_S).run(sockets=[listening])
