"""Any endpoint that speaks OpenAI's chat completions: OpenAI, Ollama, vLLM, DeepSeek, Qwen, LM Studio and others.

Format: https://platform.openai.com/docs/api-reference/chat/create. The `openai` package brings the connection, the key
and the errors; it is imported at the first request, as that takes most of a second. Servers differ in what they take:
see `dialect`. Every answer is streamed, so that a slow one can be told from none. Requests go to the base URL alone:
proxies that the environment names are not used, and redirects are not followed.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from embermem.core.errors import (
    ConfigError,
    ModelMissing,
    ModelReplyError,
    ModelTimeout,
    ModelUnreachable,
)
from embermem.core.reasoning import without_thinking
from embermem.llms import dialect as dialects
from embermem.llms import estimate, refusals, served
from embermem.llms.dialect import THINKING_TOKENS, Dialect
from embermem.llms.endings import Ending, repeats
from embermem.llms.flights import FIRST_FACTOR, Flight, Lanes
from embermem.llms.structured import follows
from embermem.llms.thinking import ThinkingFilter
from embermem.protocols import ModelReply, ModelRequest, StructuredMode

if TYPE_CHECKING:
    import openai

__all__ = ["OpenAIChat"]

# Bytes of a reply that are read at most: 200,000 tokens are about 1 MB; reasoning may be ten times that.
MAX_REPLY_BYTES = 16 * 2**20
# A server without keys is sent this: the package insists on one, and would else take it from the environment.
NO_KEY = "none"
# Seconds for a connection.
CONNECT_S = 10.0
# Seconds before a server that had no last word about its context is asked again.
CONTEXT_REST_S = 60.0
# An answer of fewer tokens than this is not worth asking for.
LEAST_TOKENS = 64

_OPENAI_HOST = "api.openai.com"


class OpenAIChat:
    """A chat model behind an OpenAI-compatible endpoint. Safe to call from several threads."""

    def __init__(self, *, model: str, base_url: str, api_key: str | None, timeout_s: float) -> None:
        """`base_url` ends before "/chat/completions", as in "http://localhost:11434/v1". No request is made yet.

        `timeout_s` is for each wait between two pieces of an answer; the first piece may take FIRST_FACTOR times as
        long. Raises ConfigError; ModelMissing if the package `openai` is not installed.
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
        self._near = served.is_near(self._url)
        self._shown = f"the model {model} at {address.netloc}"
        self._key = api_key
        self._timeout_s = timeout_s
        self._dialect = Dialect(thinking="template" if self._near else "free", narrow=self._near)
        self._lanes: Lanes[openai.OpenAI] = Lanes(self._client)
        self._lock = threading.Lock()
        self._asking = threading.Lock()
        self._told: int | None = None
        self._settled = False
        self._ask_from = 0.0

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    @property
    def structured_mode(self) -> StructuredMode:
        """See ServedModel.structured_mode."""
        return self._dialect.mode

    def find_context(self) -> int | None:
        """See ServedModel.find_context. What a refusal told counts before what the server says of itself."""
        if self._dialect.context is None and not self._at_openai:
            with self._asking:
                now = time.monotonic()
                if not self._settled and now >= self._ask_from:
                    self._told, self._settled = served.context_of(self._url, self._model, self._key)
                    self._ask_from = now + CONTEXT_REST_S
        return self._dialect.context or self._told

    @property
    def one_at_a_time(self) -> bool:
        """See ServedModel.one_at_a_time: whether the address is of this machine or its network."""
        return self._near

    def complete(self, request: ModelRequest) -> ModelReply:
        """One answer. Raises as LanguageModel.complete."""
        *_, last = self.stream(request)
        if not isinstance(last, ModelReply):
            raise AssertionError("a stream ends with its reply")
        return replace(last, text=without_thinking(last.text).strip())

    def stream(self, request: ModelRequest) -> _Answering:
        """The answer piece by piece; see LanguageModel.stream. A server that refuses a part of the format is asked
        again at once without it; this is remembered, as is what its answers show of it.

        An answer cut at `max_tokens` may be empty (a model may reason so long). Raises ModelUnreachable if the server
        breaks off.
        """
        flight = Flight(FIRST_FACTOR * self._timeout_s, self._timeout_s)
        return _Answering(self._pieces(request, flight), flight)

    # ------------------------------------------------------------------------------------------------------- requests

    def _pieces(self, request: ModelRequest, flight: Flight) -> Generator[str | ModelReply]:
        came = _Came(request=request)
        with self._asked(request, flight) as (response, dialect):
            for data in self._events(response.iter_lines(), flight):
                if data == "[DONE]":
                    came.done = True
                    break
                if piece := came.take(self._body(data, request)):
                    flight.rest()  # whoever reads may take any time
                    yield piece
                    flight.heard()
                if came.over:
                    break
                if came.thought_tokens > THINKING_TOKENS:
                    self._learn(request, dialect, came)
                    raise ModelReplyError(
                        f"{self._shown} reasoned for more than {THINKING_TOKENS} tokens; turn its thinking off", ""
                    )
        if not (came.done or came.finish or came.over):
            if flight.late:  # a body without a length just ends there
                raise self._late(flight)
            raise ModelUnreachable(f"{self._shown} stopped in the middle of its answer")
        if rest := came.rest():
            yield rest
        self._learn(request, dialect, came)
        if not came.text.strip() and not came.cut:
            raise self._unreadable("declined to answer" if came.refused else "gave an empty answer", came.raw)
        yield came.reply()

    @contextmanager
    def _asked(self, request: ModelRequest, flight: Flight) -> Iterator[tuple[Any, Dialect]]:
        """The response to one request, its body not yet read; errors of reading it are ours too.

        Where the server refuses a part of the format, the dialect steps on until it takes the request, or refuses it
        for another reason. What it took is remembered only then.
        """
        with self._lock:
            import openai
        transport = tuple(sys.modules[name].HTTPError for name in ("httpx2", "httpx") if name in sys.modules)
        began = dialect = self._dialect
        try:
            with flight, self._lanes.taken(flight) as client:
                room: int | None = None
                while True:
                    limit = self._limit(request, dialect) if room is None else room
                    body = dialects.body(self._model, request, dialect, limit)
                    try:
                        with client.chat.completions.with_streaming_response.create(**body) as response:
                            self._took(began, dialect)
                            yield response, dialect
                            return
                    except openai.APIStatusError as error:
                        dialect, room = self._after(error, request, dialect, limit)
        except (openai.APIConnectionError, *transport) as error:
            if flight.late or (not flight.broken and "Timeout" in type(error).__name__):
                raise self._late(flight) from error
            raise ModelUnreachable(f"{self._shown} cannot be reached, or the connection was lost") from error
        except openai.APIError as error:
            raise ModelUnreachable(f"{self._shown} failed") from error

    def _client(self, sent: Callable[[Any], None]) -> openai.OpenAI:
        """The package's client, which hands each request to `sent` before it goes."""
        import ssl

        import openai

        read_s = (FIRST_FACTOR + 1) * self._timeout_s  # the flight's own limits come before
        http = openai.DefaultHttpxClient(
            trust_env=False,
            follow_redirects=False,
            # Over http no certificate is asked for, and reading the known ones takes longer than most requests.
            verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if self._url.startswith("http://") else True,
            timeout=openai.Timeout(read_s, connect=min(CONNECT_S, self._timeout_s)),
            event_hooks={"request": [sent]},
        )
        client = openai.OpenAI(
            api_key=self._key or NO_KEY,
            base_url=self._url,
            timeout=http.timeout,
            max_retries=0,
            http_client=http,
        )
        if not self._at_openai:  # what OPENAI_ORG_ID and OPENAI_PROJECT_ID say is no other host's business
            client.organization = client.project = None
        return client

    def _limit(self, request: ModelRequest, dialect: Dialect) -> int:
        """Most tokens to ask for: the answer's, and room for reasoning, as far as the context is known to hold them."""
        limit = request.max_tokens + (THINKING_TOKENS if dialect.thinks else 0)
        context = dialect.context or self._told
        room = limit if context is None else context - estimate.prompt_tokens(request)
        return min(limit, room) if room >= LEAST_TOKENS else limit

    def _after(
        self, error: openai.APIStatusError, request: ModelRequest, dialect: Dialect, limit: int
    ) -> tuple[Dialect, int | None]:
        """What to try after a refusal: a dialect, and a limit of tokens where it told one. Raises ModelError."""
        said = f"{error.message} {error.param} {error.body}"
        if refusals.is_too_long(error.status_code, said):
            prompt, context = refusals.prompt_and_context(said)
            self._learn_context(context)
            room = (context or 0) - (prompt or 0)
            if context and prompt and LEAST_TOKENS <= room < limit:
                return replace(dialect, context=context), room
        elif step := dialects.after_refusal(dialect, request, error.status_code, said):
            return step, None
        refusals.log_words(f"{self._shown} (HTTP {error.status_code})", error.body, request, self._key)
        raise refusals.refusal(
            self._shown, error.status_code, error.code, said, error.response.headers
        ) from None  # its text is the server's

    # -------------------------------------------------------------------------------------------------- what is learnt

    def _took(self, began: Dialect, dialect: Dialect) -> None:
        """The server took a request in this dialect."""
        if dialect is not began:
            with self._lock:
                self._dialect = replace(dialect, context=dialect.context or self._dialect.context)

    def _learn_context(self, tokens: int | None) -> None:
        if tokens is not None:
            with self._lock:
                self._dialect = replace(self._dialect, context=tokens)

    def _learn(self, request: ModelRequest, used: Dialect, came: _Came) -> None:
        """What an answer shows of the server. Others may have learnt meanwhile: a step is made once."""
        formed = _formed(request, used.mode, came)
        with self._lock:
            now = self._dialect
            self._dialect = dialects.after_reply(
                now,
                structured=request.schema is not None and now.thinking == used.thinking,
                formed=formed if now.mode is used.mode else None,
                thought=came.thought,
            )

    # -------------------------------------------------------------------------------------------------------- replies

    def _events(self, lines: Iterator[str], flight: Flight) -> Iterator[str]:
        """The data of a stream's events; of a server that does not stream, its whole answer. Comments keep a
        connection up, but do not put the deadline off."""
        size, plain = 0, list[str]()
        for line in lines:
            size += len(line)
            if size > MAX_REPLY_BYTES:
                raise self._unreadable(f"gave more than {MAX_REPLY_BYTES} bytes", "")
            if line.startswith("data:") and not plain:
                flight.heard()
                yield line.removeprefix("data:").strip()
            elif plain or (line.strip() and not line.startswith(_OTHER_LINES)):
                plain.append(line)
        if plain:
            yield "\n".join(plain)
            yield "[DONE]"

    def _body(self, data: str, request: ModelRequest) -> _Body:
        try:
            body = msgspec.json.decode(data.encode(), type=_Body)
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            raise self._unreadable("gave no JSON of the form of a chat completion", data) from error
        if body.error is not None:
            said = str(body.error)
            if refusals.is_too_long(400, said):
                context = refusals.prompt_and_context(said)[1]
                self._learn_context(context)
                raise refusals.too_long(self._shown, context)
            refusals.log_words(self._shown, body.error, request, self._key)
            raise ModelUnreachable(f"{self._shown} failed during its answer")
        return body

    # --------------------------------------------------------------------------------------------------------- errors

    def _late(self, flight: Flight) -> ModelTimeout:
        first_s = FIRST_FACTOR * self._timeout_s
        what = f"did not begin to answer within {first_s:g} s ({FIRST_FACTOR} times the setting model_timeout_s)"
        if flight.begun:
            what = f"fell silent for {self._timeout_s:g} s in its answer (the setting model_timeout_s)"
        return ModelTimeout(f"{self._shown} {what}")

    def _unreadable(self, what: str, content: str) -> ModelReplyError:
        return ModelReplyError(f"{self._shown} {what}", content)


