"""What the tests of the languages of Europe share."""

from __future__ import annotations

from datetime import UTC, datetime

from embermem.analysts.screening import screen
from embermem.languages import named
from embermem.languages.dates.engine import date_spans

SAID = datetime(2026, 11, 21, 9, tzinfo=UTC)
"""A Saturday."""


def told(code: str, text: str) -> list[str]:
    """What a message says of its speaker: "name: Ana", "sœur Ana lives_in: Lyon"; "-" before what is no longer so."""
    screened = screen(text)
    found = [] if screened is None else [*named(code).facts(screened, SAID), *named(code).instructions(screened, SAID)]
    return [
        f"{'' if one.subject == 'user' else one.subject + ' '}{'-' * one.retracts}{one.attribute}: {one.value}".strip()
        for one in found
        if not (one.retracts and one.attribute in ("likes", "dislikes"))
    ]


def rows(table: str) -> list[tuple[str, list[str]]]:
    """The rows of a table: a message, and behind ` | ` what it says, parted by `; `."""
    split = (line.split(" | ") for line in table.strip().splitlines())
    return [(text.strip(), [one.strip() for one in more[0].split(";")] if more else []) for text, *more in split]


def dated(text: str) -> str:
    """The dates of a text: "2026-11-20", "2026-11-09..2026-11-15"."""
    spans = date_spans(text, SAID)
    return " ".join(f"{one.first}" if one.first == one.last else f"{one.first}..{one.last}" for one in spans)
