"""The rules of dates. Seasons are those of the north."""

# ruff: noqa: E501  (a table is read in one piece)

from __future__ import annotations

from typing import Final

from embermem.languages.dates.calendars import Calendar, tables_of
from embermem.languages.es.vocabulary import AMOUNTS, MONTHS, SEASONS, UNITS, WEEKDAYS

_NOT_EVERY: Final = r"(?<!cada\s)(?<!\blos\s)(?<!\bun\s)(?<!\bde\s)"
_CALENDAR: Final = Calendar(
    months=MONTHS,
    weekdays=WEEKDAYS,
    seasons=SEASONS,
    holidays={
        "navidad": (12, 25), "nochebuena": (12, 24), "nochevieja": (12, 31), "año nuevo": (1, 1), "san valentín": (2, 14),
        "halloween": (10, 31), "día de reyes": (1, 6), "pascua": (0, -2, 1), "domingo de pascua": (0, 0), "lunes de pascua": (0, 1),
        "semana santa": (0, -7, 0), "jueves santo": (0, -3), "viernes santo": (0, -2),
        "domingo de ramos": (0, -7), "domingo de resurrección": (0, 0), "corpus christi": (0, 60), "todos los santos": (11, 1),
    },
    near={
        "ayer": -1, "anoche": -1, "anteayer": -2, "antes de ayer": -2, "antes de anoche": -2, "antier": -2, "hoy": 0, "esta mañana": 0, "esta tarde": 0, "esta noche": 0,
        "mañana": 1, "pasado mañana": 2, "ayer por la tarde": -1, "ayer por la noche": -1, "ayer por la mañana": -1,
        "mañana por la mañana": 1, "mañana por la tarde": 1, "mañana por la noche": 1,
    },
    units=UNITS,
    amounts=AMOUNTS,
    last="pasad[oa]s?|últim[oa]s?|ultim[oa]s?",
    next="próxim[oa]s?|proxim[oa]s?|que viene|que entra|siguientes?",
    this="este|esta",
    day=r"(?P<day>\d{1,2})",
    rules=(
        ("0", "day_month", r"{DAY}(?: ?(?:al|a|-|–|y(?: el)?) ?(?P<to>\d{1,2}))?(?: de)? {MONTH}(?:,? (?:del? )?{YEAR})?"),
        ("0", "numeric", r"(?P<day>\d{1,2})[/.](?P<month>\d{1,2})[/.](?P<year>(?:19|20)\d\d)(?!\d)"),
        ("{months}", "relative", r"{MONTH} (?:{LAST}|{NEXT})"),
        ("{months}", "month_year", r"{MONTH}(?: de| del)? {YEAR}"),
        ("{months}", "month_year", r"{MONTH}"),
        ("0", "year", r"(?<![/.-]){YEAR}(?! ?(?:€|euros|pesos|pasos|personas|palabras|calorías))(?![-/]\d)"),
        ("{seasons}", "relative", r"{SEASON} (?:{LAST}|{NEXT})"),
        ("{seasons}", "season_year", r"{SEASON}(?: de| del)? {YEAR}"),
        ("este esta", "relative", r"{THIS} {SEASON}"),
        ("{holidays}", "relative", r"{HOLIDAY} (?:{LAST}|{NEXT})"),
        ("{units}", "before_holiday", r"{UNIT} (?:antes de|anterior a|previa a)(?:l| la)? {HOLIDAY}(?:,? (?:del? )?{YEAR})?"),
        ("0", "numeric", r"(?:(?<=\bel\s)|(?<=\bdel\s)|(?<=\bal\s))(?P<day>\d{1,2})[/.](?P<month>\d{1,2})(?![\d/]|[.,]\d| ?%)"),
        ("{holidays}", "holiday", r"{HOLIDAY}(?:,? (?:del? )?{YEAR})?"),
        ("antes ayer anoche anteayer antier hoy esta pasado", "near", r"{NEAR}"),
        ("mañana", "near", r"(?<!\bla\s)(?<!\blas\s)(?<!\bde\s)(?<!\besta\s)(?<!\buna\s)(?<!\bcada\s){NEAR}"),
        ("{units}", "relative", r"{UNIT} (?:{LAST}|{NEXT})"),
        ("este esta", "relative", r"{THIS} {UNIT}"),
        ("{weekdays}", "relative", r"{WEEKDAY} (?:{LAST}|{NEXT})"),
        ("este", "relative", r"{THIS} {WEEKDAY}"),
        ("próximo próxima proximo proxima", "relative", r"{NEXT} (?:{UNIT}|{WEEKDAY}|{SEASON})"),
        ("pasado pasada", "relative", r"{LAST} (?:{UNIT}|{WEEKDAY}|{SEASON}|{MONTH})"),
        ("hace", "ago", r"hace(?: como| unos| unas| casi| más de| ya)? {N} {UNIT}"),
        ("desde", "ago", r"desde hace(?: como| casi| más de| ya)? {N} {UNIT}"),
        ("en dentro", "ahead", r"(?:en|dentro de)(?: unos| unas)? {N} {UNIT}"),
        ("último últimos últimas", "last_units", r"{LAST} {N} {UNIT}"),
        ("próximos próximas", "next_units", r"{NEXT} {N} {UNIT}"),
        ("el", "weekend", r"el (?:fin de semana|finde)(?! (?:{LAST}|{NEXT}|anterior|de|del|antes|después))"),
        ("{weekdays}", "weekday", _NOT_EVERY + r"{WEEKDAY}"),
    ),
    parts=(
        ("principios", "early"), ("comienzos", "early"), ("inicios", "early"), ("mediados", "mid"), ("finales", "late"),
        ("fines", "late"),
    ),
    part_of=r" de(?:l)? (?:el |la )?",
    follows={
        "esta": "mañana|tarde|noche|semana|primavera", "este": "mes|año|fin|finde|" + "|".join((*WEEKDAYS, *SEASONS)),
        "el": r"fin\s+de\s+semana|finde", "todos": r"los\s+santos", "en": r"\d|unos|unas|" + "|".join(AMOUNTS), "dentro": "de", "desde": "hace", "pasado": "mañana|" + "|".join((*UNITS, *WEEKDAYS, *SEASONS, *MONTHS)),
        "fin": "de", "antes": r"de\s+(?:ayer|anoche)", "un": "par", "día": r"de\s+reyes|pasado|siguiente", "año": r"nuevo|pasado|que|próximo|siguiente", "san": "valentín",
        "fines": "de", "hace": r"como|unos|unas|casi|más|ya|\d|" + "|".join(AMOUNTS),
    },
    ahead=r"\b(?:voy|vas|va|vamos|vais|van) a\b|\b\w{3,}(?:aré|eré|iré|aremos|eremos|iremos|ará|erá|irá|arán)\b|\bme voy\b|\bnos vamos\b|\btengo (?:una |un )?(?:cita|entrevista|examen|reunión|vuelo|médico)"
    r"|\b(?:nos vemos|quedamos|quiero|pienso|planeo|hay que|empieza|llega|sale|toca)\b",
    behind=r"\b(?:he|has|ha|hemos|habéis|han) \w{2,}(?:ado|ido|[tsi][aeo]|cho)\b|\b(?:fui|fue|fueron|hice|hizo|tuve|tuvo|estuve|estuvo|fuimos|hicimos|tuvimos|estuvimos|vinimos|dijimos|dimos|vimos|vine|vino|dije|dijo|puse|puso|di|dio|vi|vio|era|eran|estaba|estaban|tenía|había|iba|íbamos|vivía|quería|hacía|debía)\b"
    r"|\b(?!qué\b|café\b|bebé\b|josé\b|aquí\b|allí\b|así\b|casi\b)\w{2,}(?:(?<![aei]r)é|ó|iste|aron|ieron|aban?)\b|\b(?!aquí\b|allí\b|ahí\b|así\b|esquí\b|rubí\b)\w{3,}í\b",
    since=r"desde",
    starts=r"a partir de(?:l)?|a más tardar|como muy tarde",
    range=r"(?:de|desde)(?: el)? \S+ hasta",
    limits=r"para|antes de(?:l)?|hasta",
    of=r"(?: (?:el|la|este|mediados de|finales de|principios de))?",
    on=r"(?:el|del|de la|de|en)[ ]",
    part_of_day="por la mañana|por la tarde|por la noche",
)  # fmt: skip

DATES: Final = tables_of(_CALENDAR)