_OTHER_LINES = (":", "event:", "id:", "retry:")


class _Answering(Iterator[str | ModelReply]):
    """A stream that another thread may break off: see BreakableStream."""

    def __init__(self, pieces: Generator[str | ModelReply], flight: Flight) -> None:
        self._pieces = pieces
        self._flight = flight

    def __next__(self) -> str | ModelReply:
        return next(self._pieces)

    def close(self) -> None:
        """Stop, and leave the server alone."""
        self._pieces.close()

    def break_off(self) -> None:
        """See BreakableStream.break_off."""
        self._flight.break_off()


@dataclass(kw_only=True)
class _Came:
    """What has come of an answer."""

    request: ModelRequest
    raw: str = ""
    thought_tokens: int = 0
    done: bool = False
    over: bool = False
    """Whether it has ended for us, though the server goes on."""
    finish: str | None = None
    refused: bool = False
    _reasoned: bool = False
    _usage: _Usage | None = None
    _cached: int | None = None
    _pieces: list[str] = field(default_factory=list)
    _filter: ThinkingFilter = field(default_factory=ThinkingFilter)
    _ending: Ending | None = None

    def __post_init__(self) -> None:
        if self.request.schema is not None:
            self._ending = Ending(self.request.schema.schema, self.request.max_tokens)

    def take(self, body: _Body) -> str:
        """Take the next chunk, or a whole body; the text that it brings, without reasoning."""
        self._usage = body.usage or self._usage
        self._cached = body.timings.cache_n if body.timings else self._cached
        piece = ""
        for choice in body.choices[:1]:
            self.finish = choice.finish_reason or self.finish
            message = choice.delta or choice.message or _Message()
            self.refused = self.refused or bool(message.refusal)
            text = _text(message.content)
            self.raw += text
            piece = self._filter.feed(text) if text else ""
            if not piece:
                self.thought_tokens += estimate.text_tokens(text.strip())
            for other in (message.reasoning_content, message.reasoning):
                if isinstance(other, str):
                    self.thought_tokens += estimate.text_tokens(other)
                    self._reasoned = self._reasoned or bool(other.strip())
        return self._kept(piece)

    def rest(self) -> str:
        """What was held back, when all has come."""
        return self._kept(self._filter.rest())

    def _kept(self, piece: str) -> str:
        if piece:
            self._pieces.append(piece)
            if self._ending is not None:
                self.over = self.over or self._ending.feed(piece)
        return piece

    @property
    def text(self) -> str:
        """The answer. Of a structured one all reasoning is out, also what was not marked when it came."""
        return "".join(self._pieces) if self._ending is None else without_thinking(self.raw).strip()

    @property
    def cut(self) -> bool:
        """Whether it ended at its limit."""
        return self.finish == "length" or (self._ending is not None and self._ending.cut)

    @property
    def thought(self) -> bool:
        """Whether the model reasoned: in the open, as the server counts, or so long that no answer came."""
        counted = self._usage.completion_tokens_details if self._usage else None
        text = self.text.strip()
        marked = self.raw.strip().removesuffix(text).replace("<think>", "").replace("</think>", "").strip()
        return bool(marked or self._reasoned or (counted and counted.reasoning_tokens) or (self.cut and not text))

    def reply(self) -> ModelReply:
        """The whole, with our estimates where the server did not count."""
        given = self._usage or _Usage()
        cached = given.prompt_tokens_details.cached_tokens if given.prompt_tokens_details else self._cached
        counted = given.prompt_tokens, given.completion_tokens, cached
        if given.completion_tokens is None:
            counted = given.prompt_tokens, estimate.text_tokens(self.text) + self.thought_tokens, cached
        return estimate.reply(self.request, self.text, *counted, cut=self.cut)


