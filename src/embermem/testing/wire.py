"""OpenAI's wire format of chat completions, as the scripted server reads and writes it. Pure functions.

A request is the parsed JSON body, a dict. Sizes are tokens of the counter `approx` (index/tokens.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from embermem.index.tokens import counter

__all__ = [
    "Call",
    "Completion",
    "Request",
    "body",
    "error",
    "events",
    "models",
    "problem",
    "prompt_texts",
    "prompt_tokens",
    "schema_of",
]

Request = dict[str, Any]
"""A parsed body of POST /v1/chat/completions."""

PIECE_CHARS: Final = 5
"""A stream's pieces are this long, so that words, tags and JSON strings are cut anywhere."""

_TOKENS = counter("approx")
_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool"})
_FORMATS: Final = frozenset({"text", "json_object", "json_schema"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A call of a tool, as an answer: its name, and its arguments as JSON text."""

    name: str
    arguments: str = "{}"

    def body(self, number: int) -> dict[str, Any]:
        """As a message holds it."""
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": f"call-{number}", "type": "function", "function": function}


@dataclass(frozen=True, kw_only=True, slots=True)
class Completion:
    """An answer before it is put on the wire. `choices` False: the reply has none. A `call` takes the text's place.
    `reasoning` comes before the text, in a field of its own."""

    text: str | None
    finish: Literal["stop", "length", "tool_calls"] = "stop"
    choices: bool = True
    call: Call | None = None
    reasoning: str = ""

    @property
    def tokens(self) -> int:
        """The size of the text and the reasoning."""
        return _TOKENS.count(self.text or "") + _TOKENS.count(self.reasoning) if self.choices else 0


def problem(request: object) -> str | None:
    """Why OpenAI's server would refuse this body, or None.

    Checked are the messages, the form of `response_format`, a strict schema's two rules (every object closed, every
    property required), and that a request for `json_object` says "JSON" in a message.
    """
    if not isinstance(request, dict):
        return "the body must be a JSON object"
    if not isinstance(request.get("model"), str) or not request["model"]:
        return "you must provide a model parameter"
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages must be a list that is not empty"
    for n, message in enumerate(messages):
        if not isinstance(message, dict) or message.get("role") not in _ROLES:
            return f"messages[{n}].role must be one of: {', '.join(sorted(_ROLES))}"
        if not isinstance(message.get("content"), (str, list)) and message["role"] != "assistant":
            return f"messages[{n}].content must be a text or a list of parts"
    return _format_problem(request)


def schema_of(request: Request) -> dict[str, Any] | None:
    """The JSON schema that the answer is to follow, or None."""
    named = (request.get("response_format") or {}).get("json_schema") or {}
    schema = named.get("schema")
    return schema if isinstance(schema, dict) else None


def message_texts(request: Request) -> list[str]:
    """The text of its messages."""
    return [text for message in request["messages"] for text in texts_of(message)]


def prompt_texts(request: Request) -> list[str]:
    """All text that the client sent: its messages, and what `response_format` and `tools` hold, as JSON."""
    texts = message_texts(request)
    form = request.get("response_format")
    held = (form.get("json_schema") if isinstance(form, dict) else None, request.get("tools"))
    return texts + [json.dumps(one, ensure_ascii=False) for one in held if one]


def prompt_tokens(request: Request) -> int:
    """The size of all text that the client sent."""
    return sum(map(_TOKENS.count, prompt_texts(request)))


def body(completion: Completion, request: Request, number: int) -> dict[str, Any]:
    """The whole reply, for a request that does not stream. `number` tells replies apart."""
    message: dict[str, Any] = {"role": "assistant", "content": completion.text, "refusal": None}
    if completion.reasoning:
        message["reasoning_content"] = completion.reasoning
    if completion.call is not None:
        message["tool_calls"] = [completion.call.body(number)]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": completion.finish}
    return {
        **_head(request, number, "chat.completion"),
        "choices": [choice] if completion.choices else [],
        "usage": _usage(completion, request),
    }


def events(completion: Completion, request: Request, number: int) -> Iterator[dict[str, Any]]:
    """The reply as the events of a stream; the last has the usage, if the client asked for it."""
    head = _head(request, number, "chat.completion.chunk")
    text = completion.text
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": None if text is None else ""}]
    deltas += [{"reasoning_content": one} for one in completion.reasoning.split(" ") if completion.reasoning]
    deltas += [{"content": (text or "")[at : at + PIECE_CHARS]} for at in range(0, len(text or ""), PIECE_CHARS)]
    if completion.call is not None:
        whole = completion.call.body(number)
        name, rest = whole["function"]["name"], whole["function"]["arguments"]
        deltas.append({"tool_calls": [{"index": 0, **whole, "function": {"name": name, "arguments": ""}}]})
        pieces = (rest[at : at + PIECE_CHARS] for at in range(0, len(rest), PIECE_CHARS))
        deltas += [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces]
    ends: list[str | None] = [None] * len(deltas) + [completion.finish]
    for delta, finish in zip([*deltas, {}], ends, strict=True):
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        yield {**head, "choices": [choice] if completion.choices else []}
    if (request.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": _usage(completion, request)}


def error(message: str, kind: str, code: str | None, param: str | None = None) -> dict[str, Any]:
    """The body of a refusal."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def models(names: Sequence[str]) -> dict[str, Any]:
    """The reply of GET /v1/models."""
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": 0, "owned_by": "embermem"} for name in names],
    }


