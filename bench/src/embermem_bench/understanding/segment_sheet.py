"""Segments for a person to judge: a sheet in CSV with a column `accept`, written with segments drawn at random and read
back.

A segment is accepted if a person would let its title and its summary stand for the lines said in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from embermem.core.types import Page, Segment
from embermem_bench.understanding import sheet

LINES, LINE = 12, 200
"""How many of a segment's lines are shown, spread over it, and how many characters of each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SegmentRow:
    """One line of the sheet. `accept` is for the reader: y or n."""

    accept: str
    title: str
    keywords: str
    summary: str
    pages: int
    lines: str
    conversation: str
    segment: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Accepted:
    """How many segments of a sheet were judged, and how many were accepted."""

    judged: int
    accepted: int
    not_judged: int


def rows_of(conversation: str, segments: Iterable[Segment], pages: Mapping[str, Page]) -> list[SegmentRow]:
    """A line for each segment of a conversation."""
    return [
        SegmentRow(
            accept="",
            title=segment.title,
            keywords=", ".join(segment.keywords),
            summary=segment.summary,
            pages=len(segment.page_ids),
            lines="\n".join(_sample([line for one in segment.page_ids if one in pages for line in _lines(pages[one])])),
            conversation=conversation,
            segment=segment.id,
        )
        for segment in segments
    ]


def judged(file: Path) -> Accepted:
    """Count the judgements of a sheet. Raises InputError."""
    verdicts = [verdict for _, verdict in sheet.verdicts(file, "accept", "title")]
    given = [verdict for verdict in verdicts if verdict is not None]
    return Accepted(judged=len(given), accepted=sum(given), not_judged=len(verdicts) - len(given))


def is_one(file: Path) -> bool:
    """Whether a file is a sheet of segments. Raises InputError."""
    return {"accept", "title"} <= sheet.columns(file)


def _lines(page: Page) -> list[str]:
    said = ((u.said_at.date(), u.speaker, " ".join(u.text.split())) for u in page.utterances)
    return [f"{day} {who}: {text[:LINE]}{'…' if len(text) > LINE else ''}" for day, who, text in said]


def _sample(lines: list[str]) -> list[str]:
    """Some of the lines, evenly spread from first to last."""
    if len(lines) <= LINES:
        return lines
    return [lines[round(place * (len(lines) - 1) / (LINES - 1))] for place in range(LINES)]
