"""What a rule is: the words that it can begin with, a pattern, and what the match means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import TypeVar

from embermem.dates.days import DateSpan, Days

FLAGS = re.IGNORECASE | re.ASCII
DIGITS = "0123456789０１２３４５６７８９"

Core = Callable[[re.Match[str], date], Days | None]
"""What a match means if it was said on that day; None if it means no date."""
Prefix = Callable[[re.Match[str], DateSpan, date], Days | None]
"""The same for what stands before a date, which is given."""
_Meaning = TypeVar("_Meaning", Core, Prefix)


def by_lead(rules: Iterable[tuple[str, str, _Meaning]]) -> dict[str, list[tuple[re.Pattern[str], _Meaning]]]:
    """The compiled patterns with their meanings, under each word that they can begin with (0: any digit).

    A space in a pattern is one to three of any white space.
    """
    found: dict[str, list[tuple[re.Pattern[str], _Meaning]]] = {}
    for leads, pattern, meaning in rules:
        compiled = re.compile(pattern.replace(" ", r"[\s\u00a0\u3000]{1,3}"), FLAGS)
        for lead in leads.replace("0", " ".join(DIGITS)).split():
            found.setdefault(lead, []).append((compiled, meaning))
    return found
