"""Anthropic's and Google's models by their own protocols, through the package `pydantic-ai-slim`.

It speaks asyncio; one loop in one thread, made at the first request, serves all calls. The package's retries are off:
whoever calls retries. Proxies that the environment names are not used. Schemas are described in the prompt, which both
follow well.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import queue
import threading
from collections.abc import Coroutine, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar, assert_never

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
from embermem.core.reasoning import without_thinking
from embermem.core.types import Role
from embermem.llms import estimate, refusals
from embermem.llms.dialect import with_form
from embermem.llms.flights import FIRST_FACTOR
from embermem.llms.thinking import ThinkingFilter
from embermem.protocols import ModelReply, ModelRequest, StructuredMode

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model
    from pydantic_ai.settings import ModelSettings

__all__ = ["PREFIXES", "PydanticAIChat"]

PREFIXES: Final = ("anthropic:", "google:")

_PACKAGES: Final = {"anthropic": "anthropic", "google": "google.genai"}
_KEYS: Final = {"anthropic": "ANTHROPIC_API_KEY", "google": "GOOGLE_API_KEY"}

Result = TypeVar("Result")


class PydanticAIChat:
    """A model of Anthropic or Google. Safe to call from several threads."""

    def __init__(
        self,
        name: str,
        *,
        api_key: str | None,
        timeout_s: float,
        base_url: str | None = None,
        model: Model[Any] | None = None,
    ) -> None:
        """`name` is `anthropic:NAME` or `google:NAME`. Without `api_key`, ANTHROPIC_API_KEY or GOOGLE_API_KEY is taken.

        `timeout_s` is for each wait between two pieces; the first may take FIRST_FACTOR times as long. `model` is one
        made already, of any provider. Raises ModelMissing if the packages are not installed, ConfigError if there is no
        key.
        """
        provider, _, short = name.partition(":")
        if model is None:
            if not _installed(provider):
                raise ModelMissing(f"{name} needs further packages: pip install 'embermem[anthropic-google]'")
            api_key = api_key or os.environ.get(_KEYS[provider])
            if not api_key:
                raise ConfigError(f"{name} needs a key: set model_key or {_KEYS[provider]}")
        self._name, self._provider, self._short = name, provider, short
        self._key, self._url = api_key, base_url
        self._timeout_s = timeout_s
        self._model = model
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The provider and the model's name."""
        return self._name

    @property
    def structured_mode(self) -> StructuredMode:
        """By the prompt: both follow a schema in words."""
        return StructuredMode.PROMPT

    def find_context(self) -> int | None:
        """Not told."""
        return None

    @property
    def one_at_a_time(self) -> bool:
        """No: these services take many requests at once."""
        return False

    def complete(self, request: ModelRequest) -> ModelReply:
        """See LanguageModel.complete."""
        *_, last = self.stream(request)
        if not isinstance(last, ModelReply):
            raise AssertionError("a stream ends with its reply")
        return replace(last, text=without_thinking(last.text).strip())

    def stream(self, request: ModelRequest) -> Iterator[str | ModelReply]:
        """See LanguageModel.stream."""
        from pydantic_ai.direct import model_request_stream

        model = self._made()
        pieces: queue.Queue[str | ModelResponse | Exception] = queue.Queue()

        async def ask() -> None:
            try:
                asked = model_request_stream(model, _messages(request), model_settings=self._settings(request))
                async with asked as stream:
                    async for event in stream:
                        pieces.put(_text(event))
                    pieces.put(stream.get())
            except Exception as error:  # noqa: BLE001 - raised again by whoever reads the queue
                pieces.put(error)

        running = self._run(ask())
        thinking, texts, wait_s = ThinkingFilter(), list[str](), FIRST_FACTOR * self._timeout_s
        try:
            while True:
                try:
                    piece = pieces.get(timeout=wait_s)
                except queue.Empty:
                    raise self._late(wait_s) from None
                wait_s = self._timeout_s
                if isinstance(piece, Exception):
                    raise self._ours(piece, request) from None
                if text := thinking.feed(piece) if isinstance(piece, str) else thinking.rest():
                    texts.append(text)
                    yield text
                if not isinstance(piece, str):
                    yield self._reply(request, "".join(texts), piece)
                    return
        finally:
            running.cancel()

    # ------------------------------------------------------------------------------------------------------- requests

    def _run(self, work: Coroutine[Any, Any, Result]) -> Any:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="embermem-model", daemon=True).start()
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _made(self) -> Model[Any]:
        """The package's model, made at the first use: its import takes seconds, which no timeout is to count."""
        with self._lock:
            if self._model is None:
                self._model = _make(self._provider, self._short, self._key, self._url, FIRST_FACTOR * self._timeout_s)
            return self._model

    def _settings(self, request: ModelRequest) -> ModelSettings:
        settings: ModelSettings = {
            "max_tokens": request.max_tokens,
            "timeout": FIRST_FACTOR * self._timeout_s,
            "max_retries": 0,
        }
        if request.temperature is not None:
            settings["temperature"] = request.temperature
        return settings

    # ------------------------------------------------------------------------------------------------ replies, errors

    def _reply(self, request: ModelRequest, text: str, response: ModelResponse) -> ModelReply:
        cut = response.finish_reason == "length"
        if not text.strip() and not cut:
            raise ModelReplyError(f"{self._name} gave an empty answer", response.text or "")
        usage = response.usage
        counted = usage.input_tokens or None, usage.output_tokens or None, usage.cache_read_tokens
        return estimate.reply(request, text, *counted, cut=cut)

    def _late(self, waited_s: float) -> ModelTimeout:
        return ModelTimeout(f"{self._name} was silent for {waited_s:g} s; see the setting model_timeout_s")

    def _ours(self, error: Exception, request: ModelRequest) -> Exception:
        """The package's error as one of ours; an error of another kind (a defect) as it is."""
        from pydantic_ai import exceptions as theirs

        status = getattr(error, "status_code", None)
        said = f"{self._name} (HTTP {status})" if status else self._name
        refusals.log_words(said, getattr(error, "body", None), request, self._key)
        mapped: ModelError
        match error:
            case TimeoutError() | theirs.ModelTimeoutError():
                mapped = self._late(self._timeout_s)
            case theirs.ModelRateLimitError():
                mapped = ModelBusy(f"{said} asks to wait", error.retry_after)
            case theirs.ModelQuotaExceededError():
                mapped = ModelRefused(f"{said}: the account has no credit left")
            case theirs.ModelConnectionError() | theirs.ModelUnavailableError() | theirs.ModelServerError():
                failed = "failed" if status else "cannot be reached"
                mapped = ModelUnreachable(f"{said} {failed}", status)
            case theirs.ModelAPIError() if status == 429:
                mapped = ModelBusy(f"{said} asks to wait", error.retry_after)
            case theirs.ModelAPIError() if status is not None and refusals.is_too_long(status, str(error)):
                mapped = refusals.too_long(said, None)
            case theirs.ModelAPIError() if status is not None and status < 500:
                mapped = ModelRefused(f"{said} refuses the request: its key, the model's name, or its size")
            case theirs.ModelAPIError():
                mapped = ModelUnreachable(f"{said} failed", status)
            case theirs.UnexpectedModelBehavior():
                mapped = ModelReplyError(f"{said} gave an unreadable answer", "")
            case theirs.UserError():
                mapped = ModelRefused(f"{said} cannot be asked so")
            case _:
                return error
        return mapped


