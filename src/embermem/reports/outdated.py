"""Pages that were read without today's trained reader, in a sentence: how many, by whom, and what reads them again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from embermem.core.types import Outdated

__all__ = ["sentence"]


def sentence(outdated: Iterable[Iterable[Outdated]]) -> str:
    """What is outdated of some owners; empty if nothing is."""
    pages: Counter[str] = Counter()
    reader = ""
    for one in (one for mine in outdated for one in mine):
        pages[one.analyst] += one.pages
        reader = one.reader
    if not pages:
        return ""
    if not reader:
        return (
            f"{_count(pages.total())} read by rules alone, without the trained reader: run `embermem model install`, "
            "then `embermem rebuild --outdated` to read them again"
        )
    by = ", ".join(f"{count} by {name}" for name, count in sorted(pages.items()))
    return (
        f"{_count(pages.total())} read without the present trained reader, {reader} ({by}): "
        "run `embermem rebuild --outdated` to read them again"
    )


def _count(pages: int) -> str:
    return "1 page was" if pages == 1 else f"{pages} pages were"
