"""Words of the calendar, and numbers in words."""

# ruff: noqa: E501  (a table is read in one piece)

from __future__ import annotations

from typing import Final

MONTH_NAMES: Final = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()
MONTHS: Final = {word.lower(): i for i, word in enumerate(MONTH_NAMES, 1)} | {
    "jänner": 1, "maerz": 3, "jan": 1, "feb": 2, "apr": 4, "aug": 8, "sept": 9, "okt": 10, "nov": 11, "dez": 12,
}  # fmt: skip
WEEKDAYS: Final = {
    word: i for i, word in enumerate("montag dienstag mittwoch donnerstag freitag samstag sonntag".split())
} | {"sonnabend": 5}
SEASONS: Final = {"frühling": 3, "frühjahr": 3, "sommer": 6, "herbst": 9, "winter": 12}
_NUMBERS: Final = (
    "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn"
    " neunzehn zwanzig"
).split()
AMOUNTS: Final = {word: (i, i) for i, word in enumerate(_NUMBERS, 2)} | {
    "ein": (1, 1), "eine": (1, 1), "einem": (1, 1), "einer": (1, 1), "einen": (1, 1), "ein paar": (2, 5), "einigen": (2, 5),
    "wenigen": (2, 5), "mehreren": (3, 7), "dreißig": (30, 30),
}  # fmt: skip
UNITS: Final = {
    "tag": "day", "tage": "day", "tagen": "day", "woche": "week", "wochen": "week", "monat": "month", "monate": "month",
    "monaten": "month", "jahr": "year", "jahre": "year", "jahren": "year", "wochenende": "weekend",
}  # fmt: skip
