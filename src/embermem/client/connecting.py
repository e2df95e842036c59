"""The package httpx2 as the clients use it: its settings, and requests and failures in our types and its."""

from __future__ import annotations

import math
import ssl
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from embermem.client.exchange import Broken, Reply, Request
from embermem.client.following import SILENCE_S
from embermem.core import messages
from embermem.core.errors import ConfigError
from embermem.core.extras import needing

if TYPE_CHECKING:
    import httpx2


def httpx2_module() -> ModuleType:
    """The package. Raises ConfigError where it is not installed."""
    with needing("client", "the client"):
        import httpx2
    return httpx2


def settings(url: str, key: str | None, timeout_s: float, retries: int) -> dict[str, Any]:
    """The arguments of either kind of connection. Raises ConfigError."""
    refusal = ConfigError("url is not an http:// or https:// address, such as http://127.0.0.1:8765")
    for name, one in {"url": url, "key": key or ""}.items():
        if not isinstance(one, str):
            raise ConfigError(f"{name} is {type(one).__name__}; give a text")
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, (int, float)) or not 0 < timeout_s < math.inf:
        raise ConfigError(f"timeout_s = {timeout_s!r} is not allowed; give seconds, more than 0")
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        raise ConfigError(f"retries = {retries!r} is not allowed; give a whole number from 0")
    try:
        address = urlsplit(url)
        _ = address.port  # read here for what it raises
    except ValueError as error:
        raise refusal from error
    if address.scheme not in ("http", "https") or not address.hostname:
        raise refusal
    if address.username is not None or address.password is not None:
        raise ConfigError("the url must not contain a user or password; give key")
    if key is not None and not (key and key.isascii() and key.isprintable()):
        raise ConfigError("key is empty, or holds a character that no header may hold")
    headers = {"Accept": "application/json"} | ({} if key is None else {"Authorization": f"Bearer {key}"})
    return {
        "base_url": url,
        "headers": headers,
        # Over http no certificate is asked for, and reading the known ones takes longer than a request.
        "verify": ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if address.scheme == "http" else True,
        "timeout": timeout_s,
        "trust_env": False,
        "follow_redirects": False,
    }


def sent(request: Request) -> dict[str, Any]:
    """A request as the arguments of httpx2. Raises InputError for a parameter that is no text."""
    for name, value in request.params.items():
        for one in value if isinstance(value, list) else (value,):
            messages.checked(one, name, sys.maxsize)
    kind = {} if request.body is None else {"Content-Type": "application/json"}
    return {"params": request.params, "content": request.body, "headers": {**kind, **request.headers}}


def reply(response: httpx2.Response) -> Reply:
    """An answer, wholly read."""
    return Reply(status=response.status_code, headers=response.headers, body=response.content)


def broken(error: httpx2.RequestError) -> Broken:
    """Why there is no answer."""
    package = httpx2_module()
    unsent = isinstance(error, (package.ConnectError, package.ConnectTimeout, package.PoolTimeout))
    late = isinstance(error, package.TimeoutException)
    said = "did not answer in time" if late else "cannot be reached" if unsent else "broke off"
    return Broken(why=f"the server at {error.request.url.netloc.decode()} {said}", sent=not unsent, late=late)


def patient(limits: httpx2.Timeout) -> httpx2.Timeout:
    """The client's limits, with time for the server's signs of life."""
    read_s = max(limits.read or 0.0, SILENCE_S)
    made: httpx2.Timeout = httpx2_module().Timeout(
        connect=limits.connect, read=read_s, write=limits.write, pool=limits.pool
    )
    return made
