"""Any OpenAI-compatible `/embeddings` endpoint, over the standard library's HTTP.

Format: https://platform.openai.com/docs/api-reference/embeddings/create.
"""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from email.message import Message
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from embermem.core.errors import ConfigError, EmbedderError, EmbedderMissing
from embermem.core.retry_after import retry_after_s

if TYPE_CHECKING:
    from embermem.core.types import Vectors

__all__ = ["OpenAIEmbedder"]

# Texts in one request. OpenAI allows 2048; 64 keep a reply with 3072 dimensions under 5 MB.
BATCH_SIZE = 64
# Seconds for one attempt, from connecting to the reply's last byte.
TIMEOUT_S = 30.0
# Attempts after the first.
RETRIES = 3
# Seconds before the first retry, doubled at each further one, unless the server says how long.
BACKOFF_S = 0.5
# Seconds that a server's Retry-After may cost at most.
MAX_WAIT_S = 60.0
# Characters of a text that are sent. OpenAI's models refuse more than 8192 tokens; a token has 4 characters
# in English and about 1 in Chinese.
MAX_CHARS = 8000
# Bytes of a reply that are read at most: 64 vectors of 8192 numbers with 25 digits, and room.
MAX_REPLY_BYTES = 32 * 2**20
# Characters of a refusal that an error repeats.
EXCERPT_CHARS = 300
# Request Timeout and Too Many Requests; of 5xx all.
RETRIED_STATUSES = frozenset({408, 429})


