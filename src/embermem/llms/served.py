"""What a server says of itself, where it says it: how many tokens its context holds.

llama.cpp tells it at /props, vLLM in its list of models, LM Studio in a list of its own, Ollama for what is loaded and
in a model's parameters. Nothing of this is required: what cannot be read is not known. Only the configured host is
asked.
"""

from __future__ import annotations

import ipaddress
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

__all__ = ["context_of", "is_near"]

_WAIT_S = 2.0
_ALL_S = 4.0
_BYTES = 2**21
# Ollama's own, where nobody set another: longer prompts lose their beginning without a word.
_OLLAMA_TOKENS = 4096


def is_near(url: str) -> bool:
    """Whether an address is of this machine or a private network: then one model serves few, and waits are long."""
    host = urlsplit(url).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".lan", ".localhost"))
    return address.is_loopback or address.is_private or address.is_link_local


def context_of(url: str, model: str, key: str | None) -> tuple[int | None, bool]:
    """The tokens of the context in which the server at `url` (as of OpenAI's protocol) runs the model, None if it does
    not tell; and whether that is its last word: not if it cannot be reached, or has not loaded the model yet."""
    asking = _Asking(url.rstrip("/"), key)
    try:
        told = _of_llama_cpp(asking) or _of_list(asking, model)
        return (told, True) if told else _of_ollama(asking, model)
    except _Gone:
        return None, False


class _Gone(Exception):
    """The server cannot be reached, or takes too long."""


class _Asking:
    """Asks a server for small JSON objects: neither proxies nor redirects are followed."""

    def __init__(self, url: str, key: str | None) -> None:
        self.base = url
        self.root = url.removesuffix("/v1")
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._until = time.monotonic() + _ALL_S
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)

    def read(self, address: str, body: Mapping[str, Any] | None = None) -> _Found:
        """The object at an address, {} where there is none. Raises _Gone."""
        if time.monotonic() > self._until:
            raise _Gone
        data = None if body is None else json.dumps(body).encode()
        headers = self._headers if data is None else {**self._headers, "Content-Type": "application/json"}
        request = urllib.request.Request(address, data=data, headers=headers)
        try:
            with self._opener.open(request, timeout=_WAIT_S) as response:
                return _Found.of(json.loads(response.read(_BYTES)))
        except urllib.error.HTTPError:
            return _Found({})
        except (OSError, HTTPException) as error:
            raise _Gone from error
        except (ValueError, RecursionError):
            return _Found({})


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **more: Any) -> None:
        """Nowhere."""


class _Found(dict[str, Any]):
    """An object whose parts may be of any kind."""

    @classmethod
    def of(cls, value: Any) -> _Found:
        return cls(value) if isinstance(value, dict) else cls({})

    def inner(self, key: str) -> _Found:
        return _Found.of(self.get(key))

    def each(self, key: str) -> list[_Found]:
        value = self.get(key)
        return [_Found.of(one) for one in value] if isinstance(value, list) else []

    def tokens(self, *keys: str) -> int | None:
        return next((n for key in keys if isinstance(n := self.get(key), int) and n > 0), None)


def _of_llama_cpp(asking: _Asking) -> int | None:
    return asking.read(f"{asking.root}/props").inner("default_generation_settings").tokens("n_ctx")


def _of_list(asking: _Asking, model: str) -> int | None:
    listed = asking.read(f"{asking.base}/models").each("data")
    own = [one for one in listed if one.get("id") == model] or (listed if len(listed) == 1 else [])
    found = next((n for one in own if (n := one.tokens("max_model_len", "context_length"))), None)
    if found is None and is_near(asking.base):
        listed = asking.read(f"{asking.root}/api/v0/models").each("data")
        found = next(
            (n for one in listed if one.get("id") == model if (n := one.tokens("loaded_context_length"))), None
        )
    return found


def _of_ollama(asking: _Asking, model: str) -> tuple[int | None, bool]:
    shown = asking.read(f"{asking.root}/api/show", {"model": model}) if is_near(asking.base) else None
    if not shown:
        return None, True
    names = {model, f"{model}:latest"}
    for one in asking.read(f"{asking.root}/api/ps").each("models"):
        if one.get("name") in names and (tokens := one.tokens("context_length")):
            return tokens, True
    if own := re.search(r"^num_ctx\s+(\d+)", str(shown.get("parameters") or ""), re.MULTILINE):
        return int(own[1]), True
    longest = next((n for key, n in shown.inner("model_info").items() if key.endswith(".context_length")), None)
    return (min(_OLLAMA_TOKENS, longest) if isinstance(longest, int) else None), False
