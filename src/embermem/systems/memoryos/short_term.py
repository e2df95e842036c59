"""Short-term memory: the newest pages, first in, first out (paper §3.2)."""

from __future__ import annotations

from collections.abc import Sequence

from embermem.types import Page


def split(pages: Sequence[Page], capacity: int) -> tuple[tuple[Page, ...], tuple[Page, ...]]:
    """(those that left, the newest `capacity`), by page number alone."""
    ordered = sorted(pages, key=lambda page: page.no)
    cut = max(0, len(ordered) - capacity)
    return tuple(ordered[:cut]), tuple(ordered[cut:])
