"""What Ember itself put into a prompt is known again by its markers, and taken out of whatever comes in.

    <ember-memory 5d3c…-91f0…>
    2026-05-02 Sat:
    #12 alice: I moved to Lyon.
    </ember-memory 5d3c…-91f0…>

Both markers of a block hold the same nonce: chance, and a code of it (HMAC) by a key that only the store has. So nobody
who has not been shown a block of this store can write one: a text with a made-up marker is kept as it is.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections import defaultdict, deque

__all__ = ["MARK", "new_key", "strip", "strip_cut", "wrap"]

MARK = "ember-memory "
"""Stands in every marker: a text without it holds no block."""

_KEY_BYTES, _CHANCE_BYTES, _CODE_HEX = 32, 8, 24

_CHANCE = rf"[0-9a-f]{{{2 * _CHANCE_BYTES}}}"
_MARKER = re.compile(rf"<(/?){MARK}({_CHANCE})-([0-9a-f]{{{_CODE_HEX}}})>")
_CUT = re.compile(rf"</?{MARK}(?:[0-9a-f]{{0,{2 * _CHANCE_BYTES}}}|({_CHANCE})-([0-9a-f]{{0,{_CODE_HEX}}}))\Z")
"""The beginning of a marker, at the end of a text."""


def new_key() -> bytes:
    """A key for a store, by chance."""
    return secrets.token_bytes(_KEY_BYTES)


def wrap(text: str, key: bytes, *, steady: bool = False) -> str:
    """The text between two markers with a nonce of its own, each on its line.

    With `steady` the same text gets the same nonce, so that a prompt that is sent again is the same prompt. The key is
    in it: nobody can write the nonce of a block into what will stand in that block.
    """
    drawn = hmac.digest(key, b"steady\0" + text.encode("utf-8", "surrogatepass"), hashlib.sha256) if steady else b""
    chance = drawn[:_CHANCE_BYTES].hex() or secrets.token_hex(_CHANCE_BYTES)
    nonce = f"{MARK}{chance}-{_code(chance, key)}"
    return f"<{nonce}>\n{text}\n</{nonce}>"


def strip(text: str, key: bytes) -> str:
    """The text without the blocks that `wrap` made with this key; all else stays as it is, to the character.

    A block ends at the next closing marker of its nonce, whatever stands between. A marker without its other one goes
    alone: what follows may be anyone's. Time is linear in the length.
    """
    if MARK not in text:
        return text
    markers = [found for found in _MARKER.finditer(text) if hmac.compare_digest(found[3], _code(found[2], key))]
    ends: dict[str, deque[int]] = defaultdict(deque)
    for found in markers:
        if found[1]:
            ends[found[2]].append(found.end())
    kept, upto = [], 0
    for found in markers:
        closing = ends[found[2]]
        while closing and closing[0] <= max(found.start(), upto):
            closing.popleft()
        if found.start() < upto:
            continue  # inside a block that has gone
        kept.append(text[upto : found.start()])
        upto = closing[0] if closing and not found[1] else found.end()
    return "".join((*kept, text[upto:]))


def strip_cut(text: str, key: bytes) -> str:
    """The text without the beginning of a marker at its end, where a model's limit cut a reply in which it repeats a
    block. One whose code does not begin as this key's does stays, and so does one that ends before its nonce."""
    found = _CUT.search(text, text.rfind("<")) if MARK in text else None
    if found is None or not _code(found[1] or "", key).startswith(found[2] or ""):
        return text
    return text[: found.start()]


def _code(chance: str, key: bytes) -> str:
    return hmac.digest(key, chance.encode(), hashlib.sha256).hex()[:_CODE_HEX]
