"""The ways in which a model's server fails, by name, and what each makes of a good answer. Pure functions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, repeat
from typing import Any, Final

from embermem.core.errors import InputError
from embermem.testing import wire
from embermem.testing.wire import Completion, Request

__all__ = ["KINDS", "SHAPES", "STATUSES", "Fault", "make", "overflow", "spoil"]

KINDS: Final[Mapping[str, frozenset[str]]] = {
    "slow": frozenset({"seconds"}),
    "hang": frozenset({"midway"}),
    "disconnect": frozenset({"before"}),
    "garbage": frozenset(),
    "http_400_format": frozenset({"json_object"}),
    "http_401": frozenset(),
    "http_429": frozenset({"retry_after"}),
    "http_500": frozenset(),
    "http_503": frozenset({"retry_after"}),
    "no_choices": frozenset(),
    "null": frozenset(),
    "empty": frozenset(),
    "truncated": frozenset(),
    "wrong_shape": frozenset({"variant"}),
    "schema_echo": frozenset(),
    "prose": frozenset({"around"}),
    "fence": frozenset(),
    "think": frozenset({"unclosed", "unopened", "field", "obeys"}),
    "error_text": frozenset(),
    "properties": frozenset(),
    "other_ids": frozenset(),
    "no_grammar": frozenset(),
    "endless": frozenset({"ignores_limit"}),
    "repeats": frozenset({"ignores_limit"}),
    "overflow": frozenset({"tokens"}),
    "trickle": frozenset({"seconds"}),
}
"""Every kind of fault, and the names of its details."""

STATUSES: Final[Mapping[str, tuple[int, dict[str, Any]]]] = {
    "http_401": (401, wire.error("Incorrect API key provided.", "invalid_request_error", "invalid_api_key")),
    "http_429": (429, wire.error("Rate limit reached.", "requests", "rate_limit_exceeded")),
    "http_500": (500, wire.error("The server had an error.", "server_error", None)),
    "http_503": (503, wire.error("The server is overloaded.", "server_error", None)),
    "http_400_format": (
        400,
        wire.error("This response_format is unavailable now.", "invalid_request_error", None, "response_format"),
    ),
}
"""The status and body of the faults that refuse a request."""

SHAPES: Final = ("list", "other", "null")
"""Valid JSON of a wrong shape: the answer twice in a list, an object with other keys, null in place of word lists."""

_FORMED: Final = ("json_schema", "json_object")
_FORM: Final = "one JSON object and nothing else"
"""What Ember's prompts say where they describe the form of the answer."""
_CHARS_A_TOKEN: Final = 4
_UNLIMITED_TOKENS: Final = 20_000
ERROR_TEXT: Final = "Error: Could not get response from LLM."
GARBAGE: Final = b"<html><head><title>502 Bad Gateway</title></head>"

