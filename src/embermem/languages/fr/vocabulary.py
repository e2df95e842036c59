"""Words of the calendar, and numbers in words."""

from __future__ import annotations

from typing import Final

MONTH_NAMES: Final = (
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split()
)  # fmt: skip
MONTHS: Final = {word: i for i, word in enumerate(MONTH_NAMES, 1)} | {
    "janv": 1, "fevrier": 2, "févr": 2, "fév": 2, "avr": 4, "juil": 7, "aout": 8, "sept": 9, "oct": 10, "nov": 11,
    "decembre": 12, "déc": 12,
}  # fmt: skip
WEEKDAYS: Final = {word: i for i, word in enumerate("lundi mardi mercredi jeudi vendredi samedi dimanche".split())}
SEASONS: Final = {"printemps": 3, "été": 6, "ete": 6, "automne": 9, "hiver": 12}
_NUMBERS: Final = (
    "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf"
    " vingt"
).split()
AMOUNTS: Final = {word: (i, i) for i, word in enumerate(_NUMBERS, 2)} | {
    "un": (1, 1), "une": (1, 1), "quelques": (2, 5), "plusieurs": (3, 7), "une dizaine de": (8, 12),
    "une quinzaine de": (13, 17), "une vingtaine de": (18, 22), "trente": (30, 30),
}  # fmt: skip
UNITS: Final = {
    "jour": "day", "jours": "day", "semaine": "week", "semaines": "week", "mois": "month", "an": "year", "ans": "year",
    "année": "year", "années": "year", "annee": "year", "annees": "year", "week-end": "weekend", "weekend": "weekend",
}  # fmt: skip
