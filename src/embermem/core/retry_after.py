"""How long a server asks to wait (RFC 9110, §10.2.3)."""

from __future__ import annotations

import email.utils
from typing import Protocol


class Headers(Protocol):
    """The headers of a reply, in whatever a library keeps them."""

    def get(self, name: str, default: str, /) -> str:
        """The value of a header."""


def retry_after_s(headers: Headers) -> float | None:
    """Seconds to wait, from Retry-After: a number, or a date read against the reply's own Date. None: not said."""
    asked = headers.get("Retry-After", "").strip()
    try:
        wait = float(asked)
    except ValueError:
        try:
            until = email.utils.parsedate_to_datetime(asked)
            wait = (until - email.utils.parsedate_to_datetime(headers.get("Date", ""))).total_seconds()
        except (ValueError, TypeError):
            return None
    return wait if 0 <= wait < float("inf") else None  # NaN is not ≥ 0