def _formed(request: ModelRequest, mode: StructuredMode, came: _Came) -> bool | None:
    """Whether an answer is of the form that the server was to bring about in this mode; None if that cannot be told."""
    text = came.text
    if request.schema is None or mode is StructuredMode.PROMPT or not text:
        return None
    if came.cut or (came.over and repeats(text)):
        return None if text.startswith("{") else False
    if mode is StructuredMode.JSON_OBJECT and text.startswith("{"):
        return True
    return follows(text, request.schema.schema)


# ------------------------------------------------------------------------------------------------------ what they give


class _Part(msgspec.Struct):
    """A part of a content given as a list; parts of other types than text (reasoning) have no text here."""

    type: str = ""
    text: str | None = None


class _Message(msgspec.Struct):
    """A message, or the next piece of one. Reasoning has one of two fields of its own, by server."""

    content: str | list[_Part] | None = None
    refusal: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    delta: _Message | None = None
    finish_reason: str | None = None


class _Cached(msgspec.Struct):
    cached_tokens: int | None = None


class _Reasoned(msgspec.Struct):
    reasoning_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Cached | None = None
    completion_tokens_details: _Reasoned | None = None


class _Timings(msgspec.Struct):
    """What llama.cpp's server counts beside `usage`, where older ones tell nothing of their cache."""

    cache_n: int | None = None


class _Body(msgspec.Struct):
    """A chat completion, or a chunk of one."""

    choices: list[_Choice] = []
    usage: _Usage | None = None
    timings: _Timings | None = None
    error: Any = None


def _text(content: str | list[_Part] | None) -> str:
    if isinstance(content, list):
        return "".join(part.text or "" for part in content if part.type == "text")
    return content or ""
