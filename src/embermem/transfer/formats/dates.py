"""Dates in numbers: the order of day, month and year is found from a whole file, or told."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from embermem.core.errors import InputError

ORDERS = ("dmy", "mdy", "ymd")

MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
"""Characters that are not seen: the direction of a text, and what a file may begin with."""
DATE = (
    rf"(?P<a>\d{{1,4}})[{MARKS}]*[./\-年년]\s?(?P<b>\d{{1,2}})[{MARKS}]*[./\-月월]\s?(?P<c>\d{{1,4}})"
    r"(?:日|일|\.|\sг\.)?"
)
_MORNING_HALF = (
    r"[Aa]\.?\s?[Mm]\b\.?|上午|凌晨|清晨|早上|午前|오전|ص\b|ق\.?\s?ظ\b\.?|π\.?\s?μ\b\.?|пр\.\s?об\.|SA\b|PG\b|ÖÖ\b"
)
_AFTERNOON_HALF = (
    r"[Pp]\.?\s?[Mm]\b\.?|下午|中午|傍晚|晚上|午後|오후|م\b|ب\.?\s?ظ\b\.?|μ\.?\s?μ\b\.?|сл\.\s?об\.|CH\b|PTG\b|ÖS\b"
)
HALF = f"{_MORNING_HALF}|{_AFTERNOON_HALF}"
TIME = (
    rf"(?:(?P<before>{HALF})\s?)?(?P<hour>\d{{1,2}})[:.](?P<minute>\d{{2}})(?:[:.](?P<second>\d{{2}}))?"
    rf"(?:\s?(?P<after>{HALF}))?(?:\sч\.)?"
)
_WRITTEN = re.compile(rf"{DATE}(?:,?\s+{TIME})?")
_AFTERNOON = re.compile(_AFTERNOON_HALF)
_SHORT_YEARS = 2000

Numbers = tuple[int, int, int]


@dataclass(slots=True)
class OrderFinder:
    """What the dates of a file show: an order is out where a number is too large for it, and unlikely where days would
    go back and forth."""

    largest: list[int] = field(default_factory=lambda: [0, 0])
    dotted: bool = False
    year_first: bool = False
    steps_back: dict[str, int] = field(default_factory=lambda: {"dmy": 0, "mdy": 0})
    _last: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    example: str = ""

    def see(self, written: str, numbers: Numbers) -> None:
        """Take one date into account."""
        a, b, c = numbers
        self.example = self.example or written
        self.year_first |= a > 31
        self.dotted |= "." in written
        self.largest = [max(self.largest[0], a), max(self.largest[1], b)]
        for order, day in (("dmy", (c, b, a)), ("mdy", (c, a, b))):
            if day < self._last.get(order, day):
                self.steps_back[order] += 1
            self._last[order] = day

    def order(self, told: str | None) -> str:
        """The order. Raises InputError where the dates do not show it, or contradict what was told."""
        first, second = self.largest
        possible = (
            ["ymd"] if self.year_first else [*(["dmy"] if second <= 12 else []), *(["mdy"] if first <= 12 else [])]
        )
        if told is not None:
            if told not in possible and not (told == "ymd" and second <= 12):
                raise InputError(f"the dates (such as {self.example}) cannot be in the order {told}; leave --dates out")
            return told
        if len(possible) == 2 and self.dotted:
            possible = ["dmy"]  # numbers between dots are never written month first
        if len(possible) == 2:
            smooth = [one for one in possible if not self.steps_back[one]]
            possible = smooth if len(smooth) == 1 else possible
        if not possible:
            raise InputError(f"the dates (such as {self.example}) are in no one order of day, month and year")
        if len(possible) > 1:
            raise InputError(
                f"the dates (such as {self.example}) may be day first or month first, and the file does not show "
                "which; give --dates dmy or --dates mdy"
            )
        return possible[0]


def numbers_of(match: re.Match[str]) -> Numbers:
    """The three numbers of a date that matched `DATE`."""
    return int(match["a"]), int(match["b"]), int(match["c"])


def time_in(match: re.Match[str], order: str) -> datetime:
    """The time that matched `DATE` and `TIME`, without a zone. Raises ValueError for one that does not exist."""
    numbers = dict(zip(order, numbers_of(match), strict=True))
    year = numbers["y"] + _SHORT_YEARS if numbers["y"] < 100 else numbers["y"]
    hour, half = int(match["hour"] or 0), match["before"] or match["after"]
    if half and hour <= 12:
        hour = hour % 12 + (12 if _AFTERNOON.match(half) else 0)
    return datetime(year, numbers["m"], numbers["d"], hour, int(match["minute"] or 0), int(match["second"] or 0))


def written_time(text: str, order: str | None) -> datetime | None:
    """A time that is written in numbers alone; None for any other text."""
    match = _WRITTEN.fullmatch(text.strip().replace("\u202f", " ").replace("\xa0", " "))
    if match is None:
        return None
    try:
        return time_in(match, order or order_of([match]))
    except ValueError:
        return None


def order_of(dates: Iterable[re.Match[str]]) -> str:
    """The order that some dates show. Raises InputError where they do not."""
    finder = OrderFinder()
    for match in dates:
        finder.see(match.group(), numbers_of(match))
    return finder.order(None)
