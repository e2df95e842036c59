"""How many tokens a text may be, where the server did not count. The counter `approx` is finer; this one is for ledgers
and limits: a Chinese, Japanese or Korean character is 1 token, 4 other characters are 1, rounded up."""

from __future__ import annotations

import json

from embermem.languages.words import wide
from embermem.protocols import ModelReply, ModelRequest

__all__ = ["completion_tokens", "prompt_tokens", "reply", "text_tokens"]

_CHARS_A_TOKEN = 4
_MESSAGE_TOKENS = 4  # a chat template's marks around one message


def text_tokens(text: str) -> int:
    """Tokens of one text."""
    signs = wide(text)
    return signs - (signs - len(text)) // _CHARS_A_TOKEN


def prompt_tokens(request: ModelRequest) -> int:
    """Tokens of a request: its messages and its schema."""
    tokens = sum(text_tokens(message.text) + _MESSAGE_TOKENS for message in request.messages)
    if request.schema is not None:
        tokens += text_tokens(json.dumps(request.schema.schema, ensure_ascii=False))
    return tokens


def reply(
    request: ModelRequest, text: str, prompt: int | None, completion: int | None, cached: int | None, *, cut: bool
) -> ModelReply:
    """A reply, with estimates where the server did not count (None)."""
    return ModelReply(
        text=text,
        prompt_tokens=prompt_tokens(request) if prompt is None else prompt,
        completion_tokens=text_tokens(text) if completion is None else completion,
        cached_tokens=cached or 0,
        cut=cut,
    )


def completion_tokens(reply: ModelReply) -> int:
    """Tokens of an answer's text."""
    return text_tokens(reply.text)
