"""Whether a date lies ahead or behind where its own words leave that open: a weekday alone, a date without a year.

What leads up to the date says it ("since May", "by Tuesday", "starting July 1"), then what follows it, then the tense
of its clause.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from embermem.core.patterns import regex
from embermem.languages.parts import NEVER

_NEVER = regex(NEVER)
_LEAD_CHARS = 48
_FOLLOW_CHARS = 24


@dataclass(frozen=True, kw_only=True, slots=True)
class Direction:
    """The words of a language that say whether a date lies ahead or behind.

    What ends in `_after` begins behind the date, the others end at it.
    """

    tense: Callable[[str, int, int], int]
    """Of the clause around text[start:end]: 1 for the future, -1 for the past, 0 where it says neither."""
    since: re.Pattern[str] = _NEVER
    """Behind, whatever the tense: "since"."""
    starts: re.Pattern[str] = _NEVER
    """Ahead, whatever the tense: "negotiated a cut starting July 1"."""
    limits: re.Pattern[str] = _NEVER
    """Ahead, unless the clause is in the past: "needs it by Tuesday", but "lived there until May"."""
    range: re.Pattern[str] = _NEVER
    """The other end of a range, before the date; then `limits` says nothing: "from Monday until Friday"."""
    range_after: re.Pattern[str] = _NEVER
    since_after: re.Pattern[str] = _NEVER
    limits_after: re.Pattern[str] = _NEVER


def side_of(words: Direction, text: str, start: int, end: int) -> int:
    """1 if the date text[start:end] lies ahead, -1 if it lies behind, 0 if nothing says so."""
    lead, after = (text, max(0, start - _LEAD_CHARS), start), (text, end, end + _FOLLOW_CHARS)
    if words.since.search(*lead) or words.since_after.match(*after):
        return -1
    if words.starts.search(*lead):
        return 1
    tense = words.tense(text, start, end)
    if tense < 0 or words.range.search(*lead) or words.range_after.match(*after):
        return tense
    return 1 if words.limits.search(*lead) or words.limits_after.match(*after) else tense
