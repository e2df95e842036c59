"""What a server's refusal means, in our words, since its own may hold what a user said, or a key. Its own go to the log
alone, without either."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping

from embermem import languages
from embermem.core import sensitive
from embermem.core.errors import ModelBusy, ModelError, ModelRefused, ModelTimeout, ModelTooLong, ModelUnreachable
from embermem.core.retry_after import Headers, retry_after_s
from embermem.languages.words import terms
from embermem.protocols import ModelRequest

__all__ = ["is_too_long", "log_words", "prompt_and_context", "refusal", "too_long"]

logger = logging.getLogger(__name__)

LOGGED_CHARS = 200
"""Characters of a server's own words in the log."""
_READ_CHARS = 4_000
"""Characters of them that are looked at."""
_KEY_CHARS = 6
"""So many characters of a key in a row are not logged either: servers show how a key begins."""
_LEFT_OUT = "…"

_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|exceeds? the (?:available |maximum |model's )?context"
    r"|context (?:length|size|window)|maximum context|(?:prompt|input|request) (?:is )?too long|input length exceeds",
    re.IGNORECASE,
)
_NUMBER = r"(?:(?! by )[^\d\n]){0,40}?(\d{3,8})"
# llama.cpp; OpenAI and vLLM; LM Studio and others.
_CONTEXT = tuple(
    re.compile(words + _NUMBER, re.IGNORECASE)
    for words in ("n_ctx", "maximum context length", "context (?:length|size|window)")
)
_PROMPT = tuple(
    re.compile(words, re.IGNORECASE)
    for words in (
        r"n_prompt_tokens\D{0,5}(\d+)",
        r"request \((\d+) tokens\)",
        r"has (\d+) input tokens",
        r"\((\d+) in the",
    )
)
_REASONS = {
    "invalid_api_key": "the key is wrong; see model_key",
    "model_not_found": "it has no model of that name; see `model`",
}
_STATUSES = {
    401: "the key is missing or wrong; see model_key",
    402: "the account has no credit left",
    403: "the key may not use this model",
    404: "it has no model of that name, or nothing stands at this address; see `model` and model_url",
}


def is_too_long(status: int, said: str) -> bool:
    """Whether the request does not fit the server's context."""
    return status == 413 or (400 <= status <= 500 and _TOO_LONG.search(said) is not None)


def prompt_and_context(said: str) -> tuple[int | None, int | None]:
    """Tokens of the prompt and of the server's context, as far as a refusal names them."""
    return _first(_PROMPT, said), _first(_CONTEXT, said)


def _first(patterns: tuple[re.Pattern[str], ...], said: str) -> int | None:
    found = next((match for pattern in patterns if (match := pattern.search(said))), None)
    return int(found[1]) if found else None


def refusal(who: str, status: int, code: str | None, said: str, headers: Headers) -> ModelError:
    """The error for an HTTP status that is none of success. `said` is the server's own text, which is not repeated."""
    told = f"{who} (HTTP {status})"
    if status == 429 and code == "insufficient_quota":
        return ModelRefused(f"{told}: the account has no credit left")
    if status == 429:
        return ModelBusy(f"{told} asks to wait", retry_after_s(headers))
    if status == 408:
        return ModelTimeout(f"{told} gave up waiting")
    if is_too_long(status, said):
        return too_long(told, prompt_and_context(said)[1])
    if status >= 500:
        return ModelUnreachable(f"{told} failed", status)
    if status < 400:
        return ModelRefused(
            f"{told} redirects to another address; redirects are not followed, set model_url to that address"
        )
    return ModelRefused(f"{told} refuses: {_REASONS.get(code or '') or _STATUSES.get(status, 'the request')}")


def log_words(who: str, body: object, request: ModelRequest, key: str | None) -> None:
    """Log what a server said of its failure, for the operator: in one line of at most LOGGED_CHARS characters, without
    each word that the request has too (but for words such as "the"), and without what may be a key or another secret.
    """
    words = " ".join(_without_key(_words_of(body)[:_READ_CHARS], key or ""))
    finder = sensitive.secrets(languages.secret_words())
    words = sensitive.redacted([words], [finder], ["the words of a server"])[0].text
    asked = {term for message in request.messages for term in terms(message.text)}
    kept = " ".join(_LEFT_OUT if asked.intersection(terms(word)) else word for word in words.split())
    if kept:
        logger.warning("%s says: %s", who, kept[:LOGGED_CHARS])


def _words_of(body: object) -> str:
    """The message in a body, where it has one; else the body."""
    for name in ("error", "message"):
        body = body.get(name) or body if isinstance(body, Mapping) else body
    return "" if body is None else str(body)


def _without_key(text: str, key: str) -> Iterator[str]:
    """The words of a text that can be printed and hold no part of the key, nor one whose middle is masked."""
    shown = "".join(one if one.isprintable() else " " for one in text)
    parts = {key[at : at + _KEY_CHARS] for at in range(max(1, len(key) - _KEY_CHARS + 1))} - {""}
    for word in shown.split():
        yield _LEFT_OUT if "**" in word or any(part in word for part in parts) else word


def too_long(who: str, context: int | None) -> ModelTooLong:
    """The error for a prompt that does not fit."""
    of = f" of {context} tokens" if context else ""
    return ModelTooLong(f"{who} refuses: the request is too long for its context{of}")
