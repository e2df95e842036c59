"""How text of others is put before a language model: on one line, between marks that it cannot forge.

All of it is deterministic: the same text makes the same request.
"""

from __future__ import annotations

import hashlib
import re

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_UNSEEN = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ue000-\uf8ff\U000e0000-\U000e007f]"
)
_NONCE_LETTERS = 8


def one_line(text: str, limit: int) -> str:
    """At most `limit` characters of a text on one line, without characters that control or cannot be seen.

    Of a longer text the beginning and the end are kept.
    """
    room = 4 * limit + 64
    if len(text) > room:
        text = f"{text[: room // 2]} … {text[-room // 2 :]}"
    text = " ".join(_UNSEEN.sub("", _CONTROL.sub(" ", text)).split())
    if len(text) <= limit:
        return text
    head, tail = limit - limit // 4, max(0, limit // 4 - 3)
    return f"{text[:head]} … {text[len(text) - tail :]}"[:limit] if limit > 20 else text[:limit]


def seen(text: str) -> str:
    """The text without characters that control or cannot be seen; its line breaks (\\n) stay."""
    return "\n".join(_UNSEEN.sub("", _CONTROL.sub(" ", line)) for line in text.split("\n"))


def nonce(content: str) -> str:
    """A word that stands nowhere in the content, and follows from it."""
    for turn in range(1_000_000):
        digest = hashlib.blake2b(f"{turn}:".encode() + content.encode(), digest_size=_NONCE_LETTERS).digest()
        word = "".join(chr(ord("a") + byte % 26) for byte in digest)
        if word not in content.lower():
            return word
    raise AssertionError("every word stands in the text")  # pragma: no cover: the text would be longer than any may be


def enclosed(content: str) -> str:
    """The content between two marks with the same odd word, which a prompt says is data and nothing else."""
    word = nonce(content)
    return f"<<{word}\n{content}\n{word}>>"
