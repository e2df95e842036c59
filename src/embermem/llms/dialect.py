"""What a server takes of the format of requests, for one model, and how a request is written in it.

A dialect begins with what OpenAI documents, and steps down where a server refuses a part, or where its answers show
that it pays no heed: a server that is given a schema and answers in another form, a model that thinks though it was
asked not to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from embermem.core.types import Role
from embermem.llms.structured import shown
from embermem.protocols import ChatMessage, ModelRequest, StructuredMode

__all__ = ["THINKING_TOKENS", "Dialect", "after_refusal", "after_reply", "body", "with_form"]

THINKING_TOKENS = 4000
"""Most tokens of reasoning, where it cannot be turned off: beside the answer's own."""

# Answers in another form that show that a server does not keep to the format it takes.
_STRIKES = 2

Thinking = Literal["template", "effort", "free"]
_LOWER: Mapping[StructuredMode, StructuredMode] = {
    StructuredMode.JSON_SCHEMA: StructuredMode.JSON_OBJECT,
    StructuredMode.JSON_OBJECT: StructuredMode.PROMPT,
}
_NEXT: Mapping[Thinking, Thinking] = {"template": "effort", "effort": "free"}
_OFF: Mapping[Thinking, Mapping[str, Any]] = {
    "template": {"extra_body": {"chat_template_kwargs": {"enable_thinking": False}}},  # llama.cpp, vLLM, SGLang
    "effort": {"reasoning_effort": "none"},  # Ollama, LM Studio
    "free": {},
}
"""Arguments of the package `openai`."""
_KEYS: Mapping[Thinking, tuple[str, ...]] = {
    "template": ("chat_template_kwargs", "enable_thinking"),
    "effort": ("reasoning_effort",),
    "free": (),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialect:
    """What a server takes. Each field steps on when the server refuses what it is, or pays no heed to it."""

    mode: StructuredMode = StructuredMode.JSON_SCHEMA
    strikes: int = 0
    """Answers that were not of the form that `mode` is to bring about. After the first the prompt says the form too."""
    limit_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    stream_usage: bool = True
    thinking: Thinking = "free"
    """How a structured question turns reasoning off; "free": it does not."""
    thinks: bool = False
    """Whether the model was seen to reason, so that its answers need room for that."""
    narrow: bool = False
    """Whether a schema may hold the ids of a question and most lengths."""
    context: int | None = None
    """Tokens of prompt and answer together, as a refusal told them."""


def body(model: str, request: ModelRequest, dialect: Dialect, limit: int) -> dict[str, Any]:
    """A request for a streamed answer of at most `limit` tokens, reasoning among them: arguments of `openai`."""
    messages = request.messages
    if request.schema is not None and (dialect.mode is not StructuredMode.JSON_SCHEMA or dialect.strikes):
        messages = with_form(request)
    made: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role.value, "content": message.text} for message in messages],
        dialect.limit_key: limit,
        "stream": True,
    }
    if dialect.stream_usage:
        made["stream_options"] = {"include_usage": True}
    if request.temperature is not None and dialect.temperature:
        made["temperature"] = request.temperature
    if request.schema is None:
        return made
    if dialect.mode is StructuredMode.JSON_SCHEMA:
        schema = (request.schema.narrow if dialect.narrow else None) or request.schema.schema
        named = {"name": request.schema.name, "strict": True, "schema": dict(schema)}
        made["response_format"] = {"type": "json_schema", "json_schema": named}
    elif dialect.mode is StructuredMode.JSON_OBJECT:
        made["response_format"] = {"type": "json_object"}
    return {**made, **_OFF[dialect.thinking]}


def with_form(request: ModelRequest) -> tuple[ChatMessage, ...]:
    """The messages of a request with the form of its answer in words, for servers that have no grammar.

    An example stands at the end of the last message, as it holds the ids of this question; small models fill it in
    where they would copy a schema. Without one the schema is put at the end of the first system message, so that the
    beginning of the prompt stays the same and caches keep it; where there is none, at the end of the last message.
    """
    if request.schema is None:
        return request.messages
    if request.schema.example:
        words = (
            f"Answer with one JSON object and nothing else, filled in like this one:\n{request.schema.example}\nAnswer:"
        )
        return _added(request.messages, len(request.messages) - 1, words)
    words = (
        "Answer with one JSON object and nothing else. It follows this JSON schema, with every key:\n"
        f"{shown(request.schema)}"
    )
    roles = [message.role for message in request.messages]
    return _added(request.messages, roles.index(Role.SYSTEM) if Role.SYSTEM in roles else len(roles) - 1, words)


def _added(messages: tuple[ChatMessage, ...], at: int, words: str) -> tuple[ChatMessage, ...]:
    changed = replace(messages[at], text=f"{messages[at].text}\n\n{words}")
    return (*messages[:at], changed, *messages[at + 1 :])


# ---------------------------------------------------------------------------------------------- what servers will take


_FORMAT_WORDS = ("response_format", "json_schema", "json_object", "structured output", "guided", "grammar", "schema")
_UNKNOWN_WORDS = (
    "unsupported", "not support", "unknown", "unrecognized", "unexpected", "not permitted", "not allowed",
    "extra inputs", "extra_forbidden", "unavailable", "does not", "instead", "deprecated", "only the default",
)  # fmt: skip
_SIZE_WORDS = ("too large", "maximum", "context length", "exceed")


def after_refusal(dialect: Dialect, request: ModelRequest, status: int, said: str) -> Dialect | None:
    """The dialect to try after a refusal in the words `said`; None if it is about something else."""
    if status not in (400, 422):
        return None
    said = said.lower()
    unknown = any(word in said for word in _UNKNOWN_WORDS)
    if dialect.stream_usage and ("stream_options" in said or "include_usage" in said):
        return replace(dialect, stream_usage=False)
    if unknown and dialect.limit_key == "max_tokens" and "max_tokens" in said and not _about_size(said):
        # Only models that reason out of sight ask for the other key.
        return replace(dialect, limit_key="max_completion_tokens", thinks=True)
    if unknown and dialect.temperature and request.temperature is not None and "temperature" in said:
        return replace(dialect, temperature=False)
    if request.schema is None:
        return None
    if any(key in said for key in _KEYS[dialect.thinking]):
        return replace(dialect, thinking=_NEXT[dialect.thinking])
    lower = _LOWER.get(dialect.mode)
    if lower and (unknown or any(word in said for word in _FORMAT_WORDS)):
        narrow = dialect.narrow and request.schema.narrow not in (None, request.schema.schema)
        if narrow and dialect.mode is StructuredMode.JSON_SCHEMA:
            return replace(dialect, narrow=False)
        return replace(dialect, mode=lower, strikes=0)
    return replace(dialect, thinking="free") if unknown and dialect.thinking != "free" else None


def _about_size(said: str) -> bool:
    return any(word in said for word in _SIZE_WORDS)


def after_reply(dialect: Dialect, *, structured: bool, formed: bool | None, thought: bool) -> Dialect:
    """The dialect after an answer. `formed` says whether it is of the form that the server was to bring about, None
    where that cannot be told; `thought` whether the model reasoned."""
    if thought:
        dialect = replace(dialect, thinks=True)
        if structured and dialect.thinking != "free":
            dialect = replace(dialect, thinking=_NEXT[dialect.thinking])
    lower = _LOWER.get(dialect.mode)
    if formed is not False or lower is None:
        return dialect
    strikes = dialect.strikes + 1
    return replace(dialect, mode=lower, strikes=0) if strikes >= _STRIKES else replace(dialect, strikes=strikes)
