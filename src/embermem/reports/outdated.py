"""Pages that were read without today's trained reader, in a sentence: how many, by whom, and what reads them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from embermem.core.types import Outdated

__all__ = ["COMMAND", "sentence"]

COMMAND = "embermem rebuild --outdated"
"""Reads them again."""


def sentence(outdated: Iterable[Iterable[Outdated]], reader: str) -> str:
    """What is outdated of some owners, with the reader in use (empty: none); empty if nothing is."""
    pages: Counter[str] = Counter()
    for one in (one for mine in outdated for one in mine):
        pages[one.analyst] += one.pages
    if not pages:
        return ""
    if not reader:
        return (
            f"{_count(pages.total())} read by rules alone, without the trained reader: run `embermem model install`, "
            f"then `{COMMAND}` to read them again"
        )
    by = ", ".join(f"{count} by {name}" for name, count in sorted(pages.items()))
    return (
        f"{_count(pages.total())} read without the present trained reader, {reader} ({by}): "
        f"run `{COMMAND}` to read them again"
    )


def _count(pages: int) -> str:
    return "1 page was" if pages == 1 else f"{pages} pages were"