def _installed(provider: str) -> bool:
    try:
        return all(importlib.util.find_spec(name) is not None for name in ("pydantic_ai", _PACKAGES[provider]))
    except ModuleNotFoundError:  # the parent of a dotted name is not there
        return False


def _make(provider: str, name: str, key: str | None, url: str | None, timeout_s: float) -> Model[Any]:
    """The package's model, with a connection that knows no proxy."""
    import httpx2

    client = httpx2.AsyncClient(trust_env=False, timeout=timeout_s)
    if provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(name, provider=AnthropicProvider(api_key=key, base_url=url, http_client=client))
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    return GoogleModel(name, provider=GoogleProvider(api_key=key, base_url=url, http_client=client))


def _text(event: object) -> str:
    """The text that an event of a stream brings."""
    from pydantic_ai import messages as theirs

    match event:
        case theirs.PartStartEvent(part=theirs.TextPart(content=text)):
            return text
        case theirs.PartDeltaEvent(delta=theirs.TextPartDelta(content_delta=text)):
            return text
        case _:
            return ""


def _messages(request: ModelRequest) -> list[ModelMessage]:
    """The request's messages in the package's words."""
    from pydantic_ai import messages as theirs

    made: list[ModelMessage] = []
    for message in with_form(request):
        match message.role:
            case Role.ASSISTANT:
                made.append(theirs.ModelResponse(parts=[theirs.TextPart(message.text)]))
            case Role.SYSTEM:
                made.append(theirs.ModelRequest(parts=[theirs.SystemPromptPart(message.text)]))
            case Role.USER | Role.TOOL | Role.DOCUMENT:
                made.append(theirs.ModelRequest(parts=[theirs.UserPromptPart(message.text)]))
            case _:
                assert_never(message.role)
    return made
