"""Words of the calendar, and numbers in words."""

from __future__ import annotations

from typing import Final

MONTH_NAMES: Final = (
    "January February March April May June July August September October November December"
).split()  # fmt: skip
MONTH_WORDS: Final = f"{' '.join(MONTH_NAMES).lower()} jan feb mar apr jun jul aug sep sept oct nov dec"
MONTH_OF: Final = {word[:3].lower(): i for i, word in enumerate(MONTH_NAMES, 1)}
"""Months by their first three letters."""
DAY_WORDS: Final = "monday tuesday wednesday thursday friday saturday sunday"
DAY_OF: Final = {word[:3]: i for i, word in enumerate(DAY_WORDS.split())}
"""Weekdays from Monday, 0, by their first three letters."""
SEASON: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""Seasons of the north by their first month."""
_NUMBERS: Final = "one two three four five six seven eight nine ten eleven twelve".split()
AMOUNT: Final = {word: (i, i) for i, word in enumerate(_NUMBERS, 1)} | {
    "a": (1, 1), "an": (1, 1), "couple": (2, 3), "few": (2, 5), "several": (3, 7), "twenty": (20, 20),
}  # fmt: skip
"""The least and the most that a word means."""


def amount(words: str) -> tuple[int, int]:
    """What digits, or words such as "a couple of", mean at least and at most."""
    if words.isdecimal():
        return int(words), int(words)
    return next(AMOUNT[word] for word in reversed(words.lower().split()) if word in AMOUNT)