def _head(request: Request, number: int, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 0, "model": request["model"]}


def _usage(completion: Completion, request: Request) -> dict[str, Any]:
    asked, answered = prompt_tokens(request), completion.tokens
    return {
        "prompt_tokens": asked,
        "completion_tokens": answered,
        "total_tokens": asked + answered,
        "prompt_tokens_details": {"cached_tokens": 0},
    }


def texts_of(message: dict[str, Any]) -> Iterator[str]:
    content = message.get("content")
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        yield from (str(part["text"]) for part in content if isinstance(part, dict) and "text" in part)


def _format_problem(request: Request) -> str | None:
    asked = request.get("response_format")
    if asked is None:
        return None
    if not isinstance(asked, dict) or asked.get("type") not in _FORMATS:
        return f"response_format.type must be one of: {', '.join(sorted(_FORMATS))}"
    if asked["type"] == "json_object":
        said = any("json" in text.lower() for message in request["messages"] for text in texts_of(message))
        return None if said else "messages must contain the word 'json' to use response_format of type json_object"
    if asked["type"] == "json_schema":
        named = asked.get("json_schema")
        if not isinstance(named, dict) or not isinstance(named.get("name"), str):
            return "response_format.json_schema.name is missing"
        if not isinstance(named.get("schema"), dict):
            return "response_format.json_schema.schema is missing"
        if named.get("strict"):
            if named["schema"].get("type") != "object":
                return "a strict schema must be of type object at its root"
            return _loose(named["schema"], "schema")
    return None


def _loose(schema: object, where: str) -> str | None:
    """Where a strict schema is not strict, or None."""
    if not isinstance(schema, dict):
        return None
    if schema.get("type") == "object" or "properties" in schema:
        if schema.get("additionalProperties") is not False:
            return f"{where}: additionalProperties must be false in a strict schema"
        if set(schema.get("required", ())) != set(schema.get("properties", ())):
            return f"{where}: required must name every property in a strict schema"
    below = [(f"{where}.items", schema.get("items"))]
    for key in ("properties", "$defs", "definitions"):
        below += [(f"{where}.{key}.{name}", one) for name, one in schema.get(key, {}).items()]
    for key in ("anyOf", "prefixItems"):
        below += [(f"{where}.{key}[{n}]", one) for n, one in enumerate(schema.get(key, ()))]
    return next((found for place, one in below if (found := _loose(one, place)) is not None), None)
