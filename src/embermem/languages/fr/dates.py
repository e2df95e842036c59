"""The rules of dates. Seasons are those of the north."""

# ruff: noqa: E501  (a table is read in one piece)

from __future__ import annotations

from typing import Final

from embermem.languages.dates.calendars import Calendar, tables_of
from embermem.languages.fr.vocabulary import AMOUNTS, MONTHS, SEASONS, UNITS, WEEKDAYS

_NOT_EVERY: Final = r"(?<!chaque\s)(?<!tous\sles\s)(?<!\ble\s)(?<!\bles\s)(?<!\bun\s)"
_CALENDAR: Final = Calendar(
    months=MONTHS,
    weekdays=WEEKDAYS,
    seasons=SEASONS,
    holidays={
        "noël": (12, 25), "noel": (12, 25), "la saint-valentin": (2, 14), "saint-valentin": (2, 14),
        "halloween": (10, 31), "pâques": (0, -2, 1), "paques": (0, -2, 1), "dimanche de pâques": (0, 0), "lundi de pâques": (0, 1),
        "vendredi saint": (0, -2), "jeudi de l'ascension": (0, 39), "lundi de pentecôte": (0, 50), "mardi gras": (0, -47), "la toussaint": (11, 1), "toussaint": (11, 1),
        "la pentecôte": (0, 49, 50), "pentecôte": (0, 49, 50), "la saint-sylvestre": (12, 31), "jour de l'an": (1, 1),
    },
    near={
        "hier": -1, "hier soir": -1, "avant-hier": -2, "avant hier": -2, "aujourd'hui": 0, "aujourd’hui": 0,
        "ce matin": 0, "ce midi": 0, "cet après-midi": 0, "ce soir": 0, "cette nuit": 0, "demain": 1, "après-demain": 2,
        "apres-demain": 2, "demain soir": 1, "demain matin": 1, "hier matin": -1, "hier après-midi": -1,
    },
    units=UNITS,
    amounts=AMOUNTS,
    last="derni[eè]re?s?|pass[ée]e?",
    next="prochaine?s?|qui vient|suivante?",
    this="ce|cette|cet",
    day=r"(?P<day>\d{1,2})(?:er)?",
    rules=(
        ("0", "day_month", r"{DAY}(?: ?(?:au|-|–|à|et le) ?(?P<to>\d{1,2}))? {MONTH}(?:,? {YEAR})?"),
        ("0", "numeric", r"(?P<day>\d{1,2})[/.](?P<month>\d{1,2})[/.](?P<year>(?:19|20)\d\d)(?!\d)"),
        ("{months}", "relative", r"{MONTH} (?:{LAST}|{NEXT})"),
        ("{months}", "month_year", r"{MONTH} {YEAR}"),
        ("{months}", "month_year", r"{MONTH}"),
        ("mois", "month_year", r"mois (?:de |d['’]){MONTH}(?: {YEAR})?"),
        ("0", "year", r"(?<![/.-]){YEAR}(?! ?(?:€|euros|pas|personnes|mots|calories))(?![-/]\d)"),
        ("{seasons}", "relative", r"{SEASON} (?:{LAST}|{NEXT})"),
        ("{seasons}", "season_year", r"{SEASON}(?: de)? {YEAR}"),
        ("cet ce", "relative", r"{THIS} {SEASON}"),
        ("{holidays}", "relative", r"{HOLIDAY} (?:{LAST}|{NEXT})"),
        ("{units}", "before_holiday", r"{UNIT} (?:avant|d['’]avant|précédant|qui (?:a précédé|précède|précédait)) {HOLIDAY}(?:,? {YEAR})?"),
        ("0", "numeric", r"(?:(?<=\ble\s)|(?<=\bdu\s)|(?<=\bau\s))(?P<day>\d{1,2})[/.](?P<month>\d{1,2})(?![\d/]|[.,]\d| ?%)"),
        ("{weekdays}", "weekday", r"{WEEKDAY}(?= d['’]il y a| de (?:la|cette) semaine)"),
        ("{holidays}", "holiday", r"{HOLIDAY}(?:,? {YEAR})?"),
        ("{near}", "near", r"{NEAR}"),
        ("{units}", "relative", r"{UNIT} (?:{LAST}|{NEXT})"),
        ("ce cette", "relative", r"{THIS} {UNIT}(?:-ci)?"),
        ("{weekdays}", "relative", r"{WEEKDAY} (?:{LAST}|{NEXT})"),
        ("ce", "relative", r"{THIS} {WEEKDAY}"),
        ("prochain prochaine", "relative", r"{NEXT} (?:{UNIT}|{WEEKDAY})"),
        ("il", "ago", r"il y a(?: environ| presque| à peine| plus de| près de)? {N} {UNIT}"),
        ("ça", "ago", r"ça fait(?: environ| presque| déjà| plus de)? {N} {UNIT}"),
        ("depuis", "ago", r"depuis(?: environ| presque| plus de| bientôt| maintenant| déjà)? {N} {UNIT}"),
        ("voilà", "ago", r"voilà {N} {UNIT}"),
        ("dans", "ahead", r"dans(?: environ)? {N} {UNIT}"),
        ("{amounts} 0", "last_units", r"{N} {LAST} {UNIT}"),
        ("{amounts} 0", "next_units", r"{N} {NEXT} {UNIT}"),
        ("{weekdays}", "weekday", _NOT_EVERY + r"{WEEKDAY}"),
    ),
    parts=(
        ("début", "early"), ("debut", "early"), ("mi", "mid"), ("courant", "mid"), ("milieu", "mid"), ("fin", "late"),
    ),
    part_of=r"(?:-| (?:de |d['’])?)(?:l['’]|la |le )?",
    follows={
        "il": "y", "ça": "fait", "ce": "matin|midi|soir|mois|week|" + "|".join((*WEEKDAYS, *SEASONS)),
        "cette": "semaine|ann|nuit", "cet": "apr|été|automne|hiver", "dans": r"\d|environ|" + "|".join(AMOUNTS),
        "depuis": r"\d|environ|presque|plus|bientôt|maintenant|déjà|" + "|".join(AMOUNTS),
    },
    ahead=r"\b(?:(?:je|tu|il|elle|on|nous|vous|ils|elles) (?:vais|vas|va|allons|allez|vont)\b|j['’](?:irai|aurai)|\w{3,}r(?:ai|ons|ont)\b"
    r"|rendez-vous|rdv|prévu|prévoi[st]|pars\b|part\b|commence\b|arrive\b|il faut|à bientôt|d['’]ici)",
    behind=r"\b(?:ai-je|as-tu|a-t-(?:il|elle|on)|avons-nous|avez-vous|ont-(?:ils|elles)|j['’]ai|j['’]étais|(?:tu|il|elle|on) (?:l['’]|s['’]|y )?(?:as|a|est|était|avait)|avons|avez|ont|suis|sommes|êtes|sont|est) (?:(?:déjà|pas|plus|bien|tous|vite|enfin) )?(?!prévu|fixé|attendu|dû|dispo|occupé|invité)\w{2,}(?:é|ée|és|ées|i|ie|is|it|u|ue|us|ert|ort)\b"
    r"|\b(?:étai[st]|étions|étiez|étaient)\b|\b(?!mais\b|jamais\b|fai[st]\b|vais\b|sai[st]\b|plai[st]\b|lait\b|français\b|anglais\b|parfait\b|souhait\b|palais\b|\w+rais\b|\w+rait\b)\w{3,}(?:ais|ait|aient)\b",
    since=r"depuis",
    starts=r"à (?:partir|compter) d[ue]|à (?:partir|compter) d['’]|au plus tard",
    range=r"(?:de|du|depuis) \S+ jusqu['’](?:à|au)",
    limits=r"d['’]ici(?: à| au)?|avant|jusqu['’](?:à|au|en)|pour|dès",
    of=r"(?: (?:le|la|l['’]|mi|début|fin|ce))?",
    on=r"(?:le|du|de la|de|d['’])[ ]?",
    part_of_day="matin|midi|après-midi|soir|nuit",
)  # fmt: skip

DATES: Final = tables_of(_CALENDAR)