_PROSE: Final = "I have read it all. They talk about many things, and I would say that it went well."
_THOUGHT: Final = 'Let me see. {"draft": true} is not it yet, so I look again.'


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One fault: its kind, and what was said of it."""

    kind: str
    detail: Mapping[str, Any] = field(default_factory=dict)

    def concerns(self, request: Request) -> bool:
        """Whether the request can meet it: a server that refuses a format does so only where that is asked for."""
        asked = (request.get("response_format") or {}).get("type")
        match self.kind:
            case "http_400_format":
                refused = {"json_schema", "json_object"} if self.detail.get("json_object") else {"json_schema"}
                return asked in refused
            case "no_grammar":
                return asked in _FORMED and not any(_FORM in text for text in wire.message_texts(request))
            case "overflow":
                return wire.prompt_tokens(request) > int(self.detail.get("tokens", 0))
            case "think" if self.detail.get("obeys"):
                off = (request.get("chat_template_kwargs") or {}).get("enable_thinking") is False
                return not off and request.get("reasoning_effort") != "none"
            case _:
                return True


def make(kind: str, detail: Mapping[str, Any]) -> Fault:
    """A fault. Raises InputError for a kind or a detail that there is not."""
    if kind not in KINDS:
        raise InputError(f"unknown fault {kind!r}; known: {', '.join(KINDS)}")
    if unknown := set(detail) - KINDS[kind]:
        raise InputError(f"{kind} has no {', '.join(sorted(unknown))}; it has: {', '.join(sorted(KINDS[kind])) or '-'}")
    if detail.get("variant", SHAPES[0]) not in SHAPES:
        raise InputError(f"no variant {detail['variant']!r}; known: {', '.join(SHAPES)}")
    return Fault(kind=kind, detail=dict(detail))


def spoil(fault: Fault | None, answer: Callable[[], str], request: Request, turn: int) -> Completion:
    """What is answered under this fault. `answer` gives the good answer and is asked only where some of it is shown.

    `turn` counts the wrong shapes given so far, so that they take turns.
    """
    detail = fault.detail if fault else {}
    match fault.kind if fault else "":
        case "no_choices":
            return Completion(text=None, choices=False)
        case "null":
            return Completion(text=None)
        case "empty":
            return Completion(text="")
        case "error_text":
            return Completion(text=ERROR_TEXT)
        case "schema_echo":
            return Completion(text=_json(wire.schema_of(request) or {"type": "object", "properties": {}}))
        case "prose":
            text = f"Sure! Here it is:\n\n{answer()}\n\nShall I go on?" if detail.get("around") else _PROSE
            return Completion(text=text)
        case "fence":
            return Completion(text=f"```json\n{answer()}\n```")
        case "think":
            return _thinking(detail, answer)
        case "truncated":
            text = answer()
            return Completion(text=text[: 2 * len(text) // 3], finish="length")
        case "properties":
            return Completion(text=f'{{"type": "object", "properties": {answer()}, "required": []}}')
        case "other_ids":
            return Completion(text=re.sub(r'("id": ?")', r"\1page ", answer()))
        case "no_grammar":
            return Completion(text=_PROSE)
        case "endless":
            begun = answer().rstrip("}] \n")
            parts = (f', {{"id": "more {n}", "summary": "They talk on, for the {n}th time."}}' for n in count(1))
            return _cut(detail, request, begun, parts)
        case "repeats":
            text = answer()
            return _cut(detail, request, text[: len(text) // 2], repeat("and they talk on, "))
        case "wrong_shape":
            return Completion(text=_misshapen(answer(), detail.get("variant") or SHAPES[turn % len(SHAPES)]))
        case _:
            return Completion(text=answer())


def overflow(fault: Fault, request: Request) -> dict[str, Any]:
    """The refusal of a prompt that does not fit the context, in the words of llama.cpp's server."""
    said = {
        "code": 400,
        "message": "the request exceeds the available context size. try increasing the context size",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": wire.prompt_tokens(request),
        "n_ctx": fault.detail.get("tokens", 0),
    }
    return {"error": said}


def _cut(detail: Mapping[str, Any], request: Request, begun: str, parts: Iterator[str]) -> Completion:
    """An answer that goes on until the limit of the request, or far beyond it."""
    asked = request.get("max_tokens") or request.get("max_completion_tokens") or _UNLIMITED_TOKENS
    chars = _CHARS_A_TOKEN * (_UNLIMITED_TOKENS if detail.get("ignores_limit") else asked)
    text = begun
    while len(text) < chars:
        text += next(parts)
    return Completion(text=text[:chars], finish="length")


def _thinking(detail: Mapping[str, Any], answer: Callable[[], str]) -> Completion:
    if detail.get("field"):
        return Completion(text=answer(), reasoning=_THOUGHT)
    if detail.get("unclosed"):
        return Completion(text=f"<think>\n{_THOUGHT}", finish="length")
    opening = "" if detail.get("unopened") else "<think>\n"
    return Completion(text=f"{opening}{_THOUGHT}\n</think>\n\n{answer()}")


def _misshapen(text: str, variant: str) -> str:
    try:
        good = json.loads(text)
    except ValueError:
        good = text
    match variant:
        case "list":
            return _json([good, good])
        case "other":
            return _json({"summaries": ["They talk about many things."], "status": "ok"})
        case _:
            nulled = _without_words(good)
            return _json(nulled if nulled != good else dict.fromkeys(good) if isinstance(good, dict) else None)


def _without_words(value: Any) -> Any:
    """The same with null for every list that holds no list and no object."""
    if isinstance(value, dict):
        return {key: _without_words(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_without_words(one) for one in value] if any(isinstance(one, (dict, list)) for one in value) else None
    return value


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