class OpenAIEmbedder:
    """Embeds through a server that speaks OpenAI's API. Holds no connection; safe to call from several threads."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str | None,
        model: str,
        dimensions: int | None = None,
        known_dim: int | None = None,
        batch_size: int = BATCH_SIZE,
        timeout: float = TIMEOUT_S,
        retries: int = RETRIES,
        max_chars: int = MAX_CHARS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`base_url` ends before "/embeddings", as in "http://localhost:11434/v1". No request is made yet.

        `dimensions` is sent, for models that can shorten their vectors, and checked; otherwise the first reply tells.
        `known_dim` is not sent: the length that a store already holds, so that nobody need be asked to open it; replies
        are checked against it. `timeout` is in seconds, for one attempt. A text is cut after `max_chars`. Raises
        ConfigError.
        """
        address = urlsplit(base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ConfigError("base_url must be an http:// or https:// address, such as https://api.openai.com/v1")
        if address.username is not None or address.password is not None:
            raise ConfigError("base_url must not contain a user or password; give api_key")
        if api_key is not None and not (api_key.isascii() and api_key.isprintable()):
            raise ConfigError("api_key contains a line break or another character that is not allowed in a header")
        for setting, value in (("batch_size", batch_size), ("max_chars", max_chars), ("dimensions", dimensions)):
            if value is not None and value < 1:
                raise ConfigError(f"{setting} must be at least 1, not {value}")
        if timeout <= 0 or retries < 0:
            raise ConfigError("timeout must be above 0 and retries at least 0")
        self._url = address._replace(path=f"{address.path.rstrip('/')}/embeddings", fragment="").geturl()
        self._shown = f"{address.scheme}://{address.netloc}{address.path.rstrip('/')}/embeddings"
        self._key = api_key
        self._model = model
        self._dimensions = dimensions
        self._batch_size = batch_size
        self._timeout = timeout
        self._retries = retries
        self._max_chars = max_chars
        self._sleep = sleep
        self._opener = urllib.request.build_opener(_NoRedirects)
        self._lock = threading.Lock()
        self._dim = dimensions if dimensions is not None else known_dim

    @property
    def name(self) -> str:
        """ "openai:" and the model's name."""
        return f"openai:{self._model}"

    @property
    def dim(self) -> int:
        """The length of a vector. Asks the server if neither `dimensions` nor a reply has told; raises as `embed`."""
        return self._dim if self._dim is not None else self._request(["dimension"]).shape[1]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of shape (len(texts), dim), L2 norm 1; a zero vector for an empty text, which is not sent.

        Raises EmbedderMissing if nobody answers at the address or the model is unknown there, EmbedderError for any
        other refusal or a reply that is not what was asked for. All or nothing: no part of a reply is returned.
        """
        cleaned = [_sendable(text, self._max_chars) for text in texts]
        rows = [row for row, text in enumerate(cleaned) if text]
        parts = [
            self._request([cleaned[row] for row in rows[start : start + self._batch_size]])
            for start in range(0, len(rows), self._batch_size)
        ]
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        if parts:
            vectors[rows] = np.concatenate(parts)
        return vectors

    def _request(self, texts: Sequence[str]) -> Vectors:
        """One batch: asked, read, checked, in order."""
        question: dict[str, object] = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        if self._dimensions is not None:
            question["dimensions"] = self._dimensions
        vectors = self._parse(self._post_with_retries(json.dumps(question).encode()), len(texts))
        with self._lock:
            if self._dim is None:
                self._dim = vectors.shape[1]
            expected = self._dim
        if vectors.shape[1] != expected:
            raise EmbedderError(f"{self._shown} returned vectors of {vectors.shape[1]} numbers, expected {expected}")
        return vectors

    def _post_with_retries(self, body: bytes) -> bytes:
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            wait = BACKOFF_S * 2.0**attempt
            try:
                return self._post(body)
            except urllib.error.HTTPError as error:
                with error:
                    if last or not (error.code in RETRIED_STATUSES or error.code >= 500):
                        raise self._refusal(error) from error
                    wait = _wait(error.headers, wait)
            except (OSError, http.client.HTTPException) as error:  # URLError and TimeoutError are OSErrors
                if last:
                    raise self._silence(error) from error
            self._sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _post(self, body: bytes) -> bytes:
        """One attempt, within the timeout: the socket's own counts from byte to byte, the deadline for all."""
        deadline = time.monotonic() + self._timeout
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "embermem"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")
        reply = bytearray()
        with self._opener.open(request, timeout=self._timeout) as response:
            while chunk := response.read1(65536):
                reply += chunk
                if len(reply) > MAX_REPLY_BYTES:
                    raise EmbedderError(f"{self._shown} gave more than {MAX_REPLY_BYTES} bytes")
                if time.monotonic() > deadline:
                    raise TimeoutError(f"no complete reply within {self._timeout} s")
            # read1, unlike read, ends quietly when the connection is lost; `length` is what is still to come.
            if response.length:
                raise http.client.IncompleteRead(bytes(reply), response.length)
        return bytes(reply)

    def _parse(self, reply: bytes, count: int) -> Vectors:
        """The vectors by their `index`, checked and normalised."""
        try:
            items: list[dict[str, Any]] = json.loads(reply)["data"]
            order = [item["index"] for item in items]
            rows = [item["embedding"] for item in items]
            found = np.array(rows, dtype=np.float64) if rows else np.zeros((0, 0))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise EmbedderError(f"{self._shown} gave no list of vectors: {self._excerpt(reply)}") from error
        # `type`, as True is an int too, and numpy would read it as a mask.
        if not all(type(index) is int for index in order) or sorted(order) != list(range(count)):
            raise EmbedderError(f"{self._shown} was asked for {count} vectors and gave {len(items)}, index {order[:9]}")
        if found.ndim != 2 or found.shape[1] == 0:
            raise EmbedderError(f"{self._shown} gave no vectors of numbers: shape {found.shape}")
        with np.errstate(over="ignore"):
            norms = np.linalg.norm(found, axis=1, keepdims=True)
        if not np.isfinite(norms).all():
            raise EmbedderError(f"{self._shown} gave a vector that is not finite")
        if not (norms > 0).all():
            raise EmbedderError(f"{self._shown} gave a zero vector for a text that is not empty")
        vectors: Vectors = np.empty(found.shape, dtype=np.float32)
        vectors[order] = found / norms
        return vectors

    def _refusal(self, error: urllib.error.HTTPError) -> EmbedderError:
        try:
            said = self._excerpt(error.read(4 * EXCERPT_CHARS))
        except (OSError, http.client.HTTPException):
            said = "(no body)"
        kind = EmbedderMissing if error.code == 404 else EmbedderError
        return kind(f"{self._shown} refused {self._model}: HTTP {error.code}: {said}")

    def _silence(self, error: OSError | http.client.HTTPException) -> EmbedderError:
        reason = error.reason if isinstance(error, urllib.error.URLError) else error
        attempts = f"{self._retries + 1} attempts"
        # Refused, or no such host. A timeout or a broken reply comes from a server that is there.
        if isinstance(reason, ConnectionRefusedError | socket.gaierror):
            return EmbedderMissing(f"{self._shown} cannot be reached ({attempts}): {reason}")
        return EmbedderError(f"{self._shown} did not answer ({attempts}): {type(reason).__name__}: {reason}")

    def _excerpt(self, body: bytes) -> str:
        """The body's beginning, on one line. Servers repeat the key that they refuse: it is taken out first."""
        text = body[: 4 * EXCERPT_CHARS].decode("utf-8", "replace")
        if self._key:
            text = text.replace(self._key, "***")
        return " ".join(text.split())[:EXCERPT_CHARS]


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is a refusal: urllib would take the key along to another host, and turn the POST into a GET."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        return None


def _sendable(text: str, limit: int) -> str:
    """The text without outer white space, cut, and with "?" for what UTF-8 cannot hold (half an emoji)."""
    return text[: 4 * limit].strip()[:limit].encode("utf-8", "replace").decode()


def _wait(headers: Message, default: float) -> float:
    """Seconds to wait, as the server asks, at most MAX_WAIT_S."""
    asked = retry_after_s(headers)
    return default if asked is None else min(asked, MAX_WAIT_S)
