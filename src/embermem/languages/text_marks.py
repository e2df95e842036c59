"""The keyed hashes by which a text is known again that was forgotten.

They are independent of how it is sent again: of case and spaces, of the zone of a time that came without one, and of
whether the setting `redact` takes out its secrets.
"""

from __future__ import annotations

import hashlib
import hmac
from datetime import UTC, datetime
from functools import lru_cache

from embermem.core.sensitive import redacted, secrets
from embermem.core.text import fold
from embermem.languages.registry import secret_words

__all__ = ["mark_of_text", "marks_of_message"]

_MARK_HEX = 40


def mark_of_text(key: bytes, text: str) -> str:
    """The keyed hash (HMAC-SHA-256) of words."""
    return _mark(key, "text", text)


def marks_of_message(key: bytes, role: str, text: str, said_at: datetime) -> frozenset[str]:
    """The keyed hashes of a message: who said what, at which moment and at which time on the speaker's clock. One of
    them is the same wherever the moment is the same, or the time as it was given."""
    times = {at.replace(tzinfo=None).isoformat() for at in (said_at, said_at.astimezone(UTC))}
    return frozenset(_mark(key, f"message {role} {time}", text) for time in times)


def _mark(key: bytes, kind: str, text: str) -> str:
    said = f"{kind}\n{_plain(text)}"
    return hmac.digest(key, said.encode(), hashlib.sha256).hex()[:_MARK_HEX]


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    (left,) = redacted([text], (secrets(secret_words()),), ["a text"])
    return " ".join(fold(left.text).split())
