"""`embermem serve`: the HTTP service, until it is told to stop."""

from __future__ import annotations

import errno
import gc
import ipaddress
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING

from embermem.core.errors import ConfigError

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

    from embermem.core.config import Settings
    from embermem.memory import Memory

logger = logging.getLogger(__name__)

_PACKAGES = ("fastapi", "uvicorn", "jinja2", "python_multipart", "prometheus_client", "httpx2", "mcp")
_LAST_GRACE_S = 5.0
"""After the wait for requests in flight: for threads that no one can interrupt."""
_OTHER_FILES = 256
"""Files that a server opens beside its connections: the store's, of each thread, and those of the interpreter."""
_COLLECTED_AFTER = (10_000, 20, 20)
"""When Python looks for garbage: a walk over all that a server holds takes longer than most requests, and with its own
thresholds Python does it every few of them."""


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
    from embermem.http.middleware import is_loopback

    return not is_loopback(host)


def bound(host: str, port: int, *, options: tuple[str, str] = ("--host", "--port")) -> socket.socket:
    """A socket that listens there; port 0 takes any that is free. Raises ConfigError if that cannot be, which names the
    `options` that host and port were given by."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError, OverflowError) as error:
        raise ConfigError(f"{options[0]} {host!r} is not an address of this machine") from error
    family, kind, _, _, address = found[0]
    listening = socket.socket(family, kind)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(2048)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(
                f"port {port} of {host} is in use; choose another with {options[1]}, 0 for any"
            ) from error
        raise ConfigError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    return listening


def check_keys(memory: Memory, host: str) -> None:
    """Raises ConfigError where the store has no key that holds; it says how to make one."""
    if not any(key.revoked_at is None for key in memory.keys.all_keys()):
        raise ConfigError(
            f"a server on {host} requires keys, and this store has none: create one with "
            "`embermem keys add NAME --owner USER`, or `--owner '*'` for all memories"
        )


def run(
    memory: Memory, listening: socket.socket, *, host: str, require_keys: bool, told: Callable[[str], None]
) -> None:
    """Serves everything until SIGINT or SIGTERM; `told` is told the address, with the port it got."""
    from embermem.http.app import create_app

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

    Requests in flight are finished, for at most `http_stop_s` seconds. Raises ConfigError.
    """
    from embermem.http.stopping import Server

    settings = memory.settings
    config = configured(app, settings)
    _allow_open_files(settings.http_connections)
    memory.wake()
    gc.set_threshold(*_COLLECTED_AFTER)
    Server(config, settings.http_stop_s + _LAST_GRACE_S).run(sockets=[listening])


def configured(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """How an application is served: with our bounds of connections, and what a proxy says of a client is believed only
    of those that `http_trusted_proxies` names. Raises ConfigError for an address there that is none."""
    import uvicorn

    from embermem.http.connections import BoundedProtocol

    trusted = _networks(settings.http_trusted_proxies)
    return uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(trusted),
        forwarded_allow_ips=trusted,
        timeout_graceful_shutdown=max(1, round(settings.http_stop_s)),
    )


def _networks(given: str) -> list[str]:
    """Addresses and networks that are written with commas between them. Raises ConfigError."""
    found = [one.strip() for one in given.split(",") if one.strip()]
    for one in found:
        try:
            ipaddress.ip_network(one)
        except ValueError as error:
            raise ConfigError(
                f"http_trusted_proxies: {one!r} is neither an address nor a network; give those of your reverse "
                "proxies, such as 127.0.0.1 or 10.0.0.0/8"
            ) from error
    return found


def _allow_open_files(connections: int) -> None:
    """Raise this process's limit of open files, as far as it may, so that its own limit of connections comes first:
    each may be a request to the proxy, which holds another one to upstream."""
    if find_spec("resource") is None:  # Windows has no such limit
        return
    import resource

    wanted = 2 * connections + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        with suppress(ValueError, OSError):  # some systems allow less than they say
            resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
            soft = allowed
    if soft != resource.RLIM_INFINITY and soft < wanted:
        logger.warning(
            "this process may open %d files, and %d connections may need %d: raise the limit (ulimit -n), or lower "
            "the setting http_connections",
            soft,
            connections,
            wanted,
        )
