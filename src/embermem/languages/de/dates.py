"""The rules of dates. Seasons are those of the north."""

# ruff: noqa: E501  (a table is read in one piece)

from __future__ import annotations

from typing import Final

from embermem.languages.dates.calendars import Calendar, tables_of
from embermem.languages.de.vocabulary import AMOUNTS, MONTHS, SEASONS, UNITS, WEEKDAYS

_NOT_EVERY: Final = r"(?<!jeden\s)(?<!jeder\s)(?<!jedem\s)(?<!einem\s)(?<!einen\s)"
_CALENDAR: Final = Calendar(
    months=MONTHS,
    weekdays=WEEKDAYS
    | {f"{day}{part}": no for day, no in WEEKDAYS.items() for part in ("morgen", "vormittag", "mittag", "nachmittag", "abend", "nacht")},
    seasons=SEASONS,
    holidays={
        "weihnachten": (12, 25), "heiligabend": (12, 24), "silvester": (12, 31), "neujahr": (1, 1), "nikolaus": (12, 6),
        "valentinstag": (2, 14), "halloween": (10, 31), "ostern": (0, -2, 1), "karfreitag": (0, -2), "ostersonntag": (0, 0),
        "ostermontag": (0, 1), "pfingsten": (0, 49, 50), "pfingstsonntag": (0, 49), "pfingstmontag": (0, 50),
        "himmelfahrt": (0, 39), "christi himmelfahrt": (0, 39), "fronleichnam": (0, 60), "gründonnerstag": (0, -3), "karsamstag": (0, -1),
        "rosenmontag": (0, -48), "aschermittwoch": (0, -46), "allerheiligen": (11, 1),
    },
    near={
        "gestern": -1, "gestern abend": -1, "letzte nacht": -1, "gestern früh": -1, "gestern nacht": -1, "vorgestern": -2, "heute": 0,
        "heute morgen": 0, "heute früh": 0, "heute abend": 0, "heute nacht": 0, "heute mittag": 0, "heute nachmittag": 0,
        "morgen": 1, "morgen früh": 1, "morgen abend": 1, "morgen nachmittag": 1, "übermorgen": 2,
    },
    units=UNITS,
    amounts=AMOUNTS,
    last="letzte[nmrs]?|vergangene[nmrs]?|vorige[nmrs]?",
    next="nächste[nmrs]?|kommende[nmrs]?",
    this="diese[nmrs]?",
    day=r"(?P<day>\d{1,2})\.",
    rules=(
        ("0", "day_month", r"(?P<day>\d{1,2})\. ?(?:bis|-|–|und) ?(?:zum )?(?P<to>\d{1,2})\. ?{MONTH}(?: {YEAR})?"),
        ("0", "day_month", r"{DAY} ?{MONTH}(?: {YEAR})?"),
        ("0", "numeric", r"(?P<day>\d{1,2})\. ?(?P<month>\d{1,2})\. ?(?P<year>(?:19|20)\d\d)(?!\d)"),
        ("letzten letztem letzter vergangenen nächsten kommenden", "relative", r"(?:{LAST}|{NEXT}) {MONTH}"),
        ("{months}", "month_year", r"{MONTH}(?: {YEAR})?"),
        ("0", "year", r"(?<![/.-]){YEAR}(?! ?(?:€|euro|schritte|leute|wörter|kalorien))(?![-/]\d)"),
        ("letzten letztem vergangenen vorigen letztes letzter", "relative", r"{LAST} {SEASON}"),
        ("nächsten nächstem kommenden nächstes nächster", "relative", r"{NEXT} {SEASON}"),
        ("diesen diesem dieses", "relative", r"{THIS} {SEASON}"),
        ("{seasons}", "season_year", r"{SEASON} {YEAR}"),
        ("letzte letztes letzten letzter vergangene vergangenes voriges", "relative", r"{LAST} {HOLIDAY}"),
        ("nächste nächstes nächsten kommende", "relative", r"{NEXT} {HOLIDAY}"),
        ("{units}", "before_holiday", r"{UNIT} vor(?: dem)? {HOLIDAY}(?: {YEAR})?"),
        ("0", "numeric", r"(?:(?<=\bam\s)|(?<=\bvom\s)|(?<=\bzum\s)|(?<=\bseit\s)|(?<=\bbis\s)|(?<=\bden\s))(?P<day>\d{1,2})\. ?(?P<month>\d{1,2})\.(?!\d)"),
        ("{holidays}", "holiday", r"{HOLIDAY}(?: {YEAR})?"),
        ("gestern letzte vorgestern heute übermorgen", "near", r"{NEAR}"),
        ("morgen", "near", r"(?<!guten\s)(?<!jeden\s)(?<!am\s)(?<!heute\s)(?<!gestern\s)(?:(?-i:(?=m))|(?=morgen (?:abend|früh|nachmittag))|(?<!.)){NEAR}"),
        ("letzte letzten letztem letzter letztes vergangene vergangenen vergangenes vergangener vorige vorigen voriges", "relative", r"{LAST} (?:{UNIT}|{WEEKDAY})"),
        ("vorletzte vorletzten vorletztem vorletzter vorletztes", "before_last", r"vorletzte[nmrs]? (?:{UNIT}|{WEEKDAY})"),
        ("nächste nächsten nächstem nächster nächstes kommende kommenden kommendes kommender", "relative", r"{NEXT} (?:{UNIT}|{WEEKDAY})"),
        ("diese diesen diesem dieser dieses", "relative", r"{THIS} (?:{UNIT}|{WEEKDAY})"),
        ("vor", "ago", r"vor(?: etwa| ungefähr| fast| gut| mehr als| knapp)? {N} {UNIT}"),
        ("seit", "ago", r"seit(?: etwa| ungefähr| fast| gut| mehr als| knapp| schon| nun)? {N} {UNIT}"),
        ("in", "ahead", r"in(?: etwa| ungefähr)? {N} {UNIT}"),
        ("letzten vergangenen", "last_units", r"{LAST} {N} {UNIT}"),
        ("nächsten kommenden", "next_units", r"{NEXT} {N} {UNIT}"),
        ("am", "weekend", r"am wochenende(?! (?:des|vor|nach))"),
        ("{weekdays}", "weekday", _NOT_EVERY + r"{WEEKDAY}"),
    ),
    parts=(("anfang", "early"), ("mitte", "mid"), ("ende", "late")),
    part_of=r" (?:des |der )?",
    follows={
        "in": r"\d|etwa|ungefähr|" + "|".join(AMOUNTS), "vor": r"\d|etwa|ungefähr|fast|gut|mehr|knapp|" + "|".join(AMOUNTS),
        "seit": r"\d|etwa|ungefähr|fast|gut|mehr|knapp|schon|nun|" + "|".join(AMOUNTS), "am": "wochenende",
        "ende": "des|der|" + "|".join((*MONTHS, r"(?:19|20)\d\d")), "mitte": "des|der|" + "|".join((*MONTHS, r"(?:19|20)\d\d")),
        "anfang": "des|der|" + "|".join((*MONTHS, r"(?:19|20)\d\d")),
    } | dict.fromkeys(
        "diese diesen diesem dieser dieses".split(), "|".join((*UNITS, *WEEKDAYS, *SEASONS))
    ),
    ahead=r"\b(?:werde|wirst|wird|werden|will|wollen|möchte|möchten|muss|müssen|soll|habe ich (?:einen|ein|eine) (?:termin|prüfung|vorstellungsgespräch|vorlesung|flug)|fahre|fahren|fliege|fliegen|gehe|gehen|ziehe|ziehen|treffe|treffen|kommt|kommen|beginnt|startet|sehen uns)\b",
    behind=r"\b(?:war(?:en|st)?|hatten?|wurden?|kam(?:en)?|ging(?:en)?|fuhr(?:en)?|flog(?:en)?|sah(?:en)?|traf(?:en)?|begann|machten?|wollten?|sollten?|musste[nt]?|konnten?|lebten?|wohnten?|arbeiteten?)\b"
    r"|\b(?:habe|hast|hat|haben|habt|bin|bist|ist|sind|seid)\b[^.!?;,]{0,60}\b(?-i:(?!geplant|angesetzt|vorgesehen|gesetzt|genug|gesund)(?:[a-zäöü]{0,8}ge[a-zäöüß]{2,}(?:t|en)|[a-zäöü]{3,}iert|(?:be|ver|er|ent|zer)[a-zäöü]{3,}(?:t|en)))\b",
    since=r"seit",
    starts=r"(?:spätestens|frühestens)(?: bis)?",
    range=r"vo[nm] \S+ bis",
    limits=r"bis|vor|ab",
    of=r"(?: (?:zum|am|dem|im|anfang|mitte|ende))?",
    on=r"(?:am|an dem|der|in der)[ ]",
    part_of_day="morgen|abend|nachmittag|früh|nacht",
)  # fmt: skip

DATES: Final = tables_of(_CALENDAR)
