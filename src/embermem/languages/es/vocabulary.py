"""Words of the calendar, and numbers in words."""

from __future__ import annotations

from typing import Final

MONTH_NAMES: Final = (
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split()
)  # fmt: skip
MONTHS: Final = {word: i for i, word in enumerate(MONTH_NAMES, 1)} | {
    "setiembre": 9, "ene": 1, "feb": 2, "abr": 4, "ago": 8, "sept": 9, "oct": 10, "nov": 11, "dic": 12,
}  # fmt: skip
WEEKDAYS: Final = {word: i for i, word in enumerate("lunes martes miércoles jueves viernes sábado domingo".split())} | {
    "miercoles": 2, "sabado": 5,
}  # fmt: skip
SEASONS: Final = {"primavera": 3, "verano": 6, "otoño": 9, "invierno": 12}
_NUMBERS: Final = (
    "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho"
    " diecinueve veinte"
).split()
AMOUNTS: Final = {word: (i, i) for i, word in enumerate(_NUMBERS, 2)} | {
    "un": (1, 1), "una": (1, 1), "unos": (2, 5), "unas": (2, 5), "varios": (3, 7), "varias": (3, 7),
    "un par de": (2, 3), "treinta": (30, 30),
}  # fmt: skip
UNITS: Final = {
    "día": "day", "días": "day", "dia": "day", "dias": "day", "semana": "week", "semanas": "week", "mes": "month",
    "meses": "month", "año": "year", "años": "year", "fin de semana": "weekend", "finde": "weekend",
}  # fmt: skip
