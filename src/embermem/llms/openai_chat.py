"""Any endpoint that speaks OpenAI's chat completions: OpenAI, Ollama, vLLM, DeepSeek, Qwen, LM Studio and others.

Format: https://platform.openai.com/docs/api-reference/chat/create. The `openai` package brings the connection, the key
and the errors; it is imported at the first request, as that takes most of a second. Servers differ in what they take:
see `_Dialect`. Requests go to the base URL alone: proxies that the environment names are not used, and redirects are
not followed.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import msgspec

from embermem.core.errors import (
    ConfigError,
    ModelBusy,
    ModelError,
    ModelMissing,
    ModelRefused,
    ModelReplyError,
    ModelTimeout,
    ModelUnreachable,
)
from embermem.core.retry_after import retry_after_s
from embermem.core.types import Role
from embermem.llms import estimate
from embermem.llms.structured import shown
from embermem.llms.thinking import ThinkingFilter, without_thinking
from embermem.protocols import ChatMessage, ModelReply, ModelRequest

if TYPE_CHECKING:
    import openai

__all__ = ["OpenAIChat", "with_schema"]

# Bytes of a reply that are read at most: 200,000 tokens are about 1 MB; reasoning may be ten times that.
MAX_REPLY_BYTES = 16 * 2**20
# A server without keys is sent this: the package insists on one, and would else take it from the environment.
NO_KEY = "none"

_OPENAI_HOST = "api.openai.com"

Format = Literal["json_schema", "json_object", "prompt"]
_LOWER: Mapping[Format, Format] = {"json_schema": "json_object", "json_object": "prompt"}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Dialect:
    """What a server takes of the format, for one model. Each field steps once, when the server refuses what it is."""

    reply_format: Format = "json_schema"
    limit_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    stream_usage: bool = True


class OpenAIChat:
    """A chat model behind an OpenAI-compatible endpoint. Safe to call from several threads, which share connections."""

    def __init__(self, *, model: str, base_url: str, api_key: str | None, timeout_s: float) -> None:
        """`base_url` ends before "/chat/completions", as in "http://localhost:11434/v1". No request is made yet.

        `timeout_s` is for one whole answer; of a stream, for each wait between two pieces. Raises ConfigError;
        ModelMissing if the package `openai` is not installed.
        """
        address = urlsplit(base_url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ConfigError("model_url must be an http:// or https:// address, such as https://api.openai.com/v1")
        if address.username is not None or address.password is not None:
            raise ConfigError("model_url must not contain a user or password; give model_key")
        if api_key and not (api_key.isascii() and api_key.isprintable()):
            raise ConfigError("model_key contains a line break or another character that is not allowed in a header")
        if importlib.util.find_spec("openai") is None:
            raise ModelMissing("a language model needs the package openai: pip install 'embermem[openai]'")
        self._model = model
        self._url = address._replace(fragment="").geturl()
        self._at_openai = address.hostname == _OPENAI_HOST
        self._shown = f"the model {model} at {address.netloc}"
        self._key = api_key or NO_KEY
        self._timeout_s = timeout_s
        self._dialect = _Dialect()
        self._client: openai.OpenAI | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    def complete(self, request: ModelRequest) -> ModelReply:
        """One answer. A server that refuses a part of the format is asked again at once without it; this is remembered.

        An answer cut at `max_tokens` may be empty (a model may reason so long). Raises as LanguageModel.complete.
        """
        with self._asked(request, stream=False) as response:
            content = self._whole(response.iter_bytes())
        try:
            body = msgspec.json.decode(content, type=_Body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._unreadable("gave no JSON of the form of a chat completion", content) from error
        if not body.choices:
            raise self._unreadable("gave no choices", content)
        choice, message = body.choices[0], body.choices[0].message or _Message()
        cut = choice.finish_reason == "length"
        text = without_thinking(_text(message.content)).strip()
        if not text and not cut:
            raise self._unreadable("declined to answer" if message.refusal else "gave an empty answer", content)
        return _reply(request, text, body.usage, cut=cut)

    def stream(self, request: ModelRequest) -> Iterator[str | ModelReply]:
        """The answer piece by piece; see LanguageModel.stream. Raises ModelUnreachable if the server breaks off."""
        thinking, pieces = ThinkingFilter(), list[str]()
        usage: _Usage | None = None
        finish: str | None = None
        done = False
        with self._asked(request, stream=True) as response:
            for data in self._events(response.iter_lines()):
                if data == "[DONE]":
                    done = True
                    break
                chunk = self._chunk(data)
                usage = chunk.usage or usage
                for choice in chunk.choices[:1]:
                    finish = choice.finish_reason or finish
                    if choice.delta and (piece := thinking.feed(_text(choice.delta.content))):
                        pieces.append(piece)
                        yield piece
        if not done and finish is None:
            raise ModelUnreachable(f"{self._shown} stopped in the middle of its answer")
        if rest := thinking.rest():
            pieces.append(rest)
            yield rest
        text, cut = "".join(pieces), finish == "length"
        if not text.strip() and not cut:
            raise self._unreadable("gave an empty answer", b"")
        yield _reply(request, text, usage, cut=cut)

    # ------------------------------------------------------------------------------------------------------- requests

    @contextmanager
    def _asked(self, request: ModelRequest, *, stream: bool) -> Iterator[Any]:
        """The response to one request, its body not yet read; errors of reading it are ours too.

        Where the server refuses a part of the format, the dialect steps on until it takes the request, or refuses it
        for another reason. What it took is remembered only then.
        """
        client, dialect = self._connected(), self._dialect
        from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

        transport = tuple(sys.modules[name].HTTPError for name in ("httpx2", "httpx") if name in sys.modules)
        try:
            while True:
                body = self._body(request, dialect, stream=stream)
                try:
                    with client.chat.completions.with_streaming_response.create(**body) as response:
                        self._dialect = dialect
                        yield response
                        return
                except APIStatusError as error:
                    step = _step(dialect, request, error, stream=stream)
                    if step is None:
                        raise self._refusal(error) from None  # its text is the server's
                    dialect = step
        except APITimeoutError as error:
            raise self._late() from error
        except (APIConnectionError, *transport) as error:
            if "Timeout" in type(error).__name__:
                raise self._late() from error
            raise ModelUnreachable(f"{self._shown} cannot be reached, or the connection was lost") from error
        except APIError as error:
            raise ModelUnreachable(f"{self._shown} failed") from error

    def _connected(self) -> openai.OpenAI:
        """The package's client, made at the first use."""
        with self._lock:
            if self._client is None:
                import openai

                client = openai.OpenAI(
                    api_key=self._key,
                    base_url=self._url,
                    timeout=self._timeout_s,
                    max_retries=0,
                    http_client=openai.DefaultHttpxClient(
                        trust_env=False, follow_redirects=False, timeout=self._timeout_s
                    ),
                )
                if not self._at_openai:  # what OPENAI_ORG_ID and OPENAI_PROJECT_ID say is no other host's business
                    client.organization = client.project = None
                self._client = client
            return self._client

    def _body(self, request: ModelRequest, dialect: _Dialect, *, stream: bool) -> dict[str, Any]:
        """The request in this dialect."""
        messages = request.messages
        if request.schema is not None and dialect.reply_format != "json_schema":
            messages = with_schema(request)
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": message.role.value, "content": message.text} for message in messages],
            dialect.limit_key: request.max_tokens,
        }
        if request.temperature is not None and dialect.temperature:
            body["temperature"] = request.temperature
        if request.schema is not None and dialect.reply_format == "json_schema":
            named = {"name": request.schema.name, "strict": True, "schema": dict(request.schema.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif request.schema is not None and dialect.reply_format == "json_object":
            body["response_format"] = {"type": "json_object"}
        if stream:
            body["stream"] = True
            if dialect.stream_usage:
                body["stream_options"] = {"include_usage": True}
        return body

    # -------------------------------------------------------------------------------------------------------- replies

    def _whole(self, parts: Iterator[bytes]) -> bytes:
        """A reply's bytes. The connection's timeout counts from byte to byte; the deadline counts for all."""
        deadline, content = time.monotonic() + self._timeout_s, bytearray()
        for part in parts:
            content += part
            if len(content) > MAX_REPLY_BYTES:
                raise self._unreadable(f"gave more than {MAX_REPLY_BYTES} bytes", bytes(content[:1000]))
            if time.monotonic() > deadline:
                raise self._late()
        return bytes(content)

    def _events(self, lines: Iterator[str]) -> Iterator[str]:
        """The data of a stream's events. Comments keep a connection up, but do not put the deadline off."""
        deadline, size = time.monotonic() + self._timeout_s, 0
        for line in lines:
            size += len(line)
            if size > MAX_REPLY_BYTES:
                raise self._unreadable(f"gave more than {MAX_REPLY_BYTES} bytes", b"")
            if line.startswith("data:"):
                yield line.removeprefix("data:").strip()
                deadline = time.monotonic() + self._timeout_s
            elif time.monotonic() > deadline:
                raise self._late()

    def _chunk(self, data: str) -> _Body:
        try:
            chunk = msgspec.json.decode(data.encode(), type=_Body)
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            raise self._unreadable(
                "gave no JSON of the form of a chat completion", data.encode(errors="replace")
            ) from error
        if chunk.error is not None:
            raise ModelUnreachable(f"{self._shown} failed during its answer")
        return chunk

    # --------------------------------------------------------------------------------------------------------- errors

    def _late(self) -> ModelTimeout:
        return ModelTimeout(f"{self._shown} did not answer within {self._timeout_s:g} s")

    def _unreadable(self, what: str, content: bytes) -> ModelReplyError:
        return ModelReplyError(f"{self._shown} {what}", content.decode("utf-8", "replace"))

    def _refusal(self, error: openai.APIStatusError) -> ModelError:
        """What a status means, in our words."""
        status, headers = error.status_code, error.response.headers
        said = f"{self._shown} (HTTP {status})"
        if status == 429 and error.code == "insufficient_quota":
            return ModelRefused(f"{said}: the account has no credit left")
        if status == 429:
            return ModelBusy(f"{said} asks to wait", retry_after_s(headers))
        if status == 408:
            return ModelTimeout(f"{said} gave up waiting")
        if status >= 500:
            return ModelUnreachable(f"{said} failed")
        if status < 400:
            return ModelRefused(
                f"{said} redirects to another address; redirects are not followed, set model_url to that address"
            )
        return ModelRefused(f"{said} refuses: {_REASONS.get(error.code or '') or _STATUSES.get(status, 'the request')}")


_REASONS = {
    "context_length_exceeded": "the request is too long for the model",
    "invalid_api_key": "the key is wrong; see model_key",
    "model_not_found": "it has no model of that name; see `model`",
}
_STATUSES = {
    401: "the key is missing or wrong; see model_key",
    402: "the account has no credit left",
    403: "the key may not use this model",
    404: "it has no model of that name, or nothing stands at this address; see `model` and model_url",
    413: "the request is too long",
}


# ---------------------------------------------------------------------------------------------- what servers will take


_FORMAT_WORDS = ("response_format", "json_schema", "json_object", "structured output", "guided", "grammar", "schema")
_UNKNOWN_WORDS = (
    "unsupported", "not support", "unknown", "unrecognized", "unexpected", "not permitted", "not allowed",
    "extra inputs", "extra_forbidden", "unavailable", "does not", "instead", "deprecated", "only the default",
)  # fmt: skip
_SIZE_WORDS = ("too large", "maximum", "context length", "exceed")


def _step(dialect: _Dialect, request: ModelRequest, error: openai.APIStatusError, *, stream: bool) -> _Dialect | None:
    """The dialect to try after a refusal; None if the refusal is about something else."""
    if error.status_code not in (400, 422):
        return None
    said = f"{error.message} {error.param} {error.body}".lower()
    unknown = any(word in said for word in _UNKNOWN_WORDS)
    if stream and dialect.stream_usage and ("stream_options" in said or "include_usage" in said):
        return replace(dialect, stream_usage=False)
    if unknown and dialect.limit_key == "max_tokens" and "max_tokens" in said and not _about_size(said):
        return replace(dialect, limit_key="max_completion_tokens")
    if unknown and dialect.temperature and request.temperature is not None and "temperature" in said:
        return replace(dialect, temperature=False)
    lower = _LOWER.get(dialect.reply_format)
    if request.schema is not None and lower and (unknown or any(word in said for word in _FORMAT_WORDS)):
        return replace(dialect, reply_format=lower)
    return None


def _about_size(said: str) -> bool:
    return any(word in said for word in _SIZE_WORDS)


def with_schema(request: ModelRequest) -> tuple[ChatMessage, ...]:
    """The messages of a request with its schema in words, for servers that take none.

    It is put at the end of the first system message, so that the beginning of the prompt stays the same and caches keep
    it; where there is none, at the end of the last message.
    """
    if request.schema is None:
        return request.messages
    words = (
        "Answer with one JSON object and nothing else. It follows this JSON schema, with every key:\n"
        f"{shown(request.schema)}"
    )
    roles = [message.role for message in request.messages]
    at = roles.index(Role.SYSTEM) if Role.SYSTEM in roles else len(roles) - 1
    chosen = request.messages[at]
    changed = ChatMessage(role=chosen.role, text=f"{chosen.text}\n\n{words}")
    return (*request.messages[:at], changed, *request.messages[at + 1 :])


# ------------------------------------------------------------------------------------------------------ what they give


class _Part(msgspec.Struct):
    """A part of a content given as a list; parts of other types than text (reasoning) have no text here."""

    type: str = ""
    text: str | None = None


class _Message(msgspec.Struct):
    """A message, or the next piece of one. Reasoning in a field of its own is not read."""

    content: str | list[_Part] | None = None
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    delta: _Message | None = None
    finish_reason: str | None = None


class _Cached(msgspec.Struct):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Cached | None = None


class _Body(msgspec.Struct):
    """A chat completion, or a chunk of one."""

    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: Any = None


def _text(content: str | list[_Part] | None) -> str:
    if isinstance(content, list):
        return "".join(part.text or "" for part in content if part.type == "text")
    return content or ""


def _reply(request: ModelRequest, text: str, usage: _Usage | None, *, cut: bool) -> ModelReply:
    """The reply, with our estimates where the server did not count."""
    given = usage or _Usage()
    cached = given.prompt_tokens_details.cached_tokens if given.prompt_tokens_details else None
    return estimate.reply(request, text, given.prompt_tokens, given.completion_tokens, cached, cut=cut)
