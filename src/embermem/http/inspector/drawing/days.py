"""Where the bars of a chart by day stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

WIDE, HIGH = 600, 132
"""Of the chart, in its own units."""
_GAP = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class DayBar:
    """One day's bar; a day without anything has none, of the height 0."""

    day: date
    count: int
    x: float
    y: float
    w: float
    h: float


def bars(counts: Mapping[date, int], today: date, days: int) -> list[DayBar]:
    """The last days, today the last of them, scaled to the fullest of them."""
    most = max([1, *(count for day, count in counts.items() if day > today - timedelta(days=days))])
    wide = WIDE / days
    made = []
    for at in range(days):
        day = today - timedelta(days=days - 1 - at)
        count = counts.get(day, 0)
        high = 0.0 if not count else max(3.0, HIGH * count / most)
        made.append(DayBar(day=day, count=count, x=at * wide + _GAP / 2, y=HIGH - high, w=wide - _GAP, h=high))
    return made
