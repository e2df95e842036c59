"""What of a log is no array."""

from __future__ import annotations

import msgspec

__all__ = ["Names"]


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """What of a log is no array: names by their numbers, and ids that were not made by Ember."""

    speakers: list[str]
    threads: list[str]
    odd_ids: dict[int, str]
    odd_pages: dict[int, str]
